"""Conditions on rows: frozen values that turn a batch into a mask.

As in SQL a comparison with a missing value is neither true nor false.
"""

from __future__ import annotations

import abc
import datetime as dt
import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import pyarrow as pa
import pyarrow.compute as pc

from fastmmd._errors import DataError
from fastmmd.tables.columns import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable

COMPARISONS = {
    "==": pc.equal,
    "=": pc.equal,
    "!=": pc.not_equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


class Condition(abc.ABC):
    """A condition on the rows of a table."""

    __slots__ = ()

    @property
    @abc.abstractmethod
    def columns(self) -> frozenset[str]:
        """The columns it looks at."""

    @abc.abstractmethod
    def mask(self, batch: pa.RecordBatch, /) -> Any:
        """Return for each row whether the condition holds; null where that is not known."""

    def conjuncts(self) -> tuple[Condition, ...]:
        """Return conditions that must all hold."""
        return (self,)


@final
@dataclass(frozen=True, slots=True)
class Value:
    """A column or a literal."""

    column: str | None = None
    literal: Any = None

    @property
    def columns(self) -> frozenset[str]:
        return frozenset() if self.column is None else frozenset([self.column])


@final
@dataclass(frozen=True, slots=True)
class Comparison(Condition):
    """A comparison of two values."""

    left: Value
    symbol: str
    right: Value

    @property
    def columns(self) -> frozenset[str]:
        return self.left.columns | self.right.columns

    def mask(self, batch: pa.RecordBatch, /) -> Any:
        left, right = _operands(batch, self.left, self.right)
        if pa.types.is_null(left.type) or pa.types.is_null(right.type):
            return pa.nulls(batch.num_rows, pa.bool_())
        try:
            return COMPARISONS[self.symbol](left, right)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            msg = (
                f"`where` must compare like with like; got {left.type} and {right.type}."
            )
            raise DataError(msg) from error


@final
@dataclass(frozen=True, slots=True)
class Among(Condition):
    """Whether a column's value is one of several."""

    column: str
    literals: tuple[Any, ...]

    @property
    def columns(self) -> frozenset[str]:
        return frozenset([self.column])

    def mask(self, batch: pa.RecordBatch, /) -> Any:
        column = Value(self.column)
        masks = [
            Comparison(column, "==", Value(literal=literal)).mask(batch)
            for literal in self.literals
        ]
        result = masks[0]
        for mask in masks[1:]:
            result = pc.or_kleene(result, mask)
        return result


@final
@dataclass(frozen=True, slots=True)
class IsNull(Condition):
    """Whether a column's value is missing: null or NaN."""

    column: str

    @property
    def columns(self) -> frozenset[str]:
        return frozenset([self.column])

    def mask(self, batch: pa.RecordBatch, /) -> Any:
        return pc.is_null(_column(batch, self.column), nan_is_null=True)


@final
@dataclass(frozen=True, slots=True)
class Flag(Condition):
    """A boolean column by itself."""

    column: str

    @property
    def columns(self) -> frozenset[str]:
        return frozenset([self.column])

    def mask(self, batch: pa.RecordBatch, /) -> Any:
        found = _column(batch, self.column)
        if not pa.types.is_boolean(found.type):
            msg = (
                f"`where` must compare `{self.column}` with something: it is {found.type}, "
                "not true or false."
            )
            raise DataError(msg)
        return found


@final
@dataclass(frozen=True, slots=True)
class Not(Condition):
    """The opposite of a condition."""

    inner: Condition

    @property
    def columns(self) -> frozenset[str]:
        return self.inner.columns

    def mask(self, batch: pa.RecordBatch, /) -> Any:
        return pc.invert(self.inner.mask(batch))


@final
@dataclass(frozen=True, slots=True)
class Both(Condition):
    """Two conditions at once."""

    left: Condition
    right: Condition

    @property
    def columns(self) -> frozenset[str]:
        return self.left.columns | self.right.columns

    def mask(self, batch: pa.RecordBatch, /) -> Any:
        return pc.and_kleene(self.left.mask(batch), self.right.mask(batch))

    def conjuncts(self) -> tuple[Condition, ...]:
        return (*self.left.conjuncts(), *self.right.conjuncts())


@final
@dataclass(frozen=True, slots=True)
class Either(Condition):
    """One of two conditions, or both."""

    left: Condition
    right: Condition

    @property
    def columns(self) -> frozenset[str]:
        return self.left.columns | self.right.columns

    def mask(self, batch: pa.RecordBatch, /) -> Any:
        return pc.or_kleene(self.left.mask(batch), self.right.mask(batch))


def check_columns(names: Iterable[str], schema: pa.Schema, /, *, option: str) -> None:
    """Raise if columns do not exist, and say which one may have been meant."""
    for name in sorted(names):
        if name not in schema.names:
            near = difflib.get_close_matches(name, schema.names, n=1)
            hint = f" Did you mean `{near[0]}`?" if near else ""
            listed = ", ".join(f"`{other}`" for other in schema.names)
            msg = (
                f"`{option}` must name columns of the data; got `{name}`.{hint} They have "
                f"{listed}."
            )
            raise DataError(msg)


def _column(batch: pa.RecordBatch, name: str) -> pa.Array:
    check_columns([name], batch.schema, option="where")
    found = batch.column(batch.schema.get_field_index(name))
    if isinstance(found.type, pa.BaseExtensionType):
        found = found.storage
    if pa.types.is_dictionary(found.type):
        found = found.dictionary_decode()
    if pa.types.is_decimal(found.type):
        found = found.cast(pa.float64())
    if pa.types.is_string_view(found.type):
        found = found.cast(pa.string())
    if pa.types.is_floating(found.type):
        # NaN is missing, too: a comparison with it is not false, but unknown.
        found = pc.if_else(pc.is_nan(found), pa.scalar(None, found.type), found)
    return found


def _operands(batch: pa.RecordBatch, left: Value, right: Value) -> tuple[Any, Any]:
    """Return both sides; a literal gets the type of the column it is compared with."""
    if left.column is None:
        column = _column(batch, str(right.column))
        return literal_like(left.literal, column.type, str(right.column)), column
    column = _column(batch, left.column)
    if right.column is None:
        return column, literal_like(right.literal, column.type, left.column)
    return column, _column(batch, right.column)


def literal_like(literal: Any, type_: pa.DataType, name: str, /) -> pa.Scalar:
    """Return a literal as a value of a column's type, or say why it cannot be one."""
    kind = str(kind_of(type_))
    if isinstance(literal, str):
        convert = {
            "datetime": lambda: pa.scalar(literal).cast(type_),
            "utc_datetime": lambda: _zoned(literal, type_),
            "categorical": lambda: pa.scalar(literal).cast(type_),
            "time": lambda: pa.scalar(dt.time.fromisoformat(literal), type_),
        }.get(kind)
    elif isinstance(literal, bool) or (kind == "boolean" and literal in (0, 1)):
        convert = {"boolean": lambda: pa.scalar(bool(literal))}.get(kind)
    else:
        convert = {
            "numeric": lambda: pa.scalar(literal),
            "duration": lambda: pa.scalar(dt.timedelta(seconds=literal), type_),
        }.get(kind)
    if kind == "null":
        return pa.scalar(None, type_)
    if convert is not None:
        try:
            return convert()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
            msg = f"`where` must compare `{name}` with a {type_}; got {literal!r} ({error})."
            raise DataError(msg) from error
    hints = {"categorical": " Write text in quotes.", "duration": " Write seconds."}
    hint = hints.get(kind, "")
    msg = f"`where` must compare `{name}` with a {type_}; got {literal!r}.{hint}"
    raise DataError(msg)


def _zoned(literal: str, type_: pa.DataType) -> pa.Scalar:
    """Return a moment: text without an offset is in the time zone of the column."""
    if re.search(r"(Z|[+-]\d\d:?\d\d)$", literal):
        return pa.scalar(literal).cast(type_)
    naive = pa.scalar(literal).cast(pa.timestamp(type_.unit))
    return pc.assume_timezone(naive, type_.tz)
