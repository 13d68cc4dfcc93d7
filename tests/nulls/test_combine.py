"""Tests of `fastmmd.nulls.combine`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nulls_data import row_bins
from scipy.stats import binom

from fastmmd.nulls import (
    Fuse,
    Maximum,
    MinP,
    SoftMaximum,
    Sum,
    combine,
    permute_bins,
    u_statistics,
)
from fastmmd.nulls.rules import normal_scores

RULES = [
    SoftMaximum(),
    SoftMaximum(0.5),
    Maximum(),
    Sum(),
    MinP(),
    Fuse((0.3, 0.5, 0.9), rate=5.0),
]
seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("rule", RULES, ids=repr)
@settings(max_examples=25)
@given(seed=seeds)
def test_one_pvalue_for_every_row_makes_a_uniform_law(rule, seed):
    # If each row in turn is called the observed one, exactly k rows have p <= k / n: this
    # is the exactness of the test, without any randomness.
    rows = np.random.default_rng(seed).gamma(1.0, size=(12, 3)) ** 2
    pvalues = [
        combine(row, np.delete(rows, i, axis=0), rule=rule).pvalue
        for i, row in enumerate(rows)
    ]
    np.testing.assert_allclose(np.sort(pvalues), np.arange(1, 13) / 12, atol=1e-12)


@pytest.mark.parametrize("rule", RULES[:5], ids=repr)
@settings(max_examples=25)
@given(seed=seeds)
def test_scale_and_shift_of_a_kernel_do_not_matter(rule, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(20, 3))
    moved = rows * (1.0, 1e3, 1e-3) + (0.0, 5.0, -0.1)
    before, after = (combine(r[0], r[1:], rule=rule) for r in (rows, moved))
    assert before.pvalue == after.pvalue
    np.testing.assert_allclose(before.shares, after.shares, atol=1e-9)


def test_soft_maximum_in_the_open():
    rng = np.random.default_rng(0)
    observed, null = np.array([2.0, 1.0]), rng.normal(size=(50, 2))
    rows = np.vstack((observed, null))
    z = (rows - rows.mean(0)) / rows.std(0)
    value = np.log(np.exp(2 * z).mean(1))
    result = combine(observed, null, rule=SoftMaximum(2.0, normal=False))
    assert result.statistic == pytest.approx(value[0])
    assert result.pvalue == (1 + np.sum(value[1:] >= value[0])) / 51
    np.testing.assert_allclose(result.scores, z[0])
    np.testing.assert_allclose(result.shares, np.exp(2 * z[0]) / np.exp(2 * z[0]).sum())
    assert result.rule == SoftMaximum(2.0, normal=False)


def test_scores_made_normal():
    # Gamma variables of shape 2 and normal ones: after the transform both have the
    # quantiles of a standard normal, to a few hundredths (Wilson and Hilferty).
    rng = np.random.default_rng(1)
    draws = np.column_stack((rng.gamma(2.0, size=200_000), rng.normal(size=200_000)))
    z = (draws - draws.mean(0)) / draws.std(0)
    made = normal_scores(z, z)
    for level, normal in ((0.05, -1.645), (0.5, 0.0), (0.95, 1.645), (0.999, 3.09)):
        np.testing.assert_allclose(np.quantile(made, level, axis=0), normal, atol=0.08)
    # Never decreasing: the order of each kernel's values is kept.
    ordered = np.take_along_axis(made, np.argsort(z, axis=0), axis=0)
    assert (np.diff(ordered, axis=0) >= 0.0).all()


def test_the_default_takes_skewness_out():
    # A skewed kernel and a symmetric one at the same score: without the transform both
    # count alike; with it the symmetric one, rarer at that score, counts more.
    rng = np.random.default_rng(2)
    null = np.column_stack((rng.gamma(0.5, size=4999), rng.normal(size=4999)))
    null = (null - null.mean(0)) / null.std(0)
    shares = combine(np.array([3.0, 3.0]), null).shares
    assert shares[1] > 2.0 * shares[0]
    plain = combine(
        np.array([3.0, 3.0]), null, rule=SoftMaximum(3.0, normal=False)
    ).shares
    assert plain[0] == pytest.approx(0.5, abs=0.05)


def test_fuse_takes_the_statistics_themselves():
    observed, null = np.array([0.3, 0.1]), np.array([[0.1, 0.2], [0.0, 0.1]])
    result = combine(observed, null, rule=Fuse((0.5, 0.25), rate=2.0))
    assert result.statistic == pytest.approx(np.log((np.exp(1.2) + np.exp(0.8)) / 2))


def test_smallest_pvalue_rule_in_the_open():
    # Kernel 1 puts the observed row first of five, kernel 0 only third.
    rows = np.array([[2.0, 9.0], [3.0, 1.0], [4.0, 2.0], [1.0, 0.0], [0.0, 3.0]])
    result = combine(rows[0], rows[1:], rule=MinP())
    assert result.shares.tolist() == [0.0, 1.0]
    # The third row leads in kernel 0 with a smaller score, so the tie is ours.
    assert result.pvalue == 1 / 5


def test_kernel_without_spread_is_ignored():
    rng = np.random.default_rng(1)
    observed, null = rng.normal(size=2) + 1, rng.normal(size=(99, 2))
    alone = combine(observed, null)
    padded = combine(np.insert(observed, 1, 0.7), np.insert(null, 1, 0.7 + 1e-15, axis=1))
    assert padded.pvalue == alone.pvalue
    assert padded.shares[1] == padded.scores[1] == 0.0
    nothing = combine(np.zeros(3), np.zeros((9, 3)))
    assert nothing.pvalue == 1.0
    np.testing.assert_allclose(nothing.shares, 1.0 / 3.0)


def test_complete_null_counts_the_observed_row_once():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(4, 1)), rng.normal(size=(4, 1)) + 3
    bins = row_bins(x, y, (0.5, 1.0, 2.0))
    null = permute_bins(bins, n_resamples=100, rng=rng)
    for rule in (*RULES[:5],):
        result = combine(u_statistics(bins), null.statistics, rule=rule, complete=True)
        # The split and its mirror image, of 70.
        assert result.pvalue == pytest.approx(2 / 70)


def test_level_of_a_family_is_exact():
    rejections, runs = 0, 800
    for rng in np.random.default_rng(3).spawn(runs):
        bins = row_bins(*rng.normal(size=(2, 8, 1)), (0.2, 1.0, 5.0))
        null = permute_bins(bins, n_resamples=20, rng=rng)
        rejections += combine(u_statistics(bins), null.statistics).pvalue <= 0.05
    low, high = binom.ppf((1e-6, 1 - 1e-6), runs, 1 / 21)
    assert low <= rejections <= high


def test_wrong_arguments_are_refused():
    with pytest.raises(
        ValueError, match=r"`null` must have shape .* got \(9, 3\) and \(2,\)"
    ):
        combine(np.zeros(2), np.zeros((9, 3)))
    with pytest.raises(ValueError, match=r"`temperature` must be .* got 0.0"):
        SoftMaximum(0.0)
    with pytest.raises(ValueError, match=r"`normalisers` must be .* got \(0.0, 1.0\)"):
        Fuse((0.0, 1.0), rate=1.0)


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_shares_sum_to_one(rule):
    scores = np.array([[0.5, -1.0, 0.1], [-1.0, -2.0, -0.5], [3.0, 3.0, 0.0]])
    for row in range(3):
        shares = rule.shares(scores, row)
        assert shares.sum() == pytest.approx(1.0)
        assert (shares >= 0).all()
        if not isinstance(rule, MinP):
            alone = rule.shares(scores[row : row + 1], 0)
            np.testing.assert_allclose(shares, alone, atol=1e-14)


@pytest.mark.parametrize("score", [1e2, 1e4, 1e5, 1e8, 1e12])
@pytest.mark.parametrize("skewness", [0.0, 1.0])
def test_scores_beyond_all_draws_are_found(score, skewness):
    # An estimated null puts no limit on the observed score: a shift of one standard
    # deviation in 300,000 rows has 2e4.
    rng = np.random.default_rng(0)
    draws = (
        rng.normal(size=(999, 7)) if not skewness else rng.gamma(4.0, 0.5, (999, 7)) - 2
    )
    result = combine(np.full(7, score), draws, standardise=False)
    assert result.pvalue == 0.001
    assert np.isfinite(result.statistic)
    one = np.zeros(7)
    one[3] = score
    result = combine(one, draws, standardise=False)
    assert result.pvalue == 0.001
    assert result.shares[3] == pytest.approx(1.0)


@given(st.integers(1, 400), st.integers(0, 10_000))
def test_the_pvalue_falls_as_the_observed_scores_grow(n_resamples, seed):
    rng = np.random.default_rng(seed)
    null = rng.gamma(2.0, size=(n_resamples, 3))
    base = rng.gamma(2.0, size=3)
    for standardise in (True, False):
        pvalues = [
            combine(base * factor, null, standardise=standardise).pvalue
            for factor in (1.0, 2.0, 4.0, 30.0, 1e3, 1e6, 1e12)
        ]
        assert pvalues[-1] == 1 / (n_resamples + 1)
        assert (np.diff(pvalues) <= 0).all()
