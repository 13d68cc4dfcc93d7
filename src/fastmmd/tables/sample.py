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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
import pyarrow as pa

from fastmmd.sketch.routing import STREAM_BYTES, hash_numbers, part_id
from fastmmd.tables.ahead import read_ahead
from fastmmd.tables.progress import Progress, Report
from fastmmd.tables.source import batch_rows_for

if TYPE_CHECKING:
    from collections.abc import Sequence

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
) -> Sample:
    """Return a sample of `size` rows of all sources together."""
    drawn = _Smallest(size)
    rows_used, rows_read = [], []
    rows = batch_rows_for(len(columns))
    for place, source in enumerate(sources):
        stream = sample_stream(seed, place)
        parts = source.parts()
        n_read = n_used = 0
        for i, batch in read_ahead(source, parts, columns, batch_rows=rows):
            if batch is not None:
                part = parts[i].name
                key = stream if part is None else part_id(stream, part)
                drawn.add(place, hash_numbers(key, batch.row_numbers), batch)
                n_read += batch.n_read
                n_used += batch.data.num_rows
            if progress is not None:
                done = i + (batch is None)
                progress(
                    Progress(
                        "sampling", source.name, n_read, source.n_rows, done, len(parts)
                    )
                )
        rows_used.append(n_used)
        rows_read.append(n_read)
    return Sample(drawn.tables(len(sources)), tuple(rows_used), tuple(rows_read))


@final
class _Smallest:
    """The rows with the smallest keys so far."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._below = np.iinfo(np.uint64).max
        self._kept: list[tuple[int, npt.NDArray[np.uint64], Any]] = []
        self._n_kept = 0

    def add(self, place: int, keys: npt.NDArray[np.uint64], batch: Batch) -> None:
        chosen = np.flatnonzero(keys <= self._below)
        if not len(chosen):
            return
        self._kept.append((place, keys[chosen], _copied(batch.data, chosen)))
        self._n_kept += len(chosen)
        if self._n_kept > 2 * self._size:
            self._shrink()

    def tables(self, n_sources: int) -> tuple[list[pa.Table], ...]:
        self._shrink()
        return tuple(
            [rows for place, _, rows in self._kept if place == i]
            for i in range(n_sources)
        )

    def _shrink(self) -> None:
        if self._n_kept <= self._size:
            return
        keys = np.concatenate([keys for _, keys, _ in self._kept])
        self._below = np.partition(keys, self._size - 1)[self._size - 1]
        kept = []
        for place, own, rows in self._kept:
            chosen = np.flatnonzero(own <= self._below)
            if len(chosen) == len(own):
                kept.append((place, own, rows))
            elif len(chosen):
                kept.append((place, own[chosen], rows.take(chosen)))
        self._kept = kept
        self._n_kept = sum(len(own) for _, own, _ in kept)


def _joined(tables: list[pa.Table]) -> list[pa.Table]:
    """Return few tables for many: one for each run of tables of the same types."""
    runs = itertools.groupby(tables, key=lambda table: table.schema)
    return [pa.concat_tables(run).combine_chunks() for _, run in runs]


def _copied(batch: pa.RecordBatch, rows: Any) -> pa.Table:
    """Return some rows in memory of their own: a slice would keep the whole batch."""
    taken = batch.take(pa.array(rows))
    arrays = [
        array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
        for array in taken.columns
    ]
    return pa.Table.from_arrays(arrays, names=batch.schema.names)
