"""File formats: how to look at a file and how to read a part of it in bounded memory."""

from __future__ import annotations

from fastmmd.tables.formats.base import File, Format, Layout
from fastmmd.tables.formats.csv import CSV
from fastmmd.tables.formats.ipc import IPC
from fastmmd.tables.formats.json_lines import JSONLines
from fastmmd.tables.formats.memory import Memory
from fastmmd.tables.formats.numpy_files import NumPy
from fastmmd.tables.formats.parquet import Parquet

__all__ = [
    "CSV",
    "IPC",
    "File",
    "Format",
    "JSONLines",
    "Layout",
    "Memory",
    "NumPy",
    "Parquet",
]
