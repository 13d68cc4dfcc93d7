"""One process a peer: its own threads, memory limit and time limit, asked in turns.

Peers share no process, so that the threads one leaves spinning and the memory one keeps
are not charged to another, and one that runs out of memory takes nothing with it. Calls
are made one at a time, whoever is asked.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import multiprocessing
import os
import resource
import signal
import sys
import time
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compare.common import LEVEL, Data, Problem, Way

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

THREAD_VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
START_LIMIT = 300.0
# Threads of a BLAS keep spinning for some hundredths of a second after a product. They
# must not take the processors of the next peer.
SETTLE = 0.05
# Calls shorter than this are made several times in a row.
SHORT_CALL = 0.1


class CallError(Exception):
    """A call that gave no number; the text says why, in words fit for a table."""


class Worker:
    """A process that holds one peer and one problem."""

    def __init__(self, peer: str, threads: int, memory_limit: int) -> None:
        self.peer, self.threads, self.memory_limit = peer, threads, memory_limit
        self._process: Any = None
        self._connection: Any = None
        self._loaded: Problem | None = None
        self._problem: Problem | None = None
        self._ready = False

    def start(self) -> None:
        """Start the process without waiting for its imports."""
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        with limited_threads(self.threads):
            self._process = context.Process(
                target=serve,
                args=(theirs, self.peer, self.memory_limit),
                daemon=True,
            )
            self._process.start()
        theirs.close()
        self._loaded, self._ready = None, False

    def wait(self) -> None:
        """Wait until the peer is imported; raise `CallError` if it is not installed."""
        if self._process is None:
            self.start()
        if not self._ready:
            self._receive(START_LIMIT)
            self._ready = True

    def use(self, problem: Problem | None) -> None:
        """Name the problem of the next calls; its rows are made when first needed."""
        self._problem = problem
        if problem is None and self._process is not None and self._loaded is not None:
            self._ask(("load", None), START_LIMIT)
            self._loaded = None

    def call(self, way: str, seed: int, limit: float, **options: Any) -> dict[str, Any]:
        """Return what one call of a way took and gave."""
        self.wait()
        if self._loaded != self._problem:
            self._ask(("load", self._problem), START_LIMIT)
            self._loaded = self._problem
        time.sleep(SETTLE)
        return self._ask(("call", way, seed, options), limit)

    def warm(self, problem: Problem) -> None:
        """Let ways that compile do so on few rows, without waiting for them."""
        self.wait()
        self._connection.send(("warm", problem))

    def warmed(self) -> dict[str, float]:
        """Wait for `warm` and return the seconds of each first call."""
        return self._receive(START_LIMIT)

    def rates(self, scale: float) -> dict[str, float]:
        """Return the machine's rates, from the process that measures ceilings."""
        self.wait()
        return self._ask(("rates", scale), START_LIMIT)

    def rejections(
        self, way: str, problem: Problem, runs: int, budget: float
    ) -> dict[str, int]:
        """Count rejections over data sets, as many of the runs as the budget allows."""
        self.wait()
        return self._ask(("reject", way, problem, runs, budget), 4.0 * budget + 60.0)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
        self._process, self._loaded = None, None

    def _ask(self, request: tuple[Any, ...], limit: float) -> Any:
        self._connection.send(request)
        return self._receive(limit)

    def _receive(self, limit: float) -> Any:
        if not self._connection.poll(limit):
            self.stop()
            msg = f"over {limit:g} s"
            raise CallError(msg)
        try:
            status, answer = self._connection.recv()
        except EOFError:
            self._process.join()
            code = self._process.exitcode
            self.stop()
            name = signal.Signals(-code).name if code < 0 else f"status {code}"
            msg = f"the process ended ({name})"
            raise CallError(msg) from None
        if status != "ok":
            raise CallError(answer)
        return answer


@contextmanager
def limited_threads(threads: int) -> Iterator[None]:
    """Make processes started inside see so many processors, whatever library asks."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    processors = os.sched_getaffinity(0)
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    # From the back: the first processor serves most interrupts.
    os.sched_setaffinity(0, sorted(processors)[-threads:])
    try:
        yield
    finally:
        os.sched_setaffinity(0, processors)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def serve(connection: Connection, peer: str, memory_limit: int) -> None:
    """Answer requests until the other end is closed."""
    warnings.simplefilter("ignore")
    try:
        ways = load_ways(peer)
    except ImportError as error:
        connection.send(("absent", f"not installed ({error.name})"))
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory_limit, memory_limit))
    connection.send(("ok", None))
    state: dict[str, Any] = {"data": None}
    while True:
        try:
            request = connection.recv()
        except EOFError:
            return
        try:
            answer = ("ok", handle(request, ways, state))
        except MemoryError:
            answer = ("failed", "out of memory")
        except Exception as error:  # noqa: BLE001 - how a peer fails is a result
            answer = ("failed", reason(error))
        connection.send(answer)


def load_ways(peer: str) -> dict[str, Way]:
    module = importlib.import_module(f"compare.peers.{peer}")
    return {way.name: way for way in module.WAYS}


def reason(error: Exception) -> str:
    text = f"{type(error).__name__}: {error}".splitlines()[0]
    if any(part in text.lower() for part in ("allocate", "not enough memory")):
        return "out of memory"
    return text[:120]


def handle(request: tuple[Any, ...], ways: dict[str, Way], state: dict[str, Any]) -> Any:
    match request:
        case ("load", problem):
            state["data"] = None
            gc.collect()
            state["data"] = None if problem is None else Data.make(problem)
            return None
        case ("warm", problem):
            return warm(ways, problem)
        case ("call", name, seed, options):
            return timed(ways[name], state["data"], seed, **options)
        case ("rates", scale):
            return importlib.import_module("compare.peers.ceiling").rates(scale=scale)
        case ("reject", name, problem, runs, budget):
            return count_rejections(ways[name], problem, runs, budget)
    raise AssertionError(request)


def warm(ways: dict[str, Way], problem: Problem) -> dict[str, float]:
    seconds = {}
    for way in ways.values():
        if way.compiles and not (way.refuses and way.refuses(problem)):
            start = time.perf_counter()
            way.run(Data.make(problem), 0)
            seconds[way.name] = time.perf_counter() - start
    return seconds


def timed(
    way: Way, data: Data, seed: int, *, loops: int = 1, memory: bool = False
) -> dict[str, Any]:
    """Return the seconds and processor seconds of a call, the values, and the peak."""
    resident = reset_peak() if memory else None
    processor, start = time.process_time(), time.perf_counter()
    values = [float(way.run(data, seed + i)) for i in range(loops)]
    seconds = time.perf_counter() - start
    processor = time.process_time() - processor
    return {
        "seconds": seconds / loops,
        "processor_seconds": processor / loops,
        "values": values,
        "peak_bytes": None if resident is None else memory_now("VmHWM") - resident,
        "input_bytes": data.n_bytes,
    }


def count_rejections(
    way: Way, problem: Problem, runs: int, budget: float
) -> dict[str, int]:
    rejected = done = 0
    start = time.perf_counter()
    while done < runs and (done < 2 or time.perf_counter() - start < budget):
        data = Data.make(problem.with_seed(problem.seed + 1 + done))
        rejected += way.run(data, done) <= LEVEL
        done += 1
    return {"rejected": int(rejected), "runs": done}


def reset_peak() -> int | None:
    """Give free memory back, forget the peak so far and return what is resident now."""
    if sys.platform != "linux":
        return None
    gc.collect()
    # Freed blocks that the allocator keeps would hide what the next call takes.
    ctypes.CDLL(None).malloc_trim(0)
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    except OSError:
        return None
    return memory_now("VmRSS")


def memory_now(field: str) -> int:
    """Return a line of the process's status, in bytes."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{field}:"):
            return 1024 * int(line.split()[1])
    raise KeyError(field)
