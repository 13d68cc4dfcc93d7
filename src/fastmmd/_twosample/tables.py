"""The way up to `fastmmd.tables`, for samples that turn out to be tables."""

from __future__ import annotations

import importlib
from typing import Any


def tables_module() -> Any:
    """Return `fastmmd.tables`; raise `MissingDependencyError` if PyArrow is not there.

    By name, as it is a layer above: only a call that was given a table needs it.
    """
    return importlib.import_module("fastmmd.tables")
