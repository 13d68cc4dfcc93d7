"""Kernels: their shapes, and what a bandwidth sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from catalogue import bare, picture

import fastmmd
from fastmmd.bandwidth import median_bandwidth
from fastmmd.experiments._data import blobs

if TYPE_CHECKING:
    from catalogue import Draw

    from fastmmd.experiments._style import Style

SHAPES = {
    "Gaussian(1)": fastmmd.Gaussian(1.0),
    "Matern(1, nu=1.5)": fastmmd.Matern(1.0, nu=1.5),
    "Matern(1, nu=0.5), Laplace(1)": fastmmd.Matern(1.0, nu=0.5),
    "RationalQuadratic(1, alpha=0.5)": fastmmd.RationalQuadratic(1.0, alpha=0.5),
    "Cauchy(1)": fastmmd.Cauchy(1.0),
}


@picture(
    "kernel-shapes",
    "Five kernels as functions of the distance in one column. The Gaussian is round at 0 "
    "and falls off fast; Matern kernels have a sharper top; the rational quadratic and "
    "Cauchy kernels have long tails.",
    height=3.0,
)
def shapes() -> Draw:
    """One column, where the radial and the product kernels agree."""
    distances = np.linspace(-4.0, 4.0, 401)
    values = {name: kernel(distances[:, None]) for name, kernel in SHAPES.items()}

    def draw(figure: Any, style: Style) -> None:
        axes = figure.subplots()
        colours = ("fourier", "orthogonal", "fastfood", "sobol", "grid")
        lines = ("-", "--", "-", "--", ":")
        for (name, value), colour, line in zip(
            values.items(), colours, lines, strict=True
        ):
            axes.plot(distances, value, color=style.colour(colour), ls=line, label=name)
        axes.set(
            title="Kernels of bandwidth 1, in one column", xlim=(-4, 4), ylim=(0, 1.03)
        )
        axes.set_xlabel("difference between two rows")
        axes.legend()

    return draw


@picture(
    "bandwidths",
    "Two kinds of data with, below each, the power of a test by its bandwidth. For a shifted "
    "cloud the power is high at the median distance and falls for smaller bandwidths; for a "
    "grid of blobs it is low at the median and high only near a twelfth of it. A line shows "
    "the adaptive test, near the best bandwidth in both.",
    height=5.0,
)
def bandwidths() -> Draw:
    """Power by bandwidth, from some runs each."""
    n, runs = 500, 50
    factors = 2.0 ** np.arange(1.0, -6.0, -1.0)

    def shifted(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return rng.normal(size=(n, 2)), rng.normal(size=(n, 2)) + np.array([0.2, 0.0])

    def spots(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return blobs(n, 6.0, rng)

    found = []
    for title, make in (("One cloud, shifted", shifted), ("Blobs, turned", spots)):
        rates = np.zeros(len(factors))
        adaptive = 0.0
        for run in range(runs):
            rng = np.random.default_rng([7, run])
            x, y = make(rng)
            median = median_bandwidth(x, y, rng=0)
            options = {"n_resamples": 199, "rng": run, "n_threads": 1}
            for i, factor in enumerate(factors):
                kernel = fastmmd.Gaussian(factor * median)
                test = fastmmd.two_sample_test(x, y, kernel=kernel, **options)
                rates[i] += test.rejects(0.05) / runs
            adaptive += fastmmd.two_sample_test(x, y, **options).rejects(0.05) / runs
        found.append((title, make(np.random.default_rng(1)), rates, adaptive))

    def draw(figure: Any, style: Style) -> None:
        axes = figure.subplots(2, 2, height_ratios=(1.25, 1.0))
        for k, (title, samples, rates, adaptive) in enumerate(found):
            top, below = axes[:, k]
            for rows, colour in zip(samples, (style.first, style.second), strict=True):
                top.plot(
                    *rows[:350].T, ".", ms=3.0, color=colour, alpha=0.8, rasterized=True
                )
            top.set(title=title)
            top.set_aspect("equal")
            bare(top)
            line = style.line("exact", label="one kernel", ms=4)
            below.plot(factors, rates, **line)
            line = style.line("adaptive", label="adaptive", marker="", lw=2.2)
            below.plot(factors[[0, -1]], [adaptive] * 2, **line)
            below.set(xscale="log", ylim=(-0.03, 1.05), ylabel="power")
            ticks = 2.0 ** np.arange(1, -6, -1)
            names = ["2", "1", "1/2", "1/4", "1/8", "1/16", "1/32"]
            below.set_xticks(ticks, names)
            below.minorticks_off()
            below.set_xlabel("bandwidth, in median distances")
        axes[1, 0].legend(loc="upper left")

    return draw
