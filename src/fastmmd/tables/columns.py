"""What becomes of one column: two kinds of column, as frozen values with their constants.

Numbers, booleans, dates and durations become one standardised number. Categories and
strings become a block of zeros with one number in it. Both are made so that a column weighs
about as much as any other: between two random rows of the sample the squared distance is 2
on average, twice the variance of a standardised number.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

import numpy as np
import pyarrow as pa

from fastmmd._errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

NumericKind: TypeAlias = Literal[
    "numeric", "boolean", "datetime", "utc_datetime", "time", "duration"
]
Kind: TypeAlias = Literal[
    "numeric", "boolean", "datetime", "utc_datetime", "time", "duration", "categorical"
]

NUMERIC_KINDS = ("numeric", "boolean", "datetime", "utc_datetime", "time", "duration")
KINDS = (*NUMERIC_KINDS, "categorical")

RARE_SCALE = 8.0**-0.5
"""Smallest scale of a boolean. A flag that is seldom set would otherwise, divided by its
tiny standard deviation, outweigh all other columns in the rows that have it. The same limit
as `LARGEST_WEIGHT`: two levels, ``2 * 2.0**2 == 1 / RARE_SCALE**2``."""

LARGEST_WEIGHT = 2.0
"""Largest number in the block of a category, for the same reason."""


@final
@dataclass(frozen=True, slots=True)
class Numeric:
    """A column that becomes ``(value - center) / scale``.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : {"numeric", "boolean", "datetime", "utc_datetime", "time", "duration"}
        How a value becomes a number: times are in seconds, moments in seconds since 1970;
        ``"utc_datetime"`` has a time zone and counts in UTC, ``"datetime"`` has none.
    type : str
        Type in the sample, in words: ``"integer"``, ``"float"``, ``"timestamp"``, …
    center, scale : float
        Constants from the sample.
    indicator : float, optional
        Scale of a second number that says whether the value is missing.

    Examples
    --------
    >>> print(Numeric("delay", "numeric", "float", 8.0, 12.5))
    delay: numeric, centre 8, scale 12.5 (float)
    """

    name: str
    kind: NumericKind
    type: str
    center: float
    scale: float
    indicator: float | None = None

    @property
    def encoded_names(self) -> tuple[str, ...]:
        """Names of the numbers that the column becomes."""
        extra = () if self.indicator is None else (f"{self.name} is missing",)
        return (self.name, *extra)

    def accepts(self, kind: str, /) -> bool:
        """Return whether data of another kind can take this column's place."""
        # A flag written as 0 and 1 is a flag.
        numbers = ("numeric", "boolean")
        return kind in ("null", self.kind) or (kind in numbers and self.kind in numbers)

    def __str__(self) -> str:
        missing = "" if self.indicator is None else ", missing values marked"
        unit = " s" if self.kind in ("time", "duration") else ""
        center, scale = f"{self.center:.6g}{unit}", f"{self.scale:.6g}{unit}"
        if self.kind in ("datetime", "utc_datetime"):
            moment = np.datetime64(round(self.center), "s")
            center, scale = str(moment), f"{self.scale / 86400.0:.6g} days"
        return f"{self.name}: {self.kind}, centre {center}, scale {scale}{missing} ({self.type})"


@final
@dataclass(frozen=True, slots=True)
class Categorical:
    """A column that becomes a block of zeros with `weight` at the place of its value.

    Parameters
    ----------
    name : str
        Name of the column.
    type : str
        Type in the sample, in words.
    levels : tuple of str
        Values with a place of their own, the most frequent first.
    n_buckets : int
        Places for all other values, chosen by a hash; 1 is "other".
    weight : float
        The number at the place of the value.
    indicator : bool, default=False
        Whether missing values have a place of their own.
    raw : str, default="categorical"
        Kind of the data before they were read as categories.

    Examples
    --------
    >>> Categorical("carrier", "string", ("AA", "UA"), 1, 1.4).encoded_names
    ('carrier = AA', 'carrier = UA', 'carrier = (other)')
    """

    name: str
    type: str
    levels: tuple[str, ...]
    n_buckets: int
    weight: float
    indicator: bool = False
    raw: str = "categorical"

    @property
    def encoded_names(self) -> tuple[str, ...]:
        """Names of the numbers that the column becomes."""
        levels = [f"{self.name} = {level}" for level in self.levels]
        if self.n_buckets == 1:
            levels.append(f"{self.name} = (other)")
        else:
            levels += [f"{self.name} = (other, {i})" for i in range(self.n_buckets)]
        return (*levels, *([f"{self.name} is missing"] if self.indicator else []))

    def accepts(self, kind: str, /) -> bool:
        """Return whether data of another kind can take this column's place."""
        return kind in ("null", self.raw)

    def __str__(self) -> str:
        shown = ", ".join(self.levels[:4]) + (", …" if len(self.levels) > 4 else "")
        others = (
            "others" if self.n_buckets == 1 else f"others in {self.n_buckets} buckets"
        )
        missing = ", missing values a level" if self.indicator else ""
        return (
            f"{self.name}: categorical, {len(self.levels)} levels ({shown}), "
            f"{others}{missing} ({self.type})"
        )


Column: TypeAlias = Numeric | Categorical


def kind_of(type_: pa.DataType, /) -> str | None:
    """Return the kind of an Arrow type, ``"null"`` for no values, None if unsupported."""
    types = pa.types
    if isinstance(type_, pa.BaseExtensionType):
        return kind_of(type_.storage_type)
    if types.is_run_end_encoded(type_):
        return kind_of(type_.value_type)
    if types.is_timestamp(type_):
        return "datetime" if type_.tz is None else "utc_datetime"
    tests = (
        ("null", types.is_null),
        ("boolean", types.is_boolean),
        ("numeric", lambda t: types.is_integer(t) or types.is_floating(t)),
        ("numeric", types.is_decimal),
        ("datetime", types.is_date),
        ("time", types.is_time),
        ("duration", types.is_duration),
        ("categorical", types.is_dictionary),
        ("categorical", is_text),
    )
    return next((kind for kind, holds in tests if holds(type_)), None)


def is_text(type_: pa.DataType, /) -> bool:
    """Return whether an Arrow type holds strings or bytes."""
    types = pa.types
    return any(
        holds(type_)
        for holds in (
            *(types.is_string, types.is_large_string, types.is_string_view),
            *(types.is_binary, types.is_large_binary, types.is_binary_view),
            types.is_fixed_size_binary,
        )
    )


def type_name(type_: pa.DataType, /) -> str:
    """Return the type in a word: the same for all sizes, units and ways of storing it.

    What a table calls a type depends on the library and the file format it came through
    more than on the data, so a schema must not.
    """
    types = pa.types
    if isinstance(type_, pa.BaseExtensionType):
        return type_name(type_.storage_type)
    if types.is_run_end_encoded(type_) or types.is_dictionary(type_):
        return type_name(type_.value_type)
    if types.is_timestamp(type_):
        return "timestamp" if type_.tz is None else "timestamp with time zone"
    tests = (
        ("integer", types.is_integer),
        ("float", types.is_floating),
        ("decimal", types.is_decimal),
        ("boolean", types.is_boolean),
        ("string", is_text),
        ("date", types.is_date),
        ("time", types.is_time),
        ("duration", types.is_duration),
    )
    return next((name for name, holds in tests if holds(type_)), str(type_))


def column_to_json(column: Column, /) -> dict[str, Any]:
    """Return a column in plain JSON types."""
    found = {"name": column.name, "kind": "categorical"} | asdict(column)
    if isinstance(column, Categorical):
        found["levels"] = list(column.levels)
    return found


def column_from_json(value: Mapping[str, Any], /) -> Column:
    """Return the column that `column_to_json` described, checked."""
    fields = dict(value)
    try:
        if fields["kind"] == "categorical":
            del fields["kind"]
            column: Column = Categorical(**fields | {"levels": tuple(fields["levels"])})
        else:
            column = Numeric(**fields)
        sound = _is_sound(column)
    except (KeyError, TypeError) as error:
        msg = f"a schema must describe its columns; got {value!r} ({error})."
        raise DataError(msg) from error
    if not sound:
        msg = f"a schema must describe its columns; got {value!r}."
        raise DataError(msg)
    return column


def _is_sound(column: Column) -> bool:
    """Return whether the fields of a column are of the types and sizes they must be."""
    words: list[Any] = [column.name, column.type]
    positive: list[Any]
    if isinstance(column, Categorical):
        words += [*column.levels, column.raw]
        positive = [column.n_buckets, column.weight]
        checks = [isinstance(column.indicator, bool), type(column.n_buckets) is int]
    else:
        positive = [column.scale, 1.0 if column.indicator is None else column.indicator]
        checks = [column.kind in NUMERIC_KINDS, abs(column.center) < math.inf]
    checks += [isinstance(word, str) for word in words]
    return all([*checks, *(0.0 < number < math.inf for number in positive)])
