"""Sketches of groups of rows, one for each value of a column, in bounded memory."""

from __future__ import annotations

import collections
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fastmmd._errors import DataError
from fastmmd._threads import threads
from fastmmd.engines.identity import row_numbers
from fastmmd.engines.work import add_batch, revived
from fastmmd.tables.part import rebatch
from fastmmd.tables.sketching import schema_of
from fastmmd.tables.source import batch_rows_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fastmmd.sketch import Sketch

_MOST_OPEN = 32
"""Sketches held at once. The one that has had no rows for longest goes out first; should
its value come again there will be two, which are merged like those of two partitions."""


@final
@dataclass(frozen=True, slots=True)
class Grouping:
    """Make a sketch of each value's rows.

    Parameters
    ----------
    empty : bytes
        A sketch without rows.
    by : str
        The column.
    stream : str, bytes or int
        Name of the data; that of a value is added to it.
    key : str, optional
        The column that rows are known by.
    n_threads : int, default=1
        Threads of a worker.
    like : bool, default=False
        Whether the user gave the sketch that these are to be comparable with.
    """

    empty: bytes
    by: str
    stream: str | bytes | int
    key: str | None = None
    n_threads: int = 1
    like: bool = False

    def on_batches(
        self, batches: Iterable[pa.RecordBatch], /, *, part: str
    ) -> Iterator[tuple[pa.Array, bytes]]:
        """Yield values, each as an array of one, with the bytes of a sketch."""
        empty, _ = revived(self.empty)
        schema = schema_of(empty)
        held: collections.OrderedDict[str, tuple[pa.Array, Sketch]]
        held = collections.OrderedDict()
        first_row = 0
        with threads(self.n_threads):
            for batch in rebatch(iter(batches), batch_rows_for(schema.n_encoded)):
                numbers = row_numbers(batch, self.key, first_row)
                column = _plain(batch.column(self.by), self.by)
                values = pc.dictionary_encode(column)
                codes = values.indices.to_numpy()
                for i in range(len(values.dictionary)):
                    value = values.dictionary.slice(i, 1)
                    text = value_text(value)
                    if text not in held:
                        name = stream_name(self.stream, self.by, text)
                        held[text] = (value, empty.like(stream=name))
                    held.move_to_end(text)
                    chosen = np.flatnonzero(codes == i)
                    add_batch(
                        held[text][1],
                        schema,
                        batch.take(pa.array(chosen)),
                        numbers[chosen],
                        part=None if self.key else part,
                        first_row=first_row,
                        like=self.like,
                    )
                    if len(held) > _MOST_OPEN:
                        _, (old, sketch) = held.popitem(last=False)
                        yield old, sketch.to_bytes()
                first_row += batch.num_rows
        for value, sketch in held.values():
            yield value, sketch.to_bytes()


def stream_name(stream: str | bytes | int, by: str, text: str, /) -> str | bytes:
    """Return the name of the stream of a value's rows."""
    if isinstance(stream, bytes):
        return stream + f"/{by}={text}".encode()
    return f"{stream}/{by}={text}"


def value_text(value: pa.Array, /) -> str:
    """Return a value as text: a day as ``2018-01-31``."""
    return str(value.cast(pa.string())[0].as_py())


def _plain(column: pa.Array, name: str) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.null_count:
        msg = f"`{name}` must have a value in every row; some have none. Leave them out first."
        raise DataError(msg)
    # Minus zero is zero, as in Spark's own groups.
    if pa.types.is_floating(column.type):
        column = pc.add(column, pa.scalar(0.0, column.type))
    return column
