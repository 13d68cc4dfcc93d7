"""Tests of `fastmmd.nulls.bins`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from nulls_data import add_up, brute_force_u, row_bins, samples

from fastmmd.nulls import BinGram, u_statistics, v_statistics

# Terms of size 1, fewer than a hundred of them: far below 1e-12.
ATOL = 1e-12


@given(samples())
def test_u_statistic_equals_the_double_loops(pair):
    x, y = pair
    bins = row_bins(x, y, (0.5, 2.0))
    direct = [brute_force_u(x, y, b) for b in (0.5, 2.0)]
    np.testing.assert_allclose(u_statistics(bins), direct, rtol=0, atol=ATOL)


@given(samples())
def test_v_statistic_is_a_squared_norm(pair):
    bins = row_bins(*pair)
    w = np.where(bins.from_x, 1 / bins.n_x, -1 / bins.n_y)
    direct = w @ bins.grams[0] @ w
    np.testing.assert_allclose(v_statistics(bins), [direct], rtol=0, atol=ATOL)


@given(samples(min_rows=4))
def test_adding_bins_up_changes_no_statistic(pair):
    bins = row_bins(*pair)
    place = np.where(
        bins.from_x, np.arange(bins.n_bins) % 2, 2 + np.arange(bins.n_bins) % 2
    )
    coarse = add_up(bins, place)
    assert (coarse.n_x, coarse.n_y) == (bins.n_x, bins.n_y)
    for statistic in (u_statistics, v_statistics):
        np.testing.assert_allclose(statistic(coarse), statistic(bins), rtol=0, atol=ATOL)


@given(samples())
def test_statistic_is_symmetric_in_the_samples(pair):
    x, y = pair
    there, back = u_statistics(row_bins(x, y)), u_statistics(row_bins(y, x))
    np.testing.assert_allclose(there, back, rtol=0, atol=ATOL)


def test_closed_form_of_two_points_apart():
    # k = 1 within, exp(-2) between: 2 - 2 exp(-2).
    bins = row_bins(np.zeros((3, 1)), np.full((4, 1), 2.0))
    np.testing.assert_allclose(u_statistics(bins), [2 - 2 * np.exp(-2.0)], rtol=1e-14)


def test_empty_bins_are_left_out():
    grams = np.diag([2.0, 0.0, 2.0])
    bins = BinGram.from_bins(grams, [2, 0, 2], [True, True, False])
    assert bins.n_bins == 2
    assert bins.counts.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grams": np.ones((3, 3))}, r"`grams` must have shape \(n_kernels, 4, 4\)"),
        ({"grams": np.full((4, 4), np.nan)}, r"`grams` must be finite; got 16 values"),
        ({"from_x": [1, 1, 1, 0]}, r"at least 2 rows of each sample; got 3 and 1"),
        ({"from_x": [1, 1, 0]}, r"`from_x` must be boolean of shape \(4,\)"),
        ({"movable": [1, 1, 0]}, r"`movable` must be boolean of shape \(4,\)"),
    ],
)
def test_bad_bins_are_refused(change, message):
    given_arguments = {"grams": np.ones((4, 4)), "counts": np.ones(4)}
    given_arguments |= {"from_x": [1, 1, 0, 0], "movable": None} | change
    with pytest.raises(ValueError, match=message):
        BinGram.from_bins(**given_arguments)


def test_unknown_kernel_is_refused():
    bins = BinGram.from_bins(np.ones((4, 4)), np.ones(4), [1, 1, 0, 0])
    with pytest.raises(ValueError, match="`kernel` must lie in 0 to 0; got 1"):
        bins.one_kernel(1)


def test_empty_count_in_the_constructor_is_refused():
    with pytest.raises(ValueError, match="`counts` must be at least 1 everywhere; got 0"):
        BinGram(
            np.ones((1, 2, 2)),
            np.array([0, 3]),
            np.array([True, False]),
            np.ones(2, bool),
        )
