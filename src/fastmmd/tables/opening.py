"""`open_source`: find files, look into them, and agree on their columns."""

from __future__ import annotations

import codecs
import concurrent.futures
import dataclasses
import os
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from fastmmd._errors import DataError
from fastmmd._rows import check_read, is_table
from fastmmd._validation import check_choice
from fastmmd.tables.arrow import as_table, check_names
from fastmmd.tables.conditions import check_columns
from fastmmd.tables.formats import (
    CSV,
    IPC,
    File,
    Format,
    JSONLines,
    Layout,
    Memory,
    NumPy,
    Parquet,
)
from fastmmd.tables.formats.base import type_from_name
from fastmmd.tables.paths import FORMATS, find_files
from fastmmd.tables.source import Source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_INSPECT_THREADS = 8


def open_source(
    data: Any,
    /,
    *,
    columns: Sequence[str] | None = None,
    where: str | None = None,
    format: str | None = None,
    types: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    header: bool = True,
    encoding: str = "utf8",
    array: str | None = None,
    filesystem: Any = None,
) -> Source:
    r"""Open files or a table for reading in parts.

    Parameters
    ----------
    data : str, path, list of these, or table
        A file, a folder, a pattern (``"2018-*.csv"``, ``"data/**/*.parquet"``), a URL
        (``s3://bucket/folder``, ``gs://…``), or several of them: Parquet (also folders
        ``year=2018/…``), CSV and JSON lines (also ``.gz``, ``.bz2``, ``.zst``), Arrow IPC
        and Feather, ``.npy`` and ``.npz``. Or a table in memory.
    columns : sequence of str, optional
        The columns to offer; by default all that the files have in common.
    where : str, optional
        Condition on rows, such as ``"year == 2018 and delay > 3"``; also ``or``, ``not``,
        ``in (…)``, ``is null``, parentheses, names in backticks, dates as text in quotes.
    format : {"parquet", "csv", "arrow", "jsonl", "numpy"}, optional
        Format, if the names of the files do not tell.
    types : mapping, optional
        For text formats: types of columns whose first lines mislead, by the words
        ``"string"``, ``"float"``, ``"integer"``, ``"boolean"``, ``"date"``, ``"timestamp"``,
        ``"time"``.
    delimiter : str, optional
        For CSV: the character between values; by default a comma, a tab in ``.tsv`` files.
    header : bool, default=True
        For CSV: whether the first line has the names.
    encoding : str, default="utf8"
        For CSV: the encoding of the text.
    array : str, optional
        For ``.npz``: which array to read.
    filesystem : pyarrow.fs.FileSystem or fsspec file system, optional
        Where the paths are; by default paths are local and URLs tell.

    Returns
    -------
    Source
        The data, not yet read.

    Notes
    -----
    Opening reads the footers of Parquet files and the first 8 MB of text files.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "flights.csv"
    >>> _ = path.write_text("carrier,delay\nAA,3\nUA,12\nAA,7\n")
    >>> source = open_source(path, where="delay > 5")
    >>> source.format, source.schema.names, len(source.parts())
    ('CSV', ['carrier', 'delay'], 1)
    >>> [batch.data.to_pylist() for batch in source.read(source.parts()[0])]
    [[{'carrier': 'UA', 'delay': 12.0}, {'carrier': 'AA', 'delay': 7.0}]]
    """
    if isinstance(data, Source):
        source = data
    elif is_table(data):
        table = as_table(data, name="data")
        source = _assemble("table", None, [File("", "")], Memory(table))
    else:
        check_read(data, name="data")
        given: Any = data
        if not isinstance(given, (str, os.PathLike, list, tuple)):
            msg = (
                "`data` must be a path, a URL, a list of these or a table; got "
                f"{type(data).__name__}."
            )
            raise TypeError(msg)
        if format is not None:
            check_choice(format, FORMATS, name="format")
        system, files, name = find_files(data, filesystem=filesystem, format_name=format)
        _check_encoding(encoding)
        text = types is not None or delimiter is not None
        if text and name not in ("csv", "jsonl"):
            msg = f"`types` and `delimiter` must be left out for {name} files."
            raise ValueError(msg)
        named = {key: type_from_name(value) for key, value in (types or {}).items()}
        formats: dict[str, Format] = {
            "parquet": Parquet(),
            "csv": CSV(delimiter, header, encoding, named),
            "jsonl": JSONLines(named),
            "arrow": IPC(),
            "numpy": NumPy(array),
        }
        source = _assemble(_label(data, files), system, files, formats[name])
        check_columns(named, source.stored, option="types")
    if columns is not None:
        if isinstance(columns, str):
            msg = f"`columns` must be a list of names; got {columns!r}."
            raise TypeError(msg)
        check_columns(columns, source.schema, option="columns")
        fields = [source.schema.field(name) for name in dict.fromkeys(columns)]
        source = dataclasses.replace(source, schema=pa.schema(fields))
    return source if where is None else source.filter(where)


def _check_encoding(encoding: Any) -> None:
    try:
        codecs.lookup(encoding)
    except LookupError as error:
        msg = (
            '`encoding` must be the name of an encoding, such as "utf8" or "latin1"; got '
            f"{encoding!r}."
        )
        raise ValueError(msg) from error


def _assemble(
    name: str, filesystem: Any, files: Sequence[File], format_: Format
) -> Source:
    def inspect(file: File) -> Layout:
        return format_.inspect(filesystem, file)

    if len(files) == 1:
        layouts = [inspect(files[0])]
    else:
        # Footers of remote files take long to come, not long to read.
        with concurrent.futures.ThreadPoolExecutor(_INSPECT_THREADS) as pool:
            layouts = list(pool.map(inspect, files))
    # Equal schemas become one object: a source of many files is small to send.
    shared: dict[str, pa.Schema] = {}
    for i, layout in enumerate(layouts):
        check_names(layout.schema.names, origin=f"`{files[i].shown}`")
        same = shared.setdefault(str(layout.schema), layout.schema)
        layouts[i] = Layout(same, layout.pieces)
    pairs = [(file, layout.schema) for file, layout in zip(files, layouts, strict=True)]
    schema = format_.unify(pairs)
    partition = _partition_types(files)
    fields = [field for field in schema if field.name not in partition]
    schema = pa.schema([*fields, *partition.items()])
    if not schema.names:
        msg = (
            f"`{name}` must have columns that all its files have in common; it has none."
        )
        raise DataError(msg)
    return Source(
        name=name,
        schema=schema,
        condition=None,
        files=tuple(files),
        format_=format_,
        layouts=tuple(layouts),
        stored=schema,
        filesystem=filesystem,
    )


def _partition_types(files: Sequence[File]) -> dict[str, pa.DataType]:
    """Return the columns that folders are named after: whole numbers or text."""
    values: dict[str, list[str | None]] = {}
    for file in files:
        for name, value in file.partition:
            values.setdefault(name, []).append(value)
    found = {}
    for name, texts in values.items():
        if len(texts) < len(files):
            msg = f"folders must all be named after `{name}`, or none; some are not."
            raise DataError(msg)
        whole = all(t is None or t.lstrip("-").isdigit() for t in texts)
        found[name] = pa.int64() if whole else pa.string()
    return found


def _label(data: Any, files: Sequence[File]) -> str:
    if isinstance(data, (str, os.PathLike)):
        return os.fspath(data)
    return (
        f"{os.fspath(data[0])}, … ({len(files)} files)" if len(data) > 1 else str(data[0])
    )
