"""The exports of today look like the reference: a test that fails when they do not."""

from __future__ import annotations

import pytest

import fastmmd
from fastmmd.tables import sketch_source

TABLES = ["today.parquet"]
FALSE_ALARMS_A_YEAR = 0.2
LEVEL = FALSE_ALARMS_A_YEAR / (365 * len(TABLES))


@pytest.mark.parametrize("table", TABLES)
def test_no_drift(table: str) -> None:
    """Compare one export with the sketch of its reference."""
    reference = fastmmd.Sketch.load("reference.mmd")
    today = sketch_source(table, like=reference)
    resamples = round(10 / LEVEL)
    result = fastmmd.compare(reference, today, level=LEVEL, n_resamples=resamples, rng=0)
    assert not result.rejects(), str(result)
