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

    from fastmmd.nulls._arrays import BoolArray, FloatArray, IntArray

_MOST_SLOTS_IN_GROUP = 12
_CANDIDATES_TRIED = 6

_FEWEST_GROUPS = 8
_FEWEST_RELABELLINGS = 10_000
_MOST_POWER_LOST = 0.04


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
        return (
            min(k_x, k_y) >= _FEWEST_GROUPS
            and math.comb(k_x + k_y, k_x) >= _FEWEST_RELABELLINGS
            and self.power_lost <= _MOST_POWER_LOST
        )

    @property
    def power_lost(self) -> float:
        """About how much power it costs to relabel these groups instead of all rows.

        As simulated: 0.025 and 0.01 with 8 and 33 groups in the smaller sample; 0.03 and
        0.08 with 0.8 and 0.6 of the rows of two equal samples in groups; 0.035 and 0.01
        where only 3 and 10 times the rows of the smaller sample, of 40, take part in the
        larger one.
        """
        (few, used), (many, used_there) = sorted(
            [(self.n_groups_x, self.used_x), (self.n_groups_y, self.used_y)]
        )
        if few == 0:
            return 1.0
        return (
            0.2 / few + 0.25 * (1.0 - used) ** 2 + 0.1 * few / many * (1.0 - used_there)
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
    nothing = [np.full(counts.shape, -1) for counts in (x, y)]
    best = Matching(
        groups_x=nothing[0], groups_y=nothing[1], group_rows=0, used_x=0.0, used_y=0.0
    )
    for target in _targets(x, y):
        groups_x, used_x = _pack_best(x, target)
        groups_y, used_y = _pack_best(y, target)
        found = Matching(
            groups_x=groups_x,
            groups_y=groups_y,
            group_rows=target,
            used_x=used_x,
            used_y=used_y,
        )
        if found.power_lost < best.power_lost:
            best = found
    return best


def _pack_best(counts: IntArray, target: int) -> tuple[IntArray, float]:
    """Pack all slots, or all but the extreme ones; whichever uses more rows.

    Where the sizes of the samples are some percent apart no group is made of typical slots:
    those of the smaller sample are to hold more rows than usual. Packing blindly uses up the
    middle and ends with slots that fit nowhere. Left out from the start, the smallest ones
    leave a rest of which nearly every slot finds a group.
    """
    plain = pack(counts, target)
    kept = _without_extremes(counts, target)
    if kept.all():
        return plain
    groups, _ = pack(np.where(kept, counts, 0), target)
    used = int(counts[groups >= 0].sum()) / max(int(counts.sum()), 1)
    return (groups, used) if used > plain[1] else plain


def _without_extremes(counts: IntArray, target: int) -> BoolArray:
    """Return the slots to keep so that a group of typical ones holds `target` rows."""
    order = np.argsort(counts, kind="stable")
    order = order[counts[order] > 0]
    mean = counts[order].mean()
    wanted = target / max(round(target / mean), 1)
    sign = 1 if mean > wanted else -1
    order = order[::sign]
    # The mean of the first k in this order, for every k, comes nearest to what is wanted.
    means = np.cumsum(counts[order]) / np.arange(1, order.size + 1)
    enough = np.flatnonzero(sign * (means - wanted) <= 0)
    kept = np.zeros(counts.shape, dtype=np.bool_)
    kept[order[: (enough[-1] + 1 if enough.size else order.size)]] = True
    return kept


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
