"""Memory stays flat: a test of files under a limit that the operating system enforces."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="limits and sizes as Linux has them"
)

PROGRAM = """
import resource, sys
import fastmmd, numpy, pyarrow.parquet, pyarrow.csv, scipy.special
from fastmmd import tables

paths, room, limit = sys.argv[1:-2], int(sys.argv[-2]), int(sys.argv[-1])


def megabytes(field):
    # Not getrusage: its peak begins with that of the process that started this one.
    with open("/proc/self/status") as status:
        fields = dict(line.split(":", 1) for line in status)
    return int(fields[field].split()[0]) // 1024


# Addresses, not pages: threads reserve stacks and arenas that they never touch. So the
# limit is what the loaded program has already, and the room that the data may take.
most = (megabytes("VmSize") + room) * 2**20
resource.setrlimit(resource.RLIMIT_AS, (most, most))
result = tables.two_sample_test(*paths, kernel="gaussian", rng=0, n_threads=2)
print(result.n_x + result.n_y, megabytes("VmHWM"))
assert megabytes("VmHWM") < limit, megabytes("VmHWM")
"""


def write(path, n_rows, n_columns, *, group):
    """Write random columns without ever holding them all."""
    names = [f"x{i}" for i in range(n_columns)]
    schema = pa.schema([(name, pa.float64()) for name in names])
    make = pq.ParquetWriter if path.suffix == ".parquet" else pacsv.CSVWriter
    rng = np.random.default_rng(0)
    with make(path, schema) as writer:
        for start in range(0, n_rows, group):
            n = min(group, n_rows - start)
            columns = [rng.normal(size=n) for _ in names]
            writer.write_table(pa.table(columns, names=names))


def run(paths, room, limit):
    # One arena for all threads, or each reserves 64 MB of addresses; and no pools that
    # keep for later what was given back, which makes peaks stray by 100 MB.
    environment = os.environ | {
        "MALLOC_ARENA_MAX": "1",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, "-c", PROGRAM, *map(str, paths), str(room), str(limit)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    rows, peak = (int(word) for word in done.stdout.split())
    return rows, peak


@pytest.mark.parametrize(
    ("suffix", "n_rows", "n_columns"), [("parquet", 400_000, 60), ("csv", 1_280_000, 20)]
)
def test_memory_does_not_grow_with_the_files(suffix, n_rows, n_columns, tmp_path):
    other = tmp_path / f"other.{suffix}"
    write(other, 2000, n_columns, group=2000)
    peaks = []
    # In memory the rows would take 190 and 200 MB, the text of the second file 480 MB. A
    # quarter of it is as much as is read ahead, so that no more is to be seen in the whole.
    for n in (n_rows // 4, n_rows):
        path = tmp_path / f"{n}.{suffix}"
        # Short groups: as many of them as are read ahead are in either file.
        write(path, n, n_columns, group=12_500)
        # The lower of two peaks: how far ahead is read depends on the machine's load. Rows
        # that are kept would show in both.
        runs = [run([path, other], 700, 600) for _ in range(2)]
        assert {rows for rows, _ in runs} == {n + 2000}
        peaks.append(min(peak for _, peak in runs))
    assert peaks[1] - peaks[0] < 60


@pytest.mark.slow
def test_three_million_rows_fit_in_600_mb(tmp_path):
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for path in paths:
        write(path, 1_500_000, 10, group=2**17)
    rows, peak = run(paths, 700, 600)
    assert rows == 3_000_000
    assert peak < 600
