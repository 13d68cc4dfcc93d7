"""Permutation test of several samples at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from fastmmd.nulls.permutation import PermutationNull, movable_bins

if TYPE_CHECKING:
    import numpy.typing as npt

    from fastmmd.nulls._arrays import BoolArray, FloatArray, IntArray

_BATCH_BYTES = 16 * 2**20


@final
@dataclass(frozen=True, slots=True, eq=False)
class LabelledGram:
    """Kernel sums between bins of rows of several samples.

    Parameters
    ----------
    grams : ndarray of shape (n_kernels, n_bins, n_bins)
        Kernel sums as in `BinGram`.
    counts : ndarray of shape (n_bins,)
        Rows in each bin.
    labels : ndarray of shape (n_bins,)
        Sample of each bin, numbered from 0 without gaps.
    movable : ndarray of shape (n_bins,)
        Whether a relabelling may move the bin to another sample.

    Examples
    --------
    >>> import numpy as np
    >>> bins = LabelledGram.from_bins(np.eye(6), np.ones(6), [0, 0, 1, 1, 2, 2])
    >>> bins.sizes
    array([2, 2, 2])
    """

    grams: FloatArray
    counts: IntArray
    labels: IntArray
    movable: BoolArray

    def __post_init__(self) -> None:
        n_bins = self.counts.size
        if self.grams.ndim != 3 or self.grams.shape[1:] != (n_bins, n_bins):
            msg = (
                f"`grams` must have shape (n_kernels, {n_bins}, {n_bins}) to go with "
                f"{n_bins} counts; got {self.grams.shape}."
            )
            raise ValueError(msg)
        if n_bins == 0 or self.labels.min() < 0:
            msg = f"`labels` must be numbers from 0 up; got {self.labels}."
            raise ValueError(msg)
        if self.sizes.size < 2 or self.sizes.min() < 2:
            msg = (
                "`counts` must hold at least 2 rows of each of at least 2 samples; "
                f"got {self.sizes.tolist()}."
            )
            raise ValueError(msg)

    @classmethod
    def from_bins(
        cls,
        grams: npt.ArrayLike,
        counts: npt.ArrayLike,
        labels: npt.ArrayLike,
        movable: npt.ArrayLike | None = None,
    ) -> LabelledGram:
        """Make a `LabelledGram` from array-likes; by default all bins are movable."""
        matrix = np.asarray(grams, dtype=np.float64)
        sample = np.asarray(labels, dtype=np.int64)
        free = np.ones(sample.shape, np.bool_) if movable is None else movable
        return cls(
            matrix[None] if matrix.ndim == 2 else matrix,
            np.asarray(counts, dtype=np.int64),
            sample,
            np.asarray(free, dtype=np.bool_),
        )

    @property
    def sizes(self) -> IntArray:
        """Rows in each sample."""
        return np.bincount(self.labels, weights=self.counts).astype(np.int64)


def k_sample_statistics(bins: LabelledGram, /) -> FloatArray:
    r"""Return the weighted sum of all pairwise squared MMD for each kernel.

    Parameters
    ----------
    bins : LabelledGram
        The samples.

    Returns
    -------
    ndarray of shape (n_kernels,)
        :math:`\sum_{i<j} n_i n_j N^{-1} U_{ij}` with the unbiased :math:`U_{ij}`; mean
        0 if all samples share one distribution.

    Notes
    -----
    With the U statistics the sum needs the sums within each sample and the total only,
    and equals the between-sample sum of squares up to its mean. For two samples it is
    ``n_x n_y / (n_x + n_y)`` times `u_statistics`.

    Examples
    --------
    >>> import numpy as np
    >>> apart = np.kron(np.eye(3), np.ones((2, 2)))
    >>> bins = LabelledGram.from_bins(apart, np.ones(6), [0, 0, 1, 1, 2, 2])
    >>> k_sample_statistics(bins)
    array([4.0])
    """
    return _statistics(bins, bins.labels[None])[0]


def permute_labels(
    bins: LabelledGram, /, *, n_resamples: int, rng: np.random.Generator
) -> PermutationNull:
    """Draw relabellings of the movable bins of several samples.

    Parameters
    ----------
    bins : LabelledGram
        The samples. Movable bins must hold the same number of rows each.
    n_resamples : int
        Number of relabellings.
    rng : numpy.random.Generator
        Source of the relabellings.

    Returns
    -------
    PermutationNull
        Statistics of `k_sample_statistics`, all kernels under the same relabellings.

    Examples
    --------
    >>> import numpy as np
    >>> apart = np.kron(np.eye(3), np.ones((4, 4)))
    >>> bins = LabelledGram.from_bins(apart, np.ones(12), np.repeat([0, 1, 2], 4))
    >>> null = permute_labels(bins, n_resamples=99, rng=np.random.default_rng(0))
    >>> null.pvalues(k_sample_statistics(bins))
    array([0.01])
    """
    movable = movable_bins(bins.counts, bins.movable, n_resamples)
    batch_size = max(1, _BATCH_BYTES // (24 * bins.counts.size))
    parts = []
    for start in range(0, n_resamples, batch_size):
        n_batch = min(batch_size, n_resamples - start)
        # One key for each movable bin: relabelling i follows from the seed and i.
        order = np.argsort(rng.random((n_batch, movable.size)), axis=1)
        labels = np.tile(bins.labels, (n_batch, 1))
        labels[:, movable] = bins.labels[movable][order]
        parts.append(_statistics(bins, labels))
    return PermutationNull(np.concatenate(parts), complete=False)


def _statistics(bins: LabelledGram, labels: IntArray) -> FloatArray:
    sizes = bins.sizes
    n = int(sizes.sum())
    # sum_{i<j} n_i n_j / N (W_i + W_j - 2 M_ij / (n_i n_j)), collected by sample: M_ij
    # is the kernel summed between samples i and j, W_i the mean over distinct pairs.
    # The cross terms are what the total has over the sums within.
    total = bins.grams.sum(axis=(1, 2))
    result = np.tile(-total / n, (len(labels), 1))
    for sample, size in enumerate(sizes):
        members = (labels == sample).astype(np.float64)
        share = (n - size) / (n * (size - 1))
        for kernel, gram in enumerate(bins.grams):
            within = np.einsum("ij,ij->i", members @ gram, members)
            result[:, kernel] += within / n + (within - size) * share
    return result
