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


RING_RADII = (1.0, 4.0)
RING_SQUARE = 5.0
"""Half the side of the square around the ring."""


def ring(n_rows: int, rng: np.random.Generator, /) -> tuple[FloatArray, FloatArray]:
    """Return two samples of `n_rows` from a square: points of a ring, and the others.

    Points are uniform on the square; those between the circles of radius 1 and 4 make the
    first sample, those inside and outside of the ring the second.
    """
    kept: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    while min(sum(map(len, parts)) for parts in kept) < n_rows:
        points = rng.uniform(-RING_SQUARE, RING_SQUARE, size=(4 * n_rows, 2))
        squares = np.einsum("ij,ij->i", points, points)
        in_ring = (squares >= RING_RADII[0] ** 2) & (squares <= RING_RADII[1] ** 2)
        kept[0].append(points[in_ring])
        kept[1].append(points[~in_ring])
    inside, others = (np.concatenate(parts)[:n_rows] for parts in kept)
    return inside, others


def ring_mmd2(bandwidth: float, /) -> float:
    r"""Return the squared MMD of a Gaussian kernel between the two laws of `ring`.

    Their densities differ by :math:`f = (a + b) 1_{ring} - b 1_{square}`, with a and b one
    over the areas of the ring and of the rest, and squared MMD is the mean of
    :math:`|\hat f(u / \sigma)|^2` over standard normal u. The transforms of a disc and of a
    square are known; the mean is a sum over lengths and directions of u, whose integrand is
    smooth and periodic, so that the trapezoidal rule is right to many digits.
    """
    # scipy.special is loaded here: nothing else needs Bessel functions.
    from scipy.special import j1

    inner, outer = RING_RADII
    area = np.pi * (outer**2 - inner**2)
    rest = (2.0 * RING_SQUARE) ** 2 - area
    lengths = np.arange(1, 2001) * 0.005
    angles = (np.arange(256) + 0.5) * (np.pi / 4.0 / 256)
    radii = lengths / bandwidth
    ring_part = 2.0 * np.pi * (outer * j1(outer * radii) - inner * j1(inner * radii))
    ring_part /= radii
    across = radii[:, None] * np.array([np.cos(angles), np.sin(angles)])[:, None, :]
    # numpy.sinc(t) is sin(pi t) / (pi t).
    sides = 2.0 * RING_SQUARE * np.sinc(RING_SQUARE / np.pi * across)
    square_part = sides[0] * sides[1]
    transform = (1.0 / area + 1.0 / rest) * ring_part[:, None] - square_part / rest
    density = lengths * np.exp(-0.5 * lengths**2)
    return float(0.005 * density @ np.square(transform).mean(axis=1))
