"""Tables and files: mixed columns to numbers, tests and sketches of data of any size."""

from __future__ import annotations

from fastmmd._errors import MissingDependencyError

try:
    import pyarrow as pa  # noqa: F401 - only to see whether it is there
except ImportError as _error:  # pragma: no cover
    _message = 'tables and files need PyArrow: pip install "fastmmd[tables]"'
    raise MissingDependencyError(_message) from _error

from fastmmd.tables.columns import Categorical, Numeric
from fastmmd.tables.opening import open_source
from fastmmd.tables.part import Batch, Part
from fastmmd.tables.progress import Progress
from fastmmd.tables.schema import Schema, SchemaReport
from fastmmd.tables.sketching import new_sketch, schema_of, sketch_part, sketch_source
from fastmmd.tables.source import Source
from fastmmd.tables.two_sample import k_sample_test, two_sample_test

__all__ = [
    "Batch",
    "Categorical",
    "Numeric",
    "Part",
    "Progress",
    "Schema",
    "SchemaReport",
    "Source",
    "k_sample_test",
    "new_sketch",
    "open_source",
    "schema_of",
    "sketch_part",
    "sketch_source",
    "two_sample_test",
]
