"""Sketches of sources: the same from every format, whatever the batches and the threads."""

from __future__ import annotations

import functools
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import fastmmd
from fastmmd import DataError, DataWarning, IncompatibleSketchError, Sketch
from fastmmd.sketch.routing import part_id, route_numbers, stream_id
from fastmmd.tables import (
    Schema,
    new_sketch,
    open_source,
    schema_of,
    sketch_part,
    sketch_source,
)
from fastmmd.tables.sample import draw_sample, sample_size
from fastmmd.tables.source import batch_rows_for

EPS = np.finfo(float).eps

# How far one single-precision feature can move when its phase is rounded otherwise.
FLIP = 3.6e-7

KERNELS = [fastmmd.Gaussian(2.0), fastmmd.Gaussian(0.5)]


def make(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "x": rng.normal(size=n),
            "i": rng.integers(0, 100, n),
            "s": rng.choice(["a", "b", "c"], n),
            "b": rng.random(n) < 0.4,
            "d": pa.array(np.datetime64("2018-01-01") + rng.integers(0, 999, n)),
            "t": pa.array(
                np.datetime64("2018-01-01", "s")
                + rng.integers(0, 10**6, n).astype("m8[s]")
            ),
        }
    )


TABLE = make()


@functools.cache
def reference():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return new_sketch(TABLE, kernel=KERNELS, n_bins=16)


def by_hand(table, stream, names=None, numbers=None):
    """Return the sketch of an encoded table, made by `Sketch.update` alone."""
    sketch = reference().like(stream=stream)
    rows = schema_of(sketch).encode(table)
    sketch.update(
        rows, part=names, row_numbers=np.arange(len(rows)) if numbers is None else numbers
    )
    return sketch


def assert_close(first, second):
    """Check that counts agree exactly and sums up to a rounding of every feature."""
    assert not first.differences(second)
    np.testing.assert_array_equal(first.counts, second.counts)
    atol = (FLIP + 2 * first.count * EPS) * first.counts[:, None]
    assert (np.abs(first.sums - second.sums) <= atol).all()


@pytest.fixture
def small_batches(monkeypatch):
    """Let batches have 128 rows, so that few rows make many of them."""
    monkeypatch.setattr("fastmmd.tables.source._FEWEST_ROWS", 128)
    monkeypatch.setattr("fastmmd.tables.source._MOST_ROWS", 128)


# --- The same sketch from everywhere


def write_everywhere(folder):
    pq.write_table(TABLE, folder / "a.parquet", row_group_size=700)
    pacsv.write_csv(TABLE, folder / "a.csv")
    feather.write_feather(TABLE, str(folder / "a.feather"), chunksize=500)
    pl.from_arrow(TABLE).write_parquet(folder / "polars.parquet", row_group_size=1000)
    return {
        **{path.name: path for path in sorted(folder.iterdir())},
        "arrow": TABLE,
        "pandas": TABLE.to_pandas(),
        "polars": pl.from_arrow(TABLE),
    }


def test_the_same_sketch_from_every_format_and_library(tmp_path):
    # Each with a schema and kernels of its own: those must agree, too.
    found = {
        name: sketch_source(data, stream="s", n_bins=16)
        for name, data in write_everywhere(tmp_path).items()
    }
    assert len(found) == 7
    for sketch in found.values():
        assert_close(sketch, found["arrow"])
    assert found["arrow"].count == len(TABLE)


def test_a_file_is_routed_like_an_array(tmp_path):
    pq.write_table(TABLE, tmp_path / "a.parquet", row_group_size=700)
    found = sketch_source(tmp_path / "a.parquet", like=reference(), stream="s")
    plain = reference().like(stream="s")
    plain.update(schema_of(plain).encode(TABLE))
    assert_close(found, plain)


def test_files_of_a_folder_are_routed_by_name_and_row(tmp_path):
    for i in range(3):
        pq.write_table(TABLE.slice(1000 * i, 1000), tmp_path / f"{i}.parquet")
    found = sketch_source(tmp_path, like=reference(), stream="s")
    expected = np.zeros(16, dtype=int)
    for i in range(3):
        key = part_id(stream_id("s"), f"{i}.parquet")
        slots = route_numbers(key, np.arange(1000, dtype=np.uint64), 16)
        expected += np.bincount(slots, minlength=16)
    np.testing.assert_array_equal(found.counts, expected)
    # The same files, a row group at a time and elsewhere, make the same slots.
    for i in range(3):
        pq.write_table(
            TABLE.slice(1000 * i, 1000), tmp_path / f"{i}.parquet", row_group_size=77
        )
    again = sketch_source(tmp_path, like=reference(), stream="s")
    assert_close(again, found)


def test_rows_keep_their_numbers_when_others_are_left_out():
    gaps = TABLE.set_column(
        0, "x", pa.array([None, 1.0, float("nan"), None, 2.0, None] * 500)
    )
    like = new_sketch(gaps, kernel=KERNELS, n_bins=16, missing="drop")
    found = sketch_source(gaps, like=like, stream="s")
    kept = np.arange(1, 3000, 3)
    assert found.count == 1000
    slots = route_numbers(stream_id("s"), kept.astype(np.uint64), 16)
    np.testing.assert_array_equal(found.counts, np.bincount(slots, minlength=16))
    source = open_source(TABLE, where="i < 50")
    numbers = np.flatnonzero(TABLE["i"].to_numpy() < 50)
    filtered = sketch_source(source, like=reference(), stream="s")
    assert_close(filtered, by_hand(TABLE.take(numbers), "s", numbers=numbers))


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_threads_do_not_change_a_bit(n_threads, tmp_path):
    pq.write_table(TABLE, tmp_path / "a.parquet", row_group_size=700)
    source = open_source(tmp_path / "a.parquet")
    found = sketch_source(source, like=reference(), stream="s", n_threads=n_threads)
    # What tasks on several machines would do, one after the other.
    empty = reference().like(stream="s")
    parts = [
        sketch_part(*pickle.loads(pickle.dumps((empty, source, part))))
        for part in source.parts()
    ]
    merged = empty.copy()
    for part in parts:
        merged.merge(part, parts=True)
    assert found == merged
    found.save(tmp_path / "found.mmd")
    merged.save(tmp_path / "merged.mmd")
    assert (tmp_path / "found.mmd").read_bytes() == (tmp_path / "merged.mmd").read_bytes()
    assert len(parts) == 5


def test_batches_change_sums_by_rounding_only(tmp_path, monkeypatch):
    pq.write_table(TABLE, tmp_path / "a.parquet", row_group_size=700)
    sketches = []
    for rows in (16, 128, 2**16):
        monkeypatch.setattr("fastmmd.tables.source._FEWEST_ROWS", rows)
        monkeypatch.setattr("fastmmd.tables.source._MOST_ROWS", rows)
        sketches.append(
            sketch_source(tmp_path / "a.parquet", like=reference(), stream="s")
        )
    for sketch in sketches[1:]:
        assert_close(sketch, sketches[0])


def test_the_stream_follows_from_the_files(tmp_path):
    pq.write_table(TABLE, tmp_path / "a.parquet")
    pq.write_table(TABLE, tmp_path / "b.parquet")
    first, again, other = (
        sketch_source(tmp_path / f"{name}.parquet", like=reference()) for name in "aab"
    )
    assert first == again
    assert first.shares_streams(again)
    assert not first.shares_streams(other)
    assert fastmmd.compare(first, other, rng=0).pvalue > 0.01
    tables = [sketch_source(TABLE, like=reference()) for _ in range(2)]
    assert not tables[0].shares_streams(tables[1])


# --- Schema and kernels


def test_a_sketch_of_another_schema_is_refused_by_column():
    other = sketch_source(TABLE, columns=["x", "i"], kernel=KERNELS, stream="b")
    mine = sketch_source(TABLE, columns=["x", "s"], kernel=KERNELS, stream="a")
    message = "schema: column `s`, column `i`"
    with pytest.raises(IncompatibleSketchError, match=message):
        fastmmd.compare(mine, other)
    with pytest.raises(IncompatibleSketchError, match=message):
        mine.merge(other)


def test_the_schema_travels_with_the_file(tmp_path):
    sketch = sketch_source(TABLE, stream="a", missing="indicator")
    sketch.save(tmp_path / "a.mmd")
    loaded = Sketch.load(tmp_path / "a.mmd")
    assert schema_of(loaded) == schema_of(sketch)
    assert schema_of(loaded).missing == "indicator"
    more = sketch_source(make(500, seed=2), like=loaded, stream="b")
    assert (loaded + more).count == 3500


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ("gaussian", 1),
        (fastmmd.Laplace(1.0), 1),
        (["gaussian", "laplace"], 2),
        ("adaptive", 7),
    ],
)
def test_kernels(kernel, expected):
    sketch = new_sketch(TABLE, kernel=kernel, columns=["x", "i"], n_rows=10**6)
    assert len(sketch.kernels) == expected
    assert sketch.n_columns == 2


def test_kernels_are_those_of_the_test_for_the_same_rows():
    rows = Schema.infer(TABLE).encode(TABLE)[:900]
    few = TABLE.slice(0, 900)
    like = Sketch.adaptive(Schema.infer(few).encode(few), n_rows=1800)
    assert new_sketch(few).kernels == like.kernels
    assert len(rows) == 900


def test_options_and_like_exclude_each_other():
    with pytest.raises(TypeError, match="`scale`, `kernel` must be left out with `like`"):
        sketch_source(TABLE, like=reference(), scale="standard", kernel="gaussian")
    with pytest.raises(TypeError, match="`like` must be a Sketch; got int"):
        sketch_source(TABLE, like=3)
    plain = Sketch(fastmmd.Gaussian(1.0), 2)
    with pytest.raises(IncompatibleSketchError, match="must be one of a table"):
        sketch_source(TABLE, like=plain)
    with pytest.raises(TypeError, match="`sources` must be at least one"):
        new_sketch()
    with pytest.raises(ValueError, match="`n_threads` must be an integer of at least 1"):
        sketch_source(TABLE, n_threads=0)


def test_new_and_changed_columns_are_told_of():
    table = TABLE.append_column("new", [[1] * 3000])
    table = table.set_column(1, "i", table["i"].cast(pa.float64()))
    with pytest.warns(DataWarning) as told:
        sketch_source(table, like=reference(), stream="s")
    assert [str(warning.message) for warning in told] == [
        "column `i` is float, in the schema integer.",
        "columns that the schema has not, left out: `new`.",
    ]
    with pytest.raises(
        DataError, match=r"`table` must have the columns.*has no column `x`"
    ):
        sketch_source(TABLE.drop_columns("x"), like=reference())
    with pytest.raises(DataError, match="`x` is string, not float"):
        sketch_source(
            TABLE.set_column(0, "x", TABLE["x"].cast(pa.string())), like=reference()
        )
    source = open_source(TABLE.drop_columns("x"))
    with pytest.raises(DataError, match="has no column `x`"):
        sketch_part(reference(), source, source.parts()[0])


def test_constant_columns_are_told_of():
    with pytest.warns(DataWarning, match="constant columns, which tell nothing: `c`"):
        sketch_source(TABLE.append_column("c", [[1] * 3000]), columns=["x", "c"])
    with pytest.warns(DataWarning, match="not all data have, left out: `x`"):
        new_sketch(TABLE, TABLE.drop_columns("x"))


# --- What is refused


def test_missing_values_say_where_they_are(tmp_path):
    values = TABLE["x"].to_numpy().copy()
    values[2500] = np.nan
    pq.write_table(TABLE.set_column(0, "x", pa.array(values)), tmp_path / "a.parquet")
    message = (
        r"`.*a\.parquet`, rows 0 to 2999, must have no missing.*in 3000 rows: 1 in `x`"
    )
    with pytest.raises(DataError, match=message):
        sketch_source(tmp_path / "a.parquet", like=reference())
    (tmp_path / "more").mkdir()
    for name in "ab":
        (tmp_path / "more" / f"{name}.parquet").write_bytes(
            (tmp_path / "a.parquet").read_bytes()
        )
    with pytest.raises(DataError, match=r"more/a\.parquet`, rows 0 to 2999"):
        sketch_source(tmp_path / "more", like=reference())
    with pytest.raises(DataError, match=r"^`.*a\.parquet` must have no missing values"):
        sketch_source(tmp_path / "a.parquet")


def test_a_large_source_is_told_of_as_a_sample(monkeypatch):
    monkeypatch.setattr("fastmmd.tables.sample.SAMPLE_ROWS", 1000)
    gaps = TABLE.set_column(0, "x", pa.nulls(3000, pa.float64()))
    with pytest.raises(
        DataError, match=r"^a sample of 1000 rows of `table` must have values"
    ):
        sketch_source(gaps)


@pytest.mark.parametrize("like", [False, True])
def test_no_rows_are_refused(like):
    options = {"like": reference()} if like else {}
    with pytest.raises(DataError, match="`table` must have rows that meet the condition"):
        sketch_source(open_source(TABLE, where="x > 100"), **options)
    with pytest.raises(
        DataError, match="`table` must have at least one row; it has none"
    ):
        sketch_source(TABLE.slice(0, 0), **options)


def test_rows_that_are_all_incomplete_are_refused():
    a = pa.table({"x": [1.0, None] * 50, "y": [None, 1.0] * 50})
    with pytest.raises(DataError, match="every row of a sample of 100 has one"):
        sketch_source(a, missing="drop")
    like = new_sketch(pa.table({"x": [1.0, 2.0], "y": [1.0, 2.0]}), missing="drop")
    with pytest.raises(DataError, match="without missing values; all 100 have one"):
        sketch_source(a, like=like)


def test_an_error_while_reading_stops_everything(tmp_path):
    for i in range(6):
        pq.write_table(TABLE, tmp_path / f"{i}.parquet")
    source = open_source(tmp_path)
    (tmp_path / "1.parquet").write_bytes(b"gone")
    with pytest.raises(DataError, match=r"1\.parquet` must be a complete Parquet file"):
        sketch_source(source, like=reference())


def test_an_error_of_the_listener_stops_everything():
    def fail(_progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sketch_source(TABLE, like=reference(), progress=fail)
    with pytest.raises(KeyboardInterrupt):
        sketch_source(TABLE, progress=fail)


# --- Progress


@pytest.mark.usefixtures("small_batches")
def test_progress_is_told(tmp_path):
    pacsv.write_csv(TABLE, tmp_path / "a.csv")
    told = []
    sketch_source(tmp_path / "a.csv", progress=told.append)
    stages = [progress.stage for progress in told]
    assert stages == sorted(stages)
    assert set(stages) == {"sampling", "sketching"}
    last = told[-1]
    assert (last.n_read, last.n_rows, last.parts_done, last.n_parts) == (3000, 3000, 1, 1)
    # Before the first pass has counted them, nobody knows how many rows a text file has.
    assert [p.n_rows for p in told if p.stage == "sampling"] == [None] * (len(told) // 2)
    assert last.fraction == 1.0
    shares = [p.fraction for p in told if p.stage == "sketching"]
    assert shares == sorted(shares)
    pq.write_table(TABLE, tmp_path / "a.parquet", row_group_size=1000)
    told.clear()
    sketch_source(tmp_path / "a.parquet", like=reference(), progress=told.append)
    assert (told[0].n_rows, told[0].n_read) == (3000, 128)
    assert told[0].fraction == 128 / 3000
    assert told[-1].parts_done == 3


# --- The sample


def numbers_of(sample, place):
    return [i for table in sample.tables[place] for i in table["i"].to_pylist()]


def test_a_sample_is_uniform_over_the_pooled_rows():
    a = pa.table({"i": np.arange(300)})
    b = pa.table({"i": np.arange(300, 1000)})
    hits = np.zeros(1000)
    from_a = []
    for seed in range(400):
        sample = draw_sample([open_source(a), open_source(b)], ["i"], 100, seed=seed)
        drawn = numbers_of(sample, 0) + numbers_of(sample, 1)
        assert len(set(drawn)) == len(drawn) == 100
        assert max(numbers_of(sample, 0)) < 300 <= min(numbers_of(sample, 1))
        hits[drawn] += 1
        from_a.append(len(numbers_of(sample, 0)))
    assert sample.n_rows == sample.n_read == (300, 700)
    # A row is drawn 40 times of 400, standard deviation 6; the largest of 1000 deviations
    # passes 5.5 of them once in 10^5 runs.
    assert np.abs(hits - 40).max() < 33
    # Hypergeometric: mean 30, variance 100 * 0.3 * 0.7 * 900 / 999 = 18.9. Fixed shares
    # would have variance 0, separate samples 21.
    assert np.mean(from_a) == pytest.approx(30, abs=5 * (18.9 / 400) ** 0.5)
    assert np.var(from_a) == pytest.approx(18.9, abs=5 * 18.9 * (2 / 400) ** 0.5)


def test_a_sample_does_not_depend_on_formats_or_filters_of_others(tmp_path):
    pq.write_table(TABLE, tmp_path / "a.parquet", row_group_size=170)
    pacsv.write_csv(TABLE, tmp_path / "a.csv")
    sources = [
        open_source(d) for d in (TABLE, tmp_path / "a.parquet", tmp_path / "a.csv")
    ]
    samples = [draw_sample([source], ["i"], 200, seed=1) for source in sources]
    assert (
        numbers_of(samples[0], 0)
        == numbers_of(samples[1], 0)
        == numbers_of(samples[2], 0)
    )
    assert len(numbers_of(samples[0], 0)) == 200
    everything = draw_sample([sources[0]], ["i"], 5000, seed=1)
    assert numbers_of(everything, 0) == TABLE["i"].to_pylist()
    few = draw_sample([open_source(TABLE, where="i < 10")], ["i"], 50, seed=1)
    assert max(numbers_of(few, 0)) < 10
    assert few.n_rows[0] < few.n_read[0] == 3000


def test_the_sample_of_a_wide_table_has_fewer_rows():
    assert sample_size(5) == 10_000
    assert sample_size(2000) == 2**22 // 2000
    assert sample_size(10**6) == 1000


def test_wide_tables_have_short_batches():
    sizes = [batch_rows_for(width) for width in (1, 10, 100, 5000)]
    assert sizes == [2**16, 2**16, 2**13, 2**10]


def test_pandas_text_with_missing_values():
    frame = pd.DataFrame({"s": ["a", None, "b"] * 20, "x": np.arange(60.0)})
    sketch = sketch_source(frame, missing="indicator")
    assert sketch.count == 60
    assert schema_of(sketch).columns[0].indicator
