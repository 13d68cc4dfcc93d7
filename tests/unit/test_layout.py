"""How rows are laid out in bins: sizes, counts and the shuffle."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fastmmd._rows import Rows
from fastmmd._twosample.grams import send_to_bins
from fastmmd._twosample.layout import (
    MAX_BINS,
    MAX_ROWS_AS_BINS,
    bin_edges,
    choose_layout,
)

# Spread over the orders of magnitude, so that small samples meet large ones.
SIZES = st.one_of(
    st.integers(2, 40), st.integers(2, 2000), st.integers(2, 10**5), st.integers(2, 10**7)
)


@settings(max_examples=300, deadline=None)
@example(sizes=(2, 10**7))
@example(sizes=(8, 505))
@example(sizes=(31, 10**6))
@example(sizes=(256, 257))
@example(sizes=(1309, 36836))
@given(sizes=st.tuples(SIZES, SIZES))
def test_bins_of_two_samples(sizes):
    layout = choose_layout(sizes)
    for n_rows, n_bins in zip(sizes, layout.n_bins, strict=True):
        assert n_bins * layout.rows_per_bin <= n_rows
    if sum(sizes) <= MAX_ROWS_AS_BINS:
        assert (layout.rows_per_bin, layout.n_bins) == (1, sizes)
    else:
        assert sum(layout.n_bins) <= MAX_BINS
        assert min(layout.n_bins) >= min(8, *sizes)
    # At most a bin of rows is left over in the smaller sample.
    smaller = int(np.argmin(sizes))
    left = sizes[smaller] - layout.n_bins[smaller] * layout.rows_per_bin
    assert left < layout.rows_per_bin


@settings(max_examples=100, deadline=None)
@given(sizes=st.lists(SIZES, min_size=3, max_size=12))
def test_bins_of_several_samples(sizes):
    layout = choose_layout(sizes)
    for n_rows, n_bins in zip(sizes, layout.n_bins, strict=True):
        assert 1 <= n_bins <= n_rows // layout.rows_per_bin
    if sum(sizes) > MAX_ROWS_AS_BINS:
        assert sum(layout.n_bins) <= MAX_BINS


def test_few_rows_or_a_wish_make_every_row_a_bin():
    assert choose_layout((12, 500)).n_bins == (12, 500)
    assert sum(choose_layout((13, 500)).n_bins) <= MAX_BINS
    assert choose_layout((700, 900), by_rows=True).n_bins == (700, 900)


@pytest.mark.parametrize("n", [600, 1000, 5000, 10**6])
def test_most_rows_of_equal_samples_can_be_relabelled(n):
    layout = choose_layout((n, n))
    # Of 100 bins or more, less than one bin of each sample is left over.
    assert min(layout.n_bins) >= 100
    assert layout.rows_per_bin * layout.n_bins[0] >= 0.99 * n


@settings(max_examples=100, deadline=None)
@given(
    n_rows=st.integers(1, 500), rows_per_bin=st.integers(1, 50), share=st.floats(0.0, 1.0)
)
def test_edges_add_up(n_rows, rows_per_bin, share):
    n_bins = int(share * (n_rows // rows_per_bin))
    edges = bin_edges(n_rows, n_bins, rows_per_bin)
    counts = np.diff(edges)
    assert edges[0] == 0
    assert counts.sum() == n_rows
    assert (counts[:n_bins] == rows_per_bin).all()
    assert len(counts) == n_bins + (n_bins * rows_per_bin < n_rows)


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.tuples(st.integers(2, 3000), st.integers(2, 3000)),
    seed=st.integers(0, 2**32 - 1),
)
def test_every_row_is_in_one_bin(sizes, seed):
    samples = tuple(Rows(np.zeros((n, 1))) for n in sizes)
    layout = choose_layout(sizes)
    binned = send_to_bins(samples, layout, np.random.default_rng(seed))
    counts, labels = binned.counts, binned.labels
    assert len(counts) == len(labels) == len(binned.movable)
    assert (counts >= 1).all()
    assert (counts[binned.movable] == layout.rows_per_bin).all()
    for sample, n_rows in enumerate(sizes):
        mine = labels == sample
        assert counts[mine].sum() == n_rows
        assert np.count_nonzero(binned.movable & mine) == layout.n_bins[sample]
        # What fills no bin is one fixed bin.
        left_over = n_rows > layout.n_bins[sample] * layout.rows_per_bin
        assert np.count_nonzero(~binned.movable & mine) == left_over
        assert np.array_equal(np.sort(binned.orders[sample]), np.arange(n_rows))


def test_rows_are_shuffled_into_bins_and_differ_by_seed():
    samples = tuple(Rows(np.arange(float(n))[:, None]) for n in (4000, 3000))
    layout = choose_layout((4000, 3000))
    first, again, other = (
        send_to_bins(samples, layout, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    for a, b, c in zip(first.orders, again.orders, other.orders, strict=True):
        assert np.array_equal(a, b)
        assert not np.array_equal(a, c)
    for order, edges, rows in zip(first.orders, first.edges, samples, strict=True):
        n = rows.n_rows
        centres = [
            order[a:b].mean() for a, b in itertools.pairwise(edges) if b - a == edges[1]
        ]
        # Means of m row numbers drawn without replacement vary by n / sqrt(12 m). Sorted
        # bins would be sqrt(m) times as spread, bins filled in turn not at all. The
        # standard deviation of k means is known to 1 / sqrt(2 k), here at most 0.07.
        expected = n / np.sqrt(12 * edges[1])
        assert 0.65 < np.std(centres) / expected < 1.35


def test_blocks_come_in_the_order_of_bins():
    values = [np.arange(20.0)[:, None], np.arange(100.0, 130.0)[:, None]]
    samples = tuple(Rows(v) for v in values)
    layout = choose_layout((20, 30))
    binned = send_to_bins(samples, layout, np.random.default_rng(0))
    for size in (1, 7, 64):
        rows, bins = zip(*binned.blocks(size), strict=True)
        assert max(len(r) for r in rows) <= size
        together, places = np.concatenate(rows)[:, 0], np.concatenate(bins)
        assert np.array_equal(places, np.repeat(np.arange(50), binned.counts))
        assert np.array_equal(together[:20], values[0][binned.orders[0], 0])
        assert np.array_equal(together[20:], values[1][binned.orders[1], 0])
