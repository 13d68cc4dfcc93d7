"""Exact tests between sketches made apart, by matching the row counts of slots."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

import numpy as np

from fastmmd.nulls._packing import pack
from fastmmd.nulls.bins import BinGram

if TYPE_CHECKING:
    import numpy.typing as npt

    from fastmmd.nulls._arrays import FloatArray, IntArray

_MOST_SLOTS_IN_GROUP = 12
_CANDIDATES_TRIED = 6


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Matching:
    """Groups of slots, in both samples, that hold the same number of rows each.

    Attributes
    ----------
    groups_x, groups_y : ndarray of int
        Group of each slot of the first and the second sample, numbered from 0 within
        the sample; -1 for slots in no group.
    group_rows : int
        Rows in every group; 0 if nothing was matched.
    used_x, used_y : float
        Share of the rows of each sample that are in groups.
    """

    groups_x: IntArray = field(repr=False)
    groups_y: IntArray = field(repr=False)
    group_rows: int
    used_x: float
    used_y: float

    @property
    def n_groups_x(self) -> int:
        """Groups in the first sample."""
        return int(self.groups_x.max(initial=-1)) + 1

    @property
    def n_groups_y(self) -> int:
        """Groups in the second sample."""
        return int(self.groups_y.max(initial=-1)) + 1

    @property
    def suffices(self) -> bool:
        """Whether permuting the groups loses no power worth mentioning.

        Depends on counts alone, so that choosing between the exact test and an
        asymptotic one by it does not disturb the level of either.
        """
        k_x, k_y = self.n_groups_x, self.n_groups_y
        # The smaller sample is the one whose rows the power hangs on.
        used = self.used_x if k_x <= k_y else self.used_y
        enough_groups = k_x + k_y >= 40 or self.group_rows in {1, 2}
        return (
            used >= 0.9
            and min(k_x, k_y) >= 8
            and enough_groups
            and math.comb(k_x + k_y, k_x) >= 10_000
        )


def equalise(counts_x: npt.ArrayLike, counts_y: npt.ArrayLike, /) -> Matching:
    """Find groups of slots whose row counts add up to one common number.

    If rows were routed to slots at random then, given the counts, sums over groups of
    equal count are exchangeable, also between sketches that never shared a bin size.

    Parameters
    ----------
    counts_x, counts_y : array of int
        Rows in each slot of the two samples.

    Returns
    -------
    Matching
        The groups. A function of the counts alone.

    Examples
    --------
    >>> matching = equalise([2, 2, 2, 2], [1, 3, 1, 3])
    >>> matching.group_rows, matching.n_groups_x, matching.n_groups_y
    (4, 2, 2)
    """
    x = np.asarray(counts_x, dtype=np.int64)
    y = np.asarray(counts_y, dtype=np.int64)
    best, best_score = None, 0.0
    for target in _targets(x, y):
        groups_x, used_x = pack(x, target)
        groups_y, used_y = pack(y, target)
        k = min(groups_x.max(initial=-1), groups_y.max(initial=-1)) + 1
        score = min(used_x, used_y) * k / (k + 8)
        if score > best_score:
            best_score = score
            best = Matching(
                groups_x=groups_x,
                groups_y=groups_y,
                group_rows=target,
                used_x=used_x,
                used_y=used_y,
            )
    if best is None:
        nothing_x, nothing_y = np.full(x.shape, -1), np.full(y.shape, -1)
        return Matching(
            groups_x=nothing_x, groups_y=nothing_y, group_rows=0, used_x=0.0, used_y=0.0
        )
    return best


def _targets(x: IntArray, y: IntArray) -> list[int]:
    """Return the most promising numbers of rows in a group, best first."""
    x, y = x[x > 0], y[y > 0]
    if min(x.size, y.size) == 0:
        return []
    if x.mean() < y.mean():
        x, y = y, x
    mean_x, mean_y = float(x.mean()), float(y.mean())
    smaller = int(min(x.sum(), y.sum()))
    ranked: dict[int, float] = {}
    for slots_x in range(1, _MOST_SLOTS_IN_GROUP + 1):
        exact = slots_x * mean_x / mean_y
        for slots_y in {max(math.floor(exact), 1), math.ceil(exact)}:
            rows_x, rows_y = slots_x * mean_x, slots_y * mean_y
            target = round(0.5 * (rows_x + rows_y))
            if target > smaller:
                continue
            # Standard deviations by which typical groups of the two samples differ.
            mismatch = abs(rows_x - rows_y) / math.sqrt(rows_x + rows_y)
            groups = min(x.size / slots_x, y.size / slots_y)
            left_over = (smaller % target) / smaller
            # A group of one slot can only be hit by chance, one of three nearly always.
            closable = {1: 0.6, 2: 0.9}.get(slots_x, 1.0)
            rank = groups / (groups + 8) * (1 - left_over) * closable
            rank *= math.exp(-0.35 * mismatch**2)
            ranked[target] = max(rank, ranked.get(target, 0.0))
    return sorted(ranked, key=lambda target: -ranked[target])[:_CANDIDATES_TRIED]


def match_bins(bins: BinGram, /) -> Matching:
    """Match the bins of both samples by their counts; see `equalise`."""
    return equalise(bins.counts[bins.from_x], bins.counts[~bins.from_x])


def group_bins(bins: BinGram, matching: Matching, /) -> BinGram:
    """Add up the bins of each group, and what is in no group in one fixed bin a sample.

    Parameters
    ----------
    bins : BinGram
        Bins as they came.
    matching : Matching
        Groups of the bins, from `match_bins`.

    Returns
    -------
    BinGram
        Movable groups, first those of x, then up to two bins that stay.

    Examples
    --------
    >>> import numpy as np
    >>> bins = BinGram.from_bins(np.eye(5), [1, 3, 2, 2, 1], [1, 1, 0, 0, 0])
    >>> grouped = group_bins(bins, match_bins(bins))
    >>> grouped.counts, grouped.movable
    (array([4, 4, 1]), array([ True,  True, False]))
    """
    k_x, k_y = matching.n_groups_x, matching.n_groups_y
    place = np.empty(bins.n_bins, dtype=np.int64)
    for member, groups, first, rest in (
        (bins.from_x, matching.groups_x, 0, k_x + k_y),
        (~bins.from_x, matching.groups_y, k_x, k_x + k_y + 1),
    ):
        if groups.shape != (np.count_nonzero(member),):
            msg = (
                "`matching` must have one group for each bin; "
                f"got {groups.size} for {np.count_nonzero(member)} bins."
            )
            raise ValueError(msg)
        place[member] = np.where(groups >= 0, groups + first, rest)
    adding: FloatArray = np.zeros((k_x + k_y + 2, bins.n_bins))
    adding[place, np.arange(bins.n_bins)] = 1.0
    return BinGram.from_bins(
        adding @ bins.grams @ adding.T,
        (adding @ bins.counts).astype(np.int64),
        np.repeat((True, False, True, False), (k_x, k_y, 1, 1)),
        np.repeat((True, False), (k_x + k_y, 2)),
    )
