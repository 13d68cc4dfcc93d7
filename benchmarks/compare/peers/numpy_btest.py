"""The B-test in NumPy, written well: blocks of about the root of the sample size, batched."""

from __future__ import annotations

import math

import numpy as np

from compare.common import Data, Way, only_dense

BATCH_NUMBERS = 1 << 17  # kernel values of a batch of blocks: a megabyte


def block_values(data: Data) -> np.ndarray:
    """Return the unbiased estimate of every block."""
    n = min(len(data.x), len(data.y))
    size = math.isqrt(n)
    n_blocks = n // size
    shape = (n_blocks, size, data.problem.n_columns)
    x, y = (
        rows[: n_blocks * size].astype(np.float64).reshape(shape) / data.bandwidth
        for rows in (data.x, data.y)
    )
    batch = max(1, BATCH_NUMBERS // size**2)
    return np.concatenate(
        [values(x[i : i + batch], y[i : i + batch]) for i in range(0, n_blocks, batch)]
    )


def values(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    halves_x, halves_y = (0.5 * np.einsum("bij,bij->bi", rows, rows) for rows in (x, y))
    size = x.shape[1]
    within_x = kernels(x, x, halves_x, halves_x).sum(axis=(1, 2)) - size
    within_y = kernels(y, y, halves_y, halves_y).sum(axis=(1, 2)) - size
    between = kernels(x, y, halves_x, halves_y)
    # Pairs of rows with the same number are left out, as in the paper's U statistic.
    crossed = between.sum(axis=(1, 2)) - np.einsum("bii->b", between)
    return (within_x + within_y - 2.0 * crossed) / (size * (size - 1))


def kernels(
    x: np.ndarray, y: np.ndarray, halves_x: np.ndarray, halves_y: np.ndarray
) -> np.ndarray:
    found = x @ y.transpose(0, 2, 1)
    found -= halves_x[:, :, None]
    found -= halves_y[:, None, :]
    return np.exp(found, out=found)


def estimate(data: Data, _seed: int) -> float:
    return float(block_values(data).mean())


def test(data: Data, _seed: int) -> float:
    found = block_values(data)
    score = found.mean() / (found.std(ddof=1) / math.sqrt(len(found)))
    return 0.5 * math.erfc(score / math.sqrt(2.0))


WAYS = (
    Way("blocks of rows, float64", estimate, random=False, refuses=only_dense),
    Way("B-test", test, "test", "", note="normal null", refuses=only_dense),
)
