"""Tell whether two data sets come from one distribution, and how far apart they are.

Maximum mean discrepancy (MMD) by sums of cosines and sines: one pass over the data, any
shift-invariant kernel, any sample sizes.

>>> import numpy as np, fastmmd
>>> rng = np.random.default_rng(0)
>>> fastmmd.mmd(rng.normal(size=(200, 2)), rng.normal(size=(300, 2)) + 1.0, rng=0).mmd
0.5
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastmmd import bandwidth, bounds, circular, datasets, tables
    from fastmmd._errors import (
        DataError,
        DataWarning,
        IncompatibleSketchError,
        MissingDependencyError,
        ResolutionWarning,
        SketchFileError,
        ToleranceWarning,
        UndefinedEstimateError,
        UnsupportedKernelError,
    )
    from fastmmd._mmd import mmd
    from fastmmd._plan import Plan, plan
    from fastmmd._threads import threads
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
    "DataError",
    "DataWarning",
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
    "ResolutionWarning",
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
    "tables",
    "threads",
    "two_sample_test",
]

_HOME = {
    "Block": "fastmmd.estimators",
    "Cauchy": "fastmmd.kernels",
    "DataError": "fastmmd._errors",
    "DataWarning": "fastmmd._errors",
    "Exact": "fastmmd.estimators",
    "Fastfood": "fastmmd.estimators",
    "Fourier": "fastmmd.estimators",
    "Gamma": "fastmmd.nulls.choices",
    "Gaussian": "fastmmd.kernels",
    "Grid": "fastmmd.estimators",
    "IncompatibleSketchError": "fastmmd._errors",
    "KSampleResult": "fastmmd._twosample",
    "Kernel": "fastmmd.kernels",
    "Laplace": "fastmmd.kernels",
    "Linear": "fastmmd.estimators",
    "MMDEstimate": "fastmmd.estimators",
    "Matern": "fastmmd.kernels",
    "MissingDependencyError": "fastmmd._errors",
    "Mixture": "fastmmd.kernels",
    "Normal": "fastmmd.nulls.choices",
    "Pearson": "fastmmd.nulls.choices",
    "Permutation": "fastmmd.nulls.choices",
    "Plan": "fastmmd._plan",
    "RationalQuadratic": "fastmmd.kernels",
    "ResolutionWarning": "fastmmd._errors",
    "Sketch": "fastmmd.sketch",
    "SketchFileError": "fastmmd._errors",
    "SpectralKernel": "fastmmd.kernels",
    "Spectrum": "fastmmd.nulls.choices",
    "ToleranceWarning": "fastmmd._errors",
    "TwoSampleResult": "fastmmd._twosample",
    "UndefinedEstimateError": "fastmmd._errors",
    "UnsupportedKernelError": "fastmmd._errors",
    "bandwidth": "fastmmd.bandwidth",
    "bounds": "fastmmd.bounds",
    "circular": "fastmmd.circular",
    "compare": "fastmmd._twosample",
    "datasets": "fastmmd.datasets",
    "k_sample_test": "fastmmd._twosample",
    "mmd": "fastmmd._mmd",
    "plan": "fastmmd._plan",
    "power": "fastmmd._twosample",
    "sample_size": "fastmmd._twosample",
    "tables": "fastmmd.tables",
    "threads": "fastmmd._threads",
    "two_sample_test": "fastmmd._twosample",
}
"""Where each public name lives. Modules are loaded when a name is first used, so that
importing the package takes no longer than importing NumPy."""


def __getattr__(name: str) -> Any:
    if name in _HOME:
        module = importlib.import_module(_HOME[name])
        value = module if _HOME[name] == f"fastmmd.{name}" else getattr(module, name)
        globals()[name] = value
        return value
    if name == "__version__":
        from importlib import metadata

        return metadata.version("fastmmd")
    msg = f"module 'fastmmd' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
