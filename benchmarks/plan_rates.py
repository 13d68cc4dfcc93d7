"""Measure the rates behind `fastmmd.plan`, and how far its predictions are off.

The cost of a method is a sum of counts times rates. Timed runs of the real estimators at
a few sizes give equations for the rates; they are solved in least squares of relative
errors, with rates not below zero. Then other shapes are predicted and timed.

Run ``python benchmarks/plan_rates.py`` to write ``src/fastmmd/plan_rates.json`` and
``benchmarks/results/plan_check.json``; ``--dry-run`` writes neither.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import environment
import numpy as np
import scipy.optimize
import scipy.sparse

import fastmmd
from fastmmd._cost import Problem, operations
from fastmmd._cost import seconds as predicted_seconds
from fastmmd._rows import check_samples
from fastmmd.estimators.grid import column_bounds, grid_size

if TYPE_CHECKING:
    from fastmmd.estimators import Method

RATES = Path(__file__).parents[1] / "src" / "fastmmd" / "plan_rates.json"
SEED = 20151
N_REPEATS = 5


@dataclass(frozen=True)
class Shape:
    """A method and the data to time it on; bandwidth in units of the data's scale."""

    method: Method
    n_x: int
    n_y: int
    n_columns: int
    density: float = 1.0
    bandwidth: float = 1.0

    @property
    def kernel(self) -> fastmmd.Gaussian:
        return fastmmd.Gaussian(self.bandwidth * math.sqrt(2.0 * self.n_columns))

    def samples(self) -> tuple[Any, Any]:
        rng = np.random.default_rng(SEED)
        sizes = (self.n_x, self.n_y)
        if self.density == 1.0:
            return tuple(rng.normal(size=(n, self.n_columns)) for n in sizes)
        return tuple(
            scipy.sparse.random_array(
                (n, self.n_columns), density=self.density, format="csr", rng=rng
            )
            for n in sizes
        )


FIT = (
    *(Shape(fastmmd.Exact(), 1500, 1500, d) for d in (1, 4, 16, 32, 128, 512)),
    *(Shape(fastmmd.Fourier(), 4000, 4000, d) for d in (2, 8, 32, 128, 512, 2048)),
    Shape(fastmmd.Fourier(256), 16000, 4000, 16),
    *(Shape(fastmmd.Fastfood(), 1500, 1500, d) for d in (16, 64, 256, 1024, 4096)),
    Shape(fastmmd.Fourier(), 3000, 3000, 500, 0.1),
    Shape(fastmmd.Fourier(), 3000, 3000, 2000, 0.05),
    Shape(fastmmd.Fourier(), 3000, 3000, 2000, 0.005),
    *(
        Shape(fastmmd.Grid(), n, n, 1, 1.0, b)
        for n in (20_000, 200_000)
        for b in (1, 0.01)
    ),
    *(
        Shape(fastmmd.Grid(), n, n, 2, 1.0, b)
        for n in (20_000, 100_000)
        for b in (1, 0.1)
    ),
    *(
        Shape(fastmmd.Grid(), n, n, 3, 1.0, b)
        for n in (10_000, 50_000)
        for b in (1, 0.15)
    ),
    Shape(fastmmd.Exact(), 5, 5, 2),
    Shape(fastmmd.Linear(), 5, 5, 2),
    Shape(fastmmd.Linear(), 50_000, 50_000, 4),
    Shape(fastmmd.Linear(), 50_000, 50_000, 64),
)

CHECK = (
    Shape(fastmmd.Exact(), 3000, 500, 8),
    Shape(fastmmd.Exact(), 1000, 1000, 64),
    Shape(fastmmd.Exact(), 800, 1200, 300),
    Shape(fastmmd.Fourier(), 30_000, 10_000, 5),
    Shape(fastmmd.Fourier(), 6000, 5000, 200),
    Shape(fastmmd.Fourier(), 2000, 3000, 1500),
    Shape(fastmmd.Fastfood(), 1000, 2000, 500),
    Shape(fastmmd.Fastfood(), 500, 500, 3000),
    Shape(fastmmd.Fourier(), 4000, 4000, 1000, 0.02),
    Shape(fastmmd.Fourier(), 4000, 4000, 10_000, 0.01),
    Shape(fastmmd.Linear(), 100_000, 100_000, 10),
    Shape(fastmmd.Block(), 20_000, 20_000, 4),
    Shape(fastmmd.Grid(), 300_000, 200_000, 1, 1.0, 0.1),
    Shape(fastmmd.Grid(), 60_000, 150_000, 2, 1.0, 0.5),
    Shape(fastmmd.Grid(), 40_000, 40_000, 3, 1.0, 0.2),
)


def seconds(shape: Shape, n_repeats: int) -> float:
    """Return the processor time of one estimate: the median of some runs, after one."""
    x, y = shape.samples()
    times = []
    for repeat in range(n_repeats + 1):
        start = time.process_time()
        fastmmd.mmd(x, y, kernel=shape.kernel, method=shape.method, rng=repeat)
        times.append(time.process_time() - start)
    return float(np.median(times[1:]))


def problem(shape: Shape) -> Problem:
    """Return the shape as the plan sees it."""
    modes = None
    if shape.method.name == "grid":
        low, high = column_bounds(*check_samples(*shape.samples()))
        modes = grid_size(shape.kernel, high - low, fastmmd.Grid().tolerance)
    return Problem(
        shape.n_x,
        shape.n_y,
        shape.n_columns,
        shape.kernel,
        "unbiased",
        shape.density,
        modes,
        getattr(shape.method, "n_frequencies", 0),
    )


def fit(n_repeats: int) -> dict[str, float]:
    """Return the rates, rounded to two digits."""
    counts = [operations(problem(shape), shape.method.name) for shape in FIT]
    names = sorted({name for row in counts for name in row})
    equations = np.zeros((len(FIT), len(names)))
    measured = np.zeros(len(FIT))
    for i, shape in enumerate(FIT):
        measured[i] = seconds(shape, n_repeats)
        for name, count in counts[i].items():
            equations[i, names.index(name)] = count / measured[i]
    # Columns differ by ten orders of magnitude: scale them before solving.
    scale = equations.max(axis=0)
    solution, _ = scipy.optimize.nnls(equations / scale, np.ones(len(FIT)))
    found = dict(zip(names, solution / scale, strict=True))
    for i, shape in enumerate(FIT):
        predicted = measured[i] * float(equations[i] @ (solution / scale))
        print(_line(shape, predicted, measured[i]))
    return {name: _two_digits(found[name]) for name in names}


def check(n_repeats: int) -> list[dict[str, Any]]:
    """Return predicted and measured seconds of shapes that the fit has not seen."""
    rows = []
    for shape in CHECK:
        measured = seconds(shape, n_repeats)
        predicted = predict(shape)
        print(_line(shape, predicted, measured))
        rows.append(
            {
                "method": shape.method.name,
                "n_x": shape.n_x,
                "n_y": shape.n_y,
                "n_columns": shape.n_columns,
                "density": shape.density,
                "predicted_seconds": _two_digits(predicted),
                "measured_seconds": _two_digits(measured),
                "measured_over_predicted": _two_digits(measured / predicted),
            }
        )
    return rows


def predict(shape: Shape) -> float:
    """Return what the plan for these samples says about this method."""
    return predicted_seconds(problem(shape), shape.method.name)


def _line(shape: Shape, predicted: float, measured: float) -> str:
    sizes = f"{shape.n_x} + {shape.n_y} rows, {shape.n_columns} columns"
    if shape.density < 1.0:
        sizes += f", density {shape.density:g}"
    return (
        f"{shape.method.name:<9} {sizes:<48} {1e3 * measured:9.2f} ms, "
        f"predicted {1e3 * predicted:9.2f} ms, ratio {measured / predicted:.2f}"
    )


def _two_digits(value: float) -> float:
    return float(f"{value:.1e}")


def main() -> None:
    environment.use_one_thread()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--repeats", type=int, default=N_REPEATS, help="runs of each shape"
    )
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    parser.add_argument("--keep", action="store_true", help="check the rates there are")
    options = parser.parse_args()
    if options.keep:
        rates = json.loads(RATES.read_text(encoding="utf-8"))
    else:
        rates = fit(options.repeats)
        print(json.dumps(rates, indent=1))
    if options.dry_run:
        return
    if not options.keep:
        RATES.write_text(json.dumps(rates, indent=1) + "\n", encoding="utf-8")
    content = {
        "environment": environment.describe(),
        "seed": SEED,
        "n_repeats": options.repeats,
        "rates": rates,
        "check": check(options.repeats),
    }
    print(environment.write("plan_check.json", content))


if __name__ == "__main__":
    main()
