"""Tails from matched moments: gamma (two) and Pearson III (three)."""

from __future__ import annotations

from math import inf, sqrt
from typing import TYPE_CHECKING

import numpy as np

from fastmmd.nulls._arrays import SMALLEST_PVALUE
from fastmmd.nulls._special import gammaincc, gammainccinv, ndtr, ndtri
from fastmmd.nulls.hollow import hollow_moments
from fastmmd.nulls.rules import made_normal

if TYPE_CHECKING:
    from fastmmd.nulls.bins import BinGram
    from fastmmd.nulls.hollow import HollowMoments

# Below this skewness the curve is normal to more digits than a double holds.
_NEARLY_NORMAL = 1e-7


def gamma_pvalue(bins: BinGram, /, *, kernel: int = 0) -> float:
    """Return the p-value from a gamma distribution with two matched moments.

    The classical approximation, kept for comparison: liberal at small levels, where
    `pearson_pvalue` is not.

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
    pearson_pvalue : The same with a third moment.

    Examples
    --------
    >>> import numpy as np
    >>> from fastmmd.nulls.bins import BinGram
    >>> z = np.random.default_rng(0).normal(size=(200, 1))
    >>> bins = BinGram.from_bins(
    ...     np.exp(-((z - z.T) ** 2)), np.ones(200), np.arange(200) < 90
    ... )
    >>> 0.05 < gamma_pvalue(bins) < 1.0
    True
    """
    return gamma_tail(hollow_moments(bins, kernel=kernel))


def gamma_tail(moments: HollowMoments, /) -> float:
    """Return the p-value from a gamma distribution with two of these moments."""
    if moments.degenerate:
        return moments.floor
    # T + tr S is the biased statistic, of mean tr S; a gamma law starts at 0 as it does.
    shape = moments.trace**2 / moments.variance
    argument = shape * (moments.statistic + moments.trace) / moments.trace
    return max(float(gammaincc(shape, max(argument, 0.0))), SMALLEST_PVALUE)


def pearson_pvalue(bins: BinGram, /, *, kernel: int = 0) -> float:
    """Return the p-value from a Pearson III curve with three matched moments.

    The default where no exact test is possible. Below 1e-3 prefer `spectrum_pvalue`.

    Parameters
    ----------
    bins : BinGram
        The two samples, better at least 32 bins of each.
    kernel : int, default=0
        Which kernel.

    Returns
    -------
    float
        A value in (0, 1]; 1 for data that are all alike.

    See Also
    --------
    spectrum_pvalue : All moments, by eigenvalues.

    Examples
    --------
    >>> import numpy as np
    >>> from fastmmd.nulls.bins import BinGram
    >>> z = np.random.default_rng(0).normal(size=(200, 1))
    >>> z[:90] += 1.0
    >>> bins = BinGram.from_bins(
    ...     np.exp(-((z - z.T) ** 2)), np.ones(200), np.arange(200) < 90
    ... )
    >>> pearson_pvalue(bins) < 1e-6
    True
    """
    return pearson_tail_of(hollow_moments(bins, kernel=kernel))


def pearson_tail_of(moments: HollowMoments, /) -> float:
    """Return the p-value from a Pearson III curve with these three moments."""
    if moments.degenerate:
        return moments.floor
    return pearson_tail(moments.statistic / sqrt(moments.variance), moments.skewness)


def pearson_tail(z: float, skewness: float, /) -> float:
    """Return the upper tail of the standardised Pearson III curve at `z`."""
    if skewness < _NEARLY_NORMAL:
        return max(float(ndtr(-z)), SMALLEST_PVALUE)
    shape = 4.0 / skewness**2
    argument = shape + sqrt(shape) * z
    return max(float(gammaincc(shape, max(argument, 0.0))), SMALLEST_PVALUE)


def pearson_quantile(tail: float, skewness: float, /) -> float:
    """Return the standardised value with upper tail `tail`; inverse of the above."""
    if skewness < _NEARLY_NORMAL:
        return float(-ndtri(tail))
    shape = 4.0 / skewness**2
    return float((gammainccinv(shape, tail) - shape) / sqrt(shape))


def normal_score(bins: BinGram, /, *, kernel: int = 0) -> float:
    """Return the statistic in standard deviations of its null, with its skewness taken out.

    By the transform of Wilson and Hilferty, as `combine` does with relabelled statistics.
    Infinite for samples that are constant but different.
    """
    moments = hollow_moments(bins, kernel=kernel)
    if moments.degenerate:
        return inf if moments.floor < 1.0 else -inf
    scores = np.array([[moments.statistic / sqrt(moments.variance)]])
    return float(made_normal(scores, np.array([moments.skewness]))[0, 0])
