"""How pictures look: light and dark, one colour for each method in all of them.

The door to matplotlib. Figures are made by its object interface, without pyplot, so nothing
of the user's own plotting changes; and from its defaults, so nothing of the user's own
settings changes them.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, final

from fastmmd._errors import MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from fastmmd.experiments._experiment import Picture

_DOTS_PER_INCH = 200


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How one method is drawn: by colour, marker and line, as not all eyes see colour."""

    label: str
    light: str
    dark: str
    marker: str = "o"
    line: str | tuple[int, tuple[float, ...]] = "-"


LOOKS: Mapping[str, Look] = {
    # Estimators. Hues after Okabe and Ito, darker on white and lighter on black.
    "exact": Look(label="Exact", light="#1a1a1a", dark="#f2f2f2", marker="D"),
    "fourier": Look(label="Fourier", light="#0072b2", dark="#56b4e9", marker="o"),
    "fastfood": Look(label="Fastfood", light="#d55e00", dark="#ff8b3d", marker="s"),
    "orthogonal": Look(label="Orthogonal", light="#a8518a", dark="#e39ac6", marker="^"),
    "sobol": Look(label="Sobol", light="#008a64", dark="#2ecc9b", marker="v"),
    "grid": Look(label="Grid", light="#a67c00", dark="#f0e442", marker="P"),
    "linear": Look(label="MMD-linear", light="#7f7f7f", dark="#a6a6a6", marker="X"),
    "block": Look(label="B-test", light="#5b6fb5", dark="#aab6ee", marker="h"),
    "textbook": Look(
        label="Exact, NumPy",
        light="#1a1a1a",
        dark="#f2f2f2",
        marker="d",
        line=(0, (4, 2)),
    ),
    "sketch": Look(label="Sketches", light="#008a64", dark="#2ecc9b", marker="*"),
    # Tests: what a test is built on has its colour.
    "fastmmd": Look(label="FastMMD", light="#0072b2", dark="#56b4e9", marker="o"),
    "bootstrap": Look(label="Bootstrap", light="#1a1a1a", dark="#f2f2f2", marker="D"),
    "pearson": Look(label="Pearson", light="#a8518a", dark="#e39ac6", marker="^"),
    "spectrum": Look(label="Spectrum", light="#a67c00", dark="#f0e442", marker="P"),
    "gamma": Look(label="Gamma", light="#7f7f7f", dark="#a6a6a6", marker="X"),
    "adaptive": Look(label="Adaptive", light="#008a64", dark="#2ecc9b", marker="v"),
    "bins": Look(label="Binned", light="#d55e00", dark="#ff8b3d", marker="s"),
}


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """The colours of one variant of the pictures.

    Attributes
    ----------
    name : {"light", "dark"}
        For which pages.
    ink, muted, faint : str
        Text and axes; remarks; grid lines and outlines.
    page : str
        The colour of the page, for what must cover something, and the background of PNG
        files, which are looked at on their own; SVG files have none.
    first, second, third : str
        The two samples, and what is said about both.
    """

    name: Literal["light", "dark"]
    ink: str
    muted: str
    faint: str
    page: str
    first: str
    second: str
    third: str
    suffix: str = field(repr=False)

    def colour(self, method: str, /) -> str:
        """Return the colour of a method."""
        look = LOOKS[method]
        return look.light if self.name == "light" else look.dark

    def line(self, method: str, /, **changes: Any) -> dict[str, Any]:
        """Return arguments of ``Axes.plot`` for the line of a method."""
        look = LOOKS[method]
        return {
            "label": look.label,
            "color": self.colour(method),
            "marker": look.marker,
            "linestyle": look.line,
            "markeredgecolor": self.page,
        } | changes

    def parameters(self) -> dict[str, Any]:
        """Return settings of matplotlib."""
        return {
            "figure.facecolor": "none",
            "savefig.facecolor": "none",
            "axes.facecolor": "none",
            "font.family": "DejaVu Sans",
            "font.size": 9.5,
            "text.color": self.ink,
            "axes.titlesize": 10.5,
            "axes.titleweight": "bold",
            "axes.titlelocation": "left",
            "axes.titlepad": 8.0,
            "axes.labelcolor": self.ink,
            "axes.labelsize": 9.5,
            "axes.edgecolor": self.muted,
            "axes.linewidth": 0.8,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "grid.color": self.faint,
            "grid.linewidth": 0.6,
            "xtick.color": self.muted,
            "ytick.color": self.muted,
            "xtick.labelcolor": self.ink,
            "ytick.labelcolor": self.ink,
            "xtick.labelsize": 8.5,
            "ytick.labelsize": 8.5,
            "xtick.minor.visible": False,
            "ytick.minor.visible": False,
            "legend.frameon": False,
            "legend.fontsize": 8.5,
            "lines.linewidth": 1.6,
            "lines.markersize": 5.0,
            "lines.markeredgewidth": 0.6,
            "errorbar.capsize": 2.0,
            # The same bytes for the same picture: ids from a fixed salt, letters as shapes.
            "svg.hashsalt": "fastmmd",
            "svg.fonttype": "path",
        }


LIGHT = Style(
    name="light",
    ink="#1f2328",
    muted="#6a737d",
    faint="#dde1e6",
    page="#ffffff",
    first="#0072b2",
    second="#d55e00",
    third="#008a64",
    suffix="",
)
DARK = Style(
    name="dark",
    ink="#e6e8eb",
    muted="#9aa4af",
    faint="#333a43",
    page="#14181e",
    first="#56b4e9",
    second="#ff8b3d",
    third="#2ecc9b",
    suffix="-dark",
)
STYLES = (LIGHT, DARK)


def require_matplotlib() -> None:
    """Raise if matplotlib is not there, before anything is computed for its pictures."""
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError as error:
        msg = 'pictures need matplotlib: pip install "fastmmd[experiments]"'
        raise MissingDependencyError(msg) from error


def save(picture: Picture, folder: Path, /) -> list[Path]:
    """Draw a picture in every style, as PNG and as SVG, and return the files."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    files = []
    for style in STYLES:
        with _using(style):
            figure = Figure(figsize=picture.size, layout="constrained")
            FigureCanvasAgg(figure)
            picture.draw(figure, style)
            for ending, ground, metadata in (
                ("png", style.page, {"Software": None}),
                # Without a date, so that the same picture is the same file.
                ("svg", "none", {"Date": None, "Creator": None, "Title": picture.about}),
            ):
                path = folder / f"{picture.name}{style.suffix}.{ending}"
                figure.savefig(
                    path, dpi=_DOTS_PER_INCH, facecolor=ground, metadata=metadata
                )
                files.append(path)
    return files


@contextlib.contextmanager
def _using(style: Style) -> Iterator[None]:
    """Draw by matplotlib's own defaults and those of a style, and put back what was."""
    import matplotlib.style

    with matplotlib.style.context(["default", style.parameters()]):
        yield
