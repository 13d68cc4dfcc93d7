"""Figure 2: two samples on a circle, and the diameter that separates them best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from fastmmd.circular import circular_discrepancy, decision_diameter, objective, project
from fastmmd.experiments._axes import angle_axis
from fastmmd.experiments._circles import TURN, draw_circle, on_circle
from fastmmd.experiments._experiment import (
    Experiment,
    Outcome,
    Picture,
    Settings,
    Table,
    Verdict,
    judge,
)
from fastmmd.experiments._words import small

if TYPE_CHECKING:
    from fastmmd._typing import FloatArray
    from fastmmd.experiments._style import Style

N_ROWS: Final = 60
SHIFT: Final = (1.2, 0.8)
WIDTH: Final = 0.6
FREQUENCY: Final = (1.5, 0.6)

_PLACES = 1440
_ROUNDING = 64 * float(np.finfo(float).eps)
"""Sums of 120 numbers that are at most 1/60, each rounded by a few epsilons."""


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Circle:
    """Two samples on a circle and the objective around it."""

    angles_x: FloatArray
    angles_y: FloatArray
    places: FloatArray
    objective: FloatArray

    def phase(self) -> float:
        """Return theta of Appendix A.5: the objective is ``A sin(t - theta)``."""
        sums = np.exp(1j * self.angles_x).mean() - np.exp(1j * self.angles_y).mean()
        return float(np.angle(sums) % TURN)

    def at(self, place: float) -> float:
        """Return the objective at one place."""
        return float(objective([place], self.angles_x, self.angles_y)[0])


def make_circle(rng: np.random.Generator, /) -> Circle:
    """Return two normal samples, one moved, as one frequency sees them."""
    x, y = WIDTH * rng.standard_normal((2, N_ROWS, 2))
    angles_x, angles_y = project(x, FREQUENCY), project(y + SHIFT, FREQUENCY)
    places = np.linspace(0.0, TURN, _PLACES, endpoint=False)
    return Circle(
        angles_x=angles_x,
        angles_y=angles_y,
        places=places,
        objective=objective(places, angles_x, angles_y),
    )


def closed_form(circle: Circle, /) -> float:
    """Return Claim 5 as written: the root of a sum over all pairs."""
    angles = np.concatenate([circle.angles_x, circle.angles_y])
    masses = np.repeat([1.0 / N_ROWS, -1.0 / N_ROWS], N_ROWS)
    return float(np.sqrt(masses @ np.cos(angles[:, None] - angles) @ masses))


def random_values(circle: Circle, n: int, rng: np.random.Generator, /) -> FloatArray:
    """Return the objective of Definition 2 for `n` random distributions Q.

    Each is spread over one to eight random places with random weights.
    """
    values = np.empty(n)
    for i in range(n):
        places = rng.uniform(0.0, TURN, rng.integers(1, 9))
        weights = rng.dirichlet(np.ones(len(places)))
        values[i] = weights @ objective(places, circle.angles_x, circle.angles_y)
    return values


def run(settings: Settings) -> Outcome:
    """Compute the objective around one circle and check what is said about it."""
    circle = make_circle(settings.rng("rows"))
    values = random_values(circle, settings.trials, settings.rng("distributions"))
    rows = Table(
        "diameter",
        "A row is an angle of the diameter; the objective is that of Definition 2.",
        {"angle_in_radians": circle.places, "objective": circle.objective},
    )
    samples = Table(
        "diameter-samples",
        "A row is a row of data, as an angle on the circle.",
        {
            "sample": ["x"] * N_ROWS + ["y"] * N_ROWS,
            "angle_in_radians": np.concatenate([circle.angles_x, circle.angles_y]),
        },
    )
    return Outcome(
        tables=[rows, samples],
        pictures=[
            Picture(
                "diameter",
                "Two samples on a circle, the diameter that separates them best, a belt "
                "in the colours of the objective, and the objective as a curve.",
                (8.6, 3.9),
                lambda figure, style: _draw(figure, style, circle),
            )
        ],
        verdicts=[
            _claim_5(circle),
            _single_place(circle, values),
            _opposite(circle),
            _place(circle),
        ],
    )


def _claim_5(circle: Circle) -> Verdict:
    discrepancy = circular_discrepancy(circle.angles_x, circle.angles_y)
    pairs = closed_form(circle)
    largest = float(circle.objective.max())
    # Between two places the cosine at the top falls by at most half its square.
    grid = 0.5 * (TURN / _PLACES) ** 2 * discrepancy
    return judge(
        "The circular discrepancy is the root of sum a_i a_j cos(x_i - x_j) (Claim 5).",
        measured=(
            f"It is {discrepancy:.4f}; the sum over pairs differs from it by "
            f"{small(abs(pairs - discrepancy))}, and the largest of {_PLACES} diameters by "
            f"{small(discrepancy - largest)}."
        ),
        rule=(
            "Holds if the pairs agree to rounding, and the diameters to what their number "
            "allows."
        ),
        met=[
            abs(pairs - discrepancy) <= _ROUNDING,
            -_ROUNDING <= discrepancy - largest <= grid + _ROUNDING,
        ],
    )


def _single_place(circle: Circle, values: FloatArray) -> Verdict:
    discrepancy = circular_discrepancy(circle.angles_x, circle.angles_y)
    return judge(
        "The best distribution Q of Definition 2 sits at a single place.",
        measured=(
            f"The largest value of {len(values)} random distributions is "
            f"{values.max():.4f}, that of the single place {discrepancy:.4f}."
        ),
        rule="Holds if no random distribution does better.",
        met=[bool(values.max() <= discrepancy + _ROUNDING)],
    )


def _opposite(circle: Circle) -> Verdict:
    half = _PLACES // 2
    sums = np.abs(circle.objective[:half] + circle.objective[half:])
    diameter = decision_diameter(circle.angles_x, circle.angles_y)
    return judge(
        "The objective changes its sign at the opposite end, so largest and smallest value "
        "lie on one diameter.",
        measured=(
            f"Values at the ends of {half} diameters sum to {small(sums.max())} at most; at "
            f"the best one they are {circle.at(diameter.angle):.4f} and "
            f"{circle.at(diameter.opposite):.4f}."
        ),
        rule="Holds if all sums are 0 to rounding.",
        met=[bool(sums.max() <= _ROUNDING)],
    )


def _place(circle: Circle) -> Verdict:
    theta = circle.phase()
    discrepancy = circular_discrepancy(circle.angles_x, circle.angles_y)
    there, right = circle.at(theta), circle.at(theta + 0.25 * TURN)
    return judge(
        "The supremum is taken at theta = atan2(sum a_i sin x_i, sum a_i cos x_i) "
        "(Appendix A.5).",
        measured=(
            f"The objective is {small(there)} at theta = {theta:.3f} and {right:.4f} a quarter "
            "turn further. It is A sin(t - theta), so its largest value is at "
            "theta + pi/2: a slip of the paper."
        ),
        rule="Holds if the objective at theta is the discrepancy, to rounding.",
        met=[abs(there - discrepancy) <= _ROUNDING],
    )


def _draw(figure: Any, style: Style, circle: Circle) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.25))
    colours = _colours(circle)
    _draw_belt(left, style, circle, colours)
    _draw_curve(right, style, circle, colours)


def _colours(circle: Circle) -> dict[str, Any]:
    """Return light colours for high values and dark ones for low values, as in the paper."""
    from matplotlib import colormaps
    from matplotlib.colors import Normalize

    largest = float(np.abs(circle.objective).max())
    # The darkest part of the map would vanish on a dark page.
    return {"cmap": colormaps["cividis"], "norm": Normalize(-1.25 * largest, largest)}


def _draw_belt(axes: Any, style: Style, circle: Circle, colours: dict[str, Any]) -> None:
    from matplotlib.collections import PolyCollection

    draw_circle(axes, style, circle.angles_x, circle.angles_y, marker_size=20, reach=1.4)
    # Four places share a patch, drawn a little too long so that no gaps show.
    width = 4 * TURN / _PLACES
    starts, values = circle.places[::4], circle.objective[2::4]
    corners = [
        on_circle(starts + turn * width, radius)
        for turn, radius in ((0.0, 1.18), (1.2, 1.18), (1.2, 1.34), (0.0, 1.34))
    ]
    patches = np.stack([np.stack(corner, axis=-1) for corner in corners], axis=1)
    axes.add_collection(
        PolyCollection(list(patches), array=values, linewidths=0.0, **colours)
    )
    best = decision_diameter(circle.angles_x, circle.angles_y)
    labels = (
        (best.angle, 1.26, "+", "#000000"),
        (best.opposite, 1.26, "\N{MINUS SIGN}", "#ffffff"),
        (best.angle - 0.25 * TURN, 0.7, "x", style.first),
        (best.angle + 0.25 * TURN, 0.7, "y", style.second),
    )
    for angle, radius, text, colour in labels:
        axes.text(
            *on_circle(angle, radius),
            text,
            color=colour,
            weight="bold",
            size=13,
            ha="center",
            va="center",
        )
    axes.set_title("On the circle of one frequency")


def _draw_curve(axes: Any, style: Style, circle: Circle, colours: dict[str, Any]) -> None:
    from matplotlib.collections import LineCollection

    theta = circle.phase()
    best = decision_diameter(circle.angles_x, circle.angles_y)
    points = np.column_stack([circle.places, circle.objective])[::4]
    axes.plot(*points.T, color=style.ink, lw=6.0, solid_capstyle="round")
    axes.add_collection(
        LineCollection(
            list(np.stack([points[:-1], points[1:]], axis=1)),
            array=points[:-1, 1],
            lw=4.0,
            capstyle="round",
            zorder=3,
            **colours,
        )
    )
    axes.axhline(0.0, color=style.muted, lw=0.8)
    largest = best.discrepancy
    axes.set(ylim=(-1.45 * largest, 1.45 * largest), xlabel="end of the diameter, t")
    axes.set_title("The objective around it")
    angle_axis(axes)
    # Labels keep to the half of the panel in which the curve is not.
    for place, value, text, colour in (
        (best.angle, largest, "θ + π/2: the largest value, A", style.third),
        (theta, 0.0, "θ: where the proof\nof Claim 5 puts it", style.muted),
    ):
        axes.plot(
            place, value, "o", ms=9.0, mfc=style.page, mec=colour, mew=2.2, zorder=5
        )
        axes.annotate(
            text,
            (place, value),
            (-8, 34) if place > np.pi else (10, 14),
            textcoords="offset points",
            color=colour,
            ha="right" if place > np.pi else "left",
            va="bottom",
        )


EXPERIMENT = Experiment(
    name="diameter",
    paper="Figure 2",
    title="two samples on a circle, and the diameter that separates them best",
    trials=1000,
    quick_trials=100,
    run=run,
)
