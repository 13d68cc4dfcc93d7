"""Frequencies of several kernels: shared projections, features and sums over bins."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import fastmmd
from fastmmd.frequencies.dense import DenseFrequencies
from fastmmd.frequencies.draw import draw_frequencies
from fastmmd.frequencies.family import draw_family

EPS = np.finfo(float).eps

# Single-precision features. A turn of at most 1/2 rounds to 2^-26 turns = 0.94e-7 rad,
# 2 pi itself is off by 2.8e-8 of an angle of at most pi, 0.87e-7, the product rounds to
# 2^-23 = 1.19e-7, and cosine and sine to 2 units in the last place, 1.19e-7.
FEATURE = 4.2e-7

GAUSSIANS = [fastmmd.Gaussian(h) for h in (0.5, 1.0, 3.0)]
MIXED = [
    fastmmd.Gaussian(0.7),
    fastmmd.Laplace(1.0),
    fastmmd.Gaussian(2.0),
    fastmmd.Matern(1.0, nu=1.5),
    fastmmd.Matern(2.0, nu=1.5),
    fastmmd.Matern(2.0, nu=2.5),
    fastmmd.Mixture([fastmmd.Gaussian(1.0), fastmmd.Laplace(2.0)]),
    2.0 * fastmmd.Gaussian(1.0),
]


def frequencies_of(family, index):
    """Return the frequencies of one kernel, found from the bundles."""
    for bundle in family.bundles:
        for member in bundle.members:
            if member.index == index:
                return bundle.base.frequencies[: member.n_frequencies] / member.bandwidth
    raise AssertionError(index)


def exact_features(family, rows):
    parts = []
    for index in range(len(family.kernels)):
        phases = rows @ frequencies_of(family, index).T
        parts += [np.cos(phases), np.sin(phases)]
    return np.concatenate(parts, axis=1)


def phase_error(family, rows):
    """Bound what double precision makes of phases: n_columns + 4 roundings of them."""
    largest = max(
        np.max(np.abs(rows) @ np.abs(frequencies_of(family, i)).T)
        for i in range(len(family.kernels))
    )
    return (rows.shape[1] + 4) * EPS * largest


def test_kernels_are_bundled_by_shape():
    family = draw_family(MIXED, [8] * len(MIXED), 3, seed=0)
    bundled = [[member.index for member in bundle.members] for bundle in family.bundles]
    assert bundled == [[0, 2], [1], [3, 4], [5], [6], [7]]
    bandwidths = [[member.bandwidth for member in b.members] for b in family.bundles]
    assert bandwidths == [[0.7, 2.0], [1.0], [1.0, 2.0], [2.0], [1.0], [1.0]]


def test_edges_give_each_kernel_a_cosine_and_a_sine_for_each_frequency():
    family = draw_family(GAUSSIANS, [4, 2, 8], 3, seed=0)
    assert family.edges == (0, 8, 12, 28)
    assert family.features(np.zeros((5, 3)), None).shape == (5, 28)


def test_one_projection_serves_all_bandwidths(monkeypatch, rng):
    calls = []
    project = DenseFrequencies.project

    def counted(self, rows, center, /):
        calls.append(len(self.frequencies))
        return project(self, rows, center)

    monkeypatch.setattr(DenseFrequencies, "project", counted)
    family = draw_family(GAUSSIANS, [4, 16, 8], 3, seed=0)
    family.features(rng.normal(size=(6, 3)), None)
    assert calls == [16]


@pytest.mark.parametrize("n_columns", [1, 3, 9])
def test_features_are_cosines_and_sines_of_each_kernels_phases(n_columns, rng):
    family = draw_family(MIXED, range(3, 3 + len(MIXED)), n_columns, seed=4)
    rows = rng.normal(size=(200, n_columns))
    found = family.features(rows, None)
    assert found.dtype == np.float32
    error = np.abs(found - exact_features(family, rows)).max()
    assert error < FEATURE + phase_error(family, rows)


@pytest.mark.parametrize("size", [1.0, 1e3, 1e6])
def test_features_stay_right_far_away(size, rng):
    # Without the reduction to one turn in double precision, single precision would have
    # lost 6e-8 of a phase: 0.06 of a turn at 1e6.
    family = draw_family([fastmmd.Gaussian(1.0)], [64], 2, seed=0)
    rows = size * rng.normal(size=(500, 2))
    error = np.abs(family.features(rows, None) - exact_features(family, rows)).max()
    assert error < FEATURE + 2 * phase_error(family, rows)


def test_features_have_length_one(rng):
    family = draw_family(MIXED, [8] * len(MIXED), 2, seed=0)
    found = family.features(10 * rng.normal(size=(300, 2)), None).astype(float)
    squares = np.square(found).reshape(300, len(MIXED), 16).sum(axis=2) / 8
    # An angle that is off does not matter here, only the last rounding of both features:
    # cos (1 + a) and sin (1 + b) with |a|, |b| of at most two units.
    np.testing.assert_allclose(squares, 1.0, rtol=0, atol=2 * 2 * 2**-23)


def test_features_of_a_row_do_not_depend_on_the_others(rng):
    family = draw_family(GAUSSIANS, [8] * 3, 2, seed=0)
    rows = rng.normal(size=(50, 2))
    together = family.features(rows, None)
    alone = np.concatenate([family.features(row[None], None) for row in rows])
    # A phase may be rounded otherwise in another batch, and its feature with it: an angle
    # near pi by one unit, 2.4e-7, and the feature itself by 1.2e-7.
    assert np.abs(together - alone).max() < 3.6e-7
    # Which is rare: the phase would have to lie within 1e-15 of a point of a 1e-8 grid.
    assert np.mean(together != alone) < 1e-3


def test_a_center_is_taken_off_rows(rng):
    family = draw_family(GAUSSIANS, [8] * 3, 2, seed=0)
    # Whole numbers of sixteenths: the difference is exact.
    rows, center = rng.integers(-50, 50, size=(40, 2)) / 16, np.array([100.0, -3.5])
    moved = family.features(rows + center, center)
    np.testing.assert_array_equal(moved, family.features(rows, None))


def test_sparse_rows_have_the_features_of_dense_ones(rng):
    family = draw_family(MIXED, [8] * len(MIXED), 5, seed=0)
    rows = rng.normal(size=(30, 5)) * (rng.random((30, 5)) < 0.4)
    center = np.array([0.5, 0.0, -1.0, 2.0, 0.25])
    dense = family.features(rows, center)
    sparse = family.features(scipy.sparse.csr_array(rows), center)
    bound = 2 * FEATURE + phase_error(family, rows) + phase_error(family, center[None])
    assert np.abs(dense - sparse).max() < bound


def test_a_family_has_the_features_of_its_kernels_alone(rng):
    family = draw_family(GAUSSIANS, [8] * 3, 2, seed=5)
    rows = rng.normal(size=(40, 2))
    for index, kernel in enumerate(GAUSSIANS):
        alone = draw_family([kernel], [8], 2, seed=5).features(rows, None)
        start, stop = family.edges[index : index + 2]
        np.testing.assert_array_equal(alone, family.features(rows, None)[:, start:stop])


def test_fewer_frequencies_are_the_first_of_more():
    family = draw_family(GAUSSIANS, [4, 16, 8], 3, seed=0)
    (base,) = (bundle.base for bundle in family.bundles)
    assert base.n_frequencies == 16
    for index, n in enumerate((4, 16, 8)):
        expected = base.frequencies[:n] / GAUSSIANS[index].bandwidth
        np.testing.assert_array_equal(frequencies_of(family, index), expected)


def test_frequencies_follow_from_the_seed_alone():
    drawn = [draw_family(MIXED, [8] * len(MIXED), 3, seed=seed) for seed in (3, 3, 4)]
    for index in range(len(MIXED)):
        first, again, other = (frequencies_of(family, index) for family in drawn)
        np.testing.assert_array_equal(first, again)
        assert not np.isclose(first, other).any()


def test_another_shape_leaves_the_draws_before_it_alone():
    few = draw_family(MIXED[:3], [8] * 3, 3, seed=0)
    many = draw_family(MIXED, [8] * len(MIXED), 3, seed=0)
    for index in range(3):
        np.testing.assert_array_equal(
            frequencies_of(few, index), frequencies_of(many, index)
        )


def test_shapes_have_draws_of_their_own():
    # The same uniforms for two laws would make their estimates err together.
    family = draw_family(
        [fastmmd.Gaussian(1.0), 1.0 * fastmmd.Gaussian(1.0)], [8] * 2, 3, seed=0
    )
    assert not np.isclose(frequencies_of(family, 0), frequencies_of(family, 1)).any()


@pytest.mark.parametrize("sampling", ["iid", "orthogonal", "sobol"])
def test_sampling_is_passed_on(sampling):
    kernel = fastmmd.Gaussian(2.0)
    family = draw_family([kernel], [16], 3, sampling=sampling, seed=9)
    expected = draw_frequencies(
        fastmmd.Gaussian(1.0),
        16,
        3,
        sampling=sampling,
        rng=np.random.default_rng([9, 0]),
    )
    np.testing.assert_array_equal(
        frequencies_of(family, 0), expected.frequencies / kernel.bandwidth
    )


def test_fastfood_serves_all_bandwidths_too(rng):
    family = draw_family(GAUSSIANS, [16, 8, 8], 4, sampling="fastfood", seed=0)
    (bundle,) = family.bundles
    rows = rng.normal(size=(20, 4))
    phases = bundle.base.project(rows, None)[:, :8] / 3.0
    found = family.features(rows, None)[:, family.edges[2] :]
    expected = np.concatenate([np.cos(phases), np.sin(phases)], axis=1)
    assert np.abs(found - expected).max() < FEATURE + 8 * EPS * np.abs(phases).max()


def test_features_are_added_to_the_sums_of_their_bins(rng):
    family = draw_family(GAUSSIANS, [4] * 3, 2, seed=0)
    rows = rng.normal(size=(60, 2))
    bins = np.sort(rng.choice([0, 2, 3, 6], size=60))
    sums = np.ones((8, family.edges[-1]))
    family.add_features(sums, rows, None, bins)
    features = family.features(rows, None).astype(float)
    expected = np.stack([1.0 + features[bins == b].sum(axis=0) for b in range(8)])
    # Two ways to add up to 60 numbers of at most 1, in double precision.
    np.testing.assert_allclose(sums, expected, rtol=0, atol=60 * 60 * EPS)


@pytest.mark.parametrize("bins", [[0], [5], [0, 0, 0], [0, 1, 2], [7, 7]])
def test_runs_of_bins_are_told_apart(bins):
    family = draw_family([fastmmd.Gaussian(1.0)], [1], 1, seed=0)
    sums = np.zeros((8, 2))
    # The row at the center has cosine 1 and sine 0, exactly.
    family.add_features(sums, np.zeros((len(bins), 1)), None, np.array(bins))
    assert sums[:, 0].tolist() == np.bincount(bins, minlength=8).tolist()
    assert not sums[:, 1].any()


@pytest.mark.parametrize(
    ("n_frequencies", "expected"), [([512], 256), ([128, 128], 512), ([10**6], 16)]
)
def test_blocks_hold_a_megabyte_of_features_but_at_least_16_rows(n_frequencies, expected):
    family = draw_family(
        GAUSSIANS[: len(n_frequencies)], n_frequencies, 1, sampling="iid", seed=0
    )
    assert family.block_rows() == expected


def test_grams_are_the_kernels_that_the_frequencies_give(rng):
    family = draw_family(GAUSSIANS, [4, 32, 7], 2, seed=0)
    rows = rng.normal(size=(10, 2))
    grams = family.grams(exact_features(family, rows))
    assert grams.shape == (3, 10, 10)
    differences = rows[:, None] - rows
    for index in range(3):
        expected = np.cos(differences @ frequencies_of(family, index).T).mean(axis=2)
        # cos a cos b + sin a sin b = cos(a - b), each with phases rounded.
        atol = 8 * EPS + 4 * phase_error(family, rows)
        np.testing.assert_allclose(grams[index], expected, rtol=0, atol=atol)
