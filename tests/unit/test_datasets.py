"""The bundled data set is complete and is what its docstring says."""

from __future__ import annotations

import dataclasses
from importlib import resources

import numpy as np
import pytest

from fastmmd.datasets import load_airport_weather


@pytest.fixture(scope="module")
def weather():
    return load_airport_weather()


def test_shapes_and_types(weather):
    assert weather.values.shape == (26109, 6)
    assert weather.values.dtype == np.float64
    assert weather.values.flags.c_contiguous
    assert len(weather.columns) == 6
    for times in (weather.airport, weather.month, weather.day, weather.hour):
        assert times.shape == (26109,)


def test_values_are_finite_and_in_their_physical_range(weather):
    low = np.array([-40, -60, 0, 0, 0, 0])
    high = np.array([120, 100, 100.001, 100, 10, 10])
    assert (weather.values >= low).all()
    assert (weather.values <= high).all()


def test_every_hour_of_an_airport_appears_once(weather):
    keys = zip(weather.airport, weather.month, weather.day, weather.hour, strict=True)
    # The hour that is repeated when daylight saving ends is the only one met twice.
    counts = np.unique([f"{a} {m} {d} {h}" for a, m, d, h in keys], return_counts=True)
    repeated = counts[0][counts[1] > 1]
    assert all(" 11 3 " in key for key in repeated)


def test_rows_of_one_airport(weather):
    parts = [weather.at(airport) for airport in ("EWR", "JFK", "LGA")]
    assert sum(len(part) for part in parts) == len(weather.values)
    with pytest.raises(ValueError, match=r"one of \"EWR\", \"JFK\", \"LGA\"; got 'BOS'"):
        weather.at("BOS")


def test_each_call_gives_fresh_arrays(weather):
    load_airport_weather().values[:] = 0
    assert load_airport_weather().values.any()
    assert weather.values.any()


def test_result_is_frozen(weather):
    with pytest.raises(dataclasses.FrozenInstanceError):
        weather.values = None


def test_file_is_small():
    file = resources.files("fastmmd.datasets").joinpath("airport_weather.npz")
    with resources.as_file(file) as path:
        assert path.stat().st_size < 400_000
