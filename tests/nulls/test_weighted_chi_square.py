"""Tests of `fastmmd.nulls.weighted_chi_square`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import chi2, f

from fastmmd.nulls import weighted_chi_square_tail


@pytest.mark.parametrize("n", [1, 2, 3, 7, 50, 400])
@pytest.mark.parametrize("weight", [1.0, 0.03, 700.0])
def test_equal_weights_are_a_chi_square(n, weight):
    for x in (1e-6, 0.3, 0.9 * n, float(n), 1.001 * n, 1.5 * n, 3.0 * n, n + 300.0):
        exact = chi2.sf(x, n)
        found = weighted_chi_square_tail(np.full(n, weight), weight * x)
        # The smaller tail is integrated to 1e-10 of itself; scipy is as good.
        smaller = min(exact, 1 - exact) if x < n else exact
        assert abs(found - exact) <= 1e-9 * max(smaller, 1e-7 if x < n else 0.0)


@pytest.mark.parametrize("x", [-40.0, -2.0, -1e-12, 0.0, 1e-12, 0.5, 3.0, 80.0, 900.0])
def test_two_against_two_is_a_laplace_law(x):
    exact = 0.5 * np.exp(-x / 2) if x >= 0 else 1 - 0.5 * np.exp(x / 2)
    assert weighted_chi_square_tail([1, 1, -1, -1], x) == pytest.approx(exact, rel=1e-10)


@given(st.integers(1, 9), st.integers(1, 9), st.floats(0.05, 20.0))
def test_mixed_signs_are_a_ratio(n, m, ratio):
    # P(A > r B) for independent chi-squares A, B is a tail of the F law.
    weights = np.concatenate((np.ones(n), np.full(m, -ratio)))
    exact = f.sf(ratio * m / n, n, m)
    assert weighted_chi_square_tail(weights, 0.0) == pytest.approx(exact, rel=1e-8)


@given(
    st.lists(st.floats(-3, 3).filter(lambda w: abs(w) > 1e-3), min_size=1, max_size=12),
    st.floats(-20, 20),
    st.floats(0.01, 100),
)
def test_scale_and_reflection(weights, x, scale):
    w = np.array(weights)
    tail = weighted_chi_square_tail(w, x)
    assert 0 < tail <= 1
    assert weighted_chi_square_tail(scale * w, scale * x) == pytest.approx(tail, abs=1e-9)
    assert weighted_chi_square_tail(-w, -x) == pytest.approx(1 - tail, abs=1e-9)
    assert weighted_chi_square_tail(w, x + 1) <= tail + 1e-9


def test_uneven_weights_agree_with_simulation():
    rng = np.random.default_rng(0)
    weights = np.concatenate((0.6 ** np.arange(12), -(0.5 ** np.arange(1, 9))))
    draws = rng.standard_normal((400_000, weights.size)) ** 2 @ weights
    for x in (-1.0, 0.5, 2.0, 5.0, 9.0):
        p = weighted_chi_square_tail(weights, x)
        # Five standard errors of a share.
        assert abs(np.mean(draws > x) - p) < 5 * np.sqrt(p * (1 - p) / len(draws))


def test_constant_and_impossible_values():
    assert weighted_chi_square_tail([1.0, 2.0], -1.0) == 1.0
    assert 0 < weighted_chi_square_tail([-1.0, -2.0], 1.0) < 1e-300
    assert weighted_chi_square_tail([0.0], 0.0) == 1.0
    assert 0 < weighted_chi_square_tail(np.ones(5), 1e6) < 1e-300


def saddlepoint_tail(weights, value):
    """Return the tail by Barndorff-Nielsen's formula: another way, to about a tenth."""

    def slope(z):
        return np.sum(weights / (1 - 2 * z * weights)) - value

    wall = 0.5 / weights.max()
    z = brentq(slope, 0.0, wall * (1 - 1e-12), xtol=1e-15)
    rest = 1 - 2 * z * weights
    w = np.sqrt(2 * (z * value + 0.5 * np.log(rest).sum()))
    v = z * np.sqrt(2 * np.sum((weights / rest) ** 2))
    return ndtr(-(w + np.log(v / w) / w))


@pytest.mark.parametrize("z", [1.0, 3.0, 8.0, 30.0, 100.0])
def test_tail_agrees_with_the_saddlepoint_formula(z):
    weights = np.concatenate((0.7 ** np.arange(15), -(0.3 ** np.arange(1, 6))))
    value = weights.sum() + z * np.sqrt(2 * (weights**2).sum())
    exact = weighted_chi_square_tail(weights, value)
    assert saddlepoint_tail(weights, value) == pytest.approx(exact, rel=0.1)
