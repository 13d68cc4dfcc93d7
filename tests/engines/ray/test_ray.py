"""Ray: the answers of one machine, whatever the tasks, and even if a worker is killed."""

from __future__ import annotations

import engine_data
import numpy as np
import pytest
import ray

from fastmmd import DataError, tables
from fastmmd.engines import ray as engine
from fastmmd.engines.ray import sketch, two_sample_test

PLAIN = {"exclude": ["key"]}


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """Start two workers on this machine."""
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        _node_ip_address="127.0.0.1",
        log_to_driver=False,
        object_store_memory=400_000_000,
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


@pytest.mark.parametrize("task_rows", [1, 2500, None])
def test_files_give_the_sketch_of_one_machine(old, task_rows):
    expected = tables.sketch_source(old, **PLAIN)
    made = sketch(old, task_rows=task_rows, **PLAIN)
    assert made.to_bytes() == expected.to_bytes()


def test_the_test_of_files_is_that_of_one_machine(old, new):
    options = {**PLAIN, "missing": "drop", "rng": 5}
    expected = tables.two_sample_test(old, new, **options)
    result = two_sample_test(old, new, task_rows=2000, **options)
    assert result.to_dict() == expected.to_dict()
    assert result.notes == expected.notes


def test_a_worker_that_is_killed_changes_nothing(old, monkeypatch, tmp_path):
    expected = tables.sketch_source(old, **PLAIN)
    flag = engine_data.plant_fault(monkeypatch, tmp_path, "kill")
    made = sketch(old, task_rows=500, **PLAIN)
    assert flag.exists()
    assert made.to_bytes() == expected.to_bytes()


def test_few_tasks_at_a_time(old, monkeypatch):
    # Outcomes come as tasks end, and are merged in that order.
    monkeypatch.setattr(engine, "_AHEAD", 1)
    monkeypatch.setattr(engine, "_FAN_IN", 2)
    expected = tables.sketch_source(old, **PLAIN)
    assert sketch(old, like=expected.like(), task_rows=1) == expected


def test_data_sets(old, new):
    data = [ray.data.read_parquet(str(folder)) for folder in (old, new)]
    result = two_sample_test(*data, missing="drop", rng=1, **PLAIN)
    assert result.pvalue < 0.05
    assert (result.n_x, result.n_y) == (9000, 5995)


def test_empty_data_sets(old):
    """Ray gives empty blocks on without any work."""
    some = ray.data.read_parquet(str(old))
    none = some.filter(lambda _: False)
    like = tables.sketch_source(old, **PLAIN)
    for call in (
        lambda: sketch(none, **PLAIN),
        lambda: sketch(none, like=like, key="key"),
        lambda: two_sample_test(some, none, missing="drop", **PLAIN),
    ):
        with pytest.raises(DataError, match="must have at least one row; it has none"):
            call()


def test_more_threads_than_any_machine_has():
    with pytest.warns(RuntimeWarning, match="`n_threads` is 64, and no machine"):
        engine.warn_waiting(64)
    engine.warn_waiting(1)


def test_a_key_makes_blocks_irrelevant(old):
    data = ray.data.read_parquet(str(old))
    sketches = [
        sketch(data.repartition(n), key="key", stream="s", like=None) for n in (1, 5)
    ]
    assert sketches[0] == sketches[1]
    with pytest.raises(ValueError, match="`key` must name a column"):
        sketch(data, key="id")


def test_what_cannot_be_is_found_before_the_work(old, monkeypatch):
    def never(*_):
        pytest.fail("work was handed out")

    monkeypatch.setattr("fastmmd.engines.ray._Ray.reduce", never)
    frame = ray.data.read_parquet(str(old))
    for options, message in (
        ({"n_bins": 100}, "`n_bins` must be a power of two"),
        ({"stream": 1.5}, "`stream` must be a string, bytes"),
        ({"task_rows": -1}, "`task_rows` must be an integer of at least 1"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            sketch(frame, **options, **PLAIN)
    like = tables.sketch_source(old, **PLAIN)
    with pytest.raises(DataError, match="it has no column `level`"):
        sketch(frame.drop_columns(["level"]), like=like)
    with pytest.raises(DataError, match="besides the key `key`"):
        sketch(frame.select_columns(["key"]), key="key")
    with pytest.raises(ValueError, match="`level` must be a number"):
        two_sample_test(frame, frame, level=2.0)
    taken = "`data` must be a path, a list of paths, a Source or a Dataset of Ray"
    for data, message in (
        (np.zeros((5, 2)), "an array in the memory .*`fastmmd` takes it"),
        (engine_data.table(10, 0), "a pyarrow table in the memory"),
        (frame.groupby("level"), "got GroupedData"),
    ):
        with pytest.raises(TypeError, match=f"{taken}; .*{message}"):
            sketch(data)


def test_advice_is_about_the_sketch_that_decides(old, new):
    like = tables.sketch_source(old, **PLAIN)
    holes = ray.data.read_parquet(str(new))
    # Ray has its own error for what a task raises, with the text of the other.
    made = r"block \w+, rows .*Make the sketch that is given as `like` with `missing="
    with pytest.raises(ray.exceptions.RayError, match=made):
        sketch(holes, like=like)


def test_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = engine_data.run_page("ray", tmp_path)
    assert names["result"].pvalue < 0.05
    assert (names["reference"].count, names["january"].count) == (2000, 1550)
    assert (tmp_path / "2017.mmd").is_file()
