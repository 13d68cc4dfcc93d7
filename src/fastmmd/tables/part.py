"""Parts of a source and batches of their rows: what is sent around and written down."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import pyarrow as pa

from fastmmd._validation import check_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    import numpy.typing as npt


@final
@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a source: a row group, a range of rows or a file.

    Small and plain, so that it can be sent to another process, or written down to go on
    from later.

    Parameters
    ----------
    file : str
        Name of the file relative to the source; empty if the source is one file.
    piece : int
        Number of the row group or range within the file.
    first_row : int
        Number of the part's first row within the file.
    n_rows : int or None
        Rows of the part, before any filter, if known without reading it.

    Examples
    --------
    >>> part = Part("year=2018/part-0.parquet", 3, 150_000, 50_000)
    >>> Part.from_json(part.to_json()) == part
    True
    """

    file: str
    piece: int = 0
    first_row: int = 0
    n_rows: int | None = None

    @property
    def name(self) -> str | None:
        """The name that rows are routed by: None if the source is one file."""
        return self.file or None

    def to_json(self) -> dict[str, Any]:
        """Return the part in plain JSON types."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any], /) -> Part:
        """Return the part that `to_json` described."""
        return cls(**value)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some consecutive rows of a part, of which a filter may have left only some.

    Attributes
    ----------
    data : pyarrow.RecordBatch
        The rows that are left.
    row_numbers : ndarray of uint64
        Their numbers within the file.
    n_read : int
        Rows before the filter.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from fastmmd.tables import open_source
    >>> source = open_source(pa.table({"delay": [3, 9, 4]}), where="delay > 3")
    >>> (batch,) = source.read(source.parts()[0])
    >>> batch.data.num_rows, batch.row_numbers.tolist(), batch.n_read
    (2, [1, 2], 3)
    """

    data: pa.RecordBatch
    row_numbers: npt.NDArray[np.uint64]
    n_read: int


def rebatch(batches: Iterator[pa.RecordBatch], rows: int, /) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in batches of exactly `rows`, but for the last.

    Readers end batches where their blocks end; sums must not depend on that.
    """
    rows = check_count(rows, name="batch_rows")
    waiting: list[pa.RecordBatch] = []
    n_waiting = 0
    for batch in batches:
        rest = batch
        while n_waiting + rest.num_rows >= rows:
            n = rows - n_waiting
            yield _joined([*waiting, rest.slice(0, n)])
            rest, waiting, n_waiting = rest.slice(n), [], 0
        if rest.num_rows:
            waiting.append(rest)
            n_waiting += rest.num_rows
    if n_waiting:
        yield _joined(waiting)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    table = pa.Table.from_batches(batches).combine_chunks()
    return table.to_batches()[0]
