"""The test of several samples."""

from __future__ import annotations

import dataclasses
import itertools
import json

import numpy as np
import pytest
import scipy.sparse
from references import double_sum
from scipy.stats import binom

import fastmmd
from fastmmd import Gaussian, k_sample_test, two_sample_test

EPS = np.finfo(float).eps
TIE = 1e-9


def weighted_sum(kernel, samples):
    """Return the statistic by its definition: all pairs, weighted by their sizes."""
    total = sum(len(sample) for sample in samples)
    return sum(
        len(a) * len(b) / total * double_sum(kernel, a, b, "unbiased")
        for a, b in itertools.combinations(samples, 2)
    )


def splits(names, sizes):
    """Yield every way to split `names` into sets of these sizes."""
    if len(sizes) == 1:
        yield (tuple(names),)
        return
    for chosen in itertools.combinations(names, sizes[0]):
        rest = [name for name in names if name not in chosen]
        for others in splits(rest, sizes[1:]):
            yield (chosen, *others)


@pytest.mark.parametrize("method", ["exact", fastmmd.Fourier(64)])
@pytest.mark.parametrize(("n_x", "n_y"), [(7, 9), (60, 90), (700, 300)])
def test_two_samples_are_the_two_sample_test(method, n_x, n_y, rng):
    x, y = rng.normal(size=(n_x, 2)), rng.normal(size=(n_y, 2)) + 0.3
    options = {"kernel": 2.0 * Gaussian(1.0), "method": method, "rng": 3}
    two = two_sample_test(x, y, n_resamples=500, **options)
    many = k_sample_test(x, y, n_resamples=500, **options)
    factor = n_x * n_y / (n_x + n_y)
    # Sums over n^2 pairs divided by n, so rounding is n times that of a mean.
    assert abs(many.statistic - factor * two.statistic) < 64 * EPS * (n_x + n_y)
    assert abs(many.mmd2[0, 1] - two.statistic) < 64 * EPS
    # Both estimate one p-value from 500 relabellings: 4.9 standard errors.
    p = (two.pvalue + many.pvalue) / 2
    assert abs(many.pvalue - two.pvalue) <= 4.9 * np.sqrt(2 * p * (1 - p) / 500) + 1 / 500
    assert (many.kernels, many.method) == (two.kernels, two.method)


@pytest.mark.parametrize("discrete", [False, True], ids=["continuous", "ties"])
def test_pvalue_of_three_samples_is_the_share_of_relabellings(discrete, rng):
    kernel, sizes = Gaussian(1.0), (2, 3, 2)
    z = rng.normal(size=(7, 1)) + np.repeat([0.0, 0.5, 1.0], sizes)[:, None]
    z = np.round(z) if discrete else z
    values = np.array(
        [
            weighted_sum(kernel, [z[list(part)] for part in split])
            for split in splits(range(7), sizes)
        ]
    )
    observed = weighted_sum(kernel, np.split(z, [2, 5]))
    exact = np.mean(values >= observed - TIE)
    n_resamples = 3000
    result = k_sample_test(
        *np.split(z, [2, 5]), kernel=kernel, n_resamples=n_resamples, rng=1
    )
    assert abs(result.statistic - observed) < 64 * EPS * 7
    # 4.9 standard errors, and one for the observed labels.
    error = 4.9 * np.sqrt(exact * (1 - exact) / n_resamples) + 1 / n_resamples
    assert 0.0 < exact < 1.0
    assert abs(result.pvalue - exact) < error


def test_pairs_have_their_own_mmd(rng):
    samples = [rng.normal(size=(n, 2)) + 0.2 * n for n in (5, 9, 6, 7)]
    kernel = 2.0 * fastmmd.Laplace(1.0)
    result = k_sample_test(*samples, kernel=kernel, method="exact", n_resamples=9)
    assert result.mmd2.shape == (4, 4)
    for i, j in itertools.product(range(4), repeat=2):
        expected = 0.0
        if i != j:
            options = {"kernel": kernel, "method": "exact"}
            expected = fastmmd.mmd(samples[i], samples[j], **options).mmd2
        assert abs(result.mmd2[i, j] - expected) < 128 * EPS
    assert result.sizes == (5, 9, 6, 7)


def test_level_is_exact_with_ties(rng):
    # As for two samples: with 20 relabellings p <= 0.05 has chance at most 1 / 21.
    runs = 300
    total = sum(
        k_sample_test(
            *(rng.integers(0, 4, n) for n in (4, 5, 6)), n_resamples=20, rng=rng
        ).pvalue
        <= 0.05
        for _ in range(runs)
    )
    assert total <= binom.isf(1e-6, runs, 1 / 21)


def test_family_is_chosen_from_pooled_rows(rng):
    z = rng.normal(size=(90, 2))
    found = {
        k_sample_test(*np.split(z, at), n_resamples=1, rng=0).kernels
        for at in ([30, 60], [2, 4], [10, 40, 50])
    }
    assert found == {two_sample_test(z[:9], z[9:], n_resamples=1, rng=0).kernels}


def test_many_rows_go_to_bins(rng):
    samples = [rng.normal(size=(n, 2)) for n in (500, 800, 300)]
    alike = k_sample_test(*samples, n_resamples=199, method="fourier", rng=0)
    assert not alike.rejects(0.01)
    samples[2] += 1.0
    apart = k_sample_test(*samples, n_resamples=199, method="fourier", rng=0)
    assert apart.pvalue == 1 / 200


def test_sparse_samples_and_mixtures_with_dense_ones(rng):
    parts = [
        scipy.sparse.random_array((n, 30), density=0.2, rng=rng, format="csr")
        for n in (20, 30, 25)
    ]
    dense = [part.toarray() for part in parts]
    options = {"method": "exact", "n_resamples": 50, "rng": 0}
    expected = k_sample_test(*dense, **options)
    for samples in (parts, [dense[0], *parts[1:]], [parts[0], dense[1], parts[2]]):
        got = k_sample_test(*samples, **options)
        assert abs(got.statistic - expected.statistic) < 1e-12
        assert got.pvalue == expected.pvalue
    assert k_sample_test(*parts, n_resamples=9, rng=0).method == "fourier"


def test_constant_samples_are_alike():
    result = k_sample_test(np.ones(5), np.ones(6), np.ones(7), n_resamples=19, rng=0)
    assert result.pvalue == 1.0
    assert abs(sum(result.shares) - 1.0) < 8 * EPS


def test_same_seed_same_result(rng):
    samples = [rng.normal(size=(n, 2)) for n in (20, 30, 25)]
    one, again, other = (k_sample_test(*samples, rng=seed) for seed in (1, 1, 2))
    assert one.to_dict() == again.to_dict()
    assert one.pvalue != other.pvalue


def test_result(rng):
    a, b, c = rng.normal(size=(3, 30, 2))
    result = k_sample_test(a, b, c + 2.0, kernel=Gaussian(1.0), level=0.01, rng=0)
    assert result.pvalue == 0.001
    first = int(np.argmax(result.mmd2[2]))
    assert str(result) == (
        "The 3 samples differ at level 0.01: p = 0.001 (permutation, exact level; "
        "n = 30, 30, 30).\n"
        f"Furthest apart: samples {first} and 2, MMD^2 = {result.mmd2.max():.4g} "
        f"(exact, {result.kernel})."
    )
    assert result.rejects()
    assert not result.rejects(0.0009)
    with pytest.raises(ValueError, match="`level` must be a number strictly between"):
        result.rejects(0.0)
    assert str(k_sample_test(a, b, c, rng=0)).startswith("The 3 samples show no differ")
    plain = result.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert set(plain) == {field.name for field in dataclasses.fields(result)}
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.pvalue = 0.0
    with pytest.raises(TypeError):
        iter(result)
    assert "array" not in repr(result)


@pytest.mark.parametrize(
    ("samples", "options", "error", "message"),
    [
        ([], {}, TypeError, "`samples` must be at least 2; got 0"),
        ([[1.0, 2.0]], {}, TypeError, "`samples` must be at least 2; got 1"),
        (
            [np.ones((3, 1)), np.ones((3, 2)), np.ones((3, 1))],
            {},
            ValueError,
            r"same number of columns; got shapes \(3, 1\), \(3, 2\), \(3, 1\)",
        ),
        (
            [[1.0, 2.0], [1.0], [1.0, 2.0]],
            {},
            fastmmd.UndefinedEstimateError,
            "at least 2 rows in each sample; got 2 and 1 and 2",
        ),
        (
            [[1.0, 2.0], [1.0, np.nan]],
            {},
            ValueError,
            r"`samples\[1\]` must be finite",
        ),
        ([[1.0, 2.0]] * 3, {"method": "linear"}, ValueError, "`method` must be exact"),
        ([[1.0, 2.0]] * 3, {"method": "grid"}, ValueError, "`method` must be exact"),
        (
            [[1.0, 2.0]] * 3,
            {"n_resamples": 0},
            ValueError,
            "`n_resamples` must be an int",
        ),
        ([[1.0, 2.0]] * 3, {"level": 2.0}, ValueError, "`level` must be a number"),
        ([[1.0, 2.0]] * 3, {"kernel": []}, ValueError, "`kernel` must name at least one"),
    ],
)
def test_wrong_arguments_are_refused(samples, options, error, message):
    with pytest.raises(error, match=message):
        k_sample_test(*samples, **options)
