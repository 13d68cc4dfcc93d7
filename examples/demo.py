"""Compare the weather at New York's JFK airport in two months, and on odd and even days.

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
    print(f"Hourly weather in 2013: {', '.join(weather.columns)}.")

    jfk = weather.airport == "JFK"
    july, october = (jfk & (weather.month == month) for month in (7, 10))

    heading("Is the weather at JFK in October the same as in July?")
    groups = (day[july], day[october])
    print(fastmmd.two_sample_test(values[july], values[october], groups=groups, rng=0))

    heading("And on odd and even days of the year? It should be.")
    odd, even = (jfk & (weather.day % 2 == rest) for rest in (1, 0))
    groups = (day[odd], day[even])
    print(fastmmd.two_sample_test(values[odd], values[even], groups=groups, rng=0))
    print("\nThe days were relabelled as a whole (groups=), as hours of a day are alike.")
    print("Had the hours been taken as independent, which they are not:")
    print(fastmmd.two_sample_test(values[odd], values[even], rng=0))

    heading("July and October from sketches, made apart, without the data")
    reference = fastmmd.Sketch.adaptive(values[july], n_rows=2000)
    for batch in np.array_split(values[july], 10):
        reference.update(batch)
    other = reference.like()
    other.update(values[october])
    size = reference.nbytes / 1e6
    print(f"Two sketches of {size:.1f} MB, whatever the number of rows.")
    print(fastmmd.compare(reference, other, rng=0))
    print(
        "\nHere hours counted as independent rows, hence the tiny p-value: go by the effect."
    )


def heading(text: str) -> None:
    """Print a line that stands out."""
    print(f"\n{text}\n{'-' * len(text)}")


if __name__ == "__main__":
    main()
