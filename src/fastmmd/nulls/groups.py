"""Relabelling bins of different sizes: whole groups of rows that belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fastmmd.nulls._arrays import BoolArray, FloatArray, IntArray

_BATCH_BYTES = 16 * 2**20


def group_statistics(
    grams: FloatArray, counts: IntArray, from_x: BoolArray, /
) -> FloatArray:
    """Return squared MMD of each kernel from pairs of rows in different groups.

    Parameters
    ----------
    grams : ndarray of shape (n_kernels, n_groups, n_groups)
        Kernel sums between groups.
    counts : ndarray of shape (n_groups,)
        Rows in each group.
    from_x : ndarray of bool
        Sample of each group.

    Returns
    -------
    ndarray of shape (n_kernels,)
        Unbiased if groups are independent, whatever the dependence within them.

    Examples
    --------
    >>> import numpy as np
    >>> apart = np.kron(np.eye(2), np.ones((2, 2)))[None]
    >>> group_statistics(apart, np.ones(4, int), np.array([True, True, False, False]))
    array([2.0])
    """
    return _statistics(grams, counts, from_x[None].astype(np.float64))[0]


def permute_groups(
    grams: FloatArray,
    counts: IntArray,
    from_x: BoolArray,
    movable: BoolArray,
    /,
    *,
    n_resamples: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the statistics of relabelled groups, shape (n_resamples, n_kernels).

    The number of groups in each sample is kept; their rows need not be.

    Examples
    --------
    >>> import numpy as np
    >>> grams, counts = np.ones((1, 6, 6)), np.ones(6, int)
    >>> x = np.arange(6) < 3
    >>> rng = np.random.default_rng(0)
    >>> permute_groups(grams, counts, x, x | ~x, n_resamples=5, rng=rng).shape
    (5, 1)
    """
    places = np.flatnonzero(movable)
    n_moved = int(np.count_nonzero(from_x[places]))
    fixed = np.where(movable, 0.0, from_x.astype(np.float64))
    batch = max(1, _BATCH_BYTES // (16 * len(counts)))
    parts = []
    for start in range(0, n_resamples, batch):
        keys = rng.random((min(batch, n_resamples - start), places.size))
        chosen = np.argsort(keys, axis=1)[:, :n_moved]
        labels = np.tile(fixed, (len(keys), 1))
        np.put_along_axis(labels, places[chosen], 1.0, axis=1)
        parts.append(_statistics(grams, counts, labels))
    return np.concatenate(parts)


def jackknife_error(gram: FloatArray, counts: IntArray, from_x: BoolArray, /) -> float:
    """Return the standard error of the statistic, by leaving out each group in turn.

    Examples
    --------
    >>> import numpy as np
    >>> jackknife_error(np.ones((6, 6)), np.ones(6, int), np.arange(6) < 3)
    0.0
    """
    values = []
    total = 0.0
    for part in (from_x, ~from_x):
        places = np.flatnonzero(part)
        if places.size < 3:
            return float("inf")
        values = [
            _statistics(
                np.delete(np.delete(gram, i, 0), i, 1)[None],
                np.delete(counts, i),
                np.delete(from_x, i)[None].astype(np.float64),
            )[0, 0]
            for i in places
        ]
        n = places.size
        total += (n - 1) / n * float(np.square(values - np.mean(values)).sum())
    return float(np.sqrt(total))


def group_spread(gram: FloatArray, counts: IntArray, from_x: BoolArray, /) -> float:
    """Return the spread of rows within both samples, by pairs in different groups.

    Examples
    --------
    >>> import numpy as np
    >>> group_spread(np.eye(4), np.ones(4, int), np.arange(4) < 2)
    2.0
    """
    samples = np.stack([from_x, ~from_x]).astype(np.float64)
    return float(np.sum(1.0 - _mean_within(gram, counts, samples)))


def _mean_within(gram: FloatArray, counts: IntArray, who: FloatArray) -> FloatArray:
    """Return the mean over pairs of rows in different groups of a sample."""
    sizes = counts.astype(np.float64)
    hollow = gram - np.diag(np.diagonal(gram))
    sums = np.einsum("ij,ij->i", who @ hollow, who)
    return np.asarray(sums / (np.square(who @ sizes) - who @ np.square(sizes)))


def _statistics(grams: FloatArray, counts: IntArray, labels: FloatArray) -> FloatArray:
    """Return the statistics for rows of 0/1 labels of x."""
    others = 1.0 - labels
    sizes = counts.astype(np.float64)
    result = np.empty((len(labels), len(grams)))
    for j, gram in enumerate(grams):
        between = np.einsum("ij,ij->i", labels @ gram, others)
        between /= (labels @ sizes) * (others @ sizes)
        within = sum(_mean_within(gram, counts, who) for who in (labels, others))
        result[:, j] = within - 2.0 * between
    return result
