"""The compiled extension, behind the functions that every backend provides."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import numpy as np

from fastmmd._errors import MissingDependencyError

try:
    # By name: to the import checker, `from fastmmd import` would be an upward import.
    _native = importlib.import_module("fastmmd._native")
except ImportError:  # pragma: no cover
    # Installed without a C++ compiler: the NumPy backend serves instead.
    _native = None  # type: ignore[assignment]

if TYPE_CHECKING:
    import numpy.typing as npt

    from fastmmd._typing import FloatArray


def available() -> bool:
    """Say whether the extension was compiled when the package was installed."""
    return _native is not None


def walsh_hadamard(values: npt.ArrayLike) -> FloatArray:
    """Multiply each row by the unnormalised Hadamard matrix, in natural order.

    Parameters
    ----------
    values : array of shape (n, length)
        Rows to transform; `length` is a power of two. Left untouched.

    Returns
    -------
    array of shape (n, length)
        The transformed rows, in float64.
    """
    if not available():
        message = (
            "the compiled extension of fastmmd is not available. Install a C++ compiler "
            "and reinstall fastmmd from source."
        )
        raise MissingDependencyError(message)
    result = np.array(values, dtype=np.float64, order="C", copy=True)
    _native.walsh_hadamard(result)
    return result
