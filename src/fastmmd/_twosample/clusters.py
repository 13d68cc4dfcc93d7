"""Rows that belong together: relabel whole groups.

Rows of one user, day or visit are alike, so they are not exchangeable one by one; groups
are, if they are independent of each other. The statistic leaves out pairs of rows within a
group, which tell about the group and not about the samples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastmmd._twosample.grams import BinnedSamples
from fastmmd._twosample.layout import MAX_BINS
from fastmmd._twosample.result import TwoSampleResult
from fastmmd.families import reference_index
from fastmmd.nulls._special import ndtri
from fastmmd.nulls.combine import combine
from fastmmd.nulls.effect import effect_of
from fastmmd.nulls.groups import (
    group_spread,
    group_statistics,
    jackknife_error,
    permute_groups,
)
from fastmmd.nulls.pvalues import smallest_pvalue

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from fastmmd._rows import Rows
    from fastmmd._typing import FloatArray
    from fastmmd.kernels import Kernel

_FEWEST_BINS = 8


def check_groups(
    groups: Any, x: Rows, y: Rows, rng: np.random.Generator, /
) -> BinnedSamples:
    """Return the samples with one bin a group, or a few groups if there are very many."""
    if not isinstance(groups, (tuple, list)) or len(groups) != 2:
        msg = (
            "`groups` must be a pair, the groups of the rows of `x` and of `y`; got "
            f"{type(groups).__name__}."
        )
        raise TypeError(msg)
    names = [np.asarray(part) for part in groups]
    for name, part, rows in zip(("x", "y"), names, (x, y), strict=True):
        if part.shape != (rows.n_rows,):
            msg = (
                f"`groups` must name a group for each of the {rows.n_rows} rows of "
                f"`{name}`; got shape {part.shape}."
            )
            raise ValueError(msg)
    _check_sortable(names)
    both = np.intersect1d(np.unique(names[0]), np.unique(names[1]))
    if both.size:
        msg = (
            "`groups` must be different in the two samples, as a whole group is relabelled; "
            f"got {both[0]!s} in both. Name groups by sample if they are independent."
        )
        raise ValueError(msg)
    codes = [np.unique(part, return_inverse=True)[1].ravel() for part in names]
    numbers = [int(code.max()) + 1 for code in codes]
    if min(numbers) < 2:
        msg = f"`groups` must be at least 2 in each sample; got {numbers[0]} and {numbers[1]}."
        raise ValueError(msg)
    fewest = min(numbers)
    # Few groups are not merged further: a sample of one bin would have no pairs.
    per_bin = max(1, min(-(-sum(numbers) // MAX_BINS), fewest // _FEWEST_BINS))
    most = MAX_BINS - fewest // per_bin
    parts = [
        _merge_groups(code, n, per_bin, most, rng)
        for code, n in zip(codes, numbers, strict=True)
    ]
    return BinnedSamples(
        (x, y),
        tuple(order for order, _, _ in parts),
        tuple(edges for _, edges, _ in parts),
        np.concatenate([movable for _, _, movable in parts]),
    )


def _check_sortable(names: list[Any]) -> None:
    for part in names:
        missing = part != part  # noqa: PLR0124 - NaN is not equal to itself
        if np.any(missing) or (part.dtype == object and any(n is None for n in part)):
            msg = "`groups` must name a group for every row; got missing names."
            raise ValueError(msg)


def _merge_groups(
    code: npt.NDArray[np.intp],
    n_groups: int,
    per_bin: int,
    most: int,
    rng: np.random.Generator,
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """Put groups into bins of equally many groups; those left over stay fixed."""
    n_bins = min(n_groups // per_bin, most)
    bin_of_group = rng.permutation(n_groups) // per_bin
    bins = np.minimum(bin_of_group, n_bins)[code]
    order = np.argsort(bins, kind="stable").astype(np.intp)
    counts = np.bincount(bins)
    edges = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
    return order, edges, np.arange(len(counts)) < n_bins


def clustered_result(
    binned: BinnedSamples,
    kernels: tuple[Kernel, ...],
    sums: Callable[[BinnedSamples], FloatArray],
    /,
    *,
    method: str,
    n_resamples: int,
    level: float,
    rng: np.random.Generator,
) -> TwoSampleResult:
    """Relabel groups and put the result together."""
    grams, counts, from_x = sums(binned), binned.counts, binned.labels == 0
    observed = group_statistics(grams, counts, from_x)
    null = permute_groups(
        grams, counts, from_x, binned.movable, n_resamples=n_resamples, rng=rng
    )
    combined = combine(observed, null)
    best, reference = int(np.argmax(combined.scores)), reference_index(kernels)
    # The most telling kernel was chosen by the data, so that its interval is to cover
    # whichever it is, by Bonferroni's rule; the reference was not.
    ends = _interval(grams[best], observed[best], counts, from_x, level / len(kernels))
    at_reference = _interval(grams[reference], observed[reference], counts, from_x, level)
    spread = group_spread(grams[reference], counts, from_x)
    kernel = kernels[best]
    n_x = int(counts[from_x].sum())
    n_groups_x = int(np.count_nonzero(binned.movable & from_x))
    n_groups_y = int(np.count_nonzero(binned.movable & ~from_x))
    return TwoSampleResult(
        pvalue=combined.pvalue,
        statistic=kernel.at_zero * float(observed[best]),
        confidence_interval=None
        if ends is None
        else (kernel.at_zero * ends[0], kernel.at_zero * ends[1]),
        effect_size=effect_of(float(observed[reference]), spread),
        effect_interval=None
        if at_reference is None
        else (effect_of(at_reference[0], spread), effect_of(at_reference[1], spread)),
        reference_kernel=kernels[reference],
        kernel=kernel,
        kernels=kernels,
        shares=tuple(float(share) for share in combined.shares),
        method=method,
        null="permutation of groups",
        level_is="exact",
        n_x=n_x,
        n_y=int(counts.sum()) - n_x,
        n_resamples=n_resamples,
        n_bins=n_groups_x + n_groups_y,
        used_x=float(counts[binned.movable & from_x].sum() / n_x),
        used_y=float(counts[binned.movable & ~from_x].sum() / counts[~from_x].sum()),
        smallest_pvalue=max(
            1.0 / (1.0 + n_resamples), smallest_pvalue(n_groups_x, n_groups_y)
        ),
        level=level,
        null_distribution=null * [k.at_zero for k in kernels],
    )


def _interval(
    gram: FloatArray,
    mmd2: float,
    counts: npt.NDArray[np.int64],
    from_x: npt.NDArray[np.bool_],
    level: float,
) -> tuple[float, float] | None:
    """Return the interval for one kernel's squared MMD by leaving out groups in turn."""
    half = -ndtri(0.5 * level) * jackknife_error(gram, counts, from_x)
    # Two groups in a sample tell nothing of the spread between groups.
    if not np.isfinite(half):
        return None
    return max(float(mmd2 - half), 0.0), max(float(mmd2 + half), 0.0)
