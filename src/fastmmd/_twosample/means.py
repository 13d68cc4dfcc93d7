"""Tests by means of independent terms: linear-time MMD and the B-test."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmmd._errors import UndefinedEstimateError
from fastmmd._twosample.result import TwoSampleResult
from fastmmd.bandwidth import resolve_kernel
from fastmmd.estimators import Block, Linear, block_values, linear_values
from fastmmd.nulls._special import ndtri
from fastmmd.nulls.choices import Normal, Null
from fastmmd.nulls.effect import effect_of
from fastmmd.nulls.normal import mean_pvalue

if TYPE_CHECKING:
    from fastmmd._rows import Rows
    from fastmmd.kernels import Kernel


def mean_result(
    x: Rows,
    y: Rows,
    kernel: Any,
    method: Linear | Block,
    null: Null | None,
    /,
    *,
    level: float,
    rng: np.random.Generator,
) -> TwoSampleResult:
    """Test by the normal limit of the mean over pairs or blocks."""
    if null is not None and not isinstance(null, Normal):
        msg = f'`null` must be "normal" for `{type(method).__name__}`; got "{null.name}".'
        raise ValueError(msg)
    if not isinstance(kernel, str) and hasattr(kernel, "__iter__"):
        msg = f"`kernel` must be one kernel for `{type(method).__name__}`; got several."
        raise ValueError(msg)
    # No family without relabelling: "adaptive" means the median bandwidth here.
    name = "gaussian" if isinstance(kernel, str) and kernel == "adaptive" else kernel
    used = resolve_kernel(name, x, y, rng=rng)
    if isinstance(method, Linear):
        values = linear_values(x, y, used)
    else:
        values = block_values(x, y, used, method.size_for(x, y))
    if len(values) < 2:
        msg = (
            f"`{type(method).__name__}` must have at least two pairs or blocks for a test; "
            f"got {len(values)}."
        )
        raise UndefinedEstimateError(msg)
    mean = float(values.mean())
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    ends = _normal_interval(mean, error, level)
    spread = _spread(x, y, used)
    return TwoSampleResult(
        pvalue=mean_pvalue(values, skewed=isinstance(method, Block)),
        statistic=mean,
        confidence_interval=ends,
        effect_size=effect_of(mean / used.at_zero, spread),
        effect_interval=(
            effect_of(ends[0] / used.at_zero, spread),
            effect_of(ends[1] / used.at_zero, spread),
        ),
        reference_kernel=used,
        kernel=used,
        kernels=(used,),
        shares=(1.0,),
        method=method.name,
        null="normal",
        level_is="asymptotic",
        n_x=x.n_rows,
        n_y=y.n_rows,
        n_resamples=0,
        n_bins=len(values),
        level=level,
    )


def _normal_interval(mean: float, error: float, level: float) -> tuple[float, float]:
    half = -ndtri(0.5 * level) * error
    return max(mean - half, 0.0), max(mean + half, 0.0)


def _spread(x: Rows, y: Rows, kernel: Kernel) -> float:
    """Return the spread within both samples, from consecutive pairs."""
    total = 0.0
    for rows in (x, y):
        n_used = 2 * (min(rows.n_rows, 20_000) // 2)
        block = rows.dense(0, n_used)
        alike = float(np.mean(kernel(block[::2] - block[1::2]))) / kernel.at_zero
        total += max(1.0 - alike, 0.0)
    return total
