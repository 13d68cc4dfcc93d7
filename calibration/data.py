"""Data, features, bins and tables shared by the calibration scripts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmmd.nulls import BinGram

if TYPE_CHECKING:
    from pathlib import Path

POOL_ROWS = 20_000

# Name: (kind, columns, bandwidth in medians).
CASES = {
    "normal d5 bw1": ("normal", 5, 1.0),
    "normal d20 bw0.35": ("normal", 20, 0.35),
    "normal d2 bw4": ("normal", 2, 4.0),
    "t2 d5 bw0.2": ("t2", 5, 0.2),
    "lognormal d2 bw0.5": ("lognormal", 2, 0.5),
    "bernoulli d5 bw0.5": ("bernoulli", 5, 0.5),
    "poisson d5 bw1": ("poisson", 5, 1.0),
}


def draw(kind: str, n_rows: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    """Draw rows of one of the kinds of data."""
    shape = (n_rows, dim)
    match kind:
        case "normal":
            return rng.standard_normal(shape)
        case "t2":
            return rng.standard_t(2, shape)
        case "lognormal":
            return np.exp(rng.standard_normal(shape))
        case "bernoulli":
            return (rng.random(shape) < 0.3).astype(float)
        case "poisson":
            return rng.poisson(2.0, shape).astype(float)
    msg = f"`kind` must be a known kind of data; got {kind!r}."
    raise ValueError(msg)


def median_distance(rows: np.ndarray) -> float:
    """Return the median distance of pairs among the first thousand rows."""
    some = rows[:1000]
    square = ((some[:, None] - some) ** 2).sum(axis=2)
    return float(max(np.sqrt(np.median(square[np.triu_indices(len(some), 1)])), 0.5))


def features(
    rows: np.ndarray, bandwidth: float, n_frequencies: int, rng: np.random.Generator
) -> np.ndarray:
    """Return cosine and sine features of norm 1 of a Gaussian kernel."""
    phases = rows @ (rng.standard_normal((rows.shape[1], n_frequencies)) / bandwidth)
    return np.hstack((np.cos(phases), np.sin(phases))) / np.sqrt(n_frequencies)


def pool_of(case: str, n_frequencies: int, rng: np.random.Generator) -> np.ndarray:
    """Return features of a pool of rows; samples drawn from it are an exact null."""
    kind, dim, relative = CASES[case]
    rows = draw(kind, POOL_ROWS, dim, rng)
    return features(rows, relative * median_distance(rows), n_frequencies, rng)


def bin_sums(rows: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Sum consecutive rows in bins of the given, positive counts."""
    return np.add.reduceat(rows, np.concatenate(([0], np.cumsum(counts)[:-1])), axis=0)


def slot_counts(n_rows: int, n_slots: int, rng: np.random.Generator) -> np.ndarray:
    """Return the counts of occupied slots of randomly routed rows."""
    counts = rng.multinomial(n_rows, np.full(n_slots, 1.0 / n_slots))
    return counts[counts > 0]


def equal_counts(n_x: int, n_y: int, n_bins: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return counts of equal bins, the rest of each sample last, and the bin size."""
    small = min(n_x, n_y)
    size = -(-(n_x + n_y) // n_bins)
    k_x, k_y = n_x // size, n_y // size
    if min(k_x, k_y) < 8:
        k = min(16, small)
        size = small // k
        k_x, k_y = (min(n // size, n_bins - k) if n > small else k for n in (n_x, n_y))
    counts = []
    for n, k in ((n_x, k_x), (n_y, k_y)):
        rest = n - k * size
        counts.append(np.array([size] * k + [rest] * (rest > 0)))
    return counts[0], counts[1], size


def gram_of(
    x: np.ndarray,
    y: np.ndarray,
    counts_x: np.ndarray,
    counts_y: np.ndarray,
    size: int = 0,
) -> BinGram:
    """Return the bins of two samples; bins of other than `size` rows are fixed."""
    sums = np.vstack((bin_sums(x, counts_x), bin_sums(y, counts_y)))
    counts = np.concatenate((counts_x, counts_y))
    from_x = np.arange(len(counts)) < len(counts_x)
    return BinGram.from_bins(sums @ sums.T, counts, from_x, counts == size)


def report(title: str, rows: list[dict[str, Any]], path: Path | None) -> None:
    """Print the rows as a table and write them as JSON."""
    columns = list(rows[0])
    print(f"\n{title}")
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(str(row[column]) for column in columns) + " |")
    if path is not None:
        path.write_text(json.dumps({"title": title, "rows": rows}, indent=1) + "\n")
