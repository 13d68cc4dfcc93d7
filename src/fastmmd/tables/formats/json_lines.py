"""JSON lines, also compressed: one object a line, one piece for each file."""

from __future__ import annotations

import codecs
import contextlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, final

import pyarrow as pa
import pyarrow.json as pajson

from fastmmd._errors import DataError
from fastmmd.tables.formats.base import (
    File,
    Layout,
    TextFormat,
    as_read,
    given_types,
    reading,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SNIFF_BYTES = 2**23
_BLOCK_BYTES = 2**20
_LOOK_BYTES = 2**10


@final
@dataclass(frozen=True, slots=True)
class JSONLines(TextFormat):
    """One JSON object a line.

    Parameters
    ----------
    types : mapping, optional
        Types of fields that must not be inferred.
    """

    name: ClassVar[str] = "JSON lines"
    types: Mapping[str, pa.DataType] = field(default_factory=dict)

    def inspect(self, filesystem: Any, file: File, /) -> Layout:
        with (
            reading(self.name, file),
            _explaining(filesystem, file),
            filesystem.open_input_stream(file.path) as stream,
        ):
            options = pajson.ReadOptions(block_size=_SNIFF_BYTES, use_threads=False)
            first = pajson.open_json(stream, read_options=options).read_next_batch()
            schema = pa.schema(
                [(name, _moment(first[name])) for name in first.schema.names]
            )
        missing = [(n, t) for n, t in self.types.items() if n not in schema.names]
        schema = given_types(schema, self.types)
        return Layout(
            pa.schema([*schema, *(pa.field(n, t) for n, t in missing)]), (None,)
        )

    def batches(
        self, filesystem: Any, file: File, piece: int, schema: pa.Schema, rows: int, /
    ) -> Iterator[pa.RecordBatch]:
        wanted = [(f.name, self.types.get(f.name, as_read(f.type))) for f in schema]
        with (
            reading(self.name, file),
            _explaining(filesystem, file),
            filesystem.open_input_stream(file.path) as stream,
        ):
            yield from pajson.open_json(
                stream,
                read_options=pajson.ReadOptions(
                    block_size=_BLOCK_BYTES, use_threads=False
                ),
                parse_options=pajson.ParseOptions(
                    explicit_schema=pa.schema(wanted),
                    unexpected_field_behavior="ignore",
                    newlines_in_values=False,
                ),
            )


@contextlib.contextmanager
def _explaining(filesystem: Any, file: File) -> Iterator[None]:
    """Turn what Arrow says into an error that helps."""
    try:
        yield
    except pa.ArrowInvalid as error:
        text = str(error)
        with filesystem.open_input_stream(file.path) as stream:
            start = bytes(stream.read(_LOOK_BYTES)).removeprefix(codecs.BOM_UTF8)
        changed = re.search(r"Column\(/(.+)\) changed from (\w+) to (\w+)", text)
        if not start.strip():
            why = "it is empty"
        elif start.lstrip().startswith(b"["):
            why = "it is one array. Take it apart first, for instance with `jq -c '.[]'`"
        elif changed:
            name, before, after = changed.groups()
            why = (
                f"in some lines the field `{name}` is a {before}, in others a {after}. "
                "Make them alike first"
            )
        else:
            raise
        msg = f"`{file.shown}` must have one object a line, all with the same fields; {why}."
        raise DataError(msg) from error


def _moment(values: pa.Array) -> pa.DataType:
    """Return the type of values; Arrow itself sees times in whole seconds only."""
    known = values.drop_null()
    if pa.types.is_string(values.type) and len(known):
        for type_ in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
            try:
                known.cast(type_)
            except pa.ArrowInvalid:
                continue
            return type_
    return values.type
