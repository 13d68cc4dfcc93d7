"""A random sample of rows of one or several sources, in one pass and little memory.

Every row gets 64 random bits, a hash of its place, and the rows with the smallest are the
sample. So each set of so many rows of the pooled data is equally likely, without knowing
beforehand how many rows there are, and how many come from each source is a hypergeometric
draw. That matters: constants and kernels chosen from a sample that showed which source a row
is from, be it by taking fixed shares, would spoil the exact level of a permutation test.
"""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

import numpy as np
import pyarrow as pa

from fastmmd.sketch.routing import STREAM_BYTES, hash_numbers, part_id
from fastmmd.tables.ahead import read_ahead
from fastmmd.tables.progress import Progress, Report
from fastmmd.tables.source import batch_rows_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from fastmmd.tables.part import Batch
    from fastmmd.tables.source import Source

SAMPLE_ROWS = 10_000
"""Rows that constants and kernels are chosen from."""

_SAMPLE_VALUES = 2**22
"""Values of a sample: of a table with thousands of columns fewer rows are kept."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A sample of several sources.

    Parameters
    ----------
    tables : tuple of list of pyarrow.Table
        For each source the rows that were drawn from it, in the order of its parts.
    n_rows, n_read : tuple of int
        For each source the number of its rows, after and before its filter.
    schemas : tuple of pyarrow.Schema, optional
        For each source the types of its columns, if they are known only now.
    """

    tables: tuple[list[pa.Table], ...]
    n_rows: tuple[int, ...]
    n_read: tuple[int, ...]
    schemas: tuple[pa.Schema, ...] | None = None


def sample_size(n_columns: int, /) -> int:
    """Return how many rows to draw from a table with so many columns."""
    return max(1000, min(SAMPLE_ROWS, _SAMPLE_VALUES // max(n_columns, 1)))


def sample_stream(seed: int, place: int, /) -> bytes:
    """Return what the random bits of the rows of one source are a hash of."""
    name = f"sample {seed} {place}".encode()
    return hashlib.sha256(name).digest()[:STREAM_BYTES]


def draw_sample(
    sources: Sequence[Source],
    columns: Sequence[str],
    size: int,
    /,
    *,
    seed: int,
    progress: Report | None = None,
    state: SampleState | None = None,
    save: Callable[[SampleState], object] | None = None,
) -> Sample:
    """Return a sample of `size` rows of all sources together.

    Given a `state` of the same call it goes on from there; `save` is called with the state
    after each batch.
    """
    state = SampleState(Smallest(size)) if state is None else state
    rows = batch_rows_for(len(columns))
    for place in range(state.place, len(sources)):
        source, stream = sources[place], sample_stream(seed, place)
        parts = source.parts()
        batches = read_ahead(
            source,
            parts,
            columns,
            batch_rows=rows,
            first_part=state.part,
            skip=state.row,
        )
        for i, batch in batches:
            if batch is None:
                state.finish_part()
            else:
                part = parts[i].name
                key = stream if part is None else part_id(stream, part)
                state.add(hash_numbers(key, batch.row_numbers), batch)
            if save is not None:
                save(state)
            if progress is not None:
                total = source.n_rows
                progress(
                    Progress(
                        "sampling",
                        source.name,
                        state.n_read,
                        total,
                        state.part,
                        len(parts),
                    )
                )
        state.finish_source()
    rows_used, rows_read = zip(*state.counts, strict=True) if state.counts else ((), ())
    return Sample(state.kept.tables(len(sources)), rows_used, rows_read)


@final
@dataclass(slots=True, eq=False)
class SampleState:
    """How far drawing a sample has come; what a checkpoint of it holds.

    Parameters
    ----------
    kept : Smallest
        The sample of the rows seen so far.
    place, part, row : int
        Number of the source at hand, of its part at hand, and rows read of that part.
    n_rows, n_read : int
        Rows of the source at hand that were seen, after and before its filter.
    counts : list of pairs of int
        The same two numbers of each source that is finished.
    """

    kept: Smallest
    place: int = 0
    part: int = 0
    row: int = 0
    n_rows: int = 0
    n_read: int = 0
    counts: list[tuple[int, int]] = field(default_factory=list)

    def add(self, keys: npt.NDArray[np.uint64], batch: Batch, /) -> None:
        """Take a batch of the part at hand."""
        self.kept.add(self.place, keys, batch)
        self.row += batch.n_read
        self.n_read += batch.n_read
        self.n_rows += batch.data.num_rows

    def finish_part(self) -> None:
        """Go to the next part."""
        self.part += 1
        self.row = 0

    def finish_source(self) -> None:
        """Go to the next source."""
        self.counts.append((self.n_rows, self.n_read))
        self.place += 1
        self.part = self.row = self.n_rows = self.n_read = 0


@final
class Smallest:
    """The rows with the smallest keys so far."""

    def __init__(
        self, size: int, kept: Sequence[tuple[int, npt.NDArray[np.uint64], Any]] = ()
    ) -> None:
        self.size = size
        self._below = np.iinfo(np.uint64).max
        self._kept = list(kept)
        self._n_kept = sum(len(keys) for _, keys, _ in self._kept)

    def add(self, place: int, keys: npt.NDArray[np.uint64], batch: Batch) -> None:
        """Take rows of the source at some place, with their keys."""
        chosen = np.flatnonzero(keys <= self._below)
        if not len(chosen):
            return
        self._kept.append((place, keys[chosen], _copied(batch.data, chosen)))
        self._n_kept += len(chosen)
        if self._n_kept > 2 * self.size:
            self._shrink()

    def tables(self, n_sources: int) -> tuple[list[pa.Table], ...]:
        """Return the rows of each source, in the order in which they came."""
        self._shrink()
        return tuple(
            [rows for place, _, rows in self._kept if place == i]
            for i in range(n_sources)
        )

    def compacted(self) -> list[tuple[int, npt.NDArray[np.uint64], pa.Table]]:
        """Return places, keys and rows in few tables: what makes the same object again."""
        self._shrink()
        runs = itertools.groupby(self._kept, key=lambda own: (own[0], own[2].schema))
        self._kept = [_joined(list(run)) for _, run in runs]
        return self._kept

    def _shrink(self) -> None:
        if self._n_kept <= self.size:
            return
        keys = np.concatenate([keys for _, keys, _ in self._kept])
        self._below = np.partition(keys, self.size - 1)[self.size - 1]
        kept = []
        for place, own, rows in self._kept:
            chosen = np.flatnonzero(own <= self._below)
            if len(chosen) == len(own):
                kept.append((place, own, rows))
            elif len(chosen):
                kept.append((place, own[chosen], rows.take(chosen)))
        self._kept = kept
        self._n_kept = sum(len(own) for _, own, _ in kept)


def _joined(
    run: Sequence[tuple[int, npt.NDArray[np.uint64], pa.Table]],
) -> tuple[int, npt.NDArray[np.uint64], pa.Table]:
    """Return one table for several of the same source and the same types."""
    keys = np.concatenate([keys for _, keys, _ in run])
    return run[0][0], keys, pa.concat_tables([rows for _, _, rows in run])


def _copied(batch: pa.RecordBatch, rows: Any) -> pa.Table:
    """Return some rows in memory of their own: a slice would keep the whole batch."""
    taken = batch.take(pa.array(rows))
    arrays = [
        array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
        for array in taken.columns
    ]
    return pa.Table.from_arrays(arrays, names=batch.schema.names)
