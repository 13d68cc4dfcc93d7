"""The comparison: time against error, one dot for each way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalogue import measured, picture, remark

if TYPE_CHECKING:
    from catalogue import Draw

    from fastmmd.experiments._style import Style

WAYS = {
    ("FastMMD", "Fourier"): "FastMMD, Fourier(128)",
    ("FastMMD", "Fourier, independent"): "FastMMD, independent frequencies",
    ("FastMMD", "Block"): "FastMMD, Block",
    ("FastMMD", "Exact"): "FastMMD, Exact",
    ("NumPy, textbook", "features, float64"): "NumPy, textbook",
    ("NumPy, float32 blocks", "features, float32 in blocks"): "NumPy, float32 blocks",
    ("PyTorch", "features, float64"): "PyTorch, float64",
    ("PyTorch", "features, float32 in blocks"): "PyTorch, float32 blocks",
    ("scikit-learn", "RBFSampler"): "scikit-learn, RBFSampler",
    ("KeOps", "features, float32"): "KeOps, features",
    ("KeOps", "double sum, float64"): "KeOps, all pairs",
    ("NumPy, B-test", "blocks of rows, float64"): "B-test in NumPy",
}
N_ROWS = 100_000
ROUNDING = 1e-9
"""Below this an error is that of arithmetic, and not shown."""


@picture(
    "time-and-error",
    "A row for each way to estimate squared MMD from 100,000 rows, fastest first, with its "
    "time on the left and its error on the right, both logarithmic. FastMMD's Fourier "
    "estimate takes about ten milliseconds and errs by about two per cent; the other ways with "
    "random frequencies take longer and err by about ten per cent. Block statistics err less "
    "and take longer; exact sums take seconds.",
    height=3.9,
)
def time_and_error() -> Draw:
    """From the measurement of ``make compare``, with the most threads there."""
    problems = measured("benchmarks/results/compare_rows.json")["problems"]
    sizes = {p["n_rows"] for p in problems}
    n_rows = min(sizes, key=lambda n: abs(n - N_ROWS))
    mine = [p for p in problems if p["n_rows"] == n_rows]
    problem = max(mine, key=lambda p: p["threads"])
    found = []
    for cell in problem["results"]:
        key = (cell["peer"], cell.get("way"))
        if key in WAYS and cell["status"] == "ok":
            error = cell.get("relative_error") or 0.0
            found.append((cell["seconds"], error, WAYS[key]))
    found.sort(reverse=True)
    shape = (
        f"{problem['n_rows']:,} rows, {problem['n_columns']} columns, "
        f"{problem['n_frequencies']} frequencies, {problem['threads']} threads"
    )

    def draw(figure: Any, style: Style) -> None:
        left, right = figure.subplots(1, 2, sharey=True)
        for place, (seconds, error, name) in enumerate(found):
            colour = style.first if name.startswith("FastMMD") else style.muted
            left.plot(1e3 * seconds, place, "o", ms=7, color=colour)
            if error > ROUNDING:
                right.plot(error, place, "o", ms=7, color=colour)
            else:
                remark(right, style, "rounding only", (1.2e-3, place), va="center")
        left.set_yticks(range(len(found)), [name for *_, name in found])
        for label, (*_, name) in zip(left.get_yticklabels(), found, strict=True):
            label.set_weight("bold" if name.startswith("FastMMD") else "normal")
        left.set(title="milliseconds", xscale="log", xlim=(3, 2e3 * found[0][0]))
        right.set(title="relative error of squared MMD", xscale="log", xlim=(8e-4, 0.5))
        left.set_xticks([10, 100, 1000, 10_000], ["10", "100", "1,000", "10,000"])
        right.set_xticks([0.001, 0.01, 0.1], ["0.1 %", "1 %", "10 %"])
        for axes in (left, right):
            axes.minorticks_off()
            axes.margins(y=0.06)
        figure.supxlabel(shape, fontsize=9, color=style.muted)

    return draw
