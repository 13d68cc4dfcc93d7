"""CSV and other delimited text, also compressed: one piece for each file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, final

import pyarrow as pa
import pyarrow.csv as pacsv

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
"""Text that types are inferred from: the start of each file."""

_BLOCK_BYTES = 2**20


@final
@dataclass(frozen=True, slots=True)
class CSV(TextFormat):
    """Delimited text.

    Parameters
    ----------
    delimiter : str, optional
        Character between values; by default a tab in ``.tsv`` files, else a comma.
    header : bool, default=True
        Whether the first line has the names; else they are ``f0``, ``f1``, ….
    encoding : str, default="utf8"
        Encoding of the text.
    types : mapping, optional
        Types of columns that must not be inferred.
    """

    name: ClassVar[str] = "CSV"
    delimiter: str | None = None
    header: bool = True
    encoding: str = "utf8"
    types: Mapping[str, pa.DataType] = field(default_factory=dict)

    def inspect(self, filesystem: Any, file: File, /) -> Layout:
        with (
            reading(self.name, file),
            filesystem.open_input_stream(file.path) as stream,
        ):
            try:
                reader = self._open(stream, file, _SNIFF_BYTES, {}, None)
            except pa.ArrowInvalid as error:
                self._explain(error, file, [])
            schema = reader.schema
        empty = [f.name for f in schema if pa.types.is_null(f.type)]
        if empty:
            later = self._later_types(filesystem, file, empty)
            schema = given_types(schema, later)
        return Layout(given_types(schema, self.types), (None,))

    def batches(
        self, filesystem: Any, file: File, piece: int, schema: pa.Schema, rows: int, /
    ) -> Iterator[pa.RecordBatch]:
        # Types at hand from the start are used as they are; others may turn out fractions.
        types = {f.name: self.types.get(f.name, as_read(f.type)) for f in schema}
        with (
            reading(self.name, file),
            filesystem.open_input_stream(file.path) as stream,
        ):
            try:
                yield from self._open(stream, file, _BLOCK_BYTES, types, schema.names)
            except pa.ArrowInvalid as error:
                self._explain(error, file, schema.names)

    def _open(
        self,
        stream: Any,
        file: File,
        block_size: int,
        types: Mapping[str, pa.DataType],
        names: list[str] | None,
    ) -> Any:
        tab = re.search(r"\.tsv(\.\w+)?$", file.path, re.IGNORECASE)
        return pacsv.open_csv(
            stream,
            # One thread: only then do errors say in which row they are; no slower here.
            read_options=pacsv.ReadOptions(
                block_size=block_size,
                use_threads=False,
                encoding=self.encoding,
                autogenerate_column_names=not self.header,
            ),
            parse_options=pacsv.ParseOptions(
                delimiter=self.delimiter or ("\t" if tab else ","),
                newlines_in_values=True,
            ),
            convert_options=pacsv.ConvertOptions(
                column_types=dict(types),
                include_columns=names,
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )

    def _later_types(
        self, filesystem: Any, file: File, names: list[str]
    ) -> dict[str, pa.DataType]:
        """Return the types of columns that are empty at the start but not later on."""
        found: dict[str, pa.DataType] = {}
        schema = pa.schema([(name, pa.string()) for name in names])
        for batch in self.batches(filesystem, file, 0, schema, 0):
            for name in [name for name in names if name not in found]:
                values = batch.column(name).drop_null().unique()
                if len(values):
                    found[name] = _inferred(values)
            if len(found) == len(names):
                break
        return found

    def _explain(self, error: pa.ArrowInvalid, file: File, names: list[str]) -> NoReturn:
        text = str(error)
        ragged = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+): ?(.*)", text)
        if ragged:
            line, expected, got, content = ragged.groups()
            msg = (
                f"`{file.path}`, line {line}, must have {expected} values like the lines "
                f"before; got {got}: {content[:60]!r}."
            )
            raise DataError(msg) from error
        wrong = re.search(
            r"column #(\d+): (?:Row #(\d+): )?.*conversion error to ([^:]+): "
            r"(?:invalid value )?(.*)",
            text,
        )
        if wrong and names:
            index, row, type_, value = wrong.groups()
            name = names[int(index)]
            msg = (
                f"`{file.path}`, line {row}, column `{name}` must be of type {type_} like "
                f"the rows before; got {value[:60]}. If the column holds text, pass "
                f"`types={{{name!r}: 'string'}}`."
            )
            raise DataError(msg) from error
        if text.startswith("Empty CSV"):
            msg = f"`{file.path}` must have a line with the names of the columns; it is empty."
            raise DataError(msg) from error
        raise error


def _inferred(values: pa.Array) -> pa.DataType:
    """Return the type that strings would be read as."""
    lines = ["x", *('"' + v.replace('"', '""') + '"' for v in values.to_pylist())]
    text = "\n".join(lines).encode()
    table = pacsv.read_csv(
        pa.BufferReader(text), parse_options=pacsv.ParseOptions(newlines_in_values=True)
    )
    return table.schema.types[0]
