"""How far the estimate of a small p-value strays: its exponent, against the true law."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq
from scipy.spatial.distance import pdist
from simulate import Cell

from fastmmd.nulls.bins import BinGram
from fastmmd.nulls.spectrum import null_weights
from fastmmd.nulls.weighted_chi_square import weighted_chi_square_tail

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastmmd._typing import FloatArray

EXPONENTS = (3, 4, 6, 8, 10, 12, 16)
ROWS_OF_LAW = 2000
BINS = 256

LAWS = {
    "normal": lambda rng, n, d: rng.standard_normal((n, d)),
    "t3": lambda rng, n, d: rng.standard_t(3, (n, d)),
    "lognormal": lambda rng, n, d: np.exp(rng.standard_normal((n, d))),
}


def gaussian(rows: FloatArray, bandwidth: float) -> FloatArray:
    """Return the kernel matrix of some rows."""
    squares = (rows**2).sum(axis=1)
    distances = squares[:, None] + squares - 2.0 * rows @ rows.T
    return np.exp(-np.maximum(distances, 0.0) / (2.0 * bandwidth**2))


def true_points(law: Any, n_columns: int, share: float) -> tuple[float, list[float]]:
    """Return a bandwidth, and where the true law has tails of 10 to these exponents."""
    rng = np.random.default_rng(0)
    bandwidth = share * float(np.median(pdist(law(rng, 500, n_columns))))
    gram = gaussian(law(rng, ROWS_OF_LAW, n_columns), bandwidth)
    centred = gram - gram.mean(axis=0)
    centred -= centred.mean(axis=1)[:, None]
    weights = np.linalg.eigvalsh(centred) / ROWS_OF_LAW
    weights = weights[weights > 1e-12]

    def excess(value: float, exponent: int) -> float:
        return (
            np.log10(weighted_chi_square_tail(weights, value + weights.sum())) + exponent
        )

    points = []
    for exponent in EXPONENTS:
        high = 1.0
        while excess(high, exponent) > 0.0:
            high *= 2.0
        points.append(float(brentq(excess, 0.0, high, args=(exponent,))))
    return bandwidth, points


def one_tail(
    rng: np.random.Generator,
    *,
    law: Any,
    n_columns: int,
    sizes: tuple[int, int],
    bandwidth: float,
    points: list[float],
) -> dict[str, float]:
    """Return estimated over true exponents of samples alike."""
    n = sum(sizes)
    gram = gaussian(law(rng, n, n_columns), bandwidth)
    step = -(-n // BINS)
    starts = np.concatenate([np.arange(0, sizes[0], step), np.arange(sizes[0], n, step)])
    sums = np.add.reduceat(np.add.reduceat(gram, starts, axis=0), starts, axis=1)
    counts = np.diff(np.append(starts, n))
    weights, _ = null_weights(BinGram.from_bins(sums, counts, starts < sizes[0]))
    ratios = [
        -np.log10(weighted_chi_square_tail(weights, point)) / exponent
        for point, exponent in zip(points, EXPONENTS, strict=True)
    ]
    found = {f"mean at 1e-{e}": r for e, r in zip(EXPONENTS, ratios, strict=True)}
    # A share of runs, as a rate: those where the estimate is too small by more than that.
    found["exponent 1.28 times too large"] = 0.0 if max(ratios) > 1.0 / 0.78 else 1.0
    return found


def tail_cells() -> Iterator[Cell]:
    """Yield laws, bandwidths and sizes."""
    for name, law in LAWS.items():
        for n_columns in (1, 5) if name == "normal" else (2,):
            for share in (2.0, 1.0, 0.25):
                bandwidth, points = true_points(law, n_columns, share)
                for sizes in ((1000, 1000), (300, 3000)):
                    about = {"law": name, "columns": n_columns, "bandwidth": share}
                    run = partial(
                        one_tail,
                        law=law,
                        n_columns=n_columns,
                        sizes=sizes,
                        bandwidth=bandwidth,
                        points=points,
                    )
                    title = f"{name}, d = {n_columns}, {share} median, {sizes[0]} + {sizes[1]}"
                    yield Cell(title, about | {"sizes": list(sizes)}, run, 100)
