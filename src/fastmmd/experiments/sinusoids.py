"""Figure 1: the amplitude of combined sinusoids, directly and one after the other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmmd.experiments._experiment import (
    Experiment,
    Outcome,
    Picture,
    Settings,
    Table,
    judge,
)

if TYPE_CHECKING:
    from fastmmd._typing import FloatArray
    from fastmmd.experiments._style import Style

_SHOWN = 4
"""Rows of each sample in the picture."""


def direct(phases: FloatArray, weights: FloatArray, /) -> float:
    """Return the amplitude of ``sum_i a_i sin(t - phase_i)`` from all pairs.

    ``A^2 = sum_ij a_i a_j cos(phase_i - phase_j)``, summed without rounding.
    """
    cosines = np.cos(phases[:, None] - phases)
    return math.sqrt(math.fsum((weights[:, None] * weights * cosines).ravel()))


def sequential(phases: FloatArray, weights: FloatArray, /) -> FloatArray:
    """Return amplitude and phase of the sum after each sinusoid: N steps, two numbers kept.

    Harmonic addition: ``A sin(t - theta) + a sin(t - phase)`` is a sinusoid again.
    """
    steps = np.empty((len(phases), 2))
    amplitude = theta = 0.0
    for i, (phase, weight) in enumerate(zip(phases, weights, strict=True)):
        along = amplitude * math.cos(theta) + weight * math.cos(phase)
        across = amplitude * math.sin(theta) + weight * math.sin(phase)
        amplitude, theta = math.hypot(along, across), math.atan2(across, along)
        steps[i] = amplitude, theta
    return steps


def two_samples(
    n_rows: int, rng: np.random.Generator, /
) -> tuple[FloatArray, FloatArray]:
    """Return phases and weights of two samples of `n_rows` rows at one frequency.

    Rows are normal in two columns, one apart; the frequency is one of the Gaussian kernel
    of bandwidth 1. Weights are those of the biased MMD: 1/n and -1/n, in turns.
    """
    frequency = rng.standard_normal(2)
    rows = rng.standard_normal((2 * n_rows, 2))
    weights = np.tile([1.0, -1.0], n_rows) / n_rows
    rows[weights < 0.0, 0] += 1.0
    return rows @ frequency, weights


def run(settings: Settings) -> Outcome:
    """Compare the two ways for growing samples, and draw them for a small one."""
    sizes = [2**k for k in range(1, 9 if settings.quick else 12)]
    rows = []
    for n in settings.track(sizes, "Sums of sinusoids"):
        phases, weights = two_samples(n, settings.rng("rows", n))
        from_pairs = direct(phases, weights)
        one_by_one = float(sequential(phases, weights)[-1, 0])
        rows.append(
            {
                "sinusoids": 2 * n,
                "amplitude_from_pairs": from_pairs,
                "amplitude_one_by_one": one_by_one,
                "relative_difference": abs(one_by_one - from_pairs) / from_pairs,
                "terms_from_pairs": (2 * n) ** 2,
                "steps_one_by_one": 2 * n,
                # Rounding of N weights of 1/n by eps each, and of the steps that add them.
                "rounding_bound": 2 * n * np.finfo(float).eps / from_pairs,
            }
        )
    found = Table.from_rows(
        "sinusoids", "A row is one pair of samples at one frequency.", rows
    )
    worst = max(row["relative_difference"] for row in rows)
    within = [row["relative_difference"] <= row["rounding_bound"] for row in rows]
    last = rows[-1]
    phases, weights = two_samples(_SHOWN, settings.rng("shown"))
    steps = sequential(phases, weights)
    times = np.linspace(0.0, 2.0 * np.pi, 721)
    curves = weights[:, None] * np.sin(times - phases[:, None])
    amplitude, theta = steps[-1]
    fit = np.abs(curves.sum(axis=0) - amplitude * np.sin(times - theta)).max()
    verdicts = [
        judge(
            "A combination of N sinusoids of one frequency is a sinusoid A sin(t - theta) "
            "with A^2 = sum a_i a_j cos(phase_i - phase_j).",
            measured=(
                f"For the {2 * _SHOWN} sinusoids shown the sum differs from "
                f"A sin(t - theta) by {fit:.0e} at most."
            ),
            rule=f"Holds if they differ by at most {_SUM_BOUND:.0e} at 721 times.",
            met=[fit <= _SUM_BOUND],
        ),
        judge(
            "The amplitude can be found one sinusoid at a time, in linear time.",
            measured=(
                f"From {rows[0]['sinusoids']} to {last['sinusoids']} sinusoids the two "
                f"amplitudes differ by {worst:.0e} of their value at most; the last takes "
                f"{last['terms_from_pairs']:,} terms in pairs and "
                f"{last['steps_one_by_one']:,} steps in sequence."
            ),
            rule="Holds if every difference is within rounding: N machine epsilons / A.",
            met=within,
        ),
    ]
    picture = Picture(
        "sinusoids",
        "Eight weighted sinusoids and their sum, which is a sinusoid; the same sum as a "
        "chain of arrows, one for each sinusoid.",
        (8.6, 3.7),
        lambda figure, style: _draw(figure, style, phases, weights, steps),
    )
    return Outcome(tables=[found], pictures=[picture], verdicts=verdicts)


_SUM_BOUND = 2 * _SHOWN * float(np.finfo(float).eps)
"""Eight terms of at most 1/4: each is rounded by far less than one epsilon."""


def _draw(
    figure: Any, style: Style, phases: FloatArray, weights: FloatArray, steps: FloatArray
) -> None:
    waves, chain = figure.subplots(1, 2, width_ratios=(1.75, 1.0))
    _draw_waves(waves, style, phases, weights, steps)
    _draw_chain(chain, style, weights, steps)


def _draw_waves(
    axes: Any, style: Style, phases: FloatArray, weights: FloatArray, steps: FloatArray
) -> None:
    times = np.linspace(0.0, 2.0 * np.pi, 361)
    for phase, weight in zip(phases, weights, strict=True):
        colour = style.first if weight > 0.0 else style.second
        axes.plot(times, weight * np.sin(times - phase), color=colour, lw=1.0, alpha=0.75)
    amplitude, theta = steps[-1]
    axes.plot(times, amplitude * np.sin(times - theta), color=style.ink, lw=2.4)
    top = (theta + np.pi / 2.0) % (2.0 * np.pi)
    axes.plot([top, top], [0.0, amplitude], color=style.third, lw=1.4)
    axes.annotate(
        "A",
        (top, 0.5 * amplitude),
        (6, 0),
        textcoords="offset points",
        color=style.third,
        weight="bold",
        va="center",
    )
    axes.set(title="Sinusoids of two samples, and their sum", xlim=(0.0, 2.0 * np.pi))
    axes.set_xticks(np.pi * np.arange(5) / 2, ["0", "π/2", "π", "3π/2", "2π"])
    axes.set_xlabel("t")


def _draw_chain(axes: Any, style: Style, weights: FloatArray, steps: FloatArray) -> None:
    ends = np.vstack(
        [
            [0.0, 0.0],
            steps[:, :1] * np.column_stack([np.cos(steps[:, 1]), np.sin(steps[:, 1])]),
        ]
    )
    for start, end, weight in zip(ends[:-1], ends[1:], weights, strict=True):
        colour = style.first if weight > 0.0 else style.second
        axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": colour})
    axes.annotate(
        "",
        ends[-1],
        ends[0],
        arrowprops={"arrowstyle": "-|>", "color": style.third, "lw": 2.2},
    )
    axes.plot(*ends.T, alpha=0.0)
    axes.set(title="The same sum, step by step")
    axes.set_aspect("equal")


EXPERIMENT = Experiment(
    name="sinusoids",
    paper="Figure 1",
    title="the amplitude of combined sinusoids, directly and one after the other",
    run=run,
)
