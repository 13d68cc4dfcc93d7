"""What a test returns."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, final

from fastmmd._errors import ResolutionWarning
from fastmmd._validation import check_between
from fastmmd.nulls.pvalues import pvalue_words, smallest_pvalue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastmmd._typing import FloatArray
    from fastmmd.kernels import Kernel


_MOST_NAMES = 8
"""Columns that are named in the text."""


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TwoSampleResult:
    """Outcome of a two-sample test.

    Attributes
    ----------
    pvalue : float
        Probability, if both samples share one distribution (or are at most `margin`
        apart), of a statistic at least this large. Never 0.
    statistic : float
        Unbiased estimate of the squared MMD for `kernel`; may be negative.
    confidence_interval : tuple of float or None
        Interval for the squared MMD of `kernel` at confidence ``1 - level``, asymptotic.
        With a family it holds for all its kernels at once, as the data chose `kernel`.
    effect_size : float
        Share of the spread that the difference explains, as a correlation between 0 and
        1; it does not grow with the number of rows. Measured by `reference_kernel`, so
        that effects can be compared: with the median bandwidth a normal column shifted
        by 0.2, 0.5 and 0.8 standard deviations has 0.07, 0.16 and 0.25.
    effect_interval : tuple of float or None
        Interval for the effect size at confidence ``1 - level``, asymptotic.
    reference_kernel : Kernel
        The kernel that effects are measured by: of the adaptive family the one with the
        median distance as bandwidth, of a list the first.
    kernel : Kernel
        The kernel used; of a family the most telling one, whose statistic is the most
        standard deviations above that of samples alike.
    kernels : tuple of Kernel
        All kernels of the family.
    shares : tuple of float
        How much each kernel contributed to the combined statistic; they sum to 1.
    method : str
        How kernel sums were computed.
    null : str
        How the p-value was found.
    level_is : {"exact", "asymptotic"}
        Whether the test's level holds at any sample size or in the limit.
    n_x, n_y : int
        Rows in each sample.
    n_resamples : int
        Relabellings or draws made; 0 for an analytic null.
    n_bins : int
        Bins that were relabelled, or whose spread gave the null.
    used_x, used_y : float
        Share of each sample's rows that took part in relabelling.
    smallest_pvalue : float
        The smallest p-value that this test could have given, by the number of
        relabellings or of rows; 0 for an analytic null.
    tail_pvalue : float or None
        Where `pvalue` is the smallest that the relabellings can give, an estimate of how
        small it is, whose exponent is right within a quarter. 1e-10 stands for anything
        below that.
    margin : float or None
        The distance that was tested against; ``None`` for a test of equality.
    level : float
        Significance level asked for; the text and the interval use it.
    null_distribution : ndarray or None
        Statistics of the relabelled data, one column a kernel.
    columns : tuple of str
        Of tables: the columns that were compared.
    notes : tuple of str
        Of tables: rows and columns that were left out, and columns that look odd.

    Examples
    --------
    >>> import numpy as np, fastmmd
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(400, 2)), rng.normal(0.4, 1.0, size=(300, 2))
    >>> result = fastmmd.two_sample_test(x, y, rng=0)
    >>> result.rejects(0.01), result.level_is, round(result.effect_size, 1)
    (True, 'exact', 0.2)
    >>> result.to_dict()["n_x"]
    400
    """

    pvalue: float
    statistic: float
    confidence_interval: tuple[float, float] | None
    effect_size: float
    effect_interval: tuple[float, float] | None
    reference_kernel: Kernel
    kernel: Kernel
    kernels: tuple[Kernel, ...]
    shares: tuple[float, ...]
    method: str
    null: str
    level_is: Literal["exact", "asymptotic"]
    n_x: int
    n_y: int
    n_resamples: int
    n_bins: int
    used_x: float = 1.0
    used_y: float = 1.0
    smallest_pvalue: float = 0.0
    tail_pvalue: float | None = None
    margin: float | None = None
    level: float = 0.05
    null_distribution: FloatArray | None = field(default=None, repr=False)
    columns: tuple[str, ...] = field(default=(), repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)

    def rejects(self, level: float | None = None, /) -> bool:
        """Return whether equality is rejected at `level`, by default the result's own.

        Warns if no p-value as small as `level` was possible.
        """
        if level is None:
            level = self.level
        level = check_between(level, 0.0, 1.0, name="level")
        if level < self.smallest_pvalue:
            msg = (
                f"a level of {level:g} cannot be reached: {self._limit()} Pass a larger "
                "`n_resamples`, or more rows if there are few."
            )
            warnings.warn(msg, ResolutionWarning, stacklevel=2)
        return self.pvalue <= level

    def __str__(self) -> str:
        found = pvalue_words(self.pvalue, self.tail_pvalue)
        return (
            f"{self._verdict()} at level {self.level:g}: {found} "
            f"({self.null}, {self.level_is} level; n_x = {self.n_x}, n_y = {self.n_y}).\n"
            + "\n".join(self._sizes())
            + remarks(self.columns, self.notes)
        )

    def _verdict(self) -> str:
        """Return what was found, as the beginning of a sentence."""
        rejected = self.pvalue <= self.level
        if self.margin is not None:
            within = f"an MMD of {self.margin:g}"
            ends = self.confidence_interval
            if rejected:
                return f"The samples are further apart than {within}"
            if ends is not None and ends[1] < self.margin**2:
                return f"The samples are within {within} of each other"
            return f"The samples may or may not be within {within} of each other,"
        if rejected:
            return "The samples differ"
        if self.level < self.smallest_pvalue:
            return f"{self._limit()} No difference could have been found"
        return "No difference was found"

    def _limit(self) -> str:
        """Return what kept the p-value from being smaller, as a sentence."""
        rows = smallest_pvalue(self.n_x, self.n_y)
        if rows > 1.0 / (1.0 + self.n_resamples):
            why = f"{self.n_x} and {self.n_y} rows"
        else:
            why = f"{self.n_resamples} relabellings"
        return f"The smallest possible p-value with {why} is {self.smallest_pvalue:.2g}."

    def _sizes(self) -> list[str]:
        """Return lines on how far apart the samples are."""
        share = f"{100 * (1 - self.level):g} %"

        def between(ends: tuple[float, float] | None) -> str:
            return (
                ""
                if ends is None
                else f", {share} interval {ends[0]:.2g} to {ends[1]:.2g}"
            )

        effect = f"Effect size {self.effect_size:.2g}{between(self.effect_interval)}"
        squared = f"MMD^2 = {self.statistic:.4g}{between(self.confidence_interval)}"
        if self.margin is not None:
            squared = f"MMD = {max(self.statistic, 0.0) ** 0.5:.3g}, {squared}"
        if len(self.kernels) == 1:
            return [f"{effect}; {squared} ({self.method}, {self.kernel})."]
        return [
            f"{effect} ({self.reference_kernel}, the reference).",
            (
                f"Most telling of {len(self.kernels)} kernels: {self.kernel}, {squared} "
                f"({self.method})."
            ),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain types, ready for ``json.dumps``."""
        interval = self.confidence_interval
        return {
            "pvalue": self.pvalue,
            "statistic": self.statistic,
            "confidence_interval": None if interval is None else list(interval),
            "effect_size": self.effect_size,
            "effect_interval": None
            if self.effect_interval is None
            else list(self.effect_interval),
            "reference_kernel": repr(self.reference_kernel),
            "kernel": repr(self.kernel),
            "kernels": [repr(kernel) for kernel in self.kernels],
            "shares": list(self.shares),
            "method": self.method,
            "null": self.null,
            "level_is": self.level_is,
            "n_x": self.n_x,
            "n_y": self.n_y,
            "n_resamples": self.n_resamples,
            "n_bins": self.n_bins,
            "used_x": self.used_x,
            "used_y": self.used_y,
            "smallest_pvalue": self.smallest_pvalue,
            "tail_pvalue": self.tail_pvalue,
            "margin": self.margin,
            "level": self.level,
            "columns": list(self.columns),
            "notes": list(self.notes),
        }


def remarks(columns: Sequence[str], notes: Sequence[str], /) -> str:
    """Return lines on the columns of a table and on what is odd about it."""
    lines = [f"Columns: {', '.join(columns)}."] if columns else []
    if len(columns) > _MOST_NAMES:
        first = ", ".join(columns[: _MOST_NAMES - 1])
        lines = [f"Columns: {first}, … ({len(columns)} in all)."]
    lines += [f"Note: {note}" for note in notes]
    return "".join(f"\n{line}" for line in lines)
