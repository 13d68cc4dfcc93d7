"""Bins: rows are shuffled into them, kernel sums between them are kept, labels are dealt anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from catalogue import arrow, bare, bars, picture, remark
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle

import fastmmd
from fastmmd.nulls import BinGram, permute_bins, u_statistics

if TYPE_CHECKING:
    from catalogue import Draw

    from fastmmd.experiments._style import Style

N_BINS = 16
ROWS = 480


@picture(
    "bins",
    "Left: the rows of two samples, sorted by value, as strips of shades; below, the same "
    "rows shuffled and cut into eight bins each. Middle: the matrix of kernel sums between "
    "the sixteen bins, a little brighter within a sample than between samples. Right: a "
    "histogram of the statistic for relabelled bins, with a line far out for the labels as "
    "they were.",
    height=3.2,
)
def bins() -> Draw:
    """Few bins, so that they can be seen; the library takes up to 256."""
    rng = np.random.default_rng(5)
    x, y = np.sort(rng.normal(size=ROWS)), np.sort(rng.normal(0.45, 1.1, size=ROWS))
    shuffled = [rng.permutation(rows) for rows in (x, y)]
    rows = np.concatenate(shuffled)[:, None]
    gram = fastmmd.Gaussian(1.0).gram(rows, rows)
    per_bin = 2 * ROWS // N_BINS
    sums = gram.reshape(N_BINS, per_bin, N_BINS, per_bin).sum(axis=(1, 3))
    counts = np.full(N_BINS, per_bin)
    found = BinGram.from_bins(sums, counts, np.arange(N_BINS) < N_BINS // 2)
    observed = u_statistics(found)[0]
    null = permute_bins(found, n_resamples=4999, rng=rng).statistics[:, 0]

    def draw(figure: Any, style: Style) -> None:
        strips, matrix, histogram = figure.subplots(1, 3, width_ratios=(1.3, 1.0, 1.25))
        _strips(strips, style, (x, y), shuffled)
        means = sums / per_bin**2
        shades = LinearSegmentedColormap.from_list("sums", [style.page, style.third])
        # A row with itself makes the diagonal brighter than all others.
        low, high = np.quantile(means[~np.eye(N_BINS, dtype=bool)], (0.0, 1.0))
        matrix.imshow(means, cmap=shades, vmin=low - 0.5 * (high - low), vmax=high)
        half = N_BINS / 2 - 0.5
        matrix.axhline(half, color=style.page, lw=2)
        matrix.axvline(half, color=style.page, lw=2)
        matrix.set(title="Kernel sums between bins")
        bare(matrix)
        bars(histogram, style, 1e3 * null, 40)
        histogram.axvline(1e3 * observed, color=style.third, lw=2.2)
        histogram.set(title="Relabelled bins", yticks=[])
        histogram.set_xlabel("squared MMD, times 1000")
        histogram.spines["left"].set_visible(False)
        histogram.grid(visible=False)
        remark(
            histogram,
            style,
            "as they were ",
            (1e3 * observed, 0.92),
            xycoords=("data", "axes fraction"),
            ha="right",
            color=style.third,
            weight="bold",
        )

    return draw


def _strips(axes: Any, style: Style, samples: Any, shuffled: Any) -> None:
    """Rows as shades of their value: sorted above, in bins below."""
    n_shown = 96
    width = 1.0 / n_shown
    for k, (rows, mixed, colour) in enumerate(
        zip(samples, shuffled, (style.first, style.second), strict=True)
    ):
        top = 0.78 - 0.17 * k
        bottom = 0.26 - 0.17 * k
        ranks = np.searchsorted(np.sort(np.concatenate(samples)), rows) / (2 * ROWS)
        later = np.searchsorted(np.sort(np.concatenate(samples)), mixed) / (2 * ROWS)
        for place, values in ((top, ranks), (bottom, later)):
            chosen = values[np.linspace(0, ROWS - 1, n_shown).astype(int)]
            for i, value in enumerate(chosen):
                axes.add_patch(
                    Rectangle(
                        (i * width, place),
                        width,
                        0.13,
                        color=colour,
                        alpha=0.12 + 0.8 * value,
                        lw=0,
                    )
                )
        for b in range(N_BINS // 2 + 1):
            axes.plot(
                [b * 2 / N_BINS] * 2,
                [bottom - 0.01, bottom + 0.14],
                color=style.ink,
                lw=1.4,
            )
    for b in range(4):
        arrow(axes, (0.12 + 0.25 * b, 0.57), (0.12 + 0.25 * b, 0.45), style.muted, lw=1.2)
    remark(axes, style, "shuffle", (0.5, 0.51), ha="center", va="center")
    axes.set(title="Rows, and bins of rows", xlim=(-0.02, 1.02), ylim=(0.0, 1.0))
    bare(axes)
