"""How many bins, and how many rows in each.

Bins that may be relabelled hold exactly the same number of rows, so that relabelling keeps
the sample sizes. Rows that fill no bin stay where they are: they count in the statistic but
are not moved, which keeps the level exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

MAX_BINS = 256
MAX_ROWS_AS_BINS = 512
"""Up to this many rows in all, every row is a bin of its own."""

_FEWEST_BINS = 8
_MOST_BINS_OF_SMALL_SAMPLE = 16


@final
@dataclass(frozen=True, slots=True)
class Layout:
    """Bins of equal size.

    Parameters
    ----------
    rows_per_bin : int
        Rows in every movable bin.
    n_bins : tuple of int
        Movable bins of each sample.
    """

    rows_per_bin: int
    n_bins: tuple[int, ...]


def choose_layout(sizes: Sequence[int], /, *, by_rows: bool = False) -> Layout:
    """Return the bins for samples of these sizes.

    At most 256 bins, at least 8 in the smallest sample. If that sample is so small that
    bins of common size would be too few, its rows make 8 to 31 bins and only a part of the
    larger samples is binned. Very many samples have at least two bins each.
    """
    total, smallest = sum(sizes), min(sizes)
    if by_rows or total <= MAX_ROWS_AS_BINS:
        return Layout(1, tuple(sizes))
    rows = math.ceil(total / MAX_BINS)
    if smallest // rows >= _FEWEST_BINS:
        # A slightly larger bin may leave fewer rows of the smallest sample over.
        candidates = range(rows, min(rows * 5 // 4, smallest // _FEWEST_BINS) + 1)
        rows = min(candidates, key=lambda c: smallest % c)
        return Layout(rows, tuple(n // rows for n in sizes))
    most = min(_MOST_BINS_OF_SMALL_SAMPLE, smallest)
    fewest = min(_FEWEST_BINS, smallest)
    rows = min(
        (smallest // k for k in range(most, fewest - 1, -1)), key=lambda c: smallest % c
    )
    used = smallest // rows
    share = max(2, (MAX_BINS - used) // max(1, len(sizes) - 1))
    place = sizes.index(smallest)
    return Layout(
        rows,
        tuple(used if i == place else min(n // rows, share) for i, n in enumerate(sizes)),
    )


def bin_edges(n_rows: int, n_bins: int, rows_per_bin: int, /) -> npt.NDArray[np.int64]:
    """Return where bins start and end among the shuffled rows; the last is left over."""
    edges = np.arange(n_bins + 1, dtype=np.int64) * rows_per_bin
    return edges if edges[-1] == n_rows else np.append(edges, n_rows)
