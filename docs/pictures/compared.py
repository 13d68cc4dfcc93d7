"""The comparison: time against error, one dot for each way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalogue import measured, picture, remark

if TYPE_CHECKING:
    from catalogue import Draw

    from fastmmd.experiments._style import Style

WAYS = {
    ("FastMMD", "Fourier"): ("FastMMD, Fourier(128)", "fourier", "right"),
    ("FastMMD", "Fourier, independent"): (
        "… independent frequencies",
        "fourier",
        "right",
    ),
    ("FastMMD", "Block"): ("FastMMD, Block", "fourier", "right"),
    ("NumPy, textbook", "features, float64"): ("NumPy, textbook", "exact", "below"),
    ("NumPy, float32 blocks", "features, float32 in blocks"): (
        "NumPy, blocks",
        "exact",
        "below",
    ),
    ("PyTorch", "features, float64"): ("PyTorch", "fastfood", "below"),
    ("PyTorch", "features, float32 in blocks"): ("PyTorch, blocks", "fastfood", "right"),
    ("scikit-learn", "RBFSampler"): ("scikit-learn", "sobol", "above"),
    ("KeOps", "features, float32"): ("KeOps", "grid", "right"),
    ("NumPy, B-test", "blocks of rows, float64"): ("B-test in NumPy", "exact", "left"),
}
"""How a way is called, in which colour, and where its name stands so that none overlap."""

PLACES = {
    "right": {"xytext": (8, 0), "ha": "left", "va": "center"},
    "left": {"xytext": (-8, 0), "ha": "right", "va": "center"},
    "above": {"xytext": (0, 8), "ha": "center", "va": "bottom"},
    "below": {"xytext": (0, -8), "ha": "center", "va": "top"},
}
N_ROWS = 100_000


@picture(
    "time-and-error",
    "Time against the error of squared MMD, both logarithmic, for 100,000 rows. FastMMD's "
    "Fourier estimate is at the lower left: the least time, and a smaller error than every "
    "other way with random frequencies. Block statistics have the smallest error and take "
    "more time.",
    height=3.7,
)
def time_and_error() -> Draw:
    """From the measurement of ``make compare``, with the most threads there."""
    problems = measured("benchmarks/results/compare_rows.json")["problems"]
    sizes = {p["n_rows"] for p in problems}
    n_rows = min(sizes, key=lambda n: abs(n - N_ROWS))
    mine = [p for p in problems if p["n_rows"] == n_rows]
    problem = max(mine, key=lambda p: p["threads"])
    dots = []
    for cell in problem["results"]:
        key = (cell["peer"], cell.get("way"))
        if key in WAYS and cell["status"] == "ok" and cell.get("relative_error"):
            dots.append((*WAYS[key], cell["seconds"], cell["relative_error"]))
    shape = (
        f"{problem['n_rows']:,} rows, {problem['n_columns']} columns, "
        f"{problem['n_frequencies']} frequencies, {problem['threads']} threads"
    )

    def draw(figure: Any, style: Style) -> None:
        axes = figure.subplots()
        for label, look, place, seconds, error in dots:
            colour = style.colour(look)
            axes.plot(1e3 * seconds, error, "o", ms=7, color=colour)
            ours = label.startswith(("FastMMD", "…"))
            remark(
                axes,
                style,
                label,
                (1e3 * seconds, error),
                textcoords="offset points",
                color=colour,
                weight="bold" if ours else "normal",
                **PLACES[place],
            )
        axes.set(title=shape, xscale="log", yscale="log")
        axes.set(xlabel="milliseconds", ylabel="relative error of squared MMD")
        axes.set_xticks([10, 100, 1000], ["10", "100", "1,000"])
        axes.set_yticks([0.001, 0.01, 0.1], ["0.1 %", "1 %", "10 %"])
        axes.minorticks_off()
        axes.margins(0.12, 0.12)
        axes.set_xlim(right=3000)

    return draw
