"""The reference implementation of the primitives, in NumPy and in bounded memory."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmmd._backends.pairs import pair_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from fastmmd._backends.features import Channel, FastfoodBlocks, Places
    from fastmmd._backends.pairs import PairForm
    from fastmmd._rows import Rows
    from fastmmd._typing import FloatArray

_BLOCK_NUMBERS = 2**17
"""Phases and features computed together: about 1 MB, so that they stay in cache."""

FEATURE_STEPS = 2.0**22
"""Steps from 0 to 1 of a feature in single precision."""

_TILE_ELEMENTS = 2**16
"""Pairs handled together: a tile and its temporaries stay in a core's own cache."""

_ARRAYS_PER_TILE = 6
"""Tile-sized arrays alive at once (sums, differences, lengths, a profile's own)."""


def matrix_feature_sums(
    sums: FloatArray,
    rows: Rows,
    places: Places,
    frequencies: FloatArray,
    channels: Sequence[Channel],
    /,
    *,
    center: FloatArray | None,
    single_radius: float,
) -> None:
    """Add the features of rows to the sums of their bins.

    Features in single precision are rounded to multiples of 2^-22, which leaves their sums
    exact: they do not depend on the order of the rows, nor on who added which.

    Parameters
    ----------
    sums : ndarray of shape (n_bins, width)
        Sums of features; the new ones are added in place.
    rows : Rows
        The data, dense or sparse.
    places : Places
        Which rows, and the bin of each.
    frequencies : ndarray of shape (n_frequencies, n_columns)
        The projection is ``(rows - center) @ frequencies.T``.
    channels : sequence of Channel
        The kernels, each with its own multiple of the projection.
    center : ndarray of shape (n_columns,), optional
        Taken off every row.
    single_radius : float
        Rows within this distance of the center need features right to single precision
        only; negative for none.
    """

    def project(block: Any) -> FloatArray:
        return matrix_phases(block, center, frequencies)

    _feature_sums(sums, rows, places, project, channels, single=single_radius >= 0.0)


def fastfood_feature_sums(
    sums: FloatArray,
    rows: Rows,
    places: Places,
    blocks: FastfoodBlocks,
    channels: Sequence[Channel],
    /,
    *,
    center: FloatArray | None,
    single_radius: float,
) -> None:
    """Add features to the sums of bins like `matrix_feature_sums`, by Fastfood."""

    def project(block: Any) -> FloatArray:
        return fastfood_phases(block, center, blocks)

    _feature_sums(sums, rows, places, project, channels, single=single_radius >= 0.0)


def matrix_phases(
    rows: Any, center: FloatArray | None, frequencies: FloatArray, /
) -> FloatArray:
    """Return the phases ``(rows - center) @ frequencies.T``."""
    if isinstance(rows, np.ndarray):
        # Centre first: phases stay small, and so does their rounding.
        return (rows if center is None else rows - center) @ frequencies.T
    phases = np.asarray(rows @ frequencies.T)
    return phases if center is None else phases - frequencies @ center


def fastfood_phases(
    rows: Any, center: FloatArray | None, blocks: FastfoodBlocks, /
) -> FloatArray:
    """Return the phases of Fastfood blocks."""
    values = rows if isinstance(rows, np.ndarray) else rows.toarray()
    padded = np.zeros((len(values), 1, blocks.signs.shape[1]))
    padded[:, 0, : blocks.n_columns] = values if center is None else values - center
    mixed = walsh_hadamard(padded * blocks.signs)
    mixed = np.take_along_axis(mixed, blocks.order[None], axis=2)
    mixed *= blocks.normals
    phases = walsh_hadamard(mixed)
    phases *= blocks.scales
    return phases.reshape(len(values), -1)[:, : blocks.n_frequencies]


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


def pair_sum(x: Rows, y: Rows, /, *, form: PairForm, workspace: int) -> float:
    """Return the sum of ``form.profile(distance(x[i], y[k]))`` over all pairs i, k.

    Tiles of pairs are summed pairwise by NumPy and the tiles exactly by ``math.fsum``, so
    the error does not grow with the number of rows.
    """
    side = _tile_side(x, form.rule, workspace)
    values = functools.partial(pair_values, form=form)
    return math.fsum(
        float(values(x.block(*span_x), y.block(*span_y)).sum())
        for span_x in x.spans(side)
        for span_y in y.spans(side)
    )


def self_pair_sum(x: Rows, /, *, form: PairForm, workspace: int) -> float:
    """Return the sum over all pairs i != k within one sample."""
    side = _tile_side(x, form.rule, workspace)
    values = functools.partial(pair_values, form=form)

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


def bin_pair_sums(
    values: FloatArray,
    edges: npt.NDArray[np.int64],
    form: PairForm,
    scales: Sequence[float],
    /,
) -> FloatArray:
    """Return the sums of a kernel's term between all bins, at several scales.

    Parameters
    ----------
    values : ndarray of shape (n, n_columns)
        Rows, bin after bin.
    edges : ndarray of int64
        Rows ``edges[b]`` to ``edges[b + 1]`` make bin ``b``.
    form : PairForm
        The term; its weight is left out, and its scale replaced by each of `scales`.
    scales : sequence of float
        Scales.

    Returns
    -------
    ndarray of shape (n_scales, n_bins, n_bins)
        Sums over all pairs of rows, those of a row with itself included.
    """
    n_bins = len(edges) - 1
    sums = np.zeros((len(scales), n_bins, n_bins))
    bins = np.repeat(np.arange(n_bins), np.diff(edges))
    side = math.isqrt(_TILE_ELEMENTS)
    blocks = [slice(start, start + side) for start in range(0, len(values), side)]
    for a, b in itertools.combinations_with_replacement(blocks, 2):
        (present_a, first_a), (present_b, first_b) = _runs(bins[a]), _runs(bins[b])
        place = np.ix_(present_a, present_b)
        for total, scale in zip(sums, scales, strict=True):
            tile = pair_values(values[a], values[b], form=replace(form, scale=scale))
            tile = np.add.reduceat(tile, first_a, axis=0)
            tile = np.add.reduceat(tile, first_b, axis=1)
            total[place] += tile
            if a is not b:
                total[place[1].T, place[0].T] += tile.T
    return sums


def _runs(
    bins: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the bins in a block and where their runs start."""
    first = np.flatnonzero(np.diff(bins, prepend=bins[0] - 1))
    return bins[first], first


def _feature_sums(
    sums: FloatArray,
    rows: Rows,
    places: Places,
    project: Callable[[Any], FloatArray],
    channels: Sequence[Channel],
    *,
    single: bool,
) -> None:
    width = max((channel.n_frequencies for channel in channels), default=1)
    step = max(16, _BLOCK_NUMBERS // width)
    for start in range(0, places.n_positions, step):
        stop = min(start + step, places.n_positions)
        chosen = rows.select(places.rows(start, stop))
        phases = project(chosen)
        edges = np.clip(places.edges, start, stop) - start
        filled = np.flatnonzero(np.diff(edges))
        starts = edges[filled]
        for channel in channels:
            n, first = channel.n_frequencies, channel.start
            # Reduced to one turn in double precision; then single precision has a
            # feature right to 5e-7 for phases up to 1e8, and is many times faster.
            turns = phases[:, :n] * channel.multiplier
            turns -= np.rint(turns)
            angles = np.multiply(
                turns, 2.0 * np.pi, dtype=np.float32 if single else np.float64
            )
            for function, place in ((np.cos, first), (np.sin, first + n)):
                values = function(angles).astype(np.float64, copy=False)
                if single:
                    values = np.rint(values * FEATURE_STEPS) / FEATURE_STEPS
                sums[filled, place : place + n] += np.add.reduceat(values, starts, axis=0)


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
