"""Laws of the two-sample test that hold whatever the data."""

from __future__ import annotations

import math

import numpy as np
import precision
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import fastmmd
from fastmmd import Gaussian, two_sample_test

EPS = np.finfo(float).eps
KERNELS = st.sampled_from([Gaussian(1.0), fastmmd.Laplace(2.0), 3.0 * Gaussian(0.5)])
QUICK = settings(max_examples=25, deadline=None)
# Statistics are differences of means of terms of size K(0) <= 3; matrices of at most 18
# rows are added up in another order.
TOLERANCE = 3 * 64 * EPS
# Ends of the interval are roots of variances, which are right to 1e-15: near 0 their roots
# are right to 1e-7.
END_TOLERANCE = 1e-6


def rows(min_rows=2, max_rows=9, n_columns=2):
    # Sixteenths: sums and shifts by whole numbers are exact, so laws can be tested tightly.
    grid = st.integers(-64, 64).map(lambda k: k / 16)
    shapes = st.tuples(st.integers(min_rows, max_rows), st.just(n_columns))
    return shapes.flatmap(lambda shape: npst.arrays(float, shape, elements=grid))


def same_estimates(one, other):
    assert abs(one.statistic - other.statistic) < TOLERANCE
    # Squares: the effect of a difference of rounding size is its root.
    assert abs(one.effect_size**2 - other.effect_size**2) < 1e-12
    if one.confidence_interval is None:
        assert other.confidence_interval is None
    else:
        ends = np.subtract(one.confidence_interval, other.confidence_interval)
        assert np.abs(ends).max() < END_TOLERANCE


@QUICK
@given(kernel=KERNELS, x=rows(), y=rows(max_rows=5))
def test_swapping_the_samples_changes_nothing(kernel, x, y):
    # At most C(14, 5) = 2002 relabellings: all are made, so p-values agree too.
    one = two_sample_test(x, y, kernel=kernel, n_resamples=2002, rng=0)
    other = two_sample_test(y, x, kernel=kernel, n_resamples=2002, rng=1)
    same_estimates(one, other)
    assert one.pvalue == other.pvalue
    assert (one.n_x, one.n_y) == (other.n_y, other.n_x)


@settings(max_examples=6, deadline=None)
@given(x=rows(20, 40), y=rows(20, 40), seed=st.integers(0, 1000))
def test_swapping_larger_samples_moves_the_pvalue_by_its_error(x, y, seed):
    options = {"kernel": Gaussian(1.0), "rng": seed}
    one, other = two_sample_test(x, y, **options), two_sample_test(y, x, **options)
    same_estimates(one, other)
    p = (one.pvalue + other.pvalue) / 2
    # Two runs of 999: 5.7 standard errors, as Hypothesis looks for the worst, and the
    # steps of 0.001.
    assert abs(one.pvalue - other.pvalue) <= 5.7 * np.sqrt(2 * p * (1 - p) / 999) + 0.002


@QUICK
@given(kernel=KERNELS, x=rows(), y=rows(), order=st.randoms(use_true_random=False))
def test_row_order_changes_nothing(kernel, x, y, order):
    i = order.sample(range(len(x)), len(x))
    j = order.sample(range(len(y)), len(y))
    options = {"kernel": kernel, "method": "exact", "n_resamples": 300, "rng": 0}
    one, other = two_sample_test(x, y, **options), two_sample_test(x[i], y[j], **options)
    same_estimates(one, other)
    if math.comb(len(x) + len(y), len(x)) <= 300:  # all relabellings are made
        assert one.pvalue == other.pvalue


@QUICK
@given(kernel=KERNELS, x=rows(2, 40), y=rows(2, 40))
def test_statistic_is_the_unbiased_estimate(kernel, x, y):
    result = two_sample_test(x, y, kernel=kernel, method="exact", n_resamples=9, rng=0)
    expected = fastmmd.mmd(x, y, kernel=kernel, method="exact").mmd2
    assert abs(result.statistic - expected) < TOLERANCE


@pytest.mark.parametrize("kernel", ["adaptive", "laplace"])
@QUICK
@given(x=rows(), y=rows(), shift=st.integers(-1000, 1000))
def test_a_common_shift_changes_nothing(kernel, x, y, shift):
    options = {"kernel": kernel, "n_resamples": 99, "rng": 0}
    one = two_sample_test(x, y, **options)
    other = two_sample_test(x + shift, y + shift, **options)
    # Differences of sixteenths are exact wherever they are.
    assert one.to_dict() == other.to_dict()


@QUICK
@given(x=rows(), y=rows(), shift=st.integers(-1000, 1000))
def test_a_common_shift_moves_features_by_rounding_only(x, y, shift):
    options = {"kernel": Gaussian(1.0), "method": fastmmd.Fourier(16), "rng": 0}
    one = two_sample_test(x, y, n_resamples=9, **options)
    other = two_sample_test(x + shift, y + shift, n_resamples=9, **options)
    # The center moves by a rounding, and may turn that of a difference with it. Phases are
    # at most 40: rows up to 8 away in two columns, 16 frequencies up to 3.5 long.
    feature = precision.feature_error(40 / (2 * np.pi), 2, single=True)
    assert abs(one.statistic - other.statistic) < 2 * precision.mmd2_error(feature)


@pytest.mark.parametrize("method", ["exact", "fourier"])
@QUICK
@given(x=rows(), y=rows(), power=st.integers(-20, 20))
def test_the_adaptive_family_scales_with_the_data(method, x, y, power):
    factor = 2.0**power
    options = {"method": method, "n_resamples": 99, "rng": 0}
    one = two_sample_test(x, y, **options)
    other = two_sample_test(factor * x, factor * y, **options)
    # Powers of two scale without rounding: everything but the bandwidths is equal. All
    # rows equal have no scale, and their bandwidth is a convention.
    if np.ptp(np.concatenate([x, y]), axis=0).any():
        expected = [factor * kernel.bandwidth for kernel in one.kernels]
        assert [kernel.bandwidth for kernel in other.kernels] == expected
    plain, scaled = one.to_dict(), other.to_dict()
    for name in ("kernel", "kernels", "reference_kernel"):
        del plain[name], scaled[name]
    assert plain == scaled


@QUICK
@given(z=rows(6, 18), places=st.tuples(st.integers(2, 4), st.integers(2, 4)))
def test_the_adaptive_family_looks_at_pooled_rows_only(z, places):
    found = {two_sample_test(z[:n], z[n:], n_resamples=1, rng=0).kernels for n in places}
    assert len(found) == 1


@QUICK
@given(x=rows(), y=rows(), n_resamples=st.integers(1, 150))
def test_pvalues_are_steps_and_never_zero(x, y, n_resamples):
    result = two_sample_test(x, y, n_resamples=n_resamples, rng=0)
    n_relabellings = math.comb(len(x) + len(y), len(x))
    complete = n_relabellings <= n_resamples
    assert result.n_resamples == (n_relabellings if complete else n_resamples)
    # A complete enumeration has the observed labels among the others.
    step = 1.0 / (result.n_resamples + (not complete))
    assert step <= result.pvalue <= 1.0
    # A quotient of whole numbers below 152, times its denominator: a few ulp.
    assert abs(result.pvalue / step - round(result.pvalue / step)) < 1e-12
    assert abs(sum(result.shares) - 1.0) < 16 * EPS
    assert 0.0 <= result.effect_size <= 1.0


@QUICK
@given(x=rows(), y=rows())
def test_samples_of_equal_rows_do_not_differ(x, y):
    z = np.concatenate([x, y])
    result = two_sample_test(z, z, n_resamples=99, rng=0)
    # The means agree, and for equal sizes the unbiased estimate is the squared distance of
    # the means times a constant, less a constant: no relabelling has a smaller one.
    assert result.statistic <= TOLERANCE
    assert result.pvalue == 1.0
