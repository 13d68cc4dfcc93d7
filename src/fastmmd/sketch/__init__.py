"""Mergeable summaries of data: a few megabytes that stand for any number of rows."""

from __future__ import annotations

from fastmmd.sketch.core import Sketch

__all__ = ["Sketch"]
