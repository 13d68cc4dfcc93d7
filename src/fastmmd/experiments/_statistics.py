"""Small statistics that several experiments share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from fastmmd._typing import FloatArray


class Slope(NamedTuple):
    """A slope in logarithms, with its standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.3f} +- {self.error:.3f}"

    def agrees(self, expected: float, tolerance: float) -> bool:
        """Whether it is within `tolerance` of what is expected, three errors granted."""
        return abs(self.value - expected) <= tolerance + 3.0 * self.error


def mean_error(values: FloatArray, /) -> FloatArray:
    """Return the standard error of the mean over the first axis."""
    return np.asarray(np.std(values, axis=0, ddof=1) / np.sqrt(len(values)))


def power_law(x: npt.NDArray[Any], means: FloatArray, errors: FloatArray, /) -> Slope:
    """Fit ``means = c x^slope`` by weighted least squares of logarithms.

    To first order the standard error of a logarithm is the relative error.
    """
    weights = (means / errors) ** 2
    at = np.log(x) - np.average(np.log(x), weights=weights)
    spread = float(weights @ at**2)
    return Slope(float(weights @ (at * np.log(means))) / spread, spread**-0.5)
