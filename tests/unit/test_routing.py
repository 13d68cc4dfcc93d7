"""Routing: slots are uniform, independent between streams, and fixed for good."""

from __future__ import annotations

import hashlib
import itertools

import numpy as np
import pytest
from scipy.stats import chi2

from fastmmd.sketch.routing import (
    STREAM_BYTES,
    part_id,
    route,
    route_numbers,
    stream_id,
)

# Bounds that correct routing crosses once in 10^6 comparisons, on either side: slots that
# are filled too evenly (round robin) are as wrong as slots filled unevenly.
TAILS = (1e-6, 1 - 1e-6)

# Worked out with `slot_by_definition` below.
PINNED_STREAM = "8c8d728fdf32bf09f41e0a58dece5e6b"
PINNED_SLOTS = [138, 181, 203, 221, 206, 183, 20, 244, 141, 221, 223, 143]
PINNED_LATE_SLOTS = [236498, 825588, 310623, 911197, 484835, 857797]

STREAMS = ["", "a", "b", "new", b"a", 0, 1, 2, -1, 2**70]


def chi_square(cells, n_cells):
    counts = np.bincount(cells, minlength=n_cells)
    assert counts.size == n_cells
    expected = cells.size / n_cells
    return float(((counts - expected) ** 2).sum() / expected)


def splitmix64(value):
    """Scramble one number with whole-number arithmetic: the definition, independently."""
    value = (value + 0x9E3779B97F4A7C15) % 2**64
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB % 2**64
    return value ^ (value >> 31)


def slot_by_definition(stream, row, n_bins):
    first, second = (int.from_bytes(stream[i : i + 8], "little") for i in (0, 8))
    mixed = splitmix64(splitmix64((row + first) % 2**64) ^ second)
    return mixed * n_bins >> 64


def test_a_stream_is_named_by_the_start_of_a_hash_of_its_type_and_name():
    assert stream_id("new") == hashlib.sha256(b"snew").digest()[:STREAM_BYTES]
    assert stream_id(b"\xff") == hashlib.sha256(b"b\xff").digest()[:STREAM_BYTES]
    assert stream_id(-17) == hashlib.sha256(b"i-17").digest()[:STREAM_BYTES]
    assert len({stream_id(s) for s in ("1", b"1", 1, "i1", "", b"")}) == 6


def test_a_stream_without_a_name_is_random():
    assert stream_id(None) != stream_id(None)
    assert len(stream_id(None)) == STREAM_BYTES


@pytest.mark.parametrize("stream", [True, 1.5, ("a",), np.float64(1.0)])
def test_a_stream_must_be_a_name(stream):
    with pytest.raises(TypeError, match="`stream` must be a string, bytes, an integer"):
        stream_id(stream)


def test_slots_are_pinned():
    # Sketch files hold sums by slot: the same rows must go to the same slots for good.
    assert stream_id("golden").hex() == PINNED_STREAM
    assert route(stream_id("golden"), 0, 12, 256).tolist() == PINNED_SLOTS
    assert route(stream_id(7), 10**12, 6, 2**20).tolist() == PINNED_LATE_SLOTS


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("n_bins", [1, 2, 64, 256, 2**20])
def test_slots_follow_the_definition(stream, n_bins):
    name = stream_id(stream)
    for first in (0, 1000, 2**32 - 2, 2**63 - 2):
        expected = [slot_by_definition(name, first + i, n_bins) for i in range(5)]
        assert route(name, first, 5, n_bins).tolist() == expected


def test_the_sum_of_row_and_key_wraps_around():
    # A row number just so large that adding the key passes 2^64, without a warning.
    name = b"\xff" * STREAM_BYTES
    expected = [slot_by_definition(name, row, 256) for row in range(4)]
    assert route(name, 0, 4, 256).tolist() == expected


@pytest.mark.parametrize("stream", STREAMS)
def test_slots_are_uniform(stream):
    low, high = chi2.ppf(TAILS, 255)
    slots = route(stream_id(stream), 0, 2**16, 256)
    assert low < chi_square(slots, 256) < high


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("stride", [1, 2, 3, 64, 256])
def test_rows_at_regular_distances_go_to_independent_slots(stream, stride):
    # Files are often sorted or periodic. All 256 pairs of 16 slots must be as frequent.
    slots = route(stream_id(stream), 0, 2**16, 16)
    pairs = 16 * slots[:-stride] + slots[stride:]
    low, high = chi2.ppf(TAILS, 255)
    # Both margins of the table are the same slots: 15 terms of the statistic count twice
    # and 225 once, so its standard deviation is 1.06 times that of chi-square.
    assert 255 - 1.1 * (255 - low) < chi_square(pairs, 256) < 255 + 1.1 * (high - 255)


@pytest.mark.parametrize("i", range(len(STREAMS)))
def test_streams_are_routed_independently(i):
    low, high = chi2.ppf(TAILS, 255)
    mine, other = (
        route(stream_id(s), 0, 2**16, 16) for s in (STREAMS[i], STREAMS[i - 1])
    )
    assert low < chi_square(16 * mine + other, 256) < high


@pytest.mark.parametrize("n_bins", [1, 8, 256])
def test_batches_do_not_matter(n_bins, rng):
    name = stream_id("batches")
    whole = route(name, 5, 1000, n_bins)
    cuts = np.sort(rng.integers(0, 1001, size=20))
    edges = np.concatenate([[0], cuts, [1000]])
    parts = [
        route(name, 5 + int(start), int(stop - start), n_bins)
        for start, stop in itertools.pairwise(edges)
    ]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_fewer_slots_merge_neighbours():
    name = stream_id("nested")
    finest = route(name, 0, 5000, 2**12)
    for power in range(13):
        np.testing.assert_array_equal(
            route(name, 0, 5000, 2**power), finest >> 12 - power
        )


def test_no_rows_have_no_slots():
    assert route(stream_id("none"), 3, 0, 8).shape == (0,)
    assert route(stream_id("none"), 3, 4, 1).tolist() == [0, 0, 0, 0]


def test_a_part_is_named_by_a_hash_of_stream_and_name():
    name = stream_id("new")
    assert (
        part_id(name, "a/ä.csv")
        == hashlib.sha256(name + "pa/ä.csv".encode()).digest()[:STREAM_BYTES]
    )
    names = {part_id(stream_id(s), p) for s in ("a", "b") for p in ("", "a", "b")}
    assert len(names | {stream_id("a"), stream_id("b")}) == 8


def test_parts_are_pinned():
    # As for streams: files of sketches hold sums by slot.
    name = part_id(stream_id("golden"), "year=2018/part-0.parquet")
    assert name.hex() == "6196c70fdb101f8afe65b3c83a47dcef"
    assert route(name, 0, 6, 256).tolist() == [
        slot_by_definition(name, i, 256) for i in range(6)
    ]


def test_rows_with_numbers_go_where_consecutive_rows_go(rng):
    name = stream_id("numbers")
    numbers = rng.permutation(1000).astype(np.uint64)
    whole = route(name, 0, 1000, 256)
    np.testing.assert_array_equal(route_numbers(name, numbers, 256), whole[numbers])
    assert route_numbers(name, numbers, 1).tolist() == [0] * 1000
