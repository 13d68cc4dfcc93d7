"""Sketches as files and bytes: what the header says, and what is believed of it.

A sketch without rows leaves its zeros out: that is version 2, some kilobytes that carry the
kernels and the seed to wherever frequencies are to be drawn. All others are version 1.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmmd._errors import IncompatibleSketchError, SketchFileError
from fastmmd._validation import check_count
from fastmmd.sketch.container import (
    pack_container,
    read_container,
    unpack_container,
    write_container,
)
from fastmmd.sketch.kernel_json import kernel_from_json, kernel_to_json
from fastmmd.sketch.routing import STREAM_BYTES

if TYPE_CHECKING:
    from fastmmd.frequencies.family import FrequencyFamily
    from fastmmd.sketch.core import Sketch

FORMAT = "fastmmd-sketch"
FORMAT_VERSION = 2
_WITH_SUMS = 1
_WITHOUT_ROWS = 2

_LARGEST_FEATURE = 1.0 + 1e-5
"""A feature is at most 1 but for rounding: 2.4e-7, which up to three applications of the
double-angle formulas make eight times as much."""

_LARGEST_CLAIM = 2**32
"""Bytes of a sketch that are set aside on the word of a header alone, without arrays."""


def write_sketch(sketch: Sketch, path: str | os.PathLike[str], /) -> None:
    """Write a sketch to a file, which is replaced only when complete."""
    write_container(path, *sketch_parts(sketch))


def sketch_parts(sketch: Sketch, /) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the header and the arrays of a sketch's file."""
    header = {
        "format": FORMAT,
        "version": _WITH_SUMS if sketch.count else _WITHOUT_ROWS,
        "kernels": [kernel_to_json(kernel) for kernel in sketch.kernels],
        "n_columns": sketch.n_columns,
        "n_frequencies": list(sketch.n_frequencies),
        "n_bins": sketch.n_bins,
        "seed": sketch.seed,
        "probe": _probe(sketch._family),
        "stream": sketch._stream.hex(),
        "rows_routed": sketch._rows_routed,
        "streams": {name.hex(): rows for name, rows in sketch._streams.items()},
    }
    if sketch._schema is not None:
        header["schema"] = sketch._schema
    arrays: dict[str, Any] = {"center": sketch._center}
    if sketch.count:
        arrays |= {"counts": sketch._counts, "sums": sketch._sums}
    return header, arrays


def sketch_to_bytes(sketch: Sketch, /) -> bytes:
    """Return what `write_sketch` would write."""
    return b"".join(pack_container(*sketch_parts(sketch)))


def sketch_from_bytes(cls: type[Sketch], data: Any, /) -> Sketch:
    """Return the sketch that `sketch_to_bytes` took apart."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        msg = f"`data` must be bytes; got {type(data).__name__}."
        raise TypeError(msg)
    header, arrays = unpack_container(bytes(data), FORMAT, FORMAT_VERSION, origin="data")
    return _believe(cls, header, arrays, "data")


def read_sketch(cls: type[Sketch], path: str | os.PathLike[str], /) -> Sketch:
    """Read a sketch that `write_sketch` wrote."""
    header, arrays = read_container(path, FORMAT, FORMAT_VERSION)
    return _believe(cls, header, arrays, os.fspath(path))


def _believe(
    cls: type[Sketch], header: dict[str, Any], arrays: dict[str, Any], origin: str
) -> Sketch:
    try:
        return sketch_from_parts(cls, header, arrays)
    except IncompatibleSketchError:
        raise
    # The checksum holds, so a program wrote this, but not `write_sketch`.
    except (
        *(KeyError, TypeError, ValueError, AttributeError),
        *(OverflowError, RecursionError, MemoryError),
    ) as error:
        msg = (
            f"`{origin}` must be a sketch file; it cannot be used "
            f"({type(error).__name__}: {error})."
        )
        raise SketchFileError(msg) from error


def _probe(family: FrequencyFamily) -> list[float]:
    """Return a number for each draw of frequencies that tells whether it is the same."""
    row = np.cos(np.arange(family.n_columns, dtype=np.float64))[None]
    phases = [bundle.base.project(row, None)[0] for bundle in family.bundles]
    # A frequency turned round or in another place must show: it would change sines.
    return [float(np.sum(np.sin(p + np.arange(len(p))))) for p in phases]


def sketch_from_parts(
    cls: type[Sketch], header: dict[str, Any], arrays: dict[str, Any], /
) -> Sketch:
    """Return the sketch that `sketch_parts` took apart, or raise if it cannot be."""
    # Sizes are checked against arrays that are there before anything is made of them.
    n_bins, n_features = header["n_bins"], 2 * sum(header["n_frequencies"])
    expected: list[tuple[str, str, tuple[int, ...]]] = [
        ("center", "<f8", (header["n_columns"],))
    ]
    if header["version"] == _WITH_SUMS:
        expected += [("counts", "<i8", (n_bins,)), ("sums", "<f8", (n_bins, n_features))]
    elif 8 * n_bins * (1 + n_features) > _LARGEST_CLAIM:
        msg = f"it would take more than {_LARGEST_CLAIM} bytes"
        raise ValueError(msg)
    for name, dtype, shape in expected:
        array = arrays[name]
        if array.shape != shape or array.dtype != dtype:
            msg = f"`{name}` is of shape {array.shape} and type {array.dtype.str}"
            raise ValueError(msg)
    sketch = cls(
        [kernel_from_json(kernel) for kernel in header["kernels"]],
        header["n_columns"],
        n_frequencies=header["n_frequencies"],
        n_bins=n_bins,
        rng=check_count(header["seed"], name="seed", minimum=0),
        center=arrays["center"],
        schema=header.get("schema"),
    )
    # Frequencies are drawn again from the seed. Should a library draw or round them
    # differently, sums of the two would be of different things.
    drawn, stored = _probe(sketch._family), np.array(header["probe"], dtype=np.float64)
    if stored.shape != (len(drawn),) or not np.allclose(drawn, stored, rtol=0, atol=1e-6):
        msg = (
            "the sketch must have the frequencies that its seed gives here; they differ. "
            "It was made with an incompatible version of NumPy, SciPy or FastMMD."
        )
        raise IncompatibleSketchError(msg)
    sketch._stream = bytes.fromhex(header["stream"])
    sketch._streams = {bytes.fromhex(k): v for k, v in header["streams"].items()}
    sketch._rows_routed = header["rows_routed"]
    if header["version"] == _WITH_SUMS:
        sketch._counts[:] = arrays["counts"]
        sketch._sums[:] = arrays["sums"]
    _check_state(sketch)
    return sketch


def _check_state(sketch: Sketch) -> None:
    """Raise if counts, sums and streams contradict each other."""
    counts, streams = sketch._counts, sketch._streams
    for stream in (sketch._stream, *streams):
        if len(stream) != STREAM_BYTES:
            msg = f"a stream has {len(stream)} bytes"
            raise ValueError(msg)
    if (
        counts.min() < 0
        or not all(type(rows) is int and rows > 0 for rows in streams.values())
        or sum(streams.values()) != sum(counts.tolist())
        or streams.get(sketch._stream, 0) != sketch._rows_routed
    ):
        msg = "its numbers of rows contradict each other"
        raise ValueError(msg)
    if not (np.abs(sketch._sums) <= _LARGEST_FEATURE * counts[:, None]).all():
        msg = "its sums are larger than its numbers of rows"
        raise ValueError(msg)
