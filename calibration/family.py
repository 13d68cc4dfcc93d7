"""Level of a family of kernels: permuted bins, matched bins, random signs.

Run as ``python family.py --runs 1000 --output family.json``.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np
from data import (
    CASES,
    POOL_ROWS,
    bin_sums,
    draw,
    equal_counts,
    features,
    median_distance,
    report,
    slot_counts,
)

from fastmmd.nulls import (
    BinGram,
    Maximum,
    MinP,
    SoftMaximum,
    Sum,
    combine,
    multiply_bins,
    permute_bins,
    u_statistics,
)

SIZES = ((100, 100), (1000, 1000), (200, 800))
SHOWN = ("normal d5 bw1", "t2 d5 bw0.2", "lognormal d2 bw0.5", "bernoulli d5 bw0.5")
RULES = {"soft2": SoftMaximum(2.0), "max": Maximum(), "sum": Sum(), "minp": MinP()}
BANDWIDTHS = 2.0 ** np.arange(1, -6, -1)


def family(
    pools: list[np.ndarray],
    rows: tuple[np.ndarray, np.ndarray],
    counts: tuple[np.ndarray, np.ndarray],
    size: int = 0,
) -> BinGram:
    """Return the bins of all kernels; bins of other than `size` rows are fixed."""
    grams = []
    for pool in pools:
        parts = [bin_sums(pool[r], c) for r, c in zip(rows, counts, strict=True)]
        sums = np.vstack(parts)
        grams.append(sums @ sums.T)
    joined = np.concatenate(counts)
    from_x = np.arange(joined.size) < counts[0].size
    return BinGram.from_bins(np.stack(grams), joined, from_x, joined == size)


def main() -> None:
    """Run the cells and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--slots", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    table: list[dict[str, Any]] = []
    for n_x, n_y in SIZES:
        for index, case in enumerate(SHOWN):
            rng = np.random.default_rng([options.seed, n_x, n_y, index])
            kind, dim, _ = CASES[case]
            raw = draw(kind, POOL_ROWS, dim, rng)
            median = median_distance(raw)
            pools = [features(raw, median * b, 32, rng) for b in BANDWIDTHS]
            hits: dict[str, np.ndarray] = {}
            for _ in range(options.runs):
                rows = tuple(rng.integers(POOL_ROWS, size=n) for n in (n_x, n_y))
                equal_x, equal_y, size = equal_counts(n_x, n_y, 2 * options.slots)
                equal = family(pools, rows, (equal_x, equal_y), size)
                null = permute_bins(equal, n_resamples=199, rng=rng)
                pvalues = {
                    f"perm {name}": combine(
                        u_statistics(equal), null.statistics, rule=rule
                    ).pvalue
                    for name, rule in RULES.items()
                }
                slots = tuple(slot_counts(n, options.slots, rng) for n in (n_x, n_y))
                signs = multiply_bins(
                    family(pools, rows, slots), n_resamples=199, rng=rng
                )
                pvalues["signs soft2"] = combine(
                    signs.observed, signs.statistics, standardise=False
                ).pvalue
                for name, p in pvalues.items():
                    hit = np.array([p <= 0.05, p <= 0.01], dtype=float)
                    hits[name] = hits.get(name, 0.0) + hit
            row: dict[str, Any] = {"case": case.rsplit(" ", 1)[0], "n_x": n_x, "n_y": n_y}
            for name, count in hits.items():
                row[name] = " / ".join(f"{rate:.4f}" for rate in count / options.runs)
            table.append(row)
            print(row, flush=True)
    errors = [math.sqrt(a * (1 - a) / options.runs) for a in (0.05, 0.01)]
    title = (
        f"Rejection rates at 0.05 / 0.01, 7 bandwidths; {options.runs} runs, "
        f"SE {errors[0]:.4f} / {errors[1]:.4f}; {options.slots} slots a sample"
    )
    report(title, table, options.output)


if __name__ == "__main__":
    main()
