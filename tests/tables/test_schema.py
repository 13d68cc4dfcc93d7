"""Schemas: what is inferred, what they compare and check, and JSON."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pyarrow as pa
import pytest

from fastmmd import DataError, DataWarning
from fastmmd.tables import Categorical, Numeric, Schema


def column(values, **options):
    """Return what becomes of one column."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return Schema.infer(pa.table({"c": values}), **options).columns[0]


def weight_in_sample(values, **options):
    """Return the mean squared distance of two random rows of the sample."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        table = pa.table({"c": values})
        rows = Schema.infer(table, **options).encode(table)
    return 2.0 * rows.var(axis=0).sum()


# --- Constants


def test_numbers_are_centred_at_the_median_and_scaled_by_the_quartiles(rng):
    values = rng.standard_cauchy(10_001)
    found = column(values)
    low, middle, high = np.percentile(values, [25, 50, 75])
    assert found.center == pytest.approx(middle, rel=1e-15)
    # The quartiles of a normal distribution are at 0.6745 standard deviations.
    assert found.scale == pytest.approx((high - low) / 1.3489795, rel=1e-7)


def test_a_standard_scale_is_mean_and_standard_deviation(rng):
    values = rng.exponential(size=1000)
    found = column(values, scale="standard")
    assert found.center == pytest.approx(values.mean(), rel=1e-14)
    assert found.scale == pytest.approx(values.std(), rel=1e-13)


def test_a_robust_scale_is_that_of_a_normal_distribution(rng):
    found = column(3.0 + 2.0 * rng.normal(size=100_000))
    # Quartiles of n normal values stray by about 1.4 / sqrt(n) standard deviations.
    assert found.center == pytest.approx(3.0, abs=0.04)
    assert found.scale == pytest.approx(2.0, abs=0.04)


def test_mostly_equal_values_fall_back_to_the_standard_deviation():
    values = np.zeros(1000)
    values[:100] = 5.0
    found = column(values)
    assert (found.center, found.scale) == (0.0, pytest.approx(values.std()))
    # Equal but for rounding.
    noisy = values + 1e-13 * np.arange(1000)
    assert column(noisy).scale == pytest.approx(values.std())


def test_centers_are_values_of_the_sample():
    # To the last bit: scaling on the way must not round.
    rng = np.random.default_rng(0)
    for values in (rng.normal(size=101), 1e300 * rng.normal(size=101), [0.1, 0.3, 0.7]):
        assert column(values).center == np.median(values)


@pytest.mark.parametrize("factor", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_huge_and_tiny_numbers_are_scaled(factor, rng):
    values = rng.normal(size=501)
    for scale in ("robust", "standard"):
        found = column(values * factor, scale=scale)
        assert found.scale == pytest.approx(column(values, scale=scale).scale * factor)


def test_a_constant_column_has_scale_one_and_is_told_of():
    table = pa.table({"x": [0.1] * 7, "s": ["a"] * 7, "t": [1.0, 2.0, 3.0] * 2 + [1.0]})
    with pytest.warns(
        DataWarning, match="^constant columns, which tell nothing: `x`, `s`"
    ):
        schema = Schema.infer(table)
    assert (schema.columns[0].center, schema.columns[0].scale) == (0.1, 1.0)
    rows = schema.encode(table)
    # Subtracting 0.1 and adding up the mean may round.
    assert np.ptp(rows[:, :3], axis=0).max() == 0.0


def test_a_column_that_is_constant_where_it_is_not_missing_is_not_constant():
    table = pa.table({"x": [1.0, None, 1.0]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Schema.infer(table, missing="indicator")


def test_identifiers_are_told_of():
    table = pa.table({"id": [f"user {i}" for i in range(200)]})
    with pytest.warns(DataWarning, match="nearly every row, like an identifier.*`id`"):
        Schema.infer(table)


# --- Weight: one column counts about as much as another


@pytest.mark.parametrize(
    "shares", [[0.5, 0.5], [0.2] * 5, [0.7, 0.2, 0.1], [0.9, 0.1], [0.04] * 25]
)
def test_a_category_weighs_as_much_as_a_number(shares):
    counts = np.round(1000 * np.array(shares)).astype(int)
    values = np.repeat([f"level {i}" for i in range(len(shares))], counts)
    expected = 2.0 if max(shares) < 0.9 else 8.0 * 0.9 * 0.1 * 2.0
    assert weight_in_sample(values) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("share", [0.5, 0.3, 0.15])
def test_a_boolean_weighs_as_much_as_a_number_and_as_a_category(share):
    values = np.arange(1000) < 1000 * share
    assert weight_in_sample(values) == pytest.approx(2.0)
    assert weight_in_sample(values.astype(str)) == pytest.approx(2.0)


def test_a_rare_level_does_not_outweigh_everything_else():
    values = np.arange(10_000) < 1
    rows = {}
    for name, own in (("flag", values), ("word", values.astype(str))):
        table = pa.table({"c": own})
        encoded = Schema.infer(table).encode(table)
        rows[name] = float(np.square(encoded[0] - encoded[-1]).sum())
    # Twice the distance, in scale, that two numbers have on average.
    assert rows == {"flag": pytest.approx(8.0), "word": pytest.approx(8.0)}


def test_an_indicator_weighs_as_much_as_a_boolean():
    values = pa.array([1.0] * 50 + [None] * 50)
    assert weight_in_sample(values, missing="indicator") == pytest.approx(2.0)
    words = pa.array(["a"] * 50 + [None] * 50)
    assert weight_in_sample(words, missing="indicator") == pytest.approx(2.0)


# --- Levels


def test_levels_are_the_most_frequent_values_first():
    found = column(["b"] * 3 + ["a"] * 3 + ["c"] * 5)
    assert (found.levels, found.n_buckets) == (("c", "a", "b"), 1)


def test_many_levels_share_buckets():
    values = [f"v{i:03d}" for i in range(100) for _ in range(200 - i)]
    found = column(values, max_levels=10)
    assert found.levels == ("v000", "v001", "v002", "v003", "v004")
    assert found.n_buckets == 5
    assert len(found.encoded_names) == 10
    assert len(column(values[:20], max_levels=10).encoded_names) == 2
    rows = Schema.infer(pa.table({"c": values}), max_levels=10).encode(
        pa.table({"c": values})
    )
    assert 2.0 * rows.var(axis=0).sum() == pytest.approx(2.0)


def test_numbers_can_be_categories():
    for values in ([10115, 80331, 10115], [10115.0, 80331.0, 10115.0]):
        found = column(values, kinds={"c": "categorical"})
        assert found.levels == ("10115", "80331")
    schema = Schema.infer(
        pa.table({"c": [1, 2]}), kinds={"c": "categorical"}, missing="indicator"
    )
    rows = schema.encode(pa.table({"c": [1.0, None, 3.0]}))
    np.testing.assert_array_equal(
        rows != 0.0, np.array([[1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    )


# --- Several samples


def test_samples_are_pooled():
    a, b = pa.table({"x": [1.0, 2.0, 3.0]}), pa.table({"x": [5, 9]})
    pooled = Schema.infer(a, b)
    assert pooled == Schema.infer(pa.table({"x": [1.0, 2.0, 3.0, 5.0, 9.0]}))
    assert Schema.infer(b, a) == pooled


def test_columns_that_not_all_samples_have_are_left_out_and_told_of():
    a = pa.table({"x": [1.0, 2.0], "old": [1, 2]})
    b = pa.table({"new": [1, 2], "x": [1.0, 2.0]})
    with pytest.warns(DataWarning, match="not all data have, left out: `old`, `new`"):
        assert Schema.infer(a, b).names == ("x",)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Schema.infer(a, b, exclude=["old", "new"])
        Schema.infer(a, b, columns=["x"])


@pytest.mark.parametrize(
    ("first", "second", "named"),
    [
        ([1.0], ["a"], "double in .* and string in"),
        ([True], ["a"], "bool in .* and string in"),
        ([1], pa.array([1], pa.timestamp("s")), r"int64 in .* and timestamp\[s\] in"),
        (
            pa.array([1], pa.timestamp("s")),
            pa.array([1], pa.timestamp("s", "UTC")),
            "timestamp",
        ),
    ],
)
def test_other_kinds_of_data_do_not_go_together(first, second, named):
    with pytest.raises(DataError, match=f"column `c` must hold the same kind.*{named}"):
        Schema.infer(pa.table({"c": first}), pa.table({"c": second}))


def test_flags_and_empty_columns_go_with_numbers():
    a, b = pa.table({"c": [True, False]}), pa.table({"c": [0, 1]})
    assert Schema.infer(a, b).columns[0].kind == "numeric"
    nothing = pa.table({"c": pa.nulls(2)})
    schema = Schema.infer(b, nothing, missing="indicator")
    assert (schema.columns[0].kind, schema.columns[0].type) == ("numeric", "integer")


# --- What is refused


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"scale": "max"}, ValueError, '`scale` must be one of "robust", "standard"'),
        ({"missing": "fill"}, ValueError, '`missing` must be one of "raise", "drop"'),
        ({"max_levels": 1}, ValueError, "`max_levels` must be an integer of at least 2"),
        ({"columns": "x"}, TypeError, r"`columns` must be a list of names.*\['x'\]"),
        ({"exclude": "x"}, TypeError, "`exclude` must be a list of names"),
        (
            {"columns": ["z"]},
            DataError,
            "`columns` must name columns of the data; got `z`",
        ),
        ({"exclude": ["z"]}, DataError, "`exclude` must name columns.*have `x`, `s`"),
        (
            {"exclude": ["x", "s"]},
            DataError,
            r"columns to use; they have \(x, s\).*exclude",
        ),
        ({"kinds": {"x": "word"}}, ValueError, "`kinds` must be one of"),
        ({"kinds": {"s": "numeric"}}, DataError, '`kinds` must say "categorical"'),
        (
            {"kinds": {"z": "numeric"}},
            DataError,
            "`kinds` must name columns that are used",
        ),
    ],
)
def test_bad_options_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        Schema.infer(pa.table({"x": [1.0, 2.0], "s": ["a", "b"]}), **options)


def test_columns_and_exclude():
    table = pa.table({"a": [1, 2], "b": [3, 4], "c": [5, 6]})
    assert Schema.infer(table, columns=["c", "a", "c"]).names == ("c", "a")
    assert Schema.infer(table, columns=["c", "a"], exclude=["a"]).names == ("c",)


def test_no_common_columns():
    with pytest.raises(DataError, match=r"columns in common; they have \(a\) and \(b\)"):
        Schema.infer(pa.table({"a": [1]}), pa.table({"b": [1]}))
    with pytest.raises(DataError, match="`columns` must be in all data; got `a` only"):
        Schema.infer(pa.table({"a": [1], "c": [1]}), pa.table({"c": [1]}), columns=["a"])
    with pytest.raises(TypeError, match="at least one table"):
        Schema.infer()


@pytest.mark.parametrize("missing", ["raise", "drop", "indicator"])
def test_columns_without_values_are_refused_by_name(missing):
    table = pa.table({"x": [1.0, 2.0], "n": pa.nulls(2), "f": [float("nan")] * 2})
    message = r"only missing ones in `n`, `f`\. Leave out with `exclude=\['n', 'f'\]`"
    with pytest.raises(DataError, match=message):
        Schema.infer(table, missing=missing)


def test_no_rows_are_refused():
    with pytest.raises(DataError, match="must have at least one row"):
        Schema.infer(pa.table({"x": pa.array([], pa.float64())}))


# --- Other tables


def test_differences_are_reported_by_name():
    schema = Schema.infer(pa.table({"x": [1, 2], "s": ["a", "b"], "t": [1.0, 2.0]}))
    other = pa.table({"t": [1, 2], "s": [1, 2], "new": [1, 2]})
    report = schema.compare(other)
    assert report.missing == ("x",)
    assert report.incompatible == ("`s` is int64, not string",)
    assert report.new == ("new",)
    assert report.changed == ("`t` is integer, in the schema float",)
    assert report.notes == (
        "column `t` is integer, in the schema float.",
        "columns that the schema has not, left out: `new`.",
    )
    message = (
        r"table must have the columns of the schema; it has no column `x`; `s` is int64, "
        r"not string\. Its other columns are `new`\."
    )
    for check in (schema.check, schema.encode):
        with pytest.raises(DataError, match=message):
            check(other)


def test_types_that_mean_the_same_are_not_reported():
    schema = Schema.infer(pa.table({"x": [1, 2], "s": ["a", "b"]}))
    other = pa.table(
        {
            "x": pa.array([1, 2], pa.uint8()),
            "s": pa.array(["a", "b"], pa.large_string()).dictionary_encode(),
        }
    )
    assert schema.check(other) == type(schema.check(other))()
    assert schema.check(other.schema).notes == ()


def test_schemas_are_values():
    first, second = (Schema.infer(pa.table({"x": [1, 2, 4]})) for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)
    assert first != Schema.infer(pa.table({"x": [1, 2, 5]}), scale="standard")


# --- JSON


def rich_schema():
    table = pa.table(
        {
            "x": [1.0, None, 1e-300],
            "s": ["ä", None, "b"],
            "t": pa.array([1, 2, 3], pa.timestamp("us", "UTC")),
        }
    )
    return Schema.infer(table, missing="indicator", scale="standard")


def test_json_round_trip():
    schema = rich_schema()
    text = json.dumps(schema.to_json(), allow_nan=False)
    assert Schema.from_json(json.loads(text)) == schema
    assert list(schema.to_json()) == ["version", "scale", "missing", "columns"]


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"version": "1"},
        {"version": True},
        {"scale": "max"},
        {"missing": None},
        {"columns": 3},
        {"columns": [3]},
        {"columns": [{"name": "x"}]},
        {"columns": [{"kind": "numeric", "name": "x"}]},
    ],
)
def test_bad_json_is_refused(change):
    value = rich_schema().to_json() | change
    with pytest.raises(
        (DataError, ValueError, TypeError), match=r"schema must|`\w+` must"
    ):
        Schema.from_json(value)
    with pytest.raises(DataError, match="a schema must be what"):
        Schema.from_json({})


@pytest.mark.parametrize(
    ("place", "change"),
    [
        (0, {"kind": "words"}),
        (0, {"scale": 0.0}),
        (0, {"scale": -1.0}),
        (0, {"scale": "1"}),
        (0, {"center": float("nan")}),
        (0, {"indicator": 0.0}),
        (0, {"name": 3}),
        (0, {"extra": 3}),
        (1, {"levels": [1]}),
        (1, {"levels": None}),
        (1, {"n_buckets": 0}),
        (1, {"n_buckets": 1.0}),
        (1, {"weight": float("inf")}),
        (1, {"indicator": 1}),
    ],
)
def test_columns_that_make_no_sense_are_refused(place, change):
    value = rich_schema().to_json()
    value["columns"][place] |= change
    with pytest.raises(DataError, match="a schema must describe its columns"):
        Schema.from_json(value)


def test_the_text_names_every_column():
    text = str(rich_schema())
    assert text.splitlines()[0] == (
        "Schema of 3 columns, 8 numbers a row (scale standard, missing indicator)"
    )
    assert len(text.splitlines()) == 4


def test_columns_can_be_made_by_hand():
    schema = Schema(
        (
            Numeric("x", "numeric", "float", 1.0, 2.0),
            Categorical("s", "string", ("a",), 1, 1.5),
        )
    )
    rows = schema.encode(pa.table({"s": ["a", "z"], "x": [3.0, -1.0]}))
    np.testing.assert_array_equal(rows, [[1.0, 1.5, 0.0], [-1.0, 0.0, 1.5]])
