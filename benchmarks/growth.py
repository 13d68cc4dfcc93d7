"""How time and memory grow: with the rows up to ten millions, and with the columns.

1. ``mmd`` with ``Fourier(128)`` on float32 rows of 16 columns, 1e4 to 1e7 rows: seconds a
   million rows and the peak of memory beyond the data;
2. ``Fourier`` and ``Fastfood`` by the number of columns, and where they cross.

Run ``python benchmarks/growth.py`` to write ``benchmarks/results/growth.json``, or with
``--quick``. Threads are as the machine gives them.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from typing import TYPE_CHECKING, Any

import environment
import numpy as np
from compare.workers import memory_now, reset_peak

import fastmmd

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = (10_000, 100_000, 1_000_000, 10_000_000)
COLUMNS = (8, 32, 128, 512, 1024, 2048, 4096, 8192, 16_384)
QUICK_ROWS = (1_000, 10_000, 100_000)
QUICK_COLUMNS = (8, 128, 1024)
N_COLUMNS, N_FREQUENCIES = 16, 128
WIDE_ROWS, WIDE_FREQUENCIES = 2_000, 1024


def samples(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([2015, n_columns])
    x, y = rng.standard_normal((2, n_rows // 2, n_columns), dtype=np.float32)
    y[:, ::3] += np.float32(0.5)
    return x, y


def median_seconds(runs: list[Callable[[], Any]], repeats: int) -> list[float]:
    """Return the median of each run's times, the runs made in turns after a warm-up."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(1 + repeats):
        for run, mine in zip(runs, times, strict=True):
            start = time.perf_counter()
            run()
            mine.append(time.perf_counter() - start)
    return [float(np.median(mine[1:])) for mine in times]


def by_rows(n_rows: int, repeats: int) -> dict[str, Any]:
    x, y = samples(n_rows, N_COLUMNS)
    kernel = fastmmd.Gaussian(math.sqrt(2.0 * N_COLUMNS))
    method = fastmmd.Fourier(N_FREQUENCIES)

    def run() -> float:
        return fastmmd.mmd(x, y, kernel=kernel, method=method, rng=0).mmd2

    before = reset_peak()
    run()
    peak = None if before is None else memory_now("VmHWM") - before
    (seconds,) = median_seconds([run], repeats)
    return {
        "n_rows": n_rows,
        "seconds": environment.round_to(seconds),
        "nanoseconds_a_row": environment.round_to(1e9 * seconds / n_rows),
        "input_bytes": x.nbytes + y.nbytes,
        "peak_bytes": peak,
    }


def by_columns(n_columns: int, repeats: int) -> dict[str, Any]:
    x, y = samples(WIDE_ROWS, n_columns)
    kernel = fastmmd.Gaussian(math.sqrt(2.0 * n_columns))
    methods = {
        "fourier": fastmmd.Fourier(WIDE_FREQUENCIES),
        "fourier_independent": fastmmd.Fourier(WIDE_FREQUENCIES, sampling="iid"),
        "fastfood": fastmmd.Fastfood(WIDE_FREQUENCIES),
    }
    exact = fastmmd.mmd(x, y, kernel=kernel, method="exact").mmd2
    entry: dict[str, Any] = {"n_columns": n_columns}
    runs = []
    for name, method in methods.items():

        def run(method: Any = method, rng: int = 0) -> float:
            return fastmmd.mmd(x, y, kernel=kernel, method=method, rng=rng).mmd2

        errors = [run(rng=seed) / exact - 1.0 for seed in range(repeats)]
        rms = math.sqrt(np.mean(np.square(errors)))
        entry[f"{name}_error"] = environment.round_to(rms, 2)
        runs.append(run)
    for name, seconds in zip(methods, median_seconds(runs, repeats), strict=True):
        entry[f"{name}_seconds"] = environment.round_to(seconds)
    return entry


def crossing(cells: list[dict[str, Any]], other: str) -> float | None:
    """Return the columns from which Fastfood is faster, between measured sizes by powers."""
    before = None
    for cell in cells:
        ratio = math.log(cell["fastfood_seconds"] / cell[f"{other}_seconds"])
        place = math.log(cell["n_columns"])
        if ratio < 0.0:
            if before is None:
                return float(cell["n_columns"])
            share = before[1] / (before[1] - ratio)
            return environment.round_to(
                math.exp(before[0] + share * (place - before[0])), 2
            )
        before = place, ratio
    return None


def slope(cells: list[dict[str, Any]]) -> float:
    """Return the power of the rows that the time follows, over the last two sizes."""
    (n, s), (m, t) = ((cell["n_rows"], cell["seconds"]) for cell in cells[-2:])
    return environment.round_to(math.log(t / s) / math.log(m / n))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rows and columns")
    parser.add_argument("--repeats", type=int, default=5, help="timed runs of each")
    parser.add_argument("--output", default="growth.json", help="file in results/")
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    options = parser.parse_args()
    repeats = 2 if options.quick else options.repeats
    content: dict[str, Any] = {
        "environment": environment.describe() | {"threads": len(os.sched_getaffinity(0))},
        "load_average": os.getloadavg(),
        "n_columns": N_COLUMNS,
        "n_frequencies": N_FREQUENCIES,
        "wide_rows": WIDE_ROWS,
        "wide_frequencies": WIDE_FREQUENCIES,
        "by_rows": [],
        "by_columns": [],
    }
    # The first call imports what is loaded on demand: not part of any growth.
    by_rows(1_000, 1)
    for n_rows in QUICK_ROWS if options.quick else ROWS:
        content["by_rows"].append(by_rows(n_rows, repeats))
        print(content["by_rows"][-1], flush=True)
    content["power_of_rows"] = slope(content["by_rows"])
    for n_columns in QUICK_COLUMNS if options.quick else COLUMNS:
        content["by_columns"].append(by_columns(n_columns, repeats))
        print(content["by_columns"][-1], flush=True)
    content["fastfood_is_faster_from"] = {
        other: crossing(content["by_columns"], other)
        for other in ("fourier", "fourier_independent")
    }
    print(content["power_of_rows"], content["fastfood_is_faster_from"])
    if not (options.quick or options.dry_run):
        print(environment.write(options.output, content))


if __name__ == "__main__":
    main()
