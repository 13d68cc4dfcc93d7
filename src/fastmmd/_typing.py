"""Aliases for the arrays and options that appear in many signatures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import scipy.sparse

FloatArray: TypeAlias = npt.NDArray[np.float64]
"""Float64 array: what every computation works on and returns."""

RNGLike: TypeAlias = (
    int | np.random.SeedSequence | np.random.BitGenerator | np.random.Generator | None
)
"""Anything ``numpy.random.default_rng`` turns into a generator."""

SampleLike: TypeAlias = Union[npt.ArrayLike, "scipy.sparse.sparray", Any]
"""Anything that can be read as rows of numbers: arrays, lists, CSR matrices."""

Estimator: TypeAlias = Literal["biased", "unbiased"]
"""Which estimate of the squared MMD: the V statistic or the U statistic."""
