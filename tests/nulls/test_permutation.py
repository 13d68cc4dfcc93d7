"""Tests of `fastmmd.nulls.permutation`."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from nulls_data import add_up, brute_force_u, row_bins, samples

from fastmmd.nulls import BinGram, permutation_pvalue, permute_bins, u_statistics


def rng(seed=0):
    return np.random.default_rng(seed)


@settings(max_examples=40)
@given(samples(max_rows=5))
def test_enumeration_equals_recomputation_from_rows(pair):
    x, y = pair
    null = permute_bins(row_bins(x, y, (0.7, 2.0)), n_resamples=300, rng=rng())
    rows = np.vstack((x, y))
    subsets = list(itertools.combinations(range(len(rows)), len(x)))
    assert null.complete
    assert null.statistics.shape == (math.comb(len(rows), len(x)), 2)
    for statistic, chosen in zip(null.statistics, subsets, strict=True):
        other = [i for i in range(len(rows)) if i not in chosen]
        direct = [brute_force_u(rows[list(chosen)], rows[other], b) for b in (0.7, 2.0)]
        np.testing.assert_allclose(statistic, direct, rtol=0, atol=1e-12)


@given(samples(max_rows=4))
def test_enumerated_pvalue_is_the_share_of_all_relabellings(pair):
    bins = row_bins(*pair)
    observed = u_statistics(bins)
    null = permute_bins(bins, n_resamples=300, rng=rng())
    share = np.mean(null.statistics[:, 0] >= observed[0] - 1e-13)
    assert null.pvalues(observed)[0] == pytest.approx(share, abs=1e-15)
    assert share > 0


def test_random_relabellings_equal_recomputation_with_fixed_bins():
    data = rng(1)
    x, y = data.normal(size=(43, 2)), data.normal(size=(26, 2)) + 0.3
    # Bins of 5 rows; 3 rows of x and 1 of y stay.
    place = np.concatenate((np.arange(43) // 5, 9 + np.arange(26) // 5))
    movable = np.ones(15, bool)
    movable[[8, 14]] = False
    rows = row_bins(x, y)
    bins = add_up(rows, place, movable)
    assert bins.counts[~movable].tolist() == [3, 1]
    null = permute_bins(bins, n_resamples=50, rng=rng(7))
    assert not null.complete
    # The same draws, made in the open: the 8 smallest of 13 keys become x.
    keys = rng(7).random((50, 13))
    moved = np.flatnonzero(movable)
    for statistic, key in zip(null.statistics, keys, strict=True):
        labels = np.zeros(15, bool)
        labels[8] = True
        labels[moved[np.argsort(key)[:8]]] = True
        relabelled = BinGram(bins.grams, bins.counts, labels, movable)
        assert relabelled.n_x == 43
        np.testing.assert_allclose(
            statistic, u_statistics(relabelled), rtol=0, atol=1e-13
        )
        in_x = labels[place]
        direct = brute_force_u(*(np.vstack((x, y))[s] for s in (in_x, ~in_x)))
        np.testing.assert_allclose(statistic, [direct], rtol=0, atol=1e-12)


@pytest.mark.parametrize("batch_size", [1, 7, 64, 1000])
def test_relabellings_do_not_depend_on_the_batch(batch_size):
    data = rng(2)
    bins = row_bins(data.normal(size=(20, 1)), data.normal(size=(15, 1)), (0.3, 1.0))
    whole = permute_bins(bins, n_resamples=100, rng=rng(3)).statistics
    used = rng(3)
    parts = permute_bins(bins, n_resamples=100, rng=used, batch_size=batch_size)
    # Nor does what the generator gives afterwards.
    after = rng(3)
    after.random((100, 35))
    assert used.random() == after.random()
    # BLAS may sum in another order for another shape; labels must be the same.
    np.testing.assert_allclose(parts.statistics, whole, rtol=0, atol=1e-14)
    fewer = permute_bins(bins, n_resamples=30, rng=rng(3)).statistics
    np.testing.assert_allclose(fewer, whole[:30], rtol=0, atol=1e-14)


def test_every_relabelling_is_as_likely_as_any_other():
    data = rng(4)
    bins = row_bins(data.normal(size=(3, 1)), data.normal(size=(3, 1)))
    # Fewer draws than relabellings would be needed to avoid enumeration, so draw 19 at
    # a time from one generator.
    shared = rng(5)
    null = np.concatenate(
        [
            permute_bins(bins, n_resamples=19, rng=shared).statistics[:, 0]
            for _ in range(400)
        ]
    )
    # 20 relabellings in 10 pairs of equal value; 7600 draws, 760 expected in each.
    counts = np.unique(np.round(null, 12), return_counts=True)[1]
    assert counts.size == 10
    # Chi-square with 9 degrees of freedom exceeds 46 once in 10^6.
    assert ((counts - 760) ** 2 / 760).sum() < 46


def test_unequal_movable_bins_are_refused():
    bins = BinGram.from_bins(np.eye(4), [1, 2, 1, 1], [1, 1, 0, 0])
    with pytest.raises(ValueError, match="same number of rows; got bins of 1 to 2 rows"):
        permute_bins(bins, n_resamples=9, rng=rng())
    with pytest.raises(ValueError, match="`n_resamples` must be at least 1; got 0"):
        permute_bins(bins, n_resamples=0, rng=rng())


def test_nothing_to_move_gives_one():
    bins = BinGram.from_bins(np.eye(4), np.ones(4), [1, 1, 0, 0], [1, 1, 0, 0])
    null = permute_bins(bins, n_resamples=9, rng=rng())
    assert null.complete
    assert null.pvalues(u_statistics(bins)).tolist() == [1.0]


def test_pvalue_counts_ties_and_the_observed_value():
    null = np.array([0.0, 1.0, 1.0 - 1e-15, 2.0])
    assert permutation_pvalue(1.0, null) == 4 / 5
    assert permutation_pvalue(3.0, null) == 1 / 5
    assert permutation_pvalue(1.0 + 1e-9, null) == 2 / 5
    assert permutation_pvalue(1.0 + 1e-9, null, scale=1e6) == 4 / 5
    assert permutation_pvalue(2.0, null, complete=True) == 1 / 4


@pytest.mark.parametrize("ties", [False, True], ids=["continuous", "binary"])
def test_level_is_exact(ties):
    from scipy.stats import binom

    # 20 resamples on purpose: 0.05 * 21 is not whole, so that leaving the observed value
    # out of the null would double the level.
    runs, rejections = 1500, 0
    for child in rng(6).spawn(runs):
        if ties:
            x, y = child.integers(2, size=(2, 5, 1)).astype(float)
        else:
            x, y = child.normal(size=(2, 9, 2))
        bins = row_bins(x, y)
        null = permute_bins(bins, n_resamples=20, rng=child)
        rejections += null.pvalues(u_statistics(bins))[0] <= 0.05
    low, high = binom.ppf((1e-6, 1 - 1e-6), runs, 1 / 21)
    assert rejections <= high
    assert ties or rejections >= low
