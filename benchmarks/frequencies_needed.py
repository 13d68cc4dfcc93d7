"""Error of the estimate by the number of frequencies, for each way to draw them.

The data and kernels of ``sampling_error.py``, the Gaussian kernel, and numbers of columns
that stand for few, some and many. The error is that of the biased squared MMD relative to
its exact value, the root mean square over draws.

Run ``python benchmarks/frequencies_needed.py`` to write
``benchmarks/results/frequencies_needed.json``.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor

import environment
from sampling_error import N_DATA_SETS, N_X, N_Y, SEED, Case, measure

COLUMNS = (2, 16, 128)
FREQUENCIES = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
DRAWS = ("iid", "orthogonal", "sobol", "fastfood")
SOBOL_COLUMNS = 16
"""Beyond, scrambling takes long and gains nothing: see ``sampling_error.py``."""


def cases(n_repeats: int) -> list[Case]:
    return [
        Case("gaussian", d, n_frequencies, draw, n_repeats)
        for d in COLUMNS
        for n_frequencies in FREQUENCIES
        for draw in DRAWS
        if draw != "sobol" or d <= SOBOL_COLUMNS
    ]


def main() -> None:
    environment.use_one_thread()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=100, help="draws in each cell")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    options = parser.parse_args()
    with ProcessPoolExecutor(options.workers) as pool:
        cells = list(pool.map(measure, cases(options.repeats), chunksize=4))
    content = {
        "environment": environment.describe(),
        "seed": SEED,
        "n_x": N_X,
        "n_y": N_Y,
        "n_data_sets": N_DATA_SETS,
        "cells": cells,
    }
    print(environment.write("frequencies_needed.json", content))


if __name__ == "__main__":
    main()
