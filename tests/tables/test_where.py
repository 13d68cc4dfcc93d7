"""Row filters: what they mean, missing values, and what is refused."""

from __future__ import annotations

import contextlib
import datetime as dt
import pickle

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastmmd import DataError
from fastmmd.tables.where import parse_where

BATCH = pa.RecordBatch.from_pydict(
    {
        "year": [2017, 2018, None, 2019],
        "delay": [1.0, 5.0, 9.0, float("nan")],
        "price": pa.array([1, 2, 3, 4]).cast(pa.decimal128(30, 2)),
        "carrier": pa.array(["AA", "UA", None, "it's"]).dictionary_encode(),
        "view": pa.array(["a", "b", "c", None], pa.string_view()),
        "day": pa.array([dt.date(2018, 1, i + 1) for i in range(4)]),
        "naive": pa.array([dt.datetime(2018, 1, i + 1) for i in range(4)]),
        "zoned": pa.array(
            [dt.datetime(2018, 1, i + 1, tzinfo=dt.UTC) for i in range(4)],
            pa.timestamp("us", "America/New_York"),
        ),
        "clock": pa.array([dt.time(i) for i in range(4)]),
        "wait": pa.array([dt.timedelta(seconds=i) for i in range(4)]),
        "late": [True, False, None, True],
        "a b": [1, 2, 3, 4],
        "dotted.name": [1, 2, 3, 4],
        "nothing": pa.nulls(4),
    }
)


def mask(text):
    return parse_where(text).mask(BATCH).to_pylist()


T, F, N = True, False, None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("year == 2018", [F, T, N, F]),
        ("year=2018", [F, T, N, F]),
        ("year != 2018", [T, F, N, T]),
        ("year <> 2018", [T, F, N, T]),
        ("2018 < year", [F, F, N, T]),
        ("year >= 2018", [F, T, N, T]),
        ("delay > 3", [F, T, T, N]),
        ("not (delay > 3)", [T, F, F, N]),
        ("delay > -1.5e0", [T, T, T, N]),
        ("delay <= .5e1", [T, T, F, N]),
        ("price == 2", [F, T, F, F]),
        ("price > 2.5", [F, F, T, T]),
        ("year == 2018 or delay > 3", [F, T, T, N]),
        ("year == 2018 and delay > 3", [F, T, N, F]),
        ("year == 2017 or year == 2018 and delay > 9", [T, F, N, F]),
        ("(year == 2017 or year == 2018) and delay > 9", [F, F, F, F]),
        ("NOT year == 2018 AND delay < 3", [T, F, F, N]),
        ("carrier in ('AA', 'UA')", [T, T, N, F]),
        ("carrier not in ('AA')", [F, T, N, T]),
        ("year in (2017, 2019)", [T, F, N, T]),
        ("carrier == 'it''s'", [F, F, N, T]),
        (r"carrier == 'it\'s'", [F, F, N, T]),
        ('carrier == "it\'s"', [F, F, N, T]),
        ("carrier > 'B'", [F, T, N, T]),
        ("view == 'b'", [F, T, F, N]),
        ("day >= '2018-01-03'", [F, F, T, T]),
        ("naive < '2018-01-02 12:00:00'", [T, T, F, F]),
        # Midnight in New York is five in the morning in UTC.
        ("zoned >= '2018-01-02'", [F, F, T, T]),
        ("zoned >= '2018-01-02T00:00:00Z'", [F, T, T, T]),
        ("zoned >= '2018-01-01T20:00:00-0400'", [F, T, T, T]),
        ("clock >= '02:00'", [F, F, T, T]),
        ("wait > 1.5", [F, F, T, T]),
        ("late", [T, F, N, T]),
        ("not late", [F, T, N, F]),
        ("late == true", [T, F, N, T]),
        ("late = 0", [F, T, N, F]),
        ("delay is null", [F, F, F, T]),
        ("carrier IS NOT NULL", [T, T, F, T]),
        ("`a b` >= 3", [F, F, T, T]),
        ("dotted.name == 2", [F, T, F, F]),
        ("year > `a b`", [T, T, N, T]),
        ("nothing == 3", [N, N, N, N]),
        ("nothing is null", [T, T, T, T]),
    ],
)
def test_meaning(text, expected):
    assert mask(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a column or a value at character 1, got the end"),
        ("year ==", "a column or a value at character 8, got the end"),
        ("year == 2018 and", "at character 17, got the end"),
        ("(year == 2018", r"expected `\)` at character 14"),
        ("year == 2018)", r"expected the end at character 13, got `\)`"),
        ("year 2018", "expected the end at character 6, got `2018`"),
        ("3 == 3", "expected a column at character 1"),
        ("3", "expected a comparison"),
        ("year in 3", r"expected `\(` at character 9"),
        ("year in ()", "a column or a value at character 10"),
        ("year in (late)", "a number or a text in quotes at character 10"),
        ("year not 3", "expected `in` at character 10"),
        ("year is 3", "expected `null` at character 9"),
        ("year @ 3", "a column, a value or a comparison at character 5"),
        ("year == 'open", "at character 8"),
        ("year == 20x", "at character 8"),
        ("and", "expected a column or a value at character 1"),
        ("__import__('os').remove('x')", r"got `\.remove"),
        ("(" * 5000 + "year == 3", "fewer conditions inside each other"),
    ],
)
def test_bad_text_is_refused_with_the_place(text, message):
    with pytest.raises(ValueError, match=message):
        parse_where(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("year == '2018'", "compare `year` with a int64; got '2018'"),
        ("carrier == 3", "with a string; got 3. Write text in quotes"),
        ("day > 'soon'", r"with a date32\[day\]; got 'soon'"),
        ("day > 3", r"with a date32\[day\]; got 3"),
        ("clock > 'noon'", "got 'noon'"),
        ("wait > 'long'", "got 'long'. Write seconds"),
        ("late == 2", "with a bool; got 2"),
        ("late == 'x'", "with a bool"),
        ("year == true", "with a int64; got True"),
        ("carrier", "must compare `carrier` with something: it is string"),
        ("carrier > day", "like with like; got string and date32"),
        ("yer == 3", "got `yer`. Did you mean `year`"),
        ("zzz == 3", "got `zzz`. They have `year`"),
    ],
)
def test_conditions_that_do_not_fit_the_data_are_refused(text, message):
    with pytest.raises(DataError, match=message):
        mask(text)


def test_only_text_is_parsed():
    with pytest.raises(TypeError, match="`where` must be a string; got 3"):
        parse_where(3)


def test_conditions_are_values():
    text = "year == 2018 and not (late or carrier in ('AA', 'UA')) and delay is null"
    condition = parse_where(text)
    assert pickle.loads(pickle.dumps(condition)) == condition == parse_where(text)
    assert condition.columns == {"year", "late", "carrier", "delay"}
    assert len(condition.conjuncts()) == 3


LEAVES = ["year == 2018", "delay > 3", "late", "carrier is null", "`a b` in (1, 4)"]


def kleene_and(a, b):
    return False if a is False or b is False else (None if None in (a, b) else True)


@st.composite
def formulas(draw, depth=3):
    """Draw a condition as text with its truth in each row, worked out here."""
    if depth == 0 or draw(st.booleans()):
        leaf = draw(st.sampled_from(LEAVES))
        return leaf, mask(leaf)
    operation = draw(st.sampled_from(["and", "or", "not"]))
    left, truth = draw(formulas(depth=depth - 1))
    if operation == "not":
        return f"not ({left})", [None if t is None else not t for t in truth]
    right, other = draw(formulas(depth=depth - 1))
    pairs = list(zip(truth, other, strict=True))
    if operation == "and":
        return f"({left}) and ({right})", [kleene_and(a, b) for a, b in pairs]
    turned = [
        kleene_and(None if a is None else not a, None if b is None else not b)
        for a, b in pairs
    ]
    return f"({left}) or ({right})", [None if t is None else not t for t in turned]


@settings(max_examples=100, deadline=None)
@given(formulas())
def test_logic_has_three_values(formula):
    text, expected = formula
    assert mask(text) == expected


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                *"()<>=!,'\"`.+-",
                "and",
                "or",
                "not",
                "in",
                "is",
                "null",
                "year",
                "3",
                "'x'",
            ]
        ),
        max_size=12,
    )
)
def test_any_text_is_a_condition_or_a_value_error(words):
    with contextlib.suppress(ValueError):
        parse_where(" ".join(words))
