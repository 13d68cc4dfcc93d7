"""``fastmmd inspect``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from fastmmd.cli.data import is_sketch, load_sketch
from fastmmd.cli.options import (
    DEFAULT_OUTPUT,
    DEFAULT_READING,
    DataPath,
    Output,
    Reading,
)
from fastmmd.cli.output import Fields, count, names, size, write_json, write_report

if TYPE_CHECKING:
    from fastmmd.sketch import Sketch
    from fastmmd.tables import Schema

_MOST_STREAMS = 8


def inspect(
    file: DataPath,
    /,
    *,
    reading: Reading = DEFAULT_READING,
    output: Output = DEFAULT_OUTPUT,
) -> int:
    """Say what a sketch or a data set holds, without reading all of it.

    Parameters
    ----------
    file
        A sketch, or data: a file, a folder, a pattern or a URL.
    """
    if is_sketch(file):
        held = read_sketch_file(file)
        found = held.to_dict()
        headline = f"{file}: a sketch of {count(held.sketch.count, 'row')}."
        fields = held.fields()
    else:
        found = _describe_data(file, reading)
        headline = f"{file}: {found['format']} data."
        fields = _data_fields(found)
    if output.json:
        write_json(found)
    else:
        write_report(headline, fields)
    return 0


@final
@dataclass(frozen=True, slots=True, eq=False)
class SketchFile:
    """A sketch with what its file says beside."""

    path: str
    n_bytes: int
    version: int
    streams: dict[str, int]
    sketch: Sketch

    @property
    def schema(self) -> Schema | None:
        """The schema, if the sketch is of a table."""
        if self.sketch.schema is None:
            return None
        from fastmmd.tables import schema_of

        return schema_of(self.sketch)

    def to_dict(self) -> dict[str, Any]:
        """Return all that is known in plain types."""
        sketch, schema = self.sketch, self.sketch.schema or {}
        return {
            "file": self.path,
            "kind": "sketch",
            "format_version": self.version,
            "bytes": self.n_bytes,
            "rows": sketch.count,
            "numbers_per_row": sketch.n_columns,
            "kernels": [repr(kernel) for kernel in sketch.kernels],
            "n_frequencies": list(sketch.n_frequencies),
            "n_bins": sketch.n_bins,
            "seed": sketch.seed,
            "streams": self.streams,
            "scale": schema.get("scale"),
            "missing": schema.get("missing"),
            "columns": schema.get("columns"),
        }

    def summary(self) -> Fields:
        """Return what one wants to know of a sketch just made."""
        schema, sketch = self.schema, self.sketch
        columns = (
            f"{sketch.n_columns}, without names"
            if schema is None
            else f"{names(schema.names)}; {count(sketch.n_columns, 'number')} a row"
        )
        kernels = f"{len(sketch.kernels)}, {sum(sketch.n_frequencies)} frequencies"
        return [
            ("size", f"{size(self.n_bytes)}, format version {self.version}"),
            ("columns", columns),
            ("kernels", kernels),
        ]

    def fields(self) -> Fields:
        """Return everything, constants of columns included."""
        schema, sketch = self.schema, self.sketch
        largest = sorted(self.streams.items(), key=lambda item: -item[1])
        if schema is None:
            columns = [("columns", f"{sketch.n_columns}, without names")]
        else:
            about = (
                f"{len(schema.names)}, {count(sketch.n_columns, 'number')} a row (scale "
                f"{schema.scale}, missing {schema.missing})"
            )
            columns = [("columns", about), *(("", str(c)) for c in schema.columns)]
        return [
            ("size", f"{size(self.n_bytes)}, format version {self.version}"),
            ("bins", f"{sketch.n_bins}, seed of frequencies {sketch.seed}"),
            ("kernels", f"{len(sketch.kernels)}"),
            *(
                ("", f"{kernel}, {number} frequencies")
                for kernel, number in zip(
                    sketch.kernels, sketch.n_frequencies, strict=True
                )
            ),
            ("streams", f"{len(largest)}"),
            *(("", f"{name}: {count(n, 'row')}") for name, n in largest[:_MOST_STREAMS]),
            *([("", "…")] if len(largest) > _MOST_STREAMS else []),
            *columns,
        ]


def read_sketch_file(path: DataPath, /) -> SketchFile:
    """Read a sketch and what its file says beside."""
    sketch = load_sketch(path)
    data = Path(path).expanduser().read_bytes()
    return _sketch_file(path, data, sketch)


def written_sketch_file(path: DataPath, sketch: Sketch, /) -> SketchFile:
    """Return a sketch with what was written beside it; a pipe cannot be read again."""
    return _sketch_file(path, sketch.to_bytes(), sketch)


def _sketch_file(path: DataPath, data: bytes, sketch: Sketch) -> SketchFile:
    from fastmmd.sketch.container import unpack_container
    from fastmmd.sketch.file import FORMAT, FORMAT_VERSION

    name = os.fspath(path)
    header, _ = unpack_container(data, FORMAT, FORMAT_VERSION, origin=name)
    return SketchFile(name, len(data), header["version"], header["streams"], sketch)


def _describe_data(path: DataPath, reading: Reading) -> dict[str, Any]:
    """Return what a data set holds, in plain types."""
    source = reading.open(os.fspath(path))
    partitions = {name for file in source.files for name, _ in file.partition}
    return {
        "file": os.fspath(path),
        "kind": "data",
        "format": source.format,
        "files": len(source.files),
        "parts": len(source.parts()),
        "rows": source.n_rows,
        "bytes": source.n_bytes,
        "filtered": source.condition is not None,
        "columns": [
            {
                "name": field.name,
                "type": str(field.type),
                "from_folder": field.name in partitions,
            }
            for field in source.schema
        ],
    }


def _data_fields(found: dict[str, Any]) -> Fields:
    """Return the table about a data set."""
    rows = "not known before they are read" if found["rows"] is None else None
    rows = (
        rows or f"{found['rows']:,}{', before the filter' if found['filtered'] else ''}"
    )
    n_bytes = "" if found["bytes"] is None else f", {size(found['bytes'])}"
    width = max(len(column["name"]) for column in found["columns"])
    return [
        ("rows", rows),
        ("files", f"{found['files']:,}, {count(found['parts'], 'part')}{n_bytes}"),
        ("columns", f"{len(found['columns'])}"),
        *(
            (
                "",
                f"{column['name']:<{width}}  {column['type']}"
                + (", from names of folders" if column["from_folder"] else ""),
            )
            for column in found["columns"]
        ),
    ]
