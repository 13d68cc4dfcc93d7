"""Block: the B-test's mean of small exact estimates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from fastmmd._backends import pair_sum, self_pair_sum
from fastmmd._errors import UndefinedEstimateError
from fastmmd._validation import check_count
from fastmmd.estimators.base import Method, Outcome, check_defined, check_unbiased

if TYPE_CHECKING:
    from fastmmd._rows import Rows
    from fastmmd._typing import Estimator, FloatArray
    from fastmmd.kernels import Kernel

_WORKSPACE = 16 * 2**20
"""Bytes to work in, beyond the blocks themselves."""


@final
@dataclass(frozen=True, slots=True)
class Block(Method):
    r"""The B-test's estimate: the mean of unbiased estimates within blocks of rows.

    Both samples are cut, in the given order, into blocks of `size` rows; in each block
    the one-sample U statistic is computed,
    :math:`\sum_{i \ne j} [k(x_i, x_j) + k(y_i, y_j) - k(x_i, y_j) - k(x_j, y_i)]`
    divided by ``size (size - 1)``, and the blocks are averaged.

    Parameters
    ----------
    size : int, optional
        Rows of each sample in a block, at least 2. By default the root of the shorter
        sample, rounded down. (The paper writes "the square of sample size"; the square
        root is meant.)

    Notes
    -----
    Unbiased only. Rows beyond the shorter sample, and those that fill no block, are not
    used. Time ``O(n size n_columns)``, memory of a few blocks.

    References
    ----------
    .. [1] Zaremba, Gretton and Blaschko, "B-test: A Non-parametric, Low Variance Kernel
       Two-sample Test", NIPS 2013.

    Examples
    --------
    >>> import fastmmd
    >>> x, y = [0.0, 1.0, 0.0, 1.0], [2.0, 3.0, 2.0, 3.0]
    >>> fastmmd.mmd(x, y, kernel=fastmmd.Gaussian(1.0), method=Block(size=2)).mmd2
    0.5954
    """

    name: ClassVar[str] = "block"

    size: int | None = None

    def __post_init__(self) -> None:
        if self.size is not None:
            check_count(self.size, name="size", minimum=2)

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
        size = self.size_for(x, y)
        return Outcome(
            mmd2=float(block_values(x, y, kernel, size).mean()),
            settings=Block(size),
        )

    def size_for(self, x: Rows, y: Rows, /) -> int:
        """Return the block size for these samples, the default filled in."""
        shorter = min(x.n_rows, y.n_rows)
        size = max(2, math.isqrt(shorter)) if self.size is None else self.size
        if size > shorter:
            msg = (
                f"`size` must be at most the shorter sample's {shorter} rows; got {size}."
            )
            raise UndefinedEstimateError(msg)
        return size


def block_values(x: Rows, y: Rows, kernel: Kernel, size: int, /) -> FloatArray:
    """Return the estimate within each block."""
    n_blocks = min(x.n_rows, y.n_rows) // size
    values = np.empty(n_blocks)
    forms = kernel.pair_forms()
    for b in range(n_blocks):
        start, stop = b * size, (b + 1) * size
        block_x, block_y = x.part(start, stop), y.part(start, stop)
        total = 0.0
        for form in forms:
            total += form.weight * (
                self_pair_sum(block_x, form=form, workspace=_WORKSPACE)
                + self_pair_sum(block_y, form=form, workspace=_WORKSPACE)
                - 2.0 * pair_sum(block_x, block_y, form=form, workspace=_WORKSPACE)
            )
        # Rows of the same number are not paired.
        same = kernel(x.dense(start, stop) - y.dense(start, stop)).sum()
        values[b] = (total + 2.0 * float(same)) / (size * (size - 1))
    return values
