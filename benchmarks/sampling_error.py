"""Error of the Fourier and Fastfood estimates by the way frequencies are drawn.

Three parts, all for the biased squared MMD and relative to its exact value:

1. the root-mean-square error over repeated draws, by kernel, number of columns, number of
   frequencies and draw; and how well the reported standard error agrees with it;
2. the same for Sobol points in 1, 2, 4, 8 or 16 independent scramblings;
3. the standard error with few independent blocks.

Run ``python benchmarks/sampling_error.py`` (some minutes) or with ``--quick``.
"""

from __future__ import annotations

import argparse
import functools
import math
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import environment
import numpy as np

import fastmmd
from fastmmd.bandwidth import median_bandwidth
from fastmmd.frequencies import draw as draw_module

if TYPE_CHECKING:
    from fastmmd import Kernel

COLUMNS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 32, 64, 256)
FREQUENCIES = (256, 1024)
KERNELS = ("gaussian", "matern_1/2", "rational_quadratic", "laplace", "cauchy")
RADIAL = KERNELS[:3]
GROUP_COUNTS = (1, 2, 4, 8, 16)
GROUP_COLUMNS = (1, 2, 4, 6, 8, 16)
N_X, N_Y = 320, 280
N_DATA_SETS = 4
SEED = 20150

# Scrambling a Sobol sequence takes long in many columns, where nobody should use it.
SLOW_SOBOL_COLUMNS = 64


@dataclass(frozen=True)
class Case:
    """One cell of the table."""

    kernel: str
    n_columns: int
    n_frequencies: int
    draw: str
    n_repeats: int
    sobol_groups: int = draw_module.GROUPS


@functools.cache
def samples(n_columns: int, which: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two mixtures of three correlated clusters; the second shifted and stretched."""
    rng = np.random.default_rng([SEED, n_columns, which])
    centers = rng.normal(scale=2.0, size=(3, n_columns))
    # Neighbouring columns are correlated, and scales differ by a factor of up to four.
    lags = np.abs(np.subtract.outer(np.arange(n_columns), np.arange(n_columns)))
    factor = np.linalg.cholesky(0.7**lags) * rng.uniform(0.5, 2.0, n_columns)[:, None]

    def draw(n_rows: int, weights: list[float]) -> np.ndarray:
        cluster = rng.choice(3, n_rows, p=weights)
        return centers[cluster] + rng.normal(size=(n_rows, n_columns)) @ factor.T

    x, y = draw(N_X, [0.5, 0.3, 0.2]), draw(N_Y, [0.4, 0.3, 0.3])
    changed = np.arange(n_columns) % 3 == 0
    y[:, changed] = 1.4 * y[:, changed] + 0.8
    return x, y


@functools.cache
def kernel_for(name: str, n_columns: int, which: int) -> Kernel:
    x, y = samples(n_columns, which)
    metric = "cityblock" if name == "laplace" else "euclidean"
    bandwidth = median_bandwidth(x, y, metric=metric, rng=0)
    return {
        "gaussian": fastmmd.Gaussian,
        "matern_1/2": functools.partial(fastmmd.Matern, nu=0.5),
        "rational_quadratic": fastmmd.RationalQuadratic,
        "laplace": fastmmd.Laplace,
        "cauchy": fastmmd.Cauchy,
    }[name](bandwidth)


@functools.cache
def exact(name: str, n_columns: int, which: int) -> float:
    x, y = samples(n_columns, which)
    kernel = kernel_for(name, n_columns, which)
    return fastmmd.mmd(x, y, kernel=kernel, method="exact", estimator="biased").mmd2


def measure(case: Case) -> dict[str, Any]:
    """Return the error of one cell, over data sets and draws."""
    draw_module.GROUPS = case.sobol_groups
    method = fastmmd.Fastfood(case.n_frequencies)
    if case.draw != "fastfood":
        method = fastmmd.Fourier(case.n_frequencies, sampling=case.draw)
    errors, reported = [], []
    for repeat in range(case.n_repeats):
        which = repeat % N_DATA_SETS
        x, y = samples(case.n_columns, which)
        kernel = kernel_for(case.kernel, case.n_columns, which)
        truth = exact(case.kernel, case.n_columns, which)
        estimate = fastmmd.mmd(
            x, y, kernel=kernel, method=method, estimator="biased", rng=[SEED, repeat]
        )
        errors.append(estimate.mmd2 / truth - 1.0)
        reported.append((estimate.standard_error or math.nan) / truth)
    squares = np.square(errors)
    rms = math.sqrt(squares.mean())
    rms_error = squares.std(ddof=1) / (2.0 * rms * math.sqrt(len(squares)))
    reported_rms = math.sqrt(np.mean(np.square(reported)))
    return {
        "kernel": case.kernel,
        "n_columns": case.n_columns,
        "n_frequencies": case.n_frequencies,
        "draw": case.draw,
        "sobol_groups": case.sobol_groups if case.draw == "sobol" else None,
        "n_repeats": case.n_repeats,
        "relative_rms_error": environment.round_to(rms),
        "its_standard_error": environment.round_to(rms_error, 2),
        "reported_over_true": environment.round_to(reported_rms / rms),
    }


def slow(draw: str, n_columns: int) -> bool:
    return draw == "sobol" and n_columns >= SLOW_SOBOL_COLUMNS


def cases_by_draw(n_repeats: int, columns: tuple[int, ...]) -> list[Case]:
    return [
        Case(kernel, d, n_frequencies, draw, n_repeats // (4 if slow(draw, d) else 1))
        for d in columns
        for kernel in KERNELS
        for n_frequencies in FREQUENCIES
        for draw in ("iid", "orthogonal", "sobol", "fastfood")
        if kernel in RADIAL or draw in {"iid", "sobol"}
    ]


def cases_by_groups(n_repeats: int, columns: tuple[int, ...]) -> list[Case]:
    return [
        Case(kernel, d, n_frequencies, "sobol", n_repeats, groups)
        for d in columns
        for kernel in ("gaussian", "laplace")
        for n_frequencies in FREQUENCIES
        for groups in GROUP_COUNTS
    ]


def cases_with_few_blocks(n_repeats: int) -> list[Case]:
    """Draws of 1 to 16 blocks of frequencies in 64 columns."""
    return [
        Case(kernel, 64, 64 * blocks, draw, n_repeats)
        for kernel in RADIAL
        for blocks in (1, 2, 4, 7, 8, 16)
        for draw in ("orthogonal", "fastfood")
    ]


def main() -> None:
    environment.use_one_thread()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few columns and repeats")
    parser.add_argument("--repeats", type=int, default=32, help="draws in each cell")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument(
        "--output", default="sampling_error.json", help="file in results/"
    )
    options = parser.parse_args()
    n_repeats = 12 if options.quick else options.repeats
    columns = (2, 8) if options.quick else COLUMNS
    group_columns = (2,) if options.quick else GROUP_COLUMNS
    parts = {
        "by_draw": cases_by_draw(n_repeats, columns),
        "by_sobol_groups": cases_by_groups(n_repeats, group_columns),
        "few_blocks": cases_with_few_blocks(2 * n_repeats),
    }
    content: dict[str, Any] = {
        "environment": environment.describe(),
        "seed": SEED,
        "n_x": N_X,
        "n_y": N_Y,
        "n_data_sets": N_DATA_SETS,
    }
    with ProcessPoolExecutor(options.workers) as pool:
        for name, cases in parts.items():
            content[name] = list(pool.map(measure, cases, chunksize=4))
            print(f"{name}: {len(cases)} cells")
    print(environment.write(options.output, content))


if __name__ == "__main__":
    main()
