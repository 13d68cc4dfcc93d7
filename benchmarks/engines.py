"""Throughput of the engines beside the plain call of one process, on the same files.

Ten million rows of 20 columns are written as Parquet. The plain call,
``fastmmd.tables.sketch_source`` with as many threads as the engine has workers, and the
engine run in turns on these files; both fill a sketch with the same schema and kernels, the
adaptive family of seven. Engines and a first, small run are started before. All have the
same processors, so the ratio of times is that of the throughput of a processor. Every sketch
is compared with the plain one, to the last bit.

Each engine has its own environment, and one run measures one of them::

    .venv-dask/bin/python benchmarks/engines.py dask --data /some/folder

writes ``benchmarks/results/engines_dask.json``. ``make bench-engines`` runs all three.
Targets: 70 % of the plain throughput by files on Dask and Ray, 50 % on Spark, and less than
10 MB for each partition to the driver.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import os
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import environment
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fastmmd.engines import driver, tasks, work
from fastmmd.tables import new_sketch, open_source, sketch_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROWS, COLUMNS, FILES, GROUP = 10_000_000, 20, 20, 2**17
WORKERS = 2
TARGETS = {"dask": 0.7, "ray": 0.7, "spark": 0.5}
MOST_BYTES = 10e6
STREAM = "benchmark"


def write(folder: Path, n_rows: int) -> Path:
    """Write the files, unless they are there."""
    folder = folder / f"rows-{n_rows}"
    done = folder / "_SUCCESS"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(0)
        names = [f"column_{i}" for i in range(COLUMNS)]
        for i in range(FILES):
            n = n_rows // FILES
            columns = [pa.array(rng.standard_normal(n, np.float32)) for _ in names]
            table = pa.table(dict(zip(names, columns, strict=True)))
            pq.write_table(table, folder / f"{i:03}.parquet", row_group_size=GROUP)
        done.touch()
    return folder


def ten_times(folder: Path) -> Path:
    """Return a folder of ten links to every file: rows for another name are others."""
    larger = folder.with_name(folder.name + "-ten")
    larger.mkdir(exist_ok=True)
    for path in folder.glob("*.parquet"):
        for i in range(10):
            link = larger / f"{i}-{path.name}"
            if not link.exists():
                os.link(path, link)
    return larger


def seconds_of(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


# --- Engines


@contextlib.contextmanager
def on_dask() -> Iterator[dict[str, Any]]:
    import dask
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    from fastmmd.engines import dask as engine

    # As the documentation advises: workers that keep freed memory.
    environ = "distributed.nanny.pre-spawn-environ.MALLOC_"
    keep = {f"{environ}{which}_THRESHOLD_": 2**28 for which in ("TRIM", "MMAP")}
    with (
        dask.config.set(keep),
        LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
        ) as cluster,
        Client(cluster),
    ):
        yield {
            "files": engine.sketch,
            "frame": lambda path, **o: engine.sketch(dd.read_parquet(path), **o),
        }


@contextlib.contextmanager
def on_ray() -> Iterator[dict[str, Any]]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray

    from fastmmd.engines import ray as engine

    ray.init(
        num_cpus=WORKERS,
        include_dashboard=False,
        _node_ip_address="127.0.0.1",
        log_to_driver=False,
        object_store_memory=2_000_000_000,
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield {
        "files": engine.sketch,
        "frame": lambda path, **o: engine.sketch(ray.data.read_parquet(str(path)), **o),
    }
    ray.shutdown()


@contextlib.contextmanager
def on_spark() -> Iterator[dict[str, Any]]:
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    from pyspark.sql import SparkSession

    from fastmmd.engines import spark as engine

    spark = (
        SparkSession.builder.master(f"local[{WORKERS}]")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "4g")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    yield {
        "files": engine.sketch,
        "frame": lambda path, **o: engine.sketch(spark.read.parquet(str(path)), **o),
    }
    spark.stop()


ENGINES = {"dask": on_dask, "ray": on_ray, "spark": on_spark}
PACKAGES = {"dask": "distributed", "ray": "ray", "spark": "pyspark"}


# --- What is measured


@contextlib.contextmanager
def counted_traffic(engine: str) -> Iterator[list[int]]:
    """Count the bytes of outcomes that reach this process."""
    received: list[int] = []
    if engine == "spark":
        from fastmmd.engines import spark as module

        usual = module.collect_outcomes

        def counted(*given: Any) -> list[bytes]:
            outcomes = usual(*given)
            received.extend(map(len, outcomes))
            return outcomes

        module.collect_outcomes = counted
        yield received
        module.collect_outcomes = usual
    elif engine == "ray":
        # The driver reads its one outcome twice, so reading is not what to count.
        import ray

        usual_get = ray.get

        def get(*given: Any, **options: Any) -> Any:
            found = usual_get(*given, **options)
            if isinstance(found, bytes):
                received.append(len(found))
            return found

        ray.get = get
        yield received
        ray.get = usual_get
    else:
        usual_from = driver.Sketch.from_bytes

        def read(data: bytes) -> Any:
            received.append(len(data))
            return usual_from(data)

        driver.Sketch.from_bytes = read
        yield received
        driver.Sketch.from_bytes = usual_from


def worker_memory(folder: Path, empty: bytes) -> dict[str, int]:
    """Return the most resident bytes of a process that does one task, and of one that
    only imports what it needs."""
    found = {}
    for what in ("base", "task"):
        command = [sys.executable, __file__, "--memory", what, str(folder)]
        done = subprocess.run(command, check=True, capture_output=True, input=empty)
        found[what] = int(done.stdout)
    return found


def one_task(what: str, folder: str) -> None:
    source = open_source(folder)
    task = tasks.tasks_of(source, None)[0]
    if what == "task":
        data = sys.stdin.buffer.read()
        work.Sketching(data, tasks.shell_of(source)).on_files(task)
    print(most_resident_bytes())


def most_resident_bytes() -> int:
    """Return the peak of this program. That of `getrusage` begins with the size of the
    process which started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return 1024 * int(line.split()[1])


def measure(name: str, folder: Path, repeats: int, large: bool) -> dict[str, Any]:
    n_rows = open_source(folder).n_rows or 0
    like = new_sketch(folder)
    small = write(folder.parent, 200_000)
    plain_times, times = [], {"files": [], "frame": []}
    with ENGINES[name]() as calls:
        for call in calls.values():
            call(small, like=like, stream=STREAM)
        with counted_traffic(name) as received:
            for _ in range(repeats):
                spent, expected = seconds_of(
                    lambda: sketch_source(
                        folder, like=like, stream=STREAM, n_threads=WORKERS
                    )
                )
                plain_times.append(spent)
                for kind, call in calls.items():
                    received.clear()
                    spent, made = seconds_of(
                        lambda call=call: call(folder, like=like, stream=STREAM)
                    )
                    times[kind].append(spent)
                    if kind == "files":
                        assert made == expected
                        traffic = sum(received)
                    print(name, kind, f"{spent:.1f} s, plain {plain_times[-1]:.1f} s")
        content: dict[str, Any] = {
            "environment": environment.describe() | {"threads": WORKERS},
            "engine": {PACKAGES[name]: importlib.metadata.version(PACKAGES[name])},
            "load_average": os.getloadavg(),
            "rows": n_rows,
            "columns": COLUMNS,
            "kernels": len(like.kernels),
            "features": 2 * sum(like.n_frequencies),
            "workers": WORKERS,
            "repeats": repeats,
            "plain_seconds": plain_times,
            "seconds": times,
        }
        n_tasks = len(tasks.tasks_of(open_source(folder), None))
        sketch_bytes = len(expected.to_bytes())
        content |= {
            "partitions": n_tasks,
            "sent_to_a_worker_bytes": len(
                pickle.dumps(
                    work.Sketching(like.to_bytes(), tasks.shell_of(open_source(folder)))
                )
            ),
            "sketch_bytes": sketch_bytes,
            "driver_bytes": traffic,
            "driver_bytes_per_partition": traffic / n_tasks,
            "worker_memory_bytes": worker_memory(folder, like.to_bytes()),
        }
        plain = float(np.median(plain_times))
        content["share_of_plain"] = {
            kind: plain / float(np.median(found)) for kind, found in times.items()
        }
        content["rows_per_core_second"] = {
            kind: n_rows / (float(np.median(found)) * WORKERS)
            for kind, found in {"plain": plain_times, **times}.items()
        }
        if large:
            larger = ten_times(folder)
            spent, made = seconds_of(
                lambda: calls["files"](larger, like=like, stream=STREAM)
            )
            content["large"] = {"rows": made.count, "seconds": spent}
    return content


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engine", choices=ENGINES, nargs="?")
    parser.add_argument("--data", type=Path, help="a folder for the files, kept")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--large", action="store_true", help="ten times the rows, too")
    parser.add_argument("--quick", action="store_true", help="few rows, write nothing")
    parser.add_argument("--memory", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        one_task(*options.memory)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.data or Path(temporary)
        rows = 400_000 if options.quick else options.rows
        repeats = 1 if options.quick else options.repeats
        content = measure(options.engine, write(folder, rows), repeats, options.large)
    print(content["share_of_plain"], content["driver_bytes_per_partition"])
    if not options.quick:
        print(environment.write(f"engines_{options.engine}.json", content))
        assert content["share_of_plain"]["files"] >= TARGETS[options.engine]
        assert content["driver_bytes_per_partition"] < MOST_BYTES


if __name__ == "__main__":
    main()
