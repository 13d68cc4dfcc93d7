"""How it works: rows become points on a circle, and samples the means of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from catalogue import arrow, bare, picture, remark

import fastmmd
from fastmmd.frequencies import draw_frequencies

if TYPE_CHECKING:
    from catalogue import Draw

    from fastmmd.experiments._style import Style


@picture(
    "circle",
    "Left: twelve rows of each of two samples, and a direction, the frequency. Middle: "
    "every row as a point on the unit circle at the angle that the frequency gives it; "
    "two arrows from the centre to the means of the samples, and one between them. Right: "
    "the squared length of that arrow for 32 frequencies, with their mean near the exact "
    "squared MMD.",
    height=3.1,
)
def circle() -> Draw:
    """The rows shown are a part of those that the means are of."""
    rng = np.random.default_rng(3)
    x = rng.normal(0.0, 0.8, size=(200, 2))
    y = rng.normal(0.0, 0.8, size=(200, 2)) + np.array([1.1, 0.5])
    kernel = fastmmd.Gaussian(1.0)
    frequencies = draw_frequencies(kernel, 32, 2, rng=0).frequencies
    # The one that is shown: of a length that the eye can follow.
    shown = np.argmin(np.abs(frequencies - [1.1, 0.5]).sum(axis=1))
    frequencies[[0, shown]] = frequencies[[shown, 0]]
    means = [np.exp(1j * rows @ frequencies.T).mean(axis=0) for rows in (x, y)]
    squares = np.abs(means[0] - means[1]) ** 2
    exact = fastmmd.mmd(x, y, kernel=kernel, method="exact", estimator="biased").mmd2

    def draw(figure: Any, style: Style) -> None:
        rows, ring, bars = figure.subplots(1, 3, width_ratios=(1.0, 1.0, 1.15))
        colours = (style.first, style.second)
        for sample, colour in zip((x, y), colours, strict=True):
            rows.plot(*sample[:12].T, "o", color=colour, markeredgecolor=style.page)
        arrow(rows, (0, 0), frequencies[0], style.ink)
        remark(rows, style, "w", 1.08 * frequencies[0], color=style.ink, weight="bold")
        rows.set(title="Rows, and a frequency w", xlim=(-2.4, 3.0), ylim=(-2.6, 2.8))
        rows.set_aspect("equal")
        _ring(ring, style, (x[:12], y[:12]), frequencies[0], means)
        order = np.arange(len(squares))
        quiet = [style.muted] * (len(squares) - 1)
        bars.bar(order, squares, color=[style.third, *quiet], alpha=0.75)
        bars.axhline(squares.mean(), color=style.ink, lw=1.4)
        bars.axhline(exact, color=style.ink, lw=1.4, ls=":")
        remark(
            bars,
            style,
            "mean of all; dotted: all pairs",
            (0.98, 0.93),
            xycoords="axes fraction",
            ha="right",
            color=style.ink,
        )
        bars.set(title="Its square, by frequency", xticks=[], ylim=(0.0, 1.0))
        bars.set_xlabel(f"{len(squares)} frequencies")

    return draw


def _ring(axes: Any, style: Style, samples: Any, frequency: Any, means: Any) -> None:
    turn = np.linspace(0.0, 2.0 * np.pi, 200)
    axes.plot(np.cos(turn), np.sin(turn), color=style.faint, lw=1.2)
    axes.plot(0, 0, "+", color=style.muted)
    ends = []
    for sample, mean, colour, name in zip(
        samples, means, (style.first, style.second), ("$m_x$", "$m_y$"), strict=True
    ):
        phases = sample @ frequency
        look = {"color": colour, "markeredgecolor": style.page}
        axes.plot(np.cos(phases), np.sin(phases), "o", **look)
        end = (mean[0].real, mean[0].imag)
        arrow(axes, (0, 0), end, colour)
        offset = 0.16 * np.array(end) / np.hypot(*end)
        remark(axes, style, name, end + offset, color=colour, ha="center", va="center")
        ends.append(end)
    axes.plot(*np.transpose(ends), color=style.third, lw=2.4)
    axes.set(title="Rows at angles w · row", xlim=(-1.2, 1.2), ylim=(-1.2, 1.2))
    axes.set_aspect("equal")
    bare(axes)
