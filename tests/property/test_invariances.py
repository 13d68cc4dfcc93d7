"""Laws of MMD that hold whatever the data: stated once, checked for every method."""

from __future__ import annotations

import math

import numpy as np
import precision
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.stats import special_ortho_group

import fastmmd
from fastmmd import mmd

EPS = np.finfo(float).eps
# A heavy tail makes Grid's series long, so there it is tried with the Gaussian only.
METHODS = [
    fastmmd.Exact(),
    fastmmd.Fourier(64, precision="double"),
    fastmmd.Fastfood(64, precision="double"),
    fastmmd.Fourier(64),
    fastmmd.Fastfood(64),
    fastmmd.Grid(),
]
KERNELS = st.sampled_from(
    [
        fastmmd.Gaussian(1.0),
        fastmmd.RationalQuadratic(2.0, alpha=0.7),
        fastmmd.Cauchy(1.5),
    ]
)


def rows(n_columns=2):
    # Sixteenths: sums and shifts by whole numbers are exact, so laws can be tested tightly.
    grid = st.integers(-64, 64).map(lambda k: k / 16)
    shapes = st.tuples(st.integers(2, 9), st.just(n_columns))
    return shapes.flatmap(lambda shape: npst.arrays(float, shape, elements=grid))


def estimate(method, kernel, x, y, estimator="unbiased"):
    if method.name == "grid" or (method.name == "fastfood" and not kernel.is_radial):
        kernel = kernel.at_zero * fastmmd.Gaussian(getattr(kernel, "bandwidth", 1.0))
    return mmd(x, y, kernel=kernel, method=method, estimator=estimator, rng=11).mmd2


# Means of cosines at most 1, whose phases (at most 8 * 6) are rounded to 48 eps and more
# when summed in another order; grid series are held to 1e-13.
TOLERANCE = 1e-12

# In single precision rows are near enough for phases of the typical frequency to be at most
# 32 turns, and so are sums of |x_j w_j|, on average over frequencies, up to sqrt(2) for two
# columns. The estimate is a mean over frequencies, so it errs like one with such phases.
IN_SINGLE = precision.mmd2_error(
    precision.feature_error(32 * math.sqrt(2), 2, single=True)
)


def is_single(method):
    return getattr(method, "precision", None) == "auto"


def tolerance(method):
    """Return by how much an estimate may differ from itself with another center."""
    return 2 * IN_SINGLE if is_single(method) else TOLERANCE


def name_of(method):
    return method.name + (" single" if is_single(method) else "")


@pytest.mark.parametrize("method", METHODS, ids=name_of)
@settings(max_examples=15, deadline=None)
@given(kernel=KERNELS, x=rows(), y=rows())
def test_swapping_the_samples_changes_nothing(method, kernel, x, y):
    forth, back = estimate(method, kernel, x, y), estimate(method, kernel, y, x)
    assert abs(forth - back) < tolerance(method)


@pytest.mark.parametrize("method", METHODS, ids=name_of)
@settings(max_examples=15, deadline=None)
@given(kernel=KERNELS, x=rows(), y=rows(), order=st.randoms(use_true_random=False))
def test_row_order_changes_nothing(method, kernel, x, y, order):
    i = order.sample(range(len(x)), len(x))
    j = order.sample(range(len(y)), len(y))
    plain, shuffled = estimate(method, kernel, x, y), estimate(method, kernel, x[i], y[j])
    if is_single(method) and precision.EXACT_SUMS:
        # Sums of features are exact, and so is the center of sixteenths.
        assert plain == shuffled
    else:
        assert abs(plain - shuffled) < tolerance(method)


@pytest.mark.parametrize("method", METHODS, ids=name_of)
@settings(max_examples=15, deadline=None)
@given(kernel=KERNELS, x=rows(), y=rows(), shift=st.integers(-1000, 1000))
def test_a_common_shift_changes_nothing(method, kernel, x, y, shift):
    shifted = estimate(method, kernel, x + shift, y + shift)
    # finufft sees the centred rows; phases of rows up to 1000 away are centred too.
    assert abs(estimate(method, kernel, x, y) - shifted) < tolerance(method) + 1e5 * EPS


@pytest.mark.parametrize("method", METHODS, ids=name_of)
@settings(max_examples=15, deadline=None)
@given(x=rows(), y=rows(), factor=st.sampled_from([0.25, 2.0, 1024.0]))
def test_scaling_data_and_bandwidth_together_changes_nothing(method, x, y, factor):
    plain = estimate(method, fastmmd.Gaussian(1.5), x, y)
    scaled = estimate(method, fastmmd.Gaussian(1.5 * factor), factor * x, factor * y)
    assert abs(plain - scaled) < TOLERANCE


@settings(max_examples=25, deadline=None)
@given(x=rows(3), y=rows(3), seed=st.integers(0, 2**32 - 1))
def test_rotating_both_samples_changes_nothing_for_radial_kernels(x, y, seed):
    rotation = special_ortho_group.rvs(3, random_state=seed)
    for kernel in (fastmmd.Gaussian(1.0), fastmmd.Matern(1.0, nu=1.5)):
        plain = estimate(fastmmd.Exact(), kernel, x, y)
        rotated = estimate(fastmmd.Exact(), kernel, x @ rotation, y @ rotation)
        # Equal rows stay equal under rotation; others move by eps times their size.
        assert abs(plain - rotated) < 500 * EPS


@pytest.mark.parametrize("method", METHODS, ids=name_of)
@settings(max_examples=15, deadline=None)
@given(kernel=KERNELS, x=rows(), y=rows())
def test_the_biased_estimate_is_never_negative_and_at_most_two(method, kernel, x, y):
    value = estimate(method, kernel, x, y, estimator="biased")
    assert -TOLERANCE < value < 2.0 + tolerance(method)


@pytest.mark.parametrize("method", METHODS, ids=name_of)
@settings(max_examples=15, deadline=None)
@given(kernel=KERNELS, x=rows(), y=rows())
def test_unbiased_is_biased_without_the_pairs_of_a_row_with_itself(method, kernel, x, y):
    # For frequencies: appendix A.1, via the estimate of a sample with itself, which is
    # -2 (1 - |m_x|^2) / (n - 1) when unbiased.
    unbiased = estimate(method, kernel, x, y)
    biased = estimate(method, kernel, x, y, estimator="biased")
    corrections = [estimate(method, kernel, a, a) / 2 for a in (x, y)]
    assert abs(unbiased - (biased + sum(corrections))) < 4 * tolerance(method)


@pytest.mark.parametrize("method", METHODS, ids=name_of)
@settings(max_examples=15, deadline=None)
@given(x=rows(), y=rows(), factor=st.floats(0.1, 10.0))
def test_a_factor_of_the_kernel_is_a_factor_of_the_estimate(method, x, y, factor):
    kernel = fastmmd.Gaussian(1.0)
    for estimator in ("biased", "unbiased"):
        plain = estimate(method, kernel, x, y, estimator)
        scaled = estimate(method, factor * kernel, x, y, estimator)
        assert abs(factor * plain - scaled) < TOLERANCE * factor
