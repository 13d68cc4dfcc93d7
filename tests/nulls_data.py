"""Samples, kernels and bins for the tests of the null distributions."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from fastmmd.nulls import BinGram


def kernel_matrices(rows, bandwidths=(1.0,)):
    square = ((rows[:, None] - rows) ** 2).sum(axis=2)
    return np.stack([np.exp(-square / (2 * b**2)) for b in bandwidths])


def row_bins(x, y, bandwidths=(1.0,)):
    """Bins of one row each: `grams` is the kernel matrix."""
    from_x = np.arange(len(x) + len(y)) < len(x)
    grams = kernel_matrices(np.vstack((x, y)), bandwidths)
    return BinGram.from_bins(grams, np.ones(len(from_x)), from_x)


def add_up(bins, place, movable=None):
    """Add bins that share a place; places must not mix samples."""
    n_places = int(np.max(place)) + 1
    adding = (np.arange(n_places)[:, None] == place).astype(float)
    from_x = (adding @ bins.from_x) > 0
    counts = adding @ bins.counts
    return BinGram.from_bins(adding @ bins.grams @ adding.T, counts, from_x, movable)


def brute_force_u(x, y, bandwidth=1.0):
    """Return the two-sample U statistic as two double loops and a cross term."""

    def k(a, b):
        return float(np.exp(-((a - b) ** 2).sum() / (2 * bandwidth**2)))

    def within(z):
        pairs = [k(z[i], z[j]) for i in range(len(z)) for j in range(len(z)) if i != j]
        return sum(pairs) / (len(z) * (len(z) - 1))

    cross = sum(k(a, b) for a in x for b in y) / (len(x) * len(y))
    return within(x) + within(y) - 2 * cross


@st.composite
def samples(draw, min_rows=2, max_rows=9, decimals=None):
    """Two samples of one to three columns; few decimals make ties."""
    dim = draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = [draw(st.integers(min_rows, max_rows)) for _ in range(2)]
    x, y = (rng.normal(size=(n, dim)) for n in sizes)
    if draw(st.booleans()) if decimals is None else decimals == 0:
        x, y = np.round(x), np.round(y)
    return x, y
