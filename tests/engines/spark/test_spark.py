"""Spark: the answers of one machine, whatever the partitions, and even if tasks fail.

``FASTMMD_SPARK`` says which Spark: ``classic``, ``connect``, or ``sail``, which speaks the
protocol of Connect and needs no Java.
"""

from __future__ import annotations

import os
import sys

import engine_data
import numpy as np
import pytest
from pyspark.sql import SparkSession

from fastmmd import DataError, Sketch, tables
from fastmmd.engines.spark import merge_sketches, sketch, two_sample_test

KIND = os.environ.get("FASTMMD_SPARK", "classic")
PLAIN = {"exclude": ["key"]}
LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
}

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module", autouse=True)
def spark():
    """Start two executors' worth of Spark on this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        builder = SparkSession.builder
        if KIND == "sail":
            from pysail.spark import SparkConnectServer

            server = SparkConnectServer("127.0.0.1", 0)
            server.start(background=True)
            _, port = server.listening_address
            session = builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
        else:
            for name, value in LOCAL.items():
                builder = builder.config(name, value)
            # A task may fail four times, as on a cluster; in local mode it may not, unless
            # the address of the master says so.
            place = "local[2,4]"
            start = builder.master if KIND == "classic" else builder.remote
            session = start(place).getOrCreate()
        yield session
        session.stop()
        if KIND == "sail":
            server.stop()


@pytest.mark.parametrize("task_rows", [700, None])
def test_files_give_the_sketch_of_one_machine(spark, old, task_rows):
    expected = tables.sketch_source(old, **PLAIN)
    made = sketch(old, task_rows=task_rows, spark=spark, **PLAIN)
    assert made.to_bytes() == expected.to_bytes()


def test_the_test_of_files_is_that_of_one_machine(old, new):
    options = {**PLAIN, "missing": "drop", "rng": 5}
    expected = tables.two_sample_test(old, new, **options)
    result = two_sample_test(old, new, task_rows=4000, **options)
    assert result.to_dict() == expected.to_dict()
    assert result.notes == expected.notes


@pytest.mark.skipif(KIND == "sail", reason="Sail runs a query in one process, once")
@pytest.mark.parametrize("how", ["fail", "kill"])
def test_a_task_that_fails_once_changes_nothing(spark, old, monkeypatch, tmp_path, how):
    expected = tables.sketch_source(old, **PLAIN)
    frame = spark.read.parquet(str(old))
    by_key = sketch(frame, like=expected.like(), key="key", stream="s")
    flag = engine_data.plant_fault(monkeypatch, tmp_path, how)
    like = expected.like()
    assert sketch(old, like=like, task_rows=1500, spark=spark) == expected
    assert flag.exists()
    flag.unlink()
    assert sketch(frame, like=expected.like(), key="key", stream="s") == by_key
    assert flag.exists()


def test_data_frames(spark, old, new):
    frames = [spark.read.parquet(str(folder)) for folder in (old, new)]
    result = two_sample_test(*frames, missing="drop", rng=1, **PLAIN)
    assert result.pvalue < 0.05
    assert (result.n_x, result.n_y) == (9000, 5995)
    assert "5 of 6000 rows" in result.notes[-1]


def test_a_scan_of_files_is_repeatable(spark, old):
    frame = spark.read.parquet(str(old))
    like = tables.sketch_source(old, **PLAIN)
    assert sketch(frame, like=like, stream="s") == sketch(frame, like=like, stream="s")


def test_a_key_makes_partitions_irrelevant(spark, old):
    frame = spark.read.parquet(str(old))
    like = tables.sketch_source(old, **PLAIN)
    # In order of the key the rows are those of an array with these numbers.
    expected = like.like(stream="s")
    whole = engine_data.table(9000, 0)
    expected.update(
        tables.schema_of(like).encode(whole), row_numbers=whole["key"].to_numpy()
    )
    for n in (1, 3):
        assert sketch(frame.repartition(n), like=like, key="key", stream="s") == expected
    with pytest.raises(ValueError, match="`key` must name a column"):
        sketch(frame, key="id")


def test_daily_sketches_merge_into_any_window(spark, old, tmp_path):
    frame = spark.read.parquet(str(old)).selectExpr(
        "*", "date_add(DATE'2018-01-01', CAST(key % 40 AS INT)) AS day"
    )
    like = tables.sketch_source(old, **PLAIN)
    days = sketch(frame, by="day", like=like, key="key", stream="flights")
    assert days.columns == ["day", "sketch"]
    # Kept, as it would be, and computed once.
    days.write.parquet(str(tmp_path / "days"))
    days = spark.read.parquet(str(tmp_path / "days"))
    assert days.select("day").distinct().count() == days.count() == 40
    # Not all: they are 360 MB, and a server of Connect would hold them more than once.
    some = days.where("day < DATE'2018-01-08' OR day = DATE'2018-01-31'").collect()
    rows = {str(row.day): Sketch.from_bytes(bytes(row.sketch)) for row in some}
    assert {made.count for made in rows.values()} == {225}
    # Each is the sketch of the day's rows alone, under the name that the page promises.
    alone = sketch(
        frame.where("day = DATE'2018-01-31'"),
        like=like,
        key="key",
        stream="flights/day=2018-01-31",
    )
    assert rows["2018-01-31"] == alone
    week = merge_sketches(days.where("day < DATE'2018-01-08'"))
    expected = sum(rows[f"2018-01-0{i}"] for i in range(1, 8))
    assert week == expected
    whole = merge_sketches(days)
    assert whole.count == 9000
    np.testing.assert_array_equal(whole.sums.sum(axis=0), like.sums.sum(axis=0))
    with pytest.raises(DataError, match="at least one sketch"):
        merge_sketches(days.where("day < DATE'2000-01-01'"))
    first = days.where("day = DATE'2018-01-01'")
    with pytest.raises(Exception, match="sketches must hold different data"):
        merge_sketches(first.union(first))
    with pytest.raises(ValueError, match=r"got 'bytes'. It has `day`, `sketch`."):
        merge_sketches(days, column="bytes")
    with pytest.raises(TypeError, match=r"must name a column of bytes.* is of date"):
        merge_sketches(days, column="day")
    with pytest.raises(
        TypeError, match=r"must be a data frame of Spark; got builtins.list"
    ):
        merge_sketches([rows["2018-01-31"]])


def test_names_of_columns_do_not_matter(spark, old):
    """The names of our own columns may be those of the data's."""
    frame = spark.read.parquet(str(old)).selectExpr("*", "key % 3 AS `place`")
    like = tables.sketch_source(old, **PLAIN)
    thirds = sketch(frame, by="place", like=like, key="key", stream="s")
    assert {row.place for row in thirds.collect()} == {0, 1, 2}
    assert (
        merge_sketches(thirds.withColumnRenamed("sketch", "a `b`"), column="a `b`").count
        == 9000
    )


def test_names_that_spark_takes_for_something_else(spark, old):
    like = tables.sketch_source(old, **PLAIN)
    plain = spark.read.parquet(str(old))
    expected = sketch(plain, like=like, key="key", stream="s")
    odd = plain.selectExpr("*", "0 AS KEY", "0 AS `a.b`", "0 AS `a ``b`")
    assert sketch(odd, like=like, key="key", stream="s") == expected
    dotted = plain.selectExpr("*", "CAST(key % 2 AS DOUBLE) * -1 AS `a.b`")
    halves = sketch(dotted, by="a.b", like=like, key="key", stream="s")
    # The half of the even keys is that of minus zero.
    assert sorted(row[0] for row in halves.select("`a.b`").collect()) == [-1.0, 0.0]


def test_rows_without_a_sketch(spark):
    frame = spark.createDataFrame([(1, None)], "day int, sketch binary")
    with pytest.raises(Exception, match="there must be a sketch in every row"):
        merge_sketches(frame)


def test_by_is_checked(spark, old):
    frame = spark.read.parquet(str(old))
    with pytest.raises(
        ValueError, match="`by` must name a column of the data; got 'day'"
    ):
        sketch(frame, by="day")
    with pytest.raises(TypeError, match="`by` must be the name of one column; got list"):
        sketch(frame, by=["key"])
    with pytest.raises(TypeError, match="`by` must be left out for files"):
        sketch(old, by="day")
    with pytest.raises(TypeError, match="'pair' is of array<bigint>"):
        sketch(frame.selectExpr("*", "array(key, key) AS pair"), by="pair")
    with pytest.raises(ValueError, match="`by` must not be 'sketch'"):
        sketch(frame.withColumnRenamed("key", "sketch"), by="sketch")


def test_data_in_memory_are_refused():
    with pytest.raises(TypeError, match="a DataFrame of Spark; got an array in"):
        sketch(np.zeros((5, 2)))


def test_the_page(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = engine_data.run_page("spark", tmp_path, spark=spark)
    assert names["result"].pvalue < 0.05
    assert (names["reference"].count, names["january"].count) == (2000, 1550)
    assert (tmp_path / "2017.mmd").is_file()
    assert names["week"].count == 350
