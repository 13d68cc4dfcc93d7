"""The reference implementation of the primitives, in NumPy and in bounded memory."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from fastmmd._backends.pairs import pair_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fastmmd._rows import Rows
    from fastmmd._typing import FloatArray

    Profile = Callable[[FloatArray], FloatArray]

_TILE_ELEMENTS = 2**16
"""Pairs handled together: a tile and its temporaries stay in a core's own cache."""

_ARRAYS_PER_TILE = 6
"""Tile-sized arrays alive at once (sums, differences, lengths, a profile's own)."""

DEFAULT_WORKSPACE = 64 * 2**20
"""Bytes of workspace of a pair sum."""


def sincos_sums(phases: FloatArray, /) -> tuple[FloatArray, FloatArray]:
    """Return the sums over rows of ``cos(phases)`` and ``sin(phases)``."""
    return np.cos(phases).sum(axis=0), np.sin(phases).sum(axis=0)


def walsh_hadamard(values: FloatArray, /) -> FloatArray:
    """Return the unnormalised Walsh-Hadamard transform along the last axis.

    The length must be a power of two. O(n log n) additions per row.
    """
    result = np.array(values, dtype=np.float64)
    length = result.shape[-1]
    half = 1
    while half < length:
        pairs = result.reshape(*result.shape[:-1], length // (2 * half), 2, half)
        sums = pairs[..., 0, :] + pairs[..., 1, :]
        np.subtract(pairs[..., 0, :], pairs[..., 1, :], out=pairs[..., 1, :])
        pairs[..., 0, :] = sums
        half *= 2
    return result


def pair_sum(
    x: Rows,
    y: Rows,
    /,
    *,
    rule: str,
    scale: float,
    profile: Profile,
    workspace: int = DEFAULT_WORKSPACE,
) -> float:
    """Return the sum of ``profile(distance(x[i], y[k]))`` over all pairs i, k.

    Tiles of pairs are summed pairwise by NumPy and the tiles exactly by ``math.fsum``, so
    the error does not grow with the number of rows.
    """
    side = _tile_side(x, rule, workspace)
    values = functools.partial(pair_values, rule=rule, scale=scale, profile=profile)
    return math.fsum(
        float(values(x.block(*span_x), y.block(*span_y)).sum())
        for span_x in x.spans(side)
        for span_y in y.spans(side)
    )


def self_pair_sum(
    x: Rows,
    /,
    *,
    rule: str,
    scale: float,
    profile: Profile,
    workspace: int = DEFAULT_WORKSPACE,
) -> float:
    """Return the sum over all pairs i != k within one sample."""
    side = _tile_side(x, rule, workspace)
    values = functools.partial(pair_values, rule=rule, scale=scale, profile=profile)

    def tile_sums() -> Iterator[float]:
        for start, stop in x.spans(side):
            block = x.block(start, stop)
            own = values(block, block)
            np.fill_diagonal(own, 0.0)
            yield float(own.sum())
            # Symmetry: the tile below the diagonal has the same sum.
            for later in range(stop, x.n_rows, side):
                other = x.block(later, min(later + side, x.n_rows))
                yield 2.0 * float(values(block, other).sum())

    return math.fsum(tile_sums())


def _tile_side(x: Rows, rule: str, workspace: int) -> int:
    """Return how many rows of each sample make a tile that fits the workspace."""
    elements = min(_TILE_ELEMENTS, workspace // (8 * _ARRAYS_PER_TILE))
    if rule == "difference":
        elements = elements // x.n_columns
    side = max(1, math.isqrt(elements))
    if x.is_sparse and rule == "squared":
        return side
    # The rows themselves, made dense or centred, take four blocks of side x columns.
    return min(side, max(1, workspace // (4 * 8 * 2 * x.n_columns)))
