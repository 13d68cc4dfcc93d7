"""Repeat a test many times and keep its rates, with their standard errors, as JSON."""

from __future__ import annotations

import json
import math
import sys
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ROOT = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).resolve().parent / "results"
sys.path.insert(0, str(ROOT / "benchmarks"))
import environment


@dataclass(frozen=True)
class Cell:
    """One setting of a simulation.

    `run` takes a generator and returns p-values by name, and anything to be averaged.
    """

    name: str
    about: dict[str, Any]
    run: Callable[[np.random.Generator], dict[str, float]]
    runs: int


@dataclass(frozen=True)
class Options:
    """What the command line asks for."""

    runs: int | None = None
    share: float = 1.0
    only: str = ""
    missing: bool = False
    data: Path | None = None
    seed: int = 0

    def runs_of(self, cell: Cell) -> int:
        """Return how often to run a cell."""
        wanted = cell.runs if self.runs is None else self.runs
        return max(20, round(self.share * wanted))


def standard_error(rate: float, runs: int) -> float:
    """Return the binomial standard error of a rate."""
    return math.sqrt(max(rate * (1.0 - rate), 0.0) / runs)


def simulate(
    part: str, cells: Iterable[Cell], options: Options, *, levels: tuple[float, ...]
) -> None:
    """Run the cells and write ``results/<part>.json`` after each of them."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{part}.json"
    known: dict[str, Any] = {}
    if path.exists() and (options.only or options.missing):
        stored = json.loads(path.read_text(encoding="utf-8"))
        known = {cell["name"]: cell for cell in stored["cells"]}
    names = []
    for cell in cells:
        names.append(cell.name)
        if options.only not in cell.name or (options.missing and cell.name in known):
            continue
        known[cell.name] = _one_cell(cell, options, levels)
        content = {
            "part": part,
            "seed": options.seed,
            "environment": environment.describe(),
            "cells": list(known.values()),
        }
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    if path.exists():
        # In the order of the list, whatever ran first; unknown cells are dropped.
        content = json.loads(path.read_text(encoding="utf-8"))
        mine = {cell["name"]: cell for cell in content["cells"]}
        content["cells"] = [mine[name] for name in names if name in mine]
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _one_cell(cell: Cell, options: Options, levels: tuple[float, ...]) -> dict[str, Any]:
    runs = options.runs_of(cell)
    outcomes: dict[str, list[float]] = {}
    start = time.perf_counter()
    for run in range(runs):
        # A run follows from the cell's name and its number, whatever else is run.
        rng = np.random.default_rng([options.seed, zlib.crc32(cell.name.encode()), run])
        for name, value in cell.run(rng).items():
            outcomes.setdefault(name, []).append(value)
    seconds = (time.perf_counter() - start) / runs
    rates: dict[str, Any] = {}
    means = {}
    for name, values in outcomes.items():
        if name.startswith("mean "):
            means[name.removeprefix("mean ")] = float(f"{np.mean(values):.4g}")
            continue
        for level in levels:
            rate = float(np.mean(np.array(values) <= level))
            rates.setdefault(name, {})[f"{level:g}"] = {
                "rate": round(rate, 5),
                "standard_error": round(standard_error(rate, len(values)), 5),
                "runs": len(values),
            }
    result = {
        "name": cell.name,
        **cell.about,
        "runs": runs,
        "seconds_per_run": float(f"{seconds:.3g}"),
        "rates": rates,
        "means": means,
    }
    shown = ", ".join(
        f"{name} " + "/".join(f"{r['rate']:.4f}" for r in by_level.values())
        for name, by_level in rates.items()
    )
    print(f"{cell.name} [{runs} x {1000 * seconds:.0f} ms]: {shown} {means}", flush=True)
    return result
