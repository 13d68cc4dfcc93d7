"""Sketches: what goes in, what is refused, what can be merged, and copies."""

from __future__ import annotations

import copy
import pickle
import re

import numpy as np
import precision
import pytest
import scipy.sparse
from feature_sums import channel_list, exact_features, feature_bounds

import fastmmd
from fastmmd import Gaussian, IncompatibleSketchError, Laplace, Sketch
from fastmmd.sketch.routing import part_id, route, stream_id


def small(kernel=None, n_columns=2, **options):
    options = {"n_frequencies": 8, "n_bins": 8, "stream": "a"} | options
    return Sketch(Gaussian(1.0) if kernel is None else kernel, n_columns, **options)


def filled(rows, *args, **options):
    sketch = small(*args, **options)
    sketch.update(rows)
    return sketch


def own_frequencies(sketch, index=0):
    for bundle in sketch._family.bundles:
        for member in bundle.members:
            if member.index == index:
                return bundle.base.frequencies[: member.n_frequencies] / member.bandwidth
    raise AssertionError(index)


def assert_same(first, second):
    """Check that counts and sums agree exactly, though rows came otherwise."""
    np.testing.assert_array_equal(first.counts, second.counts)
    precision.assert_same_sums(first.sums, second.sums, first.counts)


# --- What is in a sketch


def test_counts_and_sums_are_those_of_the_rows_in_each_slot(rng):
    rows = rng.normal(size=(500, 2))
    sketch = filled(rows, Gaussian(0.5), center=[1.0, -2.0])
    slots = route(stream_id("a"), 0, 500, 8)
    channels, center = channel_list((1 / (2 * np.pi), 8)), np.array([1.0, -2.0])
    frequencies = own_frequencies(sketch)
    features = exact_features(rows, frequencies, channels, center)
    bounds = feature_bounds(rows, frequencies, channels, center, single=True)
    expected, atol = (
        np.stack([values[slots == slot].sum(axis=0) for slot in range(8)])
        for values in (features, bounds)
    )
    np.testing.assert_array_equal(sketch.counts, np.bincount(slots, minlength=8))
    assert (np.abs(sketch.sums - expected) <= atol).all()
    # Errors of single features are of either sign and much smaller, so sums do better.
    assert (np.abs(sketch.sums - expected) <= 0.1 * atol).mean() > 0.9


def test_counts_are_exact(rng):
    sketch = small()
    for n_rows in (1, 2, 3, 500, 7):
        sketch.update(rng.normal(size=(n_rows, 2)))
    assert sketch.count == 513
    expected = np.bincount(route(stream_id("a"), 0, 513, 8), minlength=8)
    np.testing.assert_array_equal(sketch.counts, expected)
    assert sketch.counts.dtype == np.int64


def test_features_have_length_one(rng):
    # One row at a time: the squares of its features add up to the number of frequencies.
    kernels = [Gaussian(1.0), Laplace(0.5), 3.0 * fastmmd.Cauchy(1.0)]
    for _ in range(20):
        sketch = filled(100 * rng.normal(size=(1, 2)), kernels)
        squares = np.square(sketch.sums.sum(axis=0)).reshape(3, 16).sum(axis=1) / 8
        # What cosine and sine are off themselves, times 2 (|c| + |s|).
        value = precision.feature_error(0.0, 2, single=True)
        np.testing.assert_allclose(squares, 1.0, rtol=0, atol=2 * np.sqrt(2) * value)


def test_slots_do_not_depend_on_what_rows_hold(rng):
    rows = rng.normal(size=(300, 2))
    for other in (np.zeros((300, 2)), rows[::-1], np.sort(rows, axis=0)):
        np.testing.assert_array_equal(filled(other).counts, filled(rows).counts)


def test_equal_rows_go_to_different_slots():
    assert np.count_nonzero(filled(np.ones((200, 2))).counts) == 8


def test_properties():
    kernels = (Gaussian(1.0), Gaussian(2.0))
    sketch = small(kernels, 3, n_frequencies=[4, 6], rng=5, center=[1, 2, 3])
    assert sketch.kernels == kernels
    assert (sketch.n_columns, sketch.n_frequencies, sketch.n_bins) == (3, (4, 6), 8)
    assert (sketch.seed, sketch.count) == (5, 0)
    assert sketch.center.tolist() == [1.0, 2.0, 3.0]
    assert sketch.counts.shape == (8,)
    assert sketch.sums.shape == (8, 20)
    assert small().center.tolist() == [0.0, 0.0]


def test_what_properties_return_is_a_copy():
    sketch = filled(np.ones((10, 2)))
    before = sketch.copy()
    sketch.counts[:] = 7
    sketch.sums[:] = 7.0
    sketch.center[:] = 7.0
    assert sketch == before


def test_defaults():
    sketch = Sketch(Gaussian(1.0), 2)
    assert (sketch.n_bins, sketch.n_frequencies, sketch.seed) == (256, (512,), 0)


def test_size_is_as_documented_and_does_not_grow(rng):
    for n_rows in (0, 10, 100_000):
        sketch = small([Gaussian(1.0), Laplace(1.0)], n_frequencies=[4, 2], n_bins=16)
        sketch.update(
            rng.normal(size=(n_rows, 2)).astype(np.float32) if n_rows else [[0, 0]]
        )
        assert sketch.nbytes == 8 * 16 * (1 + 2 * (4 + 2))
        assert sketch.nbytes == sketch.counts.nbytes + sketch.sums.nbytes
    assert Sketch(Gaussian(1.0), 2).nbytes == 2_099_200


def test_text_tells_rows_columns_and_kernels():
    sketch = filled(np.ones((10, 2)), Gaussian(1 / 3))
    text = "<Sketch of 10 rows, 2 columns, Gaussian(bandwidth=0.3333)>"
    assert repr(sketch) == text
    assert "3 kernels" in repr(small([Gaussian(h) for h in (1.0, 2.0, 3.0)]))


# --- Frequencies


@pytest.mark.parametrize("n_columns", [2, 9])
def test_frequencies_follow_from_the_seed_alone(n_columns):
    first = own_frequencies(small(n_columns=n_columns, rng=1, stream="x", n_bins=2))
    again = own_frequencies(small(n_columns=n_columns, rng=1, stream="y", center=None))
    other = own_frequencies(small(n_columns=n_columns, rng=2))
    np.testing.assert_array_equal(first, again)
    assert not np.isclose(first, other).any()


def test_a_generator_draws_a_seed_that_makes_the_same_sketch_again(rng):
    sketch = small(rng=rng)
    assert small(rng=sketch.seed) == sketch
    assert small(rng=rng).seed != sketch.seed
    assert small(rng=None).seed != small(rng=None).seed


def test_kernels_share_a_projection_and_have_the_sums_they_have_alone(rng):
    rows = rng.normal(size=(200, 2))
    kernels = [Gaussian(h) for h in (0.5, 1.0, 4.0)]
    family = filled(rows, kernels)
    assert len(family._family.bundles) == 1
    for index, kernel in enumerate(kernels):
        alone = filled(rows, kernel)
        np.testing.assert_array_equal(
            own_frequencies(family, index), own_frequencies(alone)
        )
        part = family.sums[:, 16 * index : 16 * (index + 1)]
        if index == 0:
            # Half the bandwidth of the next: its angles are that one's, doubled.
            channels = channel_list((1 / np.pi, 8), (1 / (2 * np.pi), 8))
            bounds = feature_bounds(
                rows, own_frequencies(family, 1), channels, single=True
            )
            slots = route(stream_id("a"), 0, 200, 8)
            atol = np.stack([bounds[slots == slot, :16].sum(axis=0) for slot in range(8)])
            assert (np.abs(part - alone.sums) <= 2 * atol).all()
        else:
            precision.assert_same_sums(part, alone.sums, family.counts)
        np.testing.assert_array_equal(family.counts, alone.counts)


# --- What update takes


@pytest.mark.parametrize(
    "convert",
    [
        lambda rows: rows.tolist(),
        lambda rows: rows.astype(np.float32),
        lambda rows: rows.astype(np.int16),
        np.asfortranarray,
        lambda rows: np.repeat(rows, 2, axis=0)[::2],
        scipy.sparse.csr_array,
        scipy.sparse.csr_matrix,
        scipy.sparse.coo_array,
    ],
    ids=["list", "float32", "int16", "columns", "strided", "csr", "csr_matrix", "coo"],
)
def test_rows_may_come_in_many_forms(convert, rng):
    # Whole numbers, which every type holds exactly.
    rows = rng.integers(-5, 6, size=(100, 3)).astype(float)
    center = [0.5, 1.0, -1.0]
    expected = filled(rows, n_columns=3, center=center)
    found = filled(convert(rows), n_columns=3, center=center)
    if not scipy.sparse.issparse(convert(rows)):
        assert_same(found, expected)
        return
    # Phases of sparse rows start from the center's, so they are rounded otherwise.
    np.testing.assert_array_equal(found.counts, expected.counts)
    channels = channel_list((1 / (2 * np.pi), 8))
    bounds = sum(
        feature_bounds(
            form, own_frequencies(found), channels, np.array(center), single=True
        ).max()
        for form in (rows, scipy.sparse.csr_array(rows))
    )
    atol = bounds * found.counts[:, None]
    assert (np.abs(found.sums - expected.sums) <= atol).all()


def test_one_dimension_is_one_column(rng):
    values = rng.normal(size=50)
    assert filled(values, n_columns=1) == filled(values[:, None], n_columns=1)
    assert filled(list(values), n_columns=1).count == 50


@pytest.mark.parametrize(
    "empty",
    [
        np.empty((0, 2)),
        np.empty((0, 2), dtype=np.float32),
        np.empty((0, 2), dtype=int),
        scipy.sparse.csr_array((0, 2)),
    ],
    ids=["float", "float32", "int", "csr"],
)
def test_an_empty_batch_changes_nothing(empty):
    sketch, plain = small(), small()
    sketch.update(empty)
    assert sketch == plain
    for each in (sketch, plain):
        each.update([[1.0, 2.0], [3.0, 4.0]])
    sketch.update(empty)
    assert sketch == plain
    # Its stream has no rows, so it is still free for another sketch.
    assert not small(stream="b").shares_streams(small(stream="b"))


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (np.ones((3, 4)), ValueError, r"`rows` must have 2 columns.*got shape \(3, 4\)"),
        (np.ones(3), ValueError, r"`rows` must have 2 columns.*got shape \(3,\)"),
        (scipy.sparse.csr_array((5, 3)), ValueError, "must have 2 columns"),
        (np.ones((2, 2, 2)), ValueError, r"`rows` must have shape \(n, n_columns\)"),
        ([[1.0, np.nan], [0.0, 0.0]], ValueError, "NaN or infinity in 1 of 2 rows"),
        ([[1.0, 2.0], [np.inf, 0.0]], ValueError, "first in row 1"),
        ([["a", "b"]], TypeError, "`rows` must hold real numbers; got strings"),
        ([[1.0, 2.0], [3.0]], ValueError, "rows of equal length"),
        ([[1j, 2.0]], TypeError, "complex"),
        (3.0, ValueError, "got a single value"),
    ],
)
def test_bad_rows_are_refused_and_change_nothing(rows, error, message):
    sketch = filled(np.ones((5, 2)))
    before = sketch.copy()
    with pytest.raises(error, match=message):
        sketch.update(rows)
    assert sketch == before
    # Row numbers did not move either: the next row goes where it would have gone.
    for each in (sketch, before):
        each.update([[1.0, 2.0]])
    assert sketch == before


def test_rows_are_left_as_they_are(rng):
    rows = rng.normal(size=(50, 2))
    kept = rows.copy()
    rows.flags.writeable = False
    filled(rows, center=[1.0, 1.0])
    np.testing.assert_array_equal(rows, kept)


# --- Parts and row numbers


def test_rows_with_numbers_go_where_their_numbers_say(rng):
    rows = rng.normal(size=(100, 2))
    whole, parts = filled(rows), small()
    for start in (60, 0, 30):
        stop = {60: 100, 0: 30, 30: 60}[start]
        parts.update(rows[start:stop], row_numbers=start)
    assert_same(parts, whole)
    chosen = rng.permutation(100)
    shuffled = small()
    shuffled.update(rows[chosen], row_numbers=chosen)
    assert_same(shuffled, whole)
    assert shuffled._streams == whole._streams


def test_parts_are_routed_by_stream_part_and_number(rng):
    rows = rng.normal(size=(300, 2))
    first, second, other = small(), small(), small(stream="b")
    first.update(rows, part="one", row_numbers=0)
    second.update(rows[100:], part="one", row_numbers=np.arange(100, 300))
    second.update(rows[:100], part="one", row_numbers=0)
    assert_same(first, second)
    other.update(rows, part="one", row_numbers=0)
    two = small()
    two.update(rows, part="two", row_numbers=0)
    for sketch in (other, two, filled(rows)):
        assert (sketch.counts != first.counts).any()
    expected = route(part_id(stream_id("a"), "one"), 0, 300, 8)
    np.testing.assert_array_equal(first.counts, np.bincount(expected, minlength=8))
    # However many parts, it is one data set.
    assert first._streams == {stream_id("a"): 300}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"part": "a"}, TypeError, "`row_numbers` must be given with `part`"),
        ({"part": 3, "row_numbers": 0}, TypeError, "`part` must be a string"),
        (
            {"row_numbers": -1},
            ValueError,
            "`row_numbers` must be an integer of at least 0",
        ),
        ({"row_numbers": 1.5}, TypeError, "`row_numbers`"),
        ({"row_numbers": [0, 1, 2]}, ValueError, "`row_numbers` must be 2 integers"),
        ({"row_numbers": [0.0, 1.0]}, ValueError, "`row_numbers` must be 2 integers"),
        ({"row_numbers": [0, -1]}, ValueError, "`row_numbers` must be 2 integers"),
        ({"row_numbers": [[0, 1]]}, ValueError, "`row_numbers` must be 2 integers"),
    ],
)
def test_bad_parts_are_refused_and_change_nothing(options, error, message):
    sketch = filled(np.ones((5, 2)))
    before = sketch.copy()
    with pytest.raises(error, match=message):
        sketch.update(np.ones((2, 2)), **options)
    assert sketch == before


def test_parts_of_one_stream_are_merged_when_asked(rng):
    rows = rng.normal(size=(100, 2))
    whole, left, right = small(), small(), small()
    left.update(rows[:70], part="one", row_numbers=0)
    right.update(rows[70:], part="two", row_numbers=0)
    whole.update(rows[:70], part="one", row_numbers=0)
    whole.update(rows[70:], part="two", row_numbers=0)
    with pytest.raises(IncompatibleSketchError, match="different data to be merged"):
        left.merge(right)
    left.merge(right, parts=True)
    # To the last bit: a batch is added up by itself either way.
    assert left == whole
    assert left._rows_routed == 100


# --- Schema

SCHEMA = {"missing": "raise", "columns": [{"name": "a", "scale": 1.5}, {"name": "b"}]}


def test_a_schema_is_kept_as_a_copy(tmp_path):
    given = copy.deepcopy(SCHEMA)
    sketch = small(schema=given)
    given["columns"].clear()
    sketch.schema["columns"].clear()
    assert sketch.schema == SCHEMA
    assert small().schema is None
    sketch.save(tmp_path / "a.mmd")
    for other in (sketch.copy(), sketch.like(), Sketch.load(tmp_path / "a.mmd")):
        assert other.schema == SCHEMA
        assert not sketch.differences(other)
    rows = np.arange(20.0)[:, None]
    assert Sketch.adaptive(rows, schema=SCHEMA).schema == SCHEMA


@pytest.mark.parametrize(
    "schema", [[1], "a", 3, {"a": {1, 2}}, {"a": float("nan")}, {"a": Gaussian(1.0)}]
)
def test_a_schema_must_be_json(schema):
    with pytest.raises(TypeError, match="`schema` must be"):
        small(schema=schema)


@pytest.mark.parametrize(
    ("other", "named"),
    [
        (None, "schema: one and none"),
        (SCHEMA | {"missing": "drop"}, "schema: missing"),
        (
            SCHEMA | {"columns": [{"name": "a", "scale": 2.0}, {"name": "b"}]},
            "column `a`$",
        ),
        (SCHEMA | {"columns": [{"name": "a", "scale": 1.5}]}, "schema: column `b`$"),
        (
            SCHEMA | {"columns": [*SCHEMA["columns"], {"name": "c"}]},
            "schema: column `c`$",
        ),
        (SCHEMA | {"columns": SCHEMA["columns"][::-1]}, "schema: order of columns"),
        (SCHEMA | {"columns": 3}, "schema: column `a`, column `b`$"),
    ],
)
def test_sketches_of_other_schemas_are_neither_merged_nor_compared(other, named):
    first, second = small(schema=SCHEMA), small(schema=other, stream="b")
    (found,) = first.differences(second)
    assert re.search(named, found)
    for sketch in (first, second):
        sketch.update(np.eye(2))
    with pytest.raises(IncompatibleSketchError, match="schema: "):
        first.merge(second)
    with pytest.raises(IncompatibleSketchError, match="schema: "):
        fastmmd.compare(first, second)
    assert first != second


# --- Arguments


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_bins": 3}, ValueError, "`n_bins` must be a power of two; got 3"),
        ({"n_bins": 6}, ValueError, "power of two"),
        ({"n_bins": 257}, ValueError, "power of two"),
        ({"n_bins": 0}, ValueError, "`n_bins` must be an integer of at least 1"),
        ({"n_bins": 8.0}, TypeError, "`n_bins`"),
        ({"rng": -1}, ValueError, "`rng` must be None, a non-negative integer"),
        ({"rng": 1.5}, TypeError, "`rng`"),
        ({"rng": True}, TypeError, "`rng`"),
        ({"rng": "zero"}, TypeError, "`rng`"),
        ({"n_frequencies": 0}, ValueError, "`n_frequencies` must be an integer"),
        ({"n_frequencies": 2.5}, TypeError, "`n_frequencies`"),
        ({"n_frequencies": [4, 4]}, ValueError, "got 2 numbers for 1 kernels"),
        ({"n_frequencies": []}, ValueError, "got 0 numbers for 1 kernels"),
        ({"n_columns": 0}, ValueError, "`n_columns`"),
        ({"n_columns": "2"}, TypeError, "`n_columns`"),
        ({"stream": 1.5}, TypeError, "`stream` must be a string"),
        ({"center": [1.0]}, ValueError, "`center` must be 2 finite numbers"),
        ({"center": [1.0, np.nan]}, ValueError, "`center` must be 2 finite numbers"),
        ({"kernel": []}, TypeError, "`kernel` must be a kernel or a sequence"),
        ({"kernel": "gaussian"}, TypeError, "`kernel` must be a kernel or a sequence"),
        ({"kernel": 3}, TypeError, "`kernel` must be a kernel or a sequence"),
        ({"kernel": Gaussian}, TypeError, "`kernel` must be a kernel or a sequence"),
        ({"kernel": [Gaussian(1.0), 2.0]}, TypeError, "`kernel` must be a kernel"),
    ],
)
def test_bad_arguments_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        small(**options)


def test_whole_numbers_of_numpy_are_taken():
    options = {"n_bins": np.int64(8), "rng": np.uint8(3), "n_frequencies": np.int32(8)}
    assert small(**options) == small(rng=3)
    assert small(n_frequencies=np.array([8])) == small(n_frequencies=(8,))


# --- Merging


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"kernel": Gaussian(2.0)}, r"kernels: .*bandwidth=1\.0.*bandwidth=2\.0"),
        ({"kernel": Laplace(1.0)}, "kernels: .*Gaussian.*Laplace"),
        ({"kernel": 2.0 * Gaussian(1.0)}, "kernels: "),
        ({"rng": 1}, "seed: 0 and 1"),
        ({"n_columns": 3}, "n_columns: 2 and 3"),
        ({"n_frequencies": 16}, r"n_frequencies: \(8,\) and \(16,\)"),
        ({"center": [0.0, 1.0]}, r"center\[1\]: 0\.0 and 1\.0"),
    ],
)
def test_sketches_made_differently_are_not_merged(options, named):
    first, second = filled(np.ones((5, 2))), small(**options | {"stream": "b"})
    before = first.copy()
    for merge in (lambda: first.merge(second), lambda: first + second):
        with pytest.raises(IncompatibleSketchError, match=named):
            merge()
    assert len(first.differences(second)) == 1
    assert first == before
    assert first != second


def test_everything_that_differs_is_named():
    found = small().differences(small(Laplace(1.0), 3, n_frequencies=4, rng=7))
    assert [text.split(":")[0] for text in found] == [
        "kernels",
        "n_columns",
        "n_frequencies",
        "seed",
    ]
    assert small().differences(small(stream="b", n_bins=2)) == []


def test_the_same_stream_is_not_merged_twice():
    first, second = filled(np.ones((5, 2))), filled(np.zeros((3, 2)))
    before = first.copy()
    with pytest.raises(IncompatibleSketchError, match=stream_id("a").hex()):
        first.merge(second)
    with pytest.raises(IncompatibleSketchError, match="Give each data set its own"):
        first.merge(first)
    assert first == before


def test_a_stream_that_came_with_a_merge_counts_too():
    first, second, third = (filled(np.ones((5, 2)), stream=s) for s in "abc")
    first.merge(second)
    third.merge(first)
    with pytest.raises(IncompatibleSketchError, match=stream_id("b").hex()):
        third.merge(second)
    assert third.shares_streams(second)
    assert not second.shares_streams(filled(np.ones((5, 2)), stream="d"))


@pytest.mark.parametrize("other", [0, None, "sketch", np.zeros(8)])
def test_only_sketches_are_merged(other):
    with pytest.raises(TypeError, match="`other` must be a Sketch"):
        small().merge(other)


def test_only_sketches_are_added():
    for other in (1, None, "sketch"):
        with pytest.raises(TypeError, match="unsupported operand"):
            small() + other
        with pytest.raises(TypeError, match=r"unsupported operand|concatenate"):
            other + small()
        assert small() != other


def test_merging_leaves_the_other_as_it_was(rng):
    first, second = (filled(rng.normal(size=(50, 2)), stream=s) for s in "ab")
    before = second.copy()
    first.merge(second)
    first.update(rng.normal(size=(50, 2)))
    assert second == before


def test_adding_leaves_both_as_they_were(rng):
    first, second = (filled(rng.normal(size=(50, 2)), stream=s) for s in "ab")
    kept = first.copy(), second.copy()
    both = first + second
    both.update(rng.normal(size=(5, 2)))
    assert (first, second) == kept
    assert both.count == 105


def test_sum_adds_sketches(rng):
    sketches = [filled(rng.normal(size=(20, 2)), stream=i) for i in range(5)]
    total = sum(sketches)
    assert total.count == 100
    merged = sketches[0].copy()
    for sketch in sketches[1:]:
        merged.merge(sketch)
    assert total == merged
    assert sketches[0].count == 20


@pytest.mark.parametrize(("finer", "coarser"), [(256, 64), (8, 1), (2, 1), (64, 64)])
def test_a_finer_sketch_is_made_coarser_by_merging(finer, coarser, rng):
    rows = rng.normal(size=(1000, 2)), rng.normal(size=(700, 2))
    fine = filled(rows[0], n_bins=finer)
    coarse = filled(rows[1], n_bins=coarser, stream="b")
    expected = filled(rows[0], n_bins=coarser) + coarse
    for found in (fine + coarse, coarse + fine):
        assert found.n_bins == coarser
        assert_same(found, expected)
    assert fine.n_bins == finer
    # Sums are exact, so their order does not matter.
    assert fine + coarse == coarse + fine


def test_a_sketch_made_coarser_goes_on_like_one_that_was_coarse_all_along(rng):
    rows = rng.normal(size=(300, 2))
    fine, coarse = small(n_bins=64), small(n_bins=16)
    fine.update(rows[:200])
    fine.merge(small(n_bins=16, stream="b"))
    fine.update(rows[200:])
    coarse.update(rows)
    assert_same(fine, coarse)


def test_taking_over_a_stream_goes_on_where_it_ended(rng):
    # Row numbers must not be used twice: two rows would be tied to one slot.
    rows = rng.normal(size=(300, 2))
    first, again = small(), small()
    first.update(rows[:200])
    again.merge(first)
    again.update(rows[200:])
    expected = filled(rows)
    assert_same(again, expected)
    assert again._streams == expected._streams


# --- Copies and equality


@pytest.mark.parametrize(
    "duplicate",
    [Sketch.copy, copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))],
    ids=["copy", "copy.copy", "deepcopy", "pickle"],
)
def test_copies_are_equal_and_independent(duplicate, rng):
    kernels = [Gaussian(1.0), fastmmd.Mixture([Gaussian(1.0), Laplace(2.0)])]
    sketch = filled(rng.normal(size=(50, 2)), kernels, center=[1.0, 2.0])
    sketch.merge(filled(rng.normal(size=(30, 2)), kernels, center=[1.0, 2.0], stream="b"))
    kept = sketch.copy()
    other = duplicate(sketch)
    assert type(other) is Sketch
    assert other == sketch
    more = rng.normal(size=(20, 2))
    other.update(more)
    assert other.count == 100
    assert sketch == kept
    # The copy goes on as the sketch itself would.
    sketch.update(more)
    assert sketch == other
    # Another sketch may be merged into one only.
    other.merge(sketch.like(stream="c"))
    third = filled(more, kernels, center=[1.0, 2.0], stream="c")
    other.merge(third)
    assert not sketch.shares_streams(third)


def test_like_is_empty_and_merges(rng):
    sketch = filled(rng.normal(size=(50, 2)), rng=3, center=[1.0, 2.0])
    other = sketch.like(stream="b")
    assert other.count == 0
    assert not other.sums.any()
    assert sketch.differences(other) == []
    other.update(rng.normal(size=(30, 2)))
    assert sketch.count == 50
    assert (sketch + other).count == 80
    expected = np.bincount(route(stream_id("b"), 0, 30, 8), minlength=8)
    np.testing.assert_array_equal(other.counts, expected)


def test_like_has_a_random_stream_unless_told():
    sketch = small()
    slots = []
    for _ in range(2):
        other = sketch.like()
        other.update(np.ones((200, 2)))
        slots.append(other.counts.tolist())
    assert slots[0] != slots[1]  # equal once in about 10^7 runs


def test_equality_is_about_what_was_seen(rng):
    rows = rng.normal(size=(50, 2))
    sketch = filled(rows)
    assert sketch == filled(rows)
    assert sketch != filled(rows, stream="b")
    assert sketch != filled(rows[:49])
    assert sketch != filled(-rows)
    assert sketch != filled(rows, n_bins=4)
    assert sketch != filled(rows, rng=1)
    assert sketch != filled(rows, center=[0.0, 1.0])
    assert sketch != rows.tolist()
    # In one slot the numbers are the same whatever the stream, but not the rows to come.
    assert filled(rows, n_bins=1) != filled(rows, n_bins=1, stream="b")
    assert small(stream="a") == small(stream="b")


def test_sketches_change_and_so_have_no_hash():
    with pytest.raises(TypeError, match="unhashable"):
        hash(small())
