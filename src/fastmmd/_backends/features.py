"""What sums of features are made of: which rows, which frequencies, which kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from fastmmd._typing import FloatArray


@final
@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Which rows to go through, and the bin of each.

    Parameters
    ----------
    edges : ndarray of int64
        Positions ``edges[b]`` to ``edges[b + 1]`` belong to bin ``b``.
    order : ndarray of int64, optional
        The row at each position; by default position p is row p.
    """

    edges: npt.NDArray[np.int64]
    order: npt.NDArray[np.int64] | None = None

    @property
    def n_positions(self) -> int:
        """How many rows there are in all bins."""
        return int(self.edges[-1])

    def rows(self, start: int, stop: int, /) -> Any:
        """Return what to index rows with for these positions."""
        return slice(start, stop) if self.order is None else self.order[start:stop]


@final
@dataclass(frozen=True, slots=True)
class Channel:
    """One kernel of those that share a projection.

    Parameters
    ----------
    multiplier : float
        Its phases, in turns, are the projection times this.
    n_frequencies : int
        It uses the first so many frequencies.
    start : int
        Where its cosines start in a row of sums; its sines follow them.
    """

    multiplier: float
    n_frequencies: int
    start: int


@final
@dataclass(frozen=True, slots=True, eq=False)
class FastfoodBlocks:
    """The diagonals and permutations of stacked Fastfood blocks, (n_blocks, padded) each.

    A block is ``S H G P H B / sqrt(padded)``.

    Parameters
    ----------
    signs : ndarray
        The diagonal of ``B``: +1 or -1.
    order : ndarray of int64
        The permutation ``P``.
    normals : ndarray
        The diagonal of ``G``, standard normal.
    scales : ndarray
        The diagonal of ``S / sqrt(padded)``.
    n_frequencies : int
        Frequencies kept; they end in the last block.
    n_columns : int
        Columns of the data, padded with zeros.
    """

    signs: FloatArray
    order: npt.NDArray[np.int64]
    normals: FloatArray
    scales: FloatArray
    n_frequencies: int
    n_columns: int


SINGLE_TURNS = 32.0
"""Rows whose typical phase is larger are computed in double precision, row by row.

A phase in single precision is off by about 1e-7 of itself, so at the limit by 2e-5."""

_MOST_TURNS = 2.0**20
"""No phase in single precision may be larger: its range reduction would fail."""

_LARGEST_SINGLE = 1e18
"""Numbers beyond this, or below its inverse, stay in double precision: products of two of
them do not overflow in single precision."""


def single_radius(
    typical: float, largest: float, channels: Sequence[Channel], /
) -> float:
    """Return how far from the center rows may be for phases in single precision.

    Parameters
    ----------
    typical : float
        Root mean square of a frequency's coordinate.
    largest : float
        Length of the longest frequency.
    channels : sequence of Channel
        The kernels, at least one.

    Returns
    -------
    float
        A distance; negative if single precision cannot serve at all.
    """
    multipliers = [channel.multiplier for channel in channels]
    sizes = (typical, largest, min(multipliers), max(multipliers))
    if not all(1.0 / _LARGEST_SINGLE < size < _LARGEST_SINGLE for size in sizes):
        return -1.0
    radius = min(SINGLE_TURNS / typical, _MOST_TURNS / largest) / max(multipliers)
    return min(radius, _LARGEST_SINGLE)
