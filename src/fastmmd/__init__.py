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
    IncompatibleSketchError,
    MissingDependencyError,
    SketchFileError,
    ToleranceWarning,
    UndefinedEstimateError,
    UnsupportedKernelError,
)
from fastmmd._mmd import mmd
from fastmmd._plan import Plan, plan
from fastmmd._twosample import (
    KSampleResult,
    TwoSampleResult,
    compare,
    k_sample_test,
    power,
    sample_size,
    two_sample_test,
)
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
from fastmmd.nulls.choices import Gamma, Normal, Pearson, Permutation, Spectrum
from fastmmd.sketch import Sketch

__all__ = [
    "Block",
    "Cauchy",
    "Exact",
    "Fastfood",
    "Fourier",
    "Gamma",
    "Gaussian",
    "Grid",
    "IncompatibleSketchError",
    "KSampleResult",
    "Kernel",
    "Laplace",
    "Linear",
    "MMDEstimate",
    "Matern",
    "MissingDependencyError",
    "Mixture",
    "Normal",
    "Pearson",
    "Permutation",
    "Plan",
    "RationalQuadratic",
    "Sketch",
    "SketchFileError",
    "SpectralKernel",
    "Spectrum",
    "ToleranceWarning",
    "TwoSampleResult",
    "UndefinedEstimateError",
    "UnsupportedKernelError",
    "bandwidth",
    "bounds",
    "circular",
    "compare",
    "datasets",
    "k_sample_test",
    "mmd",
    "plan",
    "power",
    "sample_size",
    "two_sample_test",
]


def __getattr__(name: str) -> Any:
    # The version is looked up when asked for: reading package metadata takes longer than
    # importing the rest of the package.
    if name == "__version__":
        import importlib.metadata

        return importlib.metadata.version("fastmmd")
    msg = f"module 'fastmmd' has no attribute {name!r}"
    raise AttributeError(msg)
