"""`mmd`: one estimate from two samples."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fastmmd._errors import UndefinedEstimateError
from fastmmd._plan import plan_for_rows, resolve_method
from fastmmd._random import spawn
from fastmmd._rows import check_samples
from fastmmd._threads import threads
from fastmmd._validation import check_choice
from fastmmd.bandwidth import resolve_kernel
from fastmmd.estimators import Method, MMDEstimate

if TYPE_CHECKING:
    from fastmmd._typing import Estimator, RNGLike, SampleLike
    from fastmmd.kernels import Kernel


def mmd(
    x: SampleLike,
    y: SampleLike,
    /,
    *,
    kernel: Kernel | str = "gaussian",
    method: Method | str = "auto",
    estimator: Estimator = "unbiased",
    rng: RNGLike = None,
    n_threads: int | None = None,
) -> MMDEstimate:
    r"""Estimate the maximum mean discrepancy between two samples.

    How far apart are two data sets? MMD is 0 if their distributions are equal and
    positive otherwise; it is measured in the scale of the kernel, at most
    :math:`\sqrt{2 K(0)}`.

    Parameters
    ----------
    x, y : array of shape (n, n_columns)
        The two samples, of any sizes. One dimension is read as one column; lists,
        integers and SciPy sparse matrices are welcome.
    kernel : Kernel or str, default="gaussian"
        A kernel such as ``Gaussian(1.0)``, or a name (``"gaussian"``, ``"laplace"``,
        ``"matern"``, ``"rational_quadratic"``, ``"cauchy"``), which takes the median
        distance of a pooled subsample as bandwidth.
    method : Method or str, default="auto"
        How to compute: ``Exact()``, ``Fourier()``, ``Fastfood()``, ``Linear()``,
        ``Block()``, ``Grid()`` or their names in lower case. ``"auto"`` takes what
        `fastmmd.plan` recommends for these sizes.
    estimator : {"unbiased", "biased"}, default="unbiased"
        The U statistic, right on average and sometimes negative, or the V statistic,
        never negative and too large by about ``2 K(0) / n``.
    rng : int or numpy.random.Generator, optional
        Source of all randomness: pass an integer for repeatable results.
    n_threads : int, optional
        At most so many threads; see `fastmmd.threads`. The result does not depend on it.

    Returns
    -------
    MMDEstimate
        The estimate, with everything that was used.

    See Also
    --------
    fastmmd.plan : What ``method="auto"`` will choose, and what it costs.

    Notes
    -----
    With :math:`m_x(w)` the mean of :math:`e^{i w \cdot x}`, squared MMD is
    :math:`K(0) \, E_w |m_x(w) - m_y(w)|^2` over the kernel's frequencies; the unbiased
    estimate takes out the pairs of a row with itself (appendix A.1 of [1]_).

    References
    ----------
    .. [1] Zhao and Meng, "FastMMD: Ensemble of Circular Discrepancy for Efficient
       Two-Sample Test", Neural Computation 2015.

    Examples
    --------
    Two normal samples, one shifted by half a standard deviation:

    >>> import numpy as np, fastmmd
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(0.0, 1.0, 500), rng.normal(0.5, 1.0, 500)
    >>> fastmmd.mmd(x, y, kernel=fastmmd.Gaussian(1.0)).mmd
    0.20
    """
    rows_x, rows_y = check_samples(x, y)
    check_choice(estimator, ("unbiased", "biased"), name="estimator")
    for_bandwidth, for_method = spawn(rng, 2)
    resolved = resolve_method(method)
    kernel = resolve_kernel(kernel, rows_x, rows_y, rng=for_bandwidth)
    if resolved is None:
        resolved = plan_for_rows(rows_x, rows_y, kernel, estimator).method
    with threads(n_threads):
        outcome = resolved.estimate(
            rows_x, rows_y, kernel=kernel, estimator=estimator, rng=for_method
        )
    if not math.isfinite(outcome.mmd2):
        msg = (
            "the estimate must be finite; it overflowed. The data or the kernel's "
            f"parameters ({kernel}) are too extreme for double precision: rescale them."
        )
        raise UndefinedEstimateError(msg)
    return MMDEstimate(
        # A squared distance, up to rounding.
        mmd2=max(outcome.mmd2, 0.0) if estimator == "biased" else outcome.mmd2,
        standard_error=outcome.standard_error,
        estimator=estimator,
        method=outcome.settings.name,
        settings=outcome.settings,
        kernel=kernel,
        n_x=rows_x.n_rows,
        n_y=rows_y.n_rows,
        n_frequencies=outcome.n_frequencies,
    )
