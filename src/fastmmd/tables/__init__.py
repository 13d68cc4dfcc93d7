"""Tables and files: mixed columns to numbers, tests and sketches of data of any size."""

from __future__ import annotations

from fastmmd._errors import MissingDependencyError

try:
    import pyarrow as pa  # noqa: F401 - only to see whether it is there
except ImportError as _error:  # pragma: no cover
    _message = 'tables and files need PyArrow: pip install "fastmmd[tables]"'
    raise MissingDependencyError(_message) from _error

from fastmmd.tables.columns import Categorical, Numeric
from fastmmd.tables.schema import Schema, SchemaReport

__all__ = ["Categorical", "Numeric", "Schema", "SchemaReport"]
