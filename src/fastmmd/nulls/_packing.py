"""Subset sums: pack slots into groups that hold an exact number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

if TYPE_CHECKING:
    from fastmmd.nulls._arrays import IntArray

_FAILURES_ALLOWED = 6
# Up to this mean count two slots close nearly every gap; above, three are needed.
_PAIRS_SUFFICE = 1000


def pack(counts: IntArray, target: int, /) -> tuple[IntArray, float]:
    """Return the group of each slot, -1 for none, and the share of rows in groups.

    Slots are taken in an order that is random, but the same for the same counts, until
    the gap can be closed by at most three slots found by their count. Taking extreme
    counts first was tried and lost up to a third of the rows where counts are small:
    the slots left at the end are then all alike and cannot make up an odd sum.
    """
    groups = np.full(counts.shape, -1, dtype=np.int64)
    stock = _Stock(counts, target)
    n_groups = failures = 0
    while stock.by_count and failures < _FAILURES_ALLOWED:
        group = stock.next_group()
        if group is None:
            failures += 1
            continue
        failures = 0
        groups[group] = n_groups
        n_groups += 1
    total = max(int(counts.sum()), 1)
    return groups, int(counts[groups >= 0].sum()) / total


@final
class _Stock:
    """Unused slots, by count and in a shuffled order."""

    __slots__ = ("_counts", "_order", "_rng", "_room", "_target", "_used", "by_count")

    def __init__(self, counts: IntArray, target: int) -> None:
        usable = np.flatnonzero((counts > 0) & (counts <= target))
        mean = float(counts[usable].mean()) if usable.size else 1.0
        self._rng = np.random.default_rng([*counts.tolist(), target])
        self._counts: list[int] = counts.tolist()
        self._target = target
        self._room = (2.5 if mean < _PAIRS_SUFFICE else 3.5) * mean
        self._used: set[int] = set()
        self._order: list[int] = self._rng.permutation(usable).tolist()
        self.by_count: dict[int, list[int]] = {}
        for slot in self._order:
            self.by_count.setdefault(self._counts[slot], []).append(slot)

    def next_group(self) -> list[int] | None:
        """Take a group out of the stock, or none if its gap cannot be closed."""
        taken: list[int] = []
        gap = self._target
        while gap > self._room and self._order:
            slot = self._order.pop()
            if slot in self._used:
                continue
            if self._counts[slot] > gap:
                self._order.append(slot)
                break
            self._take(slot)
            taken.append(slot)
            gap -= self._counts[slot]
        closing = self._close(gap)
        if closing is None:
            for slot in taken:
                self._used.discard(slot)
                self.by_count.setdefault(self._counts[slot], []).append(slot)
            left = [slot for slots in self.by_count.values() for slot in slots]
            self._order = self._rng.permutation(np.array(left, dtype=np.int64)).tolist()
            return None
        for count in closing:
            slot = self.by_count[count][-1]
            self._take(slot)
            taken.append(slot)
        return taken

    def _take(self, slot: int) -> None:
        slots = self.by_count[self._counts[slot]]
        slots.remove(slot)
        if not slots:
            del self.by_count[self._counts[slot]]
        self._used.add(slot)

    def _close(self, gap: int) -> tuple[int, ...] | None:
        if gap == 0:
            return ()
        if gap in self.by_count:
            return (gap,)
        return self._pair(gap, ()) or self._triple(gap)

    def _pair(self, gap: int, used: tuple[int, ...]) -> tuple[int, ...] | None:
        stock = self.by_count
        for one in stock:
            if gap - one in stock:
                needed = (*used, one, gap - one)
                if all(len(stock[count]) >= needed.count(count) for count in needed):
                    return needed
        return None

    def _triple(self, gap: int) -> tuple[int, ...] | None:
        for one in self.by_count:
            found = self._pair(gap - one, (one,)) if one < gap else None
            if found is not None:
                return found
        return None
