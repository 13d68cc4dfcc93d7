"""Calibration: measured levels beside what they should be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalogue import measured, picture, remark

if TYPE_CHECKING:
    from catalogue import Draw

    from fastmmd.experiments._style import Style


@picture(
    "levels",
    "Measured rejection rates of equal distributions with their standard errors, one dot for "
    "each setting. Exact tests lie around 0.05 within their errors, or below where few "
    "relabellings exist; asymptotic ones lie between 0.03 and 0.06.",
    height=3.6,
)
def levels() -> Draw:
    """From parts A and B of the calibration."""
    panels = []
    for title, part in (
        ("Exact tests", "level_exact"),
        ("Asymptotic tests", "level_asymptotic"),
    ):
        cells = measured(f"calibration/results/{part}.json")["cells"]
        rates = [
            (by["0.05"]["rate"], by["0.05"]["standard_error"], name)
            for cell in cells
            for name, by in cell["rates"].items()
        ]
        panels.append((title, sorted(rates)))

    def draw(figure: Any, style: Style) -> None:
        looks = {
            "gamma": "gamma",
            "pearson": "pearson",
            "spectrum": "spectrum",
            "linear": "linear",
            "block": "block",
        }
        every = figure.subplots(1, 2, sharex=True)
        for axes, (title, rates) in zip(every, panels, strict=True):
            axes.axvspan(0.04, 0.06, color=style.faint, alpha=0.6, lw=0)
            axes.axvline(0.05, color=style.muted, lw=1.2)
            seen = set()
            for place, (rate, error, name) in enumerate(rates):
                known = looks.get(name)
                colour = style.colour(known) if known else style.first
                label = name.capitalize() if known and name not in seen else None
                seen.add(name)
                axes.errorbar(
                    rate, place, xerr=error, fmt="o", ms=3.5, color=colour, label=label
                )
            axes.set(title=f"{title}: {len(rates)} settings", yticks=[])
            axes.grid(visible=False)
            axes.spines["left"].set_visible(False)
            axes.set_xlabel("rate of rejections at level 0.05")
        every[0].set_xlim(0.0, 0.1)
        handles, labels = every[1].get_legend_handles_labels()
        if handles:
            every[1].legend(handles, labels, loc="lower right")
        remark(every[0], style, "aim", (0.0605, 0.5), va="bottom")

    return draw
