"""Every method against the double sum, closed forms and each other."""

from __future__ import annotations

import json
import math
import tracemalloc
import warnings

import numpy as np
import precision
import pytest
import scipy.sparse
from references import block_sum, double_sum, feature_sum, gaussian_mmd2, linear_sum

import fastmmd
from fastmmd import mmd

EPS = np.finfo(float).eps
FIVE_SIGMA = 4.9  # about one false alarm in 10^6 comparisons

KERNELS = [
    fastmmd.Gaussian(1.3),
    fastmmd.Laplace(1.3),
    fastmmd.Matern(1.3, nu=0.5),
    fastmmd.Matern(1.3, nu=1.5),
    fastmmd.Matern(1.3, nu=0.8),
    fastmmd.RationalQuadratic(1.3, alpha=0.5),
    fastmmd.Cauchy(1.3),
    fastmmd.Mixture([fastmmd.Gaussian(0.5), fastmmd.Laplace(2.0)], [1.0, 2.0]),
    2.0 * fastmmd.Gaussian(1.3),
    fastmmd.SpectralKernel(
        lambda n, d, rng: rng.uniform(-1, 1, (n, d)),
        lambda delta: np.sinc(delta / np.pi).prod(axis=-1),
    ),
]


def samples(rng, n_x, n_y, n_columns):
    x = rng.normal(size=(n_x, n_columns))
    y = 1.2 * rng.normal(size=(n_y, n_columns)) + 0.4
    return x, y


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
@pytest.mark.parametrize(
    ("n_x", "n_y", "n_columns"), [(2, 2, 1), (7, 12, 3), (12, 5, 20)]
)
def test_exact_is_the_double_sum(kernel, estimator, n_x, n_y, n_columns, rng):
    x, y = samples(rng, n_x, n_y, n_columns)
    expected = double_sum(kernel, x, y, estimator)
    got = mmd(x, y, kernel=kernel, method="exact", estimator=estimator).mmd2
    # Both are differences of means of size K(0), each value right to a few ulp.
    assert abs(got - expected) < 64 * EPS * kernel.at_zero


@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
@pytest.mark.parametrize("n_columns", [3, 40])
def test_exact_does_not_depend_on_the_workspace(estimator, n_columns, rng):
    x, y = samples(rng, 300, 500, n_columns)
    kernel = fastmmd.Gaussian(2.0)
    values = [
        mmd(x, y, kernel=kernel, method=fastmmd.Exact(size), estimator=estimator).mmd2
        for size in (2**16, 2**20, 2**26)
    ]
    assert np.ptp(values) < 16 * EPS


def test_exact_keeps_close_pairs_accurate_far_from_the_origin(rng):
    # Rows 1e6 away from 0 with differences of size 1: the naive product of rows would err
    # by 1e12 eps = 1e-4 in each squared distance. Halves are exact in binary.
    for n_columns in (2, 40):
        x, y = (rng.integers(-8, 9, (30, n_columns)) / 2 for _ in range(2))
        kernel = fastmmd.Matern(3.0, nu=0.5)
        near = mmd(x, y, kernel=kernel, method="exact").mmd2
        far = mmd(x + 2.0**20, y + 2.0**20, kernel=kernel, method="exact").mmd2
        assert abs(near - far) < 64 * EPS


@pytest.mark.parametrize("n_columns", [2, 40])
def test_equal_rows_are_at_distance_zero(n_columns, rng):
    # exp(-r) is steep at 0: an error of 1e-15 in r^2 would show as 3e-8.
    x = np.repeat(rng.normal(size=(1, n_columns)), 50, axis=0)
    kernel = fastmmd.Matern(1.0, nu=0.5)
    assert mmd(x, x[:30], kernel=kernel, method="exact").mmd2 == 0.0


def test_exact_memory_is_bounded(rng):
    # The matrix of pairs would be 800 MB.
    x = rng.normal(size=(10_000, 2))
    method = fastmmd.Exact(workspace=2**22)
    tracemalloc.start()
    mmd(x, x[:100], kernel=fastmmd.Gaussian(1.0), method=method, estimator="biased")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**22 + 2**20


@pytest.mark.parametrize("kernel", KERNELS[:9], ids=repr)
def test_exact_takes_sparse_rows(kernel, rng):
    x, y = (
        scipy.sparse.random_array(
            (n, 60), density=0.1, rng=rng, format="csr", data_sampler=rng.random
        )
        for n in (40, 60)
    )
    x = scipy.sparse.vstack([x, x[:5]], format="csr")  # duplicates: distance 0
    for estimator in ("biased", "unbiased"):
        options = {"kernel": kernel, "method": "exact", "estimator": estimator}
        dense = mmd(x.toarray(), y.toarray(), **options).mmd2
        assert abs(mmd(x, y, **options).mmd2 - dense) < 64 * EPS * kernel.at_zero
        assert (
            abs(mmd(x, y.toarray(), **options).mmd2 - dense) < 64 * EPS * kernel.at_zero
        )


@pytest.mark.parametrize(
    "method",
    [
        fastmmd.Fourier(64, precision="double"),
        fastmmd.Fastfood(64, precision="double"),
        fastmmd.Fourier(64),
        fastmmd.Fastfood(64),
        fastmmd.Linear(),
        fastmmd.Block(),
    ],
    ids=repr,
)
def test_other_methods_take_sparse_rows(method, rng):
    x, y = (
        scipy.sparse.random_array((n, 30), density=0.2, rng=rng, format="csr")
        for n in (40, 60)
    )
    options = {"kernel": fastmmd.Gaussian(1.0), "method": method, "rng": 5}
    dense = mmd(x.toarray(), y.toarray(), **options).mmd2
    # Phases are at most 30 and are not centred when sparse: 30 * 30 eps each.
    bound = 1000 * EPS
    if getattr(method, "precision", None) == "auto":
        # In single precision, twice, as dense rows are centred.
        feature = precision.feature_error(30 / (2 * np.pi), 30, single=True)
        bound = 2 * precision.mmd2_error(feature, n_rows=40)
    assert abs(mmd(x, y, **options).mmd2 - dense) < bound


@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
@pytest.mark.parametrize("algorithm", ["features", "amplitudes"])
@pytest.mark.parametrize("at_zero", [1.0, 2.0])
def test_fourier_with_given_frequencies_is_the_feature_sum(
    estimator, algorithm, at_zero, rng
):
    x, y = samples(rng, 30, 45, 4)
    frequencies = rng.normal(size=(17, 4))
    expected = feature_sum(frequencies, at_zero, x, y, estimator)
    got = mmd(
        x,
        y,
        kernel=at_zero * fastmmd.Gaussian(1.0),
        method=fastmmd.Fourier(frequencies=frequencies, algorithm=algorithm),
        estimator=estimator,
    )
    assert abs(got.mmd2 - expected) < 64 * EPS * at_zero
    assert got.n_frequencies == 17


def test_both_algorithms_agree_to_rounding_on_the_same_draw(rng):
    x, y = samples(rng, 100, 80, 3)
    for estimator in ("biased", "unbiased"):
        values = [
            mmd(
                x,
                y,
                kernel=fastmmd.Gaussian(1.0),
                method=fastmmd.Fourier(500, algorithm=algorithm),
                estimator=estimator,
                rng=3,
            ).mmd2
            for algorithm in ("features", "amplitudes")
        ]
        assert abs(values[0] - values[1]) < 32 * EPS


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
@pytest.mark.parametrize("method", [fastmmd.Fourier(128), fastmmd.Fastfood(128)])
def test_random_methods_are_unbiased_over_seeds(kernel, estimator, method, rng):
    if method.name == "fastfood" and not kernel.is_radial:
        pytest.skip("Fastfood takes radial kernels only")
    x, y = samples(rng, 40, 25, 3)
    exact = mmd(x, y, kernel=kernel, method="exact", estimator=estimator).mmd2
    values = np.array(
        [
            mmd(x, y, kernel=kernel, method=method, estimator=estimator, rng=child).mmd2
            for child in rng.spawn(100)
        ]
    )
    error = values.std(ddof=1) / math.sqrt(len(values))
    assert abs(values.mean() - exact) < FIVE_SIGMA * error


@pytest.mark.parametrize(
    "method",
    [
        fastmmd.Fourier(256, sampling="iid"),
        fastmmd.Fourier(256, sampling="orthogonal"),
        fastmmd.Fourier(256, sampling="sobol"),
        fastmmd.Fastfood(256),
    ],
    ids=repr,
)
def test_standard_error_is_the_spread_over_seeds(method, rng):
    x, y = samples(rng, 60, 60, 4)
    estimates = [
        mmd(x, y, kernel=fastmmd.Gaussian(2.0), method=method, rng=child)
        for child in rng.spawn(400)
    ]
    spread = np.std([estimate.mmd2 for estimate in estimates])
    reported = np.sqrt(np.mean([estimate.standard_error**2 for estimate in estimates]))
    # The spread of 400 values is known to 1 / sqrt(800) = 3.5 %, five times that is 18 %;
    # 8 groups give a variance with 7 degrees of freedom, averaged over 400 runs: 2.7 %.
    assert 0.75 < reported / spread < 1.35


def test_few_orthogonal_blocks_overstate_the_error_rather_than_hide_it(rng):
    x, y = samples(rng, 40, 40, 32)
    estimates = [
        mmd(x, y, kernel=fastmmd.Gaussian(8.0), method=fastmmd.Fourier(64), rng=child)
        for child in rng.spawn(200)
    ]
    spread = np.std([estimate.mmd2 for estimate in estimates])
    reported = np.sqrt(np.mean([estimate.standard_error**2 for estimate in estimates]))
    assert reported > 0.85 * spread


@pytest.mark.parametrize("method", [fastmmd.Fourier, fastmmd.Fastfood])
def test_tolerance_adds_frequencies_until_it_is_met(method, rng):
    x, y = samples(rng, 200, 300, 6)
    options = {"kernel": fastmmd.Gaussian(2.0), "rng": 1}
    loose = mmd(x, y, method=method(64, tolerance=0.2), **options)
    tight = mmd(x, y, method=method(64, tolerance=0.02), **options)
    assert loose.standard_error <= 0.2 * loose.mmd2
    assert tight.standard_error <= 0.02 * tight.mmd2
    assert tight.n_frequencies > loose.n_frequencies >= 64


def test_tolerance_gives_up_with_a_warning(rng):
    x, y = rng.normal(size=(2, 50, 3))
    method = fastmmd.Fourier(64, tolerance=1e-6, max_frequencies=200)
    with pytest.warns(fastmmd.ToleranceWarning, match="after 200 frequencies"):
        estimate = mmd(x, y, kernel=fastmmd.Gaussian(1.0), method=method, rng=0)
    assert estimate.n_frequencies == 200


def test_linear_and_block_follow_the_row_order(rng):
    x, y = samples(rng, 23, 31, 2)
    kernel = fastmmd.Gaussian(1.0)
    got = mmd(x, y, kernel=kernel, method="linear").mmd2
    assert abs(got - linear_sum(kernel, x, y)) < 16 * EPS
    for size in (2, 4, 5, 23):
        got = mmd(x, y, kernel=kernel, method=fastmmd.Block(size)).mmd2
        assert abs(got - block_sum(kernel, x, y, size)) < 32 * EPS
    # The default block is the root of the shorter sample, rounded down: 4 of 23.
    default = mmd(x, y, kernel=kernel, method="block")
    assert default.mmd2 == mmd(x, y, kernel=kernel, method=fastmmd.Block(4)).mmd2
    assert default.settings == fastmmd.Block(4)


def test_linear_in_small_steps_equals_one_step(monkeypatch, rng):
    x, y = samples(rng, 41, 41, 2)
    kernel = fastmmd.Gaussian(1.0)
    whole = mmd(x, y, kernel=kernel, method="linear").mmd2
    monkeypatch.setattr("fastmmd.estimators.linear._BLOCK_ELEMENTS", 8)
    assert mmd(x, y, kernel=kernel, method="linear").mmd2 == pytest.approx(
        whole, rel=1e-14
    )


@pytest.mark.parametrize("method", ["exact", "fourier", "fastfood", "linear", "block"])
def test_unbiased_estimates_center_on_the_closed_form(method, rng):
    shift = np.array([0.5, 0.0])
    truth = gaussian_mmd2(shift, 1.0, 1.5, 1.2)
    kernel = fastmmd.Gaussian(1.2)
    values = []
    for child in rng.spawn(400):
        x = child.normal(size=(16, 2))
        y = shift + math.sqrt(1.5) * child.normal(size=(25, 2))
        values.append(mmd(x, y, kernel=kernel, method=method, rng=child).mmd2)
    error = np.std(values, ddof=1) / math.sqrt(len(values))
    assert abs(np.mean(values) - truth) < FIVE_SIGMA * error


@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
@pytest.mark.parametrize(
    ("kernel", "n_columns"),
    [
        (fastmmd.Gaussian(1.0), 1),
        (fastmmd.Gaussian(1.0), 2),
        (fastmmd.Gaussian(2.0), 3),
        (2.0 * fastmmd.Gaussian(0.3), 1),
        (fastmmd.RationalQuadratic(2.0, alpha=0.5), 1),
        (fastmmd.RationalQuadratic(2.0, alpha=0.5), 2),
        (fastmmd.Cauchy(2.0), 2),
        (fastmmd.Matern(2.0, nu=3.5), 1),
    ],
    ids=str,
)
def test_grid_equals_exact(kernel, n_columns, estimator, rng):
    x, y = samples(rng, 150, 220, n_columns)
    options = {"kernel": kernel, "estimator": estimator}
    exact = mmd(x, y, method="exact", **options).mmd2
    grid = mmd(x, y, method="grid", **options)
    # Each part of the error is held at 1e-13 of K(0): series, transform of x, of y.
    assert abs(grid.mmd2 - exact) < 1e-12 * kernel.at_zero
    assert grid.standard_error is None


def test_grid_handles_offsets_constant_columns_and_tiny_or_huge_bandwidths(rng):
    x, y = samples(rng, 50, 60, 2)
    x[:, 1] = y[:, 1] = 7.0
    for data_x, data_y in ((x, y), (x + 1e5, y + 1e5)):
        for bandwidth in (0.05, 1.0, 1e4):
            kernel = fastmmd.Gaussian(bandwidth)
            exact = mmd(data_x, data_y, kernel=kernel, method="exact").mmd2
            grid = mmd(data_x, data_y, kernel=kernel, method="grid").mmd2
            # 1e5 away from 0 the data themselves carry 1e-11 of rounding.
            assert abs(grid - exact) < 1e-12 + 1e-10 * (data_x is not x)


def test_grid_error_follows_its_tolerance(rng):
    x, y = samples(rng, 100, 100, 2)
    kernel = fastmmd.Gaussian(0.5)
    exact = mmd(x, y, kernel=kernel, method="exact").mmd2
    sizes = []
    for tolerance in (1e-2, 1e-6, 1e-9):
        grid = mmd(x, y, kernel=kernel, method=fastmmd.Grid(tolerance))
        assert abs(grid.mmd2 - exact) < tolerance
        sizes.append(grid.n_frequencies)
    assert sizes[0] < sizes[1] < sizes[2]


@pytest.mark.parametrize(
    "kernel", [fastmmd.Laplace(1.0), fastmmd.Matern(1.0, nu=0.5), fastmmd.Gaussian(1e-7)]
)
def test_grid_refuses_what_it_cannot_do(kernel, rng):
    x, y = samples(rng, 30, 30, 2)
    with pytest.raises(
        fastmmd.UnsupportedKernelError, match="must need fewer frequencies"
    ):
        mmd(x, y, kernel=kernel, method="grid")


@pytest.mark.parametrize("method", ["exact", "fourier", "fastfood", "grid"])
def test_one_row_is_enough_for_the_biased_estimate(method):
    kernel = fastmmd.Gaussian(1.0)
    estimate = mmd(
        [[0.0]], [[1.0]], kernel=kernel, method=method, estimator="biased", rng=0
    )
    expected = 2.0 - 2.0 * math.exp(-0.5)
    slack = 1e-9 if estimate.standard_error is None else 5 * estimate.standard_error
    assert abs(estimate.mmd2 - expected) < slack


@pytest.mark.parametrize("n_frequencies", [1, 3])
def test_a_handful_of_frequencies_works(n_frequencies, rng):
    x, y = samples(rng, 5, 6, 2)
    for method in (fastmmd.Fourier(n_frequencies), fastmmd.Fastfood(n_frequencies)):
        estimate = mmd(x, y, kernel=fastmmd.Gaussian(1.0), method=method, rng=0)
        assert estimate.n_frequencies == n_frequencies
        assert (estimate.standard_error is None) == (n_frequencies == 1)


def test_result_reads_as_text_and_as_json(rng):
    x, y = samples(rng, 30, 40, 2)
    estimate = mmd(x, y, method="fourier", rng=0)
    text = str(estimate)
    for part in ("MMD = ", "unbiased", "fourier with 1024 frequencies", "n_x = 30"):
        assert part in text
    fields = json.loads(json.dumps(estimate.to_dict()))
    assert fields["mmd2"] == estimate.mmd2
    assert fields["method"] == "fourier"
    assert estimate.mmd == math.sqrt(estimate.mmd2)


def test_negative_estimates_have_root_zero_and_say_why():
    estimate = mmd([0.0, 1.0], [0.0, 1.0], kernel=fastmmd.Gaussian(1.0), method="exact")
    assert estimate.mmd2 < 0.0
    assert estimate.mmd == 0.0
    assert "below 0 by chance" in str(estimate)


def test_same_seed_same_answer_and_frequencies_do_not_move_with_the_bandwidth_draw(rng):
    x, y = rng.normal(size=(2, 3000, 2))
    first, again = (mmd(x, y, method="fourier", rng=7) for _ in range(2))
    assert first.mmd2 == again.mmd2
    assert first.kernel == again.kernel
    # The bandwidth has its own stream, so giving it leaves the frequencies as they were.
    given = mmd(x, y, kernel=first.kernel, method="fourier", rng=7)
    assert given.mmd2 == first.mmd2


def test_no_warnings_on_extreme_but_valid_data():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for method in ("exact", "fourier", "fastfood", "grid"):
            for x, y in (([1e-300, 0.0], [0.0, 1e-300]), ([1e150, 0.0], [0.0, -1e150])):
                kernel = fastmmd.Gaussian(max(abs(x[0]), abs(y[1]), 1e-150))
                mmd(x, y, kernel=kernel, method=method, rng=0)
