"""Choose bandwidths: from the pooled data, never from which sample a row came from.

A rule that looked at the labels would spoil the level of a permutation test, so every
rule here sees the pooled rows only.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fastmmd._backends.pairs import column_sums
from fastmmd._random import as_generator
from fastmmd._rows import Rows, check_samples
from fastmmd._validation import check_choice, check_count, check_instance, check_positive
from fastmmd.kernels import Cauchy, Gaussian, Kernel, Laplace, Matern, RationalQuadratic

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastmmd._typing import FloatArray, RNGLike, SampleLike

__all__ = ["geometric_bandwidths", "median_bandwidth", "resolve_kernel"]

_SUBSAMPLE_ELEMENTS = 2**23
"""Numbers in a pooled subsample: 64 MB, reached at 1000 rows of 8000 columns."""

_NAMED: dict[str, tuple[Callable[[float], Kernel], str]] = {
    "gaussian": (Gaussian, "euclidean"),
    "laplace": (Laplace, "cityblock"),
    "matern": (Matern, "euclidean"),
    "rational_quadratic": (RationalQuadratic, "euclidean"),
    "cauchy": (Cauchy, "euclidean"),
}

KERNEL_NAMES = tuple(_NAMED)


def median_bandwidth(
    x: SampleLike,
    y: SampleLike,
    /,
    *,
    metric: str = "euclidean",
    max_rows: int = 1000,
    rng: RNGLike = None,
) -> float:
    """Return the median distance between rows of the pooled sample.

    Parameters
    ----------
    x, y : array of shape (n, n_columns)
        The two samples; their rows are pooled.
    metric : {"euclidean", "cityblock"}, default="euclidean"
        Distance to take the median of.
    max_rows : int, default=1000
        At most this many rows, drawn at random from the pooled sample, are compared with
        each other, so the cost does not grow with the sample.
    rng : int or numpy.random.Generator, optional
        Source of that draw; unused when all rows are compared.

    Returns
    -------
    float
        The median; if more than half of the pairs coincide, the median over the pairs
        that differ; 1.0 if all rows are equal, when the bandwidth makes no difference.

    Examples
    --------
    >>> median_bandwidth([[0.0], [3.0]], [[4.0]])
    3.0
    """
    check_choice(metric, ("euclidean", "cityblock"), name="metric")
    max_rows = check_count(max_rows, name="max_rows", minimum=2)
    rows_x, rows_y = check_samples(x, y)
    rows = pooled_subsample(rows_x, rows_y, max_rows, as_generator(rng))
    median = median_distance(_pair_distances(rows, metric))
    if not math.isfinite(median):
        msg = (
            "`x` and `y` must have distances that a float can hold; their median overflows. "
            "Rescale the data."
        )
        raise ValueError(msg)
    return median


def median_distance(distances: FloatArray, /) -> float:
    """Return the median, of the positive distances if it is 0, and 1.0 if all are 0."""
    median = float(np.median(distances)) if distances.size else 0.0
    if median == 0.0:
        different = distances[distances > 0.0]
        median = float(np.median(different)) if different.size else 1.0
    return median


def geometric_bandwidths(start: float, stop: float, /, *, ratio: float) -> FloatArray:
    """Return ``start, start * ratio, start * ratio^2, …`` up to `stop`, it included.

    Parameters
    ----------
    start, stop : float
        Smallest and largest bandwidth.
    ratio : float
        Step, greater than 1.

    Returns
    -------
    ndarray
        Increasing bandwidths. `stop` is the last if a whole number of steps leads to it.

    Examples
    --------
    The family of the paper, 0.1 to 100 in steps of 10^(1/5):

    >>> geometric_bandwidths(0.1, 100.0, ratio=10 ** (1 / 5)).size
    16
    """
    start = check_positive(start, name="start")
    stop = check_positive(stop, name="stop")
    ratio = check_positive(ratio, name="ratio")
    if stop < start:
        msg = f"`stop` must be at least `start`; got {stop!r} and {start!r}."
        raise ValueError(msg)
    if ratio <= 1.0:
        msg = f"`ratio` must be greater than 1; got {ratio!r}."
        raise ValueError(msg)
    # Rounding in the logarithms must not lose the last step.
    n_steps = math.floor((math.log(stop) - math.log(start)) / math.log(ratio) + 1e-9)
    return np.asarray(start * ratio ** np.arange(n_steps + 1))


def resolve_kernel(
    kernel: Kernel | str, x: SampleLike, y: SampleLike, /, *, rng: RNGLike = None
) -> Kernel:
    """Return `kernel`, or the named kernel with the pooled median as its bandwidth.

    Parameters
    ----------
    kernel : Kernel or str
        A kernel, or one of ``"gaussian"``, ``"laplace"``, ``"matern"``,
        ``"rational_quadratic"``, ``"cauchy"``.
    x, y : array of shape (n, n_columns)
        The two samples; their rows are pooled.
    rng : int or numpy.random.Generator, optional
        Source of the subsample that the median is taken of.

    Returns
    -------
    Kernel
        The kernel to use.

    Examples
    --------
    >>> resolve_kernel("laplace", [[0.0], [3.0]], [[4.0]])
    Laplace(bandwidth=3.0)
    """
    if isinstance(kernel, Kernel):
        kernel.check(check_samples(x, y)[0].n_columns)
        return kernel
    check_instance(kernel, Kernel, name="kernel")
    _, metric = _NAMED[
        check_choice(kernel, _NAMED, name="kernel", also="a kernel object")
    ]
    return named_kernel(kernel, bandwidth=median_bandwidth(x, y, metric=metric, rng=rng))


def named_kernel(name: str, /, *, bandwidth: float) -> Kernel:
    """Return the kernel called `name`, with its other parameters at their defaults."""
    check_instance(name, Kernel, name="kernel")
    make, _ = _NAMED[check_choice(name, _NAMED, name="kernel", also="a kernel object")]
    return make(bandwidth)


def pooled_subsample(
    x: Rows, y: Rows, max_rows: int, rng: np.random.Generator, /
) -> FloatArray:
    """Return at most `max_rows` rows of the pooled sample, dense, each equally likely."""
    n_pooled = x.n_rows + y.n_rows
    max_rows = max(2, min(max_rows, _SUBSAMPLE_ELEMENTS // x.n_columns))
    if n_pooled <= max_rows:
        return np.concatenate([x.dense(0, x.n_rows), y.dense(0, y.n_rows)])
    chosen = np.sort(rng.choice(n_pooled, size=max_rows, replace=False, shuffle=False))
    from_x = chosen < x.n_rows
    return np.concatenate([x.take(chosen[from_x]), y.take(chosen[~from_x] - x.n_rows)])


def _pair_distances(rows: FloatArray, metric: str) -> FloatArray:
    rule = "squared" if metric == "euclidean" else "absolute"
    unit = typical_size(rows)
    sums = column_sums(rows / unit, rows / unit, rule, 1.0)
    above = sums[np.tri(len(rows), k=-1, dtype=np.bool_)]
    return np.asarray(np.sqrt(above) if rule == "squared" else above) * unit


def typical_size(rows: FloatArray, /) -> float:
    """Return a power of two near the extent of the data, to measure them in.

    Squares of numbers beyond 1e154 overflow and those below 1e-162 vanish; in this unit
    they do neither.
    """
    extent = float(np.max(np.abs(rows - rows[0]), initial=0.0))
    return 2.0 ** round(math.log2(extent)) if 0.0 < extent < math.inf else 1.0
