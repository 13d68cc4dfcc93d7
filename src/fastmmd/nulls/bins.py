"""Sums of kernels over bins of rows, and the statistics they determine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from fastmmd.nulls._arrays import BoolArray, FloatArray, IntArray


@final
@dataclass(frozen=True, slots=True, eq=False)
class BinGram:
    """Kernel sums between bins of rows: all that a test needs to know of the data.

    Bins of one row each make `grams` the kernel matrix itself, so that every function
    of a `BinGram` serves the classical exact test too.

    Parameters
    ----------
    grams : ndarray of shape (n_kernels, n_bins, n_bins)
        ``grams[j, b, c]`` is the sum of kernel ``j`` over all pairs of a row in bin
        ``b`` and a row in bin ``c``, a row with itself included. Kernels are scaled
        to 1 at distance 0. Symmetric in the last two axes.
    counts : ndarray of shape (n_bins,)
        Rows in each bin, at least one.
    from_x : ndarray of shape (n_bins,)
        Whether the bin belongs to the first sample.
    movable : ndarray of shape (n_bins,)
        Whether a relabelling may move the bin to the other sample.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([0.0, 0.0, 9.0, 9.0])
    >>> kernel = np.exp(-((rows[:, None] - rows) ** 2) / 2)
    >>> bins = BinGram.from_bins(kernel, [1, 1, 1, 1], [True, True, False, False])
    >>> bins.n_x, bins.n_y, bins.n_kernels
    (2, 2, 1)
    >>> u_statistics(bins)
    array([2.0])
    """

    grams: FloatArray
    counts: IntArray
    from_x: BoolArray
    movable: BoolArray

    def __post_init__(self) -> None:
        n_bins = self.counts.size
        if self.grams.ndim != 3 or self.grams.shape[1:] != (n_bins, n_bins):
            msg = (
                f"`grams` must have shape (n_kernels, {n_bins}, {n_bins}) to go with "
                f"{n_bins} counts; got {self.grams.shape}."
            )
            raise ValueError(msg)
        for name, array in (("from_x", self.from_x), ("movable", self.movable)):
            if array.shape != (n_bins,) or array.dtype != np.bool_:
                msg = (
                    f"`{name}` must be boolean of shape ({n_bins},); "
                    f"got {array.dtype} of shape {array.shape}."
                )
                raise ValueError(msg)
        if n_bins and self.counts.min() < 1:
            msg = f"`counts` must be at least 1 everywhere; got {self.counts.min()}."
            raise ValueError(msg)
        if min(self.n_x, self.n_y) < 2:
            msg = (
                "`counts` must hold at least 2 rows of each sample; "
                f"got {self.n_x} and {self.n_y}."
            )
            raise ValueError(msg)
        if not np.isfinite(self.grams).all():
            n_bad = int(np.count_nonzero(~np.isfinite(self.grams)))
            msg = f"`grams` must be finite; got {n_bad} values that are not."
            raise ValueError(msg)

    @classmethod
    def from_bins(
        cls,
        grams: npt.ArrayLike,
        counts: npt.ArrayLike,
        from_x: npt.ArrayLike,
        movable: npt.ArrayLike | None = None,
    ) -> BinGram:
        """Make a `BinGram` from array-likes, leaving empty bins out.

        `grams` may lack the axis of kernels if there is one kernel only; all bins are
        movable if `movable` is not given.
        """
        matrix = np.asarray(grams, dtype=np.float64)
        if matrix.ndim == 2:
            matrix = matrix[None]
        sizes = np.asarray(counts, dtype=np.int64)
        first = np.asarray(from_x, dtype=np.bool_)
        free = np.ones_like(first) if movable is None else np.asarray(movable, np.bool_)
        occupied = sizes > 0
        if not occupied.all():
            matrix = matrix[:, occupied][:, :, occupied]
            sizes, first, free = sizes[occupied], first[occupied], free[occupied]
        return cls(matrix, sizes, first, free)

    @property
    def n_kernels(self) -> int:
        """Number of kernels."""
        return int(self.grams.shape[0])

    @property
    def n_bins(self) -> int:
        """Number of bins of both samples."""
        return int(self.counts.size)

    @property
    def n_x(self) -> int:
        """Rows in the first sample."""
        return int(self.counts[self.from_x].sum())

    @property
    def n_y(self) -> int:
        """Rows in the second sample."""
        return int(self.counts[~self.from_x].sum())

    @property
    def pair_factor(self) -> float:
        """The factor ``n_x n_y / (n_x + n_y)`` that makes the statistic of order 1."""
        return self.n_x * self.n_y / (self.n_x + self.n_y)

    def one_kernel(self, kernel: int, /) -> FloatArray:
        """Return the matrix of one kernel."""
        if not 0 <= kernel < self.n_kernels:
            msg = f"`kernel` must lie in 0 to {self.n_kernels - 1}; got {kernel}."
            raise ValueError(msg)
        return self.grams[kernel]


def merge_bins(bins: BinGram, /, *, most: int) -> BinGram:
    """Return the samples in at most about `most` bins, by adding up neighbours.

    Movable and fixed bins are not mixed, nor are the samples.
    """
    if bins.n_bins <= most:
        return bins
    per_group = -(-bins.n_bins // most)
    kind = 2 * bins.from_x.astype(np.int64) + bins.movable
    place = np.empty(bins.n_bins, dtype=np.int64)
    first = 0
    for value in np.unique(kind):
        mine = np.flatnonzero(kind == value)
        # At least three groups of each kind, where there are as many bins.
        step = max(1, min(per_group, mine.size // 3))
        place[mine] = first + np.arange(mine.size) // step
        first = int(place[mine].max()) + 1
    adding = np.zeros((first, bins.n_bins))
    adding[place, np.arange(bins.n_bins)] = 1.0
    chosen = np.unique(place, return_index=True)[1]
    return BinGram(
        adding @ bins.grams @ adding.T,
        (adding @ bins.counts).astype(np.int64),
        bins.from_x[chosen],
        bins.movable[chosen],
    )


def sample_sums(bins: BinGram, /) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return each kernel summed over pairs within x, within y and between them."""
    x = bins.from_x.astype(np.float64)
    y = 1.0 - x
    with_x, with_y = bins.grams @ x, bins.grams @ y
    return with_x @ x, with_y @ y, with_x @ y


def u_statistics(bins: BinGram, /) -> FloatArray:
    """Return the unbiased estimate of the squared MMD for each kernel.

    Parameters
    ----------
    bins : BinGram
        The two samples.

    Returns
    -------
    ndarray of shape (n_kernels,)
        Two-sample U statistics: pairs of a row with itself are left out within the
        samples, all pairs count between them. Can be negative.

    See Also
    --------
    v_statistics : The biased estimate, never negative.

    Examples
    --------
    >>> import numpy as np
    >>> bins = BinGram.from_bins(np.eye(4), [1, 1, 1, 1], [True, True, False, False])
    >>> u_statistics(bins), v_statistics(bins)
    (array([0.0]), array([1.0]))
    """
    n_x, n_y = bins.n_x, bins.n_y
    within_x, within_y, between = sample_sums(bins)
    # Every row has norm 1, so the pairs of a row with itself sum to the row count.
    return (
        (within_x - n_x) / (n_x * (n_x - 1))
        + (within_y - n_y) / (n_y * (n_y - 1))
        - 2.0 * between / (n_x * n_y)
    )


def v_statistics(bins: BinGram, /) -> FloatArray:
    """Return the biased estimate of the squared MMD for each kernel.

    Parameters
    ----------
    bins : BinGram
        The two samples.

    Returns
    -------
    ndarray of shape (n_kernels,)
        Squared distances of the two mean embeddings; too large by about
        ``1 / n_x + 1 / n_y`` times the spread of the embedding.

    Examples
    --------
    >>> import numpy as np
    >>> same = BinGram.from_bins(np.ones((4, 4)), [1, 1, 1, 1], [1, 1, 0, 0])
    >>> v_statistics(same)
    array([0.0])
    """
    n_x, n_y = bins.n_x, bins.n_y
    within_x, within_y, between = sample_sums(bins)
    return within_x / n_x**2 + within_y / n_y**2 - 2.0 * between / (n_x * n_y)
