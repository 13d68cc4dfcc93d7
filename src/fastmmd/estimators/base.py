"""What every method is, and the algebra between biased and unbiased estimates."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, final

from fastmmd._errors import UndefinedEstimateError

if TYPE_CHECKING:
    import numpy as np

    from fastmmd._rows import Rows
    from fastmmd._typing import Estimator
    from fastmmd.kernels import Kernel


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a method found: the number, its error and the settings it came to use."""

    mmd2: float
    settings: Method
    standard_error: float | None = None
    n_frequencies: int | None = None


class Method(abc.ABC):
    """A way to estimate MMD; concrete ones are final, frozen and carry settings only."""

    __slots__ = ()

    name: ClassVar[str]

    @abc.abstractmethod
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
        """Estimate the squared MMD between two checked samples."""


def check_defined(x: Rows, y: Rows, estimator: Estimator, /) -> None:
    """Raise if the unbiased estimate does not exist for these sizes."""
    if estimator == "unbiased" and min(x.n_rows, y.n_rows) < 2:
        msg = (
            "the unbiased estimate must have at least 2 rows in each sample; got "
            f'{x.n_rows} and {y.n_rows}. `estimator="biased"` is defined from 1 row up.'
        )
        raise UndefinedEstimateError(msg)


def check_unbiased(method: Method, estimator: Estimator, /) -> None:
    """Raise if a method that only has an unbiased form is asked for the biased one."""
    if estimator == "biased":
        msg = (
            f'`estimator` must be "unbiased" for `{type(method).__name__}`, which leaves '
            'out the pairs that the biased estimate needs; got "biased".'
        )
        raise UndefinedEstimateError(msg)
