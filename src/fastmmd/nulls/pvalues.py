"""The p-value of a statistic among its relabelled values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fastmmd.nulls._arrays import ROUNDING, SMALLEST_PVALUE

if TYPE_CHECKING:
    from fastmmd.nulls._arrays import FloatArray

TAIL_LIMIT = 1e-10
"""Tails are not told apart below this."""

_EXPONENT_SHARE = 0.78
"""Eigenvalues estimated from some hundred bins put the exponent of a tail wrong by up to a
quarter, further the smaller the tail (``calibration/tails.py``). So ``p`` is below
`TAIL_LIMIT` for certain where the estimate to this power is."""


def permutation_pvalue(
    observed: float, null: FloatArray, /, *, scale: float = 1.0, complete: bool = False
) -> float:
    """Return the share of the null at least as large as `observed`, itself included.

    Parameters
    ----------
    observed : float
        Statistic of the data as they came.
    null : ndarray of shape (n_resamples,)
        Statistics of the relabelled data.
    scale : float, default=1.0
        Size of the terms whose difference the statistic is; ``k(x, x)`` for MMD.
    complete : bool, default=False
        Whether `null` holds every possible relabelling once. The observed labels are
        then among them and are not counted again.

    Returns
    -------
    float
        A value in (0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> permutation_pvalue(3.0, np.array([1.0, 3.0, 2.0]))
    0.5
    >>> permutation_pvalue(9.0, np.zeros(99))
    0.01
    >>> permutation_pvalue(3.0, np.array([1.0, 3.0, 2.0, 0.0]), complete=True)
    0.25
    """
    # A relabelling that only reorders rows within a sample must count as a tie, yet it
    # is summed in another order. Squared MMD is a difference of terms of size `scale`,
    # so rounding is absolute at that size, not relative to `observed`.
    slack = ROUNDING * scale
    at_least_as_large = int(np.count_nonzero(null >= observed - slack))
    if complete:
        return max(at_least_as_large, 1) / null.size
    return (at_least_as_large + 1) / (null.size + 1)


def smallest_pvalue(n_x: int, n_y: int, /) -> float:
    """Return the smallest p-value that relabelling so many rows, or bins, can give.

    With equal numbers the samples can also be swapped, which gives the same statistic.

    Examples
    --------
    >>> smallest_pvalue(3, 3)
    0.1
    """
    log_ways = math.lgamma(n_x + n_y + 1) - math.lgamma(n_x + 1) - math.lgamma(n_y + 1)
    swapped = 2.0 if n_x == n_y else 1.0
    return min(max(swapped * math.exp(-log_ways), SMALLEST_PVALUE), 1.0)


def resolved_tail(estimate: float, /) -> float:
    """Return an estimate of a small p-value, or `TAIL_LIMIT` if it is below that for certain.

    Examples
    --------
    >>> resolved_tail(1e-6), resolved_tail(1e-90)
    (1e-06, 1e-10)
    """
    if estimate**_EXPONENT_SHARE <= TAIL_LIMIT:
        return TAIL_LIMIT
    return max(estimate, math.nextafter(TAIL_LIMIT, 1.0))


def pvalue_words(pvalue: float, tail: float | None = None, /) -> str:
    """Return a p-value as a text gives it, with an estimate of its size if it is a limit.

    Examples
    --------
    >>> pvalue_words(0.0341), pvalue_words(0.001, 3e-7), pvalue_words(0.001, 1e-10)
    ('p = 0.0341', 'p = 0.001, about 3e-07', 'p = 0.001, below 1e-10')
    >>> pvalue_words(1e-44)
    'p < 1e-10'
    """
    if pvalue < TAIL_LIMIT:
        return f"p < {TAIL_LIMIT:.0e}"
    text = f"p = {pvalue:.4g}"
    if tail is None:
        return text
    return f"{text}, {'about' if tail > TAIL_LIMIT else 'below'} {tail:.0e}"
