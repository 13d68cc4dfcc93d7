"""The commands, one a file: read options, call the library, report."""

from __future__ import annotations
