"""Tests of `fastmmd.nulls.k_sample`."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nulls_data import brute_force_u, kernel_matrices, row_bins

from fastmmd.nulls import (
    LabelledGram,
    k_sample_statistics,
    permute_labels,
    u_statistics,
)


@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_statistic_is_the_weighted_sum_over_pairs(seed, k):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 6, size=k)
    rows = rng.normal(size=(sizes.sum(), 2))
    labels = np.repeat(np.arange(k), sizes)
    bins = LabelledGram.from_bins(kernel_matrices(rows), np.ones(len(rows)), labels)
    direct = sum(
        sizes[i] * sizes[j] * brute_force_u(rows[labels == i], rows[labels == j])
        for i, j in itertools.combinations(range(k), 2)
    )
    np.testing.assert_allclose(
        k_sample_statistics(bins), [direct / sizes.sum()], rtol=0, atol=1e-11
    )


def test_two_samples_are_the_two_sample_statistic():
    rng = np.random.default_rng(0)
    two = row_bins(rng.normal(size=(7, 1)), rng.normal(size=(5, 1)), (0.5, 1.0))
    many = LabelledGram.from_bins(two.grams, two.counts, ~two.from_x)
    np.testing.assert_allclose(
        k_sample_statistics(many), two.pair_factor * u_statistics(two), atol=1e-13
    )


def test_relabelled_statistics_equal_recomputation():
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1, 2], [6, 5, 4])
    movable = np.ones(15, bool)
    movable[[0, 14]] = False
    grams = kernel_matrices(rng.normal(size=(15, 1)), (0.5, 2.0))
    bins = LabelledGram.from_bins(grams, np.ones(15), labels, movable)
    null = permute_labels(bins, n_resamples=20, rng=np.random.default_rng(2))
    keys = np.random.default_rng(2).random((20, 13))
    for statistic, key in zip(null.statistics, keys, strict=True):
        moved = labels.copy()
        moved[1:14] = labels[1:14][np.argsort(key)]
        direct = k_sample_statistics(LabelledGram.from_bins(grams, np.ones(15), moved))
        np.testing.assert_allclose(statistic, direct, rtol=0, atol=1e-12)
    assert not null.complete


def test_wrong_bins_are_refused():
    with pytest.raises(ValueError, match=r"at least 2 rows of each .* got \[2, 1\]"):
        LabelledGram.from_bins(np.eye(3), np.ones(3), [0, 0, 1])
    with pytest.raises(ValueError, match=r"`grams` must have shape \(n_kernels, 4, 4\)"):
        LabelledGram.from_bins(np.eye(3), np.ones(4), [0, 0, 1, 1])
    with pytest.raises(ValueError, match="`labels` must be numbers from 0 up"):
        LabelledGram.from_bins(np.eye(4), np.ones(4), [-1, 0, 1, 1])
    uneven = LabelledGram.from_bins(np.eye(4), [1, 2, 1, 1], [0, 0, 1, 1])
    with pytest.raises(ValueError, match="same number of rows; got bins of 1 to 2 rows"):
        permute_labels(uneven, n_resamples=9, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="`n_resamples` must be at least 1; got 0"):
        permute_labels(uneven, n_resamples=0, rng=np.random.default_rng(0))
