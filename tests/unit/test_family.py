"""Frequencies of several kernels: shared projections, features and sums over bins."""

from __future__ import annotations

import math

import numpy as np
import precision
import pytest
import scipy.sparse
from feature_sums import (
    channel_list,
    family_bounds,
    fastfood_bounds,
    row_features,
)
from precision import EXACT_SUMS, STEP, assert_same_sums

import fastmmd
from fastmmd._backends import Places
from fastmmd._rows import Rows
from fastmmd.frequencies import dense
from fastmmd.frequencies.draw import draw_frequencies
from fastmmd.frequencies.family import draw_family

EPS = np.finfo(float).eps

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
    # The row at the center has cosine 1 and sine 0, exactly.
    expected = [1] * 4 + [0] * 4 + [1] * 2 + [0] * 2 + [1] * 8 + [0] * 8
    assert row_features(family, np.zeros((2, 3))).tolist() == [expected, expected]


def test_one_projection_serves_all_bandwidths(monkeypatch, rng):
    calls = []
    feature_sums = dense.matrix_feature_sums

    def counted(sums, rows, places, frequencies, channels, /, **options):
        calls.append((len(frequencies), len(channels)))
        return feature_sums(sums, rows, places, frequencies, channels, **options)

    monkeypatch.setattr(dense, "matrix_feature_sums", counted)
    family = draw_family(GAUSSIANS, [4, 16, 8], 3, seed=0)
    row_features(family, rng.normal(size=(6, 3)))
    assert calls == [(16, 3)]


@pytest.mark.parametrize("n_columns", [1, 3, 9])
def test_features_are_cosines_and_sines_of_each_kernels_phases(n_columns, rng):
    family = draw_family(MIXED, range(3, 3 + len(MIXED)), n_columns, seed=4)
    rows = rng.normal(size=(200, n_columns))
    errors = np.abs(row_features(family, rows) - exact_features(family, rows))
    assert (errors <= family_bounds(family, rows) + phase_error(family, rows)).all()


def test_features_in_double_precision(rng):
    family = draw_family(MIXED, [8] * len(MIXED), 3, single=False, seed=4)
    rows = rng.normal(size=(200, 3))
    errors = np.abs(row_features(family, rows) - exact_features(family, rows))
    # Twice the phases' errors, for the reference's own; a doubled angle for Matern.
    bound = 2 * (phase_error(family, rows) + precision.value_error(precision.DOUBLE, 1))
    assert errors.max() <= bound


@pytest.mark.parametrize("size", [1.0, 1e3, 1e6])
def test_features_stay_right_far_away(size, rng):
    # Rows whose typical phase is more than 32 turns are computed in double precision:
    # single would have lost 6e-8 of a phase, 0.06 of a turn at 1e6.
    family = draw_family([fastmmd.Gaussian(1.0)], [64], 2, seed=0)
    frequencies = frequencies_of(family, 0)
    rows = size * rng.normal(size=(500, 2))
    typical = math.sqrt(np.square(frequencies).mean())
    far = np.linalg.norm(rows, axis=1) * typical / (2 * np.pi) > 32.0
    assert far.mean() in {0.0, 1.0} or size == 1e3
    bounds = np.where(
        far[:, None],
        precision.feature_error(0.0, 2, single=True),
        family_bounds(family, rows),
    )
    errors = np.abs(row_features(family, rows) - exact_features(family, rows))
    assert (errors <= bounds + 2 * phase_error(family, rows)).all()


def test_features_have_length_one(rng):
    family = draw_family(MIXED, [8] * len(MIXED), 2, seed=0)
    found = row_features(family, 10 * rng.normal(size=(300, 2)))
    squares = np.square(found).reshape(300, len(MIXED), 16).sum(axis=2) / 8
    # An angle that is off does not matter here, only what cosine and sine are off
    # themselves, once doubled for Matern: 2 (|c| + |s|) times that.
    value = precision.value_error(precision.SINGLE, 1) + STEP / 2
    np.testing.assert_allclose(squares, 1.0, rtol=0, atol=2 * math.sqrt(2) * value)


def test_features_of_a_row_do_not_depend_on_the_others(rng):
    family = draw_family(GAUSSIANS, [8] * 3, 2, seed=0)
    rows = rng.normal(size=(50, 2))
    rows[::7] *= 1e4  # some in double precision
    together = row_features(family, rows)
    alone = np.concatenate([row_features(family, row[None]) for row in rows])
    assert_same_sums(together, alone, np.ones(50))
    order = rng.permutation(50)
    assert_same_sums(row_features(family, rows[order]), together[order], np.ones(50))


def test_a_center_is_taken_off_rows(rng):
    family = draw_family(GAUSSIANS, [8] * 3, 2, seed=0)
    # Whole numbers of sixteenths: the difference is exact.
    rows, center = rng.integers(-50, 50, size=(40, 2)) / 16, np.array([100.0, -3.5])
    moved = row_features(family, rows + center, center)
    np.testing.assert_array_equal(moved, row_features(family, rows))


def test_sparse_rows_have_the_features_of_dense_ones(rng):
    family = draw_family(MIXED, [8] * len(MIXED), 5, seed=0)
    rows = rng.normal(size=(30, 5)) * (rng.random((30, 5)) < 0.4)
    sparse_rows = scipy.sparse.csr_array(rows)
    center = np.array([0.5, 0.0, -1.0, 2.0, 0.25])
    difference = np.abs(
        row_features(family, rows, center) - row_features(family, sparse_rows, center)
    )
    bounds = family_bounds(family, rows, center)
    bounds += family_bounds(family, sparse_rows, center)
    assert (difference <= bounds).all()


def test_a_family_has_the_features_of_its_kernels_alone(rng):
    family = draw_family(GAUSSIANS, [8] * 3, 2, seed=5)
    rows = rng.normal(size=(40, 2))
    found, bounds = row_features(family, rows), family_bounds(family, rows)
    for index, kernel in enumerate(GAUSSIANS):
        alone = row_features(draw_family([kernel], [8], 2, seed=5), rows)
        columns = slice(*family.edges[index : index + 2])
        if index == 0 and EXACT_SUMS:
            # Half the bandwidth of the next: its angles are that one's, doubled.
            assert (np.abs(alone - found[:, columns]) <= 2 * bounds[:, columns]).all()
        else:
            np.testing.assert_array_equal(alone, found[:, columns])


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
    phases = bundle.base.project(rows, None)
    found = row_features(family, rows)
    channels = channel_list(
        *(
            (1 / (2 * np.pi * member.bandwidth), member.n_frequencies)
            for member in bundle.members
        )
    )
    bounds = fastfood_bounds(rows, bundle.base.blocks, channels, None, single=True)
    for index, kernel in enumerate(GAUSSIANS):
        angles = phases[:, : family.n_frequencies[index]] / kernel.bandwidth
        expected = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
        columns = slice(*family.edges[index : index + 2])
        # The reference's phases are in double precision.
        slack = bounds[:, columns] + 8 * EPS * np.abs(angles).max()
        assert (np.abs(found[:, columns] - expected) <= slack).all()


@pytest.mark.parametrize("sampling", ["auto", "fastfood"])
def test_features_are_added_to_the_sums_of_their_bins(sampling, rng):
    family = draw_family(GAUSSIANS, [4] * 3, 2, sampling=sampling, seed=0)
    rows = rng.normal(size=(60, 2))
    bins = np.sort(rng.choice([0, 2, 3, 6], size=60))
    edges = np.concatenate([[0], np.cumsum(np.bincount(bins, minlength=8))])
    order = rng.permutation(60)
    shuffled = np.empty_like(rows)
    shuffled[order] = rows
    sums = np.ones((8, family.edges[-1]))
    family.add_feature_sums(sums, Rows(shuffled), Places(edges, order), None)
    features = row_features(family, rows)
    # Exactly: features are multiples of 2^-22.
    expected = np.stack([1.0 + features[bins == b].sum(axis=0) for b in range(8)])
    assert_same_sums(sums, expected, np.diff(edges))


@pytest.mark.parametrize("bins", [[0], [5], [0, 0, 0], [0, 1, 2], [7, 7]])
def test_runs_of_bins_are_told_apart(bins):
    family = draw_family([fastmmd.Gaussian(1.0)], [1], 1, seed=0)
    sums = np.zeros((8, 2))
    counts = np.bincount(bins, minlength=8)
    places = Places(np.concatenate([[0], np.cumsum(counts)]))
    # The row at the center has cosine 1 and sine 0, exactly.
    family.add_feature_sums(sums, Rows(np.zeros((len(bins), 1))), places, None)
    assert sums[:, 0].tolist() == counts.tolist()
    assert not sums[:, 1].any()


def test_no_rows_add_nothing():
    family = draw_family(MIXED, [8] * len(MIXED), 2, seed=0)
    for rows in (np.empty((0, 2)), scipy.sparse.csr_array((0, 2))):
        sums = np.full((1, family.edges[-1]), 3.0)
        family.add_feature_sums(sums, Rows(rows), Places(np.array([0, 0])), None)
        assert (sums == 3.0).all()


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
