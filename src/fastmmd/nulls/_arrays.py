"""Array aliases shared by the null distributions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

# p-values are never 0: below this they are reported as this.
SMALLEST_PVALUE = float(np.finfo(np.float64).tiny)

# Rounding of a statistic made of terms of size 1, a few dozen of them deep.
ROUNDING = 64 * float(np.finfo(np.float64).eps)
