"""One p-value for a family of kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from fastmmd.nulls._arrays import ROUNDING, FloatArray
from fastmmd.nulls.pvalues import permutation_pvalue
from fastmmd.nulls.rules import Rule, SoftMaximum, normal_scores

if TYPE_CHECKING:
    from fastmmd.nulls._arrays import BoolArray

# A kernel is dropped when rounding could move its scores by a thousandth.
_SPREAD_OVER_ROUNDING = 1000.0


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Combination:
    """Outcome of a test that combines several kernels.

    Attributes
    ----------
    pvalue : float
        Exact in level if the rows of the null are relabellings.
    statistic : float
        The combined statistic.
    scores : ndarray of shape (n_kernels,)
        Observed statistics in standard deviations above their relabelled mean; 0 for
        a kernel without spread.
    shares : ndarray of shape (n_kernels,)
        How much each kernel contributed to the combined statistic; sums to 1. Equal if
        no kernel has spread.
    rule : Rule
        The rule used.
    """

    pvalue: float
    statistic: float
    scores: FloatArray
    shares: FloatArray
    rule: Rule


def combine(
    observed: FloatArray,
    null: FloatArray,
    /,
    *,
    rule: Rule | None = None,
    complete: bool = False,
    standardise: bool = True,
) -> Combination:
    """Combine the statistics of several kernels into one test.

    Each kernel is standardised by its own relabelled statistics, the observed one
    included, and the same is done to every relabelling. As observed and relabelled
    statistics are treated alike, the level stays exact without splitting the data.

    Parameters
    ----------
    observed : ndarray of shape (n_kernels,)
        Statistics of the data as they came.
    null : ndarray of shape (n_resamples, n_kernels)
        Statistics of the relabelled data, the same relabelling in one row.
    rule : Rule, optional
        How to combine; by default the soft maximum of scores made normal.
    complete : bool, default=False
        Whether `null` holds every relabelling once, the observed one among them.
    standardise : bool, default=True
        False for draws from an estimated null, which have mean 0 and standard deviation
        1 already. The observed statistic is then not one of them and takes no part in
        judging how skewed they are: it has no largest value, and the cube of one beyond
        all draws would make everything else a tie.

    Returns
    -------
    Combination
        The p-value, and which kernels carried it.

    Examples
    --------
    >>> import numpy as np
    >>> null = np.random.default_rng(0).normal(size=(99, 3))
    >>> result = combine(np.array([0.0, 9.0, 0.0]), null)
    >>> result.pvalue, int(result.shares.argmax())
    (0.01, 1)
    """
    if null.ndim != 2 or observed.shape != null.shape[1:]:
        msg = (
            "`null` must have shape (n_resamples, n_kernels) with the kernels of "
            f"`observed`; got {null.shape} and {observed.shape}."
        )
        raise ValueError(msg)
    rule = SoftMaximum() if rule is None else rule
    rows = np.concatenate((observed[None], null))
    # In a complete enumeration the observed labels are one of the rows already.
    counted = rows[1:] if complete else rows
    centre, spread = counted.mean(axis=0), counted.std(axis=0)
    kept: BoolArray = spread > _SPREAD_OVER_ROUNDING * ROUNDING
    all_scores, all_shares = np.zeros_like(observed), np.zeros_like(observed)
    if not kept.any():
        equal = np.full_like(observed, 1.0 / observed.size)
        return Combination(
            pvalue=1.0, statistic=0.0, scores=all_scores, shares=equal, rule=rule
        )
    scores = (rows - centre)[:, kept] / spread[kept] if standardise else rows[:, kept]
    given = scores
    rounding = 1.0 / (spread[kept].min() if standardise else 1.0)
    if not rule.standardised:
        # Kernels without spread add a constant here, so that none need be dropped.
        given, rounding = rows, 1.0
    elif rule.normalised:
        alike = standardise and not complete
        given = normal_scores(scores, scores if alike else scores[1:])
    values = rule.values(given[1:] if complete else given)
    value = float(rule.values(given)[0]) if complete else float(values[0])
    pvalue = permutation_pvalue(
        value,
        values if complete else values[1:],
        scale=rule.steepness * rounding + abs(value),
        complete=complete,
    )
    all_scores[kept] = scores[0]
    if rule.standardised:
        all_shares[kept] = rule.shares(given, 0)
    else:
        all_shares = rule.shares(given, 0)
    return Combination(
        pvalue=pvalue, statistic=value, scores=all_scores, shares=all_shares, rule=rule
    )
