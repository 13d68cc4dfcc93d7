"""`two_sample_test`: the main job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastmmd._cost import Problem, seconds
from fastmmd._errors import UndefinedEstimateError
from fastmmd._key import streams_of
from fastmmd._plan import resolve_method
from fastmmd._random import spawn
from fastmmd._rows import check_samples, is_table
from fastmmd._threads import threads
from fastmmd._twosample.clusters import check_groups, clustered_result
from fastmmd._twosample.decide import (
    check_margin_null,
    decide,
    margin_verdict,
    result_from_bins,
)
from fastmmd._twosample.families import choose_kernels
from fastmmd._twosample.grams import (
    check_values,
    exact_grams,
    family_grams,
    feature_grams,
    has_values,
    send_to_bins,
)
from fastmmd._twosample.layout import choose_layout
from fastmmd._twosample.means import mean_result
from fastmmd._twosample.tables import tables_module
from fastmmd._validation import check_between, check_count, check_positive
from fastmmd.estimators import Block, Exact, Fastfood, Fourier, Linear, Method
from fastmmd.frequencies import check_frequencies, given_family
from fastmmd.nulls.bins import BinGram
from fastmmd.nulls.choices import Null, Permutation, resolve_null

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastmmd._rows import Rows
    from fastmmd._twosample.grams import BinnedSamples
    from fastmmd._twosample.result import TwoSampleResult
    from fastmmd._typing import FloatArray, RNGLike, SampleLike
    from fastmmd.kernels import Kernel

_EXACT_SECONDS = 0.25
"""Up to this time exact kernels are worth their cost: no noise of frequencies."""

_FULL_GRAM_ROWS = 2048
"""Up to this many rows analytic nulls see the full kernel matrix of the exact method."""


def two_sample_test(
    x: SampleLike,
    y: SampleLike,
    /,
    *,
    kernel: Kernel | str | Sequence[Kernel | str] = "adaptive",
    method: Method | str = "auto",
    null: Null | str = "auto",
    n_resamples: int = 999,
    level: float = 0.05,
    margin: float | None = None,
    groups: tuple[Any, Any] | None = None,
    rng: RNGLike = None,
    n_threads: int | None = None,
) -> TwoSampleResult:
    r"""Test whether two samples come from the same distribution.

    With the defaults: a family of Gaussian kernels from coarse to fine, combined into one
    p-value whose level is exact at any sample size, in one pass over the data.

    Parameters
    ----------
    x, y : array of shape (n, n_columns)
        The two samples, at least 2 rows each, of any sizes. One dimension is read as one
        column; lists, integers and SciPy sparse matrices are welcome. Tables of mixed
        columns (pandas, Polars, PyArrow, …) are turned into numbers as by
        `fastmmd.tables.two_sample_test`, which has options for that.
    kernel : Kernel, str or sequence of these, default="adaptive"
        ``"adaptive"``: Gaussian kernels with bandwidths from twice the median distance
        down, as far as the pooled data have close pairs. A list is combined in the same
        way. A name such as ``"gaussian"`` takes the median distance as bandwidth.
    method : Method or str, default="auto"
        ``Exact()``, ``Fourier()``, ``Fastfood()``, ``Linear()`` or ``Block()``, or their
        names. ``"auto"`` is exact for small samples and Fourier for larger ones.
    null : Null or str, default="auto"
        ``Permutation()``, ``Gamma()``, ``Pearson()``, ``Spectrum()`` or, for `Linear` and
        `Block`, ``Normal()``, or their names. ``"auto"`` permutes.
    n_resamples : int, default=999
        Relabellings of the permutation null.
    level : float, default=0.05
        Significance level for the result's text and its interval; the result can be asked
        for others.
    margin : float, optional
        Test instead whether the samples are further apart than this MMD; needs one
        kernel. With enough rows everything differs; this asks whether it matters.
    groups : pair of arrays, optional
        For each row of `x` and of `y` the group it belongs to (user, day, visit). Groups
        are then relabelled as a whole, for rows that are not independent.
    rng : int or numpy.random.Generator, optional
        Source of the relabellings: pass an integer for repeatable p-values. Statistic,
        effect and interval follow from the data alone.
    n_threads : int, optional
        At most so many threads; see `fastmmd.threads`. The result does not depend on it.

    Returns
    -------
    TwoSampleResult
        The p-value with everything that was used; printing it gives a sentence to quote.

    See Also
    --------
    fastmmd.compare : The same test from two sketches.
    fastmmd.k_sample_test : More than two samples.

    Notes
    -----
    Rows are shuffled into at most 256 bins of exactly equal size and bins are relabelled
    instead of rows; if the samples share one distribution all relabellings are equally
    likely, whatever the kernels, so the level is exact. Each kernel's statistic is
    standardised by its own relabelled values and combined by a soft maximum, the same for
    the observed labels and all others.

    Time is one pass over the rows; the null costs ``O(n_resamples n_bins^2)`` a kernel,
    whatever the number of rows.

    Examples
    --------
    >>> import numpy as np, fastmmd
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(500, 3)), 1.3 * rng.normal(size=(400, 3))
    >>> result = fastmmd.two_sample_test(x, y, rng=0)
    >>> result.pvalue, result.level_is
    (0.001, 'exact')
    """
    run: Any = _two_sample_test
    if is_table(x) or is_table(y):
        run = tables_module().two_sample_test
    with threads(n_threads):
        result: TwoSampleResult = run(
            x,
            y,
            kernel=kernel,
            method=method,
            null=null,
            n_resamples=n_resamples,
            level=level,
            margin=margin,
            groups=groups,
            rng=rng,
        )
    return result


def _two_sample_test(
    x: SampleLike,
    y: SampleLike,
    /,
    *,
    kernel: Kernel | str | Sequence[Kernel | str],
    method: Method | str,
    null: Null | str,
    n_resamples: int,
    level: float,
    margin: float | None,
    groups: tuple[Any, Any] | None,
    rng: RNGLike,
) -> TwoSampleResult:
    rows_x, rows_y = check_samples(x, y)
    (for_null,) = spawn(rng, 1)
    for_kernels, for_bins = streams_of((rows_x, rows_y))
    check_sizes((rows_x, rows_y))
    n_resamples = check_count(n_resamples, name="n_resamples")
    level = check_between(level, 0.0, 1.0, name="level")
    chosen_method, chosen_null = resolve_method(method), resolve_null(null)
    if margin is not None:
        margin = check_positive(margin, name="margin")
        check_margin_null(chosen_null)
    if isinstance(chosen_method, (Linear, Block)):
        if margin is not None or groups is not None:
            msg = "`margin` and `groups` must be left out for `Linear` and `Block`."
            raise ValueError(msg)
        return mean_result(
            rows_x,
            rows_y,
            kernel,
            chosen_method,
            chosen_null,
            level=level,
            rng=for_kernels,
        )
    kernels, n_frequencies = choose_kernels(kernel, rows_x, rows_y, for_kernels)
    if margin is not None and len(kernels) > 1:
        msg = (
            "`margin` must be used with one kernel, whose MMD it is in; got a family. Pass "
            'for instance `kernel="gaussian"`.'
        )
        raise ValueError(msg)
    n_frequencies = asked_frequencies(method, n_frequencies)
    test_method = choose_method(chosen_method, kernels, (rows_x, rows_y))
    chosen_null = Permutation() if chosen_null is None else chosen_null
    if groups is not None:
        if margin is not None or not isinstance(chosen_null, Permutation):
            msg = "`groups` must be used with the permutation null and without `margin`."
            raise ValueError(msg)
        return clustered_result(
            check_groups(groups, rows_x, rows_y, for_bins),
            kernels,
            lambda binned: bin_sums(binned, kernels, n_frequencies, test_method),
            method=test_method.name,
            n_resamples=n_resamples,
            level=level,
            rng=for_null,
        )
    by_rows = isinstance(chosen_null, Permutation) and chosen_null.rows
    if not isinstance(chosen_null, Permutation) and isinstance(test_method, Exact):
        by_rows = rows_x.n_rows + rows_y.n_rows <= _FULL_GRAM_ROWS
    layout = choose_layout((rows_x.n_rows, rows_y.n_rows), by_rows=by_rows)
    binned = send_to_bins((rows_x, rows_y), layout, for_bins)
    bins = BinGram(
        bin_sums(binned, kernels, n_frequencies, test_method),
        binned.counts,
        binned.labels == 0,
        binned.movable,
    )
    if margin is not None:
        verdict = margin_verdict(bins, margin / np.sqrt(kernels[0].at_zero))
    else:
        verdict = decide(bins, chosen_null, n_resamples=n_resamples, rng=for_null)
    return result_from_bins(
        bins, kernels, verdict, method=test_method.name, level=level, margin=margin
    )


def choose_method(
    method: Method | None, kernels: Sequence[Kernel], samples: Sequence[Rows], /
) -> Exact | Fourier | Fastfood:
    """Return the method of the kernel sums; exact while that is quick."""
    if method is None:
        n_rows = sum(rows.n_rows for rows in samples)
        problem = Problem(n_rows, 0, samples[0].n_columns, kernels[0], "unbiased")
        # Gaussians of a family share distances; others repeat them.
        cost = seconds(problem, "exact") * (1.0 + 0.3 * (len(kernels) - 1))
        quick = cost <= _EXACT_SECONDS and not samples[0].is_sparse
        return Exact() if quick and has_values(kernels) else Fourier()
    if not isinstance(method, (Exact, Fourier, Fastfood)):
        msg = (
            "`method` must be exact, fourier or fastfood for a test, or for two samples "
            f"linear or block; got {method!r}."
        )
        raise ValueError(msg)  # noqa: TRY004 - a method, but not one for tests
    if isinstance(method, Exact):
        check_values(kernels)
    elif method.tolerance is not None:
        msg = (
            "`tolerance` must be left out of a test's method: it is about the accuracy of "
            "an estimate. Set `n_frequencies` instead."
        )
        raise ValueError(msg)
    if (
        isinstance(method, Fourier)
        and method.frequencies is not None
        and len(kernels) > 1
    ):
        msg = "`frequencies` must be used with one kernel, whose they are; got a family."
        raise ValueError(msg)
    return method


def asked_frequencies(method: Any, graded: tuple[int, ...], /) -> tuple[int, ...]:
    """Return the numbers of an explicit method object, else as many as each kernel needs."""
    if isinstance(method, (Fourier, Fastfood)):
        return (method.n_frequencies,) * len(graded)
    return graded


def bin_sums(
    binned: BinnedSamples,
    kernels: Sequence[Kernel],
    n_frequencies: Sequence[int],
    method: Exact | Fourier | Fastfood,
    /,
) -> FloatArray:
    """Return the kernel sums between bins by the method asked for.

    Frequencies are the same in every call, so that estimates of one data set are equal.
    """
    if isinstance(method, Exact):
        return exact_grams(binned, kernels)
    if isinstance(method, Fourier) and method.frequencies is not None:
        given = check_frequencies(method.frequencies, binned.samples[0].n_columns)
        return family_grams(binned, given_family(kernels[0], given, single=method.single))
    numbers = [method.n_frequencies] * len(kernels)
    if method in (Fourier(), Fastfood()):
        # Named, not set: as many as each bandwidth needs.
        numbers = list(n_frequencies)
    return feature_grams(
        binned,
        kernels,
        numbers,
        sampling="fastfood" if isinstance(method, Fastfood) else method.sampling,
        single=method.single,
        seed=0,
    )


def check_sizes(samples: Sequence[Rows], /) -> None:
    """Raise if a sample has fewer than two rows."""
    if min(rows.n_rows for rows in samples) < 2:
        sizes = " and ".join(str(rows.n_rows) for rows in samples)
        msg = f"a test must have at least 2 rows in each sample; got {sizes}."
        raise UndefinedEstimateError(msg)
