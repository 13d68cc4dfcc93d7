"""The first picture of the site: samples that look alike, and how the test tells them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from catalogue import bars, picture, relabelled, remark

import fastmmd

if TYPE_CHECKING:
    from catalogue import Draw

    from fastmmd.experiments._style import Style


def samples() -> tuple[np.ndarray, np.ndarray]:
    """Return the samples of the first example on the site."""
    rng = np.random.default_rng(0)
    before = rng.normal(size=(1000, 2))
    after = rng.multivariate_normal([0, 0], [[1, 0.4], [0.4, 1]], size=1000)
    return before, after


@picture(
    "answer",
    "Left: two clouds of points that the eye can hardly tell apart. Right: a histogram of "
    "the squared MMD after rows were dealt anew to the two samples, all near zero, and far "
    "to the right of it a line, the squared MMD of the samples as they are.",
    height=2.9,
)
def answer() -> Draw:
    """One kernel and all rows, so that the picture can be drawn by hand."""
    before, after = samples()
    pooled = np.concatenate((before, after))
    gram = fastmmd.Gaussian(1.0).gram(pooled, pooled)
    observed, *others = relabelled(gram, len(before), 999, 1)

    def draw(figure: Any, style: Style) -> None:
        first, second, null = figure.subplots(1, 3, width_ratios=(1.0, 1.0, 1.75))
        for axes, rows, colour, title in (
            (first, before, style.first, "before"),
            (second, after, style.second, "after"),
        ):
            axes.plot(
                *rows[:400].T, ".", color=colour, ms=3.0, alpha=0.8, rasterized=True
            )
            axes.set(
                title=title, xlim=(-3.6, 3.6), ylim=(-3.6, 3.6), xticks=[], yticks=[]
            )
            axes.set_aspect("equal", anchor="S")
        scale = 1e3
        bars(null, style, scale * np.array(others), 36)
        null.axvline(scale * observed, color=style.third, lw=2.2)
        remark(
            null,
            style,
            "these samples ",
            (scale * observed, 0.9),
            xycoords=("data", "axes fraction"),
            ha="right",
            color=style.third,
            weight="bold",
        )
        remark(
            null,
            style,
            "the same rows,\ndealt anew 999 times",
            (0.36, 0.62),
            xycoords="axes fraction",
        )
        null.set(title="Squared MMD, times 1000", yticks=[])
        null.spines["left"].set_visible(False)
        null.grid(visible=False)

    return draw
