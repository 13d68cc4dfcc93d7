"""`Source`: data of any size as a list of parts, each read in bounded memory.

The contract that everything else rests on, resuming and clusters included:

- the parts of a source, their order and their names do not depend on when or where it is
  opened, as long as the files are the same;
- a row is known by the name of its file and its number in that file, before any filter;
- `read` yields batches whose edges depend on the part and on `batch_rows` alone.
"""

from __future__ import annotations

import bisect
import dataclasses
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
import pyarrow as pa

from fastmmd._errors import DataError
from fastmmd.tables.arrow import without_views
from fastmmd.tables.conditions import Among, Both, Condition, check_columns, literal_like
from fastmmd.tables.formats import File, Format, Layout, Memory
from fastmmd.tables.part import Batch, Part, rebatch
from fastmmd.tables.where import parse_where

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_BATCH_VALUES = 2**20
_FEWEST_ROWS = 2**10
_MOST_ROWS = 2**16
"""A batch has a million values or 8 MB, but neither very few nor very many rows."""

_MOST_VALUES = 20
"""Values of a column that a source is split by without naming them."""


@final
@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Source:
    """Data of any size in files or in memory; made by `open_source`.

    Attributes
    ----------
    name : str
        What was opened, for messages.
    schema : pyarrow.Schema
        Columns and their types, those of folders such as ``year=2018`` included.
    condition : Condition or None
        The filter of rows.
    files : tuple of File
        The files.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from fastmmd.tables import open_source
    >>> source = open_source(pa.table({"delay": [3, 9, 4], "year": [2017, 2018, 2018]}))
    >>> source.n_rows, source.schema.names
    (3, ['delay', 'year'])
    >>> old, new = source.split("year=2017,2018")
    """

    name: str
    schema: pa.Schema
    condition: Condition | None
    files: tuple[File, ...]
    format_: Format
    layouts: tuple[Layout, ...]
    stored: pa.Schema
    filesystem: Any

    def __repr__(self) -> str:
        n_files = len(self.files)
        files = "1 file" if n_files == 1 else f"{n_files} files"
        filtered = "" if self.condition is None else ", filtered"
        return (
            f"<Source {self.name!r}: {self.format}, {files}, {len(self.schema)} columns"
            f"{filtered}>"
        )

    @property
    def format(self) -> str:
        """Name of the format."""
        return self.format_.name

    @property
    def n_rows(self) -> int | None:
        """Rows before the filter, if known without reading the data."""
        numbers = [n for layout in self.layouts for n in layout.pieces]
        return None if None in numbers else sum(n for n in numbers if n is not None)

    @property
    def n_bytes(self) -> int | None:
        """Bytes of the files, if known."""
        sizes = [file.size for file in self.files]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def parts(self) -> tuple[Part, ...]:
        """Return the parts, in a fixed order; folders that a filter rules out have none."""
        found = []
        for file, layout in zip(self.files, self.layouts, strict=True):
            if not self._may_match(file):
                continue
            first: int = 0
            for piece, n_rows in enumerate(layout.pieces):
                found.append(Part(file.identity, piece, first, n_rows))
                first += n_rows or 0
        return tuple(found)

    def read(
        self,
        part: Part,
        columns: Sequence[str] | None = None,
        /,
        *,
        batch_rows: int | None = None,
        skip: int = 0,
    ) -> Iterator[Batch]:
        """Yield the rows of a part.

        Parameters
        ----------
        part : Part
            One of `parts`.
        columns : sequence of str, optional
            Columns to read; by default all.
        batch_rows : int, optional
            Rows of a batch before the filter; every batch but the last has as many. By
            default as many as make 8 MB.
        skip : int, default=0
            Rows to leave out at the start, a multiple of `batch_rows`.

        Yields
        ------
        Batch
            Rows and their numbers.
        """
        names = list(self.schema.names if columns is None else columns)
        check_columns(names, self.schema, option="columns")
        rows = batch_rows_for(len(names)) if batch_rows is None else batch_rows
        file = self.file_of(part)
        wanted = dict.fromkeys(
            [*names, *(self.condition.columns if self.condition else ())]
        )
        given = {name: value for name, value in file.partition if name in wanted}
        stored = pa.schema(
            [f for f in self.stored if f.name in wanted and f.name not in given]
        )
        place = 0
        raw = self.format_.batches(self.filesystem, file, part.piece, stored, rows)
        for whole in rebatch(map(without_views, raw), rows):
            start, place = place, place + whole.num_rows
            if place <= skip:
                continue
            batch = whole
            for name, value in given.items():
                batch = self._with_constant(batch, name, value)
            numbers = np.arange(start, place, dtype=np.uint64) + np.uint64(part.first_row)
            if self.condition is not None:
                mask = self.condition.mask(batch).fill_null(False)
                numbers = numbers[mask.to_numpy(zero_copy_only=False)]
                batch = batch.filter(mask)
            yield Batch(batch.select(names), numbers, whole.num_rows)

    def file_of(self, part: Part, /) -> File:
        """Return the file that a part is of."""
        place = bisect.bisect_left(self.files, part.file, key=lambda file: file.identity)
        file = self.files[min(place, len(self.files) - 1)]
        if file.identity != part.file:
            msg = f"`part` must be one of the source `{self.name}`; got {part}."
            raise DataError(msg)
        return file

    def filter(self, condition: Condition | str, /) -> Source:
        """Return the source with a further filter of rows."""
        if isinstance(condition, str):
            condition = parse_where(condition)
        check_columns(condition.columns, self._every_column(), option="where")
        # On no rows: types that do not go together show before anything is read.
        condition.mask(_no_rows(self._every_column()))
        both = condition if self.condition is None else Both(self.condition, condition)
        return dataclasses.replace(self, condition=both)

    def fingerprint(self) -> str | None:
        """Return a hash that tells whether the same files are read the same way.

        None for data in memory.
        """
        if isinstance(self.format_, Memory):
            return None
        files = [[f.path, f.identity, f.size, f.modified] for f in self.files]
        about = [files, repr(self.format_), repr(self.condition), str(self.stored)]
        return hashlib.sha256(json.dumps(about).encode()).hexdigest()

    def split(self, by: str, /) -> tuple[Source, ...]:
        """Return sources of the rows with each of several values in a column.

        Parameters
        ----------
        by : str
            ``"year=2017,2018"``, or ``"year"`` for all values if there are few.

        Returns
        -------
        tuple of Source
            One source for each value, without the column itself.
        """
        name, mark, listed = by.partition("=")
        name = name.strip()
        check_columns([name], self.schema, option="by")
        type_ = self.schema.field(name).type
        texts = (
            [text.strip() for text in listed.split(",")] if mark else self._values(name)
        )
        if len(texts) < 2 or len(set(texts)) < len(texts):
            msg = f"`by` must give at least 2 different values of `{name}`; got {texts}."
            raise DataError(msg)
        left = [field for field in self.schema if field.name != name]
        sources = []
        for text in texts:
            chosen = self.filter(Among(name, (_literal(text, type_, name),)))
            sources.append(
                dataclasses.replace(
                    chosen, name=f"{self.name} [{name}={text}]", schema=pa.schema(left)
                )
            )
        return tuple(sources)

    def _values(self, name: str) -> list[str]:
        """Return the different values of a column, as text."""
        found: dict[str, None] = {}
        for part in self.parts():
            for batch in self.read(part, [name]):
                column = batch.data.column(0)
                if pa.types.is_dictionary(column.type):
                    column = column.dictionary_decode()
                values = column.unique().drop_null().cast(pa.string()).to_pylist()
                found |= dict.fromkeys(values)
            if len(found) > _MOST_VALUES:
                msg = (
                    f"`by` must name a column of few values, or the values; `{name}` has "
                    f"more than {_MOST_VALUES}. Write for instance "
                    f'"{name}={",".join(list(found)[:2])}".'
                )
                raise DataError(msg)
        return sorted(found)

    def _every_column(self) -> pa.Schema:
        hidden = [f for f in self.stored if f.name not in self.schema.names]
        return pa.schema([*self.schema, *hidden])

    def _with_constant(
        self, batch: pa.RecordBatch, name: str, value: str | None
    ) -> pa.RecordBatch:
        type_ = self.stored.field(name).type
        scalar = pa.scalar(value, pa.string()).cast(type_)
        return batch.append_column(name, pa.repeat(scalar, batch.num_rows))

    def _may_match(self, file: File) -> bool:
        """Return whether the filter may let rows of a file through, by its folders."""
        if self.condition is None or not file.partition:
            return True
        names = {name for name, _ in file.partition}
        batch = pa.RecordBatch.from_pydict({"": [0]})
        for name, value in file.partition:
            batch = self._with_constant(batch, name, value)
        tests = [c for c in self.condition.conjuncts() if c.columns <= names]
        return all(test.mask(batch)[0].as_py() for test in tests)


def batch_rows_for(n_columns: int, /) -> int:
    """Return the rows of a batch: a power of two that depends on the width alone."""
    rows = _BATCH_VALUES // max(n_columns, 1)
    return max(_FEWEST_ROWS, min(_MOST_ROWS, 1 << max(rows.bit_length() - 1, 0)))


def _no_rows(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array([], type_) for type_ in schema.types], names=schema.names
    )


def _literal(text: str, type_: pa.DataType, name: str) -> Any:
    """Return text from `split` as a literal for a column of this type."""
    for value in (text, *_as_numbers(text)):
        try:
            literal_like(value, type_, name)
        except DataError:
            continue
        return value
    msg = f"`by` must give values of `{name}`, which is {type_}; got {text!r}."
    raise DataError(msg)


def _as_numbers(text: str) -> list[Any]:
    if text.lower() in ("true", "false"):
        return [text.lower() == "true"]
    found: list[Any] = []
    for convert in (int, float):
        try:
            found.append(convert(text))
        except ValueError:
            continue
    return found
