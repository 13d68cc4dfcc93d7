"""Resuming: the same bytes after an interruption, also by force."""

from __future__ import annotations

import gzip
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

import fastmmd
from fastmmd import DataError, SketchFileError
from fastmmd.sketch.container import read_container, write_container
from fastmmd.tables import checkpoint as checkpoint_module
from fastmmd.tables import new_sketch, open_source, sketch_source
from fastmmd.tables import sketching as sketching_module

KERNELS = [fastmmd.Gaussian(2.0)]


class Interrupted(Exception):  # noqa: N818 - an interruption, not an error
    """What stops a run in the middle."""


def make(n):
    rng = np.random.default_rng(0)
    gaps = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    return pa.table({"x": gaps, "s": rng.choice(["a", "b"], n)})


@pytest.fixture
def data(tmp_path):
    """Return a folder of three files with several row groups."""
    folder = tmp_path / "data"
    folder.mkdir()
    table = make(3000)
    for i in range(3):
        pq.write_table(
            table.slice(1000 * i, 1000), folder / f"{i}.parquet", row_group_size=400
        )
    return folder


def write_text(table, path):
    """Write a table as CSV or JSON lines, packed or not, by the name of the file."""
    name = path.name.removesuffix(".gz")
    if name.endswith(".csv"):
        sink = pa.BufferOutputStream()
        pacsv.write_csv(table, sink)
        text = sink.getvalue().to_pybytes()
    else:
        columns = table.to_pandas()
        text = columns.to_json(orient="records", lines=True).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr("fastmmd.tables.source._FEWEST_ROWS", 64)
    monkeypatch.setattr("fastmmd.tables.source._MOST_ROWS", 64)


def run(data, path, *, stop_after=None, **options):
    """Sketch with a checkpoint after each batch; stop after so many of them."""
    seen = []

    def listen(progress):
        seen.append(progress)
        if len(seen) == stop_after:
            raise Interrupted

    options = {"missing": "drop", "kernel": KERNELS, "n_bins": 8} | options
    sketch = sketch_source(
        data,
        progress=listen,
        checkpoint=path,
        checkpoint_seconds=1e-9,
        n_threads=1,
        **options,
    )
    return sketch, seen


def saved(sketch, path):
    sketch.save(path)
    return path.read_bytes()


def check_every_stop(data, tmp_path, step):
    """Stop a run at many places, in both passes; whatever is left to do is done once."""
    whole, seen = run(data, tmp_path / "never")
    expected = saved(whole, tmp_path / "whole.mmd")
    n_first = sum(progress.stage == "sampling" for progress in seen)
    assert min(n_first, len(seen) - n_first) > 2 * step
    for stop in {*range(1, len(seen), step), n_first - 4, n_first}:
        path = tmp_path / f"stop-{stop}"
        with pytest.raises(Interrupted):
            run(data, path, stop_after=stop)
        resumed, later = run(data, path, resume=True)
        assert saved(resumed, tmp_path / "resumed.mmd") == expected
        # No pass is repeated, and no batch is either: nothing lost and nothing doubled.
        assert later == seen[stop:]


def test_going_on_gives_the_same_bytes_wherever_it_stopped(data, tmp_path):
    check_every_stop(data, tmp_path, 8)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.csv.gz"])
def test_one_text_file_is_gone_on_with_in_its_middle(name, tmp_path):
    check_every_stop(write_text(make(1000), tmp_path / name), tmp_path, 5)


def test_a_sample_that_was_drawn_in_two_runs_is_the_same(data, tmp_path, monkeypatch):
    # Fewer rows than there are, so that rows already kept are thrown out later.
    monkeypatch.setattr("fastmmd.tables.sketching.sample_size", lambda _: 300)
    check_every_stop(data, tmp_path, 21)


def test_a_run_can_be_interrupted_more_than_once(data, tmp_path):
    whole, seen = run(data, tmp_path / "never")
    path, stop = tmp_path / "often", sum(p.stage == "sampling" for p in seen) + 3
    with pytest.raises(Interrupted):
        run(data, path, stop_after=stop)
    for _ in range(5):
        with pytest.raises(Interrupted):
            run(data, path, stop_after=7, resume=True)
    resumed, _ = run(data, path, resume=True)
    assert resumed == whole


def test_text_goes_on_within_the_file(tmp_path):
    pacsv.write_csv(make(1000), tmp_path / "a.csv")
    like = new_sketch(tmp_path / "a.csv", missing="drop", kernel=KERNELS, n_bins=8)
    options = {"like": like, "missing": "raise", "kernel": "adaptive", "n_bins": 256}
    whole, _ = run(tmp_path / "a.csv", tmp_path / "never", **options)
    with pytest.raises(Interrupted):
        run(tmp_path / "a.csv", tmp_path / "stop", stop_after=9, **options)
    state = checkpoint_module.load_state(
        tmp_path / "stop",
        sketching_module._run_key(
            open_source(tmp_path / "a.csv"),
            like,
            [sketching_module.SchemaOptions(), "adaptive", 256, 0, None],
        ),
    )
    assert (state.part, state.row, state.n_read) == (0, 9 * 64, 9 * 64)
    resumed, later = run(tmp_path / "a.csv", tmp_path / "stop", resume=True, **options)
    assert resumed == whole
    assert later[0].n_read == 10 * 64


def test_a_finished_run_is_not_repeated(data, tmp_path):
    whole, _ = run(data, tmp_path / "done")
    again, seen = run(data, tmp_path / "done", resume=True)
    assert again == whole
    assert seen == []
    # Without `resume` it starts anew, whatever is there.
    fresh, seen = run(data, tmp_path / "done")
    assert fresh == whole
    assert len(seen) > 50


def test_a_checkpoint_of_other_data_or_options_is_refused(data, tmp_path):
    path = tmp_path / "stop"
    run(data, path)
    message = "must be the checkpoint of this run.*Remove it to start anew"
    for options in (
        {"stream": "other"},
        {"n_bins": 16},
        {"missing": "indicator"},
        {"rng": 1},
    ):
        with pytest.raises(DataError, match=message):
            run(data, path, resume=True, **options)
    with pytest.raises(DataError, match=message):
        run(open_source(data, where="x > 0"), path, resume=True)
    pq.write_table(make(1000), data / "3.parquet")
    with pytest.raises(DataError, match=message):
        run(data, path, resume=True)


def test_damaged_checkpoints_are_refused(data, tmp_path):
    path = tmp_path / "stop"
    run(data, path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    with pytest.raises(SketchFileError, match="checksum does not match"):
        run(data, path, resume=True)
    fastmmd.Sketch(fastmmd.Gaussian(1.0), 1).save(path)
    with pytest.raises(SketchFileError, match="it is not a checkpoint but a sketch"):
        run(data, path, resume=True)


def test_checkpoints_that_make_no_sense_are_refused(data, tmp_path):
    path = tmp_path / "stop"

    def check(changes):
        header, arrays = read_container(path, "fastmmd-checkpoint", 1)
        for change in changes:
            write_container(path, header | change, arrays)
            with pytest.raises(
                DataError, match="must be a checkpoint; it cannot be used"
            ):
                run(data, path, resume=True)

    run(data, path)
    check([{"total": {}}, {"part": "x"}, {"current": 3}, {"stage": "sampling"}])
    with pytest.raises(Interrupted):
        run(data, path, stop_after=3)
    check(
        [{"row": "x"}, {"stage": "sketching"}, {"tables": [{"place": 0, "n_bytes": 9}]}]
    )


def test_tables_in_memory_have_no_checkpoint(tmp_path):
    with pytest.raises(ValueError, match="`checkpoint` must be left out for a table"):
        run(make(100), tmp_path / "x")
    with pytest.raises(ValueError, match="`checkpoint_seconds` must be a finite number"):
        sketch_source(make(100), checkpoint_seconds=0)


PROGRAM = """
import sys, fastmmd
from fastmmd.tables import sketch_source, source

source._FEWEST_ROWS = source._MOST_ROWS = 512
data, checkpoint, out, seconds = sys.argv[1:]
sketch = sketch_source(
    data,
    checkpoint=checkpoint,
    checkpoint_seconds=float(seconds),
    resume=True,
    missing="drop",
    kernel="gaussian",
    n_bins=16,
)
sketch.save(out)
"""


@pytest.mark.parametrize(
    ("name", "stage"),
    [
        ("a.parquet", "sketching"),
        ("a.csv", "sampling"),
        ("a.csv", "sketching"),
        ("a.jsonl", "sketching"),
    ],
)
def test_killed_and_resumed(name, stage, tmp_path):
    data = tmp_path / name
    if data.suffix == ".parquet":
        pq.write_table(make(60_000), data, row_group_size=10_000)
    else:
        write_text(make(60_000), data)
    command = [sys.executable, "-c", PROGRAM, data]
    checkpoint = tmp_path / "checkpoint"
    process = subprocess.Popen([*command, checkpoint, tmp_path / "killed.mmd", "1e-9"])
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        time.sleep(0.005)
        if checkpoint.exists():
            header, _ = read_container(checkpoint, "fastmmd-checkpoint", 1)
            if header["stage"] == stage and header["n_read"]:
                break
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (tmp_path / "killed.mmd").exists()
    # Somewhere in the middle, else the test shows nothing.
    header, _ = read_container(checkpoint, "fastmmd-checkpoint", 1)
    assert header["stage"] == stage
    assert 0 < header["n_read"] < 60_000
    for place, out in ((checkpoint, "resumed.mmd"), (tmp_path / "other", "whole.mmd")):
        subprocess.run([*command, place, tmp_path / out, "1e9"], check=True)
    assert (tmp_path / "resumed.mmd").read_bytes() == (
        tmp_path / "whole.mmd"
    ).read_bytes()
