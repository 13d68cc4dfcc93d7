"""All pairs in NumPy: the double sum in float64, and the test by relabelling rows.

The double sum twice: in blocks of 1,000 rows as one writes it, and tuned, in tiles that stay
in cache and with every pair within a sample taken once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from compare.common import Data, Way, mmd2_from_sums, only_dense

BLOCK = 1000
TILE = 384  # a tile of distances is about a megabyte
N_RESAMPLES = 999


def pair_sum(x: Any, y: Any, *, same: bool) -> float:
    """Return the sum of exp(-|x - y|^2 / 2) over all pairs, each once in `same` samples."""
    halves_x, halves_y = (0.5 * row_squares(rows) for rows in (x, y))
    parts = []
    for i in range(0, x.shape[0], TILE):
        left = x[i : i + TILE]
        for j in range(i if same else 0, y.shape[0], TILE):
            right = y[j : j + TILE]
            tile = left @ right.T
            if not isinstance(tile, np.ndarray):
                tile = tile.toarray()
            tile -= halves_x[i : i + TILE, None]
            tile -= halves_y[j : j + TILE]
            np.exp(tile, out=tile)
            parts.append(tile.sum() * (2.0 if same and i != j else 1.0))
    return math.fsum(parts)


def row_squares(rows: Any) -> np.ndarray:
    if isinstance(rows, np.ndarray):
        return np.einsum("ij,ij->i", rows, rows)
    return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()


def both(data: Data) -> tuple[float, float]:
    """Return the unbiased and the biased squared MMD."""
    x, y = (rows.astype(np.float64) / data.bandwidth for rows in (data.x, data.y))
    xx, yy = (pair_sum(rows, rows, same=True) for rows in (x, y))
    return mmd2_from_sums(xx, yy, pair_sum(x, y, same=False), x.shape[0], y.shape[0])


def estimate(data: Data, _seed: int) -> float:
    return both(data)[0]


def plain_sum(x: Any, y: Any, bandwidth: float) -> float:
    """Return the sum over all pairs, block after block."""
    total = 0.0
    for i in range(0, len(x), BLOCK):
        left = x[i : i + BLOCK]
        for j in range(0, len(y), BLOCK):
            right = y[j : j + BLOCK]
            squared = row_squares(left)[:, None] + row_squares(right) - 2 * left @ right.T
            total += float(np.exp(squared / (-2 * bandwidth**2)).sum())
    return total


def plain_estimate(data: Data, _seed: int) -> float:
    x, y = (rows.astype(np.float64) for rows in (data.x, data.y))
    xx, yy, xy = (plain_sum(*pair, data.bandwidth) for pair in ((x, x), (y, y), (x, y)))
    return mmd2_from_sums(xx, yy, xy, len(x), len(y))[0]


def relabelling_test(data: Data, seed: int) -> float:
    """Return the p-value from the whole Gram matrix, one product for all relabellings."""
    rng = np.random.default_rng(seed)
    n, m = len(data.x), len(data.y)
    z = np.concatenate([data.x, data.y]) / data.bandwidth
    halves = 0.5 * np.einsum("ij,ij->i", z, z)
    gram = z @ z.T
    gram -= halves[:, None]
    gram -= halves
    np.exp(gram, out=gram)
    np.fill_diagonal(gram, 0.0)
    labels = np.zeros((N_RESAMPLES + 1, n + m))
    labels[0, :n] = 1.0
    for row in labels[1:]:
        row[rng.permutation(n + m)[:n]] = 1.0
    products = labels @ gram
    within_x = np.einsum("ij,ij->i", products, labels)
    between = products.sum(axis=1) - within_x
    within_y = gram.sum() - within_x - 2.0 * between
    values = within_x / (n * (n - 1)) + within_y / (m * (m - 1)) - 2 * between / (n * m)
    return float(np.mean(values >= values[0] - 1e-13))


WAYS = (
    Way("double sum, float64", estimate, pairwise=True, random=False),
    Way(
        "double sum, plain blocks",
        plain_estimate,
        pairwise=True,
        random=False,
        refuses=only_dense,
    ),
    Way(
        "relabelling rows",
        relabelling_test,
        "test",
        "",
        pairwise=True,
        note="999 relabellings of rows",
        refuses=only_dense,
    ),
)
