"""Where another test is the better choice: ours beside the classical ones, on small data.

Each setting is one kind of difference, or none at all, and gives the p-value of every test
that someone might use there.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from data import correlated, shifted
from others import (
    RESAMPLES,
    chi_squared,
    classifier,
    energy,
    hotelling,
    kolmogorov_smirnov,
    t_test,
)
from scipy import signal
from simulate import Cell

import fastmmd

if TYPE_CHECKING:
    from collections.abc import Iterator

COLUMNS = (1, 4, 16, 64, 256, 1024)
ROWS = (1_000, 10_000, 100_000, 1_000_000)
PERSISTENCE = 0.9
"""How much of a row's value the next one keeps: neighbours correlate by this much."""


def mmd_pvalue(
    x: np.ndarray, y: np.ndarray, rng: np.random.Generator, **test: Any
) -> float:
    """Return the p-value of our test with its defaults."""
    seed = int(rng.integers(2**31))
    return fastmmd.two_sample_test(
        x, y, n_resamples=RESAMPLES, rng=seed, n_threads=1, **test
    ).pvalue


def mean_of_one_column(
    rng: np.random.Generator, *, n: int, shift: float
) -> dict[str, float]:
    """A normal column is moved."""
    x, y = shifted(n, 1, shift, rng)
    return {
        "MMD": mmd_pvalue(x, y, rng),
        "t": t_test(x, y),
        "KS": kolmogorov_smirnov(x, y),
        "energy": energy(x, y, rng),
    }


def mean_of_all_columns(
    rng: np.random.Generator, *, n: int, n_columns: int, shift: float
) -> dict[str, float]:
    """All columns are moved a little."""
    x, y = rng.standard_normal((2, n, n_columns))
    y += shift
    return {
        "MMD": mmd_pvalue(x, y, rng),
        "Hotelling": hotelling(x, y),
        "KS": kolmogorov_smirnov(x, y),
        "energy": energy(x, y, rng),
    }


def one_of_many_columns(
    rng: np.random.Generator, *, n: int, n_columns: int, shift: float
) -> dict[str, float]:
    """One column is moved, the others are the same noise in both samples."""
    x, y = shifted(n, n_columns, shift, rng)
    return {
        "MMD": mmd_pvalue(x, y, rng),
        "KS": kolmogorov_smirnov(x, y),
        "energy": energy(x, y, rng),
    }


def dependence(
    rng: np.random.Generator, *, n: int, n_columns: int, correlation: float
) -> dict[str, float]:
    """Two columns are correlated in one sample; each by itself is the same in both."""
    x = rng.standard_normal((n, n_columns))
    y = correlated(n, n_columns, correlation, rng)
    return {
        "MMD": mmd_pvalue(x, y, rng),
        "KS": kolmogorov_smirnov(x, y),
        "energy": energy(x, y, rng),
    }


def trees(
    rng: np.random.Generator, *, n: int, n_columns: int, correlation: float, shift: float
) -> dict[str, float]:
    """Two columns of many are correlated, or all are moved a little."""
    x = rng.standard_normal((n, n_columns))
    y = correlated(n, n_columns, correlation, rng) + shift
    found = {"MMD": mmd_pvalue(x, y, rng), "KS": kolmogorov_smirnov(x, y)}
    by_trees = classifier(x, y, rng)
    return found if by_trees is None else found | {"classifier": by_trees}


def levels(
    rng: np.random.Generator, *, n: int, first: list[float], second: list[float]
) -> dict[str, float]:
    """Categories with other shares, one-hot."""
    one_hot = np.eye(len(first))
    x, y = (one_hot[rng.choice(len(p), n, p=p)] for p in (first, second))
    return {"MMD": mmd_pvalue(x, y, rng), "chi-squared": chi_squared(x, y)}


def series(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return normal rows in two columns, each like the one before."""
    burn_in = 200
    noise = np.sqrt(1.0 - PERSISTENCE**2) * rng.standard_normal((burn_in + n, 2))
    return signal.lfilter([1.0], [1.0, -PERSISTENCE], noise, axis=0)[burn_in:]


def dependent_rows(rng: np.random.Generator, *, n: int) -> dict[str, float]:
    """Nothing differs, but rows follow each other: every rejection is a false alarm."""
    x, y = series(n, rng), series(n, rng)
    found = {"MMD": mmd_pvalue(x, y, rng), "KS": kolmogorov_smirnov(x, y)}
    for length in (10, 25, 50):
        blocks = np.arange(n) // length
        groups = (blocks, blocks + n)
        found[f"MMD, groups of {length}"] = mmd_pvalue(x, y, rng, groups=groups)
    found["MMD, every 50th row"] = mmd_pvalue(x[::50], y[::50], rng)
    return found


def tiny_difference(
    rng: np.random.Generator, *, n: int, shift: float
) -> dict[str, float]:
    """A hundredth of a standard deviation, at more and more rows."""
    x, y = shifted(n, 1, shift, rng)
    seed = int(rng.integers(2**31))
    kernel = fastmmd.Gaussian(1.0)
    plain, margin = (
        fastmmd.two_sample_test(
            x,
            y,
            kernel=kernel,
            method=fastmmd.Fourier(256),
            margin=margin,
            n_resamples=RESAMPLES,
            rng=seed,
            n_threads=1,
        )
        for margin in (None, 0.02)
    )
    return {
        "MMD": plain.pvalue,
        "MMD, margin 0.02": margin.pvalue,
        "mean effect size": plain.effect_size,
    }


def alternative_cells() -> Iterator[Cell]:
    """Return the settings; the name says what is drawn."""

    def cell(name: str, runs: int, run: Any, **about: Any) -> Cell:
        return Cell(name, {"rows": about["n"], **about}, partial(run, **about), runs)

    yield cell("mean of one column", 1000, mean_of_one_column, n=60, shift=0.5)
    yield cell(
        "mean of all columns", 1000, mean_of_all_columns, n=100, n_columns=10, shift=0.15
    )
    for n_columns in COLUMNS:
        name = f"one of {n_columns} columns"
        runs = 1000 if n_columns <= 64 else 400
        yield cell(name, runs, one_of_many_columns, n=200, n_columns=n_columns, shift=0.5)
    yield cell("dependence of 2", 1000, dependence, n=200, n_columns=2, correlation=0.6)
    yield cell(
        "dependence of 2 in 10", 1000, dependence, n=200, n_columns=10, correlation=0.8
    )
    yield cell(
        "trees: two of 30 depend",
        400,
        trees,
        n=1000,
        n_columns=30,
        correlation=0.7,
        shift=0.0,
    )
    yield cell(
        "trees: all of 30 move",
        400,
        trees,
        n=1000,
        n_columns=30,
        correlation=0.0,
        shift=0.05,
    )
    for n, shift in ((3, 10.0), (4, 10.0), (5, 2.0), (10, 1.2)):
        yield cell(f"{n} rows", 1000, mean_of_one_column, n=n, shift=shift)
    common = [0.4, 0.3, 0.2, 0.1]
    yield cell(
        "four levels", 1000, levels, n=300, first=common, second=[0.34, 0.3, 0.2, 0.16]
    )
    yield cell(
        "a rare level",
        1000,
        levels,
        n=3000,
        first=[0.5, 0.3, 0.198, 0.002],
        second=[0.5, 0.296, 0.198, 0.006],
    )
    yield cell("dependent rows", 400, dependent_rows, n=500)
    for n in ROWS:
        runs = 400 if n <= 10_000 else 100
        yield cell(f"tiny difference, {n} rows", runs, tiny_difference, n=n, shift=0.01)
