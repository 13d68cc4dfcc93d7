"""Tail of a weighted sum of chi-square variables by numerical inversion."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, sqrt
from typing import TYPE_CHECKING, final

import numpy as np

from fastmmd.nulls._arrays import SMALLEST_PVALUE

if TYPE_CHECKING:
    import numpy.typing as npt

    from fastmmd.nulls._arrays import FloatArray

# Halving the step stops when the result changes by less than this share of itself.
_RELATIVE_ERROR = 1e-10
_MAX_HALVINGS = 9
# The integrand is cut off where it has fallen by exp(-40) from its largest value.
_NEGLIGIBLE = 40.0


def weighted_chi_square_tail(weights: npt.ArrayLike, value: float, /) -> float:
    r"""Return :math:`P(\sum_i w_i Z_i^2 > v)` for independent normal :math:`Z_i`.

    Parameters
    ----------
    weights : array of shape (n,)
        The weights, of either sign.
    value : float
        The point at which the tail begins.

    Returns
    -------
    float
        The probability, in (0, 1], to about nine significant digits for any size.

    Notes
    -----
    With :math:`K(z) = -\frac12 \sum_i \log(1 - 2 z w_i)` the tail is

    .. math:: \frac{1}{2 \pi i} \int \frac{e^{K(z) - z v}}{z} \, dz

    along any path that crosses the real axis between 0 and the first singularity
    :math:`1 / (2 \max w)`. Imhof's formula takes the imaginary axis, where a tail of
    1e-12 is a difference of numbers near 1. The path here crosses at the saddle point,
    so that the integrand is as large as the tail itself, and then bends like a
    hyperbola to the side where :math:`e^{-z v}` decays. The trapezoidal rule converges
    geometrically on it; the step is halved until the result stands still.

    References
    ----------
    .. [1] Imhof, "Computing the distribution of quadratic forms in normal variables",
       Biometrika 48 (1961), equation 3.2.
    .. [2] Rice, "Distribution of quadratic forms in normal random variables: evaluation
       by numerical integration", SIAM J. Sci. Stat. Comput. 1 (1980).

    Examples
    --------
    Two equal weights make an exponential distribution:

    >>> weighted_chi_square_tail([1.0, 1.0], 40.0)  # exp(-20)
    2.0611536e-09
    >>> weighted_chi_square_tail([1.0, -1.0], 0.0)
    0.5
    """
    w = np.asarray(weights, dtype=np.float64)
    w = w[w != 0.0]
    if w.size == 0:
        return 1.0 if value <= 0.0 else SMALLEST_PVALUE
    if value <= 0.0 and w.min() > 0.0:
        return 1.0
    if value >= 0.0 and w.max() < 0.0:
        return SMALLEST_PVALUE
    # Next to the end of a one-sided law the saddle point runs off to infinity and its
    # curvature underflows; 1e-100 from the end no probability differs from the end's.
    if w.min() > 0.0 or w.max() < 0.0:
        value = float(np.sign(w[0])) * max(abs(value), 1e-100 * float(np.abs(w).max()))
    # The smaller tail is integrated, since only a tail is found to relative precision.
    above_mean = value >= w.sum()
    tail = _upper_tail(w, value) if above_mean else 1.0 - _upper_tail(-w, -value)
    return min(max(tail, SMALLEST_PVALUE), 1.0)


@final
@dataclass(frozen=True, slots=True)
class Cumulants:
    """The cumulant generating function of the weighted sum, at a real point."""

    value: float
    slope: float
    curvature: float

    @classmethod
    def at(cls, weights: FloatArray, point: float) -> Cumulants:
        """Evaluate the function and its first two derivatives."""
        rest = 1.0 - 2.0 * point * weights
        ratio = weights / rest
        return cls(
            float(-0.5 * np.log(rest).sum()),
            float(ratio.sum()),
            float(2.0 * (ratio**2).sum()),
        )


def saddle_point(weights: FloatArray, value: float, /) -> float:
    """Return the point where the generating function has slope `value`.

    `value` must be at least the mean, and less than the largest possible sum.
    """
    low, high = 0.0, 0.5 / weights.max() if weights.max() > 0.0 else inf
    if high == inf:
        high = 1.0 / sqrt(2.0 * (weights**2).sum())
        while Cumulants.at(weights, high).slope < value:
            low, high = high, 2.0 * high
    # The slope rises from the mean to infinity: bisect, with a Newton step where it stays
    # inside. Near the singularity 1 / (value - slope) would be better, but is not needed.
    point = 0.5 * (low + high)
    for _ in range(200):
        here = Cumulants.at(weights, point)
        if here.slope < value:
            low = point
        else:
            high = point
        step = point + (value - here.slope) / here.curvature
        following = step if low < step < high else 0.5 * (low + high)
        if abs(following - point) <= 1e-13 * abs(point):
            break
        point = following
    return point


def _upper_tail(weights: FloatArray, value: float) -> float:
    largest = float(weights.max())
    wall = 0.5 / largest if largest > 0.0 else inf
    spread = sqrt(2.0 * float((weights**2).sum()))
    # Near the mean the saddle point runs into the pole at 0; any crossing is valid.
    start = max(saddle_point(weights, value), min(0.5 / spread, 0.5 * wall))
    here = Cumulants.at(weights, start)
    # Half-axis of the hyperbola: within reach of the singularities on both sides and of
    # the width of the peak, so that one step size suits all.
    reach = min(start, wall - start, 2.0 / sqrt(here.curvature))
    bend = 0.5 * np.sign(value)
    height = here.value - start * value

    def integrand(t: FloatArray) -> tuple[FloatArray, FloatArray]:
        z = start + reach * (bend * (np.cosh(t) - 1.0) + 1j * np.sinh(t))
        dz = reach * (bend * np.sinh(t) + 1j * np.cosh(t))
        logs = np.log1p(-2.0 * np.multiply.outer(z, weights)).sum(axis=1)
        exponent = -0.5 * logs - z * value - height
        size = exponent.real + np.log(np.abs(dz / z))
        with np.errstate(under="ignore"):
            return size, (np.exp(exponent) * dz / z).imag

    step = 0.25
    size, _ = integrand(np.arange(0.0, 90.0, 1.0))
    above = np.flatnonzero(size > size.max() - _NEGLIGIBLE)
    end = float(above[-1]) + 1.0
    # The real axis counts half: the path is symmetric and only its upper half is summed.
    nodes = np.arange(0.0, end, step)
    values = integrand(nodes)[1]
    total = step * (float(values.sum()) - 0.5 * float(values[0]))
    for _ in range(_MAX_HALVINGS):
        between = np.arange(0.5 * step, end, step)
        refined = 0.5 * (total + step * float(integrand(between)[1].sum()))
        step *= 0.5
        done = abs(refined - total) <= _RELATIVE_ERROR * abs(refined)
        total = refined
        if done:
            break
    with np.errstate(under="ignore"):
        return exp(max(height, -745.0)) * total / np.pi
