"""Compare FastMMD with other ways to estimate MMD and to test with it.

All times are medians of calls made in turns, in one run, on the same data, each peer in a
process of its own; beside each is the error of the estimate or the power of the test.

Run ``make compare`` for everything, or ``PYTHONPATH=benchmarks python -m compare`` with

- ``--quick`` for small shapes (a smoke test, under a minute; writes to ``build/compare``);
- ``--parts rows,columns`` for some parts, ``--peers fastmmd_,pytorch`` for some peers;
- ``--threads 1,2`` for the numbers of threads, by default one and all.

Each part writes ``benchmarks/results/compare_<part>.json``.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import math
import os
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import environment

from compare.common import LEVEL, Problem
from compare.measure import Bench, floors
from compare.peers import NAMES, PACKAGES
from compare.workers import CallError

ROOT = Path(__file__).parents[2]
GIB = 1 << 30

FEATURES = {
    "fastmmd_": ["Fourier", "Fourier, independent"],
    "numpy_textbook": ["features, float64"],
    "numpy_blocked": ["features, float32 in blocks"],
    "scikit_learn": ["RBFSampler"],
    "pytorch": ["features, float64", "features, float32 in blocks"],
    "ceiling": ["bare product, float32 in blocks", "bare product, float32 whole"],
}
BY_ROWS = {
    **FEATURES,
    "fastmmd_": ["Fourier", "Fourier, independent", "Block", "Exact"],
    "numpy_exact": ["double sum, float64", "double sum, plain blocks"],
    "numpy_btest": ["blocks of rows, float64"],
    "keops": ["features, float32", "double sum, float64"],
    "hyppo_": ["MMD statistic"],
    "dcor_": ["energy distance"],
}
BY_COLUMNS = {
    **FEATURES,
    "fastmmd_": ["Fourier", "Fourier, independent", "Fastfood"],
    "numpy_exact": ["double sum, float64"],
    "keops": ["features, float32"],
}
WIDE = {**FEATURES, "fastmmd_": ["Fourier", "Fourier, independent", "Fastfood"]}
ALL_PAIRS = {
    "fastmmd_": ["Exact"],
    "numpy_exact": ["double sum, float64", "double sum, plain blocks"],
    "keops": ["double sum, float64"],
    "hyppo_": ["MMD statistic"],
    "dcor_": ["energy distance"],
}
TESTS = {
    "fastmmd_": ["default test", "Fourier test, one kernel", "Block test, one kernel"],
    "numpy_exact": ["relabelling rows"],
    "numpy_btest": ["B-test"],
    "goodpoints_": ["rff", "ctt, g = 2"],
    "hyppo_": ["MMD test"],
    "dcor_": ["energy test"],
}
MILLION = {
    "fastmmd_": ["default test"],
    "ceiling": ["bare product, float32 in blocks"],
}

# The alternative of the tests: one of 16 columns moved, so little that tests differ.
MOVED = {"shift": 0.3, "every": 16}


@dataclass(frozen=True)
class Part:
    """Problems that are compared in the same ways."""

    problems: list[Problem]
    chosen: dict[str, list[str]]
    quick: list[Problem] = field(default_factory=list)
    power: Problem | None = None


PARTS = {
    "rows": Part(
        [Problem(n, 16, 128) for n in (1_000, 10_000, 100_000, 1_000_000)],
        BY_ROWS,
        [Problem(n, 16, 128) for n in (400, 1_000)],
    ),
    "columns": Part(
        [Problem(10_000, d, 8192) for d in (8, 32, 128, 512, 1024)],
        BY_COLUMNS,
        # As many as in the other parts: KeOps compiles anew for each number of columns.
        [Problem(400, 16, 256)],
    ),
    "wide": Part(
        [
            Problem(9963, 21_504, 1024, dtype="float32"),
            Problem(9963, 21_504, 1024, density=0.02, dtype="float32"),
        ],
        WIDE,
        [
            Problem(300, 700, 64, dtype="float32"),
            Problem(300, 700, 64, density=0.02, dtype="float32"),
        ],
    ),
    "exact": Part(
        [Problem(20_000, 16, 128)],
        ALL_PAIRS,
        [Problem(1_000, 16, 128)],
    ),
    "tests": Part(
        [Problem(n, 16, 128, **MOVED) for n in (1_000, 10_000, 100_000, 1_000_000)],
        TESTS,
        [Problem(400, 16, 128, **MOVED)],
        Problem(1_000, 16, 128, **MOVED),
    ),
    "million": Part(
        [
            Problem(1_000_000, 20, 1024, dtype=dtype, **MOVED)
            for dtype in ("float64", "float32")
        ],
        MILLION,
        [Problem(4_000, 20, 1024, dtype="float32", **MOVED)],
    ),
}


def rejection_rates(
    bench: Bench,
    chosen: dict[str, list[str]],
    problem: Problem,
    runs: int,
    budget: float,
) -> list[dict[str, Any]]:
    """Return level and power of every test, with binomial standard errors."""
    rows = []
    for peer, names in chosen.items():
        for name in names if peer in bench.ways else []:
            row: dict[str, Any] = {"peer": NAMES[peer], "way": name}
            for which, shift in (("level", 0.0), ("power", problem.shift)):
                moved = replace(problem, shift=shift)
                try:
                    found = bench.workers[peer].rejections(name, moved, runs, budget)
                except CallError as error:
                    row[which] = {"status": str(error)}
                    continue
                rate = found["rejected"] / found["runs"]
                # One more of each, so that 0 of 100 is not claimed to be exact.
                guess = (found["rejected"] + 1) / (found["runs"] + 2)
                error = math.sqrt(guess * (1.0 - guess) / found["runs"])
                row[which] = {
                    "rate": rate,
                    "standard_error": environment.round_to(error, 2),
                    "runs": found["runs"],
                }
            rows.append(row)
            print(f"  {row}", flush=True)
    return rows


def new_content(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "environment": environment.describe() | {"threads": options.threads},
        "peers": {package: version(package) for package in PACKAGES},
        "quick": options.quick,
        "load_average": os.getloadavg(),
        "processors": len(os.sched_getaffinity(0)),
        "memory_limit_bytes": options.memory_limit,
        "time_limit_seconds": options.time_limit,
        "total_seconds": 0.0,
        "rates": [],
        "problems": [],
    }


def run_part(
    part: Part,
    content: dict[str, Any],
    bench: Bench,
    references: dict[Problem, dict[str, Any]],
    options: argparse.Namespace,
) -> None:
    """Add what was measured at one number of threads to the content of a part."""
    chosen = {p: w for p, w in part.chosen.items() if p in options.peers}
    rates = None
    if "ceiling" in bench.ways and "ceiling" in chosen:
        rates = bench.workers["ceiling"].rates(0.1 if options.quick else 1.0)
        content["rates"].append(rates)
    for problem in part.quick if options.quick else part.problems:
        entry = bench.problem(problem, chosen, references)
        if rates and any("seconds" in cell for cell in entry["results"]):
            entry["floors"] = floors(entry, rates)
        content["problems"].append(entry)
        report(entry)
    if part.power is not None and bench.threads == options.threads[-1]:
        power = part.quick[0] if options.quick else part.power
        runs = 4 if options.quick else options.runs
        budget = 1.0 if options.quick else options.power_budget
        content["power"] = {
            "n_rows": power.n_rows,
            "n_columns": power.n_columns,
            "shift": power.shift,
            "level": LEVEL,
            "rows": rejection_rates(bench, chosen, power, runs, budget),
        }


def report(entry: dict[str, Any]) -> None:
    print(
        f"{entry['n_rows']} rows, {entry['n_columns']} columns, "
        f"{entry['n_frequencies']} frequencies, density {entry['density']:g}, "
        f"{entry['dtype']}, {entry['threads']} threads"
    )
    for cell in entry["results"]:
        name = f"  {cell['peer']}: {cell.get('way', '')}"
        if "seconds" not in cell:
            print(f"{name:<55} {cell['status']}")
            continue
        error = cell.get("relative_error")
        shown = "" if error is None else f"error {error:.2g}"
        peak = (cell["peak_bytes"] or 0) / cell["input_bytes"]
        print(f"{name:<55} {1e3 * cell['seconds']:12.2f} ms  {shown:<14} {peak:.2f} x")
    if "floors" in entry:
        print(f"  floors: {entry['floors']}")
    print(end="", flush=True)


def version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def main() -> None:
    processors = len(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small shapes, all threads")
    parser.add_argument("--parts", default=",".join(PARTS), help="which parts")
    parser.add_argument("--peers", default=",".join(NAMES), help="which peers")
    parser.add_argument("--threads", type=numbers, help="numbers of threads")
    parser.add_argument("--repeats", type=int, default=9, help="timed calls at most")
    parser.add_argument(
        "--budget", type=float, default=20.0, help="seconds of timed calls of a way"
    )
    parser.add_argument("--time-limit", type=float, default=180.0, help="of one call")
    parser.add_argument(
        "--memory-limit", type=int, default=12 * GIB, help="bytes of address space a peer"
    )
    parser.add_argument("--runs", type=int, default=100, help="data sets for the power")
    parser.add_argument(
        "--power-budget", type=float, default=120.0, help="seconds of a way's power"
    )
    parser.add_argument("--output", type=Path, help="directory for the JSON files")
    options = parser.parse_args()
    options.peers = options.peers.split(",")
    everything = sorted({1, processors})
    options.threads = options.threads or ([processors] if options.quick else everything)
    directory = options.output or (
        ROOT / "build" / "compare" if options.quick else environment.RESULTS
    )
    directory.mkdir(parents=True, exist_ok=True)
    contents: dict[str, Any] = {}
    references: dict[Problem, dict[str, Any]] = {}
    parts = options.parts.split(",")
    needed = {peer for name in parts for peer in PARTS[name].chosen}
    for threads in options.threads:
        bench = Bench(
            [peer for peer in NAMES if peer in needed and peer in options.peers],
            threads,
            memory_limit=options.memory_limit,
            time_limit=options.time_limit,
            repeats=2 if options.quick else options.repeats,
            budget=2.0 if options.quick else options.budget,
        )
        try:
            for name in parts:
                print(f"== {name}, {threads} threads", flush=True)
                start = time.perf_counter()
                content = contents.setdefault(name, new_content(options))
                run_part(PARTS[name], content, bench, references, options)
                content["load_average_at_the_end"] = os.getloadavg()
                seconds = time.perf_counter() - start
                content["total_seconds"] = round(content["total_seconds"] + seconds, 1)
                path = directory / f"compare_{name}.json"
                path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
                print(f"{path.name}: {seconds:.0f} s", flush=True)
        finally:
            bench.close()


if __name__ == "__main__":
    main()
