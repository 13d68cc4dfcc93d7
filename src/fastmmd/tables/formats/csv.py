"""CSV and other delimited text, also compressed: one piece for each file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, final

import pyarrow as pa
import pyarrow.csv as pacsv

from fastmmd.tables.formats.base import (
    File,
    Layout,
    TextFormat,
    as_read,
    given_types,
    reading,
)
from fastmmd.tables.formats.csv_errors import Diagnosis

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
        diagnosis = Diagnosis(self, filesystem, file)
        with (
            reading(self.name, file),
            diagnosis.explaining(),
            filesystem.open_input_stream(file.path) as stream,
        ):
            try:
                schema = self._open(stream, file, _SNIFF_BYTES, {}, None).schema
            except pa.ArrowInvalid:
                names = diagnosis.names_alone()
                if names is None:
                    raise
                schema = pa.schema([(name, pa.null()) for name in names])
            diagnosis.check_encoding(schema)
            diagnosis.check_delimiter(schema)
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
        diagnosis = Diagnosis(self, filesystem, file)
        with (
            reading(self.name, file),
            diagnosis.explaining(schema.names),
            filesystem.open_input_stream(file.path) as stream,
        ):
            try:
                opened = self._open(stream, file, _BLOCK_BYTES, types, schema.names)
            except pa.ArrowInvalid:
                if diagnosis.names_alone() is None:
                    raise
                return
            yield from opened

    def delimiter_of(self, file: File, /) -> str:
        """Return the character between values of a file."""
        tab = re.search(r"\.tsv(\.\w+)?$", file.path, re.IGNORECASE)
        return self.delimiter or ("\t" if tab else ",")

    def _open(
        self,
        stream: Any,
        file: File,
        block_size: int,
        types: Mapping[str, pa.DataType],
        names: list[str] | None,
    ) -> Any:
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
                delimiter=self.delimiter_of(file),
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


def _inferred(values: pa.Array) -> pa.DataType:
    """Return the type that strings would be read as."""
    lines = ["x", *('"' + v.replace('"', '""') + '"' for v in values.to_pylist())]
    text = "\n".join(lines).encode()
    table = pacsv.read_csv(
        pa.BufferReader(text), parse_options=pacsv.ParseOptions(newlines_in_values=True)
    )
    return table.schema.types[0]
