"""Tests of `fastmmd.nulls.hollow`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from nulls_data import add_up, row_bins, samples

from fastmmd.nulls import (
    BinGram,
    gamma_pvalue,
    hollow_gram,
    hollow_moments,
    multiply_bins,
    pearson_pvalue,
    spectrum_null,
    spectrum_pvalue,
)
from fastmmd.nulls.hollow import (
    cube_factor,
    effective_numbers,
    residual_gram,
    variance_factor,
)
from fastmmd.nulls.moments import pearson_quantile, pearson_tail

ANALYTIC = (gamma_pvalue, pearson_pvalue, spectrum_pvalue)


def feature_bins(features, counts, n_bins_x):
    """Bins of consecutive rows of features."""
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    sums = np.add.reduceat(features, starts, axis=0)
    return BinGram.from_bins(sums @ sums.T, counts, np.arange(len(counts)) < n_bins_x)


def circle_features(angles, weights):
    """Rows of norm 1 on several circles; the covariance is known for uniform angles."""
    parts = [
        np.sqrt(w) * np.stack((np.cos(k * angles), np.sin(k * angles)), axis=1)
        for k, w in enumerate(weights, start=1)
    ]
    return np.hstack(parts)


@given(samples(min_rows=4))
def test_residuals_follow_from_the_rows(pair):
    x, y = pair
    features = np.hstack((np.cos(np.vstack(pair)), np.sin(np.vstack(pair))))
    features /= np.sqrt(x.shape[1])
    counts = np.array([1, len(x) - 1, 2, len(y) - 2])
    bins = feature_bins(features, counts, 2)
    means = np.repeat((features[: len(x)].mean(0), features[len(x) :].mean(0)), 2, axis=0)
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    residuals = np.add.reduceat(features, starts, axis=0) - counts[:, None] * means
    residuals /= np.sqrt(counts)[:, None]
    found = residual_gram(bins)
    np.testing.assert_allclose(found, residuals @ residuals.T, rtol=0, atol=1e-12)
    hollow = hollow_gram(bins)
    assert not hollow.diagonal().any()
    # Between the samples nothing is added.
    np.testing.assert_allclose(hollow[:2, 2:], found[:2, 2:], rtol=0, atol=1e-14)


def test_moments_are_unbiased():
    # Uniform angles: S = diag(w_k / 2), each twice; tr S^j = 2 sum (w_k / 2)^j.
    weights = np.array([0.5, 0.3, 0.2])
    exact = [2 * ((weights / 2) ** j).sum() for j in (1, 2, 3)]
    rng = np.random.default_rng(0)
    found = []
    for _ in range(600):
        counts = np.concatenate(
            [rng.multinomial(n, np.full(30, 1 / 30)) for n in (400, 150)]
        )
        angles = rng.uniform(0, 2 * np.pi, counts.sum())
        n_x = int(np.count_nonzero(counts[:30]))
        bins = feature_bins(circle_features(angles, weights), counts[counts > 0], n_x)
        moments = hollow_moments(bins)
        found.append((moments.trace, moments.trace_square, moments.trace_cube))
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(len(found))
    # Five standard errors; what is left of bias in the third is of order 3/s.
    bias = np.array([0.0, 0.0, 0.03]) * exact
    assert (np.abs(mean - exact) < 5 * error + bias).all()
    # The plain Gram matrix shows 1.1 times the second moment here.
    assert error[1] < 0.01 * exact[1]


def test_sums_are_divided_by_the_right_numbers():
    # Few bins of very different size, where pairs and triples lost to centring show; the
    # estimates before they are forced into the range of a covariance.
    weights = np.array([0.5, 0.3, 0.2])
    exact = [2 * ((weights / 2) ** j).sum() for j in (2, 3)]
    rng = np.random.default_rng(9)
    counts = np.array([30, 20, 25, 60, 40, 20, 45, 10, 30, 50, 20, 15, 35])
    found = []
    for _ in range(4000):
        angles = rng.uniform(0, 2 * np.pi, counts.sum())
        bins = feature_bins(circle_features(angles, weights), counts, 7)
        hollow = hollow_gram(bins)
        n_pairs, n_triples = effective_numbers(bins)
        cubes = np.einsum("ij,ij->", hollow @ hollow, hollow)
        found.append(((hollow**2).sum() / n_pairs, cubes / n_triples))
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(len(found))
    # Five standard errors; terms of order 1/s^2 are left out of the third.
    assert (np.abs(mean - exact) < 5 * error + np.array([0.01, 0.05]) * exact).all()
    # Sharp enough to notice a missing term, 3/13 of the third.
    assert 5 * error[1] < 0.1 * exact[1]


def test_variance_and_third_moment_of_the_statistic():
    # Small and unequal samples, where the factors differ from 1.
    weights = np.array([0.6, 0.4])
    t2, t3 = (2 * ((weights / 2) ** j).sum() for j in (2, 3))
    rng = np.random.default_rng(1)
    n_x, n_y, runs = 6, 15, 40_000
    features = circle_features(rng.uniform(0, 2 * np.pi, (runs * (n_x + n_y))), weights)
    rows = features.reshape(runs, n_x + n_y, -1)
    mean_x, mean_y = rows[:, :n_x].mean(1), rows[:, n_x:].mean(1)
    spread_x = (1 - (mean_x**2).sum(1)) / (n_x - 1)
    spread_y = (1 - (mean_y**2).sum(1)) / (n_y - 1)
    u = ((mean_x - mean_y) ** 2).sum(1) - spread_x - spread_y
    t = n_x * n_y / (n_x + n_y) * u
    for power, exact in (
        (1, 0.0),
        (2, 2 * t2 * variance_factor(n_x, n_y)),
        (3, 8 * t3 * cube_factor(n_x, n_y)),
    ):
        values = t**power
        slack = 0.03 * exact if power == 3 else 0.0  # 4 E h^3 sum a^3 is left out
        assert abs(values.mean() - exact) < 5 * values.std() / np.sqrt(runs) + slack


@pytest.mark.parametrize("pvalue", ANALYTIC)
def test_constant_or_scattered_data_give_one(pvalue):
    for gram in (np.ones((8, 8)), np.eye(8)):
        bins = BinGram.from_bins(gram, np.ones(8), np.arange(8) < 5)
        assert pvalue(bins) == 1.0
    counts = np.array([40, 3, 700, 5, 9, 11])
    bins = BinGram.from_bins(np.outer(counts, counts), counts, np.arange(6) < 3)
    assert pvalue(bins) == 1.0


def constants(n_x, n_y, between):
    """Kernel sums of two samples of equal rows, with this kernel value between them."""
    from_x = np.arange(n_x + n_y) < n_x
    gram = np.where(from_x[:, None] == from_x, 1.0, between)
    return BinGram.from_bins(gram, np.ones(n_x + n_y), from_x)


@pytest.mark.parametrize("pvalue", ANALYTIC)
@pytest.mark.parametrize("between", [0.0, 0.5, 0.999])
def test_two_different_constants_differ_as_surely_as_can_be(pvalue, between):
    # No relabelling of 8 and 9 rows is as far apart: one of binom(17, 8).
    assert pvalue(constants(8, 9, between)) == pytest.approx(1 / 24310)
    assert 0.0 < pvalue(constants(600, 900, between)) < 1e-300


def test_different_constants_are_certain_under_random_signs():
    null = multiply_bins(
        constants(8, 9, 0.5), n_resamples=9, rng=np.random.default_rng(0)
    )
    assert null.certain
    alike = multiply_bins(
        constants(8, 9, 1.0), n_resamples=9, rng=np.random.default_rng(0)
    )
    assert not alike.certain


def test_the_length_of_features_in_single_precision_is_no_difference():
    # Equal rows whose features are shorter than 1 by their rounding, 3e-7: the unbiased
    # estimate is then 3e-7 / (n - 1) twice, and positive.
    bins = BinGram.from_bins(np.full((9, 9), 1 + 3e-7), np.ones(9), np.arange(9) < 4)
    for pvalue in ANALYTIC:
        assert pvalue(bins) == 1.0


@pytest.mark.parametrize("pvalue", ANALYTIC)
def test_analytic_pvalues_agree_with_permutation(pvalue):
    from fastmmd.nulls import permute_bins, u_statistics

    for seed, shift in enumerate((0.0, 0.2, 0.35)):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(90, 2)), rng.normal(size=(120, 2))
        bins = row_bins(x + np.array((shift, 0.0)), y)
        null = permute_bins(bins, n_resamples=3000, rng=rng)
        exact = null.pvalues(u_statistics(bins))[0]
        # Monte Carlo error, plus a quarter for the approximation itself.
        assert abs(pvalue(bins) - exact) < 0.25 * exact + 5 * np.sqrt(exact / 3000)


@pytest.mark.parametrize("pvalue", ANALYTIC)
def test_far_apart_is_tiny_but_not_zero(pvalue):
    rng = np.random.default_rng(0)
    bins = row_bins(rng.normal(size=(200, 1)), rng.normal(size=(200, 1)) + 50)
    assert 0 < pvalue(bins) < 1e-30


@pytest.mark.parametrize("pvalue", ANALYTIC)
def test_swapping_the_samples_changes_nothing(pvalue):
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(20, 1)), rng.normal(size=(30, 1)) + 0.4
    assert pvalue(row_bins(x, y)) == pytest.approx(pvalue(row_bins(y, x)), rel=1e-8)


def test_simulated_spectrum_agrees_with_inversion():
    rng = np.random.default_rng(4)
    bins = row_bins(rng.normal(size=(60, 1)), rng.normal(size=(50, 1)) + 0.2)
    p = spectrum_pvalue(bins)
    simulated, null = spectrum_null(bins, n_resamples=40_000, rng=rng)
    assert abs(simulated - p) < 5 * np.sqrt(p * (1 - p) / 40_000)
    moments = hollow_moments(bins)
    # Variance of a sample variance: kurtosis below 20 here.
    assert null.var() == pytest.approx(moments.variance, rel=5 * np.sqrt(20 / 40_000))


def test_signs_have_the_moments_of_the_null():
    rng = np.random.default_rng(5)
    rows = row_bins(rng.normal(size=(80, 1)), rng.normal(size=(60, 1)), (0.3, 1.5))
    bins = add_up(
        rows, np.where(rows.from_x, np.arange(140) % 40, 40 + np.arange(140) % 30)
    )
    null = multiply_bins(bins, n_resamples=40_000, rng=rng)
    np.testing.assert_allclose(null.statistics.mean(0), 0.0, atol=5 / 200)
    np.testing.assert_allclose(null.statistics.var(0), 1.0, rtol=0.1)
    for kernel, column in enumerate(null.statistics.T):
        moments = hollow_moments(bins, kernel=kernel)
        assert null.observed[kernel] == pytest.approx(
            moments.statistic / np.sqrt(moments.variance)
        )
        assert (column**3).mean() == pytest.approx(moments.skewness, abs=0.35)
    # Both kernels see the same signs.
    assert np.corrcoef(null.statistics.T)[0, 1] > 0.3


def test_signs_in_the_open():
    rng = np.random.default_rng(7)
    bins = row_bins(rng.normal(size=(9, 1)), rng.normal(size=(7, 1)))
    null = multiply_bins(bins, n_resamples=20, rng=np.random.default_rng(8))
    signs = np.where(np.random.default_rng(8).random((20, 16)) < 0.5, -1.0, 1.0)
    hollow = hollow_gram(bins)
    direct = [e @ hollow @ e / np.sqrt(2 * (hollow**2).sum()) for e in signs]
    np.testing.assert_allclose(null.statistics[:, 0], direct, rtol=0, atol=1e-13)


def test_signs_do_not_depend_on_how_many_are_drawn():
    rng = np.random.default_rng(6)
    bins = row_bins(rng.normal(size=(9, 1)), rng.normal(size=(9, 1)))
    few, many = (
        multiply_bins(bins, n_resamples=n, rng=np.random.default_rng(1)) for n in (5, 50)
    )
    np.testing.assert_allclose(few.statistics, many.statistics[:5], rtol=0, atol=1e-13)


def test_signs_ignore_a_constant_kernel():
    grams = np.stack((np.ones((8, 8)), np.eye(8) * 0.5 + 0.5))
    grams[1, :4, :4] = grams[1, 4:, 4:] = 0.9
    grams[:, np.arange(8), np.arange(8)] = 1.0
    bins = BinGram.from_bins(grams, np.ones(8), np.arange(8) < 4)
    null = multiply_bins(bins, n_resamples=9, rng=np.random.default_rng(0))
    assert null.observed[0] == 0.0
    assert not null.statistics[:, 0].any()


def test_too_few_bins_are_refused():
    bins = BinGram.from_bins(np.eye(3), [3, 1, 1], [1, 0, 0])
    with pytest.raises(ValueError, match="at least 2 bins of each sample; got 1 and 2"):
        hollow_moments(bins)
    with pytest.raises(ValueError, match="`n_resamples` must be at least 1; got 0"):
        multiply_bins(bins, n_resamples=0, rng=np.random.default_rng(0))


@pytest.mark.parametrize("skewness", [0.0, 1e-8, 1e-4, 0.3, 1.0, 2.0, 2.8])
def test_pearson_curve_is_standard_and_inverts(skewness):
    for tail in (0.999, 0.5, 0.05, 1e-6):
        z = pearson_quantile(tail, skewness)
        assert pearson_tail(z, skewness) == pytest.approx(tail, rel=1e-6)
    # Skewness 2 is the exponential law, shifted to mean 0.
    assert pearson_tail(1.0, 2.0) == pytest.approx(np.exp(-2.0))
