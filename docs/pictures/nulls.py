"""Null distributions: what each of them says about the tail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from catalogue import picture
from scipy import special

import fastmmd
from fastmmd.nulls import BinGram, hollow_moments, permute_bins, weighted_chi_square_tail
from fastmmd.nulls.moments import pearson_tail
from fastmmd.nulls.spectrum import null_weights

if TYPE_CHECKING:
    from catalogue import Draw

    from fastmmd.experiments._style import Style

N_RESAMPLES = 200_000


@picture(
    "nulls",
    "Two panels, a wide and a narrow kernel. P-value on a logarithmic scale against the "
    "statistic: the curve of 200,000 relabellings, the spectrum and Pearson curves close to "
    "it, the gamma curve a little below it in the tail, and the normal curve far below.",
    height=3.4,
)
def nulls() -> Draw:
    """Two samples of one distribution, tails by every null."""
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(256, 3))
    panels = []
    for title, bandwidth in (("Wide kernel, bandwidth 2", 2.0), ("Narrow, 0.4", 0.4)):
        gram = fastmmd.Gaussian(bandwidth).gram(rows, rows)
        found = BinGram.from_bins(gram, np.ones(256, dtype=int), np.arange(256) < 128)
        moments = hollow_moments(found)
        weights, _ = null_weights(found)
        spread = np.sqrt(moments.variance)
        drawn = permute_bins(found, n_resamples=N_RESAMPLES, rng=rng).statistics[:, 0]
        # In the units of the moments: n_x n_y / (n_x + n_y) times the squared MMD.
        values = np.sort(64.0 * drawn)[::-1]
        ranks = np.arange(1, len(values) + 1) / len(values)
        kept = np.unique(np.geomspace(1, len(values), 300).astype(int)) - 1
        grid = np.linspace(0.0, values[0] * 1.05, 120)
        shape = moments.trace**2 / moments.variance
        curves = {
            "spectrum": [weighted_chi_square_tail(weights, t) for t in grid],
            "pearson": [pearson_tail(t / spread, moments.skewness) for t in grid],
            "gamma": special.gammaincc(
                shape, shape * (grid + moments.trace) / moments.trace
            ),
            "normal": special.ndtr(-grid / spread),
        }
        panels.append((title, values[kept] / spread, ranks[kept], grid / spread, curves))

    def draw(figure: Any, style: Style) -> None:
        for axes, (title, values, ranks, grid, curves) in zip(
            figure.subplots(1, 2, sharey=True), panels, strict=True
        ):
            axes.plot(
                values, ranks, color=style.ink, lw=5.0, alpha=0.25, label="Permutation"
            )
            for name, curve in curves.items():
                if name == "normal":
                    look = {"color": style.faint, "lw": 2.0, "label": "Normal"}
                    look["color"] = style.muted
                    axes.plot(grid, curve, ls=":", **look)
                else:
                    plain = {"marker": "", "lw": 1.6}
                    axes.plot(grid, curve, **style.line(name, **plain))
            axes.set(title=title, yscale="log", ylim=(4e-6, 1.0), xlim=(0.0, grid[-1]))
            axes.set_xlabel("statistic, in standard deviations")
        figure.axes[0].set_ylabel("p-value")
        figure.axes[1].legend()

    return draw
