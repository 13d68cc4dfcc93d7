"""Long bytes as many short rows, for an engine that counts rows and not bytes.

Spark hands rows to Python in batches of 10,000, and a batch is in memory as a whole, outside
the heap. A sketch has megabytes: a hundred of them in one batch are more than an executor has.
In rows of 8 kB a batch is of 80 MB at most, whatever it holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from fastmmd._errors import IncompatibleSketchError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

LENGTH = 8192
"""Bytes of a piece."""

_OWN = ("piece", "n_pieces", "data")

SCHEMA = "piece int, n_pieces int, data binary"
"""The columns of a piece besides its labels, in the words of Spark."""


def cut(data: bytes, labels: Mapping[str, pa.Array], /) -> pa.RecordBatch:
    """Return bytes as rows, each with the same labels.

    Parameters
    ----------
    data : bytes
        What to cut; of none there is one empty piece.
    labels : mapping of str to pyarrow.Array
        Values of further columns, arrays of one.
    """
    pieces = [data[i : i + LENGTH] for i in range(0, max(len(data), 1), LENGTH)]
    n = len(pieces)
    first = pa.array(np.zeros(n, np.int64))
    columns = {name: value.take(first) for name, value in labels.items()}
    columns["piece"] = pa.array(np.arange(n, dtype=np.int32))
    columns["n_pieces"] = pa.array(np.full(n, n, np.int32))
    columns["data"] = pa.array(pieces, pa.binary())
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def joined(
    batches: Iterable[pa.RecordBatch], /
) -> Iterator[tuple[dict[str, pa.Array], bytes]]:
    """Yield what was cut, from rows in order: the labels, as for `cut`, and the bytes."""
    waiting: list[bytes] = []
    for batch in batches:
        own = (batch.column(name).to_pylist() for name in _OWN)
        for i, (piece, n_pieces, data) in enumerate(zip(*own, strict=True)):
            _check_order(piece, len(waiting))
            waiting.append(data)
            if piece == n_pieces - 1:
                yield _labels(batch, i), b"".join(waiting)
                waiting.clear()
    _check_order(0, len(waiting))


def _labels(batch: pa.RecordBatch, i: int) -> dict[str, pa.Array]:
    # Taken, not sliced: a slice would keep the whole batch.
    names = [name for name in batch.schema.names if name not in _OWN]
    return {name: batch.column(name).take(pa.array([i])) for name in names}


def _check_order(piece: int, expected: int) -> None:
    """Raise if a piece is not the next one.

    Sorted pieces can only be out of order if they are of two sketches that have the same
    name, which follows from their bytes.
    """
    if piece != expected:
        msg = "sketches must hold different data to be merged; got the same sketch twice."
        raise IncompatibleSketchError(msg)
