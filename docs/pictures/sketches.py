"""Sketches: what happens to a row, and how sums add up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from catalogue import arrow, bare, picture, remark
from matplotlib.patches import FancyBboxPatch, Rectangle

if TYPE_CHECKING:
    from catalogue import Draw

    from fastmmd.experiments._style import Style


def box(axes: Any, style: Style, place: tuple[float, float], text: str, **o: Any) -> None:
    """Draw a rounded box with text, given its centre."""
    width, height = o.pop("size", (1.4, 0.5))
    colour = o.pop("colour", style.muted)
    x, y = place
    look = {"boxstyle": "round,pad=0,rounding_size=0.08", "fc": "none", "ec": colour}
    corner = (x - width / 2, y - height / 2)
    axes.add_patch(FancyBboxPatch(corner, width, height, lw=1.3, **look))
    axes.text(x, y, text, ha="center", va="center", fontsize=8.5, **o)


def grid(axes: Any, corner: tuple[float, float], shades: np.ndarray, colour: str) -> None:
    """Draw a sketch as a grid of shades: slots down, frequencies across."""
    for i, row in enumerate(shades):
        for j, shade in enumerate(row):
            place = (corner[0] + 0.16 * j, corner[1] + 0.16 * i)
            axes.add_patch(Rectangle(place, 0.15, 0.15, color=colour, alpha=shade, lw=0))


@picture(
    "sketch",
    "Rows come in batches. Each row becomes cosines and sines and is added to one of 256 "
    "slots, chosen by a hash of its number. The sketch, slots by frequencies, keeps its size "
    "whatever the number of rows; two sketches of different data are added slot by slot.",
    height=1.9,
)
def sketch() -> Draw:
    """A diagram; the shades are random, and the last is the sum of the others."""
    first, second = 0.06 + 0.42 * np.random.default_rng(1).random((2, 6, 8))

    def draw(figure: Any, style: Style) -> None:
        axes = figure.subplots()
        for k in range(3):
            box(axes, style, (0.75, 0.55 + 0.65 * k), f"batch {3 - k}", size=(1.1, 0.45))
            arrow(axes, (1.35, 0.55 + 0.65 * k), (2.0, 1.2), style.muted, lw=1.1)
        box(axes, style, (2.65, 1.2), "cos, sin of\neach row", size=(1.2, 0.75))
        arrow(axes, (3.3, 1.2), (4.35, 1.2), style.muted, lw=1.1)
        remark(axes, style, "slot by a hash\nof its number", (3.85, 1.3), ha="center")
        grid(axes, (4.6, 0.72), first, style.first)
        remark(axes, style, "frequencies", (5.23, 1.78), ha="center")
        remark(axes, style, "slots", (4.52, 1.2), ha="center", va="center", rotation=90)
        remark(axes, style, "a sketch", (5.23, 0.22), ha="center", color=style.first)
        axes.text(6.25, 1.2, "+", fontsize=16, ha="center", va="center", color=style.ink)
        grid(axes, (6.55, 0.72), second, style.second)
        remark(axes, style, "another day", (7.18, 0.22), ha="center", color=style.second)
        axes.text(8.2, 1.2, "=", fontsize=16, ha="center", va="center", color=style.ink)
        grid(axes, (8.5, 0.72), first + second, style.third)
        remark(axes, style, "both days", (9.13, 0.22), ha="center", color=style.third)
        axes.set(xlim=(0.1, 9.9), ylim=(0.1, 2.15))
        axes.set_aspect("equal")
        bare(axes)

    return draw


@picture(
    "cluster",
    "Workers turn partitions of the data into sketches. Sketches are added in pairs, and the "
    "sums again, until one is left, a few megabytes, which goes to the driver.",
    height=2.6,
)
def cluster() -> Draw:
    """A diagram; nothing is computed."""

    def draw(figure: Any, style: Style) -> None:
        axes = figure.subplots()
        rows = [0.35 + 0.62 * k for k in range(4)]
        for k, y in enumerate(rows):
            box(axes, style, (0.9, y), f"partition {4 - k}", size=(1.5, 0.46))
            arrow(axes, (1.7, y), (2.35, y), style.muted, lw=1.1)
            box(axes, style, (3.05, y), "sketch", size=(1.3, 0.46), colour=style.first)
        pairs = [(rows[2 * k] + rows[2 * k + 1]) / 2 for k in range(2)]
        for k, y in enumerate(pairs):
            for source in rows[2 * k : 2 * k + 2]:
                arrow(axes, (3.75, source), (4.55, y), style.muted, lw=1.1)
            box(axes, style, (5.2, y), "sum", size=(1.2, 0.46), colour=style.first)
            arrow(axes, (5.85, y), (6.6, sum(pairs) / 2), style.muted, lw=1.1)
        box(
            axes,
            style,
            (7.2, sum(pairs) / 2),
            "sum",
            size=(1.1, 0.46),
            colour=style.first,
        )
        arrow(axes, (7.8, sum(pairs) / 2), (8.5, sum(pairs) / 2), style.muted, lw=1.1)
        box(
            axes,
            style,
            (9.2, sum(pairs) / 2),
            "test",
            size=(1.3, 0.6),
            colour=style.third,
        )
        for x, text in ((2.0, "workers"), (6.0, "workers"), (9.2, "driver")):
            remark(axes, style, text, (x, 2.72), ha="center")
        axes.set(xlim=(0.0, 10.0), ylim=(0.0, 2.95))
        axes.set_aspect("equal")
        bare(axes)

    return draw


@picture(
    "files",
    "Two passes over two data sets. In the first, rows with the lowest hash of their place "
    "make a sample, from which scales, levels and kernels come. In the second every row is "
    "encoded and added to the sketch of its data set. The sketches are compared.",
    height=2.1,
)
def files() -> Draw:
    """A diagram; nothing is computed."""

    def draw(figure: Any, style: Style) -> None:
        axes = figure.subplots()
        for y, name, colour in ((1.95, "A", style.first), (0.55, "B", style.second)):
            box(axes, style, (0.75, y), f"files {name}", size=(1.2, 0.5), colour=colour)
            arrow(
                axes,
                (1.4, y),
                (2.4, 1.25 + 0.12 * np.sign(y - 1.25)),
                style.muted,
                lw=1.1,
            )
            axes.plot([1.4, 6.3], [y, y], color=style.muted, lw=1.1, ls="--")
            arrow(axes, (6.2, y), (6.45, y), style.muted, lw=1.1)
            box(
                axes,
                style,
                (7.2, y),
                f"sketch of {name}",
                size=(1.45, 0.5),
                colour=colour,
            )
            arrow(
                axes,
                (7.98, y),
                (8.55, 1.25 + 0.2 * np.sign(y - 1.25)),
                style.muted,
                lw=1.1,
            )
        box(axes, style, (3.15, 1.25), "pooled sample", size=(1.45, 0.5))
        arrow(axes, (3.92, 1.25), (4.5, 1.25), style.muted, lw=1.1)
        box(axes, style, (5.35, 1.25), "scales, levels,\nkernels", size=(1.6, 0.62))
        arrow(axes, (5.6, 1.6), (6.5, 1.85), style.muted, lw=1.1)
        arrow(axes, (5.6, 0.9), (6.5, 0.65), style.muted, lw=1.1)
        box(axes, style, (9.15, 1.25), "compare", size=(1.1, 0.55), colour=style.third)
        remark(axes, style, "first pass", (1.95, 1.18), ha="center", va="top")
        remark(axes, style, "second pass (dashed)", (3.6, 2.05), ha="center", va="bottom")
        axes.set(xlim=(0.0, 9.8), ylim=(0.1, 2.4))
        axes.set_aspect("equal")
        bare(axes)

    return draw
