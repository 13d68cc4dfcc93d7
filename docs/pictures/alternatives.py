"""When not to use MMD: powers beside other tests, dependent rows, tiny differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from catalogue import measured, picture, remark

if TYPE_CHECKING:
    from catalogue import Draw

    from fastmmd.experiments._style import Style

PART = "calibration/results/alternatives.json"
TESTS = {
    "MMD": ("MMD", "fourier"),
    "KS": ("KS in each column", "fastfood"),
    "energy": ("energy distance", "sobol"),
}


def cells() -> dict[str, Any]:
    """Return the measured settings by name."""
    return {cell["name"]: cell for cell in measured(PART)["cells"]}


@picture(
    "one-of-many",
    "Power against the number of columns, of which one differs. All tests start near 1. MMD "
    "and the energy distance fall to about 0.1 in 1024 columns; the Kolmogorov-Smirnov test "
    "in each column stays above 0.5.",
    height=3.0,
)
def one_of_many() -> Draw:
    """One column of many is moved by half a standard deviation."""
    found = [c for name, c in cells().items() if name.startswith("one of")]

    def draw(figure: Any, style: Style) -> None:
        axes = figure.subplots()
        columns = [cell["n_columns"] for cell in found]
        for test, (label, look) in TESTS.items():
            rates = [cell["rates"][test]["0.05"] for cell in found]
            line = style.line(look, label=label)
            power = [r["rate"] for r in rates]
            axes.errorbar(columns, power, [r["standard_error"] for r in rates], **line)
        axes.set(title="One column of many is moved by 0.5, 200 rows each")
        axes.set(xscale="log", ylim=(0.0, 1.05), xlabel="columns", ylabel="power")
        axes.set_xticks(columns, [str(n) for n in columns])
        axes.minorticks_off()
        axes.legend(loc="lower left")

    return draw


@picture(
    "dependent-rows",
    "Left: two series of 500 values that wander slowly, from the same process. Right: how "
    "often each test rejects at level 0.05 although nothing differs: almost always when rows "
    "count as independent, less with groups of 10 and 25, and about right with groups of 50 "
    "or every 50th row.",
    height=3.2,
)
def dependent_rows() -> Draw:
    """Autoregressive series; every rejection is a false alarm."""
    rates = cells()["dependent rows"]["rates"]
    rng = np.random.default_rng(4)
    series = []
    for _ in range(2):
        noise = np.sqrt(1.0 - 0.9**2) * rng.normal(size=700)
        values = np.zeros(700)
        for i in range(1, 700):
            values[i] = 0.9 * values[i - 1] + noise[i]
        series.append(values[200:])

    def draw(figure: Any, style: Style) -> None:
        left, right = figure.subplots(1, 2, width_ratios=(1.3, 1.0))
        for values, colour in zip(series, (style.first, style.second), strict=True):
            left.plot(values, color=colour, lw=0.9)
        left.set(title="Two series of one process", xlabel="row", yticks=[])
        names = list(rates)[::-1]
        values = [rates[name]["0.05"]["rate"] for name in names]
        errors = [rates[name]["0.05"]["standard_error"] for name in names]
        colours = [style.second if v > 0.1 else style.third for v in values]
        right.barh(names, values, color=colours, alpha=0.7)
        right.errorbar(values, names, xerr=errors, fmt="none", ecolor=style.ink)
        right.axvline(0.05, color=style.ink, lw=1.2, ls=":")
        right.set(title="Rejected at level 0.05", xlim=(0, 1.05))
        right.grid(visible=False, axis="y")
        remark(right, style, " 0.05", (0.05, -0.42), va="center", color=style.ink)

    return draw
