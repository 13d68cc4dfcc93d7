"""Kernels that are products over columns: frequencies with independent coordinates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from fastmmd._backends.pairs import PairForm
from fastmmd._validation import check_positive
from fastmmd.kernels.base import Kernel, set_positive
from fastmmd.kernels.radial import RationalQuadratic

if TYPE_CHECKING:
    from fastmmd._typing import FloatArray


@final
@dataclass(frozen=True, slots=True)
class Laplace(Kernel):
    r"""The product kernel :math:`k(x, y) = \exp(-\sum_j |x_j - y_j| / s)`.

    It depends on the sum of absolute differences, not on the Euclidean distance; for
    :math:`\exp(-\|x - y\| / s)` use ``Matern(s, nu=0.5)``.

    Parameters
    ----------
    bandwidth : float
        Length scale :math:`s > 0`, in the units of the data.

    Notes
    -----
    The coordinates of a frequency are independent Cauchy variables with scale
    :math:`1 / s`. They have no variance, so the bounds of `fastmmd.bounds` say nothing
    about this kernel, and large frequencies matter.

    Examples
    --------
    >>> float(Laplace(2.0)([1.0, -1.0]))
    0.36787944
    """

    bandwidth: float

    def __post_init__(self) -> None:
        set_positive(self, "bandwidth")

    def pair_forms(self) -> tuple[PairForm, ...]:
        return (
            PairForm(
                "absolute", 1.0 / self.bandwidth, _exp_of_minus, formula="exponential"
            ),
        )

    def uniforms_per_frequency(self, n_columns: int, /) -> int:
        return n_columns

    def frequencies_from_uniforms(
        self, uniforms: FloatArray, n_columns: int, /
    ) -> FloatArray:
        return np.asarray(np.tan(np.pi * (uniforms - 0.5)) / self.bandwidth)

    def second_moment(self, n_columns: int, /) -> float:
        return math.inf


@final
@dataclass(frozen=True, slots=True)
class Cauchy(Kernel):
    r"""The product kernel :math:`k(x, y) = \prod_j 1 / (1 + (x_j - y_j)^2 / s^2)`.

    This is the product form. The radial form :math:`1 / (1 + \|x - y\|^2 / s^2)` is
    ``Cauchy.radial(s)``. They agree in one column and differ in more.

    Parameters
    ----------
    bandwidth : float
        Length scale :math:`s > 0`, in the units of the data.

    Notes
    -----
    The coordinates of a frequency are independent Laplace variables with scale
    :math:`1 / s`.

    Examples
    --------
    >>> float(Cauchy(1.0)([1.0, 1.0])), float(Cauchy.radial(1.0)([1.0, 1.0]))
    (0.25, 0.33333333)
    """

    bandwidth: float

    def __post_init__(self) -> None:
        set_positive(self, "bandwidth")

    @staticmethod
    def radial(bandwidth: float, /) -> RationalQuadratic:
        """Return the radial form, ``1 / (1 + r^2 / bandwidth^2)``."""
        bandwidth = check_positive(bandwidth, name="bandwidth")
        return RationalQuadratic(bandwidth / math.sqrt(2.0), alpha=1.0)

    def pair_forms(self) -> tuple[PairForm, ...]:
        return (
            PairForm(
                "log1p_squared", 1.0 / self.bandwidth, _exp_of_minus, formula="reciprocal"
            ),
        )

    def uniforms_per_frequency(self, n_columns: int, /) -> int:
        return n_columns

    def frequencies_from_uniforms(
        self, uniforms: FloatArray, n_columns: int, /
    ) -> FloatArray:
        # Inverse of the Laplace distribution function, on the side of the smaller tail.
        tail = np.minimum(uniforms, 1.0 - uniforms)
        signs = np.where(uniforms < 0.5, -1.0, 1.0)
        return np.asarray(-signs * np.log(2.0 * tail) / self.bandwidth)

    def second_moment(self, n_columns: int, /) -> float:
        return 2.0 * n_columns / self.bandwidth / self.bandwidth


def _exp_of_minus(sums: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-sums))
