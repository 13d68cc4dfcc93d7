"""Encoding: every type against the obvious slow version, missing values, and what is refused."""

from __future__ import annotations

import datetime as dt
import decimal
import math
import zlib

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fastmmd import DataError
from fastmmd.tables import Categorical, Numeric, Schema
from fastmmd.tables.encode import buckets

pytestmark = pytest.mark.filterwarnings("ignore::fastmmd.DataWarning")

EPOCH = dt.datetime(1970, 1, 1)
UTC = dt.UTC


def is_missing(value):
    return value is None or (isinstance(value, float) and math.isnan(value))


def slow_number(value):
    """Return a value as a number, the obvious way; None if it is missing."""
    if is_missing(value):
        return None
    if isinstance(value, dt.datetime):
        naive = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
        return (naive - EPOCH).total_seconds()
    if isinstance(value, dt.date):
        return (value - EPOCH.date()).total_seconds()
    if isinstance(value, dt.time):
        seconds = 3600 * value.hour + 60 * value.minute + value.second
        return seconds + value.microsecond / 1e6
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    return float(value)


def slow_bucket(value, n_buckets):
    return (zlib.crc32(value.encode()) * 0x9E3779B97F4A7C15 % 2**64 >> 32) % n_buckets


def slow_row(schema, record):
    """Return one encoded row, value by value."""
    row, elsewhere = [], 0.0
    for column in schema.columns:
        value = record[column.name]
        if isinstance(column, Numeric):
            number = slow_number(value)
            missing = number is None
            row.append(0.0 if missing else (number - column.center) / column.scale)
            if column.indicator is not None:
                row.append(missing / column.indicator)
        else:
            missing = value is None
            block = [0.0] * (len(column.levels) + column.n_buckets + column.indicator)
            if missing and column.indicator:
                block[-1] = column.weight
            elif not missing:
                place = (
                    column.levels.index(value)
                    if value in column.levels
                    else len(column.levels) + slow_bucket(value, column.n_buckets)
                )
                block[place] = column.weight
            row += block
        if missing and not column.indicator:
            elsewhere += 8**0.5
    return [*row, elsewhere] if schema.missing == "indicator" else row


def slow_encode(schema, table):
    return np.array([slow_row(schema, record) for record in table.to_pylist()])


def moments(n, rng):
    seconds = rng.integers(-(10**9), 2 * 10**9, n)
    return [EPOCH + dt.timedelta(seconds=int(s), microseconds=7) for s in seconds]


def mixed(n=200, seed=0):
    rng = np.random.default_rng(seed)
    texts = [f"level {i}" for i in range(60)]
    times = moments(n, rng)
    return pa.table(
        {
            "float64": rng.normal(size=n),
            "float32": pa.array(rng.normal(size=n).astype(np.float32)),
            "float16": pa.array(rng.integers(-8, 8, n).astype(np.float16)),
            "int8": pa.array(rng.integers(-100, 100, n), pa.int8()),
            "uint64": pa.array(rng.integers(0, 2**63, n, dtype=np.uint64), pa.uint64()),
            "decimal": pa.array(
                [decimal.Decimal(int(i)) / 4 for i in rng.integers(99, size=n)]
            ),
            "boolean": rng.random(n) < 0.3,
            "few": rng.choice(["a", "b", "c"], n),
            "many": rng.choice(texts, n),
            "large": pa.array(rng.choice(["x", "ä"], n), pa.large_string()),
            "view": pa.array(rng.choice(["x", "ä"], n), pa.string_view()),
            "bytes": pa.array([b"u", b"v"] * (n // 2), pa.binary()),
            "dictionary": pa.array(rng.choice(["p", "q"], n)).dictionary_encode(),
            "date32": pa.array([t.date() for t in times], pa.date32()),
            "date64": pa.array([t.date() for t in times], pa.date64()),
            "seconds": pa.array(
                [t.replace(microsecond=0) for t in times], pa.timestamp("s")
            ),
            "naive": pa.array(times, pa.timestamp("us")),
            "zoned": pa.array(
                [t.replace(tzinfo=UTC) for t in times],
                pa.timestamp("ns", "Europe/Berlin"),
            ),
            "time32": pa.array(
                [t.time().replace(microsecond=0) for t in times], pa.time32("s")
            ),
            "time64": pa.array([t.time() for t in times], pa.time64("us")),
            "duration": pa.array(
                [t - EPOCH for t in times], pa.duration("ms"), safe=False
            ),
        }
    )


def with_gaps(table, seed=1):
    """Return the table with a tenth of each column missing, null or NaN."""
    rng = np.random.default_rng(seed)
    columns = {}
    for name in table.column_names:
        values = table[name].combine_chunks()
        gap = pa.array(rng.random(len(values)) < 0.1)
        if name == "float64":
            columns[name] = pa.array(np.where(gap, np.nan, values))
        else:
            kept = [
                None if g else v for g, v in zip(gap.to_pylist(), values, strict=True)
            ]
            plain = [None if v is None else v.as_py() for v in kept]
            columns[name] = pa.array(plain, values.type, safe=False)
    return pa.table(columns)


def assert_encoded(schema, table):
    expected = slow_encode(schema, _readable(table))
    found = schema.encode(table)
    assert found.shape == (table.num_rows, schema.n_encoded) == expected.shape
    # Seconds since 1970 are known to 2.4e-7, and are divided by scales of years.
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def _readable(table):
    """Return bytes as text, and times that Python can hold exactly."""
    if "bytes" in table.column_names:
        i = table.column_names.index("bytes")
        table = table.set_column(i, "bytes", table["bytes"].cast(pa.string()))
    return table


@pytest.mark.parametrize("scale", ["robust", "standard"])
def test_every_type_becomes_what_it_should(scale):
    table = mixed()
    schema = Schema.infer(table, scale=scale)
    assert schema.names == tuple(table.column_names)
    assert_encoded(schema, table)
    # Other data, in other pieces, with levels that the schema has not seen.
    other = mixed(130, seed=5)
    other = other.set_column(7, "few", pa.array(["new"] * 130))
    assert_encoded(schema, other)
    cut = pa.concat_tables([other.slice(0, 1), other.slice(1, 60), other.slice(61)])
    np.testing.assert_array_equal(schema.encode(cut), schema.encode(other))


def test_missing_values_are_numbers_with_an_indicator():
    table = with_gaps(mixed())
    schema = Schema.infer(table, missing="indicator")
    assert_encoded(schema, table)
    # Columns that had none missing in the sample share one number at the end.
    clean = Schema.infer(mixed(), missing="indicator")
    assert clean.encoded_names[-1] == "(missing elsewhere)"
    assert_encoded(clean, table)
    assert clean.encode(table)[:, -1].max() > 2 * 8**0.5 - 1e-9
    assert not clean.encode(mixed())[:, -1].any()


def test_rows_with_missing_values_are_dropped():
    table = with_gaps(mixed())
    schema = Schema.infer(table, missing="drop")
    kept = [
        record
        for record in _readable(table).to_pylist()
        if not any(is_missing(v) for v in record.values())
    ]
    expected = np.array([slow_row(schema, record) for record in kept])
    assert 0 < len(expected) < table.num_rows
    np.testing.assert_allclose(schema.encode(table), expected, rtol=1e-12, atol=1e-12)


def test_missing_values_are_counted_by_column():
    table = pa.table({"a": [1.0, None, float("nan"), 2.0], "b": ["x", None, "y", "y"]})
    message = r"no missing values; got, in 4 rows: 2 in `a`, 1 in `b`\. Pass `missing="
    with pytest.raises(DataError, match=message):
        Schema.infer(table)
    schema = Schema.infer(table.slice(0, 1).append_column("c", [["u"]]))
    with pytest.raises(DataError, match=r"in 4 rows: 2 in `a`, 1 in `b`"):
        schema.encode(table.append_column("c", [["u"] * 4]))


@pytest.mark.parametrize("missing", ["raise", "drop", "indicator"])
def test_infinite_values_are_refused(missing):
    table = pa.table({"a": [1.0, float("inf"), -float("inf")], "b": [1.0, 2.0, 3.0]})
    message = r"finite numbers; got, in 3 rows, infinite ones: 2 in `a`"
    with pytest.raises(DataError, match=message):
        Schema.infer(table, missing=missing)
    schema = Schema.infer(table.slice(0, 1), missing=missing)
    with pytest.raises(DataError, match=message):
        schema.encode(table)


def test_libraries_give_the_same_rows():
    table = mixed().drop_columns(
        ["float16", "view", "large", "bytes", "uint64", "date64"]
    )
    schema = Schema.infer(table)
    expected = schema.encode(table)
    frame = table.to_pandas()
    for other in (
        frame,
        frame.convert_dtypes(),
        pl.from_arrow(table),
        table.to_batches()[0],
    ):
        # Polars and pandas keep durations and times in units of their own.
        np.testing.assert_allclose(schema.encode(other), expected, rtol=1e-12, atol=1e-12)
        assert (
            Schema.infer(other).to_json()["columns"][0] == schema.to_json()["columns"][0]
        )


class OnlyStream:
    """A table that speaks the stream protocol only."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


class OnlyArray:
    """A batch that speaks the array protocol only."""

    def __init__(self, batch):
        self._batch = batch

    def __arrow_c_array__(self, requested_schema=None):
        return self._batch.__arrow_c_array__(requested_schema)


class OnlyInterchange:
    """A table that speaks the older protocol only."""

    def __init__(self, table):
        self._table = table

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return self._table.__dataframe__(nan_as_null, allow_copy)


@pytest.mark.parametrize("wrap", [OnlyStream, OnlyInterchange])
def test_protocols_of_other_libraries(wrap):
    table = pa.table({"x": [1.0, 2.0, 4.0], "s": ["a", "b", "a"]})
    schema = Schema.infer(table)
    np.testing.assert_array_equal(schema.encode(wrap(table)), schema.encode(table))
    assert Schema.infer(wrap(table)) == schema


def test_a_single_batch_is_a_table():
    batch = pa.RecordBatch.from_pydict({"x": [1.0, 2.0, 4.0]})
    assert Schema.infer(OnlyArray(batch)) == Schema.infer(batch)


def test_pandas_frames_keep_their_columns_and_lose_their_index():
    frame = pd.DataFrame({0: [1.0, 2.0, 4.0], ("a", "b"): [3, 4, 5]}, index=[7, 8, 9])
    schema = Schema.infer(frame)
    assert schema.names == ("0", "('a', 'b')")
    nullable = pd.DataFrame({"i": pd.array([1, None, 3], dtype="Int64")})
    with pytest.raises(DataError, match="1 in `i`"):
        Schema.infer(nullable)


def test_columns_are_found_by_name_whatever_their_order():
    table = mixed()
    schema = Schema.infer(table)
    turned = table.select(table.column_names[::-1]).append_column("new", [[1] * 200])
    np.testing.assert_array_equal(schema.encode(turned), schema.encode(table))


def test_wrapped_types():
    plain = pa.array(["a", "a", "b"])
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), ["a", "b"])
    numbers = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), [1.0, 5.0])
    table = pa.table({"s": plain, "x": [1.0, 1.0, 5.0]})
    wrapped = pa.table({"s": runs, "x": numbers})
    schema = Schema.infer(table)
    assert Schema.infer(wrapped) == schema
    np.testing.assert_array_equal(schema.encode(wrapped), schema.encode(table))
    periods = pd.DataFrame({"p": pd.period_range("2018", periods=3, freq="M")})
    assert Schema.infer(periods).columns[0].kind == "numeric"


def test_dictionaries_with_null_values_and_long_dictionaries():
    codes = pa.array([0, 1, None, 0], pa.int32())
    column = pa.DictionaryArray.from_arrays(codes, pa.array(["a", None, "b"]))
    schema = Schema.infer(pa.table({"s": column}), missing="indicator")
    assert_encoded(schema, pa.table({"s": ["a", None, None, "a"]}))
    np.testing.assert_array_equal(
        schema.encode(pa.table({"s": column})),
        schema.encode(pa.table({"s": pa.array(["a", None, None, "a"])})),
    )
    # Values that no row has are no levels.
    assert schema.columns[0].levels == ("a",)
    words = pa.array([f"w{i}" for i in range(5000)])
    long = pa.DictionaryArray.from_arrays(pa.array([4999, 7], pa.int32()), words)
    assert Schema.infer(pa.table({"s": long})).columns[0].levels == ("w4999", "w7")


def test_buckets_are_fixed_for_good():
    # Sketches of different days must agree in them.
    values = ["", "a", "b", "level 17", "Zürich", "\U0001f600", "x" * 1000]
    assert buckets(values, 16).tolist() == [slow_bucket(v, 16) for v in values]
    assert buckets(values, 16).tolist() == [0, 7, 0, 4, 13, 9, 12]
    counts = np.bincount(buckets([f"id-{i}" for i in range(16_000)], 16), minlength=16)
    # Sixteen cells of a thousand, standard deviation 31.
    assert abs(counts - 1000).max() < 200


def test_the_callers_data_are_left_as_they_are():
    values = np.array([1.0, np.nan, 3.0])
    values.flags.writeable = False
    frame = pd.DataFrame({"x": values})
    Schema.infer(frame, missing="indicator").encode(frame)
    assert np.isnan(values[1])


@pytest.mark.parametrize(
    ("column", "named"),
    [
        (pa.array([[1], [2]]), r"list<"),
        (pa.array([{"a": 1}, {"a": 2}]), r"struct<"),
        (pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64())), r"map<"),
    ],
)
def test_nested_columns_are_refused_by_name(column, named):
    table = pa.table({"ok": [1.0, 2.0], "nested": column})
    with pytest.raises(DataError, match=rf"column `nested` must hold.*{named}.*exclude"):
        Schema.infer(table)
    assert Schema.infer(table, exclude=["nested"]).names == ("ok",)


def test_bytes_that_are_no_text_are_refused_by_name():
    table = pa.table({"raw": pa.array([b"\xff\xfe", b"a"])})
    with pytest.raises(
        DataError, match="column `raw` must hold text in UTF-8; got binary"
    ):
        Schema.infer(table)
    # Readers of JSON lines call anything a string.
    wrong = pa.array([b"\xff\xfe", b"a"]).view(pa.string())
    with pytest.raises(
        DataError, match="column `raw` must hold text in UTF-8; got string"
    ):
        Schema.infer(pa.table({"raw": wrong}))


def test_columns_of_the_same_name_are_refused():
    table = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(
        DataError, match="columns of different names; got more than one `a`"
    ):
        Schema.infer(table)


@pytest.mark.parametrize(
    "thing", [3, "text", [1, 2], np.zeros((3, 2)), pd.Series([1, 2])]
)
def test_what_is_no_table_is_refused(thing):
    with pytest.raises(
        TypeError, match="`sample` must be a table: a DataFrame of pandas"
    ):
        Schema.infer(thing)


def test_objects_of_several_types_are_refused_by_name():
    with pytest.raises(
        DataError, match=r"a table that Arrow can hold.*column o with type"
    ):
        Schema.infer(pd.DataFrame({"o": [1, "a"]}))


def test_a_batch_without_a_column_is_refused():
    schema = Schema((Numeric("x", "numeric", "float", 0.0, 1.0),))
    with pytest.raises(DataError, match="must have the column `x`"):
        schema.encode_batch(pa.RecordBatch.from_pydict({"y": [1]}))


def test_numbers_too_large_for_their_scale_are_not_lost():
    schema = Schema((Numeric("x", "numeric", "float", 0.0, 1e-300),))
    assert np.isinf(schema.encode(pa.table({"x": [1e300]}))).all()


def test_columns_say_what_they_are():
    number = Numeric("x", "numeric", "float", 1.0, 2.0, 0.5)
    text = Categorical("s", "string", ("a", "b", "c", "d", "e"), 3, 1.5, indicator=True)
    assert str(number) == "x: numeric, centre 1, scale 2, missing values marked (float)"
    assert str(text) == (
        "s: categorical, 5 levels (a, b, c, d, …), others in 3 buckets, missing values a "
        "level (string)"
    )
    moment = Numeric("t", "datetime", "date", 86400.0 * 365, 86400.0 * 7)
    assert str(moment) == "t: datetime, centre 1971-01-01T00:00:00, scale 7 days (date)"
    wait = Numeric("w", "duration", "duration", 90.0, 30.0)
    assert str(wait) == "w: duration, centre 90 s, scale 30 s (duration)"
    assert number.encoded_names == ("x", "x is missing")
    assert text.encoded_names[-4:] == (
        "s = (other, 0)",
        "s = (other, 1)",
        "s = (other, 2)",
        "s is missing",
    )
