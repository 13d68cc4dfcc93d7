"""What an estimate returns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from fastmmd._typing import Estimator
    from fastmmd.kernels import Kernel


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MMDEstimate:
    """An estimate of the maximum mean discrepancy between two samples.

    Attributes
    ----------
    mmd2 : float
        Squared MMD. Unbiased estimates scatter around the true value, so they are often
        a little below 0 when the samples have the same distribution.
    standard_error : float or None
        How far `mmd2` strays from its value with all frequencies, in one standard
        deviation over the random draw of frequencies; ``None`` where nothing is random.
        Frequencies given by the user are taken as independent draws. It does not
        describe the randomness of the data.
    estimator : {"biased", "unbiased"}
        Which estimate: the V statistic or the U statistic.
    method : str
        Name of the method used, after any ``"auto"`` was resolved.
    settings : Method
        The same method as an object, with its parameters.
    kernel : Kernel
        The kernel used, after any bandwidth rule was applied.
    n_x, n_y : int
        Rows in each sample.
    n_frequencies : int or None
        Frequencies used; ``None`` for methods that use none.

    Examples
    --------
    >>> import fastmmd
    >>> estimate = fastmmd.mmd(
    ...     [0.0, 1.0], [5.0, 6.0], kernel=fastmmd.Gaussian(1.0), estimator="biased"
    ... )
    >>> print(estimate)
    MMD = 1.267, biased, exact, Gaussian(bandwidth=1), n_x = 2, n_y = 2
    """

    mmd2: float
    standard_error: float | None
    estimator: Estimator
    method: str
    settings: Any
    kernel: Kernel
    n_x: int
    n_y: int
    n_frequencies: int | None = None

    @property
    def mmd(self) -> float:
        """The MMD itself: the root of `mmd2`, or 0 if that is negative."""
        return math.sqrt(max(self.mmd2, 0.0))

    def __str__(self) -> str:
        value = f"MMD = {self.mmd:.4g}"
        if self.mmd2 < 0.0:
            error = (
                "" if self.standard_error is None else f" +- {self.standard_error:.2g}"
            )
            value += f" (MMD^2 = {self.mmd2:.3g}{error}, below 0 by chance)"
        elif self.standard_error is not None:
            value += f" (MMD^2 = {self.mmd2:.4g} +- {self.standard_error:.2g})"
        method = self.method
        if self.n_frequencies is not None:
            method += f" with {self.n_frequencies} frequencies"
        return (
            f"{value}, {self.estimator}, {method}, {self.kernel}, "
            f"n_x = {self.n_x}, n_y = {self.n_y}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain types, ready for ``json.dumps``."""
        return {
            "mmd2": self.mmd2,
            "mmd": self.mmd,
            "standard_error": self.standard_error,
            "estimator": self.estimator,
            "method": self.method,
            "settings": repr(self.settings),
            "kernel": repr(self.kernel),
            "n_x": self.n_x,
            "n_y": self.n_y,
            "n_frequencies": self.n_frequencies,
        }
