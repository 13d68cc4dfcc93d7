"""Level of the normal law, Student's t and Hall's correction for linear and block statistics.

Run as ``python blocks.py --runs 20000 --output blocks.json``.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np
from data import CASES, pool_of, report
from scipy.special import ndtr

from fastmmd.nulls import mean_pvalue


def block_values(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the one-sample U statistic of each block; x, y are (blocks, size, dim)."""
    size = x.shape[1]
    # h(i, j) = <x_i - y_i, x_j - y_j>, summed over i != j.
    difference = x - y
    total = (difference.sum(axis=1) ** 2).sum(axis=1)
    return (total - (difference**2).sum(axis=(1, 2))) / (size * (size - 1))


def main() -> None:
    """Run the cells and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    table: list[dict[str, Any]] = []
    for n_blocks, size in ((5, 5), (10, 10), (20, 20), (50, 2), (500, 2)):
        for index, case in enumerate(CASES):
            rng = np.random.default_rng([options.seed, n_blocks, size, index])
            pool = pool_of(case, 16, rng)
            pvalues = np.empty((3, options.runs))
            for run in range(options.runs):
                shape = (2, n_blocks, size)
                values = block_values(*pool[rng.integers(len(pool), size=shape)])
                t = values.mean() * math.sqrt(n_blocks) / values.std(ddof=1)
                pvalues[:, run] = (
                    ndtr(-t),
                    mean_pvalue(values),
                    mean_pvalue(values, skewed=True),
                )
            row: dict[str, Any] = {"case": case, "blocks": n_blocks, "size": size}
            for name, p in zip(("normal", "student", "hall"), pvalues, strict=True):
                row[name] = f"{np.mean(p <= 0.05):.4f} / {np.mean(p <= 0.01):.4f}"
            table.append(row)
            print(row, flush=True)
    errors = [math.sqrt(a * (1 - a) / options.runs) for a in (0.05, 0.01)]
    title = (
        f"Rejection rates at 0.05 / 0.01; {options.runs} runs, "
        f"SE {errors[0]:.4f} / {errors[1]:.4f}"
    )
    report(title, table, options.output)


if __name__ == "__main__":
    main()
