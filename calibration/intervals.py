"""Coverage of the interval for squared MMD, and level of the margin test."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from simulate import Cell

import fastmmd
from fastmmd import Gaussian

if TYPE_CHECKING:
    from collections.abc import Iterator

BANDWIDTH = 1.5
N_COLUMNS = 2


def true_mmd2(shift: float) -> float:
    """Return squared MMD of two unit normals, one moved, for the Gaussian kernel."""
    spread = BANDWIDTH**2 + 2.0
    height = (BANDWIDTH**2 / spread) ** (0.5 * N_COLUMNS)
    return 2.0 * height * (1.0 - np.exp(-0.5 * shift**2 / spread))


def one_interval(
    rng: np.random.Generator, *, shift: float, sizes: tuple[int, int]
) -> dict[str, float]:
    """Return 0 where the interval misses the truth, and the margin test's p-value."""
    x, y = (rng.standard_normal((n, N_COLUMNS)) for n in sizes)
    y[:, 0] += shift
    options = {"kernel": Gaussian(BANDWIDTH), "method": "exact", "n_resamples": 1}
    seed = int(rng.integers(2**31))
    low, high = fastmmd.two_sample_test(x, y, rng=seed, **options).confidence_interval
    true = true_mmd2(shift)
    found = {"misses": 0.0 if not low <= true <= high else 1.0}
    found |= {"too low": float(high >= true), "too high": float(low <= true)}
    if shift > 0.0:
        found["margin"] = fastmmd.two_sample_test(
            x, y, rng=seed, margin=float(np.sqrt(true)), **options
        ).pvalue
    return found


def interval_cells() -> Iterator[Cell]:
    """Yield sizes and shifts."""
    for sizes in ((200, 200), (150, 600), (600, 150), (2000, 100)):
        for shift in (0.0, 0.1, 0.2, 0.5, 1.0):
            about = {"sizes": list(sizes), "shift": shift}
            run = partial(one_interval, shift=shift, sizes=sizes)
            yield Cell(f"{sizes[0]} + {sizes[1]}, shift {shift}", about, run, 2000)
