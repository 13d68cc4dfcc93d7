"""The tutorials: what their data look like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from catalogue import bars, picture, relabelled, remark

import fastmmd

if TYPE_CHECKING:
    from catalogue import Draw

    from fastmmd.experiments._style import Style


def sensor() -> tuple[np.ndarray, np.ndarray]:
    """Return the samples of the tutorial."""
    rng = np.random.default_rng(0)
    return rng.normal(0.0, 1.0, size=(800, 5)), rng.normal(0.2, 1.2, size=(600, 5))


@picture(
    "sensor",
    "Left: histograms of the first of five columns before and after, which overlap almost "
    "completely. Right: squared MMD for relabelled rows, between about -0.001 and 0.003, and "
    "for the samples as they are, at 0.02.",
    height=2.9,
)
def before_and_after() -> Draw:
    """The tutorial's samples under the tutorial's kernel."""
    before, after = sensor()
    pooled = np.concatenate((before, after))
    kernel = fastmmd.mmd(before, after, rng=0).kernel
    observed, *others = relabelled(kernel.gram(pooled, pooled), len(before), 999, 0)

    def draw(figure: Any, style: Style) -> None:
        left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.2))
        edges = np.linspace(-4.0, 4.5, 35)
        for rows, colour, label in (
            (before, style.first, "before"),
            (after, style.second, "after"),
        ):
            options = {"density": True, "histtype": "stepfilled", "alpha": 0.35}
            left.hist(rows[:, 0], edges, color=colour, label=label, **options)
            left.hist(
                rows[:, 0], edges, color=colour, density=True, histtype="step", lw=1.5
            )
        left.set(title="One of the five columns", yticks=[])
        left.legend()
        bars(right, style, 1e3 * np.array(others), 30)
        right.axvline(1e3 * observed, color=style.third, lw=2.2)
        remark(
            right,
            style,
            "before and after ",
            (1e3 * observed, 0.92),
            xycoords=("data", "axes fraction"),
            ha="right",
            color=style.third,
            weight="bold",
        )
        remark(right, style, "999 relabellings", (0.2, 0.6), xycoords="axes fraction")
        right.set(title="Squared MMD, times 1000", yticks=[])
        for axes in (left, right):
            axes.spines["left"].set_visible(False)
            axes.grid(visible=False)

    return draw


@picture(
    "more-frequencies",
    "Estimates of squared MMD with their standard errors, for 16 to 4096 frequencies. They "
    "scatter around a line, the value from all pairs, and close in on it.",
    height=2.7,
)
def more_frequencies() -> Draw:
    """Five draws for each number of frequencies."""
    before, after = sensor()
    kernel = fastmmd.Gaussian(2.5)
    exact = fastmmd.mmd(before, after, kernel=kernel, method="exact").mmd2
    numbers = 2 ** np.arange(4, 13)
    found = []
    for number in numbers:
        for seed in range(5):
            method = fastmmd.Fourier(int(number))
            estimate = fastmmd.mmd(before, after, kernel=kernel, method=method, rng=seed)
            place = number * 2.0 ** (0.14 * (seed - 2))
            found.append((place, estimate.mmd2, estimate.standard_error))

    def draw(figure: Any, style: Style) -> None:
        axes = figure.subplots()
        places, values, errors = np.transpose(found)
        axes.axhline(exact, color=style.third, lw=1.8)
        look = {"color": style.first, "fmt": "o", "ms": 3.5, "elinewidth": 1.1}
        axes.errorbar(places, values, errors, **look)
        axes.set(title="Squared MMD of the tutorial's samples", xscale="log")
        axes.set_xticks(numbers, [str(n) for n in numbers])
        axes.minorticks_off()
        axes.set_xlabel("frequencies")
        remark(axes, style, "all pairs", (4600, exact), color=style.third, va="bottom")
        axes.set_xlim(12, 7500)

    return draw


@picture(
    "weather",
    "Histograms of four columns in July and October: temperature and dew point lie far "
    "apart, humidity and wind speed overlap.",
    height=2.5,
)
def weather() -> Draw:
    """The bundled weather of all three airports."""
    data = fastmmd.datasets.load_airport_weather()
    names = ["temperature", "dew_point", "humidity", "wind_speed"]
    months = [data.values[data.month == month] for month in (7, 10)]
    places = [data.columns.index(name) for name in names]

    def draw(figure: Any, style: Style) -> None:
        every = figure.subplots(1, len(names))
        for axes, name, j in zip(every, names, places, strict=True):
            both = np.concatenate([rows[:, j] for rows in months])
            edges = np.linspace(*np.quantile(both, (0.001, 0.999)), 22)
            for rows, colour, label in zip(
                months, (style.first, style.second), ("July", "October"), strict=True
            ):
                options = {"density": True, "histtype": "stepfilled", "alpha": 0.4}
                axes.hist(rows[:, j], edges, color=colour, label=label, **options)
            axes.set(title=name.replace("_", " "), yticks=[])
            axes.spines["left"].set_visible(False)
            axes.grid(visible=False)
        every[0].legend(loc="upper left")

    return draw
