"""Half-done sketches in a file, to go on from after an interruption.

The file holds the sum over all finished parts and that over the part at hand, so that going
on adds the same numbers in the same order: the result is the same to the last bit.
"""

from __future__ import annotations

import os
import pathlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from fastmmd._errors import DataError, IncompatibleSketchError
from fastmmd.sketch import Sketch
from fastmmd.sketch.container import read_container, write_container
from fastmmd.sketch.file import sketch_from_parts, sketch_parts

if TYPE_CHECKING:
    from typing import Any

FORMAT = "fastmmd-checkpoint"
FORMAT_VERSION = 1


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
    """

    total: Sketch
    current: Sketch
    part: int = 0
    row: int = 0
    n_read: int = 0
    n_dropped: int = 0

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


def save_state(path: str | os.PathLike[str], state: State, key: str, /) -> None:
    """Write a state; the old file stays until the new one is complete."""
    header: dict[str, Any] = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "key": key,
        "part": state.part,
        "row": state.row,
        "n_read": state.n_read,
        "n_dropped": state.n_dropped,
    }
    arrays: dict[str, Any] = {}
    for name, sketch in (("total", state.total), ("current", state.current)):
        header[name], own = sketch_parts(sketch)
        arrays |= {f"{name}.{key}": array for key, array in own.items()}
    write_container(path, header, arrays)


def load_state(path: str | os.PathLike[str], key: str, /) -> State | None:
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
    sketches = {}
    try:
        for name in ("total", "current"):
            own = {
                key.removeprefix(f"{name}."): array
                for key, array in arrays.items()
                if key.startswith(f"{name}.")
            }
            sketches[name] = sketch_from_parts(Sketch, header[name], own)
        numbers = [int(header[k]) for k in ("part", "row", "n_read", "n_dropped")]
    except IncompatibleSketchError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        msg = f"`{os.fspath(path)}` must be a checkpoint; it cannot be used ({error})."
        raise DataError(msg) from error
    return State(sketches["total"], sketches["current"], *numbers)
