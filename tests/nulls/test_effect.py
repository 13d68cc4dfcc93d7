"""Tests of `fastmmd.nulls.effect`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from nulls_data import add_up, brute_force_u, row_bins, samples

from fastmmd.nulls import (
    Alternative,
    BinGram,
    effect_size,
    interval,
    margin_pvalue,
    normalised_mmd2,
    pearson_pvalue,
    power,
    precision,
    sample_size,
)


def normal_mmd2(shift, bandwidth):
    """Squared MMD of two unit normals `shift` apart, Gaussian kernel, one column."""
    spread = bandwidth**2 + 2
    return 2 * bandwidth / np.sqrt(spread) * (1 - np.exp(-(shift**2) / (2 * spread)))


def drawn_bins(rng, n_x, n_y, shift, bandwidth=1.0):
    x, y = rng.normal(size=(n_x, 1)), rng.normal(size=(n_y, 1)) + shift
    return row_bins(x, y, (bandwidth,))


@pytest.mark.parametrize("shift", [0.0, 0.3, 1.5])
def test_standard_error_is_that_of_the_estimate(shift):
    rng = np.random.default_rng(0)
    found = []
    for _ in range(300):
        bins = drawn_bins(rng, 80, 50, shift)
        place = np.where(bins.from_x, np.arange(130) % 40, 40 + np.arange(130) % 25)
        found.append(precision(add_up(bins, place)))
    spread = np.std([p.mmd2 for p in found])
    claimed = np.sqrt(np.mean([p.standard_error**2 for p in found]))
    # Standard error of a standard deviation: 1 / sqrt(2 * 300), more if skewed; cut off
    # at the degenerate part the claim is too large for samples alike.
    assert 0.85 * spread < claimed < (1.6 if shift == 0 else 1.25) * spread
    mean = np.mean([p.mmd2 for p in found])
    assert abs(mean - normal_mmd2(shift, 1.0)) < 5 * spread / np.sqrt(300)
    degenerate = np.mean([p.degenerate for p in found])
    if shift == 0:
        assert degenerate == pytest.approx(spread**2, rel=0.45)


@pytest.mark.parametrize("shift", [0.0, 0.3, 1.0])
def test_interval_covers(shift):
    rng = np.random.default_rng(1)
    true, covered, runs = normal_mmd2(shift, 1.0), 0, 200
    for _ in range(runs):
        low, high = interval(drawn_bins(rng, 60, 60, shift), confidence=0.9)
        assert 0 <= low <= high
        covered += low <= true <= high
    # Three standard errors below 0.9; for samples alike it covers more.
    assert covered / runs > 0.9 - 3 * np.sqrt(0.09 / runs)


def test_interval_narrows_with_confidence_and_excludes_zero():
    bins = drawn_bins(np.random.default_rng(2), 100, 100, 1.5)
    wide, narrow = interval(bins, confidence=0.99), interval(bins, confidence=0.8)
    assert 0 < wide[0] < narrow[0] < normal_mmd2(1.5, 1.0) * 1.5
    assert narrow[1] < wide[1]
    assert narrow[0] < precision(bins).mmd2 < narrow[1]


def test_effect_size_is_the_correlation_for_a_large_bandwidth():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(3000, 1)), rng.normal(size=(3000, 1)) + 0.8
    # Bandwidth 1e3: k = 1 - d^2 / 2e6, up to 1e-11.
    bins = row_bins(x[:500], y[:500], (1e3,))
    d2 = (x[:500].mean() - y[:500].mean()) ** 2
    v = x[:500].var(ddof=1) + y[:500].var(ddof=1)
    eta = np.sqrt((d2 - v / 500) / (d2 - v / 500 + 2 * v))
    assert effect_size(bins) == pytest.approx(eta, rel=1e-3)


def test_effect_size_of_quoted_shifts():
    # What the docstring says of the median bandwidth, from the closed form.
    for shift, quoted in ((0.2, 0.07), (0.5, 0.16), (0.8, 0.25)):
        bandwidth = 0.954 * np.sqrt(1 + shift**2 / 8)  # median |z - z'|, nearly
        m = normal_mmd2(shift, bandwidth)
        trace = 1 - bandwidth / np.sqrt(bandwidth**2 + 2)
        assert np.sqrt(m / (m + 4 * trace)) == pytest.approx(quoted, abs=0.005)


@settings(max_examples=50)
@given(samples())
def test_effects_lie_between_zero_and_one(pair):
    x, y = pair
    bins = row_bins(x, y)
    eta, nammd = effect_size(bins), normalised_mmd2(bins)
    assert 0 <= nammd <= eta**2 + 1e-12
    assert eta <= 1
    if brute_force_u(x, y) < -1e-12:
        assert eta == nammd == 0
    assert effect_size(row_bins(y, x)) == pytest.approx(eta, abs=1e-6)


def test_effect_size_does_not_grow_with_rows():
    rng = np.random.default_rng(4)
    small = np.mean([effect_size(drawn_bins(rng, 60, 60, 0.8)) for _ in range(60)])
    large = np.mean([effect_size(drawn_bins(rng, 500, 500, 0.8)) for _ in range(5)])
    assert small == pytest.approx(large, abs=0.03)


def test_margin_test_keeps_its_level_at_the_margin():
    rng = np.random.default_rng(5)
    runs, margin = 250, np.sqrt(normal_mmd2(0.8, 1.0))
    bins = [drawn_bins(rng, 70, 50, 0.8) for _ in range(runs)]
    rejected = sum(margin_pvalue(b, margin=margin) <= 0.05 for b in bins)
    # Asymptotic: allow 0.08, and three standard errors.
    assert rejected / runs < 0.08 + 3 * np.sqrt(0.05 / runs)
    closer = sum(margin_pvalue(b, margin=0.1 * margin) <= 0.05 for b in bins)
    assert closer > 0.9 * runs


def test_margin_zero_is_the_test_of_equality_or_stricter():
    rng = np.random.default_rng(6)
    for shift in (0.0, 0.3, 1.0):
        bins = drawn_bins(rng, 60, 60, shift)
        assert margin_pvalue(bins, margin=0.0) >= pearson_pvalue(bins)
    margins = [margin_pvalue(bins, margin=m) for m in np.linspace(0, 1, 21)]
    assert (np.diff(margins) >= -1e-12).all()


def test_constant_samples():
    same = BinGram.from_bins(np.ones((8, 8)), np.ones(8), np.arange(8) < 4)
    assert interval(same) == (0.0, 0.0)
    assert effect_size(same) == 0.0
    assert margin_pvalue(same, margin=0.1) == 1.0
    apart = BinGram.from_bins(
        np.kron(np.eye(2), np.ones((4, 4))), np.ones(8), np.arange(8) < 4
    )
    assert interval(apart) == (2.0, 2.0)
    assert effect_size(apart) == 1.0


def test_power_agrees_with_the_law_it_approximates():
    # Normal noise with known covariance: the limit law, drawn 200,000 times.
    rng = np.random.default_rng(9)
    spectrum = np.array([0.2, 0.15, 0.1, 0.05, 0.02])
    difference = np.array([0.1, 0.05, 0.0, 0.02, 0.01])
    n_x, n_y = 120, 60
    noise = rng.normal(size=(200_000, 5)) * np.sqrt(spectrum * (1 / n_x + 1 / n_y))
    centre = (spectrum * (1 / n_x + 1 / n_y)).sum()
    null = (noise**2).sum(1) - centre
    drawn = ((noise + difference) ** 2).sum(1) - centre
    along = float(difference**2 @ spectrum)
    alternative = Alternative(
        mmd2=float(difference @ difference),
        trace_square=float((spectrum**2).sum()),
        trace_cube=float((spectrum**3).sum()),
        linear_x=along,
        linear_y=along,
        linear_skew=float(difference**2 @ spectrum**2),
    )
    for level in (0.2, 0.05, 0.01):
        simulated = np.mean(drawn > np.quantile(null, 1 - level))
        # Simulation to 0.002; the rest is the curve, measured as at most 0.006.
        assert abs(power(alternative, n_x=n_x, n_y=n_y, level=level) - simulated) < 0.012


def test_power_agrees_with_simulation():
    rng = np.random.default_rng(7)
    shift = 0.35
    rows = drawn_bins(rng, 1500, 1500, shift)
    pilot = Alternative.from_pilot(add_up(rows, np.arange(3000) // 15))
    assert pilot.mmd2 == pytest.approx(normal_mmd2(shift, 1.0), rel=0.3)
    exact = Alternative(
        mmd2=normal_mmd2(shift, 1.0),
        trace_square=pilot.trace_square,
        trace_cube=pilot.trace_cube,
        linear_x=pilot.linear_x * normal_mmd2(shift, 1.0) / pilot.mmd2,
        linear_y=pilot.linear_y * normal_mmd2(shift, 1.0) / pilot.mmd2,
        linear_skew=pilot.linear_skew * normal_mmd2(shift, 1.0) / pilot.mmd2,
    )
    runs = 400
    hits = sum(
        pearson_pvalue(drawn_bins(rng, 90, 60, shift)) <= 0.05 for _ in range(runs)
    )
    # Five standard errors, and 0.04 for the approximation of the curve.
    predicted = power(exact, n_x=90, n_y=60)
    assert 0.2 < predicted < 0.8
    assert abs(hits / runs - predicted) < 5 * np.sqrt(0.25 / runs) * 0.5 + 0.04


MODERATE = Alternative(
    mmd2=0.02, trace_square=0.1, trace_cube=0.02, linear_x=0.002, linear_y=0.003
)


def test_power_rises_with_rows_and_level():
    powers = [power(MODERATE, n_x=n, n_y=2 * n) for n in (5, 20, 80, 320)]
    assert (np.diff(powers) > 0).all()
    assert power(MODERATE, n_x=50, n_y=50, level=0.01) < power(MODERATE, n_x=50, n_y=50)


@pytest.mark.parametrize("ratio", [0.3, 1.0, 5.0])
def test_sample_size_is_the_smallest_that_suffices(ratio):
    n_x, n_y = sample_size(MODERATE, target=0.9, ratio=ratio)
    assert n_y == max(round(ratio * n_x), 2)
    assert power(MODERATE, n_x=n_x, n_y=n_y) >= 0.9
    less = max(round(ratio * (n_x - 1)), 2)
    assert power(MODERATE, n_x=n_x - 1, n_y=less) < 0.9


def test_wrong_arguments_are_refused():
    bins = drawn_bins(np.random.default_rng(8), 6, 6, 0.0)
    with pytest.raises(ValueError, match="`confidence` must lie strictly"):
        interval(bins, confidence=1.0)
    with pytest.raises(
        ValueError, match=r"`margin` must be a number not below 0; got -0\.1"
    ):
        margin_pvalue(bins, margin=-0.1)
    few = BinGram.from_bins(np.eye(5), np.ones(5), np.arange(5) < 2)
    with pytest.raises(ValueError, match="at least 3 bins of each sample; got 2 and 3"):
        precision(few)
    with pytest.raises(
        ValueError, match="`n_x` and `n_y` must be at least 2; got 1 and 9"
    ):
        power(MODERATE, n_x=1, n_y=9)
    with pytest.raises(ValueError, match="`level` must lie strictly"):
        power(MODERATE, n_x=9, n_y=9, level=0.0)
    with pytest.raises(
        ValueError, match=r"`target` must lie between `level` and 1; got 1\.0"
    ):
        sample_size(MODERATE, target=1.0)
    with pytest.raises(ValueError, match="`ratio` must be a finite number"):
        sample_size(MODERATE, ratio=0.0)
    nothing = Alternative(
        mmd2=0.0, trace_square=0.1, trace_cube=0.02, linear_x=0.0, linear_y=0.0
    )
    with pytest.raises(ValueError, match=r"`alternative.mmd2` must be greater than 0"):
        sample_size(nothing)


@pytest.mark.parametrize(("n_x", "n_y"), [(3, 50), (4, 200), (5, 60), (200, 3)])
def test_the_ends_of_an_interval_are_in_order(n_x, n_y):
    rng = np.random.default_rng(n_x + n_y)
    for _ in range(150):
        low, high = interval(drawn_bins(rng, n_x, n_y, 0.0))
        assert 0.0 <= low <= high
        assert np.isfinite(high)


@pytest.mark.parametrize("margin", [1.5, 2.0, 1e10, 1e160, 1e300])
def test_nothing_is_further_apart_than_is_possible(margin):
    rng = np.random.default_rng(0)
    assert margin_pvalue(drawn_bins(rng, 40, 30, 5.0), margin=margin) > 0.999
    apart = np.kron(np.eye(2), np.ones((20, 20)))
    constant = BinGram.from_bins(apart, np.ones(40), np.arange(40) < 20)
    assert margin_pvalue(constant, margin=margin) == 1.0


def test_the_pvalue_of_a_margin_grows_with_it_and_falls_with_the_difference():
    margins = (0.0, 1e-9, 1e-3, 0.05, 0.1, 0.2, 0.4, 0.8, 1.3)
    by_shift = []
    for shift in (0.0, 0.3, 1.0, 3.0, 30.0):
        bins = drawn_bins(np.random.default_rng(1), 90, 120, shift)
        by_shift.append([margin_pvalue(bins, margin=m) for m in margins])
    assert (np.diff(by_shift, axis=1) >= 0).all()
    # Beyond the first step, where a chance difference may shrink.
    assert (np.diff(by_shift[1:], axis=0) <= 0).all()
