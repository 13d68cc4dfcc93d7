"""Distribution functions from SciPy, which is loaded when one is first called.

Importing ``scipy.special`` takes longer than importing the rest of the package.
"""

from __future__ import annotations


def ndtr(value: float, /) -> float:
    """Return the standard normal distribution function."""
    from scipy import special

    return float(special.ndtr(value))


def ndtri(probability: float, /) -> float:
    """Return its inverse."""
    from scipy import special

    return float(special.ndtri(probability))


def stdtr(degrees: float, value: float, /) -> float:
    """Return Student's distribution function."""
    from scipy import special

    return float(special.stdtr(degrees, value))


def gammaincc(shape: float, value: float, /) -> float:
    """Return the upper tail of the gamma distribution."""
    from scipy import special

    return float(special.gammaincc(shape, value))


def gammainccinv(shape: float, tail: float, /) -> float:
    """Return the value with this upper tail."""
    from scipy import special

    return float(special.gammainccinv(shape, tail))
