"""Files of every format, and two ways to run the command: as a process, and in this one."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("cyclopts")

import pyarrow.csv as pacsv
import pyarrow.dataset as pads
import pyarrow.parquet as pq
from pyarrow import feather

SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture(scope="session")
def environment():
    """Return the environment of a user who has set nothing."""
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    return kept | threads | {"PYTHONPATH": str(SOURCE), "TERM": "xterm", "COLUMNS": "100"}


@pytest.fixture(scope="session")
def start(environment):
    """Return a function that starts the real command."""

    def start(*words, **options):
        command = [sys.executable, "-W", "error", "-m", "fastmmd", *map(str, words)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, env=environment, **(pipes | options))

    return start


@pytest.fixture(scope="session")
def run(start):
    """Return a function that runs the real command to its end."""

    def run(*words, **options):
        process = start(*words, text=True, encoding="utf-8", **options)
        output, errors = process.communicate(timeout=120)
        return subprocess.CompletedProcess(words, process.returncode, output, errors)

    return run


@pytest.fixture
def call(capsys):
    """Return a function that runs a command in this process."""
    from fastmmd.cli import main

    def call(*words):
        status = main([str(word) for word in words])
        output, errors = capsys.readouterr()
        return subprocess.CompletedProcess(words, status, output, errors)

    return call


@pytest.fixture
def call_json(call):
    """Return a function that runs a command in this process and reads its JSON."""

    def call_json(*words):
        done = call(*words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return call_json


def numbers(n, shift, seed):
    """Return a table of numbers, which every format can hold."""
    rng = np.random.default_rng(seed)
    return pa.table({"f0": rng.normal(size=n) + shift, "f1": rng.normal(size=n)})


def mixed(n, late, seed):
    """Return a table of several kinds of columns."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "delay": rng.exponential(10.0, n).round(3),
            "carrier": rng.choice(["AA", "DL", "UA"], n),
            "late": rng.random(n) < late,
            "year": rng.integers(2017, 2020, n),
        }
    )


def write_hive(table, folder):
    """Write a folder for each value of a column."""
    parts = pads.partitioning(
        pa.schema([("part", pa.int64())]), flavor="hive", dictionaries=None
    )
    column = pa.array(np.arange(table.num_rows) % 3)
    pads.write_dataset(
        table.append_column("part", column), folder, format="parquet", partitioning=parts
    )


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Return a folder with two samples, ``a`` and ``b``, in every format."""
    folder = tmp_path_factory.mktemp("files")
    for name, table in (("a", numbers(300, 0.0, 1)), ("b", numbers(250, 0.6, 2))):
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=100)
        write_hive(table, folder / f"{name}-hive")
        pacsv.write_csv(table, folder / f"{name}.csv")
        text = (folder / f"{name}.csv").read_bytes()
        (folder / f"{name}.csv.gz").write_bytes(gzip.compress(text))
        feather.write_feather(table, folder / f"{name}.feather")
        with pa.ipc.new_file(folder / f"{name}.arrow", table.schema) as writer:
            writer.write_table(table)
        array = np.column_stack([column.to_numpy() for column in table.columns])
        np.save(folder / f"{name}.npy", array)
        np.savez(folder / f"{name}.npz", rows=array, other=array[:, :1])
        lines = [json.dumps(row) + "\n" for row in table.to_pylist()]
        (folder / f"{name}.jsonl").write_text("".join(lines))
        (folder / f"{name}-parts").mkdir()
        for i in range(3):
            part = table.slice(100 * i, 100)
            pq.write_table(part, folder / f"{name}-parts" / f"day-{i}.parquet")
    pq.write_table(mixed(900, 0.3, 3), folder / "flights.parquet")
    return folder


@pytest.fixture(scope="session")
def large(tmp_path_factory):
    """Return a file that takes some seconds to sketch, in many row groups.

    Beside it, ``large.csv`` has the same rows.
    """
    path = tmp_path_factory.mktemp("large") / "large.parquet"
    rng = np.random.default_rng(5)
    table = pa.table({name: rng.normal(size=300_000) for name in ("u", "v")})
    pq.write_table(table, path, row_group_size=10_000)
    pacsv.write_csv(table, path.with_suffix(".csv"))
    return path
