"""Methods: expected times by the number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from catalogue import measured, picture

import fastmmd

if TYPE_CHECKING:
    from catalogue import Draw

    from fastmmd.experiments._style import Style


@picture(
    "method-times",
    "Expected time against the number of rows, both logarithmic, in 2 and in 50 columns. "
    "All pairs rise twice as steeply as the others and leave them behind from some ten "
    "thousand rows on; Fourier, Fastfood, Grid and Linear rise in proportion. A band marks "
    "what the automatic choice takes.",
    height=3.6,
)
def method_times() -> Draw:
    """What `fastmmd.plan` says; its rates are measured ones."""
    measured("src/fastmmd/plan_rates.json")
    sizes = np.unique(np.geomspace(200, 2e8, 60).astype(int))
    panels = []
    for n_columns in (2, 50):
        curves: dict[str, list[tuple[int, float]]] = {}
        chosen = []
        for n in sizes:
            plan = fastmmd.plan(int(n) // 2, int(n) // 2, n_columns)
            for option in plan.options:
                curves.setdefault(option.method.name, []).append((n, option.seconds))
            chosen.append(plan.seconds)
        panels.append((n_columns, curves, chosen))

    def draw(figure: Any, style: Style) -> None:
        every = figure.subplots(1, 2, sharey=True)
        for axes, (n_columns, curves, chosen) in zip(every, panels, strict=True):
            band = {"color": style.muted, "alpha": 0.3, "lw": 9, "label": '"auto"'}
            axes.plot(sizes, chosen, solid_capstyle="butt", **band)
            for name in ("exact", "block", "fourier", "fastfood", "grid", "linear"):
                if name in curves:
                    look = style.line(name, marker="", label=name.capitalize())
                    axes.plot(*np.transpose(curves[name]), **look)
            axes.set(title=f"{n_columns} columns", xscale="log", yscale="log")
            axes.set_xlabel("rows, both samples together")
            axes.set(ylim=(1e-4, 3e4), xlim=(200, 2e8))
            ticks = {1e-3: "1 ms", 1e-1: "0.1 s", 1e0: "1 s", 6e1: "1 min", 3.6e3: "1 h"}
            axes.set_yticks(list(ticks), list(ticks.values()))
            axes.minorticks_off()
        every[0].set_ylabel("expected time, one core")
        every[0].legend(loc="upper left")

    return draw
