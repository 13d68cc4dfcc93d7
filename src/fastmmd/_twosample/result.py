"""What a test returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, final

from fastmmd._validation import check_between

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
        Interval for the squared MMD at confidence ``1 - level``, asymptotic. With a
        family it holds for all its kernels at once, as the data chose `kernel`.
    effect_size : float
        Share of the spread that the difference explains, as a correlation between 0 and
        1; it does not grow with the number of rows. With the median bandwidth a normal
        column shifted by 0.2, 0.5 and 0.8 standard deviations has 0.07, 0.16 and 0.25.
    kernel : Kernel
        The kernel used; of a family the one to read: of those with the smallest p-value
        of their own, the one with the largest effect.
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
    tail_pvalue : float or None
        Where `pvalue` is the smallest that the relabellings can give, an estimate of how
        small it is, right within a factor of 2 to 3 per power of ten below 1e-4.
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
    tail_pvalue: float | None = None
    margin: float | None = None
    level: float = 0.05
    null_distribution: FloatArray | None = field(default=None, repr=False)
    columns: tuple[str, ...] = field(default=(), repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)

    def rejects(self, level: float | None = None, /) -> bool:
        """Return whether equality is rejected at `level`, by default the result's own."""
        if level is None:
            level = self.level
        return self.pvalue <= check_between(level, 0.0, 1.0, name="level")

    def __str__(self) -> str:
        if self.margin is not None:
            verdict = (
                f"The samples are further apart than {self.margin:g}"
                if self.rejects()
                else f"The samples may be within {self.margin:g} of each other"
            )
        else:
            verdict = (
                "The samples differ" if self.rejects() else "No difference was found"
            )
        tail = f", about {self.tail_pvalue:.0e}" if self.tail_pvalue is not None else ""
        interval = ""
        if self.confidence_interval is not None:
            low, high = self.confidence_interval
            share = f"{100 * (1 - self.level):g} %"
            interval = f", {share} interval {low:.3g} to {high:.3g}"
        family = f", one of {len(self.kernels)} kernels" if len(self.kernels) > 1 else ""
        return (
            f"{verdict} at level {self.level:g}: p = {self.pvalue:.4g}{tail} "
            f"({self.null}, {self.level_is} level; n_x = {self.n_x}, n_y = {self.n_y}).\n"
            f"MMD^2 = {self.statistic:.4g}{interval}; effect size {self.effect_size:.2g} "
            f"({self.method}, {self.kernel}{family})." + remarks(self.columns, self.notes)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain types, ready for ``json.dumps``."""
        interval = self.confidence_interval
        return {
            "pvalue": self.pvalue,
            "statistic": self.statistic,
            "confidence_interval": None if interval is None else list(interval),
            "effect_size": self.effect_size,
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
