"""Linear: one pair of pairs after the other, the cheapest estimate there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from fastmmd.estimators.base import Method, Outcome, check_defined, check_unbiased

if TYPE_CHECKING:
    from fastmmd._rows import Rows
    from fastmmd._typing import Estimator, FloatArray
    from fastmmd.kernels import Kernel

_BLOCK_ELEMENTS = 2**18
"""Numbers of one sample read together."""


@final
@dataclass(frozen=True, slots=True)
class Linear(Method):
    r"""The linear-time estimate: independent terms from consecutive pairs of rows.

    Averages :math:`k(x_1, x_2) + k(y_1, y_2) - k(x_1, y_2) - k(x_2, y_1)` over rows
    (0, 1), (2, 3), … of the first ``min(n_x, n_y)`` rows of both samples, in the given
    order. Fast, with a normal limit, but so noisy that the other methods are nearly
    always the better choice.

    Notes
    -----
    Unbiased only. Rows beyond the shorter sample, and a last odd row, are not used.
    Time ``O(n n_columns)``.

    References
    ----------
    .. [1] Gretton, Borgwardt, Rasch, Schoelkopf and Smola, "A Kernel Two-Sample Test",
       JMLR 2012, Lemma 14.

    Examples
    --------
    >>> import fastmmd
    >>> fastmmd.mmd(
    ...     [0.0, 1.0], [2.0, 3.0], kernel=fastmmd.Gaussian(1.0), method=Linear()
    ... ).mmd2
    0.5954
    """

    name: ClassVar[str] = "linear"

    def estimate(
        self,
        x: Rows,
        y: Rows,
        /,
        *,
        kernel: Kernel,
        estimator: Estimator,
        rng: np.random.Generator,
    ) -> Outcome:
        check_unbiased(self, estimator)
        check_defined(x, y, estimator)
        return Outcome(
            mmd2=float(linear_values(x, y, kernel).mean()),
            settings=self,
        )


def linear_values(x: Rows, y: Rows, kernel: Kernel, /) -> FloatArray:
    """Return the independent terms whose mean is the estimate."""
    n_used = 2 * (min(x.n_rows, y.n_rows) // 2)
    step = 2 * max(1, _BLOCK_ELEMENTS // (2 * x.n_columns))
    terms = []
    for start in range(0, n_used, step):
        stop = min(start + step, n_used)
        block_x, block_y = x.dense(start, stop), y.dense(start, stop)
        x1, x2, y1, y2 = block_x[::2], block_x[1::2], block_y[::2], block_y[1::2]
        within = kernel(x1 - x2) + kernel(y1 - y2)
        terms.append(within - kernel(x1 - y2) - kernel(x2 - y1))
    return np.concatenate(terms)
