"""Biased and unbiased squared MMD together, from all pairs or from given frequencies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from fastmmd._mmd import mmd
from fastmmd._rows import check_samples
from fastmmd.estimators import Exact
from fastmmd.estimators.spectral import contributions, mean_features, reference_point

if TYPE_CHECKING:
    from fastmmd._typing import Estimator, FloatArray
    from fastmmd.estimators.spectral import Frequencies
    from fastmmd.kernels import Kernel

ESTIMATORS: Final[tuple[Estimator, ...]] = ("biased", "unbiased")
"""The order of everything that comes in pairs."""


def exact_mmd2(x: FloatArray, y: FloatArray, kernel: Kernel, /) -> FloatArray:
    """Return the biased and the unbiased squared MMD from all pairs of rows."""
    found = [mmd(x, y, kernel=kernel, method=Exact(), estimator=e) for e in ESTIMATORS]
    return np.array([estimate.mmd2 for estimate in found])


def spectral_mmd2(
    x: FloatArray, y: FloatArray, kernel: Kernel, frequencies: Frequencies, /
) -> FloatArray:
    """Return both from the same frequencies of the kernel, in one pass over the rows."""
    rows = check_samples(x, y)
    center = reference_point(rows[0])
    mean_x, mean_y = (mean_features(r, frequencies, center, single=True) for r in rows)
    values = [
        contributions(
            mean_x,
            mean_y,
            n_x=len(x),
            n_y=len(y),
            estimator=estimator,
            algorithm="features",
        ).mean()
        for estimator in ESTIMATORS
    ]
    return kernel.at_zero * np.array(values)


def distance(mmd2: FloatArray, /) -> FloatArray:
    """Return MMD from its square, 0 where an unbiased estimate is negative."""
    return np.sqrt(np.maximum(mmd2, 0.0))
