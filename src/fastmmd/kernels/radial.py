"""Kernels of the Euclidean distance: mixtures of Gaussians over their bandwidth.

A function of the distance that is positive definite in every dimension is an average of
Gaussians of different widths (Schoenberg 1938). So the frequencies of every kernel in
this file are a standard normal vector times an independent random scale, and a kernel is
defined by its profile and by the law of that scale.
"""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from fastmmd._backends.pairs import PairForm
from fastmmd._random import as_generator
from fastmmd._validation import check_count
from fastmmd.kernels.base import (
    Kernel,
    open_uniforms,
    set_positive,
    stratified_uniforms,
)

if TYPE_CHECKING:
    from fastmmd._backends.pairs import Formula
    from fastmmd._typing import FloatArray, RNGLike


class Radial(Kernel):
    """A kernel of the distance: ``w = scale * standard normal / bandwidth``."""

    __slots__ = ()

    bandwidth: float

    @abc.abstractmethod
    def profile(self, squared_distance: FloatArray, /) -> FloatArray:
        """Return the value at a squared distance measured in bandwidths."""

    @abc.abstractmethod
    def scales_from_uniforms(self, uniforms: FloatArray, /) -> FloatArray:
        """Map uniforms of shape (n, uniforms_per_scale) to the random scales."""

    @property
    def uniforms_per_scale(self) -> int:
        """How many uniform numbers make one scale: 0 where it is fixed."""
        return 1

    @property
    def is_radial(self) -> bool:
        return True

    @property
    def formula(self) -> tuple[Formula | None, float]:
        """The name of the profile's compiled form, if any, and its parameter."""
        return None, 0.0

    def pair_forms(self) -> tuple[PairForm, ...]:
        formula, parameter = self.formula
        return (
            PairForm(
                "squared",
                1.0 / self.bandwidth,
                self.profile,
                formula=formula,
                parameter=parameter,
            ),
        )

    def uniforms_per_frequency(self, n_columns: int, /) -> int:
        return n_columns + self.uniforms_per_scale

    def frequencies_from_uniforms(
        self, uniforms: FloatArray, n_columns: int, /
    ) -> FloatArray:
        from scipy.special import ndtri

        scales = self.scales_from_uniforms(uniforms[:, n_columns:]) / self.bandwidth
        return np.asarray(ndtri(uniforms[:, :n_columns]) * scales[:, None])

    def sample_radii(
        self, n_frequencies: int, /, *, n_columns: int, rng: RNGLike = None
    ) -> FloatArray:
        from scipy.special import gammaincinv

        # |w| = scale * chi: two numbers a frequency in place of n_columns normals. Each is
        # stratified over the draw (a Latin hypercube).
        n_frequencies = check_count(n_frequencies, name="n_frequencies")
        n_columns = check_count(n_columns, name="n_columns")
        shape = (n_frequencies, 1 + self.uniforms_per_scale)
        uniforms = open_uniforms(stratified_uniforms(shape, as_generator(rng)))
        lengths = np.sqrt(2.0 * gammaincinv(0.5 * n_columns, uniforms[:, 0]))
        scales = self.scales_from_uniforms(uniforms[:, 1:])
        return np.asarray(lengths * scales / self.bandwidth)


@final
@dataclass(frozen=True, slots=True)
class Gaussian(Radial):
    r"""The kernel :math:`k(x, y) = \exp(-\|x - y\|^2 / (2 s^2))`.

    Parameters
    ----------
    bandwidth : float
        Length scale :math:`s > 0`, in the units of the data.

    Notes
    -----
    The frequencies are normal with covariance :math:`s^{-2} I` [1]_.

    References
    ----------
    .. [1] Rahimi and Recht, "Random Features for Large-Scale Kernel Machines",
       NIPS 2007, section 3.

    Examples
    --------
    At distance one bandwidth the kernel is ``exp(-1/2)``, and so is the mean cosine of
    its frequencies:

    >>> import numpy as np
    >>> kernel = Gaussian(bandwidth=2.0)
    >>> float(kernel([2.0]))
    0.60653066
    >>> w = kernel.sample_frequencies(100_000, n_columns=1, rng=0)
    >>> float(np.cos(2.0 * w).mean())
    0.61
    """

    bandwidth: float

    def __post_init__(self) -> None:
        set_positive(self, "bandwidth")

    def profile(self, squared_distance: FloatArray, /) -> FloatArray:
        return np.asarray(np.exp(-0.5 * squared_distance))

    @property
    def formula(self) -> tuple[Formula | None, float]:
        return "gaussian", 0.0

    @property
    def uniforms_per_scale(self) -> int:
        return 0

    def scales_from_uniforms(self, uniforms: FloatArray, /) -> FloatArray:
        return np.ones(len(uniforms))

    def second_moment(self, n_columns: int, /) -> float:
        return n_columns / self.bandwidth / self.bandwidth


@final
@dataclass(frozen=True, slots=True)
class Matern(Radial):
    r"""The Matern kernel, whose roughness `nu` is free.

    With :math:`a = \sqrt{2 \nu} \|x - y\| / s` the value is
    :math:`2^{1 - \nu} a^\nu K_\nu(a) / \Gamma(\nu)`: for ``nu = 1/2`` it is
    :math:`e^{-a}`, for 3/2 :math:`(1 + a) e^{-a}`, for 5/2
    :math:`(1 + a + a^2 / 3) e^{-a}`; as `nu` grows it tends to the Gaussian.

    Parameters
    ----------
    bandwidth : float
        Length scale :math:`s > 0`, in the units of the data.
    nu : float, default=1.5
        Smoothness :math:`\nu > 0`. Half-integers up to 5/2 are fast, others use Bessel
        functions.

    Notes
    -----
    The frequencies follow a multivariate t law with :math:`2 \nu` degrees of freedom and
    scale :math:`1 / s`: a normal vector divided by the root of a Gamma variable.

    Examples
    --------
    >>> float(Matern(2.0, nu=0.5)([2.0]))
    0.36787944
    """

    bandwidth: float
    nu: float = 1.5

    def __post_init__(self) -> None:
        set_positive(self, "bandwidth")
        set_positive(self, "nu")

    def profile(self, squared_distance: FloatArray, /) -> FloatArray:
        a = np.sqrt(2.0 * self.nu * squared_distance)
        if self.nu == 0.5:
            return np.asarray(np.exp(-a))
        if self.nu == 1.5:
            return np.asarray((1.0 + a) * np.exp(-a))
        if self.nu == 2.5:
            return np.asarray((1.0 + a + a * a / 3.0) * np.exp(-a))
        if self.nu <= _BESSEL_ORDER:
            return _matern_by_bessel(a, self.nu)
        return _matern_of_high_order(a, self.nu)

    @property
    def formula(self) -> tuple[Formula | None, float]:
        # Other orders need Bessel functions, whose cost leaves nothing to gain.
        compiled: dict[float, Formula] = {
            0.5: "matern_1",
            1.5: "matern_3",
            2.5: "matern_5",
        }
        return compiled.get(self.nu), 0.0

    def scales_from_uniforms(self, uniforms: FloatArray, /) -> FloatArray:
        from scipy.special import gammaincinv

        # t = z / sqrt(chi2 / (2 nu)) with chi2 = 2 Gamma(nu).
        return np.asarray(np.sqrt(self.nu / gammaincinv(self.nu, uniforms[:, 0])))

    def second_moment(self, n_columns: int, /) -> float:
        if self.nu <= 1.0:
            return math.inf
        return n_columns * self.nu / (self.nu - 1.0) / self.bandwidth / self.bandwidth


@final
@dataclass(frozen=True, slots=True)
class RationalQuadratic(Radial):
    r"""The kernel :math:`(1 + \|x - y\|^2 / (2 \alpha s^2))^{-\alpha}`.

    Its tail is heavy: far apart rows still see each other. `alpha` of 1/2 is the inverse
    multiquadric :math:`(1 + r^2 / s^2)^{-1/2}`; large `alpha` tends to the Gaussian.

    Parameters
    ----------
    bandwidth : float
        Length scale :math:`s > 0`, in the units of the data.
    alpha : float, default=1.0
        Tail exponent :math:`\alpha > 0`.

    Notes
    -----
    The frequencies are normal with variance :math:`G / (\alpha s^2)`, where
    :math:`G \sim \mathrm{Gamma}(\alpha)` is drawn anew for each.

    See Also
    --------
    fastmmd.Cauchy.radial : The case ``alpha = 1`` with Cauchy's bandwidth.

    Examples
    --------
    >>> float(RationalQuadratic(1.0, alpha=0.5)([1.0]))
    0.70710678
    """

    bandwidth: float
    alpha: float = 1.0

    def __post_init__(self) -> None:
        set_positive(self, "bandwidth")
        set_positive(self, "alpha")

    def profile(self, squared_distance: FloatArray, /) -> FloatArray:
        # log1p keeps the digits that 1 + tiny would lose when alpha is large.
        ratio = squared_distance / (2.0 * self.alpha)
        return np.asarray(np.exp(-self.alpha * np.log1p(ratio)))

    @property
    def formula(self) -> tuple[Formula | None, float]:
        return "rational_quadratic", self.alpha

    def scales_from_uniforms(self, uniforms: FloatArray, /) -> FloatArray:
        from scipy.special import gammaincinv

        return np.asarray(np.sqrt(gammaincinv(self.alpha, uniforms[:, 0]) / self.alpha))

    def second_moment(self, n_columns: int, /) -> float:
        return n_columns / self.bandwidth / self.bandwidth


_BESSEL_FAR = 1e4
"""From here on a Matern kernel of order up to 50 is 0 in double precision."""

_BESSEL_ORDER = 50.0
"""Up to this order Bessel functions overflow only where the kernel is 1 to rounding; from
it on the expansion for high orders is right to 1e-12."""


def _matern_by_bessel(a: FloatArray, nu: float) -> FloatArray:
    from scipy.special import gammaln, kve

    # 2^(1-nu) / Gamma(nu) a^nu K_nu(a) by logarithms; kve is K_nu(a) e^a. Where it
    # overflows, `a` is so small that the value is 1 to rounding.
    with np.errstate(divide="ignore", invalid="ignore"):
        log_value = (
            (1.0 - nu) * math.log(2.0)
            - gammaln(nu)
            + nu * np.log(a)
            + np.log(kve(nu, a))
            - a
        )
    values = np.where(np.isfinite(log_value) | (a > 1.0), np.exp(log_value), 1.0)
    # Far away SciPy's function is NaN; the value is 0 long before.
    return np.where(a > _BESSEL_FAR, 0.0, values)


def _matern_of_high_order(a: FloatArray, nu: float) -> FloatArray:
    # Debye's expansion of K_nu(nu z) (Abramowitz and Stegun 9.7.8), divided by its value
    # at 0, so that Gamma(nu) and the large powers cancel before they are computed.
    z2 = np.square(a / nu)
    s = np.sqrt(1.0 + z2)
    s_minus_1 = z2 / (1.0 + s)
    exponent = nu * (np.log1p(0.5 * s_minus_1) - s_minus_1) - 0.5 * np.log1p(s_minus_1)
    ratio = _debye_series(1.0 / s, nu) / _debye_series(np.ones(()), nu)
    return np.asarray(np.exp(exponent) * ratio)


def _debye_series(p: FloatArray, nu: float) -> FloatArray:
    q = p * p
    u1 = p * (3.0 - 5.0 * q) / 24.0
    u2 = q * (81.0 + q * (-462.0 + 385.0 * q)) / 1152.0
    u3 = p * q * (30375.0 + q * (-369603.0 + q * (765765.0 - 425425.0 * q))) / 414720.0
    u4 = 4465125.0 + q * (
        -94121676.0 + q * (349922430.0 + q * (-446185740.0 + 185910725.0 * q))
    )
    u4 *= q * q / 39813120.0
    return np.asarray(1.0 - (u1 - (u2 - (u3 - u4 / nu) / nu) / nu) / nu)
