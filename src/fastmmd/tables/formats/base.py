"""What every format provides, and the types that text is read as."""

from __future__ import annotations

import abc
import contextlib
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import pyarrow as pa

from fastmmd._errors import DataError
from fastmmd.tables.columns import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

UNREADABLE = (
    *(pa.ArrowException, OSError, EOFError, ValueError),
    *(zipfile.BadZipFile, zlib.error),
)
"""What the readers of all formats raise for files that are not what they should be."""


@final
@dataclass(frozen=True, slots=True)
class File:
    """A file of a source.

    Parameters
    ----------
    path : str
        Where it is in its file system.
    identity : str
        Its path relative to the source, with ``/``; empty if it is the whole source.
    size, modified : int or None
        Bytes, and time of the last change in nanoseconds, as far as known.
    partition : tuple of pairs
        Columns that folders are named after (``year=2018``), with their values.
    label : str
        What to call it in messages, in the words of whoever asked for it; empty for `path`.
    """

    path: str
    identity: str
    size: int | None = None
    modified: int | None = None
    partition: tuple[tuple[str, str | None], ...] = ()
    label: str = ""

    @property
    def shown(self) -> str:
        """What to call the file in messages."""
        return self.label or self.path


@final
@dataclass(frozen=True, slots=True)
class Layout:
    """What is in a file: its columns, and the number of rows of each piece if known."""

    schema: pa.Schema
    pieces: tuple[int | None, ...]


class Format(abc.ABC):
    """How to read one kind of file; frozen, so that it can be sent to other processes."""

    __slots__ = ()

    name: ClassVar[str]

    @abc.abstractmethod
    def inspect(self, filesystem: Any, file: File, /) -> Layout:
        """Return what is in a file, without reading it all."""

    @abc.abstractmethod
    def batches(
        self, filesystem: Any, file: File, piece: int, schema: pa.Schema, rows: int, /
    ) -> Iterator[pa.RecordBatch]:
        """Yield a piece's columns of `schema` in batches of about `rows` rows, in order."""

    def unify(self, schemas: Sequence[tuple[File, pa.Schema]], /) -> pa.Schema:
        """Return the columns that all files have; raise if their types do not go together."""
        return _common(schemas, promote=False)


class TextFormat(Format):
    """A format without types: those seen at the start of the files are used for all."""

    __slots__ = ()

    def unify(self, schemas: Sequence[tuple[File, pa.Schema]], /) -> pa.Schema:
        return _common(schemas, promote=True)


@contextlib.contextmanager
def reading(format_name: str, file: File, /) -> Iterator[None]:
    """Turn what goes wrong while reading into an error that names the file."""
    try:
        yield
    except DataError:
        raise
    except PermissionError as error:
        msg = f"`{file.shown}` must be a file that you may read; permission is denied."
        raise DataError(msg) from error
    except UNREADABLE as error:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        msg = f"`{file.shown}` must be a complete {format_name} file; {why.rstrip('.')}."
        raise DataError(msg) from error


def type_from_name(name: Any, /, *, option: str = "types") -> pa.DataType:
    """Return the Arrow type of a name such as ``"string"``, ``"float"`` or ``"int64"``."""
    plain = {
        "boolean": pa.bool_(),
        "date": pa.date32(),
        "float": pa.float64(),
        "integer": pa.int64(),
        "string": pa.string(),
        "time": pa.time64("us"),
        "timestamp": pa.timestamp("us"),
    }
    if isinstance(name, pa.DataType):
        return name
    try:
        return plain[name] if name in plain else pa.type_for_alias(name)
    except (ValueError, TypeError) as error:
        listed = ", ".join(f'"{word}"' for word in plain)
        msg = f"`{option}` must name types, such as {listed}; got {name!r}."
        raise ValueError(msg) from error


def as_read(type_: pa.DataType, /) -> pa.DataType:
    """Return the type to read text as: a fraction may follow after many whole numbers."""
    return pa.float64() if pa.types.is_integer(type_) else type_


def given_types(schema: pa.Schema, types: Mapping[str, pa.DataType], /) -> pa.Schema:
    """Return the schema with the types that the user asked for."""
    return pa.schema(
        [(field.name, types.get(field.name, field.type)) for field in schema]
    )


def _common(schemas: Sequence[tuple[File, pa.Schema]], *, promote: bool) -> pa.Schema:
    first_file, first = schemas[0]
    found = {field.name: field.type for field in first}
    for file, schema in schemas[1:]:
        if schema is first:
            continue
        here = dict(zip(schema.names, schema.types, strict=True))
        found = {name: type_ for name, type_ in found.items() if name in here}
        for name, type_ in found.items():
            joined = _join(type_, here[name], promote=promote)
            if joined is None:
                msg = (
                    f"column `{name}` must hold the same kind of data in all files; it is "
                    f"{type_} in `{first_file.shown}` and {here[name]} in `{file.shown}`."
                )
                raise DataError(msg)
            found[name] = joined
    return pa.schema(list(found.items()))


def _join(a: pa.DataType, b: pa.DataType, *, promote: bool) -> pa.DataType | None:
    """Return a type for values of both; None if there is none."""
    kinds = {kind_of(a), kind_of(b)}
    found: pa.DataType | None = None
    if a == b or pa.types.is_null(b):
        found = a
    elif pa.types.is_null(a):
        found = b
    elif kinds == {"numeric"}:
        found = pa.float64() if pa.types.is_integer(a) else a
    elif promote and None not in kinds:
        found = pa.timestamp("ns") if kinds == {"datetime"} else pa.string()
    elif kinds == {"numeric", "boolean"}:
        found = pa.float64()
    elif len(kinds) == 1 and None not in kinds:
        found = a
    return found
