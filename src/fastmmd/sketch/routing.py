"""Send rows to slots at random, without keeping any state.

The slot of a row is the top bits of a hash of (stream, row number). It never depends on
what the row holds: equal rows must be able to go to different slots, and the two samples of
a test must not share their routing. Within a stream the same row number always goes to the
same slot, whatever the batches. A data set of several files numbers the rows of each file by
themselves: then the slot is a hash of (stream, part, row number), and the files can be read
in any order, by any number of machines.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmmd._validation import check_count

if TYPE_CHECKING:
    import numpy.typing as npt

STREAM_BYTES = 16


def stream_id(stream: Any, /) -> bytes:
    """Return 16 bytes that name a stream: random ones for None, else a hash of the name."""
    if stream is None:
        return secrets.token_bytes(STREAM_BYTES)
    if isinstance(stream, bytes):
        name = b"b" + stream
    elif isinstance(stream, str):
        name = b"s" + stream.encode()
    elif isinstance(stream, int) and not isinstance(stream, bool):
        name = b"i" + str(stream).encode()
    else:
        msg = f"`stream` must be a string, bytes, an integer or None; got {stream!r}."
        raise TypeError(msg)
    return hashlib.sha256(name).digest()[:STREAM_BYTES]


def check_bins(n_bins: Any, /) -> int:
    """Return a number of slots that rows can be sent to."""
    n_bins = check_count(n_bins, name="n_bins")
    if n_bins & (n_bins - 1):
        msg = f"`n_bins` must be a power of two; got {n_bins}."
        raise ValueError(msg)
    return n_bins


def part_id(stream: bytes, part: str, /) -> bytes:
    """Return 16 bytes that name one part of a stream."""
    return hashlib.sha256(stream + b"p" + part.encode()).digest()[:STREAM_BYTES]


def route_batch(
    stream: bytes,
    next_row: int,
    n_rows: int,
    n_bins: int,
    /,
    *,
    part: Any,
    row_numbers: Any,
) -> npt.NDArray[np.int64]:
    """Return the slots of the next rows of a stream, or of those with given numbers."""
    if not (part is None or isinstance(part, str)):
        msg = f"`part` must be a string or None; got {part!r}."
        raise TypeError(msg)
    if part is not None:
        if row_numbers is None:
            msg = "`row_numbers` must be given with `part`; got None."
            raise TypeError(msg)
        stream = part_id(stream, part)
    if row_numbers is None:
        return route(stream, next_row, n_rows, n_bins)
    if np.ndim(row_numbers) == 0:
        first = check_count(row_numbers, name="row_numbers", minimum=0)
        return route(stream, first, n_rows, n_bins)
    numbers = np.asarray(row_numbers)
    whole = numbers.dtype.kind in "iu" and numbers.shape == (n_rows,)
    if not whole or numbers.min() < 0:
        msg = (
            f"`row_numbers` must be {n_rows} integers of at least 0, one for each row; got "
            f"{row_numbers!r}."
        )
        raise ValueError(msg)
    return route_numbers(stream, numbers.astype(np.uint64), n_bins)


def route(
    stream: bytes, first_row: int, n_rows: int, n_bins: int, /
) -> npt.NDArray[np.int64]:
    """Return the slots of `n_rows` consecutive rows of a stream."""
    rows = np.arange(first_row, first_row + n_rows, dtype=np.uint64)
    return route_numbers(stream, rows, n_bins)


def route_numbers(
    stream: bytes, rows: npt.NDArray[np.uint64], n_bins: int, /
) -> npt.NDArray[np.int64]:
    """Return the slots of the rows with these numbers.

    `n_bins` is a power of two: slots are the top bits of the hash, so that halving the
    number of slots merges neighbours.
    """
    shift = 64 - (n_bins.bit_length() - 1)
    if shift == 64:
        return np.zeros(len(rows), dtype=np.int64)
    return (hash_numbers(stream, rows) >> np.uint64(shift)).astype(np.int64)


def hash_numbers(
    stream: bytes, rows: npt.NDArray[np.uint64], /
) -> npt.NDArray[np.uint64]:
    """Return 64 random bits for each row number, the same ones each time."""
    keys = np.frombuffer(stream, dtype="<u8")
    with np.errstate(over="ignore"):
        return _mix(_mix(rows + keys[0]) ^ keys[1])


def _mix(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Scramble 64-bit numbers one to one: the finaliser of splitmix64 (Steele 2014)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
