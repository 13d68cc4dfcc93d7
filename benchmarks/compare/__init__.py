"""FastMMD beside other ways to do the same: see ``compare/__main__.py``."""

from __future__ import annotations
