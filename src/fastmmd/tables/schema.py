"""`Schema`: how the columns of a table become numbers, the same way every time."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

import numpy as np

from fastmmd._errors import DataError, DataWarning
from fastmmd._validation import check_choice, check_count
from fastmmd.tables.arrow import as_table, check_names
from fastmmd.tables.columns import (
    KINDS,
    column_from_json,
    column_to_json,
    kind_of,
    type_name,
)
from fastmmd.tables.encode import Encoded, check_values, encode_batch
from fastmmd.tables.infer import infer_columns, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from fastmmd._typing import FloatArray
    from fastmmd.tables.columns import Column

Scale: TypeAlias = Literal["robust", "standard"]
Missing: TypeAlias = Literal["raise", "drop", "indicator"]

MAX_LEVELS = 32
SCHEMA_VERSION = 1

_BATCH_ROWS = 2**16
"""Rows encoded together: temporaries stay in cache."""


@final
@dataclass(frozen=True, slots=True)
class SchemaOptions:
    """How a schema is to be inferred; the options of `Schema.infer`, checked."""

    columns: Sequence[str] | None = None
    exclude: Sequence[str] | None = None
    scale: Scale = "robust"
    missing: Missing = "raise"
    kinds: Mapping[str, str] | None = None
    max_levels: int = MAX_LEVELS

    def __post_init__(self) -> None:
        _check_choices(self.scale, self.missing)
        check_count(self.max_levels, name="max_levels", minimum=2)
        kinds: Any = self.kinds
        if not isinstance(kinds, Mapping | None):
            msg = f"`kinds` must map names of columns to kinds; got {kinds!r}."
            raise TypeError(msg)
        for name, kind in (kinds or {}).items():
            check_choice(kind, KINDS, name="kinds", where=f" for `{name}`")
        for option, asked in (("columns", self.columns), ("exclude", self.exclude)):
            if isinstance(asked, str):
                msg = (
                    f"`{option}` must be a list of names; got {asked!r}. Write "
                    f"`[{asked!r}]`."
                )
                raise TypeError(msg)

    def choose(self, schemas: Sequence[pa.Schema], /) -> tuple[list[str], list[str]]:
        """Return the names of the columns to use, and notes on those left out."""
        every: dict[str, int] = {}
        for schema in schemas:
            for name in schema.names:
                every[name] = every.get(name, 0) + 1
        for option, asked in (("columns", self.columns), ("exclude", self.exclude)):
            unknown = [name for name in asked or () if name not in every]
            if unknown:
                msg = (
                    f"`{option}` must name columns of the data; got {quoted(unknown)}. "
                    f"They have {quoted(list(every))}."
                )
                raise DataError(msg)
        left_out = set(self.exclude or ())
        alone = [n for n in every if every[n] < len(schemas) and n not in left_out]
        asked = list(dict.fromkeys(self.columns or every))
        if self.columns is not None:
            lacking = [name for name in asked if name in alone]
            if lacking:
                msg = (
                    f"`columns` must be in all data; got {quoted(lacking)} only in some."
                )
                raise DataError(msg)
            alone = []
        used = [n for n in asked if every[n] == len(schemas) and n not in left_out]
        if not used:
            have = " and ".join(f"({', '.join(own.names) or 'none'})" for own in schemas)
            what = "in common" if len(schemas) > 1 else "to use"
            msg = f"the data must have columns {what}; they have {have}."
            msg += _look_alike(alone)
            if left_out:
                msg += f" Left out by `exclude`: {quoted(sorted(left_out))}."
            raise DataError(msg)
        for name in self.kinds or {}:
            if name not in used:
                msg = f"`kinds` must name columns that are used; got `{name}`."
                raise DataError(msg)
        note = f"columns that not all data have, left out: {quoted(alone)}."
        return used, [note + _look_alike(alone)] if alone else []


@final
@dataclass(frozen=True, slots=True)
class SchemaReport:
    """How the columns of a table differ from those of a schema.

    Attributes
    ----------
    missing : tuple of str
        Columns of the schema that the table lacks.
    incompatible : tuple of str
        Columns that hold another kind of data, as sentences.
    new : tuple of str
        Columns of the table that the schema does not have; they are not used.
    changed : tuple of str
        Columns of another type that can be used all the same, as sentences.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from fastmmd.tables import Schema
    >>> schema = Schema.infer(pa.table({"delay": [1.0, 2.0], "gate": ["A", "B"]}))
    >>> report = schema.compare(pa.table({"delay": [3.0], "tail": ["N1"]}))
    >>> report.missing, report.new
    (('gate',), ('tail',))
    """

    missing: tuple[str, ...] = ()
    incompatible: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What does not keep the table from being used, as sentences."""
        notes = [f"column {text}." for text in self.changed]
        if self.new:
            notes.append(
                f"columns that the schema has not, left out: {quoted(self.new)}."
            )
        return tuple(notes)


@final
@dataclass(frozen=True, slots=True)
class Schema:
    """How the columns of a table become numbers.

    Inferred once, from a sample of both data sets or of the reference, and then used for
    every table that is to be compared: with other constants the numbers would differ even
    if the tables do not. A sketch of a table carries its schema.

    Parameters
    ----------
    columns : tuple of Column
        What becomes of each column, in the order of the encoded rows.
    scale : {"robust", "standard"}, default="robust"
        Where centers and scales came from.
    missing : {"raise", "drop", "indicator"}, default="raise"
        What becomes of missing values.

    See Also
    --------
    fastmmd.tables.two_sample_test : Infers a schema, encodes and tests.

    Notes
    -----
    Every column gets about the same weight: between two random rows of the sample its
    squared distance is 2 on average. Numbers are standardised, by the median and the
    distance between quartiles (``"robust"``) or by mean and standard deviation. A category
    with k levels becomes k + 1 numbers of which one, the level's, is not 0; the last is for
    levels that the sample did not have. Its size makes up for the chance that two rows
    have the same level, but is at most 2, so that a rare level does not outweigh everything
    else. With more than `max_levels` levels the frequent half keep their own places and all
    others share the rest, by a hash of their text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from fastmmd.tables import Schema
    >>> table = pa.table(
    ...     {"delay": [1.0, 2.0, 3.0, 9.0], "carrier": ["AA", "UA", "AA", "AA"]}
    ... )
    >>> schema = Schema.infer(table)
    >>> schema.encoded_names
    ('delay', 'carrier = AA', 'carrier = UA', 'carrier = (other)')
    >>> schema.encode(table)[0].round(2)
    array([-0.74,  1.63,  0.  ,  0.  ])
    """

    columns: tuple[Column, ...]
    scale: Scale = "robust"
    missing: Missing = "raise"

    @classmethod
    def infer(
        cls,
        *samples: Any,
        columns: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        scale: Scale = "robust",
        missing: Missing = "raise",
        kinds: Mapping[str, str] | None = None,
        max_levels: int = MAX_LEVELS,
    ) -> Schema:
        """Return the schema of one or several tables, pooled.

        Parameters
        ----------
        *samples : table
            Tables of pandas, Polars, PyArrow or another library with the Arrow protocol.
        columns : sequence of str, optional
            The columns to use; by default all that the samples have in common.
        exclude : sequence of str, optional
            Columns to leave out.
        scale : {"robust", "standard"}, default="robust"
            Median and distance between quartiles, or mean and standard deviation.
        missing : {"raise", "drop", "indicator"}, default="raise"
            What to do with missing values, also of later data: refuse, leave their rows
            out, or let "missing" be a value.
        kinds : mapping, optional
            Kinds of columns that differ from what their type says, for instance
            ``{"zip_code": "categorical"}`` for a number that is a name.
        max_levels : int, default=32
            Largest number of places for the levels of one category.

        Returns
        -------
        Schema
            The schema. Constant columns and columns that only some samples have are told
            of in a `fastmmd.DataWarning`.

        Examples
        --------
        >>> import pyarrow as pa
        >>> print(Schema.infer(pa.table({"x": [1, 2, 3], "flag": [True, False, True]})))
        Schema of 2 columns, 2 numbers a row (scale robust, missing raise)
          x: numeric, centre 2, scale 0.741301 (integer)
          flag: boolean, centre 0.666667, scale 0.471405 (boolean)
        """
        if not samples:
            msg = "`samples` must be at least one table; got none."
            raise TypeError(msg)
        labels = [
            f"samples[{i}]" if len(samples) > 1 else "sample" for i in range(len(samples))
        ]
        tables = [
            as_table(sample, name=label)
            for sample, label in zip(samples, labels, strict=True)
        ]
        options = SchemaOptions(columns, exclude, scale, missing, kinds, max_levels)
        names, left_out = options.choose([table.schema for table in tables])
        schemas = [
            (f"`{label}`", table.schema)
            for label, table in zip(labels, tables, strict=True)
        ]
        schema, notes = infer_schema(tables, names, options, schemas=schemas)
        notes = left_out + notes
        for note in notes:
            warnings.warn(note, DataWarning, stacklevel=2)
        return schema

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def encoded_names(self) -> tuple[str, ...]:
        """Names of the numbers of an encoded row."""
        names = [name for column in self.columns for name in column.encoded_names]
        if self.missing == "indicator":
            names.append("(missing elsewhere)")
        return tuple(names)

    @property
    def n_encoded(self) -> int:
        """Numbers in an encoded row."""
        return len(self.encoded_names)

    def compare(self, table: Any, /) -> SchemaReport:
        """Return how the columns of a table, or of an Arrow schema, differ from these."""
        types = arrow_types(table)
        incompatible, changed = [], []
        for column in self.columns:
            type_ = types.get(column.name)
            if type_ is None:
                continue
            kind, named = kind_of(type_), type_name(type_)
            if kind is None or not column.accepts(kind):
                incompatible.append(f"`{column.name}` is {type_}, not {column.type}")
            elif named != column.type:
                changed.append(f"`{column.name}` is {named}, in the schema {column.type}")
        return SchemaReport(
            tuple(name for name in self.names if name not in types),
            tuple(incompatible),
            tuple(name for name in types if name not in self.names),
            tuple(changed),
        )

    def check(self, table: Any, /, *, origin: str = "table") -> SchemaReport:
        """Raise `fastmmd.DataError` if a table cannot be encoded; return what differs."""
        report = self.compare(table)
        if report.missing or report.incompatible:
            wrong = (
                [f"it has no column {quoted(report.missing)}"] if report.missing else []
            )
            wrong += report.incompatible
            msg = f"{origin} must have the columns of the schema; {'; '.join(wrong)}."
            if report.missing and report.new:
                msg += f" Its other columns are {quoted(report.new)}."
            raise DataError(msg)
        return report

    def encode(self, table: Any, /) -> FloatArray:
        """Return a table as rows of numbers; columns are found by name.

        Parameters
        ----------
        table : table
            A table of pandas, Polars, PyArrow or another library with the Arrow protocol.

        Returns
        -------
        ndarray of shape (n, n_encoded)
            The rows, fewer than the table's with ``missing="drop"``.

        Notes
        -----
        Time is some nanoseconds for a number, about 100 for a string with few levels, and
        about 500 for one of which every row has another.
        """
        return self.encode_parts(as_table(table)).rows

    def encode_parts(self, table: pa.Table, /, *, origin: str = "table") -> Encoded:
        """Return the encoded rows of an Arrow table with what is known of missing values.

        Rows with missing values are already left out of the result's `rows` if that is
        the policy; its `missing` says which they were.
        """
        self.check(table.schema, origin=origin)
        table = table.select(list(self.names))
        rows = np.empty((table.num_rows, self.n_encoded))
        absent = np.zeros(table.num_rows, dtype=np.bool_)
        n_missing: dict[str, int] = {}
        n_infinite: dict[str, int] = {}
        place = 0
        for batch in table.to_batches(max_chunksize=_BATCH_ROWS):
            part = self.encode_batch(batch)
            after = place + batch.num_rows
            rows[place:after] = part.rows
            if part.missing is not None:
                absent[place:after] = part.missing
            for total, found in (
                (n_missing, part.n_missing),
                (n_infinite, part.n_infinite),
            ):
                for name, n in found.items():
                    total[name] = total.get(name, 0) + n
            place = after
        self.check_values(n_missing, n_infinite, table.num_rows, origin=origin)
        if absent.any():
            return Encoded(rows[~absent], absent, n_missing)
        return Encoded(rows, None, n_missing)

    def encode_batch(self, batch: pa.RecordBatch, /) -> Encoded:
        """Return one Arrow batch encoded, with missing and infinite values left in."""
        return encode_batch(self.columns, batch, indicator=self.missing == "indicator")

    def check_values(
        self,
        n_missing: Mapping[str, int],
        n_infinite: Mapping[str, int],
        n_rows: int,
        /,
        *,
        origin: str,
        like: bool = False,
    ) -> None:
        """Raise if values are infinite, or missing against the policy.

        With `like` the policy is that of a sketch that was given.
        """
        check_values(
            n_missing,
            n_infinite,
            n_rows,
            missing=self.missing,
            origin=origin,
            like=like,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the schema in plain JSON types; `from_json` makes it again."""
        return {
            "version": SCHEMA_VERSION,
            "scale": self.scale,
            "missing": self.missing,
            "columns": [column_to_json(column) for column in self.columns],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any], /) -> Schema:
        """Return the schema that `to_json` described."""
        try:
            version = value["version"]
            if type(version) is not int or not 1 <= version <= SCHEMA_VERSION:
                msg = f"a schema must be of version {SCHEMA_VERSION}; got {version!r}."
                raise DataError(msg)
            columns = tuple(column_from_json(column) for column in value["columns"])
            scale, missing = value["scale"], value["missing"]
        except (KeyError, TypeError) as error:
            msg = f"a schema must be what `Schema.to_json` returned; got {value!r}."
            raise DataError(msg) from error
        _check_choices(scale, missing)
        return cls(columns, scale, missing)

    def __str__(self) -> str:
        head = (
            f"Schema of {len(self.columns)} columns, {self.n_encoded} numbers a row "
            f"(scale {self.scale}, missing {self.missing})"
        )
        return "\n".join([head, *(f"  {column}" for column in self.columns)])


def infer_schema(
    tables: Sequence[pa.Table],
    names: Sequence[str],
    options: SchemaOptions,
    /,
    *,
    origin: str = "table",
    check: bool = True,
    schemas: Sequence[tuple[str, pa.Schema]],
) -> tuple[Schema, list[str]]:
    """Return the schema of several tables, pooled, and notes for the user.

    With `check` missing values are an error if that is the policy, else only for whoever
    encodes the tables. `schemas` are those of the data that the tables are a sample of, each
    with what to call it.
    """
    if not sum(table.num_rows for table in tables):
        msg = f"{origin} must have at least one row; it has none."
        raise DataError(msg)
    found, notes = infer_columns(
        tables,
        names,
        scale=options.scale,
        missing=options.missing,
        kinds=options.kinds or {},
        max_levels=options.max_levels,
        origin=origin,
        check=check,
        schemas=schemas,
    )
    return Schema(found, options.scale, options.missing), notes


def changed_types(schema: Schema, found: pa.Schema, label: str, /) -> list[str]:
    """Return notes on columns of one data set whose type is not that of all of them."""
    return [f"in {label} column {text}." for text in schema.compare(found).changed]


def _look_alike(names: Sequence[str], /) -> str:
    """Return a sentence on names that differ only in spaces or case, if there are any."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault("".join(name.split()).casefold(), []).append(name)
    same = [" and ".join(f"`{name}`" for name in own) for own in groups.values()]
    same = [text for text, own in zip(same, groups.values(), strict=True) if own[1:]]
    return f" Only in spaces or case differ {', '.join(same)}." if same else ""


def arrow_types(table: Any, /) -> dict[str, pa.DataType]:
    """Return the types by name of a table, an Arrow schema or a source."""
    import pyarrow as pa

    schema = table if isinstance(table, pa.Schema) else getattr(table, "schema", None)
    if not isinstance(schema, pa.Schema):
        schema = as_table(table).schema
    check_names(schema.names, origin="a table")
    return dict(zip(schema.names, schema.types, strict=True))


def _check_choices(scale: Any, missing: Any) -> None:
    check_choice(scale, ("robust", "standard"), name="scale")
    check_choice(missing, ("raise", "drop", "indicator"), name="missing")
