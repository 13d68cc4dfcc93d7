"""Error and cost of draws with fewer frequencies than columns.

Directions drawn independently are nearly orthogonal when they are few beside the columns.
This measures from which share on exact orthogonality is worth its factorisation.

Run ``python benchmarks/few_frequencies.py`` to write
``benchmarks/results/few_frequencies.json``.
"""

from __future__ import annotations

import time
from typing import Any

import environment
import numpy as np

import fastmmd
from fastmmd.frequencies import draw_frequencies

N_COLUMNS = 1024
SHARES = (1 / 8, 1 / 4, 1 / 2, 1.0)
DRAWS = ("iid", "stratified", "orthogonal")
N_DRAWS = 100
SEED = 20152


def cell(kernel: fastmmd.Kernel, n_frequencies: int, draw: str) -> dict[str, Any]:
    """Return the relative error of the estimate over draws, and the time of a draw."""
    rng = np.random.default_rng(SEED)
    x = rng.normal(size=(200, N_COLUMNS))
    y = 1.05 * rng.normal(size=(200, N_COLUMNS)) + 0.02
    exact = fastmmd.mmd(x, y, kernel=kernel, method="exact", estimator="biased").mmd2
    method = fastmmd.Fourier(n_frequencies, sampling=draw)
    errors = [
        fastmmd.mmd(x, y, kernel=kernel, method=method, estimator="biased", rng=i).mmd2
        / exact
        - 1.0
        for i in range(N_DRAWS)
    ]
    start = time.perf_counter()
    draw_frequencies(kernel, n_frequencies, N_COLUMNS, sampling=draw, rng=0)
    return {
        "kernel": type(kernel).__name__,
        "n_columns": N_COLUMNS,
        "n_frequencies": n_frequencies,
        "draw": draw,
        "relative_error": environment.round_to(
            float(np.sqrt(np.mean(np.square(errors))))
        ),
        "draw_seconds": environment.round_to(time.perf_counter() - start, 2),
    }


def main() -> None:
    environment.use_one_thread()
    bandwidth = float(np.sqrt(N_COLUMNS))
    kernels = (fastmmd.Gaussian(bandwidth), fastmmd.RationalQuadratic(bandwidth, 0.5))
    cells = []
    for kernel in kernels:
        for share in SHARES:
            for draw in DRAWS:
                cells.append(cell(kernel, int(share * N_COLUMNS), draw))
                print(cells[-1])
    content = {
        "environment": environment.describe(),
        "n_draws": N_DRAWS,
        "seed": SEED,
        "cells": cells,
    }
    print(environment.write("few_frequencies.json", content))


if __name__ == "__main__":
    main()
