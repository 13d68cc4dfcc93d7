"""Laws of sketches: merging is addition, whatever the batches, the order and the slots."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from precision import assert_same_sums

from fastmmd import Gaussian, Laplace, Sketch

KERNELS = (Gaussian(1.0), Gaussian(0.25), Laplace(1.0))

laws = settings(max_examples=60, deadline=None)


@functools.cache
def empty(n_bins=8):
    return Sketch(KERNELS, 2, n_frequencies=[4, 8, 4], n_bins=n_bins, center=[1.0, 0.0])


def sketch(rows, stream, n_bins=8):
    result = empty(n_bins).like(stream=stream)
    result.update(rows)
    return result


def data(max_rows=40):
    numbers = st.floats(-100.0, 100.0, width=32)
    shapes = st.tuples(st.integers(0, max_rows), st.just(2))
    return shapes.flatmap(lambda shape: npst.arrays(float, shape, elements=numbers))


cuts = st.lists(st.integers(0, 40), max_size=6)
powers = st.integers(0, 6).map(lambda power: 2**power)
samples = st.lists(data(12), min_size=1, max_size=5)


def split(rows, cuts):
    return np.split(rows, np.sort(np.minimum(cuts, len(rows))).astype(int))


@laws
@given(rows=data(), cuts=cuts)
def test_batches_do_not_matter(rows, cuts):
    whole, parts = sketch(rows, "a"), sketch(rows[:0], "a")
    for part in split(rows, cuts):
        parts.update(part)
    np.testing.assert_array_equal(whole.counts, parts.counts)
    assert whole._streams == parts._streams
    assert_same_sums(whole.sums, parts.sums, whole.counts)


@laws
@given(rows=data(), cuts=cuts, order=st.randoms(use_true_random=False))
def test_split_and_merge_in_any_order_equals_one_pass(rows, cuts, order):
    pieces = [sketch(part, i) for i, part in enumerate(split(rows, cuts))]
    in_order = sum(pieces)
    while len(pieces) > 1:
        order.shuffle(pieces)
        pieces.append(pieces.pop() + pieces.pop())
    (merged,) = pieces
    assert merged == in_order
    # Streams have slots of their own, so one pass puts rows elsewhere: totals must agree.
    whole = sketch(rows, "a")
    assert merged.count == whole.count == len(rows)
    totals = [s.sums.sum(axis=0, keepdims=True) for s in (merged, whole)]
    assert_same_sums(*totals, [len(rows)])


@laws
@given(rows=data(), order=st.randoms(use_true_random=False))
def test_row_order_does_not_matter_within_a_slot(rows, order):
    shuffled = rows[order.sample(range(len(rows)), len(rows))]
    first, second = sketch(rows, "a", 1), sketch(shuffled, "a", 1)
    assert_same_sums(first.sums, second.sums, first.counts)


@laws
@given(rows=samples)
def test_merging_is_associative(rows):
    parts = [sketch(part, i) for i, part in enumerate(rows)]
    left = functools.reduce(lambda a, b: a + b, parts)
    right = functools.reduce(lambda a, b: b + a, reversed(parts))
    assert left == right


@laws
@given(first=data(), second=data(), bins=st.tuples(powers, powers))
def test_merging_is_commutative_to_the_last_bit(first, second, bins):
    a, b = sketch(first, "a", bins[0]), sketch(second, "b", bins[1])
    assert a + b == b + a
    assert (a + b).n_bins == min(bins)


@laws
@given(rows=data())
def test_the_empty_sketch_is_the_identity(rows):
    full, nothing = sketch(rows, "a"), sketch(rows[:0], "b")
    assert full + nothing == full
    assert nothing + full == full
    assert sum([nothing, full, nothing]) == full


@laws
@given(first=data(), second=data(), bins=st.tuples(powers, powers))
def test_coarse_slots_are_sums_of_fine_ones(first, second, bins):
    fewer, more = sorted(bins)
    nothing = sketch(first[:0], "c", fewer)
    a, b = sketch(first, "a", more), sketch(second, "b", more)
    # Making coarser what was merged is merging what was made coarser.
    assert (a + b) + nothing == (a + nothing) + (b + nothing)
    # And it is what few slots would have held from the start.
    coarse = sketch(first, "a", fewer)
    np.testing.assert_array_equal((a + nothing).counts, coarse.counts)
    assert_same_sums((a + nothing).sums, coarse.sums, coarse.counts)


@laws
@given(rows=samples, more=data(12))
def test_saving_and_loading_is_equality_and_goes_on_the_same(rows, more):
    kept = sum(sketch(part, i) for i, part in enumerate(rows))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sketch.mmd"
        kept.save(path)
        loaded = Sketch.load(path)
        assert loaded == kept
        kept.update(more)
        loaded.update(more)
        # To the last bit: the same slots, the same frequencies, the same additions.
        assert loaded == kept
        loaded.save(path)
        first = path.read_bytes()
        kept.save(path)
        assert path.read_bytes() == first


@laws
@given(rows=data(), more=data(12))
def test_a_copy_is_equal_and_independent(rows, more):
    first = sketch(rows, "a")
    second = first.copy()
    assert first == second
    second.merge(sketch(more, "b"))
    assert (first == second) == (len(more) == 0)
    assert first == sketch(rows, "a")
