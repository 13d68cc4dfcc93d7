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
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmmd._errors import SketchFileError
from fastmmd._files import writing

if TYPE_CHECKING:
    import numpy.typing as npt

MAGIC = b"FASTMMD\0"
_DIGEST = 32
_DTYPES = ("<f8", "<i8")
_OTHER_KINDS = {
    "fastmmd-checkpoint": "it is the checkpoint of one that is not finished",
    "fastmmd-sketch": "it is not a checkpoint but a sketch",
}


def write_container(
    path: str | os.PathLike[str],
    header: dict[str, Any],
    arrays: dict[str, npt.NDArray[Any]],
    /,
) -> None:
    """Write header and arrays; the old file stays until the new one is complete."""
    parts = pack_container(header, arrays)
    with writing(path) as stream:
        for part in parts:
            stream.write(part)


def pack_container(
    header: dict[str, Any], arrays: dict[str, npt.NDArray[Any]], /
) -> list[bytes]:
    """Return the bytes of header and arrays, checksum included, in several pieces."""
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
    return [*parts, digest.digest()]


def read_container(
    path: str | os.PathLike[str], kind: str, newest: int, /
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Read header and arrays, or say what is wrong with the file."""
    data = pathlib.Path(path).read_bytes()
    return unpack_container(data, kind, newest, origin=os.fspath(path))


def unpack_container(
    data: bytes, kind: str, newest: int, /, *, origin: str
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Return header and arrays, or say what is wrong with the bytes."""
    if data[: len(MAGIC)] != MAGIC:
        _refuse(origin, "it does not start as one")
    body, digest = data[:-_DIGEST], data[-_DIGEST:]
    if len(data) < 16 + _DIGEST or hashlib.sha256(body).digest() != digest:
        _refuse(origin, "its checksum does not match: it is cut short or damaged")
    length = int.from_bytes(body[8:16], "little")
    try:
        header: dict[str, Any] = json.loads(body[16 : 16 + length])
        form, version = header["format"], header["version"]
        if form != kind:
            _refuse(origin, _OTHER_KINDS.get(str(form), f"it holds a {form!r}"))
        if type(version) is not int or version < 1:
            _refuse(origin, f"it has the version {version!r}")
        if version > newest:
            _refuse(
                origin, f"its format {version} is newer than {newest}: update FastMMD"
            )
        arrays = _read_arrays(body, 16 + length, header["arrays"])
    except SketchFileError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        _refuse(origin, f"its header cannot be read ({type(error).__name__}: {error})")
    return header, arrays


def _read_arrays(
    body: bytes, place: int, entries: list[dict[str, Any]]
) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays that a header lists; they must fill the file to its end."""
    arrays = {}
    for entry in entries:
        dtype, shape = entry["dtype"], entry["shape"]
        if dtype not in _DTYPES:
            msg = f"an array is of unknown type {dtype!r}"
            raise ValueError(msg)
        if not all(type(n) is int and n > 0 for n in shape):
            msg = f"an array is of shape {shape!r}"
            raise ValueError(msg)
        count = math.prod(shape)
        if place + 8 * count > len(body):
            msg = "the file ends before its arrays do"
            raise ValueError(msg)
        raw = np.frombuffer(body, dtype=dtype, count=count, offset=place)
        arrays[entry["name"]] = raw.reshape(shape)
        place += 8 * count
    if place != len(body):
        msg = "the file goes on after its arrays"
        raise ValueError(msg)
    return arrays


def _refuse(origin: str, why: str) -> Any:
    msg = f"`{origin}` must be a sketch file; {why}."
    raise SketchFileError(msg)
