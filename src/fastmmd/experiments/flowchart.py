"""Figure 3: from two samples over circles to the MMD, with computed values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from fastmmd._mmd import mmd
from fastmmd.circular import decision_diameter, ensemble, project
from fastmmd.estimators import Exact
from fastmmd.experiments._axes import log_axis
from fastmmd.experiments._circles import draw_circle
from fastmmd.experiments._experiment import (
    Experiment,
    Outcome,
    Picture,
    Settings,
    Table,
    Verdict,
    judge,
)
from fastmmd.experiments._words import percent
from fastmmd.kernels import Gaussian

if TYPE_CHECKING:
    from fastmmd._typing import FloatArray
    from fastmmd.experiments._style import Style

N_ROWS: Final = 400
KERNEL: Final = Gaussian(1.0)
BANDWIDTHS: Final = 10.0 ** (np.arange(-10, 11) / 5.0)

_CIRCLES = 6
_ROWS_SHOWN = 60
_FREQUENCIES_SHOWN = 500
_SMALL = 0.5


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """One ensemble with everything that goes into it.

    Parameters
    ----------
    x, y : ndarray of shape (n, 2)
        The samples.
    frequencies : ndarray of shape (n_frequencies, 2)
        Independent draws of the kernel's law.
    discrepancies : ndarray of shape (n_frequencies,)
        The circular discrepancy of each.
    exact : float
        The biased MMD from all pairs.
    by_bandwidth : ndarray
        The biased MMD for each of `BANDWIDTHS`.
    correct : float
        Share of other rows that the vote of all diameters puts to the right sample.
    """

    x: FloatArray
    y: FloatArray
    frequencies: FloatArray
    discrepancies: FloatArray
    exact: float
    by_bandwidth: FloatArray
    correct: float

    def running(self) -> FloatArray:
        """Return the ensemble of the first 1, 2, 3, ... frequencies."""
        counts = np.arange(1, len(self.discrepancies) + 1)
        return np.sqrt(np.cumsum(self.discrepancies**2) / counts)


def two_samples(
    n_rows: int, rng: np.random.Generator, /
) -> tuple[FloatArray, FloatArray]:
    """Return a tilted and a round cloud, one and a half apart."""
    x, y = rng.standard_normal((2, n_rows, 2))
    tilt = np.array([[0.9, 0.5], [0.0, 0.6]])
    return x @ tilt, 0.65 * y + (1.3, 0.8)


def vote(
    x: FloatArray, y: FloatArray, rows: FloatArray, frequencies: FloatArray, /
) -> FloatArray:
    """Return for each row by how much the diameters of all frequencies put it with x.

    A row counts with its sine to the diameter, weighted by the discrepancy.
    """
    total = np.zeros(len(rows))
    for angles_x, angles_y, angles in zip(
        project(x, frequencies).T,
        project(y, frequencies).T,
        project(rows, frequencies).T,
        strict=True,
    ):
        best = decision_diameter(angles_x, angles_y)
        total += best.discrepancy * np.sin(best.angle - angles)
    return total


def measure(settings: Settings, /) -> Measured:
    """Compute one ensemble of as many frequencies as there are trials."""
    x, y = two_samples(N_ROWS, settings.rng("rows"))
    found = ensemble(
        x,
        y,
        kernel=KERNEL,
        n_frequencies=settings.trials,
        sampling="iid",
        rng=settings.rng("frequencies"),
    )
    by_bandwidth = [
        mmd(x, y, kernel=Gaussian(s), method=Exact(), estimator="biased").mmd
        for s in settings.track(BANDWIDTHS.tolist(), "Bandwidths")
    ]
    new_x, new_y = two_samples(N_ROWS, settings.rng("other rows"))
    few = found.frequencies[:256]
    right = [vote(x, y, new_x, few) > 0.0, vote(x, y, new_y, few) < 0.0]
    return Measured(
        x=x,
        y=y,
        frequencies=found.frequencies,
        discrepancies=found.discrepancies,
        exact=mmd(x, y, kernel=KERNEL, method=Exact(), estimator="biased").mmd,
        by_bandwidth=np.array(by_bandwidth),
        correct=float(np.mean(right)),
    )


def run(settings: Settings) -> Outcome:
    """Compute an ensemble and draw its parts."""
    found = measure(settings)
    circles = Table(
        "flowchart",
        "A row is a frequency, its circle, and the ensemble of all frequencies up to it.",
        {
            "frequency_1": found.frequencies[:, 0],
            "frequency_2": found.frequencies[:, 1],
            "circular_discrepancy": found.discrepancies,
            "ensemble_so_far": found.running(),
        },
    )
    bandwidths = Table(
        "flowchart-bandwidth",
        "A row is a bandwidth of the Gaussian kernel.",
        {"bandwidth": BANDWIDTHS, "biased_mmd": found.by_bandwidth},
    )
    return Outcome(
        tables=[circles, bandwidths],
        pictures=[
            Picture(
                "flowchart",
                "Two samples and the frequencies of the kernel; the circles of six "
                "frequencies with their diameters and discrepancies; the ensemble, which "
                "comes to the exact MMD as frequencies are added.",
                (8.6, 4.8),
                lambda figure, style: _draw(figure, style, found),
            )
        ],
        verdicts=[_claim_6(found), _bandwidth(found), _classifier(found)],
        notes=[
            (
                "Claim 6 takes K(0) = 1; otherwise the square of the ensemble must be "
                "multiplied by K(0). The Gaussian density of section 2.2 lacks the factor "
                "sigma^d, which its text calls proper scaling."
            )
        ],
    )


def _claim_6(found: Measured) -> Verdict:
    squares = found.discrepancies**2
    error = squares.std(ddof=1) / np.sqrt(len(squares))
    score = (squares.mean() - found.exact**2) / error
    return judge(
        "The ensemble of circular discrepancies is the MMD (Claim 6).",
        measured=(
            f"Over {len(squares):,} frequencies it is {found.running()[-1]:.4f}, the biased "
            f"MMD from all pairs {found.exact:.4f}; the squares are {abs(score):.1f} "
            "standard errors apart."
        ),
        rule="Holds if the squares are at most 3 standard errors apart.",
        met=[bool(abs(score) <= 3.0)],
    )


def _bandwidth(found: Measured) -> Verdict:
    values = found.by_bandwidth
    best = int(values.argmax())
    shares = values[[0, -1]] / values[best]
    return judge(
        "The ensemble is small for very small and for very large bandwidths.",
        measured=(
            f"It is largest, {values[best]:.3f}, at bandwidth {BANDWIDTHS[best]:.2g}; at "
            f"{BANDWIDTHS[0]:g} it is {percent(shares[0])} of that and at "
            f"{BANDWIDTHS[-1]:g} {percent(shares[1])}. At the small end what is left is "
            f"the bias of {N_ROWS} rows each, {np.sqrt(2.0 / N_ROWS):.3f}."
        ),
        rule=f"Holds if it is below {percent(_SMALL)} of its largest value at both ends.",
        met=list(shares < _SMALL),
    )


def _classifier(found: Measured) -> Verdict:
    error = 0.5 / np.sqrt(2 * N_ROWS)
    return judge(
        "The circular discrepancy constructs classifiers implicitly.",
        measured=(
            f"The diameters of 256 frequencies together put {percent(found.correct)} of "
            f"{2 * N_ROWS} new rows to the right sample."
        ),
        rule="Holds if that is more than half of them by 3 standard errors.",
        met=[found.correct > 0.5 + 3.0 * error],
    )


def _draw(figure: Any, style: Style, found: Measured) -> None:
    widths = np.array([1.0, 1.65, 1.2])
    left, middle, right = figure.subfigures(1, 3, width_ratios=widths, wspace=0.07)
    _draw_input(left, style, found)
    _draw_circles(middle, style, found)
    _draw_ensemble(right, style, found)
    for border in np.cumsum(widths)[:-1] / widths.sum():
        figure.text(
            border, 0.5, "➜", color=style.muted, size=18, ha="center", va="center"
        )


def _draw_input(figure: Any, style: Style, found: Measured) -> None:
    data, spectrum = figure.subplots(2, 1)
    for rows, colour in ((found.x, style.first), (found.y, style.second)):
        data.scatter(
            *rows.T, s=4.0, color=colour, alpha=0.8, linewidths=0.0, rasterized=True
        )
    data.set_title("Two samples")
    spectrum.scatter(
        *found.frequencies[:_FREQUENCIES_SHOWN].T,
        s=3.0,
        color=style.muted,
        alpha=0.5,
        linewidths=0.0,
        rasterized=True,
    )
    for number, place in enumerate(found.frequencies[:_CIRCLES], 1):
        spectrum.plot(*place, "o", ms=10.0, color=style.third, mec=style.page)
        spectrum.text(
            *place,
            f"{number}",
            color=style.page,
            size=7.5,
            weight="bold",
            ha="center",
            va="center_baseline",
        )
    spectrum.set_title("Kernel's frequencies")
    for axes in (data, spectrum):
        axes.set_aspect("equal", adjustable="datalim")
        axes.tick_params(labelbottom=False, labelleft=False, length=0.0)


def _draw_circles(figure: Any, style: Style, found: Measured) -> None:
    figure.suptitle(
        "A circle for each frequency", size=10.5, weight="bold", color=style.ink
    )
    for number, axes in enumerate(figure.subplots(3, 2).ravel(), 1):
        frequency = found.frequencies[number - 1]
        draw_circle(
            axes,
            style,
            project(found.x[:_ROWS_SHOWN], frequency),
            project(found.y[:_ROWS_SHOWN], frequency),
            marker_size=7.0,
        )
        axes.text(
            -1.15,
            1.0,
            f"{number}",
            color=style.third,
            weight="bold",
            ha="center",
        )
        axes.text(
            0.0,
            -1.2,
            f"η = {found.discrepancies[number - 1]:.2f}",
            ha="center",
            va="top",
        )


def _draw_ensemble(figure: Any, style: Style, found: Measured) -> None:
    running, bandwidth = figure.subplots(2, 1)
    values = found.running()
    running.plot(np.arange(1, len(values) + 1), values, color=style.third, lw=1.8)
    running.axhline(
        found.exact, color=style.ink, lw=1.2, ls=(0, (4, 3)), label="exact MMD"
    )
    running.legend(loc="upper right")
    running.set_title("Root mean square of η")
    running.set_xlabel("circles")
    log_axis(running.xaxis, [1, 10, 100, 1000])
    bandwidth.plot(BANDWIDTHS, found.by_bandwidth, color=style.ink, lw=1.8)
    bandwidth.plot(
        KERNEL.bandwidth, found.exact, "o", color=style.third, mec=style.page, ms=8.0
    )
    bandwidth.set_title("The same by bandwidth")
    bandwidth.set_xlabel("bandwidth")
    bandwidth.set_ylim(bottom=0.0)
    log_axis(bandwidth.xaxis, [0.01, 0.1, 1.0, 10.0, 100.0])


EXPERIMENT = Experiment(
    name="flowchart",
    paper="Figure 3",
    title="from two samples over circles to the MMD, with computed values",
    trials=2000,
    quick_trials=500,
    fewest_trials=_CIRCLES,
    run=run,
)
