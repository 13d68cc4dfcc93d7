"""The work of a cluster without a cluster: pieces in any order, twice, and merged anyhow."""

from __future__ import annotations

import itertools
import pickle
import random

import engine_data
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastmmd
from fastmmd import DataError, DataWarning, IncompatibleSketchError, Sketch, tables
from fastmmd.engines import driver, groups, pieces
from fastmmd.engines.groups import Grouping, stream_name
from fastmmd.engines.identity import key_numbers, row_numbers
from fastmmd.engines.sampling import Sampling, likely_bound, n_kept
from fastmmd.engines.tasks import Task, shell_of, tasks_of
from fastmmd.engines.work import Sketching, merge_bytes
from fastmmd.tables import sketching
from fastmmd.tables.sample import draw_sample, sample_stream
from fastmmd.tables.schema import SchemaOptions

PLAIN = {"exclude": ["key"]}


class Local(driver.Adapter):
    """An engine that does everything here, in a random order, some of it twice."""

    def __init__(self, task_rows=1000, seed=0):
        self.task_rows = task_rows
        self.random = random.Random(seed)
        self.works = []

    def open(self, data, /, *, name):
        if isinstance(data, pa.Table):
            return driver.frame_of(name, data, data.schema.names)
        return tables.open_source(data)

    def reduce(self, data, work, /):
        # What is sent is what arrives.
        work = pickle.loads(pickle.dumps(work))
        self.works.append(work)
        if isinstance(data, tables.Source):
            tasks = tasks_of(data, self.task_rows)
            self.random.shuffle(tasks)
            outcomes = [work.on_files(task) for task in tasks]
            assert [work.on_files(task) for task in tasks[:2]] == outcomes[:2]
        else:
            pieces = list(enumerate(data.data.to_batches(self.task_rows)))
            self.random.shuffle(pieces)
            outcomes = [
                work.on_batches([rows], part=f"piece {i}", place=i) for i, rows in pieces
            ]
        while len(outcomes) > 1:
            n = self.random.randint(2, 4)
            outcomes = [*outcomes[n:], work.merge(outcomes[:n])]
        return work.merge(outcomes)


def settings(**options):
    own = {k: options.pop(k) for k in ("kernel", "n_bins", "rng", "key") if k in options}
    chosen = {name: options.get(name) for name in ("columns", "exclude", "kinds")}
    full = SchemaOptions(
        chosen["columns"],
        chosen["exclude"],
        options.get("scale", "robust"),
        options.get("missing", "raise"),
        chosen["kinds"],
        32,
    )
    return driver.Settings.checked(full, **own)


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    return engine_data.write_parts(tmp_path_factory.mktemp("engines") / "old", 5000, 0)


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    folder = tmp_path_factory.mktemp("engines") / "new"
    return engine_data.write_parts(folder, 4000, 1, 0.1, missing=5)


@pytest.fixture
def small_samples(monkeypatch):
    """Let samples be a part of the rows, as they are of real data."""
    monkeypatch.setattr(sketching, "sample_size", lambda _: 300)


# --- The same as on one machine


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize("task_rows", [1, 999, 10**9])
@pytest.mark.parametrize("scale", ["robust", "standard"])
def test_a_sketch_of_files_is_that_of_one_machine(old, task_rows, scale):
    options = {**PLAIN, "scale": scale, "n_bins": 16}
    expected = tables.sketch_source(old, **options)
    made = driver.make_sketch(
        Local(task_rows), old, settings(**options), like=None, stream=None
    )
    assert made.to_bytes() == expected.to_bytes()


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize("where", [None, "whole >= 5 and level != 'a'"])
def test_a_test_of_files_is_that_of_one_machine(old, new, where):
    options = {**PLAIN, "missing": "drop", "rng": 7}
    sources = [tables.open_source(folder, where=where) for folder in (old, new)]
    expected = tables.two_sample_test(*sources, **options)
    asked = {"null": "auto", "n_resamples": 999, "level": 0.05, "margin": None}
    for seed in range(3):
        adapter = Local(seed=seed)
        result = driver.make_test(adapter, *sources, settings(**options), asked)
        assert result.to_dict() == expected.to_dict()
        assert result.notes == expected.notes
        assert "missing values, left out" in result.notes[-1]


def test_tables_of_an_engine(old):
    table = engine_data.table(5000, 0)
    like = tables.sketch_source(old, n_bins=16, **PLAIN)
    expected = like.like(stream="s")
    expected.update(
        tables.schema_of(like).encode(table), row_numbers=table["key"].to_numpy()
    )
    for task_rows in (700, 5000):
        made = driver.make_sketch(
            Local(task_rows), table, settings(key="key"), like=like, stream="s"
        )
        assert made == expected
    # Without a key pieces are known by their number, in whatever order they come.
    first, second = (
        driver.make_sketch(
            Local(700, seed), table, settings(**PLAIN), like=None, stream="s"
        )
        for seed in (0, 1)
    )
    assert first == second
    assert first.count == 5000


def test_plain_numbers_need_no_schema():
    rows = np.random.default_rng(0).normal(size=(500, 3))
    plain = Sketch.adaptive(rows, n_bins=8, stream="s")
    empty = plain.like()
    plain.update(rows)
    table = pa.table({f"c{i}": rows[:, i] for i in range(3)} | {"id": np.arange(500)})
    made = driver.make_sketch(
        Local(70), table, settings(key="id"), like=empty, stream="s"
    )
    assert made == plain


# --- What cannot be is said before the data are read

NO_TEST = [
    ({"level": 1.5}, "`level` must be a number strictly between 0 and 1"),
    ({"n_resamples": 0}, "`n_resamples` must be an integer of at least 1"),
    ({"null": "bootstrap"}, "`null` must be one of"),
    ({"null": "normal"}, "which is for `Linear` and `Block`"),
    ({"null": "gamma", "margin": 0.1, "kernel": "gaussian"}, '`null` must be "auto"'),
    ({"margin": -1.0, "kernel": "gaussian"}, "`margin` must be a finite number"),
    ({"margin": 0.1}, "`margin` must be used with one kernel"),
    ({"margin": 0.1, "kernel": ["gaussian", "laplace"]}, "`margin` must be used with"),
    ({"kernel": []}, "`kernel` must name at least one kernel"),
    ({"kernel": "gauss"}, "`kernel` must be one of"),
    ({"rng": "seed"}, "`rng` must be"),
]
NO_SKETCH = [
    ({"n_bins": 100}, "`n_bins` must be a power of two; got 100"),
    ({"n_bins": "256"}, "`n_bins` must be an integer"),
    ({"stream": 1.5}, "`stream` must be a string, bytes, an integer or None"),
    ({"kernel": ()}, "`kernel` must name at least one kernel"),
    ({"rng": -1}, "`rng` must be"),
]


class Unread(Local):
    """An engine that must not be asked to do anything."""

    def reduce(self, data, work, /):
        pytest.fail("a pass over the data")


@pytest.mark.parametrize(("options", "message"), NO_TEST)
def test_options_of_a_test_are_checked_first(old, new, options, message):
    asked = {"null": "auto", "n_resamples": 999, "level": 0.05, "margin": None}
    asked |= {name: options[name] for name in asked if name in options}
    others = {name: options[name] for name in ("kernel", "rng") if name in options}
    with pytest.raises((TypeError, ValueError), match=message):
        driver.make_test(Unread(), old, new, settings(**PLAIN, **others), asked)
    seen = []
    with pytest.raises((TypeError, ValueError), match=message):
        tables.two_sample_test(old, new, **PLAIN, **options, progress=seen.append)
    assert not seen


@pytest.mark.parametrize(("options", "message"), NO_SKETCH)
def test_options_of_a_sketch_are_checked_first(old, options, message):
    given = {name: value for name, value in options.items() if name != "stream"}
    stream, seen = options.get("stream"), []
    with pytest.raises((TypeError, ValueError), match=message):
        driver.make_sketch(
            Unread(), old, settings(**PLAIN, **given), like=None, stream=stream
        )
    with pytest.raises((TypeError, ValueError), match=message):
        tables.sketch_source(old, **PLAIN, **options, progress=seen.append)
    if given:
        with pytest.raises((TypeError, ValueError), match=message):
            tables.new_sketch(old, **PLAIN, **given, progress=seen.append)
    assert not seen


def test_more_options_are_checked_first(old, new):
    seen = []
    with pytest.raises(ValueError, match="`n_rows` must be an integer of at least 1"):
        tables.new_sketch(old, n_rows=-5, progress=seen.append)
    for options in ({}, {"sample_rows": 50}):
        with pytest.raises(ValueError, match="`n_threads` must be an integer of at"):
            tables.two_sample_test(
                old, new, n_threads=-1, **options, progress=seen.append
            )
    assert not seen


@pytest.mark.parametrize("task_rows", [-1, 0, 2.5])
def test_rows_of_a_task_are_checked_for_frames_too(task_rows):
    asked = {"null": "auto", "n_resamples": 999, "level": 0.05, "margin": None}
    table, adapter = engine_data.table(100, 0), Unread(task_rows)
    rule = "`task_rows` must be an integer of at least 1"
    with pytest.raises((TypeError, ValueError), match=rule):
        driver.make_sketch(adapter, table, settings(**PLAIN), like=None, stream=None)
    with pytest.raises((TypeError, ValueError), match=rule):
        driver.make_test(adapter, table, table, settings(**PLAIN), asked)


def test_columns_are_checked_first(old):
    like = tables.sketch_source(old, n_bins=8, **PLAIN)
    table = engine_data.table(100, 0)

    def make(data, like, **options):
        driver.make_sketch(Unread(), data, settings(**options), like=like, stream=None)

    with pytest.raises(
        DataError, match=r"; it has no column `whole`, `level`\. Its other"
    ):
        make(table.drop_columns(["whole", "level"]), like)
    plain = Sketch(fastmmd.Gaussian(1.0), 2)
    rule = "`data` must have 2 columns, as the sketch that is given as `like`; got 4"
    with pytest.raises(DataError, match=rule):
        make(table, plain)
    with pytest.raises(DataError, match=rule.replace("4", "3")):
        make(table, plain, key="key")
    typed = driver.frame_of(
        "data", None, ["number", "whole", "level"], types={"number": pa.large_string()}
    )
    with pytest.raises(
        DataError, match="the columns of the schema; `number` is large_string, not float"
    ):
        driver.check_columns(like, typed, settings())


def test_columns_of_the_same_name_are_refused():
    with pytest.raises(
        DataError, match=r"`data` must have columns of different names; .*`1`"
    ):
        driver.frame_of("data", None, [1, "1", "b"])


def test_a_key_alone_is_nothing_to_compare():
    table = engine_data.table(100, 0)
    asked = {"null": "auto", "n_resamples": 999, "level": 0.05, "margin": None}

    def sketch(data, **options):
        chosen = settings(key="key", **options)
        driver.make_sketch(Unread(), data, chosen, like=None, stream=None)

    with pytest.raises(DataError) as caught:
        sketch(table.select(["key"]))
    assert str(caught.value) == (
        "the data must have columns besides the key `key`; they have (key)."
    )
    with pytest.raises(
        DataError, match=r"\(key, level\)\. Left out by `exclude`: `level`\."
    ):
        sketch(table.select(["key", "level"]), exclude=["level"])
    with pytest.raises(
        DataError, match=r"in common besides the key `key`; they have \(key,"
    ):
        driver.make_test(
            Unread(),
            table.select(["key", "level"]),
            table.select(["key", "whole"]),
            settings(key="key"),
            asked,
        )


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (np.zeros((5, 2)), "an array in the memory.*`fastmmd` takes it"),
        (pa.table({"x": [1.0]}), "a pyarrow table .*`fastmmd.tables` takes it"),
        (pd.DataFrame({"x": [1.0]}), "a pandas table .*`fastmmd.tables` takes it"),
        (pd.Series([1.0]), "got Series"),
        (7, "got int"),
    ],
)
def test_what_lies_in_memory_needs_no_engine(data, what):
    rule = "`x` must be a path, a list of paths, a Source or a Thing; got.*"
    with pytest.raises(TypeError, match=rule + what.removeprefix("got")):
        driver.open_files(data, name="x", also="a Thing")


def test_files_are_opened(old):
    assert driver.open_files(old, name="x", also="a Thing").n_rows == 5000


# --- Advice


@pytest.mark.parametrize("infinite", [False, True])
def test_advice_is_about_the_sketch_that_decides(old, new, infinite):
    like = tables.sketch_source(old, n_bins=8, **PLAIN)
    names = ["number", "whole", "level"]
    table = pq.read_table(new, columns=names)
    if infinite:
        column = pa.array(np.full(len(table), np.inf))
        table = table.set_column(0, "number", column)
        theirs = "Clip them, or make the sketch that is given as `like` without the"
    else:
        theirs = 'Make the sketch that is given as `like` with `missing="drop"` to leave'
    files = tables.open_source(new, columns=names)
    for data in (table,) if infinite else (files, table):
        with pytest.raises(DataError, match=theirs):
            driver.make_sketch(Local(), data, settings(), like=like, stream=None)
    with pytest.raises(DataError, match=theirs):
        tables.sketch_source(table, like=like)
    group = Grouping(like.like().to_bytes(), "level", "s", like=True)
    with pytest.raises(DataError, match=theirs):
        list(_grouped(group, table))
    # Without `like` the option is there to be passed.
    ours = "leave the columns out with `exclude`" if infinite else 'Pass `missing="drop"`'
    with pytest.raises(DataError, match=ours):
        driver.make_sketch(Local(), table, settings(), like=None, stream=None)


def test_rows_that_are_all_left_out_by_like(old):
    like = tables.sketch_source(old, n_bins=8, missing="drop", **PLAIN)
    holes = engine_data.table(20, 0, missing=20).drop_columns(["key"])
    with pytest.raises(DataError, match="Make the sketch that is given as `like` with"):
        tables.sketch_source(holes, like=like)


def test_options_that_like_decides(old):
    like = tables.sketch_source(old, n_bins=8, **PLAIN)
    with pytest.raises(TypeError, match=r"`n_bins` must be left .*, which decides it\."):
        tables.sketch_source(old, like=like, n_bins=16)
    with pytest.raises(TypeError, match=r", which decides them\."):
        tables.sketch_source(old, like=like, n_bins=16, scale="standard")


def test_kinds_name_the_column(old):
    with pytest.raises(
        ValueError, match=r"`kinds` must be one of .*; got 'number' for `w`"
    ):
        tables.new_sketch(old, kinds={"w": "number"})
    with pytest.raises(TypeError, match="`kinds` must map names of columns to kinds"):
        tables.new_sketch(old, kinds=["numeric"])


def test_warnings_point_to_the_call():
    table = engine_data.table(100, 0).append_column("same", pa.array([1.0] * 100))
    like = tables.new_sketch(engine_data.table(100, 0))
    calls = [
        lambda: driver.make_sketch(Local(), table, settings(), like=None, stream=None),
        lambda: tables.sketch_source(table),
        lambda: tables.sketch_source(table, like=like),
        lambda: tables.new_sketch(table),
    ]
    for call in calls:
        with pytest.warns(DataWarning) as caught:
            call()
        (warning,) = caught
        assert warning.filename == __file__
        assert warning.lineno == call.__code__.co_firstlineno


# --- The sample


@pytest.mark.parametrize("bounded", [False, True])
def test_the_sample_is_that_of_one_machine(old, new, bounded):
    sources = [tables.open_source(folder) for folder in (old, new)]
    names = ["number", "level"]
    expected = draw_sample(sources, names, 200, seed=3)
    if bounded:
        adapter = Local()
        found = driver.draw(adapter, settings(), sources, names, 200, seed=3)
        assert all(work.below is not None for work in adapter.works)
    else:
        filtered = [source.filter("whole >= 0") for source in sources]
        found = driver.draw(Local(), settings(), filtered, names, 200, seed=3)
    assert (found.n_rows, found.n_read) == (expected.n_rows, expected.n_read)
    for mine, theirs in zip(found.tables, expected.tables, strict=True):
        assert pa.concat_tables(mine).to_pylist() == pa.concat_tables(theirs).to_pylist()


def test_a_bound_that_is_too_low_is_dropped(old, monkeypatch):
    source = tables.open_source(old)
    expected = draw_sample([source], ["number"], 100, seed=3)
    monkeypatch.setattr(driver, "likely_bound", lambda *_: 2**50)
    adapter = Local()
    found = driver.draw(adapter, settings(), [source], ["number"], 100, seed=3)
    assert [work.below for work in adapter.works] == [2**50, None]
    assert (
        pa.concat_tables(found.tables[0]).to_pylist()
        == pa.concat_tables(expected.tables[0]).to_pylist()
    )


def test_parts_without_a_row_of_the_sample_are_not_read(old):
    source = tables.open_source(old)
    work = Sampling(
        ("number",), 5, sample_stream(0, 0), below=2**50, shell=shell_of(source)
    )
    missing = tables.Part("part-0.parquet", 99, 0, 1)
    assert work._none_wanted(missing)
    (task,) = tasks_of(source, 10**9)
    outcome = work.on_files(task)
    assert n_kept(outcome) <= 5
    assert n_kept(work.merge([])) == 0


def test_a_bound_keeps_a_little_more_than_the_sample():
    assert likely_bound(100, 150) is None
    share = likely_bound(10_000, 10**9) / 2**64
    assert 1.05e-5 < share < 1.2e-5


# --- Pieces


def test_tasks_share_out_all_parts_once(old):
    source = tables.open_source(old)
    for task_rows in (1, 1500, None):
        parts = [
            part
            for text in tasks_of(source, task_rows)
            for part in Task.from_json(shell_of(source), text).parts
        ]
        assert parts == list(source.parts())
    with pytest.raises(TypeError, match="a table in the memory of this process"):
        tasks_of(tables.open_source(engine_data.table(10, 0)), None)


def test_what_is_sent_is_small(old):
    source = tables.open_source(old)
    empty = tables.new_sketch(source, **PLAIN)
    work = Sketching(empty.like(stream="s").to_bytes(), shell_of(source))
    assert len(pickle.dumps(work)) < 5000 < empty.nbytes
    assert max(map(len, tasks_of(source, 1))) < 500


def test_merging_is_associative_and_commutative_to_the_bit(old):
    source = tables.open_source(old)
    empty = tables.new_sketch(source, n_bins=8, **PLAIN).like(stream="s")
    work = Sketching(empty.to_bytes(), shell_of(source))
    a, b, c = (work.on_files(task) for task in tasks_of(source, 2000)[:3])
    wholes = {
        merge_bytes([merge_bytes([x, y]), z])
        for x, y, z in itertools.permutations((a, b, c))
    }
    wholes |= {work.merge([a, empty.to_bytes(), b, c])}
    assert len(wholes) == 1
    with pytest.raises(IncompatibleSketchError, match="must hold different data"):
        merge_bytes([a, b], parts=False)
    with pytest.raises(ValueError, match="at least one sketch"):
        merge_bytes([])


# --- Keys


def test_keys_are_numbers_of_their_own():
    ours = [
        key_numbers(pa.array([0, 5, -1], pa.int64()), "k").tolist(),
        key_numbers(pa.array([0, 5, 2**64 - 1], pa.uint64()), "k").tolist(),
    ]
    assert ours[0] == ours[1] == [0, 5, 2**64 - 1]
    assert key_numbers(pa.array([7, 8], pa.int16()), "k").tolist() == [7, 8]
    days = pa.array([0, 365], pa.date32())
    assert key_numbers(days, "k").tolist() == [0, 365]
    assert key_numbers(pa.array([3], pa.timestamp("us")), "k").tolist() == [3]


def test_text_keys_are_hashed_whatever_their_type():
    texts = ["a", "b", "a"]
    found = [
        key_numbers(pa.array(texts, type_), "k").tolist()
        for type_ in (
            pa.string(),
            pa.large_string(),
            pa.dictionary(pa.int32(), pa.string()),
        )
    ]
    found.append(key_numbers(pa.array([t.encode() for t in texts]), "k").tolist())
    assert found[0] == found[1] == found[2] == found[3]
    # BLAKE2b of "a" with a digest of 8 bytes, by another program: b2sum -l 64.
    assert found[0][0].to_bytes(8, "little").hex() == "40f89e395b66422f"
    assert found[0][0] == found[0][2] != found[0][1]


def test_what_cannot_be_a_key():
    with pytest.raises(DataError, match="`k` must have no missing values to be a key"):
        key_numbers(pa.array([1, None]), "k")
    with pytest.raises(DataError, match="must hold whole numbers, text, bytes or times"):
        key_numbers(pa.array([1.5]), "k")
    table = engine_data.table(10, 0)
    with pytest.raises(DataError, match="`key` must name a column of the data; got 'id'"):
        row_numbers(table.to_batches()[0], "id", 0)
    with pytest.raises(TypeError, match="`key` must be the name of a column; got 3"):
        settings(key=3)
    frame = driver.frame_of("data", table, table.schema.names)
    driver.check_key(frame, "key")
    with pytest.raises(ValueError, match="`key` must name a column of the data"):
        driver.check_key(frame, "id")


# --- Groups


def test_groups_go_out_when_many_are_open(old, monkeypatch):
    table = engine_data.table(3000, 0)
    like = tables.sketch_source(old, n_bins=8, **PLAIN)
    work = Grouping(like.like().to_bytes(), "whole", "s", "key")
    expected = dict(_grouped(work, table))
    assert len(expected) == 50
    monkeypatch.setattr(groups, "_MOST_OPEN", 7)
    pieces = list(_grouped(work, table, batch_rows=500))
    assert len(pieces) > 50
    for value, whole in expected.items():
        own = [data for other, data in pieces if other == value]
        assert merge_bytes(own) == whole
        assert (
            Sketch.from_bytes(whole)._stream
            == like.like(stream=f"s/whole={value}")._stream
        )
    assert stream_name(b"s", "day", "1") == b"s/day=1"
    holes = pa.table({"whole": pa.array([None], pa.int64())})
    with pytest.raises(
        DataError, match="`whole` must have a value in every row; some have"
    ):
        list(_grouped(Grouping(like.like().to_bytes(), "whole", "s"), holes))


def _grouped(work, table, batch_rows=10**6):
    for start in range(0, table.num_rows, batch_rows):
        batches = table.slice(start, batch_rows).combine_chunks().to_batches()
        for value, data in work.on_batches(batches, part="p"):
            yield value[0].as_py(), data


def test_a_key_is_never_compared():
    table = engine_data.table(100, 0)
    settings = driver.Settings.checked(SchemaOptions(), key="key")
    driver.check_options(tables.new_sketch(table, **PLAIN), settings)
    with pytest.raises(
        ValueError, match=r"`key` must not be a column .*`exclude=\['key'\]"
    ):
        driver.check_options(tables.new_sketch(table), settings)


# --- Bytes in pieces

SIZES = [0, 1, pieces.LENGTH, pieces.LENGTH + 1, 3 * pieces.LENGTH]


def pieces_of(sizes):
    for i, n in enumerate(sizes):
        yield pieces.cut(random.Random(i).randbytes(n), {"name": pa.array([f"no. {i}"])})


@pytest.mark.parametrize("n_rows", [1, 2, 100])
def test_pieces_are_joined_across_batches(n_rows):
    rows = pa.Table.from_batches(pieces_of(SIZES))
    assert max(map(len, rows["data"].to_pylist())) == pieces.LENGTH
    assert rows.num_rows == 1 + 1 + 1 + 2 + 3
    found = list(pieces.joined(rows.combine_chunks().to_batches(n_rows)))
    assert [labels["name"].to_pylist() for labels, _ in found] == [
        [f"no. {i}"] for i in range(len(SIZES))
    ]
    assert [data for _, data in found] == [
        random.Random(i).randbytes(n) for i, n in enumerate(SIZES)
    ]


@pytest.mark.parametrize("order", [[0, 0, 1, 1], [0], [1], [0, 1, 1], [0, 1, 0]])
def test_pieces_of_two_equal_sketches_are_refused(order):
    rows = pieces.cut(bytes(2 * pieces.LENGTH), {}).take(pa.array(order))
    with pytest.raises(IncompatibleSketchError, match="got the same sketch twice"):
        list(pieces.joined([rows]))


@pytest.mark.parametrize("type_", [pa.float32(), pa.float64()])
def test_minus_zero_is_in_the_group_of_zero(type_):
    rows = pa.table({"v": np.arange(6.0), "g": pa.array([0.0, -0.0, 1.0] * 2, type_)})
    like = tables.new_sketch(rows.select(["v"]), kernel="gaussian", n_bins=4)
    found = list(
        Grouping(like.to_bytes(), "g", "s").on_batches(rows.to_batches(), part="p")
    )
    assert [value.to_pylist() for value, _ in found] == [[0.0], [1.0]]
    assert {value.type for value, _ in found} == {type_}
    assert [Sketch.from_bytes(data).count for _, data in found] == [4, 2]
