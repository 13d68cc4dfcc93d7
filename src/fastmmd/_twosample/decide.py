"""From kernel sums between bins to a result: the p-value, effect and interval."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np

from fastmmd._errors import UndefinedEstimateError
from fastmmd._twosample.result import TwoSampleResult
from fastmmd.families import reference_index
from fastmmd.nulls.bins import BinGram, merge_bins, u_statistics
from fastmmd.nulls.choices import Gamma, Normal, Null, Pearson, Permutation, Spectrum
from fastmmd.nulls.combine import combine
from fastmmd.nulls.effect import effect_interval, effect_size, interval, margin_pvalue
from fastmmd.nulls.matching import group_bins, match_bins
from fastmmd.nulls.moments import gamma_pvalue, normal_score, pearson_pvalue
from fastmmd.nulls.multipliers import multiply_bins
from fastmmd.nulls.permutation import permute_bins
from fastmmd.nulls.pvalues import resolved_tail, smallest_pvalue
from fastmmd.nulls.spectrum import spectrum_null, spectrum_pvalue

if TYPE_CHECKING:
    from fastmmd._typing import FloatArray
    from fastmmd.kernels import Kernel

_FEWEST_ROWS = 8
"""Rows below which moments estimated from the data say nothing about a tail."""

_FEW_ROWS = 20
"""Rows below which relabelling whatever can be matched beats any approximation."""

_FEWEST_BINS_FOR_INTERVAL = 3
_BINS_FOR_INTERVAL = 128
_PEARSON_TAIL = 1e-3
"""Below this the three moments of `Pearson` understate p; all eigenvalues do not."""


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Verdict:
    """A p-value and how it came about."""

    pvalue: float
    null: str
    level_is: Literal["exact", "asymptotic"]
    shares: FloatArray
    leading: int
    n_resamples: int = 0
    n_bins: int
    used_x: float = 1.0
    used_y: float = 1.0
    smallest_pvalue: float = 0.0
    tail_pvalue: float | None = None
    null_distribution: FloatArray | None = field(default=None, repr=False)


def result_from_bins(
    bins: BinGram,
    kernels: tuple[Kernel, ...],
    verdict: Verdict,
    /,
    *,
    method: str,
    level: float,
    margin: float | None = None,
) -> TwoSampleResult:
    """Put together what is known of the samples and the verdict."""
    best, reference = verdict.leading, reference_index(kernels)
    kernel = kernels[best]
    # The kernel was chosen by the data: an interval for all of them at once, by
    # Bonferroni's rule, covers whichever it is. The reference was not.
    ends = _interval(bins, best, level / len(kernels))
    at_reference = _interval(bins, reference, level)
    at_zero = kernel.at_zero
    null_distribution = verdict.null_distribution
    if null_distribution is not None:
        null_distribution = null_distribution * [k.at_zero for k in kernels]
    return TwoSampleResult(
        pvalue=verdict.pvalue,
        statistic=at_zero * float(u_statistics(bins)[best]),
        confidence_interval=None
        if ends is None
        else (at_zero * ends[0], at_zero * ends[1]),
        effect_size=effect_size(bins, kernel=reference),
        effect_interval=None
        if at_reference is None
        else effect_interval(bins, at_reference, kernel=reference),
        reference_kernel=kernels[reference],
        kernel=kernel,
        kernels=kernels,
        shares=tuple(float(share) for share in verdict.shares),
        method=method,
        null=verdict.null,
        level_is=verdict.level_is,
        n_x=bins.n_x,
        n_y=bins.n_y,
        n_resamples=verdict.n_resamples,
        n_bins=verdict.n_bins,
        used_x=verdict.used_x,
        used_y=verdict.used_y,
        smallest_pvalue=verdict.smallest_pvalue,
        tail_pvalue=verdict.tail_pvalue,
        margin=margin,
        level=level,
        null_distribution=null_distribution,
    )


def _interval(bins: BinGram, kernel: int, level: float) -> tuple[float, float] | None:
    """Return the interval for the squared MMD of one kernel, if there are enough bins."""
    if min(np.bincount(bins.from_x, minlength=2)) < _FEWEST_BINS_FOR_INTERVAL:
        return None
    grams = bins.grams[kernel : kernel + 1]
    of_one = BinGram(grams, bins.counts, bins.from_x, bins.movable)
    # An interval needs some dozens of bins; its cost grows as their cube.
    return interval(merge_bins(of_one, most=_BINS_FOR_INTERVAL), confidence=1.0 - level)


def decide(
    bins: BinGram, null: Null, /, *, n_resamples: int, rng: np.random.Generator
) -> Verdict:
    """Find the p-value of equality by the given null."""
    if isinstance(null, Permutation):
        return permutation_verdict(bins, n_resamples=n_resamples, rng=rng)
    return analytic_verdict(bins, null, n_resamples=n_resamples, rng=rng)


def permutation_verdict(
    bins: BinGram, /, *, n_resamples: int, rng: np.random.Generator
) -> Verdict:
    """Relabel the movable bins; one p-value for all kernels."""
    observed = u_statistics(bins)
    null = permute_bins(bins, n_resamples=n_resamples, rng=rng)
    combined = combine(observed, null.statistics, complete=null.complete)
    movable = bins.movable
    n_movable_x = int(np.count_nonzero(movable & bins.from_x))
    fewest = smallest_pvalue(n_movable_x, int(np.count_nonzero(movable)) - n_movable_x)
    drawn = 1.0 / (1.0 + len(null.statistics))
    smallest = fewest if null.complete else max(drawn, fewest)
    at_limit = not null.complete and combined.pvalue <= drawn
    return Verdict(
        pvalue=combined.pvalue,
        null="permutation",
        level_is="exact",
        shares=combined.shares,
        leading=leading_kernel(bins),
        n_resamples=len(null.statistics),
        n_bins=int(np.count_nonzero(movable)),
        used_x=float(bins.counts[movable & bins.from_x].sum() / bins.n_x),
        used_y=float(bins.counts[movable & ~bins.from_x].sum() / bins.n_y),
        smallest_pvalue=smallest,
        tail_pvalue=_tail(bins, smallest) if at_limit else None,
        null_distribution=null.statistics,
    )


def analytic_verdict(
    bins: BinGram, null: Null, /, *, n_resamples: int, rng: np.random.Generator
) -> Verdict:
    """Find the p-value from moments or eigenvalues; over kernels by Bonferroni's rule."""
    if min(bins.n_x, bins.n_y) < _FEWEST_ROWS:
        msg = (
            f"an asymptotic null must have at least {_FEWEST_ROWS} rows in each sample; got "
            f'{bins.n_x} and {bins.n_y}. Use `null="permutation"`, exact at any size.'
        )
        raise UndefinedEstimateError(msg)
    n_draws = 0
    if isinstance(null, Spectrum) and null.simulate:
        pvalues = [
            spectrum_null(bins, n_resamples=n_resamples, rng=rng, kernel=j)[0]
            for j in range(bins.n_kernels)
        ]
        n_draws = n_resamples
    else:
        by_null: dict[type[Null], Any] = {
            Gamma: gamma_pvalue,
            Pearson: pearson_pvalue,
            Spectrum: spectrum_pvalue,
        }
        check_bins_null(null)
        find = by_null[type(null)]
        pvalues = [find(bins, kernel=j) for j in range(bins.n_kernels)]
    best = int(np.argmin(pvalues))
    return Verdict(
        pvalue=min(1.0, bins.n_kernels * pvalues[best]),
        null=null.name,
        level_is="asymptotic",
        shares=np.eye(bins.n_kernels)[best],
        leading=best,
        n_resamples=n_draws,
        n_bins=bins.n_bins,
    )


def sketch_verdict(
    bins: BinGram, null: Null | None, /, *, n_resamples: int, rng: np.random.Generator
) -> Verdict:
    """Find the p-value from slots of different sizes, exactly where counts allow it.

    Whether they do is decided from the counts alone, never from p-values.
    """
    if null is None or isinstance(null, Permutation):
        matching = match_bins(bins)
        few = min(bins.n_x, bins.n_y) < _FEW_ROWS
        if matching.suffices or (matching.group_rows and (null is not None or few)):
            grouped = group_bins(bins, matching)
            return permutation_verdict(grouped, n_resamples=n_resamples, rng=rng)
        if null is not None:
            msg = (
                '`null` must be "auto" or asymptotic for these sketches; got "permutation", '
                "but no groups of slots hold equal numbers of rows in both."
            )
            raise ValueError(msg)
        if min(bins.n_x, bins.n_y) < _FEWEST_ROWS:
            msg = (
                f"sketches must have at least {_FEWEST_ROWS} rows each, or numbers of rows "
                f"in their slots that can be matched, to be compared; got {bins.n_x} and "
                f"{bins.n_y} rows. Add rows, or use fewer slots (`n_bins`)."
            )
            raise UndefinedEstimateError(msg)
        if bins.n_kernels > 1:
            return _multiplier_verdict(bins, n_resamples=n_resamples, rng=rng)
        verdict = analytic_verdict(bins, Pearson(), n_resamples=n_resamples, rng=rng)
        if verdict.pvalue >= _PEARSON_TAIL:
            return verdict
        null = Spectrum()
    return analytic_verdict(bins, null, n_resamples=n_resamples, rng=rng)


def _multiplier_verdict(
    bins: BinGram, /, *, n_resamples: int, rng: np.random.Generator
) -> Verdict:
    null = multiply_bins(bins, n_resamples=n_resamples, rng=rng)
    combined = combine(null.observed, null.statistics, standardise=False)
    smallest = 1.0 / (1.0 + n_resamples)
    pvalue = smallest if null.certain else combined.pvalue
    at_limit = pvalue <= smallest
    return Verdict(
        pvalue=pvalue,
        null="multiplier",
        level_is="asymptotic",
        shares=combined.shares,
        leading=leading_kernel(bins),
        n_resamples=n_resamples,
        n_bins=bins.n_bins,
        smallest_pvalue=smallest,
        tail_pvalue=_tail(bins, smallest) if at_limit else None,
    )


def check_bins_null(null: Null | None, /) -> None:
    """Raise if a null was asked for that is not one of sums over bins."""
    if isinstance(null, Normal):
        msg = (
            '`null` must be "permutation", "gamma", "pearson" or "spectrum" for this '
            'method; got "normal", which is for `Linear` and `Block`.'
        )
        raise ValueError(msg)  # noqa: TRY004 - a null, but not one for bins


def check_margin_null(null: Null | None, /) -> None:
    """Raise if a null was asked for that does not know about margins."""
    if null is not None:
        msg = (
            '`null` must be "auto" with a `margin`, which has a null of its own; got '
            f'"{null.name}".'
        )
        raise ValueError(msg)


def margin_verdict(bins: BinGram, margin: float, /) -> Verdict:
    """Find the p-value for the samples being at most `margin` apart."""
    if min(bins.n_x, bins.n_y) < _FEWEST_ROWS:
        msg = (
            f"a margin must have at least {_FEWEST_ROWS} rows in each sample; got "
            f"{bins.n_x} and {bins.n_y}."
        )
        raise UndefinedEstimateError(msg)
    return Verdict(
        pvalue=margin_pvalue(bins, margin=margin),
        null="pearson",
        level_is="asymptotic",
        shares=np.ones(1),
        leading=0,
        n_bins=bins.n_bins,
    )


def leading_kernel(bins: BinGram, /) -> int:
    """Return the most telling kernel: the one with the largest score under the null.

    From the moments of the null and not from relabellings, whose number and seed would
    change which one it is.
    """
    if bins.n_kernels == 1:
        return 0
    if min(np.bincount(bins.from_x, minlength=2)) < 2:
        # One bin of a sample has no spread to compare with.
        return int(np.argmax(u_statistics(bins)))
    return int(np.argmax([normal_score(bins, kernel=j) for j in range(bins.n_kernels)]))


def _tail(bins: BinGram, largest: float) -> float:
    """Return how small p is, by Bonferroni's rule over kernels, where it is below `largest`.

    Not below one over the number of ways to deal the rows, which no test can go below, and
    not below what such an estimate can resolve.
    """
    pvalues = [spectrum_pvalue(bins, kernel=j) for j in range(bins.n_kernels)]
    estimate = resolved_tail(bins.n_kernels * min(pvalues))
    return min(max(estimate, smallest_pvalue(bins.n_x, bins.n_y)), largest)
