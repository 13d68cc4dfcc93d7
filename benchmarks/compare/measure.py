"""Time a problem's ways in turns, with what they err and how much memory they take."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from environment import round_to

from compare.common import Data, Problem, Way
from compare.peers import NAMES
from compare.workers import SHORT_CALL, CallError, Worker, load_ways

if TYPE_CHECKING:
    from collections.abc import Iterable

# A way that takes longer than this is timed once, without a warm-up.
LONG_CALL = 30.0
WARM_UP = 100  # a first call may take so many times as long as the others
WARM_ROWS = 200
# Frequencies of the reference where all pairs would take too long.
REFERENCE_FREQUENCIES = 32_768
EXACT_ROWS = 100_000


class Bench:
    """Workers of all peers at one number of threads, and what they could not do."""

    def __init__(
        self,
        peers: Iterable[str],
        threads: int,
        *,
        memory_limit: int,
        time_limit: float,
        repeats: int,
        budget: float,
    ) -> None:
        self.threads, self.repeats, self.budget = threads, repeats, budget
        self.time_limit, self.memory_limit = time_limit, memory_limit
        self.workers = {peer: Worker(peer, threads, memory_limit) for peer in peers}
        self.absent: dict[str, str] = {}
        self.ways: dict[str, dict[str, Way]] = {}
        self._fell: dict[tuple[str, str], dict[int, str]] = {}
        self._last: dict[tuple[str, str], tuple[Problem, float]] = {}
        self._compiled: dict[tuple[str, int], dict[str, float]] = {}
        # All at once: imports take long, and nothing is timed yet.
        for worker in self.workers.values():
            worker.start()
        for peer, worker in self.workers.items():
            try:
                worker.wait()
                self.ways[peer] = load_ways(peer)
            except CallError as error:
                self.absent[peer] = str(error)
                worker.stop()

    def close(self) -> None:
        for worker in self.workers.values():
            worker.stop()

    def problem(
        self,
        problem: Problem,
        chosen: dict[str, list[str]],
        references: dict[Problem, dict[str, Any]],
    ) -> dict[str, Any]:
        """Return one entry of the results: the shape, the reference, every way."""
        cells = [
            Cell(self, peer, self.ways[peer][name], problem)
            for peer, names in chosen.items()
            if peer in self.ways
            for name in names
        ]
        self.compile(problem, chosen)
        for cell in cells:
            cell.first_call()
        # In turns: whatever else the machine does meanwhile, it does to all of them.
        for repeat in range(self.repeats):
            for cell in cells:
                cell.call_again(repeat)
        for peer in self.ways:
            self.workers[peer].use(None)
        if any(cell.way.target for cell in cells) and problem not in references:
            references[problem] = reference(problem)
        found = references.get(problem)
        results = [cell.result(found) for cell in cells]
        results += [
            {"peer": NAMES[peer], "status": self.absent[peer]}
            for peer in chosen
            if peer in self.absent
        ]
        return {
            "n_rows": problem.n_rows,
            "n_columns": problem.n_columns,
            "n_frequencies": problem.n_frequencies,
            "density": problem.density,
            "dtype": problem.dtype,
            "threads": self.threads,
            "reference": found,
            "results": results,
        }

    def compile(self, problem: Problem, peers: Iterable[str]) -> None:
        """Let peers compile what they need for so many columns, side by side."""
        few = problem.smaller(max(1, problem.n_rows // WARM_ROWS))
        new = [
            peer
            for peer in peers
            if any(way.compiles for way in self.ways.get(peer, {}).values())
            and (peer, problem.n_columns) not in self._compiled
        ]
        for peer in new:
            self.workers[peer].warm(few)
        for peer in new:
            try:
                seconds = self.workers[peer].warmed()
            except CallError as error:
                seconds = {}
                print(f"{peer} did not compile: {error}")
            self._compiled[peer, problem.n_columns] = seconds

    def compile_seconds(self, peer: str, way: Way, problem: Problem) -> float | None:
        return self._compiled.get((peer, problem.n_columns), {}).get(way.name)

    def expected(self, peer: str, way: Way, problem: Problem) -> tuple[float, int] | None:
        """Return the seconds to expect of a way over all pairs, and from which size."""
        last = self._last.get((peer, way.name))
        if last is None or not way.pairwise or last[0].n_columns != problem.n_columns:
            return None
        before, seconds = last
        return seconds * (problem.n_rows / before.n_rows) ** 2, before.n_rows

    def remember(self, peer: str, way: Way, problem: Problem, seconds: float) -> None:
        self._last[peer, way.name] = (problem, seconds)

    def fell(self, peer: str, way: Way, problem: Problem, status: str) -> None:
        self._fell.setdefault((peer, way.name), {})[problem.n_rows] = status

    def fell_before(self, peer: str, way: Way, problem: Problem) -> str:
        """Return where a way has fallen over with fewer rows, if it has."""
        known = self._fell.get((peer, way.name), {})
        fewer = [n for n in known if n < problem.n_rows]
        return f"{known[min(fewer)]} at {min(fewer):,} rows" if fewer else ""


class Cell:
    """One way on one problem."""

    def __init__(self, bench: Bench, peer: str, way: Way, problem: Problem) -> None:
        self.bench, self.peer, self.way, self.problem = bench, peer, way, problem
        self.worker = bench.workers[peer]
        self.calls: list[dict[str, Any]] = []
        self.timed: list[dict[str, Any]] = []
        self.status = way.refuses(problem) if way.refuses else ""
        self.extra: dict[str, Any] = {}
        self.loops = 1

    def first_call(self) -> None:
        """Warm up, and measure the memory; a long call counts as the measurement."""
        bench, limit = self.bench, self.bench.time_limit
        self.status = self.status or bench.fell_before(self.peer, self.way, self.problem)
        if self.status:
            return
        expected = bench.expected(self.peer, self.way, self.problem)
        if expected is not None and expected[0] > limit:
            self.status = f"not run: more than {limit:.0f} s expected"
            self.extra["expected_seconds"] = round_to(expected[0])
            self.extra["expected_from_rows"] = expected[1]
            return
        if self.way.compiles:
            seconds = bench.compile_seconds(self.peer, self.way, self.problem)
            self.extra["compile_seconds"] = seconds and round_to(seconds)
        self.worker.use(self.problem)
        try:
            call = self.worker.call(self.way.name, 1, limit, memory=True)
        except CallError as error:
            self.status = str(error)
            bench.fell(self.peer, self.way, self.problem, self.status)
            return
        self.calls.append(call)
        if call["seconds"] > LONG_CALL:
            self.timed.append(call)
        elif call["seconds"] < WARM_UP * SHORT_CALL:
            # First calls import and allocate: the second says how long one takes.
            call = self.worker.call(self.way.name, 2, limit)
        self.loops = max(1, math.ceil(SHORT_CALL / call["seconds"]))
        bench.remember(self.peer, self.way, self.problem, call["seconds"])

    def call_again(self, repeat: int) -> None:
        spent = sum(call["seconds"] for call in self.timed)
        if self.status or spent > self.bench.budget:
            return
        self.worker.use(self.problem)
        try:
            call = self.worker.call(
                self.way.name,
                1000 * (1 + repeat),
                self.bench.time_limit,
                loops=self.loops,
            )
        except CallError as error:
            self.status = str(error)
            return
        self.calls.append(call)
        self.timed.append(call)

    def result(self, found: dict[str, Any] | None) -> dict[str, Any]:
        way = self.way
        entry: dict[str, Any] = {
            "peer": NAMES[self.peer],
            "way": way.name,
            "kind": way.kind,
            "target": way.target,
            "note": way.note,
            "status": self.status or "ok",
            **self.extra,
        }
        if not self.timed:
            return entry
        # A ceiling measures itself: getting its operands ready does not count.
        seconds = [
            float(np.mean(call["values"])) if way.kind == "ceiling" else call["seconds"]
            for call in self.timed
        ]
        entry |= {
            "seconds": round_to(float(np.median(seconds)), 4),
            "least_seconds": round_to(min(seconds), 4),
            "most_seconds": round_to(max(seconds), 4),
            "processor_seconds": round_to(
                float(np.median([call["processor_seconds"] for call in self.timed])), 4
            ),
            "repeats": len(seconds),
            "peak_bytes": self.calls[0]["peak_bytes"],
            "input_bytes": self.calls[0]["input_bytes"],
        }
        if way.target and found:
            truth = found[way.target]
            values = np.concatenate([call["values"] for call in self.calls])
            if not way.random:
                values = values[:1]
            entry["relative_error"] = float(
                math.sqrt(np.mean((values / truth - 1.0) ** 2))
            )
            entry["draws"] = len(values)
            # Compared with itself it errs by nothing, which says nothing.
            entry["is_reference"] = found["way"] == (self.peer, way.name)
        return entry


def reference(problem: Problem) -> dict[str, Any]:
    """Return both estimates from all pairs, or from many frequencies for many rows."""
    from compare.peers import numpy_blocked, numpy_exact

    start = time.perf_counter()
    data = Data.make(problem)
    if problem.n_rows <= EXACT_ROWS:
        unbiased, biased = numpy_exact.both(data)
        found: dict[str, Any] = {
            "by": "all pairs, float64",
            "way": ("numpy_exact", "double sum, float64"),
            "unbiased": unbiased,
            "biased": biased,
            "standard_error": 0.0,
        }
    else:
        found = {
            "by": f"{REFERENCE_FREQUENCIES} other frequencies, float32",
            "way": None,
        }
        found |= numpy_blocked.reference(data, REFERENCE_FREQUENCIES)
    found["seconds"] = round_to(time.perf_counter() - start, 3)
    return found


def floors(entry: dict[str, Any], rates: dict[str, float]) -> dict[str, float]:
    """Return the seconds that parts of the work take at the machine's rates."""
    phases = entry["n_rows"] * entry["n_frequencies"]
    bare = [
        cell["least_seconds"]
        for cell in entry["results"]
        if cell.get("kind") == "ceiling" and "seconds" in cell
    ]
    input_bytes = next(c["input_bytes"] for c in entry["results"] if "seconds" in c)
    found = {
        "reading": input_bytes / rates["sum_bytes"],
        "cosines_and_sines": phases * (1.0 / rates["cosines"] + 1.0 / rates["sines"]),
        "polynomials": 2.0 * phases / rates["polynomials"],
        # Two polynomials of five steps and a reduction: 24 operations a phase, at best
        # at the rate of a matrix product.
        "arithmetic": 24.0 * phases / rates["sgemm_flops"],
    }
    if bare:
        found["product"] = min(bare)
    if entry["density"] == 1.0:
        flops = 2.0 * phases * entry["n_columns"]
        found["product_at_best"] = flops / rates["sgemm_flops"]
    return {name: round_to(seconds, 3) for name, seconds in found.items()}
