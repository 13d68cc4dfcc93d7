"""The list of pictures, and what several of them share."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmmd.experiments._experiment import Picture

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastmmd.experiments._style import Style

    Draw = Callable[[Any, Style], None]

ROOT = Path(__file__).parents[2]
WIDTH = 8.6
"""Inches; the width of a page."""

_MAKERS: dict[str, Callable[[], Picture]] = {}
_READ: dict[str, str] = {}


def picture(
    name: str, about: str, /, *, height: float
) -> Callable[[Callable[[], Draw]], Callable[[], Draw]]:
    """Register a function that computes what a picture shows and returns how to draw it.

    `about` says what can be seen, for those who cannot see it.
    """

    def register(compute: Callable[[], Draw]) -> Callable[[], Draw]:
        if name in _MAKERS:
            msg = f"pictures must have names of their own; got {name!r} twice."
            raise ValueError(msg)
        _MAKERS[name] = lambda: Picture(name, about, (WIDTH, height), compute())
        return compute

    return register


def names() -> list[str]:
    """Return the names of all pictures whose modules were imported."""
    return list(_MAKERS)


def make(name: str) -> tuple[Picture, dict[str, str]]:
    """Compute one picture; return it with the digests of the measurements it shows."""
    _READ.clear()
    return _MAKERS[name](), dict(_READ)


def measured(path: str) -> Any:
    """Return a file of measurements, by its path from the root."""
    content = (ROOT / path).read_bytes()
    _READ[path] = hashlib.sha256(content).hexdigest()[:16]
    return json.loads(content)


def relabelled(gram: np.ndarray, n_x: int, n_resamples: int, seed: int) -> np.ndarray:
    """Return the unbiased squared MMD of rows as they are, then of relabelled ones."""
    rng = np.random.default_rng(seed)
    n, m = n_x, len(gram) - n_x
    in_x = np.zeros((n_resamples + 1, n + m))
    in_x[0, :n] = 1.0
    order = np.argsort(rng.random((n_resamples, n + m)), axis=1)[:, :n]
    np.put_along_axis(in_x[1:], order, 1.0, axis=1)
    hollow = gram - np.diag(np.diag(gram))
    sums = in_x @ hollow
    within_x = np.einsum("ij,ij->i", sums, in_x)
    between = np.einsum("ij,ij->i", sums, 1.0 - in_x)
    within_y = hollow.sum() - within_x - 2.0 * between
    return within_x / (n * (n - 1)) + within_y / (m * (m - 1)) - 2.0 * between / (n * m)


def bare(axes: Any) -> None:
    """Leave only what is drawn: no axes, no grid."""
    axes.set(xticks=[], yticks=[])
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def bars(axes: Any, style: Style, values: np.ndarray, edges: Any, **options: Any) -> None:
    """Draw a histogram with a thin line of the page between its bars."""
    look = {
        "color": style.muted,
        "alpha": 0.55,
        "edgecolor": style.page,
        "linewidth": 0.6,
    }
    axes.hist(values, edges, **(look | options))


def remark(
    axes: Any, style: Style, text: str, place: tuple[float, float], **o: Any
) -> None:
    """Write into a picture, in the coordinates of its data unless told otherwise."""
    axes.annotate(text, place, **({"color": style.muted, "fontsize": 8.5} | o))


def arrow(axes: Any, start: Any, end: Any, colour: str, **options: Any) -> None:
    """Draw an arrow in the coordinates of the data."""
    look = {"arrowstyle": "-|>", "color": colour, "lw": 1.8, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=look | options)
