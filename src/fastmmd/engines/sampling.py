"""The pooled sample of `fastmmd.tables.sample`, drawn by many workers.

Every row has 64 random bits, a hash of its place, and the rows with the smallest are the
sample. The smallest of the smallest are the smallest: each worker keeps those of its piece,
merging keeps those of several, and the outcome is the sample that one machine draws.

Where the number of rows is known beforehand, so is, nearly, how small the bits must be. Then
a worker keeps few rows, and does not even read a part of which no row can be in the sample.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

import numpy as np
import pyarrow as pa

from fastmmd.engines.identity import row_numbers
from fastmmd.engines.tasks import Task
from fastmmd.engines.work import Work
from fastmmd.sketch.routing import hash_numbers, part_id
from fastmmd.tables.ahead import read_ahead
from fastmmd.tables.sample import Sample
from fastmmd.tables.source import batch_rows_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from fastmmd.tables import Part, Source

_KEY, _PLACE, _ROW = "fastmmd key", "fastmmd place", "fastmmd row"
_OWN = (_KEY, _PLACE, _ROW)
_COUNTS = b"fastmmd counts"
_HASHED_AT_ONCE = 2**20


@final
@dataclass(frozen=True, slots=True)
class Sampling(Work):
    """Find the rows of each piece with the smallest random bits.

    Parameters
    ----------
    columns : tuple of str
        Columns of the sample.
    size : int
        Rows to keep.
    stream : bytes
        What the bits are a hash of, besides the name of a part and the number of a row.
    below : int, optional
        No row with bits above this is wanted.
    shell : Source, optional
        The files' source without its files.
    key : str, optional
        The column that rows of a data frame are known by.
    """

    columns: tuple[str, ...]
    size: int
    stream: bytes
    below: int | None = None
    shell: Source | None = None
    key: str | None = None

    def on_files(self, task: str, /) -> bytes:
        assert self.shell is not None
        own = Task.from_json(self.shell, task)
        source, kept = own.source, _Kept(self.size, self.below)
        wanted = []
        for place, part in enumerate(own.parts, own.first):
            if source.condition is None and self._none_wanted(part):
                kept.n_rows += part.n_rows or 0
                kept.n_read += part.n_rows or 0
            else:
                wanted.append((place, part))
        parts = [part for _, part in wanted]
        rows = batch_rows_for(len(self.columns))
        for i, batch in read_ahead(source, parts, self.columns, batch_rows=rows):
            if batch is not None:
                place, part = wanted[i]
                keys = hash_numbers(self._stream_of(part.name), batch.row_numbers)
                kept.add(batch.data, keys, place, batch.row_numbers)
                kept.n_rows += batch.data.num_rows
                kept.n_read += batch.n_read
        return kept.to_bytes()

    def on_batches(
        self,
        batches: Iterable[pa.RecordBatch],
        /,
        *,
        part: str | None,
        place: int = 0,
        first_row: int = 0,
    ) -> bytes:
        kept = _Kept(self.size, self.below)
        stream = self._stream_of(None if self.key else part)
        for batch in batches:
            numbers = row_numbers(batch, self.key, first_row)
            keys = hash_numbers(stream, numbers)
            # By their keys, rows have an order that does not depend on the pieces.
            kept.add(
                batch.select(list(self.columns)), keys, 0 if self.key else place, numbers
            )
            first_row += batch.num_rows
            kept.n_rows += batch.num_rows
            kept.n_read += batch.num_rows
        return kept.to_bytes()

    def merge(self, outcomes: Iterable[bytes], /) -> bytes:
        kept = _Kept(self.size, self.below)
        for data in outcomes:
            table, n_rows, n_read = _read(data)
            kept.add_table(table)
            kept.n_rows += n_rows
            kept.n_read += n_read
        return kept.to_bytes()

    def _stream_of(self, part: str | None) -> bytes:
        return self.stream if part is None else part_id(self.stream, part)

    def _none_wanted(self, part: Part) -> bool:
        if self.below is None or part.n_rows is None:
            return False
        stream, end = self._stream_of(part.name), part.first_row + part.n_rows
        for first in range(part.first_row, end, _HASHED_AT_ONCE):
            last = min(first + _HASHED_AT_ONCE, end)
            keys = hash_numbers(stream, np.arange(first, last, dtype=np.uint64))
            if (keys <= np.uint64(self.below)).any():
                return False
        return True


def likely_bound(size: int, n_rows: int, /) -> int | None:
    """Return a bound that `size` of `n_rows` random numbers of 64 bits are surely below.

    As sure as eight standard deviations are: whoever uses it counts afterwards.
    """
    expected = size + 8 * math.sqrt(size) + 64
    return None if expected >= n_rows else int(2**64 * (expected / n_rows)) - 1


def pooled_sample(
    outcomes: Sequence[bytes],
    columns: Sequence[str],
    size: int,
    /,
    *,
    schemas: Sequence[pa.Schema | None],
) -> Sample:
    """Return the sample of several sources together, from that of each.

    A schema of None is that of the sample: data frames tell no better.
    """
    read = [_read(data) for data in outcomes]
    keys = np.concatenate([_numbers(table, _KEY) for table, _, _ in read])
    largest = _largest_wanted(keys, size)
    tables, types = [], []
    for (table, _, _), schema in zip(read, schemas, strict=True):
        chosen = np.flatnonzero(_numbers(table, _KEY) <= largest)
        # In the order of the data, as one machine would meet them.
        order = np.lexsort(
            (_numbers(table, _ROW)[chosen], _numbers(table, _PLACE)[chosen])
        )
        present = [name for name in columns if name in table.schema.names]
        rows = table.select(present).take(chosen[order])
        tables.append([rows])
        types.append(rows.schema if schema is None else schema)
    return Sample(
        tuple(tables),
        tuple(n_rows for _, n_rows, _ in read),
        tuple(n_read for _, _, n_read in read),
        tuple(types),
    )


def n_kept(outcome: bytes, /) -> int:
    """Return how many rows an outcome holds."""
    return int(_read(outcome)[0].num_rows)


@final
@dataclass(slots=True, eq=False)
class _Kept:
    """The rows with the smallest bits so far."""

    size: int
    below: int | None
    n_rows: int = 0
    n_read: int = 0
    tables: list[pa.Table] = field(default_factory=list)
    n_kept: int = 0

    def add(
        self,
        batch: pa.RecordBatch,
        keys: npt.NDArray[np.uint64],
        place: int,
        numbers: npt.NDArray[np.uint64],
    ) -> None:
        chosen = (
            np.arange(len(keys))
            if self.below is None
            else np.flatnonzero(keys <= np.uint64(self.below))
        )
        if len(chosen) or not self.tables:
            taken = batch.take(pa.array(chosen))
            columns = [
                array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
                for array in taken.columns
            ]
            own = [keys[chosen], np.full(len(chosen), place, np.int64), numbers[chosen]]
            names = [*batch.schema.names, *_OWN]
            arrays = [*columns, *map(pa.array, own)]
            self.add_table(pa.Table.from_arrays(arrays, names=names))

    def add_table(self, table: pa.Table) -> None:
        if table.num_rows or not self.tables:
            self.tables.append(table)
            self.n_kept += table.num_rows
        if self.n_kept > 2 * self.size:
            self.shrink()

    def shrink(self) -> None:
        if not self.tables:
            return
        table = pa.concat_tables(self.tables, promote_options="permissive")
        keys = _numbers(table, _KEY)
        if len(keys) > self.size:
            largest = _largest_wanted(keys, self.size)
            self.below = int(largest)
            table = table.take(np.flatnonzero(keys <= largest))
        self.tables, self.n_kept = [table.combine_chunks()], table.num_rows

    def to_bytes(self) -> bytes:
        self.shrink()
        table = self.tables[0] if self.tables else pa.table({})
        counts = {_COUNTS: json.dumps([self.n_rows, self.n_read])}
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema.with_metadata(counts)) as writer:
            writer.write_table(table)
        return sink.getvalue().to_pybytes()


def _read(data: bytes) -> tuple[pa.Table, int, int]:
    with pa.ipc.open_stream(data) as reader:
        table = reader.read_all()
    n_rows, n_read = json.loads(table.schema.metadata[_COUNTS])
    if not table.num_columns:
        table = pa.table({name: np.empty(0, np.uint64) for name in _OWN})
    return table.replace_schema_metadata(None), n_rows, n_read


def _numbers(table: pa.Table, name: str) -> npt.NDArray[Any]:
    return table.column(name).to_numpy()


def _largest_wanted(keys: npt.NDArray[np.uint64], size: int) -> np.uint64:
    if len(keys) <= size:
        return np.uint64(np.iinfo(np.uint64).max)
    return np.uint64(np.partition(keys, size - 1)[size - 1])
