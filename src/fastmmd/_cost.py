"""What each method costs: counts of operations, times rates measured once.

``benchmarks/plan_rates.py`` times the estimators, solves for the rates and writes
``plan_rates.json``. Costs rank methods and give an order of magnitude; they are not a
promise about the machine at hand.
"""

from __future__ import annotations

import functools
import importlib.resources
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from fastmmd._backends.pairs import DIRECT_COLUMNS
from fastmmd.frequencies import choose_sampling
from fastmmd.frequencies.fastfood import padded_columns

if TYPE_CHECKING:
    from fastmmd.kernels import Kernel


_DRAW_BLOCK = 100
"""A drawn coordinate costs as much as one in an orthogonal block of this size."""


@final
@dataclass(frozen=True, slots=True)
class Problem:
    """What a choice of method depends on.

    Parameters
    ----------
    n_x, n_y, n_columns : int
        Shape of the samples.
    kernel : Kernel
        The kernel.
    estimator : str
        ``"biased"`` or ``"unbiased"``.
    density : float, default=1.0
        Share of non-zero entries; below 1 the rows are taken as sparse.
    n_modes : int, optional
        Frequencies that `Grid` needs; None if it cannot serve.
    n_frequencies : int, default=1024
        Frequencies of the random methods.
    """

    n_x: int
    n_y: int
    n_columns: int
    kernel: Kernel
    estimator: str
    density: float = 1.0
    n_modes: int | None = None
    n_frequencies: int = 1024


def operations(problem: Problem, method: str, /) -> dict[str, float]:
    """Return how often each rate enters the cost of a method, by name."""
    n, d = problem.n_x + problem.n_y, problem.n_columns
    shorter = min(problem.n_x, problem.n_y)
    used_columns = d * problem.density
    # Only Euclidean distances in many columns come from a matrix product.
    by_product = d > DIRECT_COLUMNS and problem.kernel.is_radial
    column = "pair_column_product" if by_product else "pair_column"
    phases = float(n * problem.n_frequencies)
    counts: dict[str, float] = {"call": 1.0}
    if method == "exact":
        pairs = 0.5 * n * n
        counts |= {"pair": pairs, column: pairs * used_columns}
    elif method == "block":
        pairs = 4.0 * shorter * max(2, math.isqrt(shorter))
        counts |= {"pair": pairs, column: pairs * used_columns}
    elif method == "linear":
        counts |= {"linear_row": 2.0 * shorter, "linear_number": 2.0 * shorter * d}
    elif method == "fourier":
        kind = "phase_nonzero" if problem.density < 1.0 else "phase_column"
        # Orthogonal directions cost a QR factorisation for each block; where frequencies
        # are few beside columns, directions are only drawn, at the price of a small block.
        few = choose_sampling(problem.kernel, d, problem.n_frequencies) == "stratified"
        block = _DRAW_BLOCK if few else min(d, problem.n_frequencies)
        counts |= {
            "phase": phases,
            kind: phases * used_columns,
            "orthogonal": float(problem.n_frequencies * d * block),
        }
    elif method == "fastfood":
        padded = padded_columns(d)
        transformed = n * padded * -(-problem.n_frequencies // padded)
        counts |= {"phase": phases, "hadamard": transformed * (1.0 + math.log2(padded))}
    elif method == "grid" and problem.n_modes is not None:
        counts |= {f"grid_row_{d}": float(n), f"grid_mode_{d}": float(problem.n_modes)}
    return counts


def seconds(problem: Problem, method: str, /) -> float:
    """Return the expected time on one core."""
    rates = _rates()
    return sum(rates[name] * n for name, n in operations(problem, method).items())


@functools.cache
def _rates() -> dict[str, float]:
    text = importlib.resources.files("fastmmd").joinpath("plan_rates.json").read_text()
    rates: dict[str, float] = json.loads(text)
    return rates
