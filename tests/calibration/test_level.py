"""Short checks of the level; ``calibration/run.py`` has the long ones.

Bounds on the number of rejections are binomial quantiles: a correct test leaves them once
in a million. With 20 relabellings ``floor(0.05 * 20) == floor(0.05 * 21)``, so the level is
1/21 and a p-value that forgets the observed statistic, k/20, rejects as often as 2/21.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import fastmmd
from fastmmd import Fourier, Gaussian

N_RESAMPLES = 20
LEVEL = 1 / 21
FALSE_ALARM = 1e-6


def assert_level(pvalues, level, *, with_ties=False):
    """Fail if rejections are too many, or too few where there are no ties."""
    rejections = int(np.count_nonzero(np.array(pvalues) <= 0.05))
    low, high = binom.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], len(pvalues), level)
    assert rejections <= high
    if not with_ties:
        assert rejections >= low


@pytest.mark.parametrize(("kind", "runs"), [("normal", 1000), ("bernoulli", 600)])
def test_default_test_has_its_level(rng, kind, runs):
    def sample(n):
        rows = rng.normal(size=(n, 2))
        return rows if kind == "normal" else (rows > 0.5).astype(float)

    pvalues = [
        fastmmd.two_sample_test(
            sample(12), sample(9), n_resamples=N_RESAMPLES, rng=run
        ).pvalue
        for run in range(runs)
    ]
    assert_level(pvalues, LEVEL, with_ties=kind == "bernoulli")


def test_binned_test_of_sorted_rows_has_its_level(rng):
    pvalues = []
    for run in range(400):
        x, y = (np.sort(rng.normal(size=n))[:, None] for n in (400, 300))
        result = fastmmd.two_sample_test(
            x,
            y,
            kernel=Gaussian(1.0),
            method=Fourier(16),
            n_resamples=N_RESAMPLES,
            rng=run,
        )
        assert result.n_bins < 700
        pvalues.append(result.pvalue)
    assert_level(pvalues, LEVEL)


@pytest.mark.parametrize("n_parts", [1, 3])
def test_sketches_of_sorted_rows_have_their_level(rng, n_parts):
    empty = fastmmd.Sketch(Gaussian(1.0), 1, n_frequencies=16, n_bins=32)
    pvalues = []
    for run in range(300):
        made = []
        for name, n in (("x", 400), ("y", 300)):
            parts = []
            rows = np.sort(rng.normal(size=n))[:, None]
            for part, some in enumerate(np.array_split(rows, n_parts)):
                sketch = empty.like(stream=f"{name} {part} {run}")
                sketch.update(some[:7])
                sketch.update(some[7:])
                parts.append(sketch)
            made.append(sum(parts))
        result = fastmmd.compare(
            *made, null="permutation", n_resamples=N_RESAMPLES, rng=run
        )
        assert result.level_is == "exact"
        pvalues.append(result.pvalue)
    assert_level(pvalues, LEVEL)
