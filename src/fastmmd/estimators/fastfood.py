"""Fastfood: the Fourier estimate with frequencies made by fast transforms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, final

from fastmmd._validation import check_choice
from fastmmd.estimators.base import Method, Outcome
from fastmmd.estimators.fourier import (
    DEFAULT_FREQUENCIES,
    PRECISIONS,
    check_spectral_options,
)
from fastmmd.estimators.spectral import spectral_estimate
from fastmmd.frequencies import FastfoodFrequencies, draw_fastfood

if TYPE_CHECKING:
    import numpy as np

    from fastmmd._rows import Rows
    from fastmmd._typing import Estimator
    from fastmmd.kernels import Kernel


@final
@dataclass(frozen=True, slots=True)
class Fastfood(Method):
    r"""The Fourier estimate with structured frequencies, for very many columns.

    The paper's FastMMD-Fastfood: products with Hadamard matrices replace the matrix of
    frequencies. It pays for thousands of dense columns; below that `Fourier` is both
    faster and, with its better draws, more accurate.

    Parameters
    ----------
    n_frequencies : int, default=1024
        Number of frequencies L.
    tolerance : float, optional
        Keep doubling the frequencies until the standard error over frequencies is at most
        this share of the squared MMD.
    max_frequencies : int, default=131072
        Where `tolerance` gives up, with a `ToleranceWarning`.
    precision : {"auto", "single", "double"}, default="auto"
        Precision of phases, cosines and sines; sums are always double. Single is several
        times faster and off by about 1e-7 of a phase, far below the error of random
        frequencies; rows with large phases are computed in double anyway. ``"auto"`` is
        single.

    Notes
    -----
    Time ``O(L (n_x + n_y) log n_columns)``. Radial kernels only. Columns are padded with
    zeros to the next power of two. Frequencies of one block are not independent: the
    standard error takes blocks as units when there are at least 8 of them, and with fewer
    it is too small, by up to a quarter.

    References
    ----------
    .. [1] Le, Sarlos and Smola, "Fastfood: Approximating Kernel Expansions in Loglinear
       Time", ICML 2013.

    Examples
    --------
    >>> import numpy as np, fastmmd
    >>> x, y = np.zeros((2, 3)), np.ones((2, 3))
    >>> estimate = fastmmd.mmd(
    ...     x, y, kernel=fastmmd.Gaussian(1.0), method=Fastfood(4096), rng=0
    ... )
    >>> exact = 2.0 - 2.0 * np.exp(-1.5)
    >>> bool(abs(estimate.mmd2 - exact) < 5.0 * estimate.standard_error)
    True
    """

    name: ClassVar[str] = "fastfood"

    n_frequencies: int = DEFAULT_FREQUENCIES
    tolerance: float | None = None
    max_frequencies: int = 2**17
    precision: str = "auto"

    def __post_init__(self) -> None:
        check_spectral_options(self.n_frequencies, self.tolerance, self.max_frequencies)
        check_choice(self.precision, PRECISIONS, name="precision")

    @property
    def single(self) -> bool:
        """Whether features in single precision will do."""
        return self.precision != "double"

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
        def draw(n_more: int) -> FastfoodFrequencies:
            return draw_fastfood(kernel, n_more, x.n_columns, rng=rng)

        return spectral_estimate(
            x,
            y,
            draw,
            kernel=kernel,
            estimator=estimator,
            settings=self,
            n_frequencies=self.n_frequencies,
            tolerance=self.tolerance,
            max_frequencies=self.max_frequencies,
            single=self.single,
        )
