"""Level of the analytic nulls, permutation and matched bins, one kernel.

Run as ``python level.py --runs 1000 --output level.json``.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np
from data import CASES, equal_counts, gram_of, pool_of, report, slot_counts

from fastmmd.nulls import (
    combine,
    gamma_pvalue,
    group_bins,
    match_bins,
    multiply_bins,
    pearson_pvalue,
    permute_bins,
    spectrum_pvalue,
    u_statistics,
)

SIZES = ((100, 100), (1000, 1000), (200, 800), (20000, 500))


def one_run(
    pool: np.ndarray, n_x: int, n_y: int, n_slots: int, rng: np.random.Generator
) -> dict[str, float]:
    """Return the p-value of every method on one pair of samples."""
    x, y = (pool[rng.integers(len(pool), size=n)] for n in (n_x, n_y))
    slots = gram_of(x, y, slot_counts(n_x, n_slots, rng), slot_counts(n_y, n_slots, rng))
    signs = multiply_bins(slots, n_resamples=199, rng=rng)
    pvalues = {
        "gamma": gamma_pvalue(slots),
        "pearson": pearson_pvalue(slots),
        "spectrum": spectrum_pvalue(slots),
        "multipliers": combine(
            signs.observed, signs.statistics, standardise=False
        ).pvalue,
    }
    equal_x, equal_y, size = equal_counts(n_x, n_y, 2 * n_slots)
    equal = gram_of(x, y, equal_x, equal_y, size)
    null = permute_bins(equal, n_resamples=199, rng=rng)
    pvalues["permutation"] = float(null.pvalues(u_statistics(equal))[0])
    matching = match_bins(slots)
    if math.comb(matching.n_groups_x + matching.n_groups_y, matching.n_groups_x) > 1000:
        grouped = group_bins(slots, matching)
        null = permute_bins(grouped, n_resamples=199, rng=rng)
        pvalues["matched"] = float(null.pvalues(u_statistics(grouped))[0])
    return pvalues


def main() -> None:
    """Run the cells and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--slots", type=int, default=128)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    table: list[dict[str, Any]] = []
    for n_x, n_y in SIZES:
        for index, case in enumerate(CASES):
            rng = np.random.default_rng([options.seed, n_x, n_y, index])
            pool = pool_of(case, 64, rng)
            runs = [
                one_run(pool, n_x, n_y, options.slots, rng) for _ in range(options.runs)
            ]
            row: dict[str, Any] = {"case": case, "n_x": n_x, "n_y": n_y}
            for method in (
                "gamma", "pearson", "spectrum", "multipliers", "permutation", "matched"
            ):  # fmt: skip
                p = np.array([run[method] for run in runs if method in run])
                rates = [
                    f"{np.mean(p <= a):.4f}" if p.size else "-" for a in (0.05, 0.01)
                ]
                row[method] = " / ".join(rates)
            table.append(row)
            print(row, flush=True)
    errors = [math.sqrt(a * (1 - a) / options.runs) for a in (0.05, 0.01)]
    title = (
        f"Rejection rates at 0.05 / 0.01; {options.runs} runs, "
        f"SE {errors[0]:.4f} / {errors[1]:.4f}; {options.slots} slots a sample"
    )
    report(title, table, options.output)


if __name__ == "__main__":
    main()
