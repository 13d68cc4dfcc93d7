"""Every pair of method and null distribution: which run, and which are refused."""

from __future__ import annotations

import numpy as np
import pytest
from references import block_sum, linear_sum

import fastmmd
from fastmmd import (
    Block,
    Gamma,
    Gaussian,
    Linear,
    Normal,
    Pearson,
    Permutation,
    Spectrum,
    two_sample_test,
)
from fastmmd.nulls.choices import NULLS, resolve_null

EPS = np.finfo(float).eps
NULL_CHOICES = [
    Permutation(),
    Permutation(rows=True),
    Gamma(),
    Pearson(),
    Spectrum(),
    Spectrum(simulate=True),
]


def pair(rng, n_x, n_y, shift):
    return rng.normal(size=(n_x, 2)), rng.normal(size=(n_y, 2)) + shift


@pytest.mark.parametrize("null", NULL_CHOICES, ids=repr)
@pytest.mark.parametrize("method", ["exact", fastmmd.Fourier(64), fastmmd.Fastfood(64)])
def test_methods_with_kernel_sums_take_every_null_but_normal(method, null, rng):
    options = {"kernel": Gaussian(1.5), "method": method, "null": null, "rng": 3}
    apart = two_sample_test(*pair(rng, 60, 80, 1.0), **options)
    assert apart.method == (method if isinstance(method, str) else method.name)
    assert apart.null == null.name
    exact = isinstance(null, Permutation)
    assert apart.level_is == ("exact" if exact else "asymptotic")
    drawn = exact or null == Spectrum(simulate=True)
    assert apart.n_resamples == (999 if drawn else 0)
    assert 0.0 < apart.pvalue <= 0.001
    assert (apart.null_distribution is not None) == exact
    alike = two_sample_test(*pair(rng, 60, 80, 0.0), **options)
    assert alike.pvalue > 1e-3


@pytest.mark.parametrize("null", NULL_CHOICES[1:], ids=repr)
def test_nulls_agree_on_one_pvalue(null, rng):
    x, y = pair(rng, 150, 170, 0.02)
    options = {"kernel": Gaussian(1.5), "method": "exact"}
    reference = two_sample_test(x, y, n_resamples=4000, rng=1, **options).pvalue
    assert 0.01 < reference < 0.5
    got = two_sample_test(x, y, null=null, n_resamples=4000, rng=2, **options).pvalue
    # Two runs of 4000: 4.9 standard errors. The gamma law is liberal in the tail, by less
    # than a hundredth at these levels.
    error = 4.9 * np.sqrt(2 * reference * (1 - reference) / 4000)
    assert abs(got - reference) < error + 0.01


@pytest.mark.parametrize(
    "null", [Permutation(), Gamma(), Pearson(), Spectrum()], ids=repr
)
def test_nulls_take_bins_and_families(null, rng):
    x, y = pair(rng, 1500, 900, 0.5)
    kernels = [Gaussian(1.0), Gaussian(3.0)]
    result = two_sample_test(x, y, kernel=kernels, method="fourier", null=null, rng=0)
    assert result.pvalue <= 0.001
    assert result.n_bins <= 258  # 256 and what is left over in each sample
    assert result.kernels == tuple(kernels)
    assert abs(sum(result.shares) - 1.0) < 4 * EPS


def test_family_of_an_analytic_null_pays_for_the_choice(rng):
    x, y = pair(rng, 50, 60, 0.4)
    kernels = [Gaussian(s) for s in (0.5, 1.0, 2.0)]
    options = {"method": "exact", "null": "pearson", "rng": 0}
    single = [two_sample_test(x, y, kernel=k, **options).pvalue for k in kernels]
    family = two_sample_test(x, y, kernel=kernels, **options)
    assert family.pvalue == pytest.approx(min(1.0, 3 * min(single)), rel=1e-9)
    assert family.kernel == kernels[int(np.argmin(single))]


def test_rows_are_relabelled_one_by_one_where_asked(rng):
    x, y = pair(rng, 400, 300, 0.0)
    options = {"kernel": Gaussian(1.0), "method": "exact", "n_resamples": 9, "rng": 0}
    assert two_sample_test(x, y, null=Permutation(rows=True), **options).n_bins == 700
    bins = two_sample_test(x, y, null=Permutation(), **options)
    assert bins.n_bins <= 256
    # Analytic nulls see the full kernel matrix of so few rows.
    assert two_sample_test(x, y, null="gamma", **options).n_bins == 700


@pytest.mark.parametrize("null", ["auto", "normal", Normal()])
@pytest.mark.parametrize(("n_x", "n_y"), [(40, 40), (50, 41)])
def test_means_of_terms_take_the_normal_null(null, n_x, n_y, rng):
    x, y = pair(rng, n_x, n_y, 0.3)
    kernel = 2.0 * Gaussian(1.0)
    linear = two_sample_test(x, y, kernel=kernel, method="linear", null=null)
    assert abs(linear.statistic - linear_sum(kernel, x, y)) < 64 * EPS
    assert (linear.method, linear.null, linear.n_bins) == ("linear", "normal", 20)
    block = two_sample_test(x, y, kernel=kernel, method=Block(5), null=null)
    assert abs(block.statistic - block_sum(kernel, x, y, 5)) < 64 * EPS
    assert (block.method, block.null, block.n_bins) == ("block", "normal", 8)
    for result in (linear, block):
        assert result.level_is == "asymptotic"
        assert result.n_resamples == 0
        assert result.kernels == (kernel,)
        low, high = result.confidence_interval
        assert 0.0 <= low <= max(result.statistic, 0.0) <= high


@pytest.mark.parametrize("method", [Linear(), Block()], ids=repr)
def test_means_of_terms_find_a_difference(method, rng):
    x, y = pair(rng, 900, 1000, 1.0)
    apart = two_sample_test(x, y, method=method, rng=0)
    assert apart.pvalue < 1e-4
    assert 0.0 < apart.effect_size < 1.0
    # One kernel, at the median distance: there is nothing to choose it by.
    median = fastmmd.bandwidth.median_bandwidth(x, y, rng=np.random.default_rng(0))
    assert apart.kernel.bandwidth == pytest.approx(median, rel=0.1)


@pytest.mark.parametrize("method", ["linear", "block"])
@pytest.mark.parametrize("null", ["permutation", "gamma", "pearson", "spectrum"])
def test_means_of_terms_refuse_other_nulls(method, null):
    message = f'`null` must be "normal" for `{method.title()}`; got "{null}"'
    with pytest.raises(ValueError, match=message):
        two_sample_test(np.arange(20.0), np.arange(20.0), method=method, null=null)


@pytest.mark.parametrize("method", ["linear", "block"])
def test_means_of_terms_refuse_families_and_too_few_rows(method):
    with pytest.raises(ValueError, match="`kernel` must be one kernel for"):
        two_sample_test(
            np.arange(20.0), np.arange(20.0), method=method, kernel=[Gaussian(1.0)]
        )
    with pytest.raises(fastmmd.UndefinedEstimateError, match="at least two pairs or bl"):
        two_sample_test(np.arange(3.0), np.arange(3.0), method=method)


@pytest.mark.parametrize("method", ["auto", "exact", "fourier", "fastfood"])
def test_kernel_sums_refuse_the_normal_null(method):
    message = '`null` must be "permutation", .*got "normal", which is for `Linear`'
    with pytest.raises(ValueError, match=message):
        two_sample_test(np.arange(9.0), np.arange(9.0), method=method, null="normal")


def test_fastfood_refuses_kernels_that_prefer_a_direction(rng):
    with pytest.raises(fastmmd.UnsupportedKernelError, match="`kernel` must be radial"):
        two_sample_test(
            *pair(rng, 9, 9, 0.0), kernel=fastmmd.Laplace(1.0), method="fastfood"
        )


def test_names_stand_for_nulls():
    assert resolve_null("auto") is None
    for name, null in NULLS.items():
        assert resolve_null(name) == null()
        assert null.name == name
        assert resolve_null(null()) == null()
    assert resolve_null(Permutation(rows=True)).rows


@pytest.mark.parametrize(
    ("null", "error", "message"),
    [
        ("bootstrap", ValueError, "`null` must be one of \"auto\", .* got 'bootstrap'"),
        (None, TypeError, '`null` must be one of "auto", "permutation"'),
        (Gamma, TypeError, "`null` must be an object, not its class; got Gamma"),
    ],
)
def test_wrong_nulls_are_refused(null, error, message):
    with pytest.raises(error, match=message):
        two_sample_test([0.0, 1.0], [2.0, 3.0], null=null)
