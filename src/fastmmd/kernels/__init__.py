"""Shift-invariant kernels: a value at a difference, and a law of frequencies.

Conventions, with ``r`` the Euclidean distance and ``s`` the bandwidth:

===================== ============================================= ======================
kernel                value                                         frequencies times ``s``
===================== ============================================= ======================
`Gaussian`            ``exp(-r^2 / (2 s^2))``                       normal
`Laplace`             ``exp(-|x - y|_1 / s)``                       independent Cauchy
`Matern`              ``nu`` = 1/2: ``exp(-r / s)``, …              multivariate t, 2 nu d.f.
`RationalQuadratic`   ``(1 + r^2 / (2 alpha s^2))^-alpha``          normal x sqrt(Gamma/alpha)
`Cauchy`              ``prod 1 / (1 + (delta / s)^2)``              independent Laplace
===================== ============================================= ======================
"""

from __future__ import annotations

from fastmmd._backends.pairs import PairForm
from fastmmd.kernels.base import Kernel, Scaled
from fastmmd.kernels.mixture import Mixture
from fastmmd.kernels.product import Cauchy, Laplace
from fastmmd.kernels.radial import Gaussian, Matern, Radial, RationalQuadratic
from fastmmd.kernels.spectral import SpectralKernel

__all__ = [
    "Cauchy",
    "Gaussian",
    "Kernel",
    "Laplace",
    "Matern",
    "Mixture",
    "PairForm",
    "Radial",
    "RationalQuadratic",
    "Scaled",
    "SpectralKernel",
]
