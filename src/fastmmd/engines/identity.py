"""Who a row is: the number that its slot and its place in a sample are hashed from.

It must never come from how the work is carried out. Rows of files have a name and a number
for good; rows of a data frame have their number within a piece, or a key column.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fastmmd._errors import DataError

if TYPE_CHECKING:
    import numpy.typing as npt


def row_numbers(
    batch: pa.RecordBatch, key: str | None, first_row: int, /
) -> npt.NDArray[np.uint64]:
    """Return the numbers of rows: by their keys, or counted from `first_row`."""
    if key is None:
        return np.arange(first_row, first_row + batch.num_rows, dtype=np.uint64)
    if key not in batch.schema.names:
        msg = f"`key` must name a column of the data; got {key!r}."
        raise DataError(msg)
    return key_numbers(batch.column(key), key)


def key_numbers(column: pa.Array, name: str, /) -> npt.NDArray[np.uint64]:
    """Return a number of 64 bits for each key: the same for equal keys.

    A whole number stands for itself, negative ones modulo 2^64; text and bytes for the start
    of their BLAKE2b hash.
    """
    types = pa.types
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.null_count:
        msg = (
            f"`{name}` must have no missing values to be a key; got {column.null_count}."
        )
        raise DataError(msg)
    if types.is_unsigned_integer(column.type):
        return column.cast(pa.uint64()).to_numpy(zero_copy_only=False)
    if types.is_integer(column.type):
        return column.cast(pa.int64()).to_numpy(zero_copy_only=False).view(np.uint64)
    if types.is_temporal(column.type) and not types.is_interval(column.type):
        width = pa.int32() if column.type.bit_width == 32 else pa.int64()
        return key_numbers(column.view(width), name)
    if types.is_string(column.type) or types.is_large_string(column.type):
        column = column.cast(pa.large_string()).view(pa.large_binary())
    if types.is_binary(column.type) or types.is_large_binary(column.type):
        # Equal keys often stand together or come again: each is hashed once.
        coded = pc.dictionary_encode(column)
        hashed = [
            int.from_bytes(hashlib.blake2b(value, digest_size=8).digest(), "little")
            for value in coded.dictionary.to_pylist()
        ]
        return np.array(hashed, dtype=np.uint64)[coded.indices.to_numpy()]
    msg = (
        f"`{name}` must hold whole numbers, text, bytes or times to be a key; it holds "
        f"{column.type}."
    )
    raise DataError(msg)
