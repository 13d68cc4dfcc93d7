"""Tests of `fastmmd.nulls.matching`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nulls_data import row_bins

from fastmmd.nulls import (
    BinGram,
    Matching,
    equalise,
    group_bins,
    match_bins,
    permute_bins,
    u_statistics,
)

counts = st.lists(st.integers(0, 12), min_size=1, max_size=60)


@settings(max_examples=200)
@given(counts, counts)
def test_every_group_holds_the_same_number_of_rows(x, y):
    matching = equalise(x, y)
    used = []
    for sizes, groups in ((x, matching.groups_x), (y, matching.groups_y)):
        assert groups.shape == (len(sizes),)
        n_groups = groups.max(initial=-1) + 1
        rows = [np.array(sizes)[groups == g].sum() for g in range(n_groups)]
        assert set(rows) <= {matching.group_rows}
        used.append(sum(rows) / max(sum(sizes), 1))
    assert used == pytest.approx([matching.used_x, matching.used_y])
    # Either both samples have groups or neither.
    assert (matching.n_groups_x > 0) == (matching.n_groups_y > 0)


@given(counts, counts)
def test_matching_is_a_function_of_the_counts(x, y):
    one, two = equalise(x, y), equalise(np.array(x), np.array(y))
    np.testing.assert_array_equal(one.groups_x, two.groups_x)
    np.testing.assert_array_equal(one.groups_y, two.groups_y)


def routed(n_rows, rng, n_slots=256):
    return rng.multinomial(n_rows, np.full(n_slots, 1 / n_slots))


@pytest.mark.parametrize(
    ("n_x", "n_y"),
    [
        (100, 100),
        (200, 200),
        (1000, 1000),
        (1000, 1300),
        (5000, 1000),
        (10**5, 7 * 10**4),
    ],
)
def test_most_rows_are_used(n_x, n_y):
    rng = np.random.default_rng(n_x + n_y)
    for _ in range(3):
        matching = equalise(routed(n_x, rng), routed(n_y, rng))
        assert matching.suffices
        assert min(matching.used_x, matching.used_y) > 0.8
        assert (matching.used_x if n_x < n_y else matching.used_y) > 0.9


@pytest.mark.parametrize("percent", [1, 2, 3])
@pytest.mark.parametrize("n_x", [300, 20_000, 70_000])
def test_sizes_some_percent_apart_are_matched(n_x, percent):
    # Most slots of the two samples differ in the same direction: the middle is soon used up.
    rng = np.random.default_rng(n_x + percent)
    n_y = n_x * (100 + percent) // 100
    for _ in range(3):
        assert equalise(routed(n_x, rng), routed(n_y, rng)).suffices
        assert equalise(routed(n_y, rng), routed(n_x, rng)).suffices


@pytest.mark.parametrize(
    ("n_x", "n_y"), [(20000, 50), (10**8, 37 * 10**6), (3000, 100), (10**6, 102 * 10**4)]
)
def test_hopeless_sizes_are_left_to_the_asymptotic_test(n_x, n_y):
    rng = np.random.default_rng(0)
    assert not equalise(routed(n_x, rng), routed(n_y, rng)).suffices


def matched(k_x, k_y, used=0.95, used_x=None):
    return Matching(
        groups_x=np.arange(k_x),
        groups_y=np.arange(k_y),
        group_rows=10,
        used_x=used if used_x is None else used_x,
        used_y=used,
    )


def test_rule_for_the_exact_test():
    assert matched(20, 20).suffices
    assert matched(20, 20, used=0.82).suffices
    assert not matched(20, 20, used=0.75).suffices
    assert matched(100, 8).suffices
    assert not matched(100, 7).suffices
    # Too few of the rows of the larger sample: 4 times those of the smaller, of 30.
    assert not matched(35, 8, used_x=0.14).suffices
    # No fewer than 10,000 relabellings.
    assert matched(8, 8).suffices
    assert not matched(8, 7).suffices


def test_grouping_keeps_the_statistic_and_the_rows():
    rng = np.random.default_rng(1)
    rows = row_bins(rng.normal(size=(150, 2)), rng.normal(size=(110, 2)), (0.5, 2.0))
    slot = np.where(
        rows.from_x, rng.integers(60, size=260), 60 + rng.integers(40, size=260)
    )
    adding = (np.arange(100)[:, None] == slot).astype(float)
    slots = BinGram.from_bins(
        adding @ rows.grams @ adding.T, adding.sum(1), np.arange(100) < 60
    )
    # The order of bins must not matter: mix the samples.
    mixed = rng.permutation(slots.n_bins)
    slots = BinGram(
        slots.grams[:, mixed][:, :, mixed],
        slots.counts[mixed],
        slots.from_x[mixed],
        slots.movable[mixed],
    )
    matching = match_bins(slots)
    grouped = group_bins(slots, matching)
    assert (grouped.n_x, grouped.n_y) == (150, 110)
    assert (grouped.counts[grouped.movable] == matching.group_rows).all()
    assert np.count_nonzero(grouped.movable & grouped.from_x) == matching.n_groups_x
    assert np.count_nonzero(~grouped.movable) <= 2
    np.testing.assert_allclose(
        u_statistics(grouped), u_statistics(rows), rtol=0, atol=1e-12
    )
    null = permute_bins(grouped, n_resamples=99, rng=rng)
    assert null.statistics.shape == (99, 2)


def test_matched_bins_keep_the_level():
    from scipy.stats import binom

    rejections, runs = 0, 500
    for rng in np.random.default_rng(2).spawn(runs):
        # Unequal sizes and slots, sorted rows: only random routing makes this right.
        x, y = (np.sort(rng.normal(size=(n, 1)), axis=0) for n in (60, 35))
        rows = row_bins(x, y)
        slot = np.concatenate((rng.integers(24, size=60), 24 + rng.integers(16, size=35)))
        adding = (np.arange(40)[:, None] == slot).astype(float)
        slots = BinGram.from_bins(
            adding @ rows.grams @ adding.T, adding.sum(1), np.arange(40) < 24
        )
        grouped = group_bins(slots, match_bins(slots))
        null = permute_bins(grouped, n_resamples=20, rng=rng)
        rejections += null.pvalues(u_statistics(grouped))[0] <= 0.05
    assert rejections <= binom.ppf(1 - 1e-6, runs, 1 / 21)


def test_groups_of_other_bins_are_refused():
    bins = BinGram.from_bins(np.eye(4), np.ones(4), [1, 1, 0, 0])
    with pytest.raises(ValueError, match="one group for each bin; got 3 for 2 bins"):
        group_bins(bins, matched(3, 2))
