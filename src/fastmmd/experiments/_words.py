"""Numbers in sentences."""

from __future__ import annotations


def small(value: float, /) -> str:
    """Return a number near 0 by its size: 3e-16, or 0."""
    return f"{value:.0e}" if value else "0"


def percent(share: float, /) -> str:
    """Return a share in percent with two digits."""
    return f"{100.0 * share:.2g} %"


def times(factor: float, /) -> str:
    """Return a factor with two digits: 0.93, 4.1, 120, 4,500."""
    rounded = float(f"{factor:.2g}")
    digits = 2 if rounded < 1.0 else 1 if rounded < 10.0 else 0
    return f"{rounded:,.{digits}f}"
