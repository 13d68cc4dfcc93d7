"""Which kernels a test uses: one, a list, or a family chosen from the pooled data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from fastmmd._validation import check_choice
from fastmmd.bandwidth import KERNEL_NAMES, pooled_subsample, resolve_kernel
from fastmmd.families import SUBSAMPLE_ROWS, adaptive_family

if TYPE_CHECKING:
    import numpy as np

    from fastmmd._rows import Rows
    from fastmmd.kernels import Kernel

DEFAULT_FREQUENCIES = 512


def choose_kernels(
    kernel: Any, x: Rows, y: Rows, rng: np.random.Generator, /
) -> tuple[tuple[Kernel, ...], tuple[int, ...]]:
    """Return the kernels of a test and the frequencies each should have.

    Rules look at the pooled rows only, so a permutation test keeps its level.
    """
    if isinstance(kernel, str) and kernel == "adaptive":
        rows = pooled_subsample(x, y, SUBSAMPLE_ROWS, rng)
        return adaptive_family(rows, x.n_rows + y.n_rows)
    if isinstance(kernel, str):
        check_choice(kernel, ("adaptive", *KERNEL_NAMES), name="kernel", also="kernels")
    if isinstance(kernel, Iterable) and not isinstance(kernel, str):
        kernels = tuple(resolve_kernel(k, x, y, rng=rng) for k in kernel)
        if not kernels:
            msg = "`kernel` must name at least one kernel; got an empty sequence."
            raise ValueError(msg)
    else:
        kernels = (resolve_kernel(kernel, x, y, rng=rng),)
    return kernels, (DEFAULT_FREQUENCIES,) * len(kernels)
