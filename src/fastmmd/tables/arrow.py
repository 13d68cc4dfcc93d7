"""Any table as Arrow, and what tables may be.

PyArrow alone does it, without a further package: Polars, DuckDB and others hand their data
over by the Arrow PyCapsule protocol (``__arrow_c_stream__``), pandas by
``pyarrow.Table.from_pandas``, which knows its nullable types and drops the index, and what
only speaks the older DataFrame interchange protocol by ``pyarrow.interchange``. Narwhals
would add a dependency and reach the same Arrow buffers through its own types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from fastmmd._errors import DataError
from fastmmd._rows import check_read, is_table

if TYPE_CHECKING:
    from collections.abc import Sequence


def as_table(data: Any, /, *, name: str = "table") -> pa.Table:
    """Return `data` as an Arrow table, sharing memory where that is possible."""
    if isinstance(data, pa.Table):
        table = data
    elif isinstance(data, pa.RecordBatch):
        table = pa.Table.from_batches([data])
    elif not is_table(data):
        check_read(data, name=name)
        msg = (
            f"`{name}` must be a table: a DataFrame of pandas or Polars, a PyArrow table or "
            f"another object with the Arrow protocol; got {type(data).__name__}."
        )
        raise TypeError(msg)
    else:
        try:
            table = _convert(data, name)
        except DataError:
            raise
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            # Arrow's message has the column in its second argument.
            why = "; ".join(str(part).rstrip(".") for part in error.args)
            msg = (
                f"`{name}` must be a table that Arrow can hold; {why}. Convert such a "
                "column, or drop it first."
            )
            raise DataError(msg) from error
    check_names(table.schema.names, origin=f"`{name}`")
    return table


def check_names(names: Sequence[str], /, *, origin: str) -> None:
    """Raise if two columns have the same name."""
    twice = (
        sorted({name for name in names if names.count(name) > 1})
        if len(set(names)) < len(names)
        else []
    )
    if twice:
        listed = ", ".join(f"`{name}`" for name in twice)
        msg = (
            f"{origin} must have columns of different names; got more than one {listed}."
        )
        raise DataError(msg)


def _convert(data: Any, name: str) -> pa.Table:
    if type(data).__module__.partition(".")[0] == "pandas":
        # Names may be numbers or, of columns on several levels, tuples.
        names = [str(own) for own in data.columns]
        check_names(names, origin=f"`{name}`")
        frame = data.set_axis(names, axis=1)
        try:
            table = pa.Table.from_pandas(frame, preserve_index=False)
        except OverflowError as error:
            # Arrow does not say where; whole numbers of any size are Python's own.
            wide = [own for own in names if _too_large(frame[own])]
            msg = f"{error}: column {', '.join(wide)}"
            raise OverflowError(msg) from error
        return table.replace_schema_metadata(None)
    if hasattr(data, "__arrow_c_stream__"):
        return pa.table(data)
    if hasattr(data, "__arrow_c_array__"):
        return pa.Table.from_batches([pa.record_batch(data)])
    import pyarrow.interchange

    return pyarrow.interchange.from_dataframe(data)


def _too_large(column: Any) -> bool:
    try:
        pa.array(column, from_pandas=True)
    except OverflowError:
        return True
    except (pa.ArrowException, TypeError, ValueError):
        return False
    return False


def without_views(data: Any, /) -> Any:
    """Return a table or batch whose strings Arrow can also take and filter.

    Polars hands strings over as views, for which many functions of Arrow are missing.
    """
    types = pa.types
    for i, field in enumerate(data.schema):
        if types.is_string_view(field.type):
            data = data.set_column(i, field.name, data.column(i).cast(pa.large_string()))
        elif types.is_binary_view(field.type):
            data = data.set_column(i, field.name, data.column(i).cast(pa.large_binary()))
    return data
