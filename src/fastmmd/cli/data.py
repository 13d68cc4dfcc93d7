"""From what stands on the command line to sources and sketches."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from fastmmd._errors import DataError, DataWarning, UndefinedEstimateError
from fastmmd._files import is_way_out
from fastmmd.cli.errors import UsageError
from fastmmd.cli.output import say

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fastmmd.cli.options import DataPath, Reading
    from fastmmd.sketch import Sketch
    from fastmmd.tables import Source

SUFFIX = ".mmd"
_MAGIC = b"FASTMMD\0"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One side of a comparison: a sketch, or data to be read."""

    name: str
    sketch: Sketch | None = None
    source: Source | None = None


def open_samples(
    a: DataPath, b: DataPath | None, by: str | None, reading: Reading, /
) -> tuple[Sample, Sample]:
    """Return both sides of a comparison."""
    if by is not None:
        if b is not None:
            msg = f"--by splits one data set in two; got a second one, `{b}`."
            raise UsageError(msg)
        return _split(reading.open(_path(a)), by)
    if b is None:
        msg = (
            "a test needs a second data set, or --by COLUMN=VALUE1,VALUE2 to split the "
            "first."
        )
        raise UsageError(msg)
    first, second = (
        _open(path, own)
        for path, own in zip((a, b), _readings((a, b), reading), strict=True)
    )
    return first, second


def _readings(paths: Sequence[DataPath], reading: Reading) -> list[Reading]:
    """Return how to read each side: options for text are for the side that is text."""
    if reading.types is None and reading.delimiter is None:
        return [reading for _ in paths]
    from fastmmd.tables.paths import find_files

    data = [path for path in paths if not is_sketch(path)]
    text = {
        path: find_files(_path(path), format_name=reading.format)[2] in ("csv", "jsonl")
        for path in data
    }
    if not any(text.values()):
        return [reading for _ in paths]
    plain = dataclasses.replace(reading, types=None, delimiter=None)
    return [reading if text.get(path) else plain for path in paths]


def is_sketch(path: DataPath, /) -> bool:
    """Return whether a path is that of a sketch: by its first bytes, or by its name."""
    file = Path(path).expanduser()
    with contextlib.suppress(OSError):
        # A pipe would be waited for.
        if file.is_file():
            with file.open("rb") as stream:
                return stream.read(len(_MAGIC)) == _MAGIC
    return file.suffix == SUFFIX and "://" not in os.fspath(path)


def load_sketch(path: DataPath, /) -> Sketch:
    """Read a sketch, or say what lies near if there is none."""
    from fastmmd.sketch import Sketch

    file = Path(path).expanduser()
    if not file.exists():
        folder = file.parent if file.parent.is_dir() else Path()
        there = sorted(other.name for other in folder.glob(f"*{SUFFIX}"))
        from fastmmd.tables.paths import near_names

        near = near_names(file.name, there)
        if near:
            hint = " or ".join(f"`{folder / name}`" for name in near)
            hint = f" Did you mean {hint}?"
        else:
            hint = ", ".join(f"`{name}`" for name in there[:5])
            hint = f" In `{folder}` there is {hint}." if there else ""
        msg = f"`{path}` must be a sketch file; there is none.{hint}"
        raise DataError(msg)
    if is_way_out(file):
        msg = f"`{path}` is a pipe, which cannot be read; write it to a file first."
        raise DataError(msg)
    if not is_sketch(path):
        msg = f"`{path}` must be a sketch; it is none. `fastmmd test` takes data, too."
        raise DataError(msg)
    return Sketch.load(file)


def check_counts(samples: Iterable[tuple[str, Sketch]], /) -> None:
    """Raise if a sketch has too few rows to be compared, by the name of its file."""
    for name, sketch in samples:
        if sketch.count < 2:
            msg = f"`{name}` must have at least 2 rows; got {sketch.count}."
            raise UndefinedEstimateError(msg)


def check_output(path: Path, /) -> Path:
    """Return where to write, checked before anything is computed."""
    file = path.expanduser()
    if re.match(r"[a-z0-9+.-]+:/", os.fspath(path)):
        msg = f"--output must be a local file, to be copied where you want it; got `{path}`."
        raise UsageError(msg)
    if os.fspath(path) == "-":
        msg = "--output must be a file; `-o /dev/stdout` writes to standard output."
        raise UsageError(msg)
    if file.is_dir():
        msg = f"--output must be a file; `{path}` is a folder."
        raise UsageError(msg)
    if is_way_out(file):
        return file
    if file.exists() and not file.is_file():
        msg = f"--output must be a file or a pipe; `{path}` is a disk or a socket."
        raise UsageError(msg)
    if file.is_symlink():
        # The file itself is what is written, and what a checkpoint lies beside.
        file = file.resolve()
    if file.is_file() and file.stat().st_size and not is_sketch(file):
        msg = (
            f"--output must be a new file or a sketch, which is replaced; `{path}` is "
            "something else. Choose another name, or remove it first."
        )
        raise UsageError(msg)
    if not file.parent.is_dir():
        msg = f"--output must be in a folder that exists; there is no `{file.parent}`."
        raise UsageError(msg)
    if not os.access(file.parent, os.W_OK):
        msg = f"--output must be in a folder that can be written; `{file.parent}` cannot."
        raise UsageError(msg)
    return file


@contextlib.contextmanager
def gathering_notes() -> Iterator[list[str]]:
    """Yield a list that holds at the end what the library warned of."""
    found: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield found
    for warning in caught:
        if issubclass(warning.category, DataWarning):
            found.append(str(warning.message))
        elif issubclass(warning.category, UserWarning):
            say("warning", str(warning.message))


def _open(path: DataPath, reading: Reading) -> Sample:
    if is_sketch(path):
        return Sample(os.fspath(path), sketch=load_sketch(path))
    source = reading.open(_path(path))
    return Sample(source.name, source=source)


def _split(source: Source, by: str) -> tuple[Sample, Sample]:
    """Return the two parts of a source that differ in a column."""
    name = by.strip()
    if "=" not in by and name in source.schema.names:
        import pyarrow as pa

        # No need to read the data to know what there can be.
        if pa.types.is_boolean(source.schema.field(name).type):
            by = f"{name}=false,true"
    parts = source.split(by)
    if len(parts) != 2:
        values = [part.name.rpartition("=")[2].rstrip("]") for part in parts]
        shown = ", ".join(values[:6]) + (", …" if len(values) > 6 else "")
        name = name.partition("=")[0]
        msg = (
            f"--by must give two samples; `{name}` has {len(parts)} values ({shown}). "
            f"Choose two: --by {name}={values[0]},{values[1]}"
        )
        raise UsageError(msg)
    first, second = (Sample(part.name, source=part) for part in parts)
    return first, second


def _path(path: Any) -> str:
    return os.fspath(path)
