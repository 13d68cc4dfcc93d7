"""`plan`: what ``method="auto"`` chooses, why, and what it will cost."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np

from fastmmd._cost import Problem, seconds
from fastmmd._validation import check_between, check_choice, check_count, check_instance
from fastmmd.bandwidth import named_kernel
from fastmmd.estimators import Block, Exact, Fastfood, Fourier, Grid, Linear, Method
from fastmmd.estimators.grid import MAX_COLUMNS, column_bounds, grid_size
from fastmmd.frequencies.fastfood import padded_columns
from fastmmd.kernels import Gaussian, Kernel

if TYPE_CHECKING:
    from fastmmd._rows import Rows

_EXACT_SECONDS = 0.5
"""Up to this time the exact value is worth its cost: nothing is random in it."""

_FASTFOOD_ADVANTAGE = 16.0
_FASTFOOD_ADVANTAGE_HEAVY = 3.0
"""Fastfood must be this much faster than Fourier: with the same number of frequencies its
error is about four times that of orthogonal ones for the Gaussian kernel, and 1.1 to 1.7
times for heavy-tailed laws (documentation, Choosing frequencies). Errors fall with the root
of the number, so the time for the same error grows with the square of that factor."""

_TYPICAL_EXTENT = 20.0
"""Extent of the data in bandwidths, where it is not known."""

METHODS: dict[str, type[Method]] = {
    method.name: method for method in (Exact, Fourier, Fastfood, Linear, Block, Grid)
}


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One method with its expected cost.

    Attributes
    ----------
    method : Method
        The method.
    seconds : float
        Expected time on one core.
    workspace : int
        Expected bytes of memory beyond the data.
    error : str
        What the result's error depends on.
    """

    method: Method
    seconds: float
    workspace: int
    error: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The method that ``method="auto"`` uses, the reason, and the alternatives.

    Attributes
    ----------
    method : Method
        The choice.
    reason : str
        Why, in one sentence.
    seconds : float
        Expected time on one core.
    workspace : int
        Expected bytes of memory beyond the data.
    options : tuple of Option
        All methods that could run, the choice first, then by expected time.

    Examples
    --------
    >>> import fastmmd
    >>> plan = fastmmd.plan(1000, 1000, 5)
    >>> plan.method.name, plan.options[0].method == plan.method
    ('exact', True)
    """

    method: Method
    reason: str
    seconds: float
    workspace: int
    options: tuple[Option, ...]

    def __str__(self) -> str:
        lines = [
            (
                f"{self.method!r}: about {_seconds(self.seconds)} on one core, "
                f"{_bytes(self.workspace)} of workspace."
            ),
            self.reason,
        ]
        if len(self.options) > 1:
            lines.append("Alternatives:")
        lines += [
            f"  {option.method.name:<9} {_seconds(option.seconds):>9}  "
            f"{_bytes(option.workspace):>8}  {option.error}"
            for option in self.options[1:]
        ]
        return "\n".join(lines)


def plan(
    n_x: int,
    n_y: int,
    n_columns: int,
    kernel: Kernel | str = "gaussian",
    *,
    estimator: str = "unbiased",
    density: float = 1.0,
) -> Plan:
    """Say which method ``"auto"`` takes for samples of these sizes, why, and its cost.

    Parameters
    ----------
    n_x, n_y : int
        Rows in each sample.
    n_columns : int
        Columns.
    kernel : Kernel or str, default="gaussian"
        The kernel; a name stands for any bandwidth.
    estimator : {"unbiased", "biased"}, default="unbiased"
        The estimate; the biased one excludes some methods.
    density : float, default=1.0
        Share of non-zero entries if the rows are sparse.

    Returns
    -------
    Plan
        Printing it gives the choice, the reason and the alternatives.

    Notes
    -----
    The rule: exact while it takes half a second; then the grid in up to three columns if
    the kernel is smooth and finufft is installed; otherwise random frequencies, by
    Fastfood where it is clearly faster (thousands of dense columns).

    Examples
    --------
    >>> import fastmmd
    >>> fastmmd.plan(1000, 1000, 16).method
    Exact(workspace=67108864)
    >>> fastmmd.plan(10**6, 10**6, 16).method.name
    'fourier'
    """
    n_x = check_count(n_x, name="n_x")
    n_y = check_count(n_y, name="n_y")
    n_columns = check_count(n_columns, name="n_columns")
    check_choice(estimator, ("unbiased", "biased"), name="estimator")
    density = check_between(density, 0.0, 1.0, name="density", open_ends=False)
    if not isinstance(kernel, Kernel):
        kernel = named_kernel(kernel, bandwidth=1.0)
    n_modes: int | None = None
    if n_columns <= MAX_COLUMNS:
        extents = np.full(n_columns, _TYPICAL_EXTENT * getattr(kernel, "bandwidth", 1.0))
        n_modes = grid_size(kernel, extents, Grid().tolerance)
    return _decide(Problem(n_x, n_y, n_columns, kernel, estimator, density, n_modes))


def plan_for_rows(x: Rows, y: Rows, kernel: Kernel, estimator: str, /) -> Plan:
    """Plan for given samples: like `plan`, with the data's own extent and density."""
    sparse = [rows for rows in (x, y) if rows.is_sparse]
    cells = sum(rows.n_rows * rows.n_columns for rows in sparse)
    density = sum(rows.n_nonzero for rows in sparse) / cells if sparse else 1.0
    problem = Problem(x.n_rows, y.n_rows, x.n_columns, kernel, estimator, density)
    decided = _decide(problem)
    if x.n_columns > MAX_COLUMNS or decided.method.name == "exact":
        return decided
    # Whether a grid serves depends on the data's extent, which costs a pass to find out.
    low, high = column_bounds(x, y)
    n_modes = grid_size(kernel, high - low, Grid().tolerance)
    return _decide(replace(problem, n_modes=n_modes))


def resolve_method(method: Method | str, /) -> Method | None:
    """Return the method as an object; None for ``"auto"``."""
    if isinstance(method, Method):
        return method
    check_instance(method, Method, name="method")
    check_choice(method, ("auto", *METHODS), name="method", also="a method object")
    return None if method == "auto" else METHODS[method]()


def _decide(problem: Problem) -> Plan:
    options = _options(problem)
    chosen, reason = _choose(options, problem)
    rest = sorted(
        (option for name, option in options.items() if name != chosen),
        key=lambda option: option.seconds,
    )
    best = options[chosen]
    return Plan(
        method=best.method,
        reason=reason,
        seconds=best.seconds,
        workspace=best.workspace,
        options=(best, *rest),
    )


def _choose(options: dict[str, Option], problem: Problem) -> tuple[str, str]:
    n_columns = problem.n_columns
    exact = options.get("exact")
    if exact is not None and exact.seconds <= _EXACT_SECONDS:
        return "exact", (
            f"All pairs take about {_seconds(exact.seconds)}, and the exact value has no "
            "approximation error."
        )
    slow = "" if exact is None else f"; all pairs would take {_seconds(exact.seconds)}"
    if "grid" in options:
        return "grid", (
            f"In {n_columns} column{'s' if n_columns > 1 else ''} a grid of frequencies "
            f"gives the exact value in linear time{slow}."
        )
    fourier, fastfood = options["fourier"], options.get("fastfood")
    gaussian = isinstance(problem.kernel, Gaussian)
    advantage = _FASTFOOD_ADVANTAGE if gaussian else _FASTFOOD_ADVANTAGE_HEAVY
    if fastfood and fastfood.seconds * advantage < fourier.seconds:
        return "fastfood", (
            f"With {n_columns} columns fast transforms are "
            f"{fourier.seconds / fastfood.seconds:.1f} times faster than a matrix of "
            f"frequencies{slow}."
        )
    if n_columns <= MAX_COLUMNS and importlib.util.find_spec("finufft") is not None:
        slow += (
            "; a grid would need too many frequencies, as the kernel is rough or the data "
            "extend over very many bandwidths"
        )
    return "fourier", f"One pass over the rows with random frequencies{slow}."


def _options(problem: Problem) -> dict[str, Option]:
    """Return what could run, by name, with expected costs."""
    n_columns, kernel = problem.n_columns, problem.kernel
    shorter = min(problem.n_x, problem.n_y)
    n_frequencies = Fourier().n_frequencies
    sampling_error = "strays with the draw of frequencies; see standard_error"
    options: dict[str, Option] = {}

    def add(method: Method, workspace: float, error: str) -> None:
        options[method.name] = Option(
            method=method,
            seconds=seconds(problem, method.name),
            workspace=int(workspace),
            error=error,
        )

    if _has_value(kernel):
        exact = Exact()
        add(exact, exact.workspace, "none but rounding")
        if problem.estimator == "unbiased" and shorter >= 2:
            noise = "strays with the order of rows"
            add(Linear(), 2**23, f"{noise}, very much")
            add(Block(), 6 * 8 * max(4, shorter), noise)
    add(Fourier(), 2**23 + 8 * n_frequencies * n_columns, sampling_error)
    if kernel.is_radial:
        padded = padded_columns(n_columns)
        phases = padded * -(-n_frequencies // padded)
        add(Fastfood(), 2**24 + 64 * phases, sampling_error)
    n_modes = problem.n_modes
    if n_modes is not None and importlib.util.find_spec("finufft") is not None:
        fine = 16 * n_modes * (2**n_columns + 3)
        add(Grid(), fine + 2**26, f"below {Grid().tolerance:g}")
    return options


def _has_value(kernel: Kernel) -> bool:
    try:
        kernel.pair_forms()
    except ValueError:
        return False
    return True


def _seconds(seconds: float) -> str:
    for unit, size in (("h", 3600.0), ("min", 60.0), ("s", 1.0)):
        if seconds >= 2.0 * size or (unit == "s" and seconds >= size):
            return f"{_two_digits(seconds / size)} {unit}"
    return f"{_two_digits(1000.0 * seconds)} ms"


def _two_digits(number: float) -> str:
    # 2.4, 24, 240: never 2.4e+02.
    rounded = float(f"{number:.2g}")
    return f"{rounded:.0f}" if rounded >= 10.0 else f"{rounded:g}"


def _bytes(count: int) -> str:
    return f"{count / 2**20:.3g} MB" if count < 2**30 else f"{count / 2**30:.3g} GB"
