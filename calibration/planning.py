"""Power that `fastmmd.power` predicts from a large pilot, beside the power that is had."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from simulate import Cell

import fastmmd

if TYPE_CHECKING:
    from collections.abc import Iterator


def one_small_test(
    rng: np.random.Generator,
    *,
    n: int,
    n_columns: int,
    shift: float,
    kernel: fastmmd.Kernel,
    predicted: float,
) -> dict[str, float]:
    """Return the p-value of a small sample, and what was predicted."""
    x, y = rng.standard_normal((2, n, n_columns))
    y[:, 0] += shift
    result = fastmmd.two_sample_test(x, y, kernel=kernel, rng=int(rng.integers(2**31)))
    return {"test": result.pvalue, "mean predicted": predicted}


def planning_cells() -> Iterator[Cell]:
    """Yield shifts and sizes from a handful of rows on."""
    for n_columns in (1, 3):
        for shift in (4.0, 2.5, 1.5, 1.0):
            rng = np.random.default_rng(5)
            x, y = rng.standard_normal((2, 2000, n_columns))
            y[:, 0] += shift
            kernel = fastmmd.bandwidth.resolve_kernel("gaussian", x, y, rng=0)
            for n in (4, 5, 6, 8, 14, 30):
                predicted = fastmmd.power(x, y, n_x=n, n_y=n, kernel=kernel)
                about = {"columns": n_columns, "shift": shift, "rows": n}
                run = partial(
                    one_small_test,
                    n=n,
                    n_columns=n_columns,
                    shift=shift,
                    kernel=kernel,
                    predicted=float(predicted),
                )
                yield Cell(f"d = {n_columns}, shift {shift}, {n} rows", about, run, 1000)
