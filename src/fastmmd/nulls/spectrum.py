"""Null distribution from the eigenvalues of the hollow matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastmmd.nulls.hollow import hollow_gram, hollow_moments, scaled_hollow
from fastmmd.nulls.pvalues import permutation_pvalue
from fastmmd.nulls.weighted_chi_square import weighted_chi_square_tail

if TYPE_CHECKING:
    from fastmmd.nulls._arrays import FloatArray
    from fastmmd.nulls.bins import BinGram
    from fastmmd.nulls.hollow import HollowMoments


def null_weights(
    bins: BinGram, /, *, kernel: int = 0
) -> tuple[FloatArray, HollowMoments]:
    """Return the chi-square weights of the null, and the moments they were scaled by.

    The weights are the eigenvalues of the hollow matrix. Some are negative, they sum to
    0 as the statistic has mean 0, and their squares and cubes have the right sums.
    Empty for samples that are constant.
    """
    hollow = hollow_gram(bins, kernel=kernel)
    moments = hollow_moments(bins, kernel=kernel, hollow=hollow)
    if moments.degenerate:
        return np.empty(0), moments
    weights: FloatArray = np.linalg.eigvalsh(scaled_hollow(hollow, moments)).astype(
        np.float64, copy=False
    )
    return weights, moments


def spectrum_pvalue(bins: BinGram, /, *, kernel: int = 0) -> float:
    """Return the p-value from the weighted chi-square law of the hollow matrix.

    All moments of the null instead of the first three, at the price of eigenvalues. The
    tail is computed to many digits, but the weights are estimates: read p-values below
    1e-4 as right within a factor 2 to 3.

    Parameters
    ----------
    bins : BinGram
        The two samples.
    kernel : int, default=0
        Which kernel.

    Returns
    -------
    float
        A value in (0, 1]; 1 for data that are all alike.

    See Also
    --------
    spectrum_null : The same by simulation.

    Examples
    --------
    >>> import numpy as np
    >>> from fastmmd.nulls.bins import BinGram
    >>> z = np.random.default_rng(0).normal(size=(200, 1))
    >>> z[:90] += 1.0
    >>> bins = BinGram.from_bins(
    ...     np.exp(-((z - z.T) ** 2)), np.ones(200), np.arange(200) < 90
    ... )
    >>> 1e-18 < spectrum_pvalue(bins) < 1e-8
    True
    """
    weights, moments = null_weights(bins, kernel=kernel)
    if moments.degenerate:
        return moments.floor
    return weighted_chi_square_tail(weights, moments.statistic)


def spectrum_null(
    bins: BinGram, /, *, n_resamples: int, rng: np.random.Generator, kernel: int = 0
) -> tuple[float, FloatArray]:
    """Simulate the weighted chi-square law; return the p-value and the draws.

    Parameters
    ----------
    bins : BinGram
        The two samples.
    n_resamples : int
        Number of draws.
    rng : numpy.random.Generator
        Source of the draws.
    kernel : int, default=0
        Which kernel.

    Returns
    -------
    pvalue : float
        Share of the draws at least as large as the statistic, itself included.
    null : ndarray of shape (n_resamples,)
        The draws, on the scale of the statistic ``T``.

    Examples
    --------
    >>> import numpy as np
    >>> from fastmmd.nulls.bins import BinGram
    >>> constant = BinGram.from_bins(np.ones((6, 6)), np.ones(6), [1, 1, 1, 0, 0, 0])
    >>> spectrum_null(constant, n_resamples=99, rng=np.random.default_rng(0))[0]
    1.0
    """
    weights, moments = null_weights(bins, kernel=kernel)
    if moments.degenerate:
        return max(moments.floor, 1.0 / (1.0 + n_resamples)), np.zeros(n_resamples)
    null = np.empty(n_resamples)
    batch_size = max(1, 2**20 // weights.size)
    for start in range(0, n_resamples, batch_size):
        part = null[start : start + batch_size]
        part[:] = rng.standard_normal((part.size, weights.size)) ** 2 @ weights
    return permutation_pvalue(moments.statistic, null), null
