"""Moments of the null from the hollow Gram matrix of bin residuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from fastmmd.nulls._arrays import ROUNDING
from fastmmd.nulls.bins import u_statistics
from fastmmd.nulls.pvalues import smallest_pvalue

if TYPE_CHECKING:
    import numpy.typing as npt

    from fastmmd.nulls._arrays import FloatArray
    from fastmmd.nulls.bins import BinGram

    HollowArray = FloatArray | npt.NDArray[np.float32]

_LENGTH_ERROR = 1e-5
"""Bound on the error of the squared length of a row's features in single precision: cosine
and sine are rounded to ``2**-22``, 5e-7 together, and each of up to three applications of
the double-angle formulas doubles that."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class HollowMoments:
    r"""The statistic of one kernel and the moments of its null distribution.

    Attributes
    ----------
    statistic : float
        :math:`T = n_x n_y / (n_x + n_y)` times the unbiased squared MMD.
    trace, trace_square, trace_cube : float
        Estimates of :math:`\operatorname{tr} S`, :math:`\operatorname{tr} S^2` and
        :math:`\operatorname{tr} S^3`, with :math:`S` the covariance of the features.
    variance, third_cumulant : float
        Of :math:`T` if both samples share one distribution; its mean is 0.
    degenerate : bool
        Whether the rows of each sample are all alike, or all too far apart for the
        kernel, up to rounding, so that the null has no spread to compare with.
    floor : float
        The p-value of a degenerate kernel: 1 if the samples are equal, and the smallest
        that any relabelling of the rows could give if they are constant but different.
    """

    statistic: float
    trace: float
    trace_square: float
    trace_cube: float
    variance: float
    third_cumulant: float
    degenerate: bool
    floor: float

    @property
    def skewness(self) -> float:
        """Skewness of the null distribution."""
        return self.third_cumulant / self.variance**1.5


def residual_gram(bins: BinGram, /, *, kernel: int = 0) -> FloatArray:
    r"""Return inner products of standardised residuals of the bins.

    The residual of bin :math:`b` is :math:`(S_b - c_b \bar s) / \sqrt{c_b}` with the
    mean row :math:`\bar s` of its own sample, so that a difference between the samples
    does not show in it.
    """
    gram = bins.one_kernel(kernel)
    counts = bins.counts.astype(np.float64)
    member = np.stack((bins.from_x, ~bins.from_x), axis=1).astype(np.float64)
    averaging = member / (counts @ member)
    weights = counts[:, None] * member
    # (I - w a') G (I - a w'), multiplied out so that no n_bins^3 product is needed.
    to_mean = gram @ averaging
    shift = weights @ to_mean.T
    # In place: for bins of one row these matrices are as large as that of the kernel.
    centred = gram - shift
    centred -= shift.T
    centred += weights @ (averaging.T @ to_mean) @ weights.T
    root = np.sqrt(counts)
    centred /= root[:, None] * root
    return centred


def hollow_gram(bins: BinGram, /, *, kernel: int = 0) -> FloatArray:
    r"""Return the residual Gram matrix with unbiased off-diagonal and zero diagonal.

    Parameters
    ----------
    bins : BinGram
        The two samples.
    kernel : int, default=0
        Which kernel.

    Returns
    -------
    ndarray of shape (n_bins, n_bins)
        Entries of mean 0 under the null; the diagonal, which carries
        :math:`\operatorname{tr} S` and would bias every higher moment, is removed.

    Examples
    --------
    >>> import numpy as np
    >>> from fastmmd.nulls.bins import BinGram
    >>> far_apart = BinGram.from_bins(np.eye(6), np.ones(6), [1, 1, 1, 0, 0, 0])
    >>> bool(np.abs(hollow_gram(far_apart)).max() < 1e-15)
    True
    """
    hollow = residual_gram(bins, kernel=kernel)
    u = _own_share(bins)
    by_sample = np.stack((u * bins.from_x, u * ~bins.from_x), axis=1)
    # Residuals of one sample sum to 0, which makes them correlated: -tr S u_b u_b'.
    correlated = by_sample @ by_sample.T
    correlated *= trace(bins, kernel=kernel)
    hollow += correlated
    np.fill_diagonal(hollow, 0.0)
    return hollow


def trace(bins: BinGram, /, *, kernel: int = 0) -> float:
    """Return the trace of the feature covariance, as precise as from the rows."""
    gram = bins.one_kernel(kernel)
    x, y = bins.from_x, ~bins.from_x
    n_x, n_y = bins.n_x, bins.n_y
    # Rows of norm 1: the spread within a sample is 1 minus the norm of its mean.
    spread_x = n_x - gram[np.ix_(x, x)].sum() / n_x
    spread_y = n_y - gram[np.ix_(y, y)].sum() / n_y
    return max(float(spread_x + spread_y) / (n_x + n_y - 2), 0.0)


def hollow_moments(
    bins: BinGram, /, *, kernel: int = 0, hollow: HollowArray | None = None
) -> HollowMoments:
    r"""Return the moments that the analytic null distributions are made of.

    Parameters
    ----------
    bins : BinGram
        The two samples, at least two bins of each.
    kernel : int, default=0
        Which kernel.
    hollow : ndarray of shape (n_bins, n_bins), optional
        What `hollow_gram` returns, if it is known already; in single precision the
        product of matrices takes half the time.

    Returns
    -------
    HollowMoments
        Moments estimated without the bias that a plain Gram matrix of ``s`` bins has,
        :math:`(\operatorname{tr} S)^2 / s` in the second.

    Notes
    -----
    With :math:`a = n_x n_y / (n_x + n_y)` the variance is exact for U statistics,

    .. math:: 2 \operatorname{tr} S^2 a^2 \left[\frac{1}{n_x (n_x - 1)}
              + \frac{1}{n_y (n_y - 1)} + \frac{2}{n_x n_y}\right].

    One product of two ``n_bins`` by ``n_bins`` matrices; no eigenvalues.

    Examples
    --------
    >>> import numpy as np
    >>> from fastmmd.nulls.bins import BinGram
    >>> z = np.random.default_rng(0).normal(size=(200, 1))
    >>> bins = BinGram.from_bins(
    ...     np.exp(-((z - z.T) ** 2)), np.ones(200), np.arange(200) < 90
    ... )
    >>> moments = hollow_moments(bins)
    >>> moments.trace  # 1 - E k = 1 - 5**-0.5
    0.6
    >>> moments.degenerate
    False
    """
    n_bins_x = int(np.count_nonzero(bins.from_x))
    if min(n_bins_x, bins.n_bins - n_bins_x) < 2:
        msg = (
            "`bins` must hold at least 2 bins of each sample; "
            f"got {n_bins_x} and {bins.n_bins - n_bins_x}."
        )
        raise ValueError(msg)
    hollow = hollow_gram(bins, kernel=kernel) if hollow is None else hollow
    t1 = trace(bins, kernel=kernel)
    n_pairs, n_triples = effective_numbers(bins)
    t2 = float(_inner(hollow, hollow) / n_pairs)
    # Rounding in `hollow` grows with the rows of a bin: sums of that size are subtracted.
    noise = ROUNDING * bins.counts.mean()
    mmd2 = float(u_statistics(bins)[kernel])
    n_x, n_y = bins.n_x, bins.n_y
    # Features of a row have length 1 but for this, which the unbiased estimate leaves in.
    unlike = mmd2 > ROUNDING + _LENGTH_ERROR * (1.0 / (n_x - 1) + 1.0 / (n_y - 1))
    floor = smallest_pvalue(n_x, n_y) if unlike else 1.0
    if t1 <= ROUNDING or t2 <= noise**2:
        return HollowMoments(
            statistic=bins.pair_factor * mmd2,
            trace=t1,
            trace_square=0.0,
            trace_cube=0.0,
            variance=0.0,
            third_cumulant=0.0,
            degenerate=True,
            floor=floor,
        )
    # Symmetric; written with the transpose so that half of the product is computed.
    t3 = float(_inner(hollow @ hollow.T, hollow) / n_triples)
    # What every covariance obeys: Cauchy-Schwarz below, nested norms above.
    t3 = min(max(t3, t2**2 / t1), t2**1.5)
    return HollowMoments(
        statistic=bins.pair_factor * mmd2,
        trace=t1,
        trace_square=t2,
        trace_cube=t3,
        variance=2.0 * t2 * variance_factor(n_x, n_y),
        third_cumulant=8.0 * t3 * cube_factor(n_x, n_y),
        degenerate=False,
        floor=floor,
    )


def effective_numbers(bins: BinGram, /) -> tuple[float, float]:
    """Return how many ``tr S^2`` the sum over pairs of the hollow matrix holds.

    The second number is that of ``tr S^3`` in the sum over triples. Centring makes them
    smaller than the plain numbers of pairs and triples of different bins.
    """
    u = _own_share(bins)
    rest = 1.0 - u**2
    p1, p2, p3 = (float((rest**k).sum()) for k in (1, 2, 3))
    n_pairs = p1**2 - p2 + 2.0 - float((u**4).sum())
    return n_pairs, p1**3 - 3.0 * p1 * p2 + 2.0 * p3


def variance_factor(n_x: int, n_y: int, /) -> float:
    """Return the variance of the statistic in units of ``2 tr S^2``; near 1."""
    a = n_x * n_y / (n_x + n_y)
    return a**2 * (1 / (n_x * (n_x - 1)) + 1 / (n_y * (n_y - 1)) + 2 / (n_x * n_y))


def cube_factor(n_x: int, n_y: int, /) -> float:
    """Return the third cumulant of the statistic in units of ``8 tr S^3``; near 1."""
    a = n_x * n_y / (n_x + n_y)
    within = (n_x - 2) / (n_x * (n_x - 1)) ** 2 + (n_y - 2) / (n_y * (n_y - 1)) ** 2
    return a**3 * (within + 3 / (n_x**2 * n_y) + 3 / (n_x * n_y**2))


def scaled_hollow(hollow: HollowArray, moments: HollowMoments, /) -> HollowArray:
    """Return the hollow matrix scaled so that ``z' H z`` has the variance of `T`."""
    factor = np.sqrt(moments.variance / (2.0 * _inner(hollow, hollow)))
    return hollow * float(factor)


def _inner(a: HollowArray, b: HollowArray) -> float:
    """Return the sum of products, in double precision whatever the matrices are in."""
    return float(np.einsum("ij,ij->", a, b, dtype=np.float64))


def _own_share(bins: BinGram) -> FloatArray:
    """Return the square root of each bin's share of its sample's rows."""
    return np.sqrt(bins.counts / np.where(bins.from_x, bins.n_x, bins.n_y))
