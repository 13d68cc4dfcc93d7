"""A file of one JSON header and some arrays: no pickle, checked, replaced when complete.

Layout, all numbers little-endian::

    8 bytes   magic "FASTMMD" and a zero byte
    8 bytes   length H of the header, unsigned
    H bytes   header, JSON in UTF-8, padded with spaces to a multiple of 8
    …         the arrays, one after the other, in C order, each padded to 8 bytes
    32 bytes  SHA-256 of everything before

The header's key "arrays" lists name, dtype ("<f8" or "<i8") and shape of each array, in the
order of the file.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import pathlib
import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmmd._errors import SketchFileError

if TYPE_CHECKING:
    import numpy.typing as npt

MAGIC = b"FASTMMD\0"
_DIGEST = 32
_DTYPES = ("<f8", "<i8")


def write_container(
    path: str | os.PathLike[str],
    header: dict[str, Any],
    arrays: dict[str, npt.NDArray[Any]],
    /,
) -> None:
    """Write header and arrays; the old file stays until the new one is complete."""
    ordered = {name: np.ascontiguousarray(a) for name, a in arrays.items()}
    listed = [
        {"name": name, "dtype": a.dtype.newbyteorder("<").str, "shape": list(a.shape)}
        for name, a in ordered.items()
    ]
    text = json.dumps(header | {"arrays": listed}, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    parts = [MAGIC, len(text).to_bytes(8, "little"), text]
    for entry, array in zip(listed, ordered.values(), strict=True):
        parts.append(array.astype(str(entry["dtype"]), copy=False).tobytes())
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    target = pathlib.Path(path)
    # A temporary file beside the target can replace it in one step, or be removed.
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            for part in [*parts, digest.digest()]:
                stream.write(part)
            stream.flush()
            os.fsync(stream.fileno())
        pathlib.Path(name).replace(target)
    except BaseException:
        pathlib.Path(name).unlink(missing_ok=True)
        raise


def read_container(
    path: str | os.PathLike[str], kind: str, newest: int, /
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Read header and arrays, or say what is wrong with the file."""
    data = pathlib.Path(path).read_bytes()
    if data[: len(MAGIC)] != MAGIC:
        _refuse(path, "it does not start as one")
    body, digest = data[:-_DIGEST], data[-_DIGEST:]
    if len(data) < 16 + _DIGEST or hashlib.sha256(body).digest() != digest:
        _refuse(path, "its checksum does not match: it is cut short or damaged")
    length = int.from_bytes(body[8:16], "little")
    try:
        header: dict[str, Any] = json.loads(body[16 : 16 + length])
        entries = header["arrays"]
        named = header["format"], int(header["version"])
    except (ValueError, KeyError, TypeError) as error:
        _refuse(path, f"its header cannot be read ({error})")
    if named[0] != kind:
        _refuse(path, f"it holds a {named[0]!r}")
    if named[1] > newest:
        _refuse(path, f"its format {named[1]} is newer than {newest}: update FastMMD")
    arrays = {}
    place = 16 + length
    for entry in entries:
        if entry["dtype"] not in _DTYPES:
            _refuse(path, f"it has an array of unknown type {entry['dtype']!r}")
        shape = tuple(int(n) for n in entry["shape"])
        size = 8 * math.prod(shape)
        if place + size > len(body):
            _refuse(path, "it ends before its arrays do")
        raw = np.frombuffer(body, dtype=entry["dtype"], count=size // 8, offset=place)
        arrays[entry["name"]] = raw.reshape(shape)
        place += size
    return header, arrays


def _refuse(path: str | os.PathLike[str], why: str) -> Any:
    msg = f"`{os.fspath(path)}` must be a sketch file; {why}."
    raise SketchFileError(msg)
