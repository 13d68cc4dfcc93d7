"""Families of kernels chosen from data: several scales, tested together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastmmd._backends.pairs import column_sums
from fastmmd.bandwidth import median_distance, typical_size
from fastmmd.kernels import Gaussian, Kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastmmd._typing import FloatArray

HALVINGS = range(-1, 6)
"""The family's bandwidths are the median distance divided by 2 to these powers."""

_MEDIAN = HALVINGS.index(0)
"""Place of the median bandwidth in the family: the first two are always in it."""

_FREQUENCIES = {-1: 128, 0: 128, 1: 128, 2: 256, 3: 512, 4: 512, 5: 512}
"""Small bandwidths get more frequencies: there the noise of the approximation, of size
``1 / (2 n_frequencies)``, would swamp the kernel's own variation."""

_CLOSE_PAIRS = 50.0
"""A bandwidth with fewer close pairs than this carries no information, only noise."""

_NO_WEIGHT = 1e-60
"""Weights below this add nothing to a count of pairs."""

SUBSAMPLE_ROWS = 1000
"""Rows that the choice looks at."""


def adaptive_family(
    rows: FloatArray, n_rows: int, /
) -> tuple[tuple[Kernel, ...], tuple[int, ...]]:
    """Return Gaussian kernels around the median distance, and frequencies for each.

    Parameters
    ----------
    rows : ndarray of shape (n, n_columns)
        A subsample of the pooled data. For a permutation test to keep its level it must
        not show which sample a row came from.
    n_rows : int
        Rows in all that will be tested: it decides which bandwidths have enough close
        pairs to be of use.

    Returns
    -------
    kernels : tuple of Gaussian
        Bandwidths from twice the median distance down.
    n_frequencies : tuple of int
        How many frequencies each should have.
    """
    unit = typical_size(rows)
    squared = column_sums(rows / unit, rows / unit, "squared", 1.0)
    # Each pair once; a mask is several times faster than indices.
    squared = squared[np.tri(len(rows), k=-1, dtype=np.bool_)]
    median = median_distance(np.sqrt(squared))
    n_pairs = 0.5 * n_rows**2
    kernels, numbers = [], []
    # The square of a Gaussian's value; at half the bandwidth it is the fourth power.
    weights = np.exp(-squared / (median * 2.0 ** -HALVINGS[0]) ** 2)
    for halvings in HALVINGS:
        bandwidth = median * 2.0**-halvings
        # Close pairs, each counted by that weight.
        close = n_pairs * float(weights.mean()) if len(squared) else 0
        # Before they underflow: arithmetic with denormal numbers is very slow.
        np.multiply(weights, weights > _NO_WEIGHT, out=weights)
        np.square(weights, out=weights)
        np.square(weights, out=weights)
        if close >= _CLOSE_PAIRS or halvings <= 0:
            kernels.append(Gaussian(bandwidth * unit))
            numbers.append(_FREQUENCIES[halvings])
    return tuple(kernels), tuple(numbers)


def reference_index(kernels: Sequence[Kernel], /) -> int:
    """Return which kernel of a family effects are measured by, whatever the data say.

    The median bandwidth of an adaptive family, else the first kernel of a list.
    """
    if len(kernels) <= _MEDIAN:
        return 0
    widest, median = kernels[:2]
    adaptive = (
        isinstance(widest, Gaussian)
        and isinstance(median, Gaussian)
        and widest.bandwidth == 2.0 * median.bandwidth
    )
    return _MEDIAN if adaptive else 0
