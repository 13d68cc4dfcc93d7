"""Joint null of a family of kernels by random signs on the hollow matrices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

import numpy as np

from fastmmd.nulls.hollow import hollow_gram, hollow_moments

if TYPE_CHECKING:
    from fastmmd.nulls._arrays import FloatArray
    from fastmmd.nulls.bins import BinGram

_BATCH_BYTES = 16 * 2**20


@final
@dataclass(frozen=True, slots=True, eq=False)
class MultiplierNull:
    """Standardised statistics of a family, observed and under random signs.

    Attributes
    ----------
    observed : ndarray of shape (n_kernels,)
        Each statistic divided by its null standard deviation.
    statistics : ndarray of shape (n_resamples, n_kernels)
        Draws of the same under the null; one row holds one vector of signs. All zero
        for a kernel that does not vary on the data.
    certain : bool
        Whether a kernel sees samples that are constant but different: no draw could be
        as far apart.
    """

    observed: FloatArray
    statistics: FloatArray = field(repr=False)
    certain: bool = False


def multiply_bins(
    bins: BinGram, /, *, n_resamples: int, rng: np.random.Generator
) -> MultiplierNull:
    """Draw random signs for the bins and compute every kernel's null statistic.

    For families of kernels where no exact test is possible: the draws keep variance and
    skewness of each kernel and the dependence between kernels. Asymptotic.

    Parameters
    ----------
    bins : BinGram
        The two samples. Bins may hold different numbers of rows.
    n_resamples : int
        Number of sign vectors.
    rng : numpy.random.Generator
        Source of the signs.

    Returns
    -------
    MultiplierNull
        Standardised statistics, ready for `combine` with ``standardise=False``.

    Notes
    -----
    The square of a sign is 1, so the diagonal that the hollow matrix lacks would add a
    constant only. Time is of order ``n_resamples * n_kernels * n_bins**2``.

    Examples
    --------
    >>> import numpy as np
    >>> from fastmmd.nulls.bins import BinGram
    >>> z = np.random.default_rng(0).normal(size=(200, 1))
    >>> bins = BinGram.from_bins(
    ...     np.exp(-((z - z.T) ** 2)), np.ones(200), np.arange(200) < 90
    ... )
    >>> null = multiply_bins(bins, n_resamples=2000, rng=np.random.default_rng(1))
    >>> null.statistics.shape
    (2000, 1)
    >>> float(null.statistics.std())
    1.0
    """
    if n_resamples < 1:
        msg = f"`n_resamples` must be at least 1; got {n_resamples}."
        raise ValueError(msg)
    observed = np.zeros(bins.n_kernels)
    certain = False
    matrices: list[FloatArray | None] = []
    for kernel in range(bins.n_kernels):
        hollow = hollow_gram(bins, kernel=kernel)
        moments = hollow_moments(bins, kernel=kernel, hollow=hollow)
        if moments.degenerate:
            certain |= moments.floor < 1.0
            matrices.append(None)
            continue
        observed[kernel] = moments.statistic / np.sqrt(moments.variance)
        matrices.append(hollow / np.sqrt(2.0 * np.einsum("ij,ij->", hollow, hollow)))
    statistics = np.zeros((n_resamples, bins.n_kernels))
    batch_size = max(1, _BATCH_BYTES // (16 * bins.n_bins))
    for start in range(0, n_resamples, batch_size):
        part = statistics[start : start + batch_size]
        # One uniform for each sign: row i follows from the seed and i.
        signs = np.where(rng.random((len(part), bins.n_bins)) < 0.5, -1.0, 1.0)
        for kernel, matrix in enumerate(matrices):
            if matrix is not None:
                part[:, kernel] = np.einsum("ij,ij->i", signs @ matrix, signs)
    return MultiplierNull(observed, statistics, certain)
