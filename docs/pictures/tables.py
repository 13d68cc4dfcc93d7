"""Tables: how columns of every kind become numbers of one scale."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from catalogue import arrow, bare, picture
from matplotlib.colors import LinearSegmentedColormap

if TYPE_CHECKING:
    from catalogue import Draw

    from fastmmd.experiments._style import Style


@picture(
    "encoding",
    "Left: six rows of a table with a delay, a carrier, a day and a flag. Right: the same "
    "rows as six columns of numbers of one scale, as shades: one for the delay, three for "
    "the levels of the carrier, one for the day and one for the flag.",
    height=2.9,
)
def encoding() -> Draw:
    """A real schema on a small table."""
    import pyarrow as pa

    from fastmmd.tables import Schema

    rng = np.random.default_rng(12)
    n = 400
    days = [datetime(2018, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 30, n)]
    columns = {
        "delay": rng.exponential(12.0, n).round(1),
        "carrier": rng.choice(["AA", "UA"], n),
        "day": days,
        "cancelled": rng.random(n) < 0.2,
    }
    table = pa.table(columns)
    schema = Schema.infer(table)
    numbers = schema.encode(table)[:6]
    heads = [name.rpartition("= ")[2].strip("()") for name in schema.encoded_names]
    lines = [
        [
            f"{columns['delay'][i]:.1f}",
            str(columns["carrier"][i]),
            f"{days[i]:%d %b}",
            "yes" if columns["cancelled"][i] else "no",
        ]
        for i in range(6)
    ]

    def draw(figure: Any, style: Style) -> None:
        left, right = figure.subplots(1, 2, width_ratios=(1.25, 1.0))
        for j, name in enumerate(columns):
            left.text(j, 6.0, name, ha="center", weight="bold", fontsize=8.5)
            for i, line in enumerate(lines):
                left.text(j, 5.0 - i, line[j], ha="center", va="center", fontsize=9)
        arrow(left, (3.75, 2.5), (4.35, 2.5), style.muted, lw=1.6)
        left.set(xlim=(-0.5, 4.4), ylim=(-0.6, 6.6))
        bare(left)
        shades = LinearSegmentedColormap.from_list(
            "numbers", [style.first, style.page, style.second]
        )
        right.imshow(numbers, cmap=shades, vmin=-2.0, vmax=2.0, aspect="auto")
        for (i, j), value in np.ndenumerate(numbers):
            colour = style.ink
            right.text(
                j, i, f"{value:.1f}", ha="center", va="center", fontsize=8, color=colour
            )
        right.set_xticks(range(6), heads, fontsize=8.5)
        right.tick_params(
            top=True, labeltop=True, bottom=False, labelbottom=False, length=0
        )
        right.set_yticks([])
        right.grid(visible=False)
        for spine in right.spines.values():
            spine.set_visible(False)

    return draw
