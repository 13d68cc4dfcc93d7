"""Tell whether two data sets come from one distribution, and how far apart they are.

Maximum mean discrepancy (MMD) by sums of cosines and sines: one pass over the data, any
shift-invariant kernel, any sample sizes.

>>> import numpy as np, fastmmd
>>> rng = np.random.default_rng(0)
>>> fastmmd.mmd(rng.normal(size=(200, 2)), rng.normal(size=(300, 2)) + 1.0, rng=0).mmd
0.5
"""

from __future__ import annotations

from typing import Any

from fastmmd import bandwidth, bounds, circular, datasets
from fastmmd._errors import (
    MissingDependencyError,
    ToleranceWarning,
    UndefinedEstimateError,
    UnsupportedKernelError,
)
from fastmmd._mmd import mmd
from fastmmd._plan import Plan, plan
from fastmmd.estimators import (
    Block,
    Exact,
    Fastfood,
    Fourier,
    Grid,
    Linear,
    MMDEstimate,
)
from fastmmd.kernels import (
    Cauchy,
    Gaussian,
    Kernel,
    Laplace,
    Matern,
    Mixture,
    RationalQuadratic,
    SpectralKernel,
)

__all__ = [
    "Block",
    "Cauchy",
    "Exact",
    "Fastfood",
    "Fourier",
    "Gaussian",
    "Grid",
    "Kernel",
    "Laplace",
    "Linear",
    "MMDEstimate",
    "Matern",
    "MissingDependencyError",
    "Mixture",
    "Plan",
    "RationalQuadratic",
    "SpectralKernel",
    "ToleranceWarning",
    "UndefinedEstimateError",
    "UnsupportedKernelError",
    "bandwidth",
    "bounds",
    "circular",
    "datasets",
    "mmd",
    "plan",
]


def __getattr__(name: str) -> Any:
    # The version is looked up when asked for: reading package metadata takes longer than
    # importing the rest of the package.
    if name == "__version__":
        import importlib.metadata

        return importlib.metadata.version("fastmmd")
    msg = f"module 'fastmmd' has no attribute {name!r}"
    raise AttributeError(msg)
