"""Compare the weather at two airports of New York City, 15 km apart.

Run by ``make demo``. Uses the data that ship with the package.
"""

from __future__ import annotations

import numpy as np

import fastmmd


def main() -> None:
    """Compare airports and seasons, and print what a person can read."""
    weather = fastmmd.datasets.load_airport_weather()
    # Columns have different units: measure each in its own standard deviations.
    scale = weather.values.std(axis=0)
    at = {name: weather.at(name) / scale for name in ("EWR", "JFK", "LGA")}
    summer = np.isin(weather.month, (6, 7, 8))

    print(f"Hourly weather in 2013: {', '.join(weather.columns)}.\n")
    pairs = {
        "JFK against LaGuardia": (at["JFK"], at["LGA"]),
        "Newark against LaGuardia": (at["EWR"], at["LGA"]),
        "even against odd hours at JFK": (at["JFK"][::2], at["JFK"][1::2]),
        "summer against the rest of the year": (
            weather.values[summer] / scale,
            weather.values[~summer] / scale,
        ),
    }
    for name, (x, y) in pairs.items():
        estimate = fastmmd.mmd(x, y, rng=0)
        print(f"{name} ({len(x)} and {len(y)} hours):\n  {estimate}\n")

    print("MMD is 0 for equal distributions and at most sqrt(2) with this kernel.")
    print(
        "The two halves of one airport's hours give an MMD near 0; two airports differ a"
    )
    print("little, seasons a lot.\n")
    print("What method='auto' does at larger sizes, say a million rows each:")
    print(fastmmd.plan(10**6, 10**6, at["JFK"].shape[1]))


if __name__ == "__main__":
    main()
