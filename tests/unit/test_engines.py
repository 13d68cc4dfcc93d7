"""The work of a cluster without a cluster: pieces in any order, twice, and merged anyhow."""

from __future__ import annotations

import itertools
import pickle
import random

import engine_data
import numpy as np
import pyarrow as pa
import pytest

from fastmmd import DataError, IncompatibleSketchError, Sketch, tables
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
    with pytest.raises(DataError, match="`whole` must have a value in every row; 1 have"):
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
