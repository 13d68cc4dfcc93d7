"""Axes that read well: few ticks, plain numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


def angle_axis(axes: Any, /) -> None:
    """Label the horizontal axis by angles of one turn."""
    axes.set_xlim(0.0, 2.0 * np.pi)
    axes.set_xticks(np.pi * np.arange(5) / 2.0, ["0", "π/2", "π", "3π/2", "2π"])


def log_axis(axis: Any, at: Sequence[float], labels: Sequence[str] | None = None) -> None:
    """Make an axis logarithmic, with ticks at given places only."""
    from matplotlib.ticker import NullLocator

    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_ticks(at, [f"{value:,g}" for value in at] if labels is None else labels)
    axis.set_minor_locator(NullLocator())
