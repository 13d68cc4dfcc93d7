"""Which kernels a test uses: one, a list, or a family chosen from the pooled data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmmd._backends.pairs import column_sums
from fastmmd.bandwidth import median_distance, pooled_subsample, resolve_kernel
from fastmmd.kernels import Gaussian, Kernel

if TYPE_CHECKING:
    from fastmmd._rows import Rows

HALVINGS = range(-1, 6)
"""The family's bandwidths are the median distance divided by 2 to these powers."""

_FREQUENCIES = {-1: 128, 0: 128, 1: 128, 2: 256, 3: 512, 4: 512, 5: 512}
"""Small bandwidths get more frequencies: there the noise of the approximation, of size
``1 / (2 n_frequencies)``, would swamp the kernel's own variation."""

_CLOSE_PAIRS = 50.0
"""A bandwidth with fewer close pairs than this carries no information, only noise."""

_SUBSAMPLE_ROWS = 1000
DEFAULT_FREQUENCIES = 512


def choose_kernels(
    kernel: Any, x: Rows, y: Rows, rng: np.random.Generator, /
) -> tuple[tuple[Kernel, ...], tuple[int, ...]]:
    """Return the kernels of a test and the frequencies each should have."""
    if isinstance(kernel, str) and kernel == "adaptive":
        return adaptive_family(x, y, rng)
    if isinstance(kernel, Iterable) and not isinstance(kernel, str):
        kernels = tuple(resolve_kernel(k, x, y, rng=rng) for k in kernel)
        if not kernels:
            msg = "`kernel` must name at least one kernel; got an empty sequence."
            raise ValueError(msg)
    else:
        kernels = (resolve_kernel(kernel, x, y, rng=rng),)
    return kernels, (DEFAULT_FREQUENCIES,) * len(kernels)


def adaptive_family(
    x: Rows, y: Rows, rng: np.random.Generator, /
) -> tuple[tuple[Kernel, ...], tuple[int, ...]]:
    """Return Gaussian kernels of bandwidths around the median distance.

    Both the median and the filter look at the pooled rows only, so a permutation test
    with these kernels keeps its level.
    """
    rows = pooled_subsample(x, y, _SUBSAMPLE_ROWS, rng)
    squared = column_sums(rows, rows, "squared", 1.0)[np.triu_indices(len(rows), k=1)]
    median = median_distance(np.sqrt(squared))
    n_pairs = 0.5 * (x.n_rows + y.n_rows) ** 2
    kernels, numbers = [], []
    for halvings in HALVINGS:
        bandwidth = median * 2.0**-halvings
        # Close pairs, each counted by the square of its kernel value.
        close = n_pairs * float(np.exp(-squared / bandwidth**2).mean())
        if close >= _CLOSE_PAIRS or halvings <= 0:
            kernels.append(Gaussian(bandwidth))
            numbers.append(_FREQUENCIES[halvings])
    return tuple(kernels), tuple(numbers)
