"""How far features may be from the truth, derived once for all tests.

A feature is the cosine or sine of a phase. Three things move it away from the truth.

1. The phase. Rounding the row, the frequency and the multiplier, a product and a sum for
   each column and the product with the multiplier: n_columns + 4 roundings, each of at most
   one `roundoff` of the sum of |x_j w_j|. A phase that is off by so many turns moves a
   feature by 2 pi times that.
2. The cosine itself. Compiled: u = r^2, Horner's last product and sum, the last product and
   sum of a number below 1 are 4 roundings. In NumPy: a turn of at most 1/2, 2 pi, their
   product, at most pi, and two units of the function make 7.1 units of 2^-24.
3. Doubled angles: the square of c + i s, compiled only. The error of the pair, sqrt(2)
   times that of each, doubles, and each step adds two roundings to either.

In single precision features are then rounded to multiples of `STEP`.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from fastmmd import _backends
from fastmmd._backends import native

SINGLE = 2.0**-24
DOUBLE = 2.0**-53

STEP = 2.0**-22
"""Features in single precision are multiples of this."""

LONGEST_CHAIN = 4
"""Kernels that take doubled angles from one cosine: at most three doublings."""

EXACT_SUMS = _backends.matrix_feature_sums is native.matrix_feature_sums
"""Whether a row's features do not depend on the rows beside it, to the last bit.

In NumPy they may: BLAS rounds a phase otherwise in a product of another shape, and then a
feature may round to the next step."""


def assert_same_sums(first, second, counts):
    """Check sums of the same features, however they were added up."""
    if EXACT_SUMS:
        np.testing.assert_array_equal(first, second)
    else:
        assert (np.abs(first - second) <= STEP * np.asarray(counts)[..., None]).all()


def value_error(roundoff, n_doublings=0):
    """Bound what 2. and 3. do to a feature."""
    if n_doublings == 0:
        return 7.1 * roundoff
    # Four roundings, and less than one for what the polynomial leaves out.
    factor = 2**n_doublings
    return math.sqrt(2) * (5 * factor + 2 * (factor - 1)) * roundoff


def phase_error(sizes, n_columns, roundoff):
    """Bound what 1. does to a feature; `sizes` are sums of |x_j w_j| in turns."""
    return 2 * np.pi * (n_columns + 4) * roundoff * sizes


def feature_error(sizes, n_columns, *, single, n_doublings=0):
    """Bound the error of features in either precision."""
    roundoff = SINGLE if single else DOUBLE
    error = value_error(roundoff, n_doublings) + phase_error(sizes, n_columns, roundoff)
    return error + (STEP / 2 if single else 0.0)


def doublings(multipliers):
    """Return how often the angle of each multiplier may have been doubled."""
    halves = [[m / 2**k for k in range(1, LONGEST_CHAIN)] for m in multipliers]
    return [
        len(list(itertools.takewhile(lambda half: half in multipliers, each)))
        for each in halves
    ]


def mmd2_error(feature, n_rows=2):
    """Bound the error of a squared MMD whose features are off by at most `feature`.

    With means m_x, m_y of exp(i w.x), each off by sqrt(2) `feature`, |m_x - m_y|^2 with
    |m_x - m_y| <= 2 moves by 2 * 2 * 2 sqrt(2) `feature`; the unbiased estimate takes off
    (1 - |m|^2) / (n - 1) twice, which moves by 2 sqrt(2) `feature` / (n - 1) each. Squares
    of `feature` are left out, and made up for by rounding sqrt(2) up to 1.5.
    """
    return (12 + 6 / (n_rows - 1)) * feature
