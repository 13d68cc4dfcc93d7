"""Dask: the answers of one machine, whatever the workers, and even if one is killed."""

from __future__ import annotations

import os
import signal

import dask
import dask.array as da
import dask.bag
import dask.dataframe as dd
import engine_data
import numpy as np
import pytest
from dask.delayed import Delayed
from distributed import Client, LocalCluster

import fastmmd
from fastmmd import DataError, Sketch, tables
from fastmmd.engines.dask import sketch, two_sample_test

PLAIN = {"exclude": ["key"]}


@pytest.fixture
def client():
    """Start two worker processes."""
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize("task_rows", [1, 2500, None])
def test_files_give_the_sketch_of_one_machine(old, task_rows):
    expected = tables.sketch_source(old, **PLAIN)
    made = sketch(old, task_rows=task_rows, **PLAIN)
    assert made.to_bytes() == expected.to_bytes()


@pytest.mark.parametrize("where", [None, "whole > 10"])
def test_the_test_of_files_is_that_of_one_machine(old, new, where):
    options = {**PLAIN, "missing": "drop", "rng": 5}
    sources = [tables.open_source(folder, where=where) for folder in (old, new)]
    expected = tables.two_sample_test(*sources, **options)
    result = two_sample_test(*sources, task_rows=2000, **options)
    assert result.to_dict() == expected.to_dict()
    assert result.notes == expected.notes
    assert "rows of" in result.notes[-1]


def test_lazy_until_computed(old):
    expected = tables.sketch_source(old, **PLAIN)
    for like in (None, expected):
        options = PLAIN if like is None else {}
        made = sketch(old, like=like, compute=False, task_rows=2000, **options)
        assert isinstance(made, Delayed)
        with dask.config.set(scheduler="synchronous"):
            assert made.compute() == expected


@pytest.mark.usefixtures("client")
def test_a_worker_that_is_killed_changes_nothing(old, monkeypatch, tmp_path):
    expected = tables.sketch_source(old, **PLAIN)
    flag = engine_data.plant_fault(monkeypatch, tmp_path, "kill")
    made = sketch(old, task_rows=500, **PLAIN)
    assert flag.exists()
    assert made.to_bytes() == expected.to_bytes()


def test_results_lost_with_a_worker_are_made_again(client, old):
    """Kill a worker from outside in the middle of a run: finished tasks run twice."""
    expected = tables.sketch_source(old, **PLAIN)
    like = expected.like()
    stream = tables.open_source(old).fingerprint()
    lazy = sketch(old, like=like, stream=stream, task_rows=1, compute=False)
    future = client.compute(lazy)
    pids = client.run(os.getpid)
    victim = next(iter(pids))
    while not any(victim in places for places in client.who_has().values()):
        assert not future.done()
    os.kill(pids[victim], signal.SIGKILL)
    assert future.result(timeout=120) == expected


def test_data_frames(old, new):
    frames = [dd.read_parquet(folder) for folder in (old, new)]
    options = {"missing": "drop", "rng": 1}
    first = two_sample_test(*frames, **options, **PLAIN)
    assert first.to_dict() == two_sample_test(*frames, **options, **PLAIN).to_dict()
    assert first.pvalue < 0.05
    assert (first.n_x, first.n_y) == (9000, 5995)
    assert "5 of 6000 rows" in first.notes[-1]


def test_a_key_makes_partitions_irrelevant(old):
    frame = dd.read_parquet(old)
    sketches = [
        sketch(frame.repartition(npartitions=n), key="key", stream="s") for n in (1, 2, 5)
    ]
    assert sketches[0] == sketches[1] == sketches[2]
    text = frame.assign(key=frame["key"].astype(str))
    assert sketch(text, key="key", stream="s").count == 9000
    with pytest.raises(ValueError, match="`key` must name a column"):
        sketch(frame, key="id")
    with pytest.raises(TypeError, match="`key` must be left out for files"):
        sketch(old, key="key")


def test_arrays_are_known_by_their_row_numbers(tmp_path):
    rows = np.random.default_rng(0).normal(size=(3000, 4))
    np.save(tmp_path / "rows.npy", rows)
    expected = tables.sketch_source(tmp_path / "rows.npy", stream="s")
    for chunks in ((3000, 4), (700, 4), (1000, 3)):
        assert sketch(da.from_array(rows, chunks=chunks), stream="s") == expected
    plain = Sketch(fastmmd.Gaussian(1.0), 4, stream="s")
    empty = plain.like()
    plain.update(rows)
    assert sketch(da.from_array(rows, chunks=(700, 2)), like=empty, stream="s") == plain
    unknown = da.from_array(rows, chunks=(700, 4))
    unknown = unknown[unknown[:, 0] > 0]
    assert sketch(unknown, like=expected).count == int((rows[:, 0] > 0).sum())
    assert sketch(da.from_array(rows[:, 0], chunks=500)).n_columns == 1
    with pytest.raises(ValueError, match="must have 1 or 2 dimensions; got 3"):
        sketch(da.zeros((2, 2, 2)))


@pytest.fixture
def idle(monkeypatch):
    """Let no work be done: what is wrong must be found before."""

    def never(*_):
        pytest.fail("work was handed out")

    monkeypatch.setattr("fastmmd.engines.dask._Dask.lazily", never)


@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize("compute", [True, False])
def test_what_cannot_be_is_found_before_the_work(old, compute):
    frame = dd.read_parquet(old)
    like = tables.sketch_source(old, **PLAIN)
    for options, message in (
        ({"n_bins": 100}, "`n_bins` must be a power of two"),
        ({"stream": 1.5}, "`stream` must be a string, bytes"),
        ({"task_rows": -1}, "`task_rows` must be an integer of at least 1"),
        ({"kernel": []}, "`kernel` must name at least one"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            sketch(frame, compute=compute, **options, **PLAIN)
    with pytest.raises(DataError, match="it has no column `level`"):
        sketch(frame.drop(columns="level"), like=like, compute=compute)
    text = frame.assign(number=frame["number"].astype(str))
    with pytest.raises(
        DataError, match=r"of the schema; `number` is .*string, not float"
    ):
        sketch(text, like=like, compute=compute)
    with pytest.raises(DataError, match="besides the key `key`"):
        sketch(frame[["key"]], key="key", compute=compute)
    with pytest.raises(DataError, match="`data` must have columns of different names"):
        sketch(dd.concat([frame, frame[["level"]]], axis=1), compute=compute)
    for options in ({"level": 2.0}, {"null": "normal"}, {"margin": 0.1}):
        with pytest.raises(ValueError, match=f"`{next(iter(options))}` must be"):
            two_sample_test(frame, frame, **options)


@pytest.mark.usefixtures("idle")
def test_what_is_not_taken(old):
    frame = dd.read_parquet(old)
    with pytest.raises(TypeError, match="`compute` must be True or False; got 'no'"):
        sketch(old, compute="no")
    with pytest.raises(TypeError, match=r"got a Series\. Write `data\.to_frame\(\)`"):
        sketch(frame["number"])
    with pytest.raises(TypeError, match=r"got complex128\. Put `x\.real` and `x\.imag`"):
        two_sample_test(da.zeros((5, 2), dtype=complex), da.zeros((5, 2)))
    taken = "must be a path, a list of paths, a Source or a DataFrame or an Array of Dask"
    for data, message in (
        (np.zeros((5, 2)), "an array in the memory .*`fastmmd` takes it"),
        (frame.compute(), "a pandas table in the memory .*`fastmmd.tables` takes it"),
        (dask.bag.from_sequence([1, 2]), "got Bag"),
        (dask.delayed(1), "got Delayed"),
    ):
        with pytest.raises(TypeError, match=f"`y` {taken}; .*{message}"):
            two_sample_test(frame, data)


def test_objects_without_a_known_type_are_taken(old):
    # Of Python objects the frame does not know the type, and of categories not the values.
    frame = dd.read_parquet(old)
    like = tables.sketch_source(old, **PLAIN)
    with dask.config.set({"dataframe.convert-string": False}):
        strings = dd.from_pandas(frame.compute().astype({"level": object}), npartitions=2)
        assert sketch(strings, like=like).count == 9000
    codes = frame.assign(level=frame["level"].astype("category"))
    assert sketch(codes, like=like).count == 9000


def test_warnings_and_advice(old, new):
    frame = dd.read_parquet(old)
    with pytest.warns(fastmmd.DataWarning, match="constant") as caught:
        like = sketch(frame.assign(same=1.0), **PLAIN)
    ours = [own for own in caught if own.category is fastmmd.DataWarning]
    assert {own.filename for own in ours} == {__file__}
    holes = dd.read_parquet(new).assign(same=1.0)
    for compute in (True, False):
        made = "Make the sketch that is given as `like` with `missing="
        with pytest.raises(DataError, match=made):
            dask.compute(sketch(holes, like=like, compute=compute))


def test_bad_data_are_named(old, tmp_path):
    with pytest.raises(DataError, match="missing"):
        two_sample_test(old, engine_data.write_parts(tmp_path / "m", 100, 0, missing=3))
    with pytest.raises(TypeError, match="a pyarrow table in the memory of this process"):
        sketch(engine_data.table(10, 0))
    with pytest.raises(TypeError, match="`n_bins` must be left out with `like`"):
        sketch(old, like=tables.sketch_source(old, **PLAIN), n_bins=8)
    with pytest.raises(DataError, match="must have rows that meet the condition"):
        sketch(tables.open_source(old, where="whole > 99"), **PLAIN)


@pytest.fixture
def bucket(old):
    """Start a server in place of S3 and put the files there."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "testing")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        s3 = boto3.client("s3", region_name="us-east-1")
        s3.create_bucket(Bucket="flights")
        for path in old.iterdir():
            s3.put_object(
                Bucket="flights", Key=f"old/{path.name}", Body=path.read_bytes()
            )
        yield "s3://flights/old"
    server.stop()


def test_object_storage(bucket, request, old):
    # After the bucket: workers take over the environment when they start.
    request.getfixturevalue("client")
    expected = tables.sketch_source(old, stream="s", **PLAIN)
    assert sketch(bucket, stream="s", task_rows=2000, **PLAIN) == expected


def test_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = engine_data.run_page("dask", tmp_path)
    assert names["result"].pvalue < 0.05
    assert (names["reference"].count, names["january"].count) == (2000, 1550)
    assert (tmp_path / "2017.mmd").is_file()
