"""Permutation null: relabel bins, recompute the statistic of every kernel."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

import numpy as np

from fastmmd.nulls.pvalues import permutation_pvalue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastmmd.nulls._arrays import BoolArray, FloatArray, IntArray
    from fastmmd.nulls.bins import BinGram

# Labels and their product with one Gram matrix, for the relabellings of one batch.
_BATCH_BYTES = 16 * 2**20


@final
@dataclass(frozen=True, slots=True, eq=False)
class PermutationNull:
    """Statistics of relabelled samples.

    Attributes
    ----------
    statistics : ndarray of shape (n_relabellings, n_kernels)
        Statistics of all kernels; one row holds one relabelling.
    complete : bool
        Whether the rows are all relabellings, the observed one included, instead of
        a random draw.
    """

    statistics: FloatArray = field(repr=False)
    complete: bool

    def pvalues(self, observed: FloatArray, /) -> FloatArray:
        """Return the p-value of each kernel on its own."""
        pairs = zip(observed, self.statistics.T, strict=True)
        return np.array(
            [permutation_pvalue(o, null, complete=self.complete) for o, null in pairs]
        )


def permute_bins(
    bins: BinGram,
    /,
    *,
    n_resamples: int,
    rng: np.random.Generator,
    batch_size: int | None = None,
) -> PermutationNull:
    """Draw relabellings of the movable bins and compute every kernel's U statistic.

    The test is exact: if both samples share one distribution, movable bins are
    exchangeable. If there are no more than `n_resamples` relabellings, all of them are
    enumerated instead of drawn.

    Parameters
    ----------
    bins : BinGram
        The two samples. Movable bins must hold the same number of rows each.
    n_resamples : int
        Number of relabellings.
    rng : numpy.random.Generator
        Source of the relabellings.
    batch_size : int, optional
        Relabellings handled at once; by default about 16 MiB worth. Relabelling ``i``
        does not depend on it.

    Returns
    -------
    PermutationNull
        The statistics, all kernels under the same relabellings.

    Notes
    -----
    Time is of order ``n_resamples * n_kernels * n_bins**2``, memory that of a batch.

    Examples
    --------
    >>> import numpy as np
    >>> from fastmmd.nulls.bins import BinGram, u_statistics
    >>> kernel = np.kron(np.eye(2), np.ones((3, 3)))
    >>> bins = BinGram.from_bins(kernel, np.ones(6), [1, 1, 1, 0, 0, 0])
    >>> null = permute_bins(bins, n_resamples=99, rng=np.random.default_rng(0))
    >>> null.complete, len(null.statistics)
    (True, 20)
    >>> null.pvalues(u_statistics(bins))
    array([0.1])
    """
    movable = movable_bins(bins.counts, bins.movable, n_resamples)
    n_moved = int(np.count_nonzero(bins.from_x[movable]))
    complete = math.comb(movable.size, n_moved) <= n_resamples
    if batch_size is None:
        batch_size = max(1, _BATCH_BYTES // (16 * bins.n_bins))
    chosen = (
        _all_choices(movable.size, n_moved, batch_size)
        if complete
        else _random_choices(movable.size, n_moved, n_resamples, batch_size, rng)
    )
    statistics = _RelabelledStatistics(bins)
    fixed = np.where(bins.movable, 0.0, bins.from_x)
    parts = []
    for choice in chosen:
        if movable.size == bins.n_bins:
            parts.append(statistics(choice.astype(np.float64)))
            continue
        labels = np.empty((len(choice), bins.n_bins))
        labels[:] = fixed
        labels[:, movable] = choice
        parts.append(statistics(labels))
    return PermutationNull(np.concatenate(parts), complete)


def movable_bins(counts: IntArray, movable: BoolArray, n_resamples: int, /) -> IntArray:
    """Return which bins may be relabelled, or say why so many relabellings cannot be."""
    if n_resamples < 1:
        msg = f"`n_resamples` must be at least 1; got {n_resamples}."
        raise ValueError(msg)
    places = np.flatnonzero(movable)
    sizes = np.unique(counts[places])
    if sizes.size > 1:
        msg = (
            "movable bins must hold the same number of rows; "
            f"got bins of {sizes[0]} to {sizes[-1]} rows."
        )
        raise ValueError(msg)
    return places


def _random_choices(
    n_movable: int,
    n_moved: int,
    n_resamples: int,
    batch_size: int,
    rng: np.random.Generator,
) -> Iterator[BoolArray]:
    # Each relabelling uses up exactly `n_movable` uniform keys, in order. Relabelling i
    # therefore follows from the seed and i, whatever the batch.
    for start in range(0, n_resamples, batch_size):
        keys = rng.random((min(batch_size, n_resamples - start), n_movable))
        if n_moved == 0:
            yield np.zeros(keys.shape, dtype=np.bool_)
        else:
            last = np.partition(keys, n_moved - 1, axis=1)[:, n_moved - 1, None]
            yield keys <= last


def _all_choices(n_movable: int, n_moved: int, batch_size: int) -> Iterator[BoolArray]:
    subsets = itertools.combinations(range(n_movable), n_moved)
    while batch := list(itertools.islice(subsets, batch_size)):
        chosen = np.array(batch, dtype=np.int64).reshape(len(batch), n_moved)
        members = np.zeros((len(batch), n_movable), dtype=np.bool_)
        np.put_along_axis(members, chosen, values=True, axis=1)
        yield members


@final
class _RelabelledStatistics:
    """U statistics of all kernels as quadratic forms in 0/1 labels of x."""

    __slots__ = ("_centred", "_n_x", "_n_y", "_norm", "_slopes")

    def __init__(self, bins: BinGram) -> None:
        self._n_x, self._n_y = bins.n_x, bins.n_y
        n = self._n_x + self._n_y
        # Subtracting the pooled mean t from every row leaves |xbar - ybar| as it is and
        # makes sum_y = -sum_x. One quadratic form is left, and its size is that of the
        # statistic and not of the raw sums, so nothing cancels.
        with_mean = bins.grams.sum(axis=2) / n
        self._norm = with_mean.sum(axis=1) / n
        share = bins.counts.astype(np.float64)
        cross = with_mean[:, :, None] * share
        self._centred = bins.grams - cross - cross.transpose(0, 2, 1)
        self._centred += self._norm[:, None, None] * np.outer(share, share)
        self._slopes = with_mean - self._norm[:, None] * share

    def __call__(self, labels: FloatArray) -> FloatArray:
        n_x, n_y = self._n_x, self._n_y
        square = np.empty((len(labels), len(self._centred)))
        for kernel, matrix in enumerate(self._centred):
            square[:, kernel] = np.einsum("ij,ij->i", labels @ matrix, labels)
        # <centred sum over x, t>, and from it the squared norms of both means.
        along = labels @ self._slopes.T
        norm_x = square / n_x**2 + 2.0 * along / n_x + self._norm
        norm_y = square / n_y**2 - 2.0 * along / n_y + self._norm
        distance = square * (1.0 / n_x + 1.0 / n_y) ** 2
        return distance - (1.0 - norm_x) / (n_x - 1) - (1.0 - norm_y) / (n_y - 1)
