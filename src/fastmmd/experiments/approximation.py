"""Figure 5: the error of FastMMD by the number of frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from fastmmd._mmd import mmd
from fastmmd.estimators import Grid
from fastmmd.experiments._axes import log_axis
from fastmmd.experiments._data import blobs
from fastmmd.experiments._estimates import (
    ESTIMATORS,
    distance,
    exact_mmd2,
    spectral_mmd2,
)
from fastmmd.experiments._experiment import (
    Experiment,
    Outcome,
    Picture,
    Settings,
    Table,
    Verdict,
    judge,
)
from fastmmd.experiments._statistics import Slope, mean_error, power_law
from fastmmd.experiments._style import LOOKS
from fastmmd.experiments._words import small, times
from fastmmd.frequencies import DenseFrequencies, draw_fastfood, draw_frequencies
from fastmmd.kernels import Gaussian

if TYPE_CHECKING:
    import numpy.typing as npt

    from fastmmd._typing import Estimator, FloatArray
    from fastmmd.experiments._style import Style

N_ROWS: Final = 1000
RATIO: Final = 4.0
KERNEL: Final = Gaussian(1.0)
PAPER: Final = ("fourier", "fastfood")
OURS: Final = ("orthogonal", "sobol")

_FITTED_FROM = 64
"""Below, errors are no longer small beside the MMD, and its root bends the line."""

_SLOPE_TOLERANCE = 0.05
_ALIKE = 0.1
_MODEST = 1024
_GOOD = 0.1


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """Errors of all trials.

    Parameters
    ----------
    sizes : ndarray of int
        Numbers of frequencies.
    mmd : ndarray of shape (trials, 2)
        The exact MMD of each trial, biased and unbiased.
    errors : dict
        For each method absolute errors of MMD, of shape (trials, sizes, 2).
    grid : ndarray of shape (trials, 2)
        Those of `Grid`, which has no number of frequencies to choose.
    n_grid : int
        How many frequencies it took.
    """

    sizes: npt.NDArray[np.int64]
    mmd: FloatArray
    errors: dict[str, FloatArray]
    grid: FloatArray
    n_grid: int

    def relative(self, method: str, estimator: Estimator) -> FloatArray:
        """Return errors of shape (trials, sizes) as shares of the exact MMD."""
        which = ESTIMATORS.index(estimator)
        errors = self.errors[method][..., which]
        return np.asarray(errors / self.mmd[: len(errors), None, which])

    def slope(self, errors: FloatArray) -> Slope:
        """Return how mean errors of shape (trials, sizes) fall with the frequencies."""
        used = self.sizes >= _FITTED_FROM
        means, spread = errors.mean(axis=0), mean_error(errors)
        return power_law(self.sizes[used], means[used], spread[used])


def draw(
    method: str, n_frequencies: int, rng: np.random.Generator, /
) -> DenseFrequencies:
    """Return frequencies of the kernel in two columns, drawn in one of four ways."""
    if method == "fastfood":
        drawn = draw_fastfood(KERNEL, n_frequencies, 2, rng=rng)
        # A matrix of the same frequencies: quicker than the transforms in two columns.
        return DenseFrequencies(drawn.to_dense(), drawn.group_sizes)
    sampling = {"fourier": "iid"}.get(method, method)
    return draw_frequencies(KERNEL, n_frequencies, 2, sampling=sampling, rng=rng)


def measure(settings: Settings, /) -> Measured:
    """Repeat with new rows and new frequencies in every trial."""
    sizes = 2 ** np.arange(4, 12 if settings.quick else 14)
    # Ours take longer to draw, and a quarter of the trials shows how they do.
    trials = dict.fromkeys(PAPER, settings.trials)
    trials |= dict.fromkeys(OURS, max(2, settings.trials // 4))
    errors = {method: np.empty((n, len(sizes), 2)) for method, n in trials.items()}
    exact, grid = np.empty((2, settings.trials, 2))
    n_grid = 0
    for trial in settings.track(range(settings.trials), "Errors by frequencies"):
        x, y = blobs(N_ROWS, RATIO, settings.rng("rows", trial))
        exact[trial] = distance(exact_mmd2(x, y, KERNEL))
        for i, estimator in enumerate(ESTIMATORS):
            on_grid = mmd(x, y, kernel=KERNEL, method=Grid(), estimator=estimator)
            grid[trial, i] = abs(on_grid.mmd - exact[trial, i])
            n_grid = max(n_grid, on_grid.n_frequencies or 0)
        for method, n_trials in trials.items():
            if trial < n_trials:
                rng = settings.rng(method, trial)
                for place, size in enumerate(sizes):
                    frequencies = draw(method, int(size), rng)
                    found = distance(spectral_mmd2(x, y, KERNEL, frequencies))
                    errors[method][trial, place] = np.abs(found - exact[trial])
    return Measured(sizes=sizes, mmd=exact, errors=errors, grid=grid, n_grid=n_grid)


def run(settings: Settings) -> Outcome:
    """Measure, and compare with what the paper says about its figure."""
    found = measure(settings)
    n_ours = len(found.errors["sobol"])
    return Outcome(
        tables=[_table(found)],
        pictures=[
            Picture(
                "approximation",
                "Mean relative error of the biased and of the unbiased MMD against the "
                "number of frequencies, for Fourier, Fastfood, orthogonal and Sobol "
                "frequencies, and for Grid.",
                (8.6, 4.4),
                lambda figure, style: _draw(figure, style, found),
            )
        ],
        verdicts=[
            _falls(found),
            _alike(found),
            _modest(found),
            _quasi_random(found),
        ],
        notes=[
            (
                "Algorithm 2 as printed scales features by K(0) / sqrt(L); it must be "
                "sqrt(K(0) / L). Here K(0) = 1, where both are the same."
            ),
            (
                "Errors are those of MMD, not of its square; an unbiased estimate below 0 "
                "counts as 0. The paper does not say whether its trials share their data: "
                "here each has new rows and new frequencies. Orthogonal and Sobol "
                f"frequencies have {n_ours} trials."
            ),
            (
                f"Grid is not random: with {found.n_grid:,} frequencies on a grid its relative error "
                f"is {small(float((found.grid / found.mmd).max()))} at most."
            ),
        ],
    )


def _table(found: Measured) -> Table:
    rows = []
    for method, errors in found.errors.items():
        for i, estimator in enumerate(ESTIMATORS):
            relative = found.relative(method, estimator)
            for place, size in enumerate(found.sizes):
                rows.append(
                    {
                        "method": method,
                        "estimator": estimator,
                        "n_frequencies": size,
                        "trials": len(errors),
                        "mean_relative_error_of_mmd": relative[:, place].mean(),
                        "its_standard_error": mean_error(relative)[place],
                        "mean_absolute_error_of_mmd": errors[:, place, i].mean(),
                    }
                )
    for i, estimator in enumerate(ESTIMATORS):
        relative = found.grid[:, i] / found.mmd[:, i]
        rows.append(
            {
                "method": "grid",
                "estimator": estimator,
                "n_frequencies": found.n_grid,
                "trials": len(relative),
                "mean_relative_error_of_mmd": relative.mean(),
                "its_standard_error": mean_error(relative),
                "mean_absolute_error_of_mmd": found.grid[:, i].mean(),
            }
        )
    return Table.from_rows(
        "approximation",
        "A row is a method, an estimate and a number of frequencies.",
        rows,
    )


def _falls(found: Measured) -> Verdict:
    slopes = {
        f"{LOOKS[method].label} {estimator}": found.slope(
            found.relative(method, estimator)
        )
        for method in PAPER
        for estimator in ESTIMATORS
    }
    absolute = [
        found.slope(found.errors[method][..., i]) for method in PAPER for i in range(2)
    ]
    listed = ", ".join(f"{name} {slope}" for name, slope in slopes.items())
    largest = max(abs(slope.value + 0.5) for slope in absolute)
    return judge(
        "As L grows both methods converge to the exact MMD, biased and unbiased; relative "
        "and absolute errors behave alike.",
        measured=(
            f"The error falls like a power of L, whose exponents are {listed}; those of "
            f"absolute errors are within {largest:.3f} of -1/2."
        ),
        rule=(
            f"Holds if all exponents, fitted from L = {_FITTED_FROM} on, are within "
            f"{_SLOPE_TOLERANCE} of -1/2, up to three standard errors."
        ),
        met=[s.agrees(-0.5, _SLOPE_TOLERANCE) for s in (*slopes.values(), *absolute)],
    )


def _alike(found: Measured) -> Verdict:
    met, ratios = [], []
    for estimator in ESTIMATORS:
        fourier, fastfood = (found.relative(method, estimator) for method in PAPER)
        ratio = fastfood.mean(axis=0) / fourier.mean(axis=0)
        error = ratio * np.hypot(
            mean_error(fourier) / fourier.mean(axis=0),
            mean_error(fastfood) / fastfood.mean(axis=0),
        )
        ratios.extend(ratio)
        met.extend(np.abs(ratio - 1.0) <= _ALIKE + 3.0 * error)
    return judge(
        "Fourier and Fastfood cannot be told apart.",
        measured=(
            f"The error of Fastfood is {min(ratios):.2f} to {max(ratios):.2f} times that "
            "of Fourier."
        ),
        rule=(
            f"Holds if every ratio is within {_ALIKE} of 1, up to three standard errors."
        ),
        met=met,
    )


def _modest(found: Measured) -> Verdict:
    enough = {}
    for estimator in ESTIMATORS:
        errors = found.relative("fourier", estimator).mean(axis=0)
        good = found.sizes[errors <= _GOOD]
        enough[estimator] = int(good[0]) if len(good) else None
    at = found.sizes == _MODEST
    errors = [found.relative("fourier", e).mean(axis=0)[at][0] for e in ESTIMATORS]
    listed = " and ".join(
        f"{n or 'more than ' + str(found.sizes[-1])} ({estimator})"
        for estimator, n in enough.items()
    )
    return judge(
        "A modest number of basis functions gives a good approximation.",
        measured=(
            f"With Fourier a mean error of {100 * _GOOD:.0f} % takes L = {listed}; at "
            f"L = {_MODEST} it is {100 * errors[0]:.1f} % and {100 * errors[1]:.1f} %."
        ),
        rule=(
            f"Holds if the mean error is at most {100 * _GOOD:.0f} % at L = {_MODEST}, for "
            "both estimates."
        ),
        met=[error <= _GOOD for error in errors],
    )


def _quasi_random(found: Measured) -> Verdict:
    fourier = found.relative("fourier", "biased").mean(axis=0)
    shares = {
        method: found.relative(method, "biased").mean(axis=0) / fourier for method in OURS
    }
    many = np.flatnonzero(found.sizes >= _MODEST)
    sobol, orthogonal = (
        " and ".join(
            f"{times(shares[method][place])} at L = {found.sizes[place]}"
            for place in (many[0], many[-1])
        )
        for method in ("sobol", "orthogonal")
    )
    return judge(
        "Quasi-Monte Carlo frequencies have lower discrepancy than independent ones "
        "(section 2.2, without an experiment).",
        measured=(
            "As a share of the error of independent frequencies that of Sobol frequencies "
            f"is {sobol}, and that of orthogonal ones {orthogonal}."
        ),
        rule=f"Holds if Sobol frequencies err less at every L from {_MODEST} on.",
        met=[bool(shares["sobol"][many].max() < 1.0)],
    )


def _draw(figure: Any, style: Style, found: Measured) -> None:
    panels = figure.subplots(2, 2, sharex=True, sharey="row", height_ratios=(7.0, 1.0))
    figure.get_layout_engine().set(hspace=0.02)
    for i, estimator in enumerate(ESTIMATORS):
        upper, lower = panels[:, i]
        _draw_errors(upper, style, found, estimator)
        grid = float((found.grid[:, i] / found.mmd[:, i]).mean())
        lower.axhline(grid, lw=2.0, color=style.colour("grid"))
        lower.text(
            found.sizes[0],
            1.8 * grid,
            f"Grid, {found.n_grid:,} frequencies",
            color=style.colour("grid"),
            size=8.5,
            va="bottom",
        )
        lower.set_ylim(1e-16, 1e-12)
        log_axis(lower.yaxis, [1e-15], ["10⁻¹³ %"])
        lower.set_xlabel("number of frequencies L")
        _draw_break(upper, lower, style)
    panels[0, 0].set_ylabel("mean relative error")
    panels[0, 1].legend(loc="upper right")


_SIZES: Final[dict[str, dict[str, float]]] = {
    "fourier": {"ms": 10.0, "lw": 2.6},
    "orthogonal": {"ms": 7.0, "lw": 1.6},
    "fastfood": {"ms": 3.6, "lw": 1.0},
    "sobol": {"ms": 6.0, "lw": 1.6},
}
"""Drawn in this order, each smaller than the last: they lie on top of each other."""


def _draw_errors(axes: Any, style: Style, found: Measured, estimator: Estimator) -> None:
    for method in _SIZES:
        errors = found.relative(method, estimator)
        axes.errorbar(
            found.sizes,
            errors.mean(axis=0),
            2.0 * mean_error(errors),
            capsize=0.0,
            elinewidth=0.9,
            **style.line(method, **_SIZES[method]),
        )
    # A line of slope -1/2 to hold the others against.
    start = 0.55 * found.relative("fourier", estimator).mean(axis=0)[2]
    guide = start * np.sqrt(found.sizes[2] / found.sizes[2:])
    axes.plot(found.sizes[2:], guide, color=style.muted, lw=1.2, ls=(0, (1, 2)))
    axes.text(
        found.sizes[2], 0.85 * start, "1/√L", color=style.muted, ha="right", va="top"
    )
    axes.set_title(f"{estimator.capitalize()} MMD")
    log_axis(axes.xaxis, found.sizes[::2].tolist(), [f"{n}" for n in found.sizes[::2]])
    shares = [0.001, 0.01, 0.1, 1.0]
    axes.set_ylim(0.001, 1.0)
    log_axis(axes.yaxis, shares, [f"{100 * share:g} %" for share in shares])


def _draw_break(upper: Any, lower: Any, style: Style) -> None:
    """Show by two strokes that the vertical axis leaves something out."""
    upper.spines["bottom"].set_visible(False)
    upper.tick_params(bottom=False, labelbottom=False)
    for axes, height in ((upper, 0.0), (lower, 1.0)):
        axes.plot(
            [0.0],
            [height],
            marker=[(-1.0, -0.5), (1.0, 0.5)],
            ms=9.0,
            mew=1.2,
            mec=style.muted,
            color="none",
            transform=axes.transAxes,
            clip_on=False,
        )


EXPERIMENT = Experiment(
    name="approximation",
    paper="Figure 5",
    title="the error of FastMMD by the number of frequencies",
    trials=1000,
    quick_trials=40,
    fewest_trials=2,
    run=run,
)
