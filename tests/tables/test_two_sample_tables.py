"""Tests of tables and files: levels, notes, options, and what is refused."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest
from scipy.stats import binom

import fastmmd
from fastmmd import DataError, MissingDependencyError, tables
from fastmmd.tables import Schema, open_source


def make(n, seed, *, shift=0.0, late=0.3):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "delay": rng.exponential(10.0, n) + shift,
            "carrier": rng.choice(["AA", "UA", "DL"], n),
            "late": rng.random(n) < late,
        }
    )


A, SAME, OTHER = make(800, 0), make(600, 1), make(600, 2, late=0.5)


@pytest.mark.parametrize("convert", [lambda t: t, pa.Table.to_pandas, pl.from_arrow])
def test_tables_of_every_library(convert):
    same = fastmmd.two_sample_test(convert(A), convert(SAME), rng=0)
    other = fastmmd.two_sample_test(convert(A), convert(OTHER), rng=0)
    assert same.pvalue > 0.05
    assert other.pvalue == 0.001
    assert (other.n_x, other.n_y, other.level_is) == (800, 600, "exact")
    assert (
        tables.two_sample_test(convert(A), convert(OTHER), rng=0).pvalue == other.pvalue
    )


def test_libraries_agree_and_can_be_mixed():
    expected = fastmmd.two_sample_test(A, SAME, rng=1).to_dict()
    for x in (A.to_pandas(), pl.from_arrow(A), A.to_batches()[0]):
        assert (
            fastmmd.two_sample_test(x, pl.from_arrow(SAME), rng=1).to_dict() == expected
        )


def test_the_test_is_that_of_the_encoded_rows():
    schema = Schema.infer(A, SAME)
    found = tables.two_sample_test(A, SAME, rng=5, kernel=fastmmd.Gaussian(1.0))
    plain = fastmmd.two_sample_test(
        schema.encode(A), schema.encode(SAME), rng=0, kernel=fastmmd.Gaussian(1.0)
    )
    # The statistic does not depend on the draw of bins, but for rounding.
    assert found.statistic == pytest.approx(plain.statistic, abs=1e-12)


def test_k_samples():
    result = fastmmd.k_sample_test(A.to_pandas(), pl.from_arrow(SAME), OTHER, rng=0)
    assert result.pvalue == 0.001
    assert result.sizes == (800, 600, 600)
    assert np.unravel_index(result.mmd2.argmax(), (3, 3))[1] == 2
    odd = tables.k_sample_test(A.append_column("z", [[1] * 800]), SAME, OTHER, rng=0)
    assert odd.notes == ("columns that not all data have, left out: `z`.",)
    assert odd.to_dict()["notes"] == list(odd.notes)
    assert str(odd).endswith("\nNote: columns that not all data have, left out: `z`.")


@pytest.mark.parametrize(("scale", "shift"), [("robust", 0.0), ("standard", 0.0)])
def test_the_level_holds(scale, shift):
    # Small tables with ties and categories; the schema comes from them.
    rejections, repeats = 0, 200
    for seed in range(repeats):
        x, y = make(30, 2 * seed), make(20, 2 * seed + 1, shift=shift)
        result = tables.two_sample_test(x, y, n_resamples=20, scale=scale, rng=seed)
        rejections += result.pvalue <= 0.05
    # One of 21 relabellings; a correct test passes this bound once in 10^6 runs.
    assert rejections <= binom.ppf(1 - 1e-6, repeats, 1 / 21)


def test_notes_tell_what_was_left_out():
    gaps = A.set_column(0, "delay", pa.array([None, 1.0, 2.0, 3.0] * 200))
    x = gaps.append_column("constant", [["c"] * 800]).append_column("only x", [[1] * 800])
    y = SAME.append_column("constant", [["c"] * 600]).append_column("only y", [[1] * 600])
    result = fastmmd.tables.two_sample_test(x, y, missing="drop", rng=0)
    assert result.notes == (
        "columns that not all data have, left out: `only x`, `only y`.",
        "constant columns, which tell nothing: `constant`.",
        "200 of 800 rows of `x`, with missing values, left out.",
    )
    assert result.n_x == 600
    assert str(result).count("\nNote: ") == 3
    assert result.to_dict()["notes"] == list(result.notes)
    assert fastmmd.two_sample_test(np.zeros(5), np.ones(5)).notes == ()


def test_results_name_their_columns(tmp_path):
    more = A.append_column("z", [[1] * 800])
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for table, path in zip((A, OTHER), paths, strict=True):
        pq.write_table(table, path)
    reference = tables.sketch_source(paths[0])
    found = [
        fastmmd.two_sample_test(A, OTHER, rng=0),
        tables.two_sample_test(more, OTHER, rng=0),
        tables.two_sample_test(*paths, rng=0),
        tables.two_sample_test(*paths, sample_rows=100, rng=0),
        fastmmd.compare(reference, tables.sketch_source(paths[1], like=reference)),
        fastmmd.k_sample_test(A, SAME, OTHER, rng=0),
    ]
    for result in found:
        assert result.columns == ("delay", "carrier", "late")
        assert result.to_dict()["columns"] == ["delay", "carrier", "late"]
        assert "\nColumns: delay, carrier, late." in str(result)
    some = tables.two_sample_test(A, OTHER, columns=["late", "delay"], rng=0)
    assert some.columns == ("late", "delay")
    plain = fastmmd.two_sample_test(np.zeros(5), np.ones(5))
    assert (plain.columns, plain.to_dict()["columns"]) == ((), [])
    assert "Columns" not in str(plain)
    wide = pa.table({f"c{i}": np.arange(9.0) for i in range(12)})
    text = str(fastmmd.two_sample_test(wide, wide, rng=0))
    assert "\nColumns: c0, c1, c2, c3, c4, c5, c6, … (12 in all)." in text


def test_sketches_with_a_schema_of_the_users_own_have_the_names_it_has():
    for schema, names in (
        ({"columns": [{"name": "a"}, {"unit": "m"}, "b", {"name": 3}]}, ("a",)),
        ({"columns": "a"}, ()),
        ({"origin": "here"}, ()),
    ):
        x = fastmmd.Sketch(fastmmd.Gaussian(1.0), 1, schema=schema)
        y = x.like()
        x.update(np.arange(9.0))
        y.update(np.arange(9.0))
        assert fastmmd.compare(x, y, rng=0).columns == names


def test_names_that_look_alike_are_told_of():
    y = SAME.rename_columns(["Delay", "carrier", " late"])
    result = tables.two_sample_test(A, y, rng=0)
    assert result.notes == (
        (
            "columns that not all data have, left out: `delay`, `late`, `Delay`, ` late`. "
            "Only in spaces or case differ `delay` and `Delay`, `late` and ` late`."
        ),
    )
    with pytest.raises(
        DataError, match="Only in spaces or case differ `late` and ` late`"
    ):
        tables.two_sample_test(A.select(["late"]), y.select([" late"]))


def test_samples_are_called_by_their_files(tmp_path):
    gaps = A.set_column(0, "delay", pa.array([None, 1.0, 2.0, 3.0] * 200))
    pq.write_table(gaps, tmp_path / "a.parquet")
    options = {"missing": "drop", "rng": 0}
    path = tmp_path / "a.parquet"
    for rows in (None, 700):
        result = tables.two_sample_test(path, gaps, sample_rows=rows, **options)
        assert f"rows of `{path}`, with missing values, left out." in result.notes[-2]
        assert "rows of `y`, with missing values, left out." in result.notes[-1]
    assert result.notes[:2] == tuple(
        f"700 of 800 rows of `{name}` drawn at random." for name in (path, "y")
    )
    whole = SAME.set_column(0, "delay", SAME["delay"].cast(pa.int64(), safe=False))
    pq.write_table(whole, tmp_path / "b.parquet")
    result = tables.two_sample_test(A, tmp_path / "b.parquet", sample_rows=50, rng=0)
    assert f"in `{tmp_path / 'b.parquet'}` column `delay` is integer" in result.notes[-1]


def test_data_of_unlike_kinds_are_named(tmp_path):
    words = SAME.set_column(0, "delay", pa.array(["late"] * 600))
    pq.write_table(words, tmp_path / "b.parquet")
    message = (
        r"`delay` must hold the same kind of data everywhere; it is double in `x` and "
    )
    with pytest.raises(DataError, match=message + "string in `y`"):
        tables.two_sample_test(A, words)
    with pytest.raises(DataError, match=message + r"string in `.*b\.parquet`"):
        tables.two_sample_test(A, tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"double in `samples\[0\]` and string in"):
        Schema.infer(A, words)


@pytest.mark.parametrize("place", [0, 1])
def test_queries_that_were_not_run_are_refused_by_name(place):
    name = "xy"[place]
    data = [pl.from_arrow(A), pl.from_arrow(SAME)]
    data[place] = data[place].lazy()
    message = (
        rf"`{name}` must be a table .* LazyFrame, whose rows .*Pass `{name}\.collect\(\)`"
    )
    with pytest.raises(TypeError, match=message):
        fastmmd.two_sample_test(*data)
    with pytest.raises(TypeError, match=message):
        tables.two_sample_test(*data)
    arrays = [np.zeros(5), np.zeros(5)]
    arrays[place] = data[place]
    with pytest.raises(TypeError, match=message):
        fastmmd.mmd(*arrays)
    for function in (tables.sketch_source, tables.new_sketch, open_source):
        with pytest.raises(TypeError, match=r"Pass `data\.collect\(\)`"):
            function(data[place])
    with pytest.raises(TypeError, match=r"`samples\[0\]` must be a table .*LazyFrame"):
        fastmmd.k_sample_test(data[place], A, A)
    with pytest.raises(TypeError, match=r"Pass `sample\.collect\(\)`"):
        Schema.infer(data[place])


def test_datasets_and_paths_are_told_where_to_go(tmp_path):
    pq.write_table(A, tmp_path / "a.parquet")
    dataset = pads.dataset(tmp_path / "a.parquet")
    for data in (dataset, dataset.scanner()):
        with pytest.raises(
            TypeError, match=r"rows are not read yet. Pass `y.to_table\(\)`"
        ):
            tables.two_sample_test(A, data)
        with pytest.raises(TypeError, match=r"Pass `x.to_table\(\)`"):
            fastmmd.two_sample_test(data, [1.0, 2.0])
    for path in (tmp_path / "a.parquet", "a.parquet"):
        with pytest.raises(
            TypeError, match=r"`x` must be .*got a path. `fastmmd.tables.two_sample_test`"
        ):
            fastmmd.two_sample_test(path, path)


def test_values_that_arrow_cannot_hold_are_named():
    for values, why in (
        ([10**30, 1], "too large .*: column k"),
        ([1, "a"], "column k with type object"),
        ([1j, 2j], "column k with type complex128"),
        (pd.arrays.SparseArray([0, 1]), r"\(column k\) not supported"),
    ):
        frame = pd.DataFrame({"x": [1.0, 2.0], "k": values})
        with pytest.raises(
            DataError, match=rf"`y` must be .* can hold; .*{why}\. Convert such a column"
        ):
            fastmmd.two_sample_test(A, frame)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("names", [["a", "a"], [1, "1"]])
def test_columns_of_the_same_name_are_refused_by_name(place, names, tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=names)
    data = [pd.DataFrame({"a": np.arange(20.0)})] * 2
    data[place] = frame
    message = (
        rf"^`{'xy'[place]}` must have columns of different names; got more than one "
        rf"`{names[1]}`\.$"
    )
    with pytest.raises(DataError, match=message):
        fastmmd.two_sample_test(*data)
    pq.write_table(pa.table({"a": np.arange(20.0)}), tmp_path / "a.parquet")
    data[1 - place] = tmp_path / "a.parquet"
    with pytest.raises(DataError, match=message):
        tables.two_sample_test(*data)


def test_types_that_differ_are_told_of():
    y = SAME.set_column(0, "delay", SAME["delay"].cast(pa.int64(), safe=False))
    result = tables.two_sample_test(A, y, rng=0)
    assert result.notes == ("in `y` column `delay` is integer, in the schema float.",)


def test_options_reach_the_schema():
    numbers = tables.two_sample_test(A, OTHER, columns=["delay", "carrier"], rng=0)
    assert numbers.pvalue > 0.01
    numbers = tables.two_sample_test(A, OTHER, exclude=["late"], rng=0)
    assert numbers.pvalue > 0.01
    rng = np.random.default_rng(0)
    x, y = (pa.table({"zip": rng.choice(own, 500)}) for own in ([1, 2, 9], [1, 5, 9]))
    for kinds in (None, {"zip": "categorical"}):
        assert tables.two_sample_test(x, y, kinds=kinds, rng=0).pvalue == 0.001


def test_missing_values_are_counted_in_all_rows(monkeypatch):
    monkeypatch.setattr("fastmmd.tables.sample.SAMPLE_ROWS", 1000)
    x = make(3000, 0).set_column(0, "delay", pa.array([None] * 5 + [1.0] * 2995))
    with pytest.raises(
        DataError, match=r"^`x` must have no missing.*in 3000 rows: 5 in `de"
    ):
        fastmmd.two_sample_test(x, A)
    with pytest.raises(DataError, match=r"^`samples\[1\]` must have no missing"):
        fastmmd.k_sample_test(A, x)
    x = x.set_column(0, "delay", pa.array([float("inf")] * 5 + [1.0] * 2995))
    with pytest.raises(
        DataError, match=r"^`x` must hold finite.*infinite ones: 5 in `del"
    ):
        fastmmd.two_sample_test(x, A)


def test_large_tables_are_sampled_for_the_schema(monkeypatch):
    monkeypatch.setattr("fastmmd.tables.sample.SAMPLE_ROWS", 1000)
    x, y = make(3000, 0), make(5000, 1)
    for form in (lambda t: t, pl.from_arrow):
        result = tables.two_sample_test(form(x), form(y), rng=0)
        assert result.pvalue > 0.01
        assert (result.n_x, result.n_y) == (3000, 5000)


def test_groups_follow_dropped_rows():
    gaps = A.set_column(0, "delay", pa.array([None, 1.0, 2.0, 3.0] * 200))
    groups = (np.arange(800) // 4, 1000 + np.arange(600) // 4)
    result = tables.two_sample_test(gaps, SAME, missing="drop", groups=groups, rng=0)
    assert result.n_x == 600
    with pytest.raises(ValueError, match="groups"):
        tables.two_sample_test(A, SAME, groups=(np.arange(3), np.arange(600)), rng=0)


def test_margin_and_other_options_of_the_test():
    result = fastmmd.two_sample_test(A, OTHER, kernel="gaussian", margin=0.5, rng=0)
    assert result.margin == 0.5
    assert not result.rejects()
    assert (
        fastmmd.two_sample_test(A, OTHER, null="gamma", level=0.01, rng=0).level == 0.01
    )


def test_no_common_columns():
    with pytest.raises(DataError, match=r"columns in common; they have \(a\) and \(b\)"):
        fastmmd.two_sample_test(pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"b": [1, 2]}))


def test_arrays_and_tables_do_not_mix():
    for x, y, name in ((A, np.zeros((5, 3)), "y"), (np.zeros((5, 3)), A, "x")):
        with pytest.raises(TypeError, match=f"`{name}` must be a table; got an array"):
            fastmmd.two_sample_test(x, y)
    with pytest.raises(TypeError, match=r"`data` must be a path"):
        fastmmd.two_sample_test(A, 3)
    with pytest.raises(TypeError, match=r"`samples\[1\]` must be a table"):
        fastmmd.k_sample_test(A, [1, 2])


def test_series_are_still_arrays():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=100), rng.normal(size=100)
    expected = fastmmd.two_sample_test(x, y, rng=0).to_dict()
    for form in (pd.Series, pl.Series, pa.array, lambda v: pa.chunked_array([v])):
        assert fastmmd.two_sample_test(form(x), form(y), rng=0).to_dict() == expected


@pytest.mark.parametrize("form", [lambda t: t, pa.Table.to_pandas, pl.from_arrow])
def test_other_functions_point_to_tables(form):
    message = r"`x` must be an array of numbers; got a table \(.*\)\..*fastmmd\.tables"
    for function in (fastmmd.mmd, fastmmd.power):
        options = {"n_x": 5, "n_y": 5} if function is fastmmd.power else {}
        with pytest.raises(TypeError, match=message):
            function(form(A), form(SAME), **options)
    with pytest.raises(
        TypeError, match=r"`rows` must be an array of numbers; got a table"
    ):
        fastmmd.Sketch(fastmmd.Gaussian(1.0), 3).update(form(A))


def test_without_pyarrow_the_message_says_what_to_install(monkeypatch):
    for name in [n for n in sys.modules if n.startswith("fastmmd.tables")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    with pytest.raises(MissingDependencyError, match=r'pip install "fastmmd\[tables\]"'):
        fastmmd.two_sample_test(frame, frame)


# --- Files


@pytest.fixture
def files(tmp_path):
    """Return two files of other formats and one that differs."""
    pq.write_table(make(4000, 0), tmp_path / "a.parquet", row_group_size=1000)
    pacsv.write_csv(make(3000, 1), tmp_path / "same.csv")
    pq.write_table(make(3000, 2, late=0.4), tmp_path / "other.parquet")
    return tmp_path


def test_files(files):
    told = []
    same = tables.two_sample_test(
        files / "a.parquet", files / "same.csv", rng=0, progress=told.append
    )
    other = tables.two_sample_test(
        str(files / "a.parquet"), open_source(files / "other.parquet"), rng=0
    )
    assert same.pvalue > 0.01
    assert other.pvalue == 0.001
    assert (other.n_x, other.n_y, other.method) == (4000, 3000, "sketch")
    assert other.level_is == "exact"
    assert [p.stage for p in told] == sorted(p.stage for p in told)
    # After the first pass the number of rows is known, of text as well.
    assert told[-1].n_rows == told[-1].n_read == 3000


def test_the_seed_decides_whatever_the_threads(files):
    data = (files / "a.parquet", files / "same.csv")
    results = [
        tables.two_sample_test(*data, rng=3, n_threads=n).to_dict() for n in (1, 3)
    ]
    assert results[0] == results[1]
    assert tables.two_sample_test(*data, rng=4).to_dict() != results[0]


def test_a_table_and_a_file(files):
    result = tables.two_sample_test(make(900, 7), files / "other.parquet", rng=0)
    assert result.method == "sketch"
    assert result.pvalue <= 0.01


def test_one_source_split_in_two(files):
    table = make(4000, 0, late=0.5)
    for x, y in (
        open_source(table).split("late"),
        open_source(files / "a.parquet").split("carrier=AA,DL"),
    ):
        result = tables.two_sample_test(x, y, rng=0)
        assert result.pvalue > 0.01
        assert result.n_x + result.n_y <= 4000


def test_random_subsets(files):
    result = tables.two_sample_test(
        files / "a.parquet",
        files / "other.parquet",
        sample_rows=500,
        rng=0,
        method="exact",
    )
    assert (result.n_x, result.n_y, result.method) == (500, 500, "exact")
    assert [note.partition(" rows")[0] for note in result.notes] == [
        "500 of 4000",
        "500 of 3000",
    ]
    again = tables.two_sample_test(
        files / "a.parquet",
        files / "other.parquet",
        sample_rows=500,
        rng=0,
        method="exact",
    )
    assert again.to_dict() == result.to_dict()
    whole = tables.two_sample_test(A, OTHER, sample_rows=10**6, rng=0)
    assert (whole.n_x, whole.n_y, whole.notes) == (800, 600, ())
    assert whole.pvalue == 0.001


def test_a_sketch_of_files_tests_like_the_tables(files):
    # The same data, once in memory by equal bins and once by sketches: p-values of both
    # are exact, the distance is the same up to the noise of frequencies.
    options = {"kernel": fastmmd.Gaussian(1.5), "rng": 0}
    x, y = make(4000, 0), make(3000, 2, late=0.4)
    memory = tables.two_sample_test(x, y, method="exact", **options)
    sketch = tables.two_sample_test(
        files / "a.parquet", files / "other.parquet", **options
    )
    assert sketch.statistic == pytest.approx(memory.statistic, rel=0.25)


def test_dropped_rows_of_files_are_noted(tmp_path):
    gaps = A.set_column(0, "delay", pa.array([None, 1.0, 2.0, 3.0] * 200))
    pq.write_table(gaps, tmp_path / "gaps.parquet")
    result = tables.two_sample_test(
        tmp_path / "gaps.parquet", SAME, missing="drop", rng=0
    )
    (note,) = result.notes
    assert note.startswith("200 of 800 rows of `")
    assert result.n_x == 600
    y = open_source(SAME, columns=["delay", "late"])
    result = tables.two_sample_test(
        tmp_path / "gaps.parquet", y, missing="indicator", rng=0
    )
    assert result.notes == ("columns that not all data have, left out: `carrier`.",)


def test_the_level_of_files_holds(tmp_path):
    rejections, repeats = 0, 60
    for seed in range(repeats):
        x, y = make(300, 2 * seed), make(200, 2 * seed + 1)
        pq.write_table(x, tmp_path / "x.parquet")
        pq.write_table(y, tmp_path / "y.parquet")
        result = tables.two_sample_test(
            tmp_path / "x.parquet",
            tmp_path / "y.parquet",
            n_resamples=20,
            kernel=["gaussian"],
            rng=seed,
            n_threads=1,
        )
        rejections += result.pvalue <= 0.05
    assert rejections <= binom.ppf(1 - 1e-6, repeats, 1 / 21)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "exact"}, '`method` must be "auto" for files.*`sample_rows`'),
        ({"groups": ([1], [2])}, "`groups` must be left out for files"),
        ({"sample_rows": 1}, "`sample_rows` must be an integer of at least 2"),
        ({"n_threads": 0}, "`n_threads` must be an integer of at least 1"),
        ({"n_resamples": 0}, "`n_resamples` must be an integer of at least 1"),
        ({"level": 2.0}, "`level` must be a number strictly between 0 and 1"),
        ({"margin": -1.0}, "`margin` must be a finite number greater than 0"),
        ({"margin": 0.1, "null": "permutation"}, "margin"),
        ({"margin": 0.1}, "`margin` must be used with one kernel"),
        ({"null": "sum"}, "`null` must be"),
        ({"kernel": "box"}, '`kernel` must be one of "adaptive", "gaussian"'),
        ({"kernel": ["box"]}, '`kernel` must be one of "gaussian"'),
    ],
)
def test_options_that_files_do_not_have(options, message, files):
    with pytest.raises(ValueError, match=message):
        tables.two_sample_test(files / "a.parquet", files / "same.csv", **options)


def test_options_are_checked_before_data_are_read(tmp_path):
    def fail(_progress):
        raise AssertionError

    pacsv.write_csv(SAME, tmp_path / "a.csv")
    for options in (
        {"level": 2.0},
        {"null": "sum"},
        {"kernel": "box"},
        {"n_resamples": 0},
    ):
        with pytest.raises(ValueError, match="must be"):
            tables.two_sample_test(
                tmp_path / "a.csv", tmp_path / "a.csv", progress=fail, **options
            )


def test_groups_of_random_subsets_are_refused():
    with pytest.raises(ValueError, match="`groups` must be left out with `sample_rows`"):
        tables.two_sample_test(A, SAME, sample_rows=10, groups=([1], [2]))
