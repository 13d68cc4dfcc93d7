"""Reading a result: effect sizes, and how p-values fall while effects stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from catalogue import picture, remark

import fastmmd

if TYPE_CHECKING:
    from catalogue import Draw

    from fastmmd.experiments._style import Style

SHIFTS = (0.2, 0.5, 0.8, 2.0)


@picture(
    "effect-sizes",
    "Four pairs of bell curves, further and further apart, by 0.2, 0.5, 0.8 and 2 standard "
    "deviations, with the effect size of each pair, from less than 0.1 to more than 0.5.",
    height=2.1,
)
def effect_sizes() -> Draw:
    """One normal column, moved; 400,000 rows, so that chance plays no part."""
    values = np.linspace(-3.5, 5.5, 121)
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 200_000))
    found = []
    for shift in SHIFTS:
        result = fastmmd.two_sample_test(x, noise + shift, kernel="gaussian", rng=0)
        found.append((shift, result.effect_size))

    def draw(figure: Any, style: Style) -> None:
        every = figure.subplots(1, len(found), sharey=True)
        for axes, (shift, effect) in zip(every, found, strict=True):
            for centre, colour in ((0.0, style.first), (shift, style.second)):
                curve = np.exp(-0.5 * (values - centre) ** 2)
                axes.fill_between(values, curve, color=colour, alpha=0.25, lw=0)
                axes.plot(values, curve, color=colour)
            axes.set(
                title=f"effect size {effect:.2f}", xticks=[], yticks=[], ylim=(0, 1.1)
            )
            axes.set_xlabel(f"{shift:g} standard deviations", fontsize=8.5)
            axes.spines["left"].set_visible(False)

    return draw


@picture(
    "pvalue-and-effect",
    "The same small difference tested with 100 to 300,000 rows. Left: the p-value, and where it "
    "is at its limit the estimate of its tail, falls from about one half to far below a "
    "millionth. Right: the effect size scatters widely at "
    "first and settles at its true value.",
    height=3.0,
)
def pvalue_and_effect() -> Draw:
    """A shift of 0.05 standard deviations in one of three columns."""
    sizes = np.unique(np.geomspace(100, 300_000, 12).astype(int))
    pvalues, tails, effects = [], [], []
    for n in sizes:
        rng = np.random.default_rng([1, n])
        for _ in range(5):
            x, y = rng.normal(size=(2, n // 2, 3))
            y[:, 0] += 0.05
            result = fastmmd.two_sample_test(x, y, kernel=fastmmd.Gaussian(2.0), rng=0)
            if result.tail_pvalue is None:
                pvalues.append((n, result.pvalue))
            else:
                tails.append((n, result.tail_pvalue))
            effects.append((n, result.effect_size))

    def draw(figure: Any, style: Style) -> None:
        left, right = figure.subplots(1, 2)
        dots = {"ls": "", "marker": "o", "ms": 4.5, "alpha": 0.8}
        left.plot(*np.transpose(pvalues), color=style.first, **dots)
        left.plot(*np.transpose(tails), color=style.first, mfc="none", **dots)
        left.axhline(0.05, color=style.muted, ls=":")
        remark(left, style, "0.05", (120, 0.03), va="top")
        left.set(title="p-value (hollow: tail_pvalue)", xscale="log", yscale="log")
        right.plot(*np.transpose(effects), color=style.second, **dots)
        right.set(title="effect size", xscale="log", ylim=(0.0, None))
        for axes in (left, right):
            axes.set_xlabel("rows")
            axes.set_xticks([1e2, 1e3, 1e4, 1e5], ["100", "1,000", "10,000", "100,000"])
            axes.minorticks_off()

    return draw
