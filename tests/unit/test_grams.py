"""Kernel sums between bins against sums over pairs of rows."""

from __future__ import annotations

import numpy as np
import precision
import pytest
import scipy.sparse

import fastmmd
from fastmmd._rows import Rows, check_rows
from fastmmd._twosample.grams import (
    BinnedSamples,
    exact_grams,
    feature_grams,
    has_values,
)
from fastmmd.estimators.spectral import reference_point
from fastmmd.frequencies import draw_family

EPS = np.finfo(float).eps

FAMILIES = {
    "one": [fastmmd.Gaussian(1.3)],
    "halvings": [fastmmd.Gaussian(2.6 / 2**k) for k in range(5)],
    "unordered": [fastmmd.Gaussian(s) for s in (0.5, 3.0, 1.0, 0.7)],
    "mixed": [
        fastmmd.Laplace(1.0),
        fastmmd.Gaussian(2.0),
        2.0 * fastmmd.Gaussian(1.0),
        fastmmd.Gaussian(1.0),
        fastmmd.Matern(1.5, nu=1.5),
        fastmmd.Mixture([fastmmd.Gaussian(0.5), fastmmd.Laplace(2.0)], [1.0, 2.0]),
    ],
}


def bin_rows(x, y, rng, n_bins=(4, 3)):
    """Send rows to bins of any sizes, some of them much larger than others."""
    samples = tuple(check_rows(sample, name="x") for sample in (x, y))
    orders, edges = [], []
    for rows, n in zip(samples, n_bins, strict=True):
        orders.append(rng.permutation(rows.n_rows))
        inner = np.sort(rng.choice(np.arange(1, rows.n_rows), n - 1, replace=False))
        edges.append(np.concatenate([[0], inner, [rows.n_rows]]))
    return BinnedSamples(
        samples, tuple(orders), tuple(edges), np.ones(sum(n_bins), dtype=bool)
    )


def brute_force(binned, values):
    """Add up `values(rows, rows)`, for all pairs of rows, between bins."""
    dense = [rows.take(o) for rows, o in zip(binned.samples, binned.orders, strict=True)]
    matrix = values(np.concatenate(dense))
    member = np.repeat(np.arange(len(binned.counts)), binned.counts)
    adding = (np.arange(len(binned.counts))[:, None] == member).astype(float)
    return adding @ matrix @ adding.T


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@pytest.mark.parametrize("n_columns", [1, 3, 20])
def test_exact_sums_are_those_over_pairs(family, n_columns, rng):
    # More rows than a tile of 256, so that bins are cut by tiles.
    x, y = rng.normal(size=(300, n_columns)), rng.normal(size=(310, n_columns))
    binned = bin_rows(x, y, rng)
    got = exact_grams(binned, family)
    pairs = np.outer(binned.counts, binned.counts)
    for gram, kernel in zip(got, family, strict=True):
        expected = brute_force(
            binned, lambda z, k=kernel: k(z[:, None] - z) / k(np.zeros(n_columns))
        )
        # Each value is right to some dozen eps (a fourth power of a fourth power in the
        # shortcut for halved bandwidths costs 4^4 rounding errors), sums add relative
        # errors of sqrt(pairs) eps at most.
        assert (np.abs(gram - expected) <= 512 * EPS * pairs).all()
        assert np.abs(gram - gram.T).max() <= EPS * pairs.max()


def test_exact_sums_of_sparse_rows(rng):
    x, y = (
        scipy.sparse.random_array((n, 40), density=0.1, rng=rng, format="csr")
        for n in (60, 70)
    )
    for family in FAMILIES.values():
        binned = bin_rows(x, y, np.random.default_rng(1))
        dense = bin_rows(x.toarray(), y.toarray(), np.random.default_rng(1))
        pairs = np.outer(binned.counts, binned.counts)
        difference = exact_grams(binned, family) - exact_grams(dense, family)
        assert (np.abs(difference) <= 512 * EPS * pairs).all()


def test_shared_distances_do_not_mix_kernels_up(rng):
    # Some terms share their distances, at the same scale too; others have profiles that
    # only look alike.
    x, y = rng.normal(size=(9, 2)), rng.normal(size=(7, 2))
    family = [*FAMILIES["unordered"], fastmmd.Laplace(1.0), *FAMILIES["halvings"]]
    family += [fastmmd.Matern(1.0, nu=2.0), fastmmd.Matern(1.0, nu=3.0)]
    family += [fastmmd.RationalQuadratic(1.0, alpha=a) for a in (0.5, 2.0)]
    family += [fastmmd.Laplace(0.5), fastmmd.Gaussian(1.0), 5.0 * fastmmd.Gaussian(1.0)]
    binned = bin_rows(x, y, rng)
    grams = exact_grams(binned, family)
    pairs = np.outer(binned.counts, binned.counts)
    for kernel, gram in zip(family, grams, strict=True):
        expected = brute_force(
            binned, lambda z, k=kernel: k(z[:, None] - z) / k(np.zeros(2))
        )
        assert (np.abs(gram - expected) <= 512 * EPS * pairs).all()


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("sampling", "family"),
    [
        ("auto", FAMILIES["halvings"]),
        ("iid", FAMILIES["mixed"]),
        ("orthogonal", FAMILIES["halvings"]),
        ("sobol", FAMILIES["one"]),
        ("fastfood", FAMILIES["halvings"] + [fastmmd.RationalQuadratic(2.0, alpha=0.5)]),
    ],
)
def test_feature_sums_are_those_over_pairs_with_the_same_draw(
    sampling, family, sparse, rng
):
    x, y = rng.normal(size=(130, 5)) + 3.0, rng.normal(size=(90, 5)) + 3.0
    if sparse:
        x, y = (scipy.sparse.csr_array(np.where(z > 3.0, z, 0.0)) for z in (x, y))
    binned = bin_rows(x, y, rng)
    numbers = [8 + 4 * k for k in range(len(family))]
    got = feature_grams(binned, family, numbers, sampling=sampling, seed=77)
    drawn = draw_family(family, numbers, 5, sampling=sampling, n_groups=1, seed=77)
    pairs = np.outer(binned.counts, binned.counts)
    seen = 0
    for bundle in drawn.bundles:
        base = bundle.base.project(np.eye(5), None).T
        for member in bundle.members:
            seen += 1
            assert member.n_frequencies == numbers[member.index]
            w = base[: member.n_frequencies] / member.bandwidth

            def values(z, w=w):
                return np.cos((z[:, None] - z) @ w.T).mean(axis=2)

            # A product of two unit vectors moves by 2 sqrt(2) times what features are
            # off, on average over frequencies. Rows are up to 8 from the center, or from
            # 0 if sparse, in each column; angles of halvings are doubled up to 3 times.
            turns = 8 * np.abs(w).sum(axis=1).mean() / (2 * np.pi)
            feature = precision.feature_error(turns, 5, single=True, n_doublings=3)
            error = np.abs(got[member.index] - brute_force(binned, values))
            assert (error <= 2 * np.sqrt(2) * feature * pairs).all()
    assert seen == len(family)


def test_feature_sums_depend_on_the_seed_alone(rng):
    x, y = rng.normal(size=(50, 2)), rng.normal(size=(60, 2))
    binned = bin_rows(x, y, rng)
    options = {"sampling": "auto"}
    kernels, numbers = [fastmmd.Gaussian(1.0)], [32]
    one, again, other = (
        feature_grams(binned, kernels, numbers, seed=seed, **options)
        for seed in (5, 5, 6)
    )
    assert np.array_equal(one, again)
    assert np.abs(one - other).max() > 0.1


def test_many_features_approach_the_kernel(rng):
    x, y = rng.normal(size=(80, 2)), rng.normal(size=(60, 2))
    binned = bin_rows(x, y, rng)
    kernels = [fastmmd.Gaussian(1.0), fastmmd.Laplace(2.0)]
    features = feature_grams(binned, kernels, [4096] * 2, sampling="iid", seed=3)
    pairs = np.outer(binned.counts, binned.counts)
    # One cosine has standard deviation at most sqrt(1/2), and a sum over pairs is no worse
    # than their number times that: 4.9 sigma of a mean over 4096.
    bound = 4.9 * np.sqrt(0.5 / 4096)
    assert (np.abs(features - exact_grams(binned, kernels)) <= bound * pairs).all()


def test_centre_is_amid_the_data_and_none_for_sparse_rows(rng):
    far = Rows(rng.normal(size=(1000, 2)) + 1e6)
    assert np.abs(reference_point(far) - 1e6).max() < 1.0
    assert reference_point(Rows(scipy.sparse.csr_array(np.eye(3)))) is None


def test_kernels_without_values_are_recognised():
    sampler_only = fastmmd.SpectralKernel(lambda n, d, r: r.uniform(-1, 1, (n, d)))
    assert has_values([fastmmd.Gaussian(1.0)])
    assert not has_values([fastmmd.Gaussian(1.0), sampler_only])
