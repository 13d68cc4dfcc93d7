"""Power and sample sizes from pilot samples."""

from __future__ import annotations

import numpy as np
import pytest

import fastmmd
from fastmmd import Gaussian, power, sample_size, two_sample_test


@pytest.fixture
def pilot(rng):
    return rng.normal(size=(200, 2)), rng.normal(size=(240, 2)) + 0.5


def test_power_rises_with_rows_and_level(pilot):
    sizes = (5, 10, 20, 40, 80, 160, 320)
    powers = [power(*pilot, n_x=n, n_y=n, kernel=Gaussian(1.5)) for n in sizes]
    assert (np.diff(powers) > 0.0).all()
    assert 0.05 < powers[0] < 0.5
    assert powers[-1] > 0.999
    by_level = [
        power(*pilot, n_x=30, n_y=30, kernel=Gaussian(1.5), level=level)
        for level in (0.001, 0.01, 0.05, 0.2)
    ]
    assert (np.diff(by_level) > 0.0).all()
    more = power(*pilot, n_x=30, n_y=300, kernel=Gaussian(1.5))
    assert more > by_level[2]


@pytest.mark.parametrize("ratio", [0.25, 1.0, 3.0])
@pytest.mark.parametrize("target", [0.5, 0.9])
def test_sample_size_is_the_smallest_that_reaches_the_power(pilot, ratio, target):
    options = {"kernel": Gaussian(1.5), "level": 0.01}
    n_x, n_y = sample_size(*pilot, power=target, ratio=ratio, **options)
    assert n_y == round(ratio * n_x)
    assert power(*pilot, n_x=n_x, n_y=n_y, **options) >= target
    less = max(round(ratio * (n_x - 1)), 2)
    assert power(*pilot, n_x=n_x - 1, n_y=less, **options) < target


def test_sample_size_grows_with_power_and_shrinks_with_level(pilot):
    by_power = [sample_size(*pilot, power=p)[0] for p in (0.3, 0.6, 0.9, 0.99)]
    assert by_power == sorted(by_power)
    assert by_power[0] < by_power[-1]
    assert sample_size(*pilot, level=0.001) > sample_size(*pilot, level=0.1)


def test_power_agrees_with_simulation(rng):
    # A large pilot, so that its own error is small: 1000 rows know the squared MMD, here
    # 0.03, to a standard error of 0.004, which is 0.04 in power.
    kernel, runs, n_x, n_y = Gaussian(1.0), 300, 40, 30
    pilot = rng.normal(size=(1000, 1)), rng.normal(size=(1000, 1)) + 0.5
    predicted = power(*pilot, n_x=n_x, n_y=n_y, kernel=kernel, rng=0)
    assert 0.25 < predicted < 0.75
    hits = sum(
        two_sample_test(
            rng.normal(size=(n_x, 1)),
            rng.normal(size=(n_y, 1)) + 0.5,
            kernel=kernel,
            n_resamples=99,
            rng=rng,
        ).rejects()
        for _ in range(runs)
    )
    # 4.9 binomial standard errors of at most 0.029, the pilot's 0.04, and 0.03 for the
    # curve and for 99 relabellings.
    bound = 4.9 * np.sqrt(predicted * (1 - predicted) / runs) + 0.04 + 0.03
    assert abs(hits / runs - predicted) < bound


def test_kernel_value_at_zero_does_not_matter(pilot):
    plain = power(*pilot, n_x=30, n_y=30, kernel=Gaussian(1.0))
    double = power(*pilot, n_x=30, n_y=30, kernel=2.0 * Gaussian(1.0))
    assert double == pytest.approx(plain, rel=1e-9)


def test_large_pilots_go_by_features(rng):
    x, y = rng.normal(size=(4000, 20)), rng.normal(size=(4000, 20)) + 0.2
    options = {"n_x": 60, "n_y": 60, "rng": 0}
    exact, features = power(x[:800], y[:800], **options), power(x, y, **options)
    # The smaller pilot knows the squared MMD, here 0.012, to a tenth of it, and power
    # changes by less than 1 for each unit of its logarithm: two standard errors.
    assert 0.3 < exact < 0.97
    assert abs(features - exact) < 0.2
    assert power(x[:800], y[:800], **options) == exact


def test_alike_pilots_have_nothing_to_find(rng):
    x = rng.normal(size=(50, 1))
    # Equal pilots: the unbiased estimate is below 0, so the power is the level.
    assert power(x, x, n_x=20, n_y=20) == pytest.approx(0.05, abs=1e-6)
    with pytest.raises(ValueError, match="must differ in the pilot"):
        sample_size(x, x)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"n_x": 1, "n_y": 9},
            ValueError,
            "`n_x` must be an integer of at least 2; got 1",
        ),
        (
            {"n_x": 9, "n_y": 0},
            ValueError,
            "`n_y` must be an integer of at least 2; got 0",
        ),
        ({"n_x": 9.5, "n_y": 9}, TypeError, "`n_x` must be an integer"),
        (
            {"n_x": 9, "n_y": 9, "level": 0.0},
            ValueError,
            "`level` must be a number strict",
        ),
        (
            {"n_x": 9, "n_y": 9, "kernel": "adaptive"},
            ValueError,
            "`kernel` must be one kernel to plan with; got a family",
        ),
        ({"n_x": 9, "n_y": 9, "kernel": "tent"}, ValueError, "`kernel` must be one of"),
    ],
)
def test_wrong_options_of_power_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        power(np.arange(10.0), np.arange(10.0) + 3, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"power": 1.0}, "`power` must be a number strictly between 0.05 and 1; got 1.0"),
        ({"power": 0.01}, "strictly between 0.05 and 1; got 0.01"),
        ({"ratio": 0.0}, "`ratio` must be a finite number greater than 0; got 0.0"),
        ({"level": 1.0}, "`level` must be a number strictly between 0 and 1; got 1.0"),
        ({"kernel": ["gaussian", "laplace"]}, "`kernel` must be one kernel to plan with"),
    ],
)
def test_wrong_options_of_sample_size_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        sample_size(np.arange(10.0), np.arange(10.0) + 3, **options)


def test_single_rows_are_no_pilot():
    with pytest.raises(fastmmd.UndefinedEstimateError, match="at least 8 rows in each"):
        power([1.0], [2.0, 3.0], n_x=9, n_y=9)


@pytest.mark.parametrize(("shift", "n"), [(4.0, 4), (2.5, 5), (2.0, 7)])
def test_few_rows_have_the_power_that_relabelling_gives_them(shift, n):
    # A critical value from the spread within the samples promised 0.93 where 0.6 is had:
    # relabelled samples are spread by the difference itself.
    rng = np.random.default_rng(1)
    kernel, runs = Gaussian(1.5), 200
    pilot = rng.normal(size=(1500, 1)), rng.normal(size=(1500, 1)) + shift
    predicted = power(*pilot, n_x=n, n_y=n, kernel=kernel)
    found = np.mean(
        [
            two_sample_test(
                rng.normal(size=n),
                rng.normal(size=n) + shift,
                kernel=kernel,
                n_resamples=199,
                rng=i,
            ).pvalue
            <= 0.05
            for i in range(runs)
        ]
    )
    # Three standard errors, and 0.08 for the approximation at 4 rows.
    assert abs(predicted - found) < 3 * np.sqrt(0.25 / runs) + (0.08 if n == 4 else 0.05)


def test_no_size_is_below_what_relabelling_can_reach():
    # 3 and 3 rows have no p-value below 0.1; at 4 and 4 it is 0.029.
    x, y = np.arange(20.0), 1e6 + np.arange(20.0)
    assert sample_size(x, y, power=0.8)[0] >= 4
    assert sample_size(x, y, power=0.8, level=0.001)[0] >= 7
    assert power(x, y, n_x=3, n_y=3) == 0.0


def test_what_the_pilot_leaves_open_is_in_the_answer(pilot):
    small = tuple(part[:40] for part in pilot)
    for samples in (pilot, small):
        found = power(*samples, n_x=60, n_y=60)
        assert found.interval[0] <= found <= found.interval[1]
        sizes = sample_size(*samples)
        assert sizes == (sizes.n_x, sizes.n_y)
        assert sizes.interval[0] <= sizes
    spans = [np.ptp(power(*s, n_x=60, n_y=60).interval) for s in (pilot, small)]
    assert spans[0] < spans[1]
    # Of two halves of one sample the pilot cannot say that they differ at all.
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(100, 1)), rng.normal(size=(100, 1)) + 0.3
    assert sample_size(x, y).interval[1] is None
    assert "any number" in repr(sample_size(x, y))
