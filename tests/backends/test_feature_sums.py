"""Sums of features: every backend against phases in extended precision."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import precision
import pytest
import scipy.sparse
from feature_sums import (
    channel_list,
    exact_features,
    fastfood_bounds,
    feature_bounds,
    one_bin_each,
    width,
)

import fastmmd
from fastmmd._backends import Channel, Places, native, single_radius
from fastmmd._rows import Rows
from fastmmd.frequencies import draw_fastfood

TURN = 1.0 / (2.0 * np.pi)
NEAR, NONE = 1e6, -1.0
"""Radii: all rows here in single precision, or none."""

PRECISIONS = pytest.mark.parametrize("radius", [NEAR, NONE], ids=["single", "double"])

# Around the widths of registers (4, 8, 16), panels (8, 16, 32), tiles of rows (6, 12),
# blocks of rows (96) and slices of columns (512).
ROW_COUNTS = [*range(18), 31, 32, 33, 95, 96, 97, 191, 192, 193]
COLUMN_COUNTS = [*range(1, 10), 15, 16, 17, 31, 33, 511, 512, 513, 1025]
FREQUENCY_COUNTS = [*range(1, 10), 15, 16, 17, 31, 32, 33, 63, 64, 65, 100]
SHAPES = [
    *((n, 3, 17) for n in ROW_COUNTS),
    *((13, d, 33) for d in COLUMN_COUNTS),
    *((7, 5, n) for n in FREQUENCY_COUNTS),
    *itertools.product((96, 97), (512, 513), (16, 33)),
]


def sums_of(
    backend, rows, frequencies, channels, *, radius, center=None, places=None, start=0.0
):
    checked = Rows(rows)
    places = one_bin_each(checked.n_rows) if places is None else places
    sums = np.full((len(places.edges) - 1, width(channels)), start)
    backend.matrix_feature_sums(
        sums, checked, places, frequencies, channels, center=center, single_radius=radius
    )
    return sums


def assert_features(backend, rows, frequencies, channels, *, radius, center=None):
    """Check every row's features against the reference."""
    found = sums_of(backend, rows, frequencies, channels, radius=radius, center=center)
    expected = exact_features(rows, frequencies, channels, center)
    single = radius >= 0.0
    bounds = feature_bounds(rows, frequencies, channels, center, single=single)
    assert (np.abs(found - expected) <= bounds).all()
    if single:
        assert_steps(found)
    return found


def assert_steps(sums):
    """Check that sums are whole multiples of 2^-22: what makes them exact."""
    counts = sums / precision.STEP
    np.testing.assert_array_equal(counts, np.rint(counts))


def random_sparse(rng, n_rows, n_columns, density=0.3, dtype=float):
    kept = rng.random((n_rows, n_columns)) < density
    values = np.where(kept, rng.integers(-20, 21, (n_rows, n_columns)) / 4, 0.0)
    if np.dtype(dtype).kind != "f":
        values = np.rint(values)
    values[::5] = 0.0  # rows without entries
    return scipy.sparse.csr_array(values.astype(dtype))


# --- Shapes


@PRECISIONS
def test_features_are_right_for_all_shapes(backend, radius, rng):
    for n_rows, n_columns, n_frequencies in SHAPES:
        rows = rng.normal(size=(n_rows, n_columns))
        frequencies = rng.normal(size=(n_frequencies, n_columns)) / np.sqrt(n_columns)
        channels = channel_list((TURN, n_frequencies))
        assert_features(backend, rows, frequencies, channels, radius=radius)


@PRECISIONS
def test_a_center_is_taken_off_in_double_precision(backend, radius, rng):
    # Single precision would leave nothing of these rows: its steps are 64 at 1e9.
    for n_columns in (1, 3, 8, 19, 513):
        center = 1e9 * rng.normal(size=n_columns)
        rows = center + rng.normal(size=(29, n_columns))
        frequencies = rng.normal(size=(21, n_columns)) / np.sqrt(n_columns)
        channels = channel_list((TURN, 21))
        for values in (rows, rows.astype(np.float32)):
            assert_features(
                backend, values, frequencies, channels, radius=radius, center=center
            )


# --- Values


@PRECISIONS
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3, 1e6])
def test_phases_of_all_sizes(backend, radius, size, rng):
    rows = np.concatenate([rng.normal(size=(40, 2)), np.eye(2), -np.eye(2)])
    frequencies = size * rng.normal(size=(33, 2))
    # Quarters of a turn, where range reduction changes its mind, and next to them.
    frequencies[:8, 0] = np.pi / 2 * np.rint(size) * np.arange(8)
    frequencies[8:16, 0] = np.nextafter(frequencies[:8, 0], np.inf)
    assert_features(backend, rows, frequencies, channel_list((TURN, 33)), radius=radius)


@PRECISIONS
def test_whole_and_half_turns_are_exact(backend, radius):
    # Frequencies and multiplier 1: the phase is the row itself, in turns.
    turns = np.concatenate([np.arange(-40, 41) / 4, [2.0**19, 2.0**19 + 0.5]])
    found = sums_of(
        backend, turns[:, None], np.ones((1, 1)), channel_list((1.0, 1)), radius=radius
    )
    quarters = np.rint(4 * turns).astype(int) % 4
    # The sine of half a turn is that of a rounded pi.
    slack = np.pi * 2**-52 if radius < 0 else precision.STEP
    assert np.abs(found[:, 0] - np.array([1, 0, -1, 0])[quarters]).max() <= slack
    assert np.abs(found[:, 1] - np.array([0, 1, 0, -1])[quarters]).max() <= slack
    np.testing.assert_array_equal(found[quarters == 0], [[1.0, 0.0]] * 22)


@PRECISIONS
@pytest.mark.parametrize("tiny", [5e-324, 1e-310, 1e-40, 1e-30])
def test_denormals_are_zeros(backend, radius, tiny):
    rows = tiny * np.ones((5, 3))
    found = sums_of(
        backend, rows, np.ones((4, 3)), channel_list((TURN, 4)), radius=radius
    )
    np.testing.assert_array_equal(found[:, :4], 1.0)
    # The sine of a small phase is the phase, and that is below the smallest step. Near
    # 5e-324 turns have no digits: a unit of them is 2 pi units of the phase.
    expected = 3 * tiny if radius < 0 else 0.0
    slack = 2 * precision.phase_error(expected * TURN, 3, precision.DOUBLE) + 4e-323
    assert np.abs(found[:, 4:] - expected).max() <= slack


@PRECISIONS
@pytest.mark.parametrize("huge", [1e17, 1e100, 1e300])
def test_huge_phases_have_some_feature_of_length_one(backend, radius, huge, rng):
    # No digit of the fraction is left, but a number must come out.
    rows = huge * rng.normal(size=(9, 3))
    found = sums_of(
        backend, rows, rng.normal(size=(20, 3)), channel_list((TURN, 20)), radius=radius
    )
    squares = np.square(found[:, :20]) + np.square(found[:, 20:])
    np.testing.assert_allclose(squares, 1.0, rtol=0, atol=4 * precision.STEP)


@PRECISIONS
def test_phases_that_overflow_are_not_numbers(backend, radius):
    # So that a sketch can refuse them; features of other rows stay what they are.
    rows = np.array([[1.0], [1e300], [0.0]])
    frequencies = np.array([[1e10], [1.0]])
    with np.errstate(invalid="ignore", over="ignore"):
        found = sums_of(
            backend, rows, frequencies, channel_list((TURN, 2)), radius=radius
        )
    assert np.isnan(found[1, [0, 2]]).all()
    assert np.isfinite(found[[0, 2]]).all()
    np.testing.assert_array_equal(found[2], [1.0, 1.0, 0.0, 0.0])


# --- Near and far rows


def test_rows_beyond_the_radius_are_right_to_double_precision(backend, rng):
    # Phases of 1e5: in single precision they are off by 1e5 * 2^-24, 0.006, or more.
    n_rows, n_columns = 300, 3
    frequencies = rng.normal(size=(20, n_columns))
    channels = channel_list((TURN, 20))
    directions = rng.normal(size=(n_rows, n_columns))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    radius = 1e5
    far = rng.random(n_rows) < 0.4  # near and far in the same blocks
    rows = directions * np.where(far, 1.0 + 1e-9, 1.0 - 1e-9)[:, None] * radius
    found = sums_of(backend, rows, frequencies, channels, radius=radius)
    errors = np.abs(found - exact_features(rows, frequencies, channels))
    bounds = feature_bounds(rows, frequencies, channels, single=~far)
    assert (errors <= bounds).all()
    assert_steps(found)
    if backend.is_native:
        # The bound tells the two apart: near rows are not that exact.
        rounded = feature_bounds(
            rows, frequencies, channels, single=np.zeros(n_rows, bool)
        )
        assert (errors[~far] > rounded[~far]).mean() > 0.9


@pytest.mark.parametrize("far", ["none", "first", "last", "alternating", "all"])
def test_near_and_far_rows_keep_their_bins(backend, far, rng):
    n_rows = 205
    is_far = {
        "none": np.zeros(n_rows, bool),
        "first": np.arange(n_rows) < 100,
        "last": np.arange(n_rows) >= 100,
        "alternating": np.arange(n_rows) % 2 == 0,
        "all": np.ones(n_rows, bool),
    }[far]
    rows = rng.normal(size=(n_rows, 2)) * np.where(is_far, 1e3, 0.1)[:, None]
    is_far = np.linalg.norm(rows, axis=1) > 10.0
    frequencies = rng.normal(size=(17, 2))
    channels = channel_list((TURN, 17))
    order = rng.permutation(n_rows)
    places = Places(np.array([0, 3, 3, 120, n_rows]), order)
    for values in (rows, scipy.sparse.csr_array(rows)):
        features = sums_of(backend, values, frequencies, channels, radius=10.0)
        errors = np.abs(features - exact_features(rows, frequencies, channels))
        bounds = feature_bounds(rows, frequencies, channels, single=~is_far)
        assert (errors <= bounds).all()
        found = sums_of(
            backend, values, frequencies, channels, radius=10.0, places=places
        )
        np.testing.assert_array_equal(found, bin_sums(features, places))


def test_the_radius_leaves_small_errors_only(rng):
    # The promise of `SINGLE_TURNS`: errors of 2e-5 in phases of that size, a few more for
    # the longest frequencies.
    frequencies = rng.normal(size=(100, 4))
    channels = channel_list((TURN, 100), (2 * TURN, 50))
    squares = np.square(frequencies).sum(axis=1)
    radius = single_radius(
        float(np.sqrt(squares.mean() / 4)), float(np.sqrt(squares.max())), channels
    )
    assert radius == pytest.approx(32 * np.pi / np.sqrt(squares.mean() / 4))
    rows = rng.normal(size=(200, 4))
    rows *= 0.999 * radius / np.linalg.norm(rows, axis=1, keepdims=True)
    bounds = feature_bounds(rows, frequencies, channels, single=True)
    assert bounds.max() < 5e-4


@pytest.mark.parametrize(
    ("typical", "largest", "multiplier"),
    [(1e-19, 1.0, 1.0), (1e19, 1e19, 1.0), (1.0, 1e19, 1.0), (1.0, 1.0, 1e-19)],
)
def test_single_precision_gives_way_where_it_would_overflow(typical, largest, multiplier):
    assert single_radius(typical, largest, channel_list((multiplier, 1))) < 0.0


# --- Bins


def bin_sums(features, places):
    """Add up the features of each bin, in exact arithmetic if they are steps."""
    chosen = features if places.order is None else features[places.order]
    return np.stack(
        [chosen[a:b].sum(axis=0) for a, b in itertools.pairwise(places.edges)]
    )


def place_lists(rng, n_rows):
    edges = np.sort(rng.integers(0, n_rows + 1, 6))
    return {
        "one bin": Places(np.array([0, n_rows])),
        "single rows": one_bin_each(n_rows),
        "empty bins": Places(np.array([0, 0, 0, *edges, n_rows, n_rows])),
        "shuffled": Places(np.array([0, *edges, n_rows]), rng.permutation(n_rows)),
        "repeats": Places(
            np.array([0, 5, 5, 400]), rng.integers(0, n_rows, 400).astype(np.int64)
        ),
        "omissions": Places(np.array([0, 1, 7]), rng.permutation(n_rows)[:7]),
        "one row often": Places(np.array([0, 250]), np.full(250, 3)),
        "backwards": Places(np.array([0, n_rows]), np.arange(n_rows)[::-1].copy()),
        "nothing": Places(np.array([0, 0, 0]), np.empty(0, np.int64)),
    }


PLACES = list(place_lists(np.random.default_rng(0), 100))


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("name", PLACES)
def test_sums_are_those_of_the_rows_in_each_bin(backend, name, form, rng):
    rows = rng.normal(size=(230, 4))
    if form == "sparse":
        rows = random_sparse(rng, 230, 4)
    places = place_lists(rng, 230)[name]
    frequencies = rng.normal(size=(37, 4))
    channels = channel_list((TURN, 37), (2 * TURN, 20))
    for radius in (NEAR, NONE):
        features = sums_of(backend, rows, frequencies, channels, radius=radius)
        found = sums_of(
            backend, rows, frequencies, channels, radius=radius, places=places, start=2.0
        )
        expected = 2.0 + bin_sums(features, places)
        if radius >= 0.0 and backend.is_native:
            np.testing.assert_array_equal(found, expected)
            continue
        # Two ways to add n numbers of at most 1, each within n eps a number. In NumPy a
        # phase may be rounded otherwise in a product of another shape: a step or, in
        # double precision, the phase error of every row.
        counts = np.diff(places.edges)[:, None] + 2.0
        steps = precision.STEP if radius >= 0.0 else 0.0
        own = 2 * feature_bounds(rows, frequencies, channels, single=False).max()
        atol = counts * (2 * counts * precision.DOUBLE * 2 + steps + own)
        assert (np.abs(found - expected) <= atol).all()


def test_untouched_columns_and_bins_keep_what_they_hold(backend, rng):
    rows, frequencies = rng.normal(size=(20, 2)), rng.normal(size=(9, 2))
    channels = (Channel(TURN, 9, 25), Channel(3 * TURN, 4, 3))  # gaps, any order
    for radius in (NEAR, NONE):
        sums = np.full((3, 50), 7.0)
        backend.matrix_feature_sums(
            sums,
            Rows(rows),
            Places(np.array([0, 20, 20, 20])),
            frequencies,
            channels,
            center=None,
            single_radius=radius,
        )
        touched = np.zeros(50, bool)
        touched[3:11] = touched[25:43] = True
        assert (sums[0, touched] != 7.0).all()
        np.testing.assert_array_equal(sums[0, ~touched], 7.0)
        np.testing.assert_array_equal(sums[1:], 7.0)


@pytest.mark.parametrize("form", ["dense", "sparse", "integers"])
def test_work_that_is_cut_into_calls(backend, form, rng, monkeypatch):
    rows = rng.integers(-9, 10, size=(2500, 3))
    rows = {
        "dense": rows.astype(float),
        "sparse": scipy.sparse.csr_array(rows),
        "integers": rows.astype(np.int16),
    }[form]
    frequencies = rng.normal(size=(5, 3))
    channels = channel_list((TURN, 5))
    edges = np.concatenate([[0, 0], np.sort(rng.integers(0, 2500, 40)), [2500, 2500]])
    lists = [Places(edges), Places(edges, rng.permutation(2500))]
    whole = [
        sums_of(backend, rows, frequencies, channels, radius=NEAR, places=places)
        for places in lists
    ]
    monkeypatch.setattr(native, "_CALL_NUMBERS", 1)  # calls of 1024 rows
    monkeypatch.setattr(native, "_CONVERTED_NUMBERS", 1)  # calls of 16 rows
    for places, expected in zip(lists, whole, strict=True):
        found = sums_of(backend, rows, frequencies, channels, radius=NEAR, places=places)
        np.testing.assert_array_equal(found, expected)
        n_rows = np.diff(places.edges)
        np.testing.assert_array_equal(found.any(axis=1), n_rows > 0)


# --- Channels

CHANNELS = {
    "one": [(1.0, 40)],
    "chain": [(1.0, 40), (2.0, 40), (4.0, 40), (8.0, 40)],
    "backwards": [(8.0, 40), (4.0, 40), (2.0, 40), (1.0, 40)],
    "long chain": [(2.0**k / 8, 33) for k in range(7)],
    "growing": [(1.0, 1), (2.0, 17), (4.0, 18), (8.0, 40)],
    "shrinking": [(1.0, 40), (2.0, 18), (4.0, 17), (8.0, 1)],
    "up and down": [(1.0, 16), (2.0, 40), (4.0, 5), (8.0, 33), (16.0, 40)],
    "equal": [(1.0, 40), (1.0, 40), (1.0, 7)],
    "equal in a chain": [(1.0, 9), (2.0, 40), (2.0, 40), (4.0, 40), (1.0, 40)],
    "unrelated": [(1.0, 31), (3.0, 32), (0.7, 33)],
    "two chains": [(1.0, 40), (3.0, 20), (2.0, 40), (6.0, 40), (1.5, 8)],
    "nearly double": [(1.0, 40), (2.0 + 1e-10, 40), (4.0 - 1e-12, 40)],
}


@pytest.mark.parametrize("form", ["dense", "sparse", "columns"])
@pytest.mark.parametrize("name", CHANNELS)
def test_channels_share_a_projection(backend, name, form, rng):
    rows, n_columns = rng.normal(size=(101, 3)), 3
    if form == "sparse":
        rows = random_sparse(rng, 101, 3)
    if form == "columns":  # more than a slice
        rows, n_columns = rng.normal(size=(13, 520)), 520
    frequencies = rng.normal(size=(40, n_columns)) / np.sqrt(n_columns)
    channels = channel_list(*((TURN * m, n) for m, n in CHANNELS[name]))
    for radius in (NEAR, NONE):
        assert_features(backend, rows, frequencies, channels, radius=radius)


@PRECISIONS
def test_doubled_angles_near_whole_turns(backend, radius):
    # Where doubling by 2 c^2 - 1 would take four times the error of the angle before, and
    # where sines pass 1 by a rounding. The phase is the row itself in turns, exactly.
    grid = np.arange(-2000, 2001) * 2.0**-16
    turns = np.concatenate([k / 16 + grid for k in range(16)])[:, None]
    channels = channel_list(*((2.0**k, 1) for k in range(4)))
    assert_features(backend, turns, np.ones((1, 1)), channels, radius=radius)


# --- Sparse rows


@PRECISIONS
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.uint64, bool])
def test_sparse_rows(backend, radius, dtype, index, rng):
    for n_rows, n_columns, n_frequencies in [
        (0, 3, 5),
        (1, 1, 1),
        (7, 5, 17),
        (100, 20, 33),
        (97, 600, 32),
        (193, 9, 100),
    ]:
        rows = random_sparse(rng, n_rows, n_columns, dtype=float)
        rows = abs(rows) if np.dtype(dtype).kind in "ub" else rows
        rows = rows.astype(dtype)
        rows.indices, rows.indptr = rows.indices.astype(index), rows.indptr.astype(index)
        frequencies = rng.normal(size=(n_frequencies, n_columns)) / np.sqrt(n_columns)
        channels = channel_list((TURN, n_frequencies), (2 * TURN, n_frequencies))
        for center in (None, rng.normal(size=n_columns)):
            assert_features(
                backend, rows, frequencies, channels, radius=radius, center=center
            )


@PRECISIONS
def test_rows_without_entries_have_the_features_of_zero(backend, radius, rng):
    rows = scipy.sparse.csr_array((7, 4))
    center = rng.normal(size=4)
    frequencies, channels = rng.normal(size=(5, 4)), channel_list((TURN, 5))
    found = sums_of(backend, rows, frequencies, channels, radius=radius)
    np.testing.assert_array_equal(found, [[1.0] * 5 + [0.0] * 5] * 7)
    assert_features(backend, rows, frequencies, channels, radius=radius, center=center)


def test_far_sparse_rows_are_right_to_double_precision(backend, rng):
    rows = random_sparse(rng, 150, 6) * 1e4
    frequencies, channels = rng.normal(size=(40, 6)), channel_list((TURN, 40))
    lengths = np.linalg.norm(rows.toarray(), axis=1)
    radius = float(np.median(lengths[lengths > 0])) * (1 + 1e-9)
    found = sums_of(backend, rows, frequencies, channels, radius=radius)
    errors = np.abs(found - exact_features(rows, frequencies, channels))
    near = lengths <= radius
    assert 30 < near.sum() < 120
    assert (errors <= feature_bounds(rows, frequencies, channels, single=near)).all()


@pytest.mark.parametrize("distance", [0.0, 30.0, 1e5])
def test_sparse_rows_far_from_the_center(backend, distance, rng):
    # The rows' own lengths do not tell: at the origin they are near, but not the center.
    rows = random_sparse(rng, 150, 6)
    center = distance * np.array([1.0, -2.0, 1.0, 3.0, -1.0, 1.0]) / np.sqrt(17)
    frequencies, channels = 50 * rng.normal(size=(40, 6)), channel_list((TURN, 40))
    found = sums_of(backend, rows, frequencies, channels, radius=36.0, center=center)
    errors = np.abs(found - exact_features(rows, frequencies, channels, center))
    lengths = np.linalg.norm(rows.toarray(), axis=1)
    near = lengths + distance <= 36.0
    assert near.all() if distance == 0.0 else not near.all()
    bounds = feature_bounds(rows, frequencies, channels, center, single=near)
    assert (errors <= bounds).all()
    assert_steps(found)


@pytest.mark.parametrize("what", ["strided", "mixed indices", "read-only"])
def test_sparse_rows_of_other_layouts(backend, what, rng):
    plain = random_sparse(rng, 60, 5)
    rows = plain.copy()
    if what == "strided":
        rows.data, rows.indices = (
            np.repeat(a, 2)[::2] for a in (plain.data, plain.indices)
        )
    elif what == "mixed indices":
        rows.indptr = plain.indptr.astype(np.int64)
    else:
        for array in (rows.data, rows.indices, rows.indptr):
            array.flags.writeable = False
    frequencies, channels = rng.normal(size=(9, 5)), channel_list((TURN, 9))
    for center in (None, rng.normal(size=5)):
        expected, found = (
            sums_of(backend, each, frequencies, channels, radius=NEAR, center=center)
            for each in (plain, rows)
        )
        np.testing.assert_array_equal(found, expected)


# --- Layouts and types of dense rows


def structured(rows):
    """Return rows as a field of records: strides are no multiples of a number's size."""
    records = np.zeros(len(rows), dtype=[("flag", "i1"), ("row", "f8", rows.shape[1:])])
    records["row"] = rows
    return records["row"]


def memory_map(rows, folder):
    path = folder / "rows.npy"
    np.save(path, rows)
    return np.load(path, mmap_mode="r")


def unaligned(rows):
    """Return rows that start at an odd address."""
    buffer = np.zeros(rows.nbytes + 1, dtype=np.uint8)
    values = buffer[1:].view(np.float64).reshape(rows.shape)
    values[:] = rows
    return values


LAYOUTS = {
    "Fortran": lambda rows, _: np.asfortranarray(rows),
    "columns": lambda rows, _: np.repeat(rows, 3, axis=1)[:, ::3],
    "rows": lambda rows, _: np.repeat(rows, 2, axis=0)[::2],
    "reversed": lambda rows, _: rows[::-1, ::-1].copy()[::-1, ::-1],
    "part": lambda rows, _: np.pad(rows, 2)[2:-2, 2:-2],
    "read-only": lambda rows, _: np.frombuffer(rows.tobytes()).reshape(rows.shape),
    "memory-mapped": memory_map,
    "records": lambda rows, _: structured(rows),
    "odd address": lambda rows, _: unaligned(rows),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_do_not_matter(backend, layout, rng, tmp_path):
    for n_rows, n_columns in ((1, 1), (45, 1), (45, 7), (100, 16), (13, 520)):
        rows = rng.normal(size=(n_rows, n_columns))
        arranged = LAYOUTS[layout](rows, tmp_path)
        before = arranged.copy()
        if arranged.flags.writeable:
            arranged.flags.writeable = False
        frequencies = rng.normal(size=(19, n_columns)) / np.sqrt(n_columns)
        channels = channel_list((TURN, 19))
        center = rng.normal(size=n_columns)
        order = rng.permutation(n_rows)
        places = Places(np.arange(n_rows + 1), order)
        for radius in (NEAR, NONE):
            options = {"radius": radius, "center": center}
            expected = sums_of(backend, rows, frequencies, channels, **options)
            found = sums_of(backend, arranged, frequencies, channels, **options)
            shuffled = sums_of(
                backend, arranged, frequencies, channels, places=places, **options
            )
            if backend.is_native:
                np.testing.assert_array_equal(found, expected)
                np.testing.assert_array_equal(shuffled, expected[order])
            else:
                # BLAS goes another way through another layout.
                bounds = 2 * feature_bounds(
                    rows, frequencies, channels, center, single=radius >= 0.0
                )
                assert (np.abs(found - expected) <= bounds).all()
                assert (np.abs(shuffled - expected[order]) <= bounds[order]).all()
        np.testing.assert_array_equal(arranged, before)


TYPES = [
    *("i1", "u1", "i2", "u4", "i4", "i8", "u8", "?"),
    *("f2", "f4", "f8", "g", ">f4", ">f8", ">i2"),
]


@pytest.mark.parametrize("dtype", TYPES)
def test_types_of_numbers_do_not_matter(backend, dtype, rng):
    values = rng.integers(0, 2 if dtype == "?" else 50, size=(45, 5))
    rows, expected_rows = values.astype(dtype), values.astype(float)
    frequencies = rng.normal(size=(19, 5)) / 10
    channels = channel_list((TURN, 19))
    for radius, center in itertools.product((NEAR, NONE), (None, rng.normal(size=5))):
        options = {"radius": radius, "center": center}
        expected = sums_of(backend, expected_rows, frequencies, channels, **options)
        found = sums_of(backend, rows, frequencies, channels, **options)
        np.testing.assert_array_equal(found, expected)


def test_frequencies_may_have_any_layout(backend, rng):
    rows, frequencies = rng.normal(size=(20, 4)), rng.normal(size=(9, 4))
    channels = channel_list((TURN, 9))
    for radius in (NEAR, NONE):
        for other in (np.asfortranarray(frequencies), frequencies[::-1].copy()[::-1]):
            other.flags.writeable = False
            assert_features(backend, rows, other, channels, radius=radius)


# --- Fastfood


def fastfood_blocks(n_frequencies, n_columns, rng):
    return draw_fastfood(fastmmd.Gaussian(1.0), n_frequencies, n_columns, rng=rng).blocks


def fastfood_sums(backend, rows, blocks, channels, *, radius, center=None, places=None):
    checked = Rows(rows)
    places = one_bin_each(checked.n_rows) if places is None else places
    sums = np.zeros((len(places.edges) - 1, width(channels)))
    backend.fastfood_feature_sums(
        sums, checked, places, blocks, channels, center=center, single_radius=radius
    )
    return sums


def hadamard_matrix(size):
    """Return the matrix of (-1)^(bits that i and j share)."""
    places = np.arange(size)
    return 1.0 - 2.0 * (np.bitwise_count(places[:, None] & places) % 2)


def dense_fastfood(blocks):
    """Return the frequencies as the product of the chain of matrices."""
    padded = blocks.signs.shape[1]
    hadamard = hadamard_matrix(padded)
    parts = [
        (scales[:, None] * hadamard * normals) @ hadamard[order] * signs
        for signs, order, normals, scales in zip(
            blocks.signs, blocks.order, blocks.normals, blocks.scales, strict=True
        )
    ]
    return np.concatenate(parts)[: blocks.n_frequencies, : blocks.n_columns]


FASTFOOD_SHAPES = [
    (1, 1, 1),
    (9, 5, 1),
    (0, 3, 2),
    (7, 8, 4),
    (8, 10, 5),
    (9, 3, 100),
    (17, 33, 6),
    (5, 64, 64),
    (5, 65, 64),
    (5, 100, 33),
    (4, 127, 33),
    (3, 513, 256),
    (2, 300, 1025),
]


@functools.cache
def fastfood_cases():
    """Return rows, blocks, channels, center and what is right; slow, so once only."""
    rng = np.random.default_rng(8)
    cases = []
    for n_rows, n_frequencies, n_columns in FASTFOOD_SHAPES:
        blocks = fastfood_blocks(n_frequencies, n_columns, rng)
        rows = rng.integers(-8, 9, size=(n_rows, n_columns)).astype(float)
        channels = channel_list(
            (TURN, n_frequencies), (2 * TURN, (n_frequencies + 1) // 2)
        )
        dense = dense_fastfood(blocks)
        for center in (None, rng.normal(size=n_columns)):
            right = exact_features(rows, dense, channels, center)
            cases.append((rows, blocks, channels, center, right))
    return cases


FORMS = {
    "columns": np.asfortranarray,
    "float32": lambda rows: rows.astype(np.float32),
    "integers": lambda rows: rows.astype(np.int16),
    "sparse": scipy.sparse.csr_array,
}


@PRECISIONS
@pytest.mark.parametrize("form", FORMS)
def test_fastfood_features_are_right_for_all_shapes(backend, radius, form):
    single = radius >= 0.0
    for rows, blocks, channels, center, expected in fastfood_cases():
        found = fastfood_sums(
            backend, FORMS[form](rows), blocks, channels, radius=radius, center=center
        )
        bounds = fastfood_bounds(rows, blocks, channels, center, single=single)
        assert (np.abs(found - expected) <= bounds).all()
        if single:
            assert_steps(found)


def test_far_rows_of_fastfood_are_right_to_double_precision(backend, rng):
    blocks = fastfood_blocks(20, 3, rng)
    channels = channel_list((TURN, 20))
    rows = rng.normal(size=(60, 3)) * 1e5
    lengths = np.linalg.norm(rows, axis=1)
    radius = float(np.median(lengths))
    found = fastfood_sums(backend, rows, blocks, channels, radius=radius)
    errors = np.abs(found - exact_features(rows, dense_fastfood(blocks), channels))
    single, double = (
        fastfood_bounds(rows, blocks, channels, None, single=flag)
        for flag in (True, False)
    )
    far = lengths > radius
    value = precision.feature_error(0.0, 3, single=True)
    assert (errors[far] <= double[far] + value).all()
    assert (errors[~far] <= single[~far]).all()
    assert_steps(found)
    order = rng.permutation(60)
    places = Places(np.array([0, 1, 1, 31, 60]), order)
    sums = fastfood_sums(backend, rows, blocks, channels, radius=radius, places=places)
    np.testing.assert_array_equal(sums, bin_sums(found, places))


# --- Nothing depends on who computes what


@pytest.fixture(scope="module")
def large():
    """Return enough work for several parts: 2e6 phases make one."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(3600, 3))
    rows[::50] *= 1e4  # some far away
    order = rng.permutation(3600)
    edges = np.concatenate([[0], np.sort(rng.integers(0, 3600, 30)), [3600]])
    return {
        "dense": rows,
        "float32": rows.astype(np.float32),
        "sparse": scipy.sparse.csr_array(np.where(rng.random(rows.shape) < 0.5, rows, 0)),
        "frequencies": rng.normal(size=(1200, 3)),
        "blocks": fastfood_blocks(1200, 3, rng),
        "one bin": Places(np.array([0, 3600])),
        "many bins": Places(edges, order),
    }


@pytest.mark.parametrize("form", ["dense", "sparse", "fastfood"])
@pytest.mark.parametrize("bins", ["one bin", "many bins"])
@PRECISIONS
def test_threads_do_not_matter(compiled, form, bins, radius, large):
    radius = 1e3 if radius >= 0.0 else radius
    channels = channel_list((TURN, 1200), (2 * TURN, 300))
    results = []
    for n_threads in (1, 2, 3, 8):
        with fastmmd.threads(n_threads):
            results.append(
                fastfood_sums(
                    compiled,
                    large["dense"],
                    large["blocks"],
                    channels,
                    radius=radius,
                    places=large[bins],
                )
                if form == "fastfood"
                else sums_of(
                    compiled,
                    large[form],
                    large["frequencies"],
                    channels,
                    radius=radius,
                    places=large[bins],
                )
            )
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])
    assert np.abs(results[0]).max() > 1.0


@pytest.mark.parametrize("form", ["dense", "float32", "sparse", "fastfood"])
def test_order_and_batches_do_not_matter_in_single_precision(backend, form, large, rng):
    frequencies, blocks = large["frequencies"][:70], fastfood_blocks(70, 3, rng)
    channels = channel_list((TURN, 70), (2 * TURN, 50))
    rows = large["dense" if form == "fastfood" else form][:900]
    center = rng.normal(size=3)

    def total(pieces):
        sums = np.zeros((1, width(channels)))
        for piece in pieces:
            options = {"center": center, "single_radius": 1e3}
            places = Places(np.array([0, piece.shape[0]]))
            if form == "fastfood":
                backend.fastfood_feature_sums(
                    sums, Rows(piece), places, blocks, channels, **options
                )
            else:
                backend.matrix_feature_sums(
                    sums, Rows(piece), places, frequencies, channels, **options
                )
        return sums

    whole = total([rows])
    assert_steps(whole)
    cuts = np.sort(rng.integers(0, 900, 8))
    edges = [0, *cuts, 900]
    pieces = [rows[a:b] for a, b in itertools.pairwise(edges)]
    shuffled = rows[rng.permutation(900)]
    for found in (total(pieces), total(pieces[::-1]), total([shuffled])):
        if backend.is_native:
            np.testing.assert_array_equal(found, whole)
        else:
            # BLAS may round a phase otherwise in a product of another shape, which turns
            # a step now and then.
            assert np.abs(found - whole).max() <= 3 * precision.STEP


@pytest.mark.skipif(
    not {"avx2", "avx512"} <= set(native.targets()), reason="needs AVX2 and AVX-512"
)
@pytest.mark.parametrize("form", ["dense", "float32", "sparse"])
def test_avx2_and_avx512_agree_to_the_last_bit(form, large, use_target):
    # Both fuse the same products and sums, lane by lane, and double the same angles. Not
    # so Fastfood, whose products the compiler fuses as it likes.
    channels = channel_list(
        (TURN, 1190), (2 * TURN, 1200), (3 * TURN, 70), (4 * TURN, 20), (6 * TURN, 87)
    )
    results = []
    for target in ("avx2", "avx512"):
        use_target(target)
        options = {"radius": 1e3, "places": large["many bins"]}
        results.append(
            sums_of(native, large[form], large["frequencies"], channels, **options)
        )
    np.testing.assert_array_equal(*results)


def test_inputs_are_never_written_to(backend, rng):
    rows = rng.normal(size=(130, 5))
    sparse = random_sparse(rng, 130, 5)
    frequencies, center = rng.normal(size=(20, 5)), rng.normal(size=5)
    blocks = fastfood_blocks(20, 5, rng)
    places = Places(np.array([0, 60, 130]), rng.permutation(130))
    arrays = [rows, sparse.data, sparse.indices, sparse.indptr, frequencies, center]
    arrays += [places.edges, places.order]
    arrays += [blocks.signs, blocks.order, blocks.normals, blocks.scales]
    before = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    channels = channel_list((TURN, 20), (2 * TURN, 20))
    for radius in (2.0, NEAR, NONE):
        options = {"radius": radius, "center": center, "places": places}
        for each in (rows, sparse):
            sums_of(backend, each, frequencies, channels, **options)
            fastfood_sums(backend, each, blocks, channels, **options)
    for array, kept in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, kept)
