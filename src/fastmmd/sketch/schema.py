"""The schema that a sketch carries: JSON whose meaning only `fastmmd.tables` knows."""

from __future__ import annotations

import json
from typing import Any


def check_schema(schema: Any, /) -> dict[str, Any] | None:
    """Return a copy of `schema` that holds what a file would hold."""
    if schema is None:
        return None
    try:
        text = json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        msg = f"`schema` must be of plain JSON types; {error}."
        raise TypeError(msg) from error
    copied = json.loads(text)
    if not isinstance(copied, dict):
        msg = f"`schema` must be a dict or None; got {type(schema).__name__}."
        raise TypeError(msg)
    return copied


def schema_difference(a: dict[str, Any] | None, b: dict[str, Any] | None, /) -> str:
    """Return which entries of two schemas differ: columns by name, others by key."""
    if a is None or b is None:
        return f"schema: {'none' if a is None else 'one'} and {'none' if b is None else 'one'}"
    first, second = _entries(a), _entries(b)
    names = [
        name
        for name in (*first, *(second.keys() - first.keys()))
        if first.get(name) != second.get(name)
    ]
    return f"schema: {', '.join(names) or 'order of columns'}"


def column_names(schema: dict[str, Any] | None, /) -> tuple[str, ...]:
    """Return the names of a table's columns, as far as a schema has any."""
    columns = (schema or {}).get("columns")
    names = [
        column.get("name") if isinstance(column, dict) else None
        for column in (columns if isinstance(columns, list) else ())
    ]
    return tuple(name for name in names if isinstance(name, str))


def _entries(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a schema by key, and those of its list of columns by name."""
    found = {key: value for key, value in schema.items() if key != "columns"}
    columns = schema.get("columns")
    for place, column in enumerate(columns if isinstance(columns, list) else ()):
        name = column.get("name", place) if isinstance(column, dict) else place
        found[f"column `{name}`"] = column
    return found
