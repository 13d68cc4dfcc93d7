"""Send rows to slots at random, without keeping any state.

The slot of a row is the top bits of a hash of (stream, row number). It never depends on
what the row holds: equal rows must be able to go to different slots, and the two samples of
a test must not share their routing. Within a stream the same row number always goes to the
same slot, whatever the batches.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING, Any

import numpy as np

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


def route(
    stream: bytes, first_row: int, n_rows: int, n_bins: int, /
) -> npt.NDArray[np.int64]:
    """Return the slots of `n_rows` consecutive rows of a stream.

    `n_bins` is a power of two: slots are the top bits of the hash, so that halving the
    number of slots merges neighbours.
    """
    keys = np.frombuffer(stream, dtype="<u8")
    rows = np.arange(first_row, first_row + n_rows, dtype=np.uint64)
    with np.errstate(over="ignore"):
        mixed = _mix(_mix(rows + keys[0]) ^ keys[1])
    shift = 64 - (n_bins.bit_length() - 1)
    if shift == 64:
        return np.zeros(n_rows, dtype=np.int64)
    return (mixed >> np.uint64(shift)).astype(np.int64)


def _mix(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Scramble 64-bit numbers one to one: the finaliser of splitmix64 (Steele 2014)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
