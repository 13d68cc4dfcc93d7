"""Laws of tables: encoding acts on rows, and sketches on parts, in any order and batches."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import fastmmd
from fastmmd import DataWarning
from fastmmd.tables import Schema, new_sketch, open_source, schema_of, sketch_source
from fastmmd.tables import source as source_module
from fastmmd.tables.sample import draw_sample

laws = settings(max_examples=60, deadline=None)

numbers = st.one_of(st.none(), st.floats(-1e6, 1e6, width=32), st.just(float("nan")))
words = st.one_of(st.none(), st.sampled_from(["a", "b", "", "ä"]), st.text(max_size=3))
flags = st.one_of(st.none(), st.booleans())
moments = st.one_of(st.none(), st.integers(-(2**40), 2**40))

TYPES = {
    "x": pa.float64(),
    "s": pa.string(),
    "b": pa.bool_(),
    "t": pa.timestamp("ms"),
}


@st.composite
def tables(draw, min_rows=1, max_rows=30):
    """Draw a table of four kinds of columns with missing values."""
    n = draw(st.integers(min_rows, max_rows))
    columns = {}
    for name, values in (("x", numbers), ("s", words), ("b", flags), ("t", moments)):
        found = draw(st.lists(values, min_size=n, max_size=n))
        columns[name] = pa.array(found, TYPES[name])
    # A value of each, so that no column is empty.
    seed = pa.table(
        {
            "x": pa.array([0.5]),
            "s": pa.array(["a"]),
            "b": pa.array([True]),
            "t": pa.array([7], TYPES["t"]),
        }
    )
    return pa.concat_tables([seed, pa.table(columns)])


def schema_from(table, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return Schema.infer(table, **options)


@laws
@given(tables(), tables(), st.sampled_from(["robust", "standard"]))
def test_encoding_acts_on_each_row_by_itself(sample, table, scale):
    schema = schema_from(sample, missing="indicator", scale=scale)
    whole = schema.encode(table)
    assert np.isfinite(whole).all()
    assert whole.shape == (table.num_rows, schema.n_encoded)
    for i in range(table.num_rows):
        np.testing.assert_array_equal(schema.encode(table.slice(i, 1))[0], whole[i])
    turned = table.select(table.column_names[::-1])
    np.testing.assert_array_equal(schema.encode(turned), whole)


@laws
@given(tables(), tables())
def test_dropping_rows_is_encoding_the_others(sample, table):
    schema = schema_from(sample, missing="drop")
    x = table["x"].to_numpy()
    complete = ~np.isnan(x)
    for name in ("s", "b", "t"):
        complete &= table[name].is_valid().to_numpy()
    kept = table.filter(pa.array(complete))
    np.testing.assert_array_equal(schema.encode(table), schema.encode(kept))
    assert len(schema.encode(table)) == complete.sum()


@laws
@given(tables(), st.randoms(use_true_random=False))
def test_a_schema_does_not_see_the_order_of_rows_or_which_table_they_are_in(
    table, random
):
    schema = schema_from(table, missing="indicator")
    order = list(range(table.num_rows))
    random.shuffle(order)
    shuffled = table.take(order)
    cut = random.randrange(table.num_rows + 1)
    pieces = [shuffled.slice(0, cut), shuffled.slice(cut)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        again = Schema.infer(*pieces, missing="indicator")
    for one, other in zip(schema.columns, again.columns, strict=True):
        if hasattr(one, "levels"):
            assert one == other
        else:
            # Means and deviations may round otherwise in another order.
            np.testing.assert_allclose(
                [one.center, one.scale], [other.center, other.scale], rtol=1e-9
            )


@laws
@given(tables())
def test_json_is_faithful(table):
    schema = schema_from(table, missing="indicator")
    assert Schema.from_json(schema.to_json()) == schema


@laws
@given(tables(), st.integers(1, 40), st.integers(1, 12), st.integers(1, 3))
def test_a_sketch_does_not_depend_on_batches_or_threads(table, chunk, rows, n_threads):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        like = new_sketch(
            table, missing="indicator", kernel=fastmmd.Gaussian(1.0), n_bins=4
        ).like(stream="s")
    expected = like.copy()
    expected.update(schema_of(like).encode(table))
    pieces = [table.slice(i, chunk) for i in range(0, table.num_rows, chunk)]
    kept = source_module._FEWEST_ROWS, source_module._MOST_ROWS
    source_module._FEWEST_ROWS = source_module._MOST_ROWS = rows
    try:
        found = sketch_source(
            pa.concat_tables(pieces), like=like, stream="s", n_threads=n_threads
        )
    finally:
        source_module._FEWEST_ROWS, source_module._MOST_ROWS = kept
    np.testing.assert_array_equal(found.counts, expected.counts)
    # A feature may round the other way in single precision.
    assert np.abs(found.sums - expected.sums).max() <= 4e-7 * table.num_rows


@laws
@given(tables(), st.integers(1, 20), st.integers(0, 5))
def test_a_sample_does_not_depend_on_batches(table, size, seed):
    pieces = pa.concat_tables([table.slice(i, 3) for i in range(0, table.num_rows, 3)])
    kept = source_module._FEWEST_ROWS, source_module._MOST_ROWS
    drawn = []
    for rows in (kept[1], 2):
        source_module._FEWEST_ROWS = source_module._MOST_ROWS = rows
        try:
            sample = draw_sample([open_source(pieces)], ["s", "t"], size, seed=seed)
        finally:
            source_module._FEWEST_ROWS, source_module._MOST_ROWS = kept
        drawn.append([row for own in sample.tables[0] for row in own.to_pylist()])
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) == min(size, table.num_rows)
