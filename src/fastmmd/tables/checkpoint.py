"""Half-done sketches in a file, to go on from after an interruption.

A run has two stages, a sample and then the sketch. Of the first the file holds the rows that
are the sample so far; of the second the sum over all finished parts and that over the part at
hand, so that going on adds the same numbers in the same order. Both also say how many rows of
which part were read, so the result is the same to the last bit.
"""

from __future__ import annotations

import os
import pathlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
import pyarrow as pa

from fastmmd._errors import DataError, IncompatibleSketchError
from fastmmd.sketch import Sketch
from fastmmd.sketch.container import read_container, write_container
from fastmmd.sketch.file import sketch_from_parts, sketch_parts
from fastmmd.tables.sample import SampleState, Smallest

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

FORMAT = "fastmmd-checkpoint"
FORMAT_VERSION = 1

_SKETCH_NUMBERS = ("part", "row", "n_read", "n_dropped")
_SAMPLE_NUMBERS = ("place", "part", "row", "n_rows", "n_read")


@final
@dataclass(slots=True, eq=False)
class State:
    """How far a sketch of a source has come.

    Parameters
    ----------
    total : Sketch
        Sum over the parts that are finished.
    current : Sketch
        Sum over the rows of the part at hand.
    part : int
        Number of the part at hand.
    row : int
        Rows of it that were read.
    n_read, n_dropped : int
        Rows read, and left out because of missing values, in all.
    n_rows : int or None
        Rows that there are to read, if the first pass has counted them.
    """

    total: Sketch
    current: Sketch
    part: int = 0
    row: int = 0
    n_read: int = 0
    n_dropped: int = 0
    n_rows: int | None = None

    def finish_part(self) -> None:
        """Add the part at hand to the total and go to the next."""
        self.total.merge(self.current, parts=True)
        self.current = empty_copy(self.current)
        self.part += 1
        self.row = 0


def empty_copy(sketch: Sketch, /) -> Sketch:
    """Return a sketch without rows that belongs to the same stream."""
    other = sketch.like()
    other._stream = sketch._stream  # noqa: SLF001 - its name may not be known any more
    return other


@final
class Checkpoint:
    """The file of one run, written from time to time.

    Parameters
    ----------
    path : path
        Where it is.
    key : str
        What tells the run from others: a checkpoint of another one is refused.
    seconds : float
        Time between two checkpoints.
    """

    __slots__ = ("_saved", "key", "path", "seconds")

    def __init__(self, path: str | os.PathLike[str], key: str, seconds: float) -> None:
        self.path, self.key, self.seconds = path, key, seconds
        self._saved = time.monotonic()

    def load(self) -> State | SampleState | None:
        """Return what the file holds, None if there is none."""
        return load_state(self.path, self.key)

    def save(self, state: State | SampleState) -> None:
        """Write a state; the old file stays until the new one is complete."""
        save_state(self.path, state, self.key)
        self._saved = time.monotonic()

    def save_if_due(self, state: State | SampleState) -> None:
        """Write a state if the last time was long enough ago."""
        if time.monotonic() - self._saved >= self.seconds:
            self.save(state)


def save_state(
    path: str | os.PathLike[str], state: State | SampleState, key: str, /
) -> None:
    """Write a state; the old file stays until the new one is complete."""
    header, arrays = (
        _sketch_parts(state) if isinstance(state, State) else _sample_parts(state)
    )
    about = {"format": FORMAT, "version": FORMAT_VERSION, "key": key}
    write_container(path, about | header, arrays)


def load_state(path: str | os.PathLike[str], key: str, /) -> State | SampleState | None:
    """Read a state, None if there is no file; raise if it is of other data or options."""
    if not pathlib.Path(path).exists():
        return None
    header, arrays = read_container(path, FORMAT, FORMAT_VERSION)
    if header.get("key") != key:
        msg = (
            f"`{os.fspath(path)}` must be the checkpoint of this run; it is of other data, "
            "of data that changed since, or of other options. Remove it to start anew."
        )
        raise DataError(msg)
    try:
        if header["stage"] == "sampling":
            return _sample_from_parts(header, arrays)
        return _sketch_from_parts(header, arrays)
    except IncompatibleSketchError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, pa.ArrowException) as error:
        msg = f"`{os.fspath(path)}` must be a checkpoint; it cannot be used ({error})."
        raise DataError(msg) from error


def _sketch_parts(state: State) -> tuple[dict[str, Any], dict[str, Any]]:
    header: dict[str, Any] = {"stage": "sketching", "n_rows": state.n_rows}
    header |= {name: getattr(state, name) for name in _SKETCH_NUMBERS}
    arrays: dict[str, Any] = {}
    for name, sketch in (("total", state.total), ("current", state.current)):
        header[name], own = sketch_parts(sketch)
        arrays |= {f"{name}.{key}": array for key, array in own.items()}
    return header, arrays


def _sketch_from_parts(
    header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
) -> State:
    sketches = {}
    for name in ("total", "current"):
        own = {
            key.removeprefix(f"{name}."): array
            for key, array in arrays.items()
            if key.startswith(f"{name}.")
        }
        sketches[name] = sketch_from_parts(Sketch, header[name], own)
    numbers = {name: int(header[name]) for name in _SKETCH_NUMBERS}
    n_rows = None if header["n_rows"] is None else int(header["n_rows"])
    return State(sketches["total"], sketches["current"], n_rows=n_rows, **numbers)


def _sample_parts(state: SampleState) -> tuple[dict[str, Any], dict[str, Any]]:
    header: dict[str, Any] = {"stage": "sampling", "size": state.kept.size}
    header |= {name: getattr(state, name) for name in _SAMPLE_NUMBERS}
    header["counts"] = [list(pair) for pair in state.counts]
    header["tables"] = tables = []
    arrays: dict[str, Any] = {}
    for i, (place, keys, rows) in enumerate(state.kept.compacted()):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_table(rows)
        data = sink.getvalue().to_pybytes()
        tables.append({"place": place, "n_bytes": len(data)})
        arrays[f"keys.{i}"] = keys.view(np.int64)
        # Arrays of a container have items of 8 bytes.
        arrays[f"rows.{i}"] = np.frombuffer(data + bytes(-len(data) % 8), np.int64)
    return header, arrays


def _sample_from_parts(
    header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
) -> SampleState:
    kept = []
    for i, entry in enumerate(header["tables"]):
        data = arrays[f"rows.{i}"].tobytes()[: entry["n_bytes"]]
        with pa.ipc.open_stream(data) as reader:
            rows = reader.read_all()
        keys = arrays[f"keys.{i}"].view(np.uint64)
        kept.append((int(entry["place"]), keys, rows))
    numbers = {name: int(header[name]) for name in _SAMPLE_NUMBERS}
    counts = [(int(n_rows), int(n_read)) for n_rows, n_read in header["counts"]]
    return SampleState(Smallest(int(header["size"]), kept), counts=counts, **numbers)
