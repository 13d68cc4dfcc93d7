"""The paper's synthetic data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fastmmd._typing import FloatArray

BLOBS_A_SIDE = 5
BLOB_SPACING = 5.0


def blobs(
    n_rows: int, ratio: float, rng: np.random.Generator, /
) -> tuple[FloatArray, FloatArray]:
    """Return two samples from 5 x 5 Gaussian blobs: round ones, and stretched ones.

    The covariance is the identity in the first; in the second its eigenvalues are `ratio`,
    along the diagonal, and 1. The paper gives the ratio only. With blobs 5 apart the
    bandwidth of the largest MMD at ratio 4 is 1.1, which on a grid of 10^(1/5) is the
    bandwidth of 1 that the paper selects.
    """
    round_ones, stretched = (
        BLOB_SPACING * rng.integers(BLOBS_A_SIDE, size=(n_rows, 2))
        + rng.standard_normal((n_rows, 2)) @ factor
        for factor in (np.eye(2), _factor(ratio))
    )
    return round_ones, stretched


def blob_covariance(ratio: float, /) -> FloatArray:
    """Return the covariance of a stretched blob."""
    factor = _factor(ratio)
    return np.asarray(factor.T @ factor)


def _factor(ratio: float) -> FloatArray:
    """Return the matrix that turns standard normal rows into rows of a stretched blob."""
    diagonals = np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2.0)
    return np.asarray(np.sqrt([ratio, 1.0])[:, None] * diagonals)
