"""Frequencies: how the draws look, how the error falls, and what a test needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from catalogue import measured, picture

import fastmmd
from fastmmd.frequencies import draw_frequencies

if TYPE_CHECKING:
    from catalogue import Draw

    from fastmmd.experiments._style import Style

LOOKS = {
    "iid": "fourier",
    "orthogonal": "orthogonal",
    "sobol": "sobol",
    "fastfood": "fastfood",
}
NAMES = {
    "iid": "independent",
    "orthogonal": "orthogonal",
    "sobol": "Sobol",
    "fastfood": "Fastfood",
}


@picture(
    "draws",
    "64 frequencies in two columns, drawn in three ways. Independent ones leave gaps and "
    "form clumps; orthogonal ones come in pairs at right angles with even lengths; Sobol "
    "points cover the disc evenly.",
    height=3.0,
)
def draws() -> Draw:
    """The Gaussian kernel of bandwidth 1: a normal law."""
    kernel = fastmmd.Gaussian(1.0)
    clouds = {
        name: draw_frequencies(
            kernel, 64, 2, sampling=name, n_groups=1, rng=4
        ).frequencies
        for name in ("iid", "orthogonal", "sobol")
    }

    def draw(figure: Any, style: Style) -> None:
        turn = np.linspace(0.0, 2.0 * np.pi, 200)
        for axes, (name, points) in zip(
            figure.subplots(1, 3), clouds.items(), strict=True
        ):
            for share in (0.25, 0.5, 0.75, 0.95):
                # Circles that hold these shares of the law.
                radius = np.sqrt(-2.0 * np.log(1.0 - share))
                circle = radius * np.array([np.cos(turn), np.sin(turn)])
                axes.plot(*circle, color=style.faint, lw=1.0)
            colour = style.colour(LOOKS[name])
            axes.plot(*points.T, "o", color=colour, ms=4.0, markeredgecolor=style.page)
            axes.set(title=NAMES[name].capitalize(), xlim=(-3.2, 3.2), ylim=(-3.2, 3.2))
            axes.set(xticks=[], yticks=[])
            axes.set_aspect("equal")
            for spine in axes.spines.values():
                spine.set_visible(False)

    return draw


@picture(
    "error-by-frequencies",
    "Relative error of squared MMD against the number of frequencies, both logarithmic, in "
    "2, 16 and 128 columns. Independent frequencies and Fastfood fall with the square root. "
    "In 2 columns Sobol points fall faster and lie far below; in 16 and 128 columns "
    "orthogonal frequencies lie several times below.",
    height=3.5,
)
def error_by_frequencies() -> Draw:
    """From the measurement of ``benchmarks/frequencies_needed.py``."""
    cells = measured("benchmarks/results/frequencies_needed.json")["cells"]
    columns = sorted({cell["n_columns"] for cell in cells})

    def draw(figure: Any, style: Style) -> None:
        every = figure.subplots(1, len(columns), sharey=True, sharex=True)
        for axes, n_columns in zip(every, columns, strict=True):
            for draw_name, look in LOOKS.items():
                mine = [
                    (c["n_frequencies"], c["relative_rms_error"], c["its_standard_error"])
                    for c in cells
                    if (c["n_columns"], c["draw"]) == (n_columns, draw_name)
                ]
                if mine:
                    numbers, errors, spread = np.transpose(sorted(mine))
                    line = style.line(look, label=NAMES[draw_name], ms=3.5)
                    axes.errorbar(numbers, errors, spread, **line)
            axes.set(title=f"{n_columns} columns", xscale="log", yscale="log")
            axes.set_xlabel("frequencies")
            axes.set_xticks([16, 128, 1024, 8192], ["16", "128", "1024", "8192"])
            axes.set_yticks([1, 0.1, 0.01, 0.001], ["100 %", "10 %", "1 %", "0.1 %"])
            axes.minorticks_off()
        every[0].set_ylabel("relative error of squared MMD")
        every[0].legend(loc="lower left")

    return draw


@picture(
    "power-by-frequencies",
    "Power against the number of frequencies for three differences. The power for a shift "
    "and for a wider sample rises little beyond 64 frequencies; that for blobs needs 256 and "
    "more. Dotted lines show the power from all pairs, which is reached in the end.",
    height=3.1,
)
def power_by_frequencies() -> Draw:
    """From part H of the calibration."""
    cells = measured("calibration/results/power_frequencies.json")["cells"]

    def draw(figure: Any, style: Style) -> None:
        axes = figure.subplots()
        for cell, look in zip(cells, ("fourier", "fastfood", "sobol"), strict=True):
            rates = {name: by["0.05"] for name, by in cell["rates"].items()}
            exact = rates.pop("exact")["rate"]
            numbers = [int(name) for name in rates]
            line = style.line(look, label=cell["text"])
            power = [r["rate"] for r in rates.values()]
            error = [r["standard_error"] for r in rates.values()]
            axes.errorbar(numbers, power, error, **line)
            axes.plot([4, 1024], [exact] * 2, color=style.colour(look), ls=":", lw=1.4)
        axes.set(title="Power of one kernel at level 0.05; dotted: all pairs")
        axes.set(xscale="log", ylim=(0.0, 1.0), xlabel="frequencies", ylabel="power")
        ticks = [4, 8, 16, 32, 64, 128, 256, 512, 1024]
        axes.set_xticks(ticks, [str(t) for t in ticks])
        axes.minorticks_off()
        axes.legend(loc="lower right")

    return draw
