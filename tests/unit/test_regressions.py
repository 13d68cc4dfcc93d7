"""What first users met: each line once gave a crash, a wrong number or a raw error."""

from __future__ import annotations

import numpy as np
import precision
import pytest

import fastmmd
from fastmmd import mmd, two_sample_test


@pytest.mark.parametrize(
    "kernel",
    [fastmmd.Gaussian(1.0), fastmmd.Cauchy(1.0), fastmmd.RationalQuadratic(1.0, 0.5)],
    ids=str,
)
def test_grid_with_constant_columns(kernel, rng):
    x, y = rng.normal(size=(60, 2)), 1.2 * rng.normal(size=(50, 2))
    x[:, 1] = y[:, 1] = 1.0
    exact = mmd(x, y, kernel=kernel, method="exact").mmd2
    assert abs(mmd(x, y, kernel=kernel, method="grid").mmd2 - exact) < 1e-12
    assert mmd(np.ones(5), np.ones(5), kernel=kernel, method="grid").mmd == pytest.approx(
        0
    )


@pytest.mark.parametrize("scale", [1e-170, 1e-158, 1e160])
def test_joint_scaling_by_extreme_factors(scale, rng):
    x, y = rng.normal(size=(50, 2)), 1.3 * rng.normal(size=(40, 2))
    for kernel, scaled in (
        (fastmmd.Gaussian(1.0), fastmmd.Gaussian(scale)),
        ("gaussian", "gaussian"),
    ):
        plain = mmd(x, y, kernel=kernel, method="exact").mmd2
        # Multiplying by a number that is no power of two rounds each value once.
        got = mmd(scale * x, scale * y, kernel=scaled, method="exact").mmd2
        assert got == pytest.approx(plain, abs=1e-13)
    result = two_sample_test(scale * x, scale * y, rng=0)
    assert result.pvalue == two_sample_test(x, y, rng=0).pvalue


def test_values_that_overflow_are_refused():
    x = np.full((3, 17), 1e308) * np.array([[1.0], [-1.0], [0.0]])
    kernel = fastmmd.Gaussian(1e-300)
    with (
        np.errstate(all="ignore"),
        pytest.raises(fastmmd.UndefinedEstimateError, match="finite; it overflowed"),
    ):
        mmd(x, x[::-1], kernel=kernel, method="fourier", rng=0)
    tied = np.zeros((4, 2))
    assert mmd(tied, tied, kernel=kernel, method="exact").mmd2 == 0.0


def test_a_value_that_is_not_one_at_zero_is_refused(rng):
    x = rng.normal(size=(5, 2))

    def sampler(n_frequencies, n_columns, rng):
        return rng.normal(size=(n_frequencies, n_columns))

    for value in (lambda z: 5.0 * np.exp(-(z**2).sum(-1)), lambda z: np.exp(-(z**2))):
        kernel = fastmmd.SpectralKernel(sampler, value)
        with pytest.raises(
            ValueError, match="one number for each difference, and 1 at zero"
        ):
            mmd(x, x + 1.0, kernel=kernel)


def test_the_biased_estimate_is_not_negative(rng):
    x = rng.normal(size=(30, 3))
    assert mmd(x, x[::-1], estimator="biased").mmd2 == 0.0


def test_legacy_generators_are_refused_clearly(rng):
    x = rng.normal(size=(5, 2))
    with pytest.raises(TypeError, match=r"able to spawn children|must be None"):
        mmd(x, x, rng=np.random.RandomState(0))  # noqa: TID251


def test_fourier_methods_compare_by_value():
    assert fastmmd.Fourier(5) == fastmmd.Fourier(5)
    assert fastmmd.Fourier(5) != fastmmd.Fourier(6)
    assert hash(fastmmd.Fourier(5)) == hash(fastmmd.Fourier(5))
    given = fastmmd.Fourier(frequencies=[[1.0]])
    assert given == fastmmd.Fourier(frequencies=[[1.0]])
    assert given != fastmmd.Fourier(frequencies=[[2.0]])
    assert "algorithm='amplitudes'" in repr(fastmmd.Fourier(algorithm="amplitudes"))


def test_max_frequencies_below_the_first_draw_is_refused():
    with pytest.raises(ValueError, match="`max_frequencies` must be at least"):
        fastmmd.Fourier(512, tolerance=0.1, max_frequencies=16)


def test_a_test_uses_given_frequencies(rng):
    x, y = rng.normal(size=(40, 2)), rng.normal(size=(50, 2)) + 0.5
    kernel = fastmmd.Gaussian(1.0)
    method = fastmmd.Fourier(frequencies=rng.normal(size=(30, 2)))
    expected = mmd(x, y, kernel=kernel, method=method).mmd2
    result = two_sample_test(x, y, kernel=kernel, method=method, rng=0)
    # Features of a test are in single precision, the estimate's in double.
    distances = np.abs(np.concatenate([x, y]) - x.mean(axis=0))
    turns = (distances @ np.abs(method.frequencies).T).max() / (2 * np.pi)
    bound = precision.mmd2_error(precision.feature_error(turns, 2, single=True), 40)
    assert result.statistic == pytest.approx(expected, rel=0, abs=bound)
    with pytest.raises(ValueError, match="with one kernel, whose they are"):
        two_sample_test(x, y, method=method)


def test_a_test_takes_a_method_object_at_its_word(rng):
    x, y = rng.normal(size=(40, 2)), rng.normal(size=(50, 2)) + 0.5
    kernel = fastmmd.Gaussian(1.0)
    values = {
        n: two_sample_test(
            x, y, kernel=kernel, method=fastmmd.Fourier(n), rng=0
        ).statistic
        for n in (512, 1024)
    }
    assert values[512] != values[1024]
    with pytest.raises(ValueError, match="`tolerance` must be left out of a test"):
        two_sample_test(x, y, method=fastmmd.Fourier(64, tolerance=0.1))


def test_asymptotic_nulls_need_some_rows():
    for null in ("gamma", "pearson", "spectrum"):
        with pytest.raises(
            fastmmd.UndefinedEstimateError, match="at least 8 rows in each"
        ):
            two_sample_test([0.0, 1.0], [3.0, 4.0], kernel="gaussian", null=null)
    with pytest.raises(
        fastmmd.UndefinedEstimateError, match="a margin must have at least 8"
    ):
        two_sample_test([0.0, 1.0], [3.0, 4.0], kernel="gaussian", margin=0.1)


def test_the_tail_does_not_go_below_what_relabelling_can_show(rng):
    result = two_sample_test([9.0, 9.1], rng.normal(size=60), rng=0)
    if result.tail_pvalue is not None:
        assert result.tail_pvalue >= 2.0 / (62 * 61)


def test_very_many_small_samples(rng):
    samples = [rng.normal(size=(10, 1)) + 10.0 * i for i in range(300)]
    result = fastmmd.k_sample_test(*samples, kernel=fastmmd.Gaussian(1.0), rng=0)
    assert result.pvalue == 0.001


def test_a_margin_has_a_null_of_its_own(rng):
    x = rng.normal(size=(30, 2))
    with pytest.raises(ValueError, match='`null` must be "auto" with a `margin`'):
        two_sample_test(x, x, kernel="gaussian", margin=0.1, null="gamma")


def test_rows_too_far_for_a_sketch_leave_no_trace():
    sketch = fastmmd.Sketch(fastmmd.Gaussian(1.0), 2)
    with (
        pytest.raises(ValueError, match="near enough to the center"),
        np.errstate(over="ignore", invalid="ignore"),
    ):
        sketch.update([[1e308, 1e308]] * 5)
    assert sketch.count == 0
    assert not sketch.sums.any()


def test_power_knows_that_few_rows_have_no_small_pvalue(rng):
    pilot = rng.normal(size=(50, 1))
    assert fastmmd.power(pilot, pilot + 20.0, n_x=2, n_y=2, rng=0) == 0.0
    n_x, n_y = fastmmd.sample_size(pilot, pilot + 20.0, rng=0)
    # 8 rows in two fours have 70 relabellings, and swapping the samples is one of them.
    assert (n_x, n_y) == (4, 4)
    far = two_sample_test(pilot[:4], pilot[:4] + 20.0, kernel=fastmmd.Gaussian(5.0))
    assert far.pvalue == pytest.approx(2 / 70)


def test_missing_group_names_are_refused(rng):
    x, y = rng.normal(size=(4, 2)), rng.normal(size=(5, 2))
    for missing in (None, float("nan")):
        groups = (["a", "b", "c", missing], list("defgh"))
        with pytest.raises(ValueError, match="must name a group for every row"):
            two_sample_test(x, y, groups=(np.array(groups[0], dtype=object), groups[1]))


def test_the_interval_of_a_family_holds_for_all_kernels(rng):
    x, y = rng.normal(size=(100, 2)), rng.normal(size=(100, 2)) + 0.5
    family = two_sample_test(x, y, rng=0)
    alone = two_sample_test(x, y, kernel=family.kernel, rng=0)
    assert family.confidence_interval[0] < alone.confidence_interval[0]
    assert family.confidence_interval[1] > alone.confidence_interval[1]


def test_sketches_too_small_to_compare_say_so(rng):
    large = fastmmd.Sketch(fastmmd.Gaussian(2.0), 2)
    large.update(rng.normal(size=(3000, 2)))
    small = large.like()
    small.update(rng.normal(size=(2, 2)))
    with pytest.raises(fastmmd.UndefinedEstimateError, match="at least 8 rows each"):
        fastmmd.compare(large, small)


@pytest.mark.parametrize("outlier", [1e20, 1e30, 1e100])
@pytest.mark.parametrize("method", [fastmmd.Fourier(512), fastmmd.Fastfood(512)])
def test_one_outlier_does_not_hide_a_difference(method, outlier, rng):
    # The point that rows are measured from was their mean, which the outlier carried away:
    # all other rows became one point, and the samples "equal".
    x, y = rng.normal(size=(700, 6)), rng.normal(size=(600, 6)) + 0.5
    kernel = fastmmd.Gaussian(2.0)
    before = fastmmd.mmd(x, y, kernel=kernel, method=method, rng=0).mmd2
    x[0, 0] = outlier
    after = fastmmd.mmd(x, y, kernel=kernel, method=method, rng=0).mmd2
    # One row of 700 has a weight of 1/700 in the mean of each feature.
    assert abs(after - before) < 4 * 2 / 700
    assert fastmmd.two_sample_test(x, y, kernel=kernel, method=method, rng=0).rejects()
