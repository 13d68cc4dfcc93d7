"""The two-sample test: p-values, statistics, options, edge cases and results."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import tracemalloc

import numpy as np
import precision
import pytest
import scipy.sparse
from references import double_sum
from scipy.stats import binom

import fastmmd
from fastmmd import Gaussian, two_sample_test

EPS = np.finfo(float).eps
FIVE_SIGMA = 4.9  # about one false alarm in 10^6 comparisons
# Statistics that are equal in exact arithmetic differ by some dozen eps; standardised by
# their spread, here at least 0.01, by a hundred times that. Others differ by far more.
TIE = 1e-9


def flat(n_frequencies, n_columns, rng):
    return rng.uniform(-1.0, 1.0, (n_frequencies, n_columns))


def all_statistics(kernel, pooled, n_x):
    """Return the statistic of every relabelling of rows, the observed one first."""
    everything = range(len(pooled))
    values = []
    for chosen in itertools.combinations(everything, n_x):
        rest = [i for i in everything if i not in chosen]
        values.append(double_sum(kernel, pooled[list(chosen)], pooled[rest], "unbiased"))
    return np.array(values)


def made_normal(statistics):
    """Standardise the columns and take out their skewness, by Wilson and Hilferty."""
    z = (statistics - statistics.mean(axis=0)) / statistics.std(axis=0)
    skewness = np.maximum((z**3).mean(axis=0), 1e-3)
    k = 4.0 / skewness**2
    gamma = np.maximum(k + np.sqrt(k) * z, 1e-6 * k)
    return ((gamma / k) ** (1 / 3) - (1.0 - 1.0 / (9.0 * k))) * np.sqrt(9.0 * k)


def soft_maximum(statistics):
    """Combine the columns as the library says it does."""
    return np.log(np.exp(3.0 * made_normal(statistics)).mean(axis=1))


# ---- p-values


@pytest.mark.parametrize("discrete", [False, True], ids=["continuous", "ties"])
@pytest.mark.parametrize(("n_x", "n_y"), [(2, 2), (3, 4), (5, 2), (4, 4)])
def test_pvalue_of_one_kernel_is_the_share_of_all_relabellings(n_x, n_y, discrete, rng):
    kernel = fastmmd.Laplace(1.1)
    for _ in range(3):
        z = rng.normal(size=(n_x + n_y, 2)) + 0.8 * (np.arange(n_x + n_y) < n_x)[:, None]
        z = np.round(z) if discrete else z
        values = all_statistics(kernel, z, n_x)
        result = two_sample_test(z[:n_x], z[n_x:], kernel=kernel)
        assert result.n_resamples == math.comb(n_x + n_y, n_x)
        assert result.pvalue == np.mean(values >= values[0] - TIE)
        # Each kernel value and each mean is right to a few ulp of terms of size 1.
        assert abs(result.statistic - values[0]) < 64 * EPS
        found = np.sort(result.null_distribution[:, 0])
        assert np.abs(found - np.sort(values)).max() < 64 * EPS


@pytest.mark.parametrize("kernels", ["adaptive", [Gaussian(0.4), fastmmd.Laplace(2.0)]])
@pytest.mark.parametrize(("n_x", "n_y"), [(3, 4), (6, 3)])
def test_pvalue_of_a_family_is_the_share_of_all_relabellings(kernels, n_x, n_y, rng):
    for _ in range(3):
        z = rng.normal(size=(n_x + n_y, 1)) + 0.8 * (np.arange(n_x + n_y) < n_x)[:, None]
        result = two_sample_test(z[:n_x], z[n_x:], kernel=kernels)
        assert len(result.kernels) > 1
        values = np.stack([all_statistics(k, z, n_x) for k in result.kernels], axis=1)
        combined = soft_maximum(values)
        assert result.pvalue == np.mean(combined >= combined[0] - TIE)
        powers = np.exp(3.0 * made_normal(values)[0])
        shares = powers / powers.sum()
        assert np.allclose(result.shares, shares, rtol=0, atol=TIE)
        best = result.kernels.index(result.kernel)
        assert abs(result.statistic - values[0, best]) < 64 * EPS


@pytest.mark.parametrize("n_resamples", [1, 20, 137])
def test_sampled_pvalue_counts_the_observed_labels_and_ties(n_resamples, rng):
    x, y = rng.integers(0, 2, (9, 1)), rng.integers(0, 2, (8, 1))
    result = two_sample_test(x, y, kernel=Gaussian(1.0), n_resamples=n_resamples, rng=1)
    null = result.null_distribution[:, 0]
    assert null.shape == (n_resamples,)
    at_least = np.count_nonzero(null >= result.statistic - TIE)
    assert result.pvalue == (1 + at_least) / (1 + n_resamples)
    if n_resamples == 137:
        # Two values in nine against eight rows: ties are common and must count.
        assert np.count_nonzero(null > result.statistic + TIE) < at_least
    apart = two_sample_test(x, y + 50, kernel=Gaussian(1.0), n_resamples=n_resamples)
    assert apart.pvalue >= 1 / (1 + n_resamples)


def test_pvalue_of_a_family_follows_from_its_null_distribution(rng):
    x, y = rng.normal(size=(40, 2)), rng.normal(size=(35, 2)) + 0.3
    result = two_sample_test(x, y, n_resamples=200, rng=3)
    observed = [fastmmd.mmd(x, y, kernel=k, method="exact").mmd2 for k in result.kernels]
    combined = soft_maximum(np.vstack([observed, result.null_distribution]))
    assert result.pvalue == (1 + np.sum(combined[1:] >= combined[0] - TIE)) / 201
    assert 1 / 201 < result.pvalue < 1.0


@pytest.mark.parametrize("method", ["exact", fastmmd.Fourier(32)])
def test_same_seed_same_result_other_seed_another(method, rng):
    x, y = rng.normal(size=(400, 2)), rng.normal(size=(300, 2))
    options = {"method": method, "n_resamples": 99}
    one, again = (two_sample_test(x, y, rng=5, **options) for _ in range(2))
    assert one.to_dict() == again.to_dict()
    assert np.array_equal(one.null_distribution, again.null_distribution)
    others = [two_sample_test(x, y, rng=seed, **options) for seed in (6, 7, 8)]
    assert {r.pvalue for r in others} != {one.pvalue}
    generator = np.random.default_rng(5)
    assert two_sample_test(x, y, rng=generator, **options).pvalue == one.pvalue


@pytest.mark.parametrize("method", ["exact", fastmmd.Fourier(32)])
def test_more_resamples_leave_bins_and_frequencies_alone(method, rng):
    x, y = rng.normal(size=(400, 2)), rng.normal(size=(300, 2))
    kernel = [Gaussian(1.0), Gaussian(0.5)]
    few, many = (
        two_sample_test(x, y, kernel=kernel, method=method, n_resamples=n, rng=5)
        for n in (50, 500)
    )
    one = two_sample_test(x, y, kernel=kernel[:1], method=method, n_resamples=50, rng=5)
    # The first relabellings are the same ones of the same bins, up to the rounding of
    # matrix products of another shape.
    assert np.abs(few.null_distribution - many.null_distribution[:50]).max() < 256 * EPS
    assert np.abs(few.null_distribution[:, 0] - one.null_distribution[:, 0]).max() < 1e-12
    assert few.n_bins == many.n_bins


def rejections(draw, sizes, runs, rng, **options):
    total = 0
    for _ in range(runs):
        x, y = (draw(n) for n in sizes)
        total += two_sample_test(x, y, rng=rng, **options).pvalue <= 0.05
    return total


# With 20 relabellings p <= 0.05 means that none is as large as the observed one, of chance
# 1 / 21 without ties and less with them. A p-value that forgot the observed labels would
# reject at one larger or none: 0.095.
NO_RELABELLING_AS_LARGE = 1 / 21


@pytest.mark.parametrize("kernel", [Gaussian(1.0), "adaptive"], ids=["one", "family"])
def test_level_is_exact_at_small_sizes_with_ties(kernel, rng):
    runs = 500
    options = {"kernel": kernel, "n_resamples": 20}
    total = rejections(lambda n: rng.integers(0, 4, (n, 1)), (6, 7), runs, rng, **options)
    assert total <= binom.isf(1e-6, runs, NO_RELABELLING_AS_LARGE)


def test_level_is_exact_without_ties(rng):
    runs = 500
    options = {"kernel": ["gaussian", "laplace"], "n_resamples": 20}
    total = rejections(lambda n: rng.normal(size=(n, 2)), (8, 9), runs, rng, **options)
    # One in 24310 relabellings is the observed one, which lowers the chance by 20 / 24310.
    low, high = (binom.ppf(q, runs, NO_RELABELLING_AS_LARGE) for q in (1e-6, 1 - 1e-6))
    assert low <= total <= high


def test_level_is_exact_with_bins_and_left_over_rows_of_sorted_data(rng):
    runs = 120
    options = {
        "kernel": Gaussian(0.3),
        "method": fastmmd.Fourier(8),
        "n_resamples": 20,
    }
    total = rejections(
        lambda n: np.sort(rng.integers(0, 9, n)), (11, 523), runs, rng, **options
    )
    assert total <= binom.isf(1e-6, runs, NO_RELABELLING_AS_LARGE)


# ---- the statistic, effect and interval


@pytest.mark.parametrize(("n_x", "n_y"), [(2, 2), (30, 50), (400, 350)])
@pytest.mark.parametrize(
    "kernel", [Gaussian(1.0), 2.0 * fastmmd.Laplace(0.7), "matern"], ids=str
)
def test_statistic_is_the_unbiased_estimate(kernel, n_x, n_y, rng):
    x, y = rng.normal(size=(n_x, 3)), 1.3 * rng.normal(size=(n_y, 3))
    result = two_sample_test(x, y, kernel=kernel, method="exact", n_resamples=9, rng=0)
    expected = fastmmd.mmd(x, y, kernel=result.kernel, method="exact").mmd2
    # Means of terms of size K(0), added up in another order.
    assert abs(result.statistic - expected) < 64 * EPS * result.kernel.at_zero


def test_left_over_rows_count_in_the_statistic(rng):
    x, y = rng.normal(size=(23, 2)), rng.normal(size=(701, 2))
    result = two_sample_test(
        x, y, kernel=Gaussian(1.0), method="exact", n_resamples=9, rng=0
    )
    expected = fastmmd.mmd(x, y, kernel=Gaussian(1.0), method="exact").mmd2
    assert result.used_y < 1.0
    assert abs(result.statistic - expected) < 64 * EPS


def test_interval_holds_the_statistic_and_narrows_with_level(rng):
    x, y = rng.normal(size=(100, 1)), rng.normal(size=(100, 1)) + 1.0
    options = {"kernel": Gaussian(1.0), "n_resamples": 9, "rng": 0}
    wide = two_sample_test(x, y, level=0.01, **options)
    narrow = two_sample_test(x, y, level=0.2, **options)
    low, high = wide.confidence_interval
    assert 0.0 < low < narrow.confidence_interval[0] < wide.statistic
    assert wide.statistic < narrow.confidence_interval[1] < high
    assert wide.statistic == narrow.statistic


# ---- kernels


def test_family_looks_at_pooled_rows_only(rng):
    z = np.concatenate([rng.normal(size=(700, 2)), 5 + 0.1 * rng.normal(size=(800, 2))])
    found = {
        two_sample_test(z[:n], z[n:], method="fourier", n_resamples=1, rng=4).kernels
        for n in (10, 700, 1498)
    }
    assert len(found) == 1


def test_family_halves_bandwidths_from_twice_the_median(rng):
    x, y = rng.normal(size=(200, 1)), rng.normal(size=(200, 1))
    kernels = two_sample_test(x, y, n_resamples=1, rng=0).kernels
    median = fastmmd.bandwidth.median_bandwidth(x, y)
    expected = [median * 2.0**-k for k in range(-1, 6)]
    assert [k.bandwidth for k in kernels] == expected


def test_filter_drops_small_bandwidths_without_close_pairs(rng):
    # In 200 columns distances lie within a tenth of the median: at half the median a pair
    # weighs exp(-4) = 0.02, at an eighth exp(-64), of which 5000 pairs have none.
    kernels = two_sample_test(
        rng.normal(size=(50, 200)), rng.normal(size=(50, 200)), n_resamples=1, rng=0
    ).kernels
    median = kernels[0].bandwidth / 2
    assert [k.bandwidth / median for k in kernels] == [2.0, 1.0, 0.5]


def test_filter_keeps_small_bandwidths_for_clustered_data(rng):
    centres = 10 * rng.normal(size=(5, 200))
    x, y = (
        centres[rng.integers(0, 5, 50)] + 0.01 * rng.normal(size=(50, 200))
        for _ in range(2)
    )
    assert len(two_sample_test(x, y, n_resamples=1, rng=0).kernels) == 7


def test_small_family_of_few_rows_keeps_the_coarse_kernels():
    kernels = two_sample_test([0.0, 1.0], [2.0, 4.0], rng=0).kernels
    assert [k.bandwidth for k in kernels] == [4.0, 2.0]


def test_lists_of_kernels_and_names(rng):
    x, y = rng.normal(size=(20, 2)), rng.normal(size=(20, 2))
    result = two_sample_test(
        x, y, kernel=["laplace", Gaussian(0.5), "gaussian"], n_resamples=9
    )
    assert [type(k).__name__ for k in result.kernels] == [
        "Laplace",
        "Gaussian",
        "Gaussian",
    ]
    assert result.kernels[1] == Gaussian(0.5)
    median = fastmmd.bandwidth.median_bandwidth(x, y)
    assert result.kernels[2] == Gaussian(median)
    # Weights sum to 1 to the rounding of three terms.
    assert abs(sum(result.shares) - 1.0) < 4 * EPS
    named = two_sample_test(x, y, kernel="gaussian", n_resamples=9)
    assert named.kernels == (Gaussian(median),)


@pytest.mark.parametrize(
    ("kernel", "error", "message"),
    [
        ([], ValueError, "`kernel` must name at least one kernel; got an empty sequence"),
        ("tent", ValueError, "`kernel` must be one of .* got 'tent'"),
        (["gaussian", "tent"], ValueError, "`kernel` must be one of .* got 'tent'"),
        (3.0, TypeError, "`kernel` must be one of .* got 3.0"),
        (Gaussian, TypeError, "`kernel` must be an object, not its class; got Gaussian"),
    ],
)
def test_wrong_kernels_are_refused(kernel, error, message):
    with pytest.raises(error, match=message):
        two_sample_test([0.0, 1.0], [2.0, 3.0], kernel=kernel)


@pytest.mark.parametrize("method", ["exact", "fourier"])
@pytest.mark.parametrize("null", ["permutation", "pearson"])
def test_kernel_value_at_zero_scales_the_statistic_only(method, null, rng):
    x, y = rng.normal(size=(30, 2)), rng.normal(size=(40, 2)) + 0.4
    options = {"method": method, "null": null, "rng": 2}
    plain = two_sample_test(x, y, kernel=Gaussian(1.0), **options)
    double = two_sample_test(x, y, kernel=2.0 * Gaussian(1.0), **options)
    assert double.statistic == pytest.approx(2.0 * plain.statistic, rel=1e-12)
    assert double.confidence_interval == pytest.approx(
        [2.0 * end for end in plain.confidence_interval], rel=1e-9
    )
    assert double.effect_size == pytest.approx(plain.effect_size, rel=1e-12)
    assert double.pvalue == pytest.approx(plain.pvalue, rel=1e-9)
    if null == "permutation":
        assert np.allclose(
            double.null_distribution, 2 * plain.null_distribution, rtol=0, atol=1e-12
        )


def test_kernel_without_values_goes_by_features(rng):
    x, y = rng.normal(size=(30, 2)), rng.normal(size=(40, 2)) + 2.0
    result = two_sample_test(x, y, kernel=fastmmd.SpectralKernel(flat), rng=2)
    assert result.method == "fourier"
    assert result.pvalue == 0.001
    for method in ("exact", "linear", "block"):
        with pytest.raises(fastmmd.UnsupportedKernelError, match="must have a value"):
            two_sample_test(x, y, kernel=fastmmd.SpectralKernel(flat), method=method)
    with_value = fastmmd.SpectralKernel(
        flat, lambda delta: np.sinc(delta / np.pi).prod(-1)
    )
    assert two_sample_test(x, y, kernel=with_value, rng=2).method == "exact"


# ---- data of all kinds


@pytest.mark.parametrize("method", ["auto", "exact", "fourier", "fastfood"])
def test_sparse_rows_are_taken_as_dense_ones(method, rng):
    x, y = (
        scipy.sparse.random_array((n, 60), density=0.05, rng=rng, format="csr")
        for n in (60, 70)
    )
    options = {"kernel": Gaussian(1.0), "n_resamples": 99, "rng": 3}
    sparse = two_sample_test(x, y, method=method, **options)
    assert sparse.method == ("fourier" if method == "auto" else method)
    dense = two_sample_test(x.toarray(), y.toarray(), method=sparse.method, **options)
    # Exact to rounding. Features err by a few roundings of phases below 20, 6e-8 of them
    # each and of either sign, so means of 60 rows and hundreds of frequencies by less than
    # one such rounding; a p-value moves only through near ties.
    assert abs(sparse.statistic - dense.statistic) < 20 * 2.0**-24
    assert abs(sparse.pvalue - dense.pvalue) <= 0.03
    if method == "exact":
        assert abs(sparse.statistic - dense.statistic) < 64 * EPS
        assert sparse.pvalue == dense.pvalue
        mixed = two_sample_test(x, y.toarray(), method=method, **options)
        assert abs(mixed.statistic - dense.statistic) < 64 * EPS


@pytest.mark.parametrize(("shift", "differs"), [(0.0, False), (2.0, True)])
def test_sizes_one_to_a_thousand(shift, differs, rng):
    x, y = rng.normal(size=(20, 2)) + shift, rng.normal(size=(20_000, 2))
    options = {"kernel": ["gaussian", Gaussian(0.5)], "method": fastmmd.Fourier(64)}
    for first, second in ((x, y), (y, x)):
        result = two_sample_test(first, second, n_resamples=199, rng=1, **options)
        # The smaller sample is used up; the larger lends its rows to at most 256 bins.
        used = (result.used_x, result.used_y)
        assert (max(used), result.level_is) == (1.0, "exact")
        assert 0.0 < min(used) < 0.05
        assert result.n_bins <= 256
        assert result.rejects(0.01) == differs


def test_two_rows_each():
    result = two_sample_test([0.0, 1.0], [5.0, 6.0], rng=0)
    # Of six relabellings the observed one and its mirror image are the largest.
    assert result.pvalue == 1 / 3
    assert result.confidence_interval is None
    assert "interval" not in str(result)
    assert json.loads(json.dumps(result.to_dict()))["confidence_interval"] is None
    assert two_sample_test([0.0, 1.0], np.arange(5000.0), rng=0).pvalue > 0.0


@pytest.mark.parametrize(
    ("x", "y"), [([0.0], [1.0, 2.0]), ([1.0, 2.0], [0.0]), ([1.0], [2.0])]
)
@pytest.mark.parametrize("method", ["exact", "linear"])
def test_fewer_rows_are_refused(x, y, method):
    with pytest.raises(fastmmd.UndefinedEstimateError, match="at least 2 rows in each"):
        two_sample_test(x, y, method=method)


@pytest.mark.parametrize("method", ["exact", "fourier", "fastfood"])
@pytest.mark.parametrize("kernel", ["adaptive", "gaussian"])
@pytest.mark.parametrize("null", ["permutation", "gamma", "pearson", "spectrum"])
def test_constant_data_are_alike(method, kernel, null):
    x, y = np.full((30, 3), 0.1), np.full((40, 3), 0.1)
    result = two_sample_test(x, y, method=method, kernel=kernel, null=null, rng=0)
    assert result.pvalue == 1.0
    assert result.effect_size == 0.0
    # Features of equal rows are equal, but cosine and sine are rounded: the square of
    # their length is off by 2 (|c| + |s|) times that, in each of two means.
    length = 2 * np.sqrt(2) * precision.feature_error(0.0, 3, single=True)
    assert abs(result.statistic) < 2 * length
    assert abs(sum(result.shares) - 1.0) < 8 * EPS
    json.dumps(result.to_dict(), allow_nan=False)


def test_duplicated_rows(rng):
    few = rng.normal(size=(6, 2))
    x, y = few[rng.integers(0, 3, 80)], few[rng.integers(0, 3, 90)]
    assert not two_sample_test(x, y, rng=1).rejects(1e-2)
    assert two_sample_test(x, few[rng.integers(3, 6, 90)], rng=1).pvalue == 0.001


def test_constant_columns_change_nothing(rng):
    x, y = rng.integers(0, 9, (30, 2)), rng.integers(0, 9, (40, 2)) + 1
    with_x, with_y = (np.column_stack([z, np.full(len(z), 7)]) for z in (x, y))
    plain, wider = (
        two_sample_test(a, b, n_resamples=99, rng=1)
        for a, b in ((x, y), (with_x, with_y))
    )
    assert plain.to_dict() == wider.to_dict()


def test_integers_lists_and_one_dimension_are_read_as_floats(rng):
    x, y = rng.integers(0, 9, 30), rng.integers(0, 9, 40)
    options = {"n_resamples": 99, "rng": 1}
    plain = two_sample_test(x[:, None].astype(float), y[:, None].astype(float), **options)
    for a, b in ((x, y), (x.tolist(), y.tolist()), (x.astype(np.int8), y[:, None])):
        assert two_sample_test(a, b, **options).to_dict() == plain.to_dict()
    column = x.astype(np.float32)
    assert two_sample_test(column, y, **options).to_dict() == plain.to_dict()


def test_samples_are_not_written_to(rng):
    x, y = rng.normal(size=(30, 2)), rng.normal(size=(40, 2))
    copies = x.copy(), y.copy()
    x.flags.writeable = y.flags.writeable = False
    for method in ("exact", "fourier", "fastfood", "linear", "block"):
        two_sample_test(x, y, method=method, n_resamples=9)
    assert np.array_equal(x, copies[0])
    assert np.array_equal(y, copies[1])


@pytest.mark.slow
def test_memory_is_a_part_of_the_input(rng):
    x, y = rng.normal(size=(120_000, 10)), rng.normal(size=(80_000, 10))
    tracemalloc.start()
    result = two_sample_test(x, y, rng=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.method == "fourier"
    # 27 MB where the data have 16: block, bins' features and relabellings, whatever the
    # number of rows, and a few numbers a row. A copy of the data would not fit.
    assert peak < 2 * (x.nbytes + y.nbytes)


# ---- options


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"n_resamples": 0},
            ValueError,
            "`n_resamples` must be an integer of at least 1",
        ),
        ({"n_resamples": 9.0}, TypeError, "`n_resamples` must be an integer"),
        ({"level": 0.0}, ValueError, "`level` must be a number strictly between 0 and 1"),
        ({"level": 1.0}, ValueError, "`level` must be a number strictly between 0 and 1"),
        (
            {"level": "5 %"},
            TypeError,
            "`level` must be a number strictly between 0 and 1",
        ),
        ({"rng": -1}, ValueError, "`rng` must be None, a non-negative integer"),
        ({"rng": "a"}, TypeError, "`rng` must be None, a non-negative integer"),
        ({"method": "magic"}, ValueError, "`method` must be one of"),
        ({"method": "grid"}, ValueError, "`method` must be exact, .* got Grid"),
        ({"margin": 0.0}, ValueError, "`margin` must be a finite number greater than 0"),
        ({"margin": np.nan}, ValueError, "`margin` must be a finite number"),
        ({"margin": "far"}, TypeError, "`margin` must be a finite number"),
    ],
)
def test_wrong_options_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        two_sample_test([0.0, 1.0, 3.0], [2.0, 3.0, 9.0], **options)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (
            [[1.0, 2.0]] * 3,
            [[1.0]] * 3,
            "`x` and `y` must have the same number of columns",
        ),
        ([1.0, np.nan, 2.0], [1.0, 2.0], "`x` must be finite; got NaN .* first in row 1"),
        ([1.0, 2.0], [1.0, np.inf], "`y` must be finite"),
    ],
)
def test_wrong_samples_are_refused(x, y, message):
    with pytest.raises(ValueError, match=message):
        two_sample_test(x, y)


# ---- a margin


def test_margin_decides_whether_a_difference_matters(rng):
    x, y = rng.normal(size=(300, 1)), rng.normal(size=(300, 1)) + 1.0
    kernel = Gaussian(1.0)
    distance = fastmmd.mmd(x, y, kernel=kernel, method="exact").mmd
    pvalues = {}
    for margin in (1e-6, 0.3 * distance, distance, 1.5 * distance, 1.4):
        result = two_sample_test(x, y, kernel=kernel, margin=margin, rng=0)
        assert (result.margin, result.level_is) == (margin, "asymptotic")
        pvalues[margin] = result.pvalue
    assert list(pvalues.values()) == sorted(pvalues.values())
    assert pvalues[1e-6] < 1e-10
    assert pvalues[0.3 * distance] < 0.01
    # At the margin itself the estimate lies in the middle of its law, which is skewed by
    # at most 1: the tail at the mean of a Pearson curve is then 0.43 to 0.5.
    assert 0.4 < pvalues[distance] < 0.55
    assert pvalues[1.4] > 0.999


def test_margin_is_in_the_unit_of_the_kernel(rng):
    x, y = rng.normal(size=(50, 1)), rng.normal(size=(60, 1)) + 1.0
    plain = two_sample_test(x, y, kernel=Gaussian(1.0), margin=0.3, rng=0)
    four = two_sample_test(x, y, kernel=4.0 * Gaussian(1.0), margin=0.6, rng=0)
    assert four.pvalue == pytest.approx(plain.pvalue, rel=1e-9)
    assert 1e-6 < plain.pvalue < 0.5


def test_margin_reads_as_a_sentence(rng):
    x, y = rng.normal(size=(100, 1)), rng.normal(size=(100, 1)) + 1.0
    far = two_sample_test(x, y, kernel="gaussian", margin=0.05, rng=0)
    assert str(far).startswith(
        "The samples are further apart than an MMD of 0.05 at level 0.05: p = "
    )
    # MMD beside its square: a margin is in units of the first.
    assert f"MMD = {far.statistic**0.5:.3g}, MMD^2 = {far.statistic:.4g}, 95 %" in str(
        far
    )
    near = two_sample_test(x, y, kernel="gaussian", margin=1.0, rng=0)
    assert str(near).startswith(
        "The samples are within an MMD of 1 of each other at level 0.05: p = "
    )
    assert near.confidence_interval[1] < 1.0
    open_ = two_sample_test(x, y, kernel="gaussian", margin=far.statistic**0.5, rng=0)
    assert str(open_).startswith("The samples may or may not be within an MMD of ")
    assert near.to_dict()["margin"] == 1.0
    assert near.n_resamples == 0
    assert near.null_distribution is None


@pytest.mark.parametrize("kernel", ["adaptive", ["gaussian", "laplace"]])
def test_margin_needs_one_kernel(kernel):
    with pytest.raises(ValueError, match="`margin` must be used with one kernel"):
        two_sample_test([0.0, 1.0, 2.0], [2.0, 3.0, 4.0], kernel=kernel, margin=0.1)


@pytest.mark.parametrize("null", ["permutation", "gamma", "normal"])
def test_margin_has_a_null_of_its_own(null):
    with pytest.raises(ValueError, match='`null` must be "auto" with a `margin`'):
        two_sample_test(
            [0.0, 1.0, 2.0], [2.0, 3.0, 4.0], kernel="gaussian", margin=0.1, null=null
        )


@pytest.mark.parametrize("method", ["linear", "block"])
def test_margin_is_not_for_means_of_terms(method):
    with pytest.raises(ValueError, match="must be left out for `Linear` and `Block`"):
        two_sample_test(np.arange(20.0), np.arange(20.0), method=method, margin=0.1)


# ---- the result


def test_result_reads_as_a_sentence(rng):
    x, y = rng.normal(size=(60, 2)), rng.normal(size=(70, 2))
    alike = two_sample_test(x, y, rng=0)
    low, high = alike.confidence_interval
    least, most = alike.effect_interval
    assert str(alike) == (
        f"No difference was found at level 0.05: p = {alike.pvalue:.4g} (permutation, "
        "exact level; n_x = 60, n_y = 70).\n"
        f"Effect size {alike.effect_size:.2g}, 95 % interval {least:.2g} to {most:.2g} "
        f"({alike.kernels[1]}, the reference).\n"
        f"Most telling of {len(alike.kernels)} kernels: {alike.kernel}, MMD^2 = "
        f"{alike.statistic:.4g}, 95 % interval {low:.2g} to {high:.2g} (exact)."
    )
    apart = two_sample_test(x, y + 1, kernel=Gaussian(1.0), level=0.01, rng=0)
    assert str(apart).startswith("The samples differ at level 0.01: p = 0.001, about ")
    assert "99 % interval" in str(apart)
    assert "telling" not in str(apart)
    asymptotic = two_sample_test(x, y, null="gamma", rng=0)
    assert "(gamma, asymptotic level; n_x = 60" in str(asymptotic)


def test_result_goes_to_json(rng):
    x, y = rng.normal(size=(60, 2)), rng.normal(size=(70, 2))
    for options in ({}, {"null": "gamma"}, {"method": "block"}, {"method": "linear"}):
        result = two_sample_test(x, y, rng=0, **options)
        plain = result.to_dict()
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain
        fields = {field.name for field in dataclasses.fields(result)}
        assert set(plain) == fields - {"null_distribution"}
        assert plain["pvalue"] == result.pvalue
        assert plain["kernel"] == repr(result.kernel)


def test_result_answers_for_any_level(rng):
    x, y = rng.normal(size=(60, 2)), rng.normal(size=(70, 2)) + 3
    result = two_sample_test(x, y, kernel="gaussian", level=1e-3, n_resamples=999, rng=0)
    assert result.pvalue == 0.001
    assert result.rejects()  # a p-value equal to the level rejects
    assert result.rejects(0.001)
    with pytest.warns(fastmmd.ResolutionWarning, match="with 999 relabellings is 0.001"):
        assert not result.rejects(0.0009)
    least = two_sample_test(x, y, kernel="gaussian", level=1e-4, rng=0)
    with pytest.warns(fastmmd.ResolutionWarning, match="a level of 0.0001 cannot be"):
        assert not least.rejects()
    for level in (0.0, 1.0, -1.0):
        with pytest.raises(ValueError, match="`level` must be a number strictly between"):
            result.rejects(level)


def test_result_is_frozen_not_iterable_and_short(rng):
    result = two_sample_test(rng.normal(size=20), rng.normal(size=20), rng=0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.pvalue = 0.0
    with pytest.raises(TypeError):
        iter(result)
    assert "array" not in repr(result)
    assert "null_distribution" not in repr(result)
    assert "\n" not in repr(result)
    assert result.null_distribution.shape == (999, len(result.kernels))


@pytest.mark.parametrize("shift", [0.0, 0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("n_resamples", [49, 499])
def test_tail_pvalue_is_given_at_the_limit_of_resolution(shift, n_resamples, rng):
    x, y = rng.normal(size=(40, 1)), rng.normal(size=(50, 1)) + shift
    result = two_sample_test(x, y, n_resamples=n_resamples, rng=0)
    smallest = 1 / (1 + n_resamples)
    assert (result.tail_pvalue is not None) == (result.pvalue == smallest)
    if result.tail_pvalue is not None:
        assert 0.0 < result.tail_pvalue <= smallest
        word = "about" if result.tail_pvalue > 1e-10 else "below"
        assert f", {word} {result.tail_pvalue:.0e} (" in str(result)
    if shift == 4.0:
        assert result.tail_pvalue < 1e-6
    if shift == 0.0:
        assert result.tail_pvalue is None


def test_tail_pvalue_continues_the_resampled_one(rng):
    x, y = rng.normal(size=(60, 1)), rng.normal(size=(60, 1)) + 0.85
    kernel = Gaussian(1.0)
    short = two_sample_test(x, y, kernel=kernel, n_resamples=49, rng=0)
    long = two_sample_test(x, y, kernel=kernel, n_resamples=20_000, rng=0)
    # The long run counts some dozen relabellings; the estimate is right within a factor of
    # 3 there.
    assert 3e-4 < long.pvalue < 0.02
    assert 1 / 3 < short.tail_pvalue / long.pvalue < 3


@pytest.mark.parametrize("shift", [10.0, 1e3])
def test_a_tail_below_what_can_be_resolved_is_a_bound(shift, rng):
    x, y = rng.normal(size=(900, 2)), rng.normal(size=(900, 2)) + shift
    result = two_sample_test(x, y, rng=0)
    assert result.tail_pvalue == 1e-10
    assert "p = 0.001, below 1e-10 (" in str(result)
    assert "p < 1e-10 (" in str(two_sample_test(x, y, null="gamma", rng=0))


def test_a_tail_is_not_below_what_the_rows_allow():
    result = two_sample_test(np.zeros(8), np.full(9, 3.0), kernel="gaussian", rng=1)
    assert result.tail_pvalue == pytest.approx(1 / 24310)


@pytest.mark.parametrize(
    ("n_x", "n_y", "least"), [(3, 3, "0.1"), (2, 2, "0.33"), (2, 5, "0.048")]
)
def test_few_rows_are_said_to_be_too_few(n_x, n_y, least):
    result = two_sample_test(np.arange(n_x), 1e6 + np.arange(n_y), rng=0)
    assert result.smallest_pvalue == pytest.approx(float(least), abs=5e-3)
    text = (
        f"The smallest possible p-value with {n_x} and {n_y} rows is {least}. No difference "
        "could have been found at level 0.05: p = "
    )
    assert str(result).startswith(text) == (result.smallest_pvalue > 0.05)
    assert result.rejects(0.5)


def test_too_few_relabellings_are_said_to_be_too_few():
    result = two_sample_test(np.arange(30), np.arange(30) + 99, n_resamples=9, rng=0)
    assert str(result).startswith(
        "The smallest possible p-value with 9 relabellings is 0.1. No difference could have "
        "been found at level 0.05: p = 0.1, below 1e-10 ("
    )


ONE_DATA_SET = [
    *({"rng": seed} for seed in range(4)),
    *({"n_resamples": n} for n in (99, 20_000)),
    {"null": "gamma"},
]


@pytest.mark.parametrize("sizes", [(100, 150), (3000, 2500)], ids=str)
def test_effect_interval_and_statistic_do_not_depend_on_chance(sizes, rng):
    x, y = (
        rng.normal(level, 1.0, (n, 3)) for level, n in zip((0, 0.15), sizes, strict=True)
    )
    results = [two_sample_test(x, y, **options) for options in ONE_DATA_SET]
    first = results[0]
    for name in (
        *("effect_size", "effect_interval", "reference_kernel", "kernels"),
        *("statistic", "kernel", "confidence_interval"),
    ):
        found = {
            getattr(result, name) for result in results if result.null == "permutation"
        }
        assert len(found) == 1, name
    assert results[-1].effect_size == first.effect_size
    # One group for each row is no grouping: the same effect but for rounding.
    groups = np.arange(sizes[0]), sizes[0] + np.arange(sizes[1])
    grouped = two_sample_test(x, y, groups=groups)
    assert grouped.reference_kernel == first.reference_kernel
    if sum(sizes) <= 256:
        assert grouped.effect_size == pytest.approx(first.effect_size, rel=1e-6)


def test_the_reference_is_the_median_bandwidth_whatever_is_most_telling(rng):
    # Fine waves: the smallest bandwidths tell, the median tells nothing.
    x, y = rng.random((800, 1)), np.round(40 * rng.random((800, 1))) / 40
    result = two_sample_test(x, y, rng=0)
    assert result.kernel.bandwidth < 0.3 * result.reference_kernel.bandwidth
    assert result.reference_kernel.bandwidth == pytest.approx(
        fastmmd.bandwidth.median_bandwidth(x, y, max_rows=1600), rel=0.05
    )
    exact = fastmmd.mmd(x, y, kernel=result.reference_kernel, method="exact").mmd2
    spread = sum(
        1 - (k.sum() - len(k)) / (len(k) * (len(k) - 1))
        for k in (result.reference_kernel.gram(z, z) for z in (x, y))
    )
    if exact > 0:
        expected = np.sqrt(exact / (exact + 2 * spread))
        assert result.effect_size == pytest.approx(expected, rel=1e-6)
    one = two_sample_test(x, y, kernel=fastmmd.Laplace(0.3), rng=0)
    assert one.reference_kernel == one.kernel == fastmmd.Laplace(0.3)


def test_effect_intervals_hold_the_effect(rng):
    for shift in (0.0, 0.1, 0.5, 3.0):
        x, y = rng.normal(size=(400, 2)), rng.normal(size=(300, 2)) + shift
        for options in (
            {},
            {"method": "block"},
            {"groups": (np.arange(400), 400 + np.arange(300))},
        ):
            result = two_sample_test(x, y, rng=0, **options)
            low, high = result.effect_interval
            assert 0.0 <= low <= result.effect_size <= high <= 1.0


def test_complete_enumeration_needs_no_tail():
    # Ten rows against two far away: 66 relabellings, the observed one alone is largest.
    x, y = np.arange(10.0), np.array([900.0, 901.0])
    result = two_sample_test(x, y, kernel=Gaussian(5.0), rng=0)
    assert result.pvalue == 1 / 66
    assert result.tail_pvalue is None
