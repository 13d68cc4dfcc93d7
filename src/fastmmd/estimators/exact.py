"""Exact: every pair of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, final

from fastmmd._backends import pair_sum, self_pair_sum
from fastmmd._validation import check_count
from fastmmd.estimators.base import Method, Outcome, check_defined

if TYPE_CHECKING:
    import numpy as np

    from fastmmd._rows import Rows
    from fastmmd._typing import Estimator
    from fastmmd.kernels import Kernel


@final
@dataclass(frozen=True, slots=True)
class Exact(Method):
    """The double sum over all pairs of rows, in bounded memory.

    Use it as the reference, and up to some ten thousand rows.

    Parameters
    ----------
    workspace : int, default=67108864
        Bytes of memory to work in (64 MiB), beyond the data themselves.

    Notes
    -----
    Time ``O((n_x + n_y)^2 n_columns)``, memory `workspace` at any number of rows. Sparse
    rows are never made dense for radial kernels, and only block by block for others.

    Examples
    --------
    >>> import fastmmd
    >>> fastmmd.mmd(
    ...     [0.0, 1.0], [2.0, 3.0], kernel=fastmmd.Gaussian(1.0), method=Exact()
    ... ).mmd2
    0.7689
    """

    name: ClassVar[str] = "exact"

    workspace: int = 64 * 2**20

    def __post_init__(self) -> None:
        check_count(self.workspace, name="workspace", minimum=2**16)

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
        check_defined(x, y, estimator)
        n_x, n_y = x.n_rows, y.n_rows
        within_x = within_y = between = 0.0  # sums over pairs of different rows
        for form in kernel.pair_forms():
            room = self.workspace
            within_x += form.weight * self_pair_sum(x, form=form, workspace=room)
            within_y += form.weight * self_pair_sum(y, form=form, workspace=room)
            between += form.weight * pair_sum(x, y, form=form, workspace=room)
        if not math.isfinite(within_x + within_y + between):
            return Outcome(mmd2=math.nan, settings=self)
        # The three means nearly cancel when the samples are alike, so the last steps are
        # done in rational arithmetic: the sums' own rounding is all that is left.
        mean_between = Fraction(between) / (n_x * n_y)
        if estimator == "unbiased":
            mean_x = Fraction(within_x) / (n_x * (n_x - 1))
            mean_y = Fraction(within_y) / (n_y * (n_y - 1))
        else:
            at_zero = Fraction(kernel.at_zero)
            mean_x = (Fraction(within_x) + n_x * at_zero) / n_x**2
            mean_y = (Fraction(within_y) + n_y * at_zero) / n_y**2
        return Outcome(
            mmd2=float(mean_x + mean_y - 2 * mean_between),
            settings=self,
        )
