"""How far apart the samples are: interval, effect size, test against a margin."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, final

import numpy as np

from fastmmd.nulls._arrays import ROUNDING
from fastmmd.nulls.bins import sample_sums, u_statistics
from fastmmd.nulls.hollow import residual_gram
from fastmmd.nulls.moments import pearson_pvalue, pearson_quantile, pearson_tail

if TYPE_CHECKING:
    from fastmmd.nulls._arrays import FloatArray
    from fastmmd.nulls.bins import BinGram

_LARGEST_MMD = 2.0
"""Of a kernel with values between -1 and 1."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    r"""Sampling error of the unbiased squared MMD when the samples may differ.

    Attributes
    ----------
    mmd2 : float
        The estimate.
    linear_x, linear_y : float
        Variance of one row's projection on the difference of the mean embeddings.
    linear_skew : float
        The form :math:`\delta'\Sigma^2\delta` that the difference adds to the skewness.
    degenerate : float
        Variance of the estimate if the samples did not differ, at these sample sizes.
    growth : float
        Linear variance for each unit of squared MMD: the variance of the estimate would
        be ``growth * mmd2 + degenerate`` at another squared MMD in the same direction.
    standard_error : float
        Of the estimate: both parts together.
    skewness : float
        Of the estimate; large only where the degenerate part rules.
    """

    mmd2: float
    linear_x: float
    linear_y: float
    linear_skew: float
    degenerate: float
    growth: float
    standard_error: float
    skewness: float

    def variance_at(self, mmd2: float, /) -> float:
        """Return the variance the estimate would have at another squared MMD."""
        return self.growth * mmd2 + self.degenerate


def precision(bins: BinGram, /, *, kernel: int = 0) -> Precision:
    r"""Return the estimate of squared MMD for one kernel with its sampling error.

    Parameters
    ----------
    bins : BinGram
        The two samples, better at least 30 bins of each.
    kernel : int, default=0
        Which kernel.

    Returns
    -------
    Precision
        Estimate, variance parts, standard error and skewness.

    Notes
    -----
    Write the estimated difference as :math:`\delta + \varepsilon`. The estimate is
    :math:`|\delta|^2 + 2 \delta'\varepsilon + |\varepsilon|^2 - E|\varepsilon|^2`, of
    variance :math:`4 \delta'\Sigma\delta + 2 \operatorname{tr}\Sigma^2` and third cumulant
    :math:`24 \delta'\Sigma^2\delta + 8 \operatorname{tr}\Sigma^3`,
    :math:`\Sigma = S_x / n_x + S_y / n_y`. The variance of the bins' projections on the
    *estimated* difference is too large by :math:`\operatorname{tr}\Sigma^2` for
    :math:`\delta'\Sigma\delta`, which is taken off again.

    Examples
    --------
    >>> import numpy as np
    >>> from fastmmd.nulls.bins import BinGram
    >>> z = np.random.default_rng(0).normal(size=(200, 1))
    >>> z[:90] += 1.0
    >>> bins = BinGram.from_bins(
    ...     np.exp(-((z - z.T) ** 2)), np.ones(200), np.arange(200) < 90
    ... )
    >>> found = precision(bins)
    >>> found.mmd2 > 3 * found.standard_error
    True
    """
    x, y = bins.from_x, ~bins.from_x
    n_x, n_y = bins.n_x, bins.n_y
    k_x, k_y = int(np.count_nonzero(x)), int(np.count_nonzero(y))
    if min(k_x, k_y) < 3:
        msg = f"`bins` must hold at least 3 bins of each sample; got {k_x} and {k_y}."
        raise ValueError(msg)
    gram = bins.one_kernel(kernel)
    direction = np.where(x, 1.0 / n_x, -1.0 / n_y)
    root = np.sqrt(bins.counts.astype(np.float64))
    # Residual of each bin along the estimated difference, of variance delta' S delta.
    along = gram @ direction
    means = np.where(x, along[x].sum() / n_x, along[y].sum() / n_y)
    residuals = (along - bins.counts * means) / root
    spread_x = float((residuals[x] ** 2).sum() / (k_x - 1))
    spread_y = float((residuals[y] ** 2).sum() / (k_y - 1))
    noise = _Noise.of(bins, residuals, kernel)
    plug_in = spread_x / n_x + spread_y / n_y
    linear = max(plug_in - noise.square, 0.0)
    shrink = linear / plug_in if plug_in > 0.0 else 0.0
    degenerate = 2.0 * noise.square
    variance = 4.0 * linear + degenerate
    linear_skew = shrink * max(noise.mixed, 0.0)
    third = 24.0 * linear_skew + 8.0 * noise.cube
    mmd2 = float(u_statistics(bins)[kernel])
    # delta' Sigma delta / |delta|^2. Its estimate is worth little while the difference is
    # within the noise, where the largest possible value stands in for it.
    signal = max(mmd2, 0.0)
    trust = signal / (signal + noise.trace) if signal > 0.0 else 0.0
    rayleigh = (1.0 - trust) * noise.largest
    if trust > 0.0:
        rayleigh += trust * min(linear / signal, noise.largest)
    return Precision(
        mmd2=mmd2,
        linear_x=spread_x * shrink,
        linear_y=spread_y * shrink,
        linear_skew=linear_skew,
        degenerate=degenerate,
        growth=4.0 * rayleigh,
        standard_error=sqrt(variance),
        skewness=third / variance**1.5 if variance > 0.0 else 0.0,
    )


@final
@dataclass(frozen=True, slots=True)
class _Noise:
    """Traces and forms of Sigma, the covariance of the estimated difference."""

    trace: float
    square: float
    cube: float
    mixed: float
    largest: float

    @classmethod
    def of(cls, bins: BinGram, residuals: FloatArray, kernel: int) -> _Noise:
        hollow = residual_gram(bins, kernel=kernel)
        share = np.empty(bins.n_bins)
        total = 0.0
        for member, n_rows in ((bins.from_x, bins.n_x), (~bins.from_x, bins.n_y)):
            sums = bins.grams[kernel][np.ix_(member, member)].sum()
            trace = max(float(n_rows - sums / n_rows) / (n_rows - 1), 0.0)
            u = np.sqrt(bins.counts[member] / n_rows)
            hollow[np.ix_(member, member)] += trace * np.outer(u, u)
            # A bin stands for 1 / (bins - 1) of its sample's covariance S / n.
            share[member] = 1.0 / (n_rows * (np.count_nonzero(member) - 1))
            total += trace / n_rows
        np.fill_diagonal(hollow, 0.0)
        weighted = np.sqrt(share)[:, None] * hollow * np.sqrt(share)
        # Of the k^2 pairs within a sample of k bins the k on the diagonal are missing.
        # E H^2 = tr S^2 ((1 - 1/k)^2 + 1/k^2) off it, for bins of equal size.
        k_x = int(np.count_nonzero(bins.from_x))
        k = np.where(bins.from_x, k_x, bins.n_bins - k_x).astype(np.float64)
        restore = (k - 1.0) ** 3 / (k * ((k - 1.0) ** 2 + 1.0)) * (k / (k - 1.0)) ** 2
        same = bins.from_x[:, None] == bins.from_x
        square = float((np.where(same, restore, 1.0) * weighted**2).sum())
        cube = float(np.einsum("ij,ij->", weighted @ weighted, weighted))
        scaled = residuals * np.sqrt(share)
        return cls(
            trace=total,
            square=square,
            cube=min(max(cube, 0.0), square**1.5),
            mixed=float(scaled @ weighted @ scaled),
            largest=max(float(np.linalg.eigvalsh(weighted)[-1]), 0.0),
        )


def interval(
    bins: BinGram, /, *, kernel: int = 0, confidence: float = 0.95
) -> tuple[float, float]:
    """Return a confidence interval for the squared MMD.

    Parameters
    ----------
    bins : BinGram
        The two samples.
    kernel : int, default=0
        Which kernel.
    confidence : float, default=0.95
        Asymptotic coverage.

    Returns
    -------
    low, high : float
        Ends of the interval, not below 0. `low` is 0 where the samples may be alike.

    Notes
    -----
    The ends are the values that a test would not reject, each with the variance it would
    have there: an interval from the standard error alone covers as little as 0.73 where
    the difference is about as large as its error, since small estimates come with small
    errors. The quantile is normal above and that of a skewed Pearson III curve below. For
    samples alike the interval covers more often than it says.

    Examples
    --------
    >>> import numpy as np
    >>> from fastmmd.nulls.bins import BinGram
    >>> z = np.random.default_rng(0).normal(size=(200, 1))
    >>> bins = BinGram.from_bins(
    ...     np.exp(-((z - z.T) ** 2)), np.ones(200), np.arange(200) < 90
    ... )
    >>> interval(bins)[0]
    0.0
    """
    if not 0.0 < confidence < 1.0:
        msg = f"`confidence` must lie strictly between 0 and 1; got {confidence!r}."
        raise ValueError(msg)
    found = precision(bins, kernel=kernel)
    tail = 0.5 * (1.0 - confidence)
    return (
        _lower_end(found, pearson_quantile(tail, found.skewness)),
        _upper_end(found, pearson_quantile(tail, 0.0)),
    )


def _lower_end(found: Precision, quantile: float) -> float:
    """Return the least squared MMD that the estimate is not too large for."""
    if found.mmd2 <= quantile * sqrt(found.degenerate):
        return 0.0
    # The smaller root of (m - mmd2)^2 = quantile^2 variance_at(m), by the product of both.
    product = found.mmd2**2 - quantile**2 * found.degenerate
    return product / _upper_end(found, quantile)


def _upper_end(found: Precision, quantile: float) -> float:
    """Return the largest squared MMD that the estimate is not too small for."""
    half = 0.5 * found.growth * quantile**2
    inside = half**2 + quantile**2 * found.variance_at(found.mmd2)
    # A negative estimate may be too small for any squared MMD; 0 is then the nearest.
    return max(found.mmd2 + half + sqrt(inside), 0.0) if inside >= 0.0 else 0.0


def effect_size(bins: BinGram, /, *, kernel: int = 0) -> float:
    r"""Return the kernel correlation ratio: an effect that does not grow with n.

    The root of the share of the feature variance, in an even mixture of both
    distributions, that is explained by knowing which one a row came from.

    Parameters
    ----------
    bins : BinGram
        The two samples.
    kernel : int, default=0
        Which kernel.

    Returns
    -------
    float
        Between 0 (alike) and 1 (each constant, and different).

    Notes
    -----
    :math:`\eta^2 = M / (M + 2 s_x + 2 s_y)` with the unbiased squared MMD :math:`M`,
    0 if negative, and the traces :math:`s_x, s_y` of the feature covariances. For a very
    large bandwidth and one column it is the correlation of value and label,
    :math:`d / \sqrt{d^2 + 4}` for Cohen's :math:`d`. With the median bandwidth, a normal
    column shifted by 0.2, 0.5 and 0.8 standard deviations has 0.07, 0.16 and 0.25; with
    more columns the same shift explains less.

    Examples
    --------
    >>> import numpy as np
    >>> from fastmmd.nulls.bins import BinGram
    >>> apart = np.kron(np.eye(2), np.ones((3, 3)))
    >>> effect_size(BinGram.from_bins(apart, np.ones(6), [1, 1, 1, 0, 0, 0]))
    1.0
    """
    mmd2, norm_x, norm_y = _unbiased_parts(bins, kernel)
    return effect_of(mmd2, max(1.0 - norm_x, 0.0) + max(1.0 - norm_y, 0.0))


def effect_of(mmd2: float, spread: float, /) -> float:
    """Return the effect size for a squared MMD and the spread within both samples."""
    return sqrt(mmd2 / (mmd2 + 2.0 * spread)) if mmd2 > ROUNDING else 0.0


def effect_interval(
    bins: BinGram, ends: tuple[float, float], /, *, kernel: int = 0
) -> tuple[float, float]:
    """Return the effect sizes at the `ends` of an interval for the squared MMD.

    The spread within the samples is known far better than the difference between them.
    """
    _, norm_x, norm_y = _unbiased_parts(bins, kernel)
    spread = max(1.0 - norm_x, 0.0) + max(1.0 - norm_y, 0.0)
    return effect_of(ends[0], spread), effect_of(ends[1], spread)


def normalised_mmd2(bins: BinGram, /, *, kernel: int = 0) -> float:
    r"""Return the norm-adaptive squared MMD, :math:`M / (4 - |\mu_x|^2 - |\mu_y|^2)`.

    Parameters
    ----------
    bins : BinGram
        The two samples.
    kernel : int, default=0
        Which kernel.

    Returns
    -------
    float
        Between 0 and 1; never larger than the square of `effect_size`.

    Examples
    --------
    >>> import numpy as np
    >>> from fastmmd.nulls.bins import BinGram
    >>> apart = np.kron(np.eye(2), np.ones((3, 3)))
    >>> normalised_mmd2(BinGram.from_bins(apart, np.ones(6), [1, 1, 1, 0, 0, 0]))
    1.0
    """
    mmd2, norm_x, norm_y = _unbiased_parts(bins, kernel)
    return min(mmd2 / (4.0 - norm_x - norm_y), 1.0)


def _unbiased_parts(bins: BinGram, kernel: int) -> tuple[float, float, float]:
    bins.one_kernel(kernel)
    within_x, within_y, between = (float(part[kernel]) for part in sample_sums(bins))
    n_x, n_y = bins.n_x, bins.n_y
    norm_x = (within_x - n_x) / (n_x * (n_x - 1))
    norm_y = (within_y - n_y) / (n_y * (n_y - 1))
    return max(norm_x + norm_y - 2.0 * between / (n_x * n_y), 0.0), norm_x, norm_y


def margin_pvalue(bins: BinGram, /, *, margin: float, kernel: int = 0) -> float:
    """Return the p-value for the samples being at most `margin` apart in MMD.

    Parameters
    ----------
    bins : BinGram
        The two samples.
    margin : float
        Largest distance that does not matter, in units of MMD, not its square.
    kernel : int, default=0
        Which kernel.

    Returns
    -------
    float
        A value in (0, 1]; small if the samples are further apart than `margin`.
        Asymptotic, and never below the p-value for no difference at all.

    Notes
    -----
    The variance of the estimate grows linearly with the squared MMD, so that
    ``2 / growth * sqrt(growth * mmd2 + degenerate)`` has variance 1 wherever it is and is
    nearer to normal than the estimate: levels of 0.03 to 0.065 at 0.05, where the
    standardised estimate had up to 0.07.

    Examples
    --------
    >>> import numpy as np
    >>> from fastmmd.nulls.bins import BinGram
    >>> z = np.random.default_rng(0).normal(size=(200, 1))
    >>> z[:90] += 1.0
    >>> bins = BinGram.from_bins(
    ...     np.exp(-((z - z.T) ** 2)), np.ones(200), np.arange(200) < 90
    ... )
    >>> margin_pvalue(bins, margin=0.1) < 0.05
    True
    >>> margin_pvalue(bins, margin=0.9) > 0.999
    True
    """
    if not margin >= 0.0:
        msg = f"`margin` must be a number not below 0; got {margin!r}."
        raise ValueError(msg)
    found = precision(bins, kernel=kernel)
    # No two distributions are further apart than this; the square would overflow.
    limit = min(margin, _LARGEST_MMD) ** 2
    # "At most the margin" includes "equal", where the null distribution is known better.
    equal = pearson_pvalue(bins, kernel=kernel)
    error = sqrt(found.variance_at(limit))
    if error <= ROUNDING:
        return equal if found.mmd2 - limit > ROUNDING else 1.0
    reached = sqrt(max(found.variance_at(found.mmd2), 0.0))
    # (reached - error) * 2 / growth, written so that it holds without growth, too.
    score = 2.0 * (found.mmd2 - limit) / (reached + error)
    return max(pearson_tail(score, 0.0), equal)
