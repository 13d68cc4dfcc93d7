"""Two samples on a circle, with the diameter that separates them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastmmd.circular import decision_diameter

if TYPE_CHECKING:
    from fastmmd._typing import FloatArray
    from fastmmd.experiments._style import Style

TURN = 2.0 * np.pi
_OUTSIDE, _INSIDE = 1.055, 0.945


def on_circle(angles: Any, radius: Any = 1.0, /) -> tuple[FloatArray, FloatArray]:
    """Return the coordinates of angles."""
    return np.asarray(radius * np.cos(angles)), np.asarray(radius * np.sin(angles))


def draw_circle(
    axes: Any,
    style: Style,
    angles_x: FloatArray,
    angles_y: FloatArray,
    /,
    *,
    marker_size: float,
    reach: float = 1.15,
) -> None:
    """Draw a circle, the samples just outside and inside of it, and the best diameter."""
    turn = np.linspace(0.0, TURN, 361)
    axes.plot(*on_circle(turn), color=style.muted, lw=0.9, zorder=1)
    diameter = decision_diameter(angles_x, angles_y)
    ends = np.array([diameter.angle, diameter.opposite])
    axes.plot(*on_circle(ends), color=style.third, lw=2.0, zorder=2)
    for angles, radius, colour in (
        (angles_x, _OUTSIDE, style.first),
        (angles_y, _INSIDE, style.second),
    ):
        axes.scatter(
            *on_circle(angles, radius),
            s=marker_size,
            color=colour,
            alpha=0.8,
            linewidths=0.0,
            zorder=3,
        )
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.axis("off")
