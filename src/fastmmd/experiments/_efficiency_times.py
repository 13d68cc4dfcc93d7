"""What Figure 7 times: estimates of all methods at many sizes, and sketches of streams."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fastmmd._mmd import mmd
from fastmmd._twosample import compare
from fastmmd.estimators import Block, Exact, Fastfood, Fourier, Linear, Method
from fastmmd.experiments._textbook import textbook_mmd2
from fastmmd.experiments._timing import (
    PeakMemory,
    Timing,
    extrapolate,
    median_time,
    timed,
)
from fastmmd.kernels import Gaussian
from fastmmd.sketch import Sketch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fastmmd._typing import FloatArray
    from fastmmd.experiments._experiment import Settings

OVERLAPPING = ((0.0, 0.95), (0.05, 1.0))
"""Ranges of the two uniform laws in every column."""

PRINTED = ((0.0, 0.95), (0.95, 1.0))
"""Ranges that the paper prints."""

METHODS = ("textbook", "exact", "block", "linear", "fourier", "fastfood")
LONG_SECONDS = 10.0
"""Seconds: a plain double sum that would take longer is not run."""

BATCH_ROWS = 2**16


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Sizes of the experiment."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    streamed: tuple[int, ...]
    few_columns: int = 16
    few_frequencies: int = 128
    rows_of_columns: int = 10_000
    many_frequencies: int = 8192


PAPER = Design(
    rows=(1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000),
    columns=(8, 16, 32, 64, 128, 256, 512, 1024),
    streamed=(10_000, 100_000, 1_000_000, 10_000_000),
)
QUICK = Design(
    rows=(1_000, 2_500, 6_000),
    columns=(8, 64, 512),
    streamed=(10_000, 60_000, 360_000),
    rows_of_columns=2_000,
    many_frequencies=512,
)


def samples(
    n_rows: int,
    n_columns: int,
    rng: np.random.Generator,
    ranges: tuple[tuple[float, float], tuple[float, float]] = OVERLAPPING,
    /,
) -> tuple[FloatArray, FloatArray]:
    """Return two uniform samples of `n_rows` in all."""
    shape = (n_rows // 2, n_columns)
    x, y = (rng.uniform(low, high, size=shape) for low, high in ranges)
    return x, y


def bandwidth(n_columns: int, /) -> float:
    """Return a bandwidth of the size of a distance; the paper gives none."""
    return math.sqrt(n_columns) / 2.0


def runner(
    method: str, x: FloatArray, y: FloatArray, n_frequencies: int, /
) -> Callable[[], float]:
    """Return one estimate by a method, everything that belongs to it included."""
    width = bandwidth(x.shape[1])
    if method == "textbook":
        return lambda: textbook_mmd2(x, y, width)
    ways: dict[str, Method] = {
        "exact": Exact(),
        "block": Block(),
        "linear": Linear(),
        "fourier": Fourier(n_frequencies, sampling="iid"),
        "fastfood": Fastfood(n_frequencies),
    }
    way, kernel = ways[method], Gaussian(width)
    return lambda: mmd(x, y, kernel=kernel, method=way, rng=0).mmd2


def time_methods(
    settings: Settings, sizes: list[tuple[int, int]], n_frequencies: int, what: str, /
) -> list[dict[str, Any]]:
    """Return a row for each method at each size (rows, columns), in growing order.

    The double sum in NumPy is not run where it would take too long by the last time that
    was measured and the square of the rows; such times are marked.
    """
    found = []
    last: tuple[int, Timing] | None = None
    for n_rows, n_columns in settings.track(sizes, what):
        rng = settings.rng("rows", n_rows, n_columns)
        x, y = samples(n_rows, n_columns, rng)
        for method in METHODS:
            estimated = False
            if method == "textbook" and last is not None and last[0] != n_rows:
                guess = extrapolate(last[0], last[1].seconds, n_rows, power=2.0)
                estimated = guess > LONG_SECONDS
            if estimated:
                timing = Timing(guess, 0)
            else:
                run_once = runner(method, x, y, n_frequencies)
                timing = median_time(run_once, runs=settings.trials)
            if method == "textbook" and not estimated:
                last = (n_rows, timing)
            found.append(
                {
                    "method": method,
                    "rows": n_rows,
                    "columns": n_columns,
                    "n_frequencies": n_frequencies if _draws(method) else 0,
                    "seconds": timing.seconds,
                    "runs": timing.runs,
                    "extrapolated": estimated,
                }
            )
    return found


def _draws(method: str) -> bool:
    return method in ("fourier", "fastfood")


def batches(
    n_rows: int, n_columns: int, rng: np.random.Generator, span: tuple[float, float], /
) -> Iterator[FloatArray]:
    """Yield uniform rows a batch at a time, so that they are never held together."""
    for start in range(0, n_rows, BATCH_ROWS):
        yield rng.uniform(*span, size=(min(BATCH_ROWS, n_rows - start), n_columns))


def time_stream(settings: Settings, n_rows: int, sizes: Design, /) -> dict[str, Any]:
    """Sketch two streams of `n_rows` in all and test them; drawing rows is not counted."""
    rng = settings.rng("streams", n_rows)
    n_columns = sizes.few_columns
    kernel = Gaussian(bandwidth(n_columns))
    sketches, total = [], 0.0
    with PeakMemory() as peak:
        for name, span in zip("xy", OVERLAPPING, strict=True):
            sketch = Sketch(
                kernel,
                n_columns,
                n_frequencies=sizes.few_frequencies,
                stream=name,
                center=np.full(n_columns, 0.5),
            )
            for batch in batches(n_rows // 2, n_columns, rng, span):
                total += timed(functools.partial(sketch.update, batch))[1]
            sketches.append(sketch)
        result, of_the_test = timed(lambda: compare(*sketches, rng=0))
    return {
        "rows": n_rows,
        "columns": n_columns,
        "n_frequencies": sizes.few_frequencies,
        "seconds": total,
        "seconds_of_the_test": of_the_test,
        "mmd2": result.statistic,
        "megabytes_of_all_rows": 8e-6 * n_rows * n_columns,
        "megabytes_more_at_the_peak": "" if peak.nbytes is None else 1e-6 * peak.nbytes,
    }


def time_ranges(settings: Settings, sizes: Design, /) -> list[dict[str, Any]]:
    """Return each method's time on overlapping ranges and on those that are printed."""
    n_rows, n_columns = sizes.rows_of_columns, sizes.few_columns
    pairs = [
        samples(n_rows, n_columns, settings.rng("ranges"), ranges)
        for ranges in (OVERLAPPING, PRINTED)
    ]
    found = []
    for method in settings.track(METHODS, "Ranges"):
        ours, printed = (
            median_time(
                runner(method, x, y, sizes.few_frequencies), runs=settings.trials
            ).seconds
            for x, y in pairs
        )
        found.append(
            {
                "method": method,
                "rows": n_rows,
                "columns": n_columns,
                "seconds_overlapping": ours,
                "seconds_as_printed": printed,
                "ratio": printed / ours,
            }
        )
    return found
