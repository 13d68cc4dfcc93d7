"""`compare`: the test from two sketches."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmmd._errors import (
    MAKE_ALIKE,
    IncompatibleSketchError,
    UndefinedEstimateError,
)
from fastmmd._random import spawn
from fastmmd._twosample.decide import (
    check_bins_null,
    check_margin_null,
    margin_verdict,
    result_from_bins,
    sketch_verdict,
)
from fastmmd._validation import check_between, check_count, check_positive
from fastmmd.nulls.bins import BinGram
from fastmmd.nulls.choices import Null, resolve_null
from fastmmd.sketch import Sketch
from fastmmd.sketch.schema import column_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastmmd._twosample.result import TwoSampleResult
    from fastmmd._typing import RNGLike
    from fastmmd.kernels import Kernel


def compare(
    sketch_x: Sketch,
    sketch_y: Sketch,
    /,
    *,
    null: Null | str = "auto",
    n_resamples: int = 999,
    level: float = 0.05,
    margin: float | None = None,
    rng: RNGLike = None,
) -> TwoSampleResult:
    """Test whether two sketches are of data from the same distribution.

    Parameters
    ----------
    sketch_x, sketch_y : Sketch
        Two sketches made alike (same kernels, seed and center) of different data.
    null : Null or str, default="auto"
        ``"auto"``: an exact permutation test where groups of slots with equal numbers of
        rows exist in both sketches, else three matched moments (one kernel) or random
        signs (a family), which are asymptotic. Also ``"permutation"``, ``"gamma"``,
        ``"pearson"`` and ``"spectrum"``.
    n_resamples : int, default=999
        Relabellings or draws.
    level : float, default=0.05
        Significance level for the result's text and its interval.
    margin : float, optional
        Test instead whether the data are further apart than this MMD; needs sketches of
        one kernel.
    rng : int or numpy.random.Generator, optional
        Source of the relabellings.

    Returns
    -------
    TwoSampleResult
        As `fastmmd.two_sample_test` returns; `null` and `level_is` say which test ran,
        `used_x` and `used_y` which share of the rows took part in it.

    Notes
    -----
    Rows are routed to slots at random. Given the numbers of rows in the slots, sums over
    groups of slots with equal totals are exchangeable if the distributions are equal, so
    relabelling such groups is exact although the sketches never saw each other.

    Examples
    --------
    >>> import numpy as np, fastmmd
    >>> rng = np.random.default_rng(0)
    >>> old = fastmmd.Sketch(fastmmd.Gaussian(1.0), 2, stream="old")
    >>> new = old.like(stream="new")
    >>> old.update(rng.normal(size=(3000, 2)))
    >>> new.update(rng.normal(size=(2000, 2)) + 0.2)
    >>> result = fastmmd.compare(old, new, rng=0)
    >>> result.pvalue, result.level_is
    (0.001, 'exact')
    """
    given: tuple[tuple[str, Any], ...] = (("sketch_x", sketch_x), ("sketch_y", sketch_y))
    for name, sketch in given:
        if not isinstance(sketch, Sketch):
            msg = f"`{name}` must be a Sketch; got {type(sketch).__name__}."
            raise TypeError(msg)
        if sketch.count < 2:
            msg = f"`{name}` must have seen at least 2 rows; got {sketch.count}."
            raise UndefinedEstimateError(msg)
    chosen, n_resamples, level, margin = check_asked(
        sketch_x.kernels, null=null, n_resamples=n_resamples, level=level, margin=margin
    )
    found = sketch_x.differences(sketch_y)
    if found:
        msg = (
            f"sketches must be made alike to be compared: {MAKE_ALIKE}. They differ in "
            f"{'; '.join(found)}."
        )
        raise IncompatibleSketchError(msg)
    if sketch_x.shares_streams(sketch_y):
        msg = (
            "sketches must be of different data to be compared; they share a stream. Give "
            "each data set its own `stream`."
        )
        raise IncompatibleSketchError(msg)
    bins = bins_of_sketches(sketch_x, sketch_y)
    if margin is not None:
        verdict = margin_verdict(bins, margin / np.sqrt(sketch_x.kernels[0].at_zero))
    else:
        (for_null,) = spawn(rng, 1)
        verdict = sketch_verdict(bins, chosen, n_resamples=n_resamples, rng=for_null)
    result = result_from_bins(
        bins, sketch_x.kernels, verdict, method="sketch", level=level, margin=margin
    )
    return dataclasses.replace(result, columns=column_names(sketch_x.schema))


def check_asked(
    kernels: Sequence[Kernel],
    /,
    *,
    null: Any,
    n_resamples: Any,
    level: Any,
    margin: Any,
) -> tuple[Null | None, int, float, float | None]:
    """Return the options of a comparison of sketches of these kernels, or raise.

    Whoever has to make the sketches first asks before that.
    """
    n_resamples = check_count(n_resamples, name="n_resamples")
    level = check_between(level, 0.0, 1.0, name="level")
    chosen = resolve_null(null)
    check_bins_null(chosen)
    if margin is not None:
        margin = check_positive(margin, name="margin")
        check_margin_null(chosen)
        if len(kernels) > 1:
            msg = "`margin` must be used with sketches of one kernel; got a family."
            raise ValueError(msg)
    return chosen, n_resamples, level, margin


def bins_of_sketches(sketch_x: Sketch, sketch_y: Sketch, /) -> BinGram:
    """Return the kernel sums between all slots of both sketches."""
    counts = np.concatenate([sketch_x.counts, sketch_y.counts])
    from_x = np.arange(len(counts)) < sketch_x.n_bins
    return BinGram.from_bins(sketch_x.grams_with(sketch_y), counts, from_x)
