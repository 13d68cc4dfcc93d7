"""Power where only a share of the rows can be relabelled, as between sketches."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from simulate import Cell

from fastmmd.nulls.bins import BinGram, u_statistics
from fastmmd.nulls.permutation import permute_bins

if TYPE_CHECKING:
    from collections.abc import Iterator

SHARES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.4)
N_COLUMNS, BANDWIDTH = 5, 3.0


def one_share(
    rng: np.random.Generator,
    *,
    sizes: tuple[int, int],
    bins: int,
    shift: float,
    scale: float,
) -> dict[str, float]:
    """Return p-values with some of the bins of each sample kept where they are."""
    x, y = (rng.standard_normal((n, N_COLUMNS)) for n in sizes)
    rows = np.concatenate([x, scale * y + shift])
    squares = (rows**2).sum(axis=1)
    distances = squares[:, None] + squares - 2.0 * rows @ rows.T
    gram = np.exp(-np.maximum(distances, 0.0) / (2.0 * BANDWIDTH**2))
    step = sizes[0] // bins
    starts = np.arange(0, sum(sizes), step)
    sums = np.add.reduceat(np.add.reduceat(gram, starts, axis=0), starts, axis=1)
    from_x = starts < sizes[0]
    found = {}
    for share in SHARES:
        movable = np.zeros(len(starts), dtype=np.bool_)
        for own in (from_x, ~from_x):
            places = np.flatnonzero(own)
            movable[places[: round(share * len(places))]] = True
        made = BinGram.from_bins(sums, np.full(len(starts), step), from_x, movable)
        null = permute_bins(made, n_resamples=299, rng=rng)
        found[f"share {share}"] = float(null.pvalues(u_statistics(made))[0])
    return found


def share_cells() -> Iterator[Cell]:
    """Yield alternatives at sizes that divide into bins."""
    for sizes, bins, shift, scale in (
        ((1024, 1024), 64, 0.0, 1.0),
        ((1024, 1024), 64, 0.09, 1.0),
        ((1024, 1024), 64, 0.0, 1.09),
        ((4096, 1024), 64, 0.075, 1.0),
    ):
        about = {"sizes": list(sizes), "shift": shift, "scale": scale}
        run = partial(one_share, sizes=sizes, bins=bins, shift=shift, scale=scale)
        title = f"{sizes[0]} + {sizes[1]}, shift {shift}, scale {scale}"
        yield Cell(title, about, run, 1000)
