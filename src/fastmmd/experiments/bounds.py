"""Theorems 3 and 4 beside measured errors: how loose the bounds are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from fastmmd.bounds import fastfood_bound, fastfood_bound_as_printed, fourier_epsilon
from fastmmd.experiments._axes import log_axis
from fastmmd.experiments._data import BLOB_SPACING, BLOBS_A_SIDE, blobs
from fastmmd.experiments._estimates import exact_mmd2, spectral_mmd2
from fastmmd.experiments._experiment import (
    Experiment,
    Outcome,
    Picture,
    Settings,
    Table,
    Verdict,
    judge,
)
from fastmmd.experiments._statistics import mean_error, power_law
from fastmmd.experiments._words import percent, times
from fastmmd.frequencies import draw_fastfood, draw_frequencies
from fastmmd.kernels import Gaussian

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from fastmmd._typing import FloatArray
    from fastmmd.experiments._style import Style

    Bound = Callable[..., float]

KERNEL: Final = Gaussian(1.0)
RATIO: Final = 4.0
N_ROWS: Final = 500

DELTA: Final = 0.05
"""Errors are compared where they are exceeded with this probability."""

LARGEST: Final = 4.0
"""No error of a squared MMD is larger if K(0) = 1: a larger bound says nothing."""

DIAMETER: Final = float(np.sqrt(2.0) * ((BLOBS_A_SIDE - 1) * BLOB_SPACING + 16.0))
"""Of a square that reaches 8 beyond the outer blobs, five standard deviations."""

SPHERE_DIAMETER: Final = 2.0
"""Theorem 4 has as many columns as frequencies; its rows are taken on a sphere."""

_STEP = 0.4
"""Of the grid on which the worst error of the kernel is sought. Few frequencies are longer
than 3, where the error goes up and down within 2."""

_MOST_ERRORS = 4.0
_SLOPE_TOLERANCE = 0.05


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """Errors of squared MMD in all trials.

    Parameters
    ----------
    sizes, blocks : ndarray of int
        Numbers of frequencies, and sizes of a Fastfood block.
    blobs : ndarray of shape (trials, sizes, 2)
        Errors with their signs for the blobs, biased and unbiased.
    worst : ndarray of shape (trials, sizes)
        The largest error among pairs of single rows within the diameter.
    fastfood : ndarray of shape (trials, blocks)
        Absolute errors for two rows at opposite ends of a sphere.
    """

    sizes: npt.NDArray[np.int64]
    blocks: npt.NDArray[np.int64]
    blobs: FloatArray
    worst: FloatArray
    fastfood: FloatArray

    @property
    def guaranteed(self) -> FloatArray:
        """The errors that Theorem 3 guarantees."""
        return np.array([guaranteed_error(int(size)) for size in self.sizes])


def guaranteed_error(n_frequencies: int, /) -> float:
    """Return the error that Theorem 3 lets happen with probability `DELTA`."""
    return fourier_epsilon(
        n_frequencies, DELTA, kernel=KERNEL, n_columns=2, diameter=DIAMETER
    )


def fastfood_error(bound: Bound, block_size: int, /) -> float:
    """Return the error at which a bound of Theorem 4 is `DELTA`; it falls with the error."""
    low, high = 1e-6, 1e6
    for _ in range(200):
        middle = float(np.sqrt(low * high))
        if _on_sphere(bound, middle, block_size) > DELTA:
            low = middle
        else:
            high = middle
    return high


def assumption(
    epsilon: float, block_size: int, /, *, diameter: float = SPHERE_DIAMETER
) -> float:
    """Return what Theorem 4 assumes to be at least 1, with ``epsilon / 4`` as in A.4."""
    return 16.0 * np.log(block_size) * diameter / (block_size * epsilon**2)


def _on_sphere(bound: Bound, epsilon: float, block_size: int) -> float:
    return bound(
        epsilon, block_size, bandwidth=1.0, diameter=SPHERE_DIAMETER, capped=False
    )


def worst_error(frequencies: FloatArray, /) -> float:
    """Return the largest error among samples of one row each, on a grid of differences.

    Squared MMD of two rows is ``2 - 2 k(difference)``, so it errs by twice the error of the
    kernel. The mean cosine on a grid is a matrix product, by the cosine of a sum. A quarter
    of the grid gives the rest: the cosine of a difference takes the same two products, and
    the cosine is even.
    """
    grid = np.arange(0.0, DIAMETER, _STEP)
    # Single precision: phases of some hundred are right to 1e-5, far below the error.
    phases = [np.outer(grid, w).astype(np.float32) for w in frequencies.T]
    cosines, sines = (
        f(phases[0]) @ f(phases[1]).T / np.float32(len(frequencies))
        for f in (np.cos, np.sin)
    )
    squares = np.add.outer(grid**2, grid**2)
    kernel, within = np.exp(-0.5 * squares), squares <= DIAMETER**2
    means = (cosines - sines, cosines + sines)
    return 2.0 * max(float(np.abs(mean - kernel)[within].max()) for mean in means)


def opposite_error(block_size: int, rng: np.random.Generator, /) -> float:
    """Return the error of one Fastfood block for two rows at opposite ends of a sphere."""
    drawn = draw_fastfood(KERNEL, block_size, block_size, rng=rng)
    direction = rng.standard_normal((1, block_size))
    difference = SPHERE_DIAMETER * direction / np.linalg.norm(direction)
    cosines = np.cos(drawn.project(difference, None))
    return 2.0 * abs(float(cosines.mean()) - float(np.exp(-0.5 * SPHERE_DIAMETER**2)))


def measure(settings: Settings, /) -> Measured:
    """Draw new frequencies in every trial."""
    sizes = 2 ** np.arange(4, 11 if settings.quick else 13)
    blocks = 2 ** np.arange(3, 10 if settings.quick else 13)
    n_trials = settings.trials
    found = Measured(
        sizes=sizes,
        blocks=blocks,
        blobs=np.empty((n_trials, len(sizes), 2)),
        worst=np.empty((n_trials, len(sizes))),
        fastfood=np.empty((n_trials, len(blocks))),
    )
    for trial in settings.track(range(n_trials), "Errors beside bounds"):
        x, y = blobs(N_ROWS, RATIO, settings.rng("rows", trial))
        exact = exact_mmd2(x, y, KERNEL)
        rng, rng_fastfood = (
            settings.rng(name, trial) for name in ("fourier", "fastfood")
        )
        for i, size in enumerate(sizes):
            drawn = draw_frequencies(KERNEL, int(size), 2, sampling="iid", rng=rng)
            found.blobs[trial, i] = spectral_mmd2(x, y, KERNEL, drawn) - exact
            found.worst[trial, i] = worst_error(drawn.frequencies)
        for i, block in enumerate(blocks):
            found.fastfood[trial, i] = opposite_error(int(block), rng_fastfood)
    return found


def run(settings: Settings) -> Outcome:
    """Measure errors and compare them with what the theorems guarantee."""
    found = measure(settings)
    fourier = Table(
        "bounds",
        f"A row is a number of frequencies; errors are exceeded in {percent(DELTA)} of all "
        "trials.",
        {
            "n_frequencies": found.sizes,
            "theorem_3_error_of_mmd2": found.guaranteed,
            "measured_worst_pair_of_rows": _quantile(found.worst),
            "measured_blobs_biased": _quantile(np.abs(found.blobs[..., 0])),
            "measured_blobs_unbiased": _quantile(np.abs(found.blobs[..., 1])),
            "mean_error_blobs_biased": found.blobs[..., 0].mean(axis=0),
            "mean_error_blobs_unbiased": found.blobs[..., 1].mean(axis=0),
        },
    )
    printed, before = (_fastfood_errors(found.blocks, bound) for bound in _FASTFOOD)
    fastfood = Table(
        "bounds-fastfood",
        f"A row is a size of a Fastfood block; errors are exceeded in {percent(DELTA)} of "
        "all trials. The theorem assumes what is in the last column to be at least 1.",
        {
            "block_size": found.blocks,
            "theorem_4_as_printed_error_of_mmd2": printed,
            "theorem_4_line_before_error_of_mmd2": before,
            "measured_opposite_rows": _quantile(found.fastfood),
            "assumption_at_the_printed_error": [
                assumption(error, block) for error, block in _printed(found.blocks)
            ],
        },
    )
    return Outcome(
        tables=[fourier, fastfood],
        pictures=[
            Picture(
                "bounds",
                "Errors that the theorems guarantee, and measured ones, against the number "
                "of frequencies for Theorem 3 and against the block size for Theorem 4.",
                (8.6, 4.0),
                lambda figure, style: _draw(figure, style, found),
            )
        ],
        verdicts=[_theorem_3(found), _rate(found), _unbiased(found), _theorem_4(found)],
        notes=[
            (
                "The worst pair of rows is a lower limit of what Theorem 3 is about, the "
                "worst pair of samples, which errs at most twice as much."
            ),
            (
                "Theorem 3 needs K(0) = 1. In its proof the weights of the second sample "
                "lack their minus sign, and the paragraph on the unbiased estimate writes "
                "the probability for the biased one; neither changes the bound. In that of "
                "Theorem 4 the bound within a ball is one for single points, not for a "
                "supremum."
            ),
        ],
    )


_FASTFOOD: Final[tuple[Bound, ...]] = (fastfood_bound_as_printed, fastfood_bound)


def _fastfood_errors(blocks: npt.NDArray[np.int64], bound: Bound) -> list[float]:
    return [fastfood_error(bound, int(block)) for block in blocks]


def _printed(blocks: npt.NDArray[np.int64]) -> list[tuple[float, int]]:
    """Return errors of Theorem 4 as printed with their block sizes."""
    errors = _fastfood_errors(blocks, fastfood_bound_as_printed)
    return list(zip(errors, blocks.tolist(), strict=True))


def _quantile(errors: FloatArray) -> FloatArray:
    return np.asarray(np.quantile(errors, 1.0 - DELTA, axis=0))


def _theorem_3(found: Measured) -> Verdict:
    guaranteed = found.guaranteed
    kinds = {
        "worst": found.worst,
        "biased": np.abs(found.blobs[..., 0]),
        "unbiased": np.abs(found.blobs[..., 1]),
    }
    shares = {name: (errors >= guaranteed).mean(axis=0) for name, errors in kinds.items()}
    looser = {name: guaranteed / _quantile(errors) for name, errors in kinds.items()}
    says = found.sizes[guaranteed < LARGEST]
    first = f"from L = {says[0]} on" if len(says) else "at none of these L"
    return judge(
        "Theorem 3 bounds the error of Fourier, for all samples in a set at once.",
        measured=(
            f"In {len(found.worst)} trials for each L from {found.sizes[0]} to "
            f"{found.sizes[-1]} the guaranteed error was exceeded in "
            f"{percent(max(share.max() for share in shares.values()))} at most. It is "
            f"{times(looser['worst'].min())} to {times(looser['worst'].max())} times the "
            "error of the worst pair of rows, and "
            f"{times(looser['biased'].min())} to {times(looser['biased'].max())} times "
            f"that of the blobs. Below {LARGEST:g}, the largest error there can be, it is "
            f"{first}."
        ),
        rule=(
            f"Holds if errors exceed the bound for {percent(DELTA)} in at most "
            f"{percent(DELTA)} of the trials, at each L, for the worst pair and for blobs, "
            "biased and unbiased."
        ),
        met=[bool(share.max() <= DELTA) for share in shares.values()],
    )


def _rate(found: Measured) -> Verdict:
    slope = power_law(found.sizes, found.worst.mean(axis=0), mean_error(found.worst))
    guaranteed = np.log(found.guaranteed[-1] / found.guaranteed[0])
    theirs = guaranteed / np.log(found.sizes[-1] / found.sizes[0])
    return judge(
        "The error falls uniformly over all samples, like 1/sqrt(L) up to a logarithm.",
        measured=(
            f"The error of the worst pair falls with exponent {slope}, the bound with "
            f"{theirs:.3f}."
        ),
        rule=(
            f"Holds if the exponent is within {_SLOPE_TOLERANCE} of -1/2, up to three "
            "standard errors."
        ),
        met=[slope.agrees(-0.5, _SLOPE_TOLERANCE)],
    )


def _unbiased(found: Measured) -> Verdict:
    scores = np.abs(found.blobs.mean(axis=0) / mean_error(found.blobs))
    return judge(
        "The approximation of FastMMD is unbiased.",
        measured=(
            "The mean error of squared MMD is "
            f"{scores.max():.1f} standard errors from 0 at most, over {scores.size} means."
        ),
        rule=f"Holds if each is at most {_MOST_ERRORS:g} standard errors from 0.",
        met=list((scores <= _MOST_ERRORS).ravel()),
    )


def _theorem_4(found: Measured) -> Verdict:
    printed = np.array(_fastfood_errors(found.blocks, fastfood_bound_as_printed))
    exceeded = (found.fastfood >= printed).mean(axis=0).max()
    applies, smallest, below = _where_theorem_4_applies()
    return judge(
        "Theorem 4 bounds the error of Fastfood.",
        measured=(
            f"Errors exceed the printed bound in {percent(exceeded)} of the trials at "
            f"most. But of {applies} settings that meet its assumption the smallest "
            f"probability that it gives is {smallest:,.0f}, and in {below} it is smaller "
            "than the line of its own proof from which it is derived: the last step of "
            "Appendix A.4 needs log d / (d s^2 e^2) >= 1, and assumes D times that."
        ),
        rule=(
            f"Holds if errors exceed it in at most {percent(DELTA)} of the trials, if it is "
            "below 1 somewhere under its assumption, and never below that line."
        ),
        met=[bool(exceeded <= DELTA), smallest < 1.0, below == 0],
    )


def _where_theorem_4_applies() -> tuple[int, float, int]:
    """Return how often the assumption holds on a grid, and what the bound says there.

    The smallest probability it gives, and how often it is below the line before it.
    """
    applies, smallest, below = 0, np.inf, 0
    for diameter in (1.0, 10.0, 100.0):
        for block in 2 ** np.arange(3, 17):
            for epsilon in np.geomspace(0.01, LARGEST, 25):
                if assumption(epsilon, int(block), diameter=diameter) < 1.0:
                    continue
                printed, before = (
                    bound(
                        epsilon,
                        int(block),
                        bandwidth=1.0,
                        diameter=diameter,
                        capped=False,
                    )
                    for bound in _FASTFOOD
                )
                applies += 1
                smallest = min(smallest, printed)
                below += printed < before
    return applies, smallest, below


def _draw(figure: Any, style: Style, found: Measured) -> None:
    left, right = figure.subplots(1, 2, sharey=True)
    _draw_fourier(left, style, found)
    _draw_fastfood(right, style, found)
    for axes in (left, right):
        axes.set_ylim(1e-4, 60.0)
        log_axis(axes.yaxis, [1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0])
        axes.axhspan(LARGEST, 60.0, color=style.faint, alpha=0.6, lw=0.0, zorder=0)
    left.set_ylabel("error of MMD²")
    left.text(
        found.sizes[-1],
        45.0,
        f"says nothing: no error is above {LARGEST:g}",
        color=style.muted,
        size=8.5,
        ha="right",
        va="top",
    )


def _draw_fourier(axes: Any, style: Style, found: Measured) -> None:
    lines = (
        (found.guaranteed, "Theorem 3", style.ink, ""),
        (_quantile(found.worst), "worst pair of rows", style.first, "o"),
        (_quantile(np.abs(found.blobs[..., 0])), "the blobs", style.third, "v"),
    )
    for errors, label, colour, marker in lines:
        axes.plot(
            found.sizes, errors, color=colour, marker=marker, mec=style.page, lw=2.0
        )
        axes.text(
            found.sizes[0],
            1.35 * errors[0],
            label,
            color=colour,
            weight="bold",
            size=8.5,
            va="bottom",
        )
    # How much larger the bound is.
    for place, (errors, _, colour, _) in zip((-3, -2), lines[1:], strict=True):
        at, top, bottom = found.sizes[place], lines[0][0][place], errors[place]
        axes.annotate(
            "",
            (at, bottom),
            (at, top),
            arrowprops={
                "arrowstyle": "<->",
                "color": colour,
                "lw": 1.2,
                "shrinkA": 3.0,
                "shrinkB": 5.0,
            },
        )
        # Halfway on the logarithmic axis, below the line of the worst pair.
        middle = np.sqrt(min(top, lines[1][0][place] if place == -2 else top) * bottom)
        axes.text(
            0.93 * at,
            middle,
            f"{times(top / bottom)} times",
            color=colour,
            size=8.5,
            ha="right",
            va="center",
        )
    axes.set_title("Fourier")
    axes.set_xlabel("number of frequencies L")
    log_axis(axes.xaxis, found.sizes[::2].tolist(), [f"{n}" for n in found.sizes[::2]])


def _draw_fastfood(axes: Any, style: Style, found: Measured) -> None:
    blocks = 2 ** np.arange(3, 25)
    outside = all(assumption(error, block) < 1.0 for error, block in _printed(blocks))
    labels = (
        "Theorem 4, its assumption violated" if outside else "Theorem 4",
        "its proof, one line earlier",
    )
    for bound, label, dashes in zip(_FASTFOOD, labels, ("-", (0, (4, 2))), strict=True):
        errors = _fastfood_errors(blocks, bound)
        axes.plot(blocks, errors, color=style.ink, lw=2.0, ls=dashes, label=label)
    axes.plot(
        found.blocks,
        _quantile(found.fastfood),
        **style.line("fastfood", label="two opposite rows", lw=2.0),
    )
    axes.set_title("Fastfood")
    axes.set_xlabel("size d of a block, with L = d")
    powers = range(4, 25, 5)
    log_axis(axes.xaxis, [2.0**k for k in powers], [f"$2^{{{k}}}$" for k in powers])
    axes.legend(loc="lower left")


EXPERIMENT = Experiment(
    name="bounds",
    paper="Theorems 3 and 4",
    title="the bounds beside measured errors: how loose they are",
    trials=400,
    quick_trials=40,
    fewest_trials=2,
    run=run,
)
