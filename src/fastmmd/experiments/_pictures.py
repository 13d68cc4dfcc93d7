"""Parts of pictures that several experiments share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastmmd.experiments._style import LOOKS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastmmd.experiments._style import Style


def hollow(style: Style, method: str, /, **changes: Any) -> dict[str, Any]:
    """Return arguments of ``Axes.plot`` for an empty marker of a method."""
    empty = {"markerfacecolor": style.page, "markeredgecolor": style.colour(method)}
    single = {"linestyle": "none", "label": None, "markeredgewidth": 1.3}
    return style.line(method, **empty | single | changes)


def explain_markers(
    axes: Any, style: Style, full: str, empty: str, /, **where: Any
) -> None:
    """Say what full and empty markers mean, in a legend of its own."""
    look = {"color": style.muted, "markersize": 6.5, "linestyle": "none", "marker": "o"}
    (filled,) = axes.plot([], [], **look, label=full)
    (open_one,) = axes.plot(
        [], [], **look | {"color": style.page}, markeredgecolor=style.muted, label=empty
    )
    open_one.set_markeredgewidth(1.3)
    axes.legend(handles=[filled, open_one], **where)


def draw_times(
    axes: Any,
    style: Style,
    seconds: Mapping[str, float],
    paper: Mapping[str, float],
    /,
    *,
    extrapolated: tuple[str, ...] = (),
) -> None:
    """Draw the time of each method, the shortest on top, with the paper's where known.

    What is extrapolated is hollow and says so.
    """
    names = sorted(seconds, key=lambda method: -seconds[method])
    for place, method in enumerate(names):
        took = seconds[method]
        if method in paper:
            axes.plot([took, paper[method]], [place] * 2, color=style.faint, lw=2.5)
            axes.plot(paper[method], place, **hollow(style, method, markersize=6.0))
        guessed = method in extrapolated
        look = {"linestyle": "none", "label": None, "markersize": 8.0}
        marker = hollow(style, method, **look) if guessed else style.line(method, **look)
        axes.plot(took, place, **marker)
        text = short_time(took)
        axes.annotate(
            f"about {text}, extrapolated" if guessed else text,
            (took, place),
            (0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=8.0,
            color=style.colour(method),
        )
    axes.set_xscale("log")
    ends = [*seconds.values(), *(paper[name] for name in names if name in paper)]
    axes.set_xlim(min(ends) / 4.0, max(ends) * 3.0)
    axes.set_yticks(range(len(names)), [LOOKS[method].label for method in names])
    axes.set_ylim(-0.6, len(names) - 0.2)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("seconds")


def short_time(seconds: float, /) -> str:
    """Return a time with two digits and the unit that suits it."""
    if seconds < 0.9995:
        return f"{two_digits(1e3 * seconds)} ms"
    return f"{two_digits(seconds)} s"


def two_digits(number: float, /) -> str:
    """Return a number rounded to two significant digits, written out."""
    return f"{float(f'{number:.2g}'):,g}"
