"""Compare the weather at airports of New York City, 15 km apart, and in two halves of a year.

Run by ``make demo``. Uses the data that ship with the package.
"""

from __future__ import annotations

import numpy as np

import fastmmd


def main() -> None:
    """Test, estimate and explain, and print what a person can read."""
    weather = fastmmd.datasets.load_airport_weather()
    # Columns have different units: measure each in its own standard deviations.
    values = weather.values / weather.values.std(axis=0)
    day = 100 * weather.month.astype(int) + weather.day
    at = {name: weather.airport == name for name in ("EWR", "JFK", "LGA")}
    print(f"Hourly weather in 2013: {', '.join(weather.columns)}.")

    heading("Is the weather at JFK the same as at LaGuardia?")
    jfk, lga = values[at["JFK"]], values[at["LGA"]]
    print(fastmmd.two_sample_test(jfk, lga, rng=0))

    heading("And does it differ between odd and even days at JFK? It should not.")
    odd = (weather.day % 2 == 1) & at["JFK"]
    even = (weather.day % 2 == 0) & at["JFK"]
    print("Hours taken as independent, which they are not:")
    print(fastmmd.two_sample_test(values[odd], values[even], rng=0))
    print("\nWhole days relabelled (groups=), as hours of a day belong together:")
    groups = (day[odd], day[even])
    print(fastmmd.two_sample_test(values[odd], values[even], groups=groups, rng=0))

    heading("The same from sketches, made apart, without the data")
    kernel = fastmmd.Gaussian(fastmmd.bandwidth.median_bandwidth(jfk, lga, rng=0))
    sketches = {}
    for name, rows in at.items():
        sketches[name] = fastmmd.Sketch(kernel, values.shape[1], stream=name)
        for batch in np.array_split(values[rows], 10):
            sketches[name].update(batch)
    size = sketches["JFK"].nbytes / 2**20
    print(f"Three sketches of {size:.1f} MB each, whatever the number of rows.")
    print(fastmmd.compare(sketches["EWR"], sketches["LGA"], rng=0))


def heading(text: str) -> None:
    """Print a line that stands out."""
    print(f"\n{text}\n{'-' * len(text)}")


if __name__ == "__main__":
    main()
