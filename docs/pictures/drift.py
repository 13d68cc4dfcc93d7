"""Drift: a year of tests without any, and a stream in which one begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from catalogue import picture, remark

import fastmmd

if TYPE_CHECKING:
    from catalogue import Draw

    from fastmmd.experiments._style import Style


@picture(
    "gate",
    "P-values of 365 daily tests of data that did not change, on a logarithmic scale. They "
    "are spread evenly between 0 and 1; about a twentieth lie below the line at 0.05 and are "
    "marked by crosses, and none below the line at 0.0005.",
    height=3.0,
)
def gate() -> Draw:
    """Days of 1000 rows against a reference of 5000, all of one distribution."""
    rng = np.random.default_rng(2)
    reference = fastmmd.Sketch(fastmmd.Gaussian(2.0), 4, n_frequencies=128, stream="r")
    reference.update(rng.normal(size=(5000, 4)))
    pvalues = []
    for day in range(365):
        today = reference.like(stream=f"day {day}")
        today.update(rng.normal(size=(1000, 4)))
        result = fastmmd.compare(
            reference, today, null="permutation", n_resamples=19_999, rng=day
        )
        pvalues.append(result.pvalue)
    values = np.array(pvalues)
    days = np.arange(1, 366)

    def draw(figure: Any, style: Style) -> None:
        axes = figure.subplots()
        low = values <= 0.05
        axes.plot(days[~low], values[~low], "o", ms=3.2, color=style.first, alpha=0.75)
        axes.plot(days[low], values[low], "x", ms=6, mew=1.8, color=style.second)
        for level in (0.05, 0.0005):
            count = int((values <= level).sum())
            axes.plot([1, 365], [level] * 2, color=style.muted, lw=1.2, ls="--")
            text = f"{level:g}: {count or 'no'} false alarms"
            remark(axes, style, text, (369, level), va="center", color=style.ink)
        axes.set(yscale="log", ylim=(1e-4, 1.3), xlim=(-4, 468), xlabel="day")
        axes.set(title="p-values of a year without drift")
        axes.set_xticks([1, 100, 200, 300, 365])
        axes.set_yticks(
            [1.0, 0.1, 0.01, 0.001, 0.0001], ["1", "0.1", "0.01", "0.001", "0.0001"]
        )
        axes.minorticks_off()

    return draw


DAYS, ONSET = 90, 45


@picture(
    "drift",
    "Ninety days, of which the last 45 drift slowly. Above, the effect size of each day and of "
    "each week against the reference: days scatter, weeks are steadier and rise soon after "
    "the drift begins. Below, p-values on a logarithmic scale: those of weeks cross the line "
    "of the chosen level ten days after the drift began, those of days later.",
    height=4.4,
)
def drift() -> Draw:
    """Days and sliding weeks of the stream on the page, against its reference."""
    rng = np.random.default_rng(0)
    reference = fastmmd.Sketch(fastmmd.Gaussian(2.0), 4, stream="reference")
    reference.update(rng.normal(size=(8000, 4)))
    sketches = []
    for day in range(DAYS):
        rows = rng.normal(size=(400, 4))
        rows[:, 0] += 0.012 * max(0, day - ONSET)
        sketches.append(reference.like(stream=f"day {day}"))
        sketches[-1].update(rows)
    found: dict[str, list[tuple[int, float, float]]] = {"a day": [], "a week": []}
    for day in range(DAYS):
        for name, length in (("a day", 1), ("a week", 7)):
            if day + 1 >= length:
                window = sum(sketches[day + 1 - length : day + 1])
                result = fastmmd.compare(reference, window, n_resamples=9999, rng=0)
                found[name].append((day, result.effect_size, result.pvalue))

    def draw(figure: Any, style: Style) -> None:
        effects, pvalues = figure.subplots(2, 1, sharex=True)
        level = 0.05 / DAYS
        for (name, points), colour, look in zip(
            found.items(),
            (style.first, style.second),
            ({"ls": "", "marker": "o", "ms": 3.5}, {"lw": 2.0}),
            strict=True,
        ):
            at, effect, pvalue = np.transpose(points)
            effects.plot(at, effect, color=colour, label=name, **look)
            # Relabelling cannot go lower, and the picture need not.
            pvalues.plot(at, np.maximum(pvalue, 1e-4), color=colour, **look)
        for axes in (effects, pvalues):
            axes.axvline(ONSET, color=style.muted, ls=":", lw=1.4)
        effects.set(ylabel="effect size", title="Against the reference")
        effects.legend(loc="upper left")
        remark(effects, style, "drift begins ", (ONSET, 0.05), ha="right")
        pvalues.axhline(level, color=style.third, lw=1.4, ls="--")
        remark(pvalues, style, "0.05 / 90", (0, level), va="top", color=style.third)
        pvalues.set(yscale="log", ylabel="p-value", xlabel="day", xlim=(-1, DAYS))
        pvalues.set(ylim=(6e-5, 1.5))

    return draw
