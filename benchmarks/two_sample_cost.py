"""Cost of the whole test against permutation with the exact Gram matrix in NumPy.

Two measurements, ratios in one run on the same data, threads as the machine gives them:

1. 1000 + 1000 rows, 1000 relabellings: ``two_sample_test(method=Fourier(256))`` and the
   default adaptive test, against a Gram matrix and one matrix product for all relabellings;
2. from 1e4 rows up: what the null costs beside the pass over the data.

Run ``python benchmarks/two_sample_cost.py`` to write
``benchmarks/results/two_sample_cost.json``.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import environment
import numpy as np

import fastmmd
from fastmmd._random import spawn
from fastmmd._rows import check_samples
from fastmmd._twosample.decide import permutation_verdict
from fastmmd._twosample.families import choose_kernels
from fastmmd._twosample.grams import feature_grams, send_to_bins
from fastmmd._twosample.layout import choose_layout
from fastmmd.nulls.bins import BinGram

if TYPE_CHECKING:
    from collections.abc import Callable

N_RESAMPLES = 1000
REPEATS = 9


def gram_permutation_test(
    x: np.ndarray, y: np.ndarray, rng: np.random.Generator
) -> float:
    """Return the p-value by all relabellings in one product, as one would write it well."""
    n, m = len(x), len(y)
    z = np.concatenate([x, y])
    squares = np.einsum("ij,ij->i", z, z)
    gram = np.exp(-0.5 * (squares[:, None] + squares - 2.0 * z @ z.T))
    np.fill_diagonal(gram, 0.0)
    labels = np.zeros((N_RESAMPLES + 1, n + m))
    labels[0, :n] = 1.0
    for row in labels[1:]:
        row[rng.permutation(n + m)[:n]] = 1.0
    products = labels @ gram
    within_x = np.einsum("ij,ij->i", products, labels)
    with_x = products.sum(axis=1)
    between = with_x - within_x
    within_y = gram.sum() - within_x - 2.0 * between
    values = within_x / (n * (n - 1)) + within_y / (m * (m - 1)) - 2 * between / (n * m)
    return float(np.mean(values >= values[0] - 1e-14))


def one_by_one_test(x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> float:
    """Return the p-value with one product of the Gram matrix for each relabelling."""
    n, m = len(x), len(y)
    z = np.concatenate([x, y])
    squares = np.einsum("ij,ij->i", z, z)
    gram = np.exp(-0.5 * (squares[:, None] + squares - 2.0 * z @ z.T))
    weights = np.repeat([1.0 / n, -1.0 / m], [n, m])
    observed = weights @ gram @ weights
    above = 0
    for _ in range(N_RESAMPLES):
        shuffled = rng.permutation(weights)
        above += shuffled @ gram @ shuffled >= observed
    return (1 + above) / (1 + N_RESAMPLES)


def median_seconds(run: Callable[[], Any], repeats: int = REPEATS) -> float:
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def small() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(1000, 2)), 1.1 * rng.normal(size=(1000, 2))
    kernel = fastmmd.Gaussian(1.0)
    options = {"n_resamples": N_RESAMPLES, "rng": 0}
    gram = median_seconds(
        lambda: gram_permutation_test(x, y, np.random.default_rng(0)), 5
    )
    loop = median_seconds(lambda: one_by_one_test(x, y, np.random.default_rng(0)), 1)
    ours = median_seconds(
        lambda: fastmmd.two_sample_test(
            x, y, kernel=kernel, method=fastmmd.Fourier(256), **options
        )
    )
    adaptive = median_seconds(lambda: fastmmd.two_sample_test(x, y, **options))
    return {
        "n_x": 1000,
        "n_y": 1000,
        "n_resamples": N_RESAMPLES,
        "gram_seconds": gram,
        "one_by_one_seconds": loop,
        "fourier_256_times_faster_than_one_by_one": loop / ours,
        "fourier_256_seconds": ours,
        "adaptive_seconds": adaptive,
        "fourier_256_times_faster": gram / ours,
        "adaptive_times_faster": gram / adaptive,
    }


def large(n_rows: int) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, n_rows // 2, 10))
    rows = check_samples(x, y)
    for_kernels, for_bins, for_null = spawn(0, 3)
    kernels, numbers = choose_kernels("adaptive", *rows, for_kernels)
    start = time.perf_counter()
    binned = send_to_bins(rows, choose_layout([len(r) for r in rows]), for_bins)
    grams = feature_grams(binned, kernels, numbers, sampling="auto", seed=0)
    passed = time.perf_counter() - start
    bins = BinGram(grams, binned.counts, binned.labels == 0, binned.movable)
    null = median_seconds(
        lambda: permutation_verdict(bins, n_resamples=999, rng=for_null), 3
    )
    return {
        "rows": n_rows,
        "kernels": len(kernels),
        "pass_seconds": passed,
        "null_seconds": null,
        "null_over_pass": null / passed,
    }


def main() -> None:
    content = {
        "environment": environment.describe(),
        "small": small(),
        "large": [large(n) for n in (10_000, 100_000, 1_000_000)],
    }
    for part in (content["small"], *content["large"]):
        print(part)
    print(environment.write("two_sample_cost.json", content))


if __name__ == "__main__":
    main()
