"""From a sample to what becomes of each column: centers, scales, levels."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import TYPE_CHECKING, cast

import numpy as np

from fastmmd._errors import DataError
from fastmmd.tables.columns import (
    LARGEST_WEIGHT,
    RARE_SCALE,
    Categorical,
    Numeric,
    kind_of,
    type_name,
)
from fastmmd.tables.encode import buckets, check_values, distinct, numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from fastmmd._typing import FloatArray
    from fastmmd.tables.columns import Column, NumericKind

_NORMAL_IQR = 1.3489795003921634
"""Distance between the quartiles of a normal distribution, in standard deviations."""

_ROUNDING = 1e-9
"""A distance between quartiles this small, relative to the extent, is rounding."""

_IDENTIFIER_SHARE = 0.9
_IDENTIFIER_ROWS = 100
"""So many different values among so many rows look like an identifier."""


def infer_columns(
    tables: Sequence[pa.Table],
    names: Sequence[str],
    /,
    *,
    scale: str,
    missing: str,
    kinds: Mapping[str, str],
    max_levels: int,
    origin: str,
    check: bool,
    schemas: Sequence[tuple[str, pa.Schema]],
) -> tuple[tuple[Column, ...], list[str]]:
    """Return what becomes of the named columns, and notes for the user.

    All tables are one pooled sample: which of them a row is from is not looked at. Without
    `check` missing and infinite values are passed over, for whoever encodes to complain of.
    Types are those of `schemas`, which come with the names of the data sets: tables read
    from text may hold whole numbers as fractions.
    """
    n_missing: dict[str, int] = {}
    n_infinite: dict[str, int] = {}
    empty, constant, identifiers = [], [], []
    columns: list[Column] = []
    n_rows = sum(table.num_rows for table in tables)
    for name in names:
        parts = [table.column(name) for table in tables]
        types = [(label, own.field(name).type) for label, own in schemas]
        kind, raw, type_ = _agree(name, types, kinds)
        arrays = list(itertools.chain.from_iterable(part.chunks for part in parts))
        if kind == "categorical":
            counts, absent = _levels(arrays, name)
            column: Column = _categorical(
                name,
                counts,
                absent if missing == "indicator" else 0,
                max_levels,
                type_=type_,
                raw=raw,
            )
            n_different = len(counts)
        else:
            values = np.concatenate(
                [np.empty(0), *(numbers(a, name=name) for a in arrays)]
            )
            absent = int(np.isnan(values).sum())
            values = values[~np.isnan(values)]
            infinite = int(np.isinf(values).sum())
            if infinite:
                n_infinite[name] = infinite
                values = values[np.isfinite(values)]
            column = _numeric(name, cast("NumericKind", kind), type_, values, scale)
            column = _with_indicator(column, absent / max(n_rows, 1), missing)
            n_different = len(values) and 1 + int((values != values[0]).any())
        if absent:
            n_missing[name] = absent
        if absent == n_rows:
            empty.append(name)
        elif n_different == 1 and not (absent and missing == "indicator"):
            constant.append(name)
        elif (
            kind == "categorical"
            and n_rows - absent >= _IDENTIFIER_ROWS
            and n_different >= _IDENTIFIER_SHARE * (n_rows - absent)
        ):
            identifiers.append(name)
        columns.append(column)
    if empty and n_rows:
        msg = (
            f"{origin} must have values in every column; got only missing ones in "
            f"{quoted(empty)}. Leave out with `exclude={empty!r}`."
        )
        raise DataError(msg)
    if check:
        check_values(n_missing, n_infinite, n_rows, missing=missing, origin=origin)
    notes = []
    if constant:
        notes.append(f"constant columns, which tell nothing: {quoted(constant)}.")
    if identifiers:
        notes.append(
            "columns with another value in nearly every row, like an identifier (consider "
            f"`exclude`): {quoted(identifiers)}."
        )
    return tuple(columns), notes


def quoted(names: Sequence[str], /) -> str:
    """Return names for a message."""
    return ", ".join(f"`{name}`" for name in names)


def _agree(
    name: str, types: Sequence[tuple[str, pa.DataType]], kinds: Mapping[str, str]
) -> tuple[str, str, str]:
    """Return the kind of a column, the kind of its data, and their type."""
    found = [(kind_of(type_), type_) for _, type_ in types]
    for kind, type_ in found:
        if kind is None:
            msg = (
                f"column `{name}` must hold numbers, times or categories; got {type_}. "
                f"Leave it out with `exclude=[{name!r}]`, or flatten it into columns first."
            )
            raise DataError(msg)
    first = next((i for i, (kind, _) in enumerate(found) if kind != "null"), 0)
    raw, type_ = found[first]
    labels = [label for label, _ in types]
    for label, (kind, other) in zip(labels, found, strict=True):
        same = kind in ("null", raw) or {kind, raw} == {"numeric", "boolean"}
        if not same:
            msg = (
                f"column `{name}` must hold the same kind of data everywhere; it is {type_} "
                f"in {labels[first]} and {other} in {label}. Convert one, or leave it out "
                f"with `exclude=[{name!r}]`."
            )
            raise DataError(msg)
    if "numeric" in (kind for kind, _ in found):
        raw = "numeric"
    asked = kinds.get(name, "numeric" if raw == "null" else str(raw))
    if asked not in ("categorical", raw) and raw != "null":
        choices = " or ".join(f'"{kind}"' for kind in dict.fromkeys(("categorical", raw)))
        msg = (
            f"`kinds` must say {choices} of column `{name}`, which is {type_}; got "
            f'"{asked}".'
        )
        raise DataError(msg)
    names = {type_name(t) for k, t in found if k != "null"}
    # Whole numbers in one table and fractions in the other.
    named = "float" if names == {"integer", "float"} else type_name(type_)
    return asked, str(raw), named


def _numeric(
    name: str, kind: NumericKind, type_: str, values: FloatArray, scale: str
) -> Numeric:
    if not len(values):
        return Numeric(name, kind, type_, 0.0, 1.0)
    # In a unit of its own, so that squares of huge or tiny numbers do not overflow; a power
    # of two, so that nothing is rounded.
    largest = float(np.max(np.abs(values)))
    unit = math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest else 1.0
    scaled = values / unit
    deviation = float(scaled.std())
    if np.ptp(scaled) == 0.0:
        deviation = 0.0
    if kind == "boolean":
        center, width = float(scaled.mean()), max(deviation, RARE_SCALE)
    elif scale == "standard":
        center, width = float(scaled.mean()), deviation
    else:
        low, center, high = (float(q) for q in np.percentile(scaled, [25, 50, 75]))
        width = (high - low) / _NORMAL_IQR
        if width <= _ROUNDING * float(np.ptp(scaled)):
            # More than half of the values are equal.
            width = deviation
    width = width * unit or 1.0
    return Numeric(name, kind, type_, center * unit, width)


def _with_indicator(column: Numeric, share: float, missing: str) -> Numeric:
    """Return the column with a number for missing values, if the sample has some."""
    if missing != "indicator" or share == 0.0:
        return column
    scale = max((share * (1.0 - share)) ** 0.5, RARE_SCALE)
    return Numeric(
        column.name, column.kind, column.type, column.center, column.scale, scale
    )


def _levels(arrays: Sequence[pa.Array], name: str) -> tuple[Counter[str], int]:
    """Return how often each value occurs, and the number of missing ones."""
    counts: Counter[str] = Counter()
    absent = 0
    for array in arrays:
        values, places = distinct(array, name=name)
        numbers_of = np.bincount(places + 1, minlength=len(values) + 1).tolist()
        absent += numbers_of[0]
        for value, n in zip(values, numbers_of[1:], strict=True):
            if value is None:
                absent += n
            elif n:
                counts[value] += n
    return counts, absent


def _categorical(
    name: str,
    counts: Counter[str],
    absent: int,
    max_levels: int,
    *,
    type_: str,
    raw: str,
) -> Categorical:
    """Return the column for these counts; `absent` values are a level if there are any."""
    ordered = sorted(counts, key=lambda value: (-counts[value], value))
    n_buckets = 1
    if len(ordered) > max_levels:
        # Half of the places for the frequent values, half shared by all others.
        n_buckets = max_levels // 2
        ordered = ordered[: max_levels - n_buckets]
    own = set(ordered)
    others = [value for value in counts if value not in own]
    shared = np.zeros(n_buckets, dtype=np.int64)
    np.add.at(shared, buckets(others, n_buckets), [counts[value] for value in others])
    parts = [*(counts[value] for value in ordered), *shared.tolist(), absent]
    total = max(sum(parts), 1)
    # Two rows differ with this chance, and are then sqrt(2) weight apart: their squared
    # distance is 2 on average, as of a standardised number.
    # Added exactly: the order of the rows must not show.
    same = math.fsum((n / total) ** 2 for n in parts)
    weight = min((1.0 - same) ** -0.5, LARGEST_WEIGHT) if same < 1.0 else LARGEST_WEIGHT
    return Categorical(name, type_, tuple(ordered), n_buckets, weight, absent > 0, raw)
