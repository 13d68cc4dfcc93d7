"""Ray: the answers of one machine, whatever the tasks, and even if a worker is killed."""

from __future__ import annotations

import engine_data
import pytest
import ray

from fastmmd import tables
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


def test_a_key_makes_blocks_irrelevant(old):
    data = ray.data.read_parquet(str(old))
    sketches = [
        sketch(data.repartition(n), key="key", stream="s", like=None) for n in (1, 5)
    ]
    assert sketches[0] == sketches[1]
    with pytest.raises(ValueError, match="`key` must name a column"):
        sketch(data, key="id")


def test_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = engine_data.run_page("ray", tmp_path)
    assert names["result"].pvalue < 0.05
    assert (names["reference"].count, names["january"].count) == (2000, 1550)
    assert (tmp_path / "2017.mmd").is_file()
