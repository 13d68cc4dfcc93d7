"""Exact MMD as the formula reads: what a program without this library would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fastmmd._typing import FloatArray

_BLOCK_ROWS = 1024
"""Rows whose kernel matrix with all others is held at a time."""


def textbook_mmd2(x: FloatArray, y: FloatArray, bandwidth: float, /) -> float:
    """Return the unbiased squared MMD of a Gaussian kernel, in NumPy and double precision.

    Time O((n_x + n_y)^2 n_columns): nothing is left out, no pair is used twice.
    """
    n, m = len(x), len(y)
    within_x, within_y = (kernel_sum(rows, rows, bandwidth) for rows in (x, y))
    between = kernel_sum(x, y, bandwidth)
    # The pairs of a row with itself have kernel 1.
    mean_x, mean_y = (within_x - n) / (n * (n - 1)), (within_y - m) / (m * (m - 1))
    return mean_x + mean_y - 2.0 * between / (n * m)


def kernel_sum(x: FloatArray, y: FloatArray, bandwidth: float, /) -> float:
    """Return the sum of the Gaussian kernel over all pairs of rows."""
    squares_y = np.square(y).sum(axis=1)
    total = 0.0
    for start in range(0, len(x), _BLOCK_ROWS):
        block = x[start : start + _BLOCK_ROWS]
        distances = np.square(block).sum(axis=1)[:, None] + squares_y - 2.0 * block @ y.T
        total += float(np.exp(distances / (-2.0 * bandwidth**2)).sum())
    return total
