"""Tests with the engines themselves: only where ``make test-engines`` runs them.

Each engine has an environment of its own, whose name is in ``FASTMMD_ENGINE``.
"""

from __future__ import annotations

import os

import engine_data
import pytest

ENGINE = os.environ.get("FASTMMD_ENGINE")

collect_ignore = [name for name in ("dask", "ray", "spark") if name != ENGINE]


@pytest.fixture(scope="session")
def old(tmp_path_factory):
    """Return a folder of files."""
    return engine_data.write_parts(tmp_path_factory.mktemp("data") / "old", 9000, 0)


@pytest.fixture(scope="session")
def new(tmp_path_factory):
    """Return a folder of files that differ a little, with missing values."""
    folder = tmp_path_factory.mktemp("data") / "new"
    return engine_data.write_parts(folder, 6000, 1, 0.1, missing=5)
