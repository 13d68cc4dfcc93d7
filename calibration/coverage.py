"""Coverage of the interval for squared MMD, and level of the margin test.

Run as ``python coverage.py --runs 1000 --output coverage.json``.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np
from data import features, gram_of, report, slot_counts

from fastmmd.nulls import interval, margin_pvalue, precision

SIZES = ((100, 100), (1000, 1000), (200, 800))
SHIFTS = (0.0, 0.05, 0.1, 0.2, 0.5, 1.0)


def main() -> None:
    """Run the cells and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--slots", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    table: list[dict[str, Any]] = []
    for n_x, n_y in SIZES:
        for shift in SHIFTS:
            rng = np.random.default_rng([options.seed, n_x, n_y, int(100 * shift)])
            rows = rng.standard_normal((40_000, 2))
            moved = rows + np.array((shift, 0.0))
            pool = features(np.vstack((rows, moved)), 1.5, 64, rng)
            pool_x, pool_y = pool[:40_000], pool[40_000:]
            true = float(((pool_x.mean(0) - pool_y.mean(0)) ** 2).sum())
            covered = below = above = rejected = 0
            estimates, errors = [], []
            for _ in range(options.runs):
                x = pool_x[rng.integers(len(pool_x), size=n_x)]
                y = pool_y[rng.integers(len(pool_y), size=n_y)]
                counts = (slot_counts(n, options.slots, rng) for n in (n_x, n_y))
                bins = gram_of(x, y, *counts)
                low, high = interval(bins)
                below += true < low
                above += true > high
                covered += low <= true <= high
                rejected += margin_pvalue(bins, margin=math.sqrt(true)) <= 0.05
                found = precision(bins)
                estimates.append(found.mmd2)
                errors.append(found.standard_error**2)
            share = 1.0 / options.runs
            table.append(
                {
                    "shift": shift,
                    "n_x": n_x,
                    "n_y": n_y,
                    "coverage": round(covered * share, 4),
                    "below": round(below * share, 4),
                    "above": round(above * share, 4),
                    "margin level": round(rejected * share, 4),
                    "SE / true": round(math.sqrt(np.mean(errors) / np.var(estimates)), 3),
                }
            )
            print(table[-1], flush=True)
    error = math.sqrt(0.05 * 0.95 / options.runs)
    title = f"95 % intervals and margin test at 0.05; {options.runs} runs, SE {error:.4f}"
    report(title, table, options.output)


if __name__ == "__main__":
    main()
