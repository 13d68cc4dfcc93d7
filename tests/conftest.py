"""Fixtures shared by all tests."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def rng():
    """Return a generator with a fixed seed: tests are repeatable."""
    return np.random.default_rng(20150601)
