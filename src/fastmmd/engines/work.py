"""What a worker does, whatever the engine: a piece of data to bytes, bytes + bytes to bytes.

There are two kinds of work, sketching and sampling. Both give the same bytes for the same
piece each time they run, and both merge in any order and grouping: a task that is lost and
run again, run twice, or finished late changes nothing.
"""

from __future__ import annotations

import abc
import functools
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from fastmmd._threads import threads
from fastmmd.engines.identity import row_numbers
from fastmmd.engines.tasks import Task
from fastmmd.sketch import Sketch
from fastmmd.tables.checkpoint import State, empty_copy
from fastmmd.tables.part import rebatch
from fastmmd.tables.sketching import run_sketch, schema_of
from fastmmd.tables.source import batch_rows_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy.typing as npt
    import pyarrow as pa

    from fastmmd._typing import FloatArray
    from fastmmd.tables import Schema, Source


class Work(abc.ABC):
    """Something to do with each piece of a data set; small, as it is sent to all workers."""

    __slots__ = ()

    @abc.abstractmethod
    def on_files(self, task: str, /) -> bytes:
        """Return the outcome for the parts of files that a `Task` names."""

    @abc.abstractmethod
    def on_batches(
        self,
        batches: Iterable[pa.RecordBatch],
        /,
        *,
        part: str | None,
        place: int = 0,
        first_row: int = 0,
    ) -> bytes:
        """Return the outcome for a piece of a data frame.

        Parameters
        ----------
        batches : iterable of pyarrow.RecordBatch
            The rows.
        part : str or None
            Name of the piece, by which and by their number its rows are known.
        place : int, default=0
            Number of the piece among all.
        first_row : int, default=0
            Number of the first row.
        """

    @abc.abstractmethod
    def merge(self, outcomes: Iterable[bytes], /) -> bytes:
        """Return the outcome for several pieces together."""


@final
@dataclass(frozen=True, slots=True)
class Sketching(Work):
    """Make the sketch of each piece.

    Parameters
    ----------
    empty : bytes
        A sketch without rows: kernels and a seed. Frequencies are drawn by each worker.
    shell : Source, optional
        The files' source without its files.
    key : str, optional
        The column that rows of a data frame are known by.
    n_threads : int, default=1
        Threads of a worker: engines run one task on each processor.
    like : bool, default=False
        Whether the user gave the sketch that this one is to be comparable with.
    """

    empty: bytes
    shell: Source | None = None
    key: str | None = None
    n_threads: int = 1
    like: bool = False

    def on_files(self, task: str, /) -> bytes:
        assert self.shell is not None
        own = Task.from_json(self.shell, task)
        empty, _ = revived(self.empty)
        state = State(empty_copy(empty), empty_copy(empty))
        run_sketch(
            own.source,
            state,
            n_threads=self.n_threads,
            parts=own.parts,
            like=self.like,
        )
        return state.total.to_bytes()

    def on_batches(
        self,
        batches: Iterable[pa.RecordBatch],
        /,
        *,
        part: str | None,
        place: int = 0,
        first_row: int = 0,
    ) -> bytes:
        empty, schema = revived(self.empty)
        total = empty_copy(empty)
        part = None if self.key else part
        n_rows = batch_rows_for(empty.n_columns)
        with threads(self.n_threads):
            for batch in rebatch(iter(batches), n_rows):
                numbers = row_numbers(batch, self.key, first_row)
                if schema is None:
                    total.update(
                        _as_rows(batch, self.key), part=part, row_numbers=numbers
                    )
                else:
                    add_batch(
                        total,
                        schema,
                        batch,
                        numbers,
                        part=part,
                        first_row=first_row,
                        like=self.like,
                    )
                first_row += batch.num_rows
        return total.to_bytes()

    def merge(self, outcomes: Iterable[bytes], /) -> bytes:
        return merge_bytes(itertools.chain([self.empty], outcomes))


def merge_bytes(sketches: Iterable[bytes], /, *, parts: bool = True) -> bytes:
    """Return the bytes of the sum of sketches; those of empty ones add nothing.

    With `parts` they may be of the same stream, but no row may be in two of them.
    """
    total: Sketch | None = None
    for data in sketches:
        sketch = Sketch.from_bytes(data)
        if total is None:
            total = sketch
        else:
            total.merge(sketch, parts=parts)
    if total is None:
        msg = "there must be at least one sketch to merge; got none."
        raise ValueError(msg)
    return total.to_bytes()


@functools.lru_cache(maxsize=4)
def revived(empty: bytes, /) -> tuple[Sketch, Schema | None]:
    """Return an empty sketch from its bytes; a worker does it once, not for each piece."""
    sketch = Sketch.from_bytes(empty)
    return sketch, None if sketch.schema is None else schema_of(sketch)


def add_batch(
    total: Sketch,
    schema: Schema,
    batch: pa.RecordBatch,
    numbers: npt.NDArray[np.uint64],
    /,
    *,
    part: str | None,
    first_row: int,
    like: bool = False,
) -> None:
    """Add a batch of a table to a sketch, each row by its number."""
    if not batch.num_rows:
        return
    where = f"{part or 'the data'}, rows {first_row} to {first_row + batch.num_rows - 1},"
    schema.check(batch.schema, origin=where)
    encoded = schema.encode_batch(batch.select(list(schema.names)))
    if encoded.n_missing or encoded.n_infinite:
        schema.check_values(
            encoded.n_missing,
            encoded.n_infinite,
            batch.num_rows,
            origin=where,
            like=like,
        )
    rows = encoded.rows
    if encoded.missing is not None:
        rows, numbers = rows[~encoded.missing], numbers[~encoded.missing]
    total.update(rows, part=part, row_numbers=numbers)


def _as_rows(batch: pa.RecordBatch, key: str | None) -> FloatArray:
    """Return all columns but the key as numbers, for a sketch that has no schema."""
    columns = [
        batch.column(name).to_numpy(zero_copy_only=False)
        for name in batch.schema.names
        if name != key
    ]
    return np.column_stack(columns)


def as_batches(table: pa.Table, /) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a table, at least one so that its columns are known."""
    yield from table.to_batches() or table.schema.empty_table().to_batches()
