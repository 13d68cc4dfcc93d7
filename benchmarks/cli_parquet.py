"""Time and memory of ``fastmmd test`` on Parquet files, beside PyArrow just reading them.

Two files of 1.5 million rows each, of 8 columns for the time and of 10 for the memory, are
written to a temporary folder. The whole command is timed, start and report included; PyArrow
reads all batches of both files inside a process that has loaded it. Both in turns, medians.
Targets on 2 cores: at most 3 times the reading time plus 5 seconds, and less than 600 MB
resident for 3 million rows of 10 columns.

Run ``python benchmarks/cli_parquet.py`` to write ``benchmarks/results/cli_parquet.json``, or
with ``--quick`` for a look with fewer rows.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import environment
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 1_500_000
ROWS_PER_GROUP = 2**17
COLUMNS = {"time": 8, "memory": 10}
SECONDS_PER_READING, SECONDS_MORE = 3.0, 5.0
MOST_BYTES = 600e6

READ = """
import sys, time
import pyarrow.dataset as ds
start = time.perf_counter()
n_rows = sum(b.num_rows for path in sys.argv[1:] for b in ds.dataset(path).to_batches())
print(n_rows, time.perf_counter() - start)
"""


LIMITS = ("FASTMMD_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
USUAL = {name: value for name, value in os.environ.items() if name not in LIMITS}
"""The environment of a user who has not limited any threads."""


def write(folder: Path, n_rows: int, n_columns: int) -> list[str]:
    """Write two files that differ a little in one column."""
    rng = np.random.default_rng(n_columns)
    paths = []
    for name, scale in (("a", 1.0), ("b", 1.02)):
        path = folder / f"{name}-{n_columns}.parquet"
        names = [f"column_{i}" for i in range(n_columns)]
        schema = pa.schema([(column, pa.float64()) for column in names])
        with pq.ParquetWriter(path, schema) as writer:
            for start in range(0, n_rows, ROWS_PER_GROUP):
                n = min(ROWS_PER_GROUP, n_rows - start)
                columns = [rng.normal(size=n) for _ in names]
                columns[0] *= scale
                writer.write_table(pa.table(dict(zip(names, columns, strict=True))))
        paths.append(str(path))
    return paths


def read_seconds(paths: list[str]) -> float:
    command = [sys.executable, "-c", READ, *paths]
    done = subprocess.run(command, env=USUAL, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[1])


def run_command(paths: list[str]) -> tuple[float, int]:
    """Return the seconds and the most resident bytes of the command."""
    command = [sys.executable, "-m", "fastmmd", "test", *paths, "--json"]
    start = time.perf_counter()
    with subprocess.Popen(command, env=USUAL, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    if process.returncode:
        sys.exit(f"fastmmd test ended with status {process.returncode}.")
    return seconds, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rows, write nothing")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each")
    options = parser.parse_args()
    n_rows = ROWS // 20 if options.quick else ROWS
    repeats = 1 if options.quick else options.repeats
    load = os.getloadavg()
    with tempfile.TemporaryDirectory() as folder:
        paths = {
            what: write(Path(folder), n_rows, n_columns)
            for what, n_columns in COLUMNS.items()
        }
        read_seconds(paths["time"])  # the first run finds the files on the disk
        reading, testing, resident = [], [], []
        for _ in range(repeats):
            reading.append(read_seconds(paths["time"]))
            testing.append(run_command(paths["time"])[0])
            resident.append(run_command(paths["memory"])[1])
    read, tested = float(np.median(reading)), float(np.median(testing))
    limit = SECONDS_PER_READING * read + SECONDS_MORE
    content: dict[str, Any] = {
        "environment": environment.describe() | {"threads": len(os.sched_getaffinity(0))},
        "load_average": load,
        "repeats": repeats,
        "rows": 2 * n_rows,
        "columns": COLUMNS,
        "read_seconds": environment.round_to(read),
        "test_seconds": environment.round_to(tested),
        "limit_seconds": environment.round_to(limit),
        "resident_bytes": max(resident),
        "limit_bytes": MOST_BYTES,
        "kept": tested <= limit and max(resident) < MOST_BYTES,
    }
    print(content)
    if not options.quick:
        print(environment.write("cli_parquet.json", content))


if __name__ == "__main__":
    main()
