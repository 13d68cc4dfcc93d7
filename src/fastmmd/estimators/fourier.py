"""Fourier: the paper's estimate by random frequencies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from fastmmd._validation import check_choice, check_count, check_positive
from fastmmd.estimators.base import Method, Outcome
from fastmmd.estimators.spectral import Algorithm, spectral_estimate
from fastmmd.frequencies import (
    SAMPLINGS,
    DenseFrequencies,
    check_frequencies,
    choose_sampling,
    draw_frequencies,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from fastmmd._rows import Rows
    from fastmmd._typing import Estimator
    from fastmmd.kernels import Kernel

DEFAULT_FREQUENCIES = 1024
PRECISIONS = ("auto", "single", "double")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Fourier(Method):
    r"""The mean squared amplitude of cosine and sine sums over random frequencies.

    One pass over the data for any shift-invariant kernel; the paper's FastMMD-Fourier.

    Parameters
    ----------
    n_frequencies : int, default=1024
        Number of frequencies L; each gives a cosine and a sine.
    sampling : {"auto", "iid", "orthogonal", "sobol", "stratified"}, default="auto"
        How frequencies are drawn; ``"auto"`` takes the one that errs least for the
        numbers of columns and frequencies.
    frequencies : array of shape (n_frequencies, n_columns), optional
        Given frequencies, used as they are; then the estimate is not random, and the
        standard error is that of frequencies drawn independently.
    tolerance : float, optional
        Keep doubling the frequencies until the standard error over frequencies is at most
        this share of the squared MMD.
    max_frequencies : int, default=131072
        Where `tolerance` gives up, with a `ToleranceWarning`.
    algorithm : {"features", "amplitudes"}, default="features"
        Algorithm 2 of the paper (mean features) or Algorithm 1 (amplitudes and phases).
        The same number up to rounding.
    precision : {"auto", "single", "double"}, default="auto"
        Precision of phases, cosines and sines; sums are always double. Single is several
        times faster and off by about 1e-7 of a phase, far below the error of random
        frequencies; rows with large phases are computed in double anyway. ``"auto"`` is
        single for drawn frequencies and double for given ones.

    Notes
    -----
    Time ``O(L (n_x + n_y) n_columns)``, memory a few megabytes. The error falls as
    :math:`L^{-1/2}` for independent frequencies and faster for the others; see the
    standard error in the result. Sparse rows are multiplied as they are.

    References
    ----------
    .. [1] Zhao and Meng, "FastMMD: Ensemble of Circular Discrepancy for Efficient
       Two-Sample Test", Neural Computation 2015, Algorithms 1 and 2.

    Examples
    --------
    One frequency is enough to see the formula: two points on the unit circle.

    >>> import fastmmd
    >>> method = Fourier(frequencies=[[1.0]])
    >>> kernel = fastmmd.Gaussian(1.0)
    >>> fastmmd.mmd([0.0], [1.0], kernel=kernel, method=method, estimator="biased").mmd2
    0.9193953883
    """

    name: ClassVar[str] = "fourier"

    n_frequencies: int = DEFAULT_FREQUENCIES
    sampling: str = "auto"
    frequencies: npt.ArrayLike | None = None
    tolerance: float | None = None
    max_frequencies: int = 2**17
    algorithm: Algorithm = "features"
    precision: str = "auto"

    def __post_init__(self) -> None:
        check_spectral_options(self.n_frequencies, self.tolerance, self.max_frequencies)
        check_choice(self.sampling, SAMPLINGS, name="sampling")
        check_choice(self.algorithm, ("features", "amplitudes"), name="algorithm")
        check_choice(self.precision, PRECISIONS, name="precision")
        if self.frequencies is not None and self.tolerance is not None:
            msg = "`tolerance` must be left out when `frequencies` are given."
            raise ValueError(msg)

    def __repr__(self) -> str:
        if self.frequencies is not None:
            text = f"frequencies=<given, shape {np.shape(self.frequencies)}>"
        else:
            text = f"{self.n_frequencies}, sampling={self.sampling!r}"
        if self.tolerance is not None:
            text += (
                f", tolerance={self.tolerance:g}, max_frequencies={self.max_frequencies}"
            )
        if self.algorithm != "features":
            text += f", algorithm={self.algorithm!r}"
        if self.precision != "auto":
            text += f", precision={self.precision!r}"
        return f"Fourier({text})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Fourier):
            return NotImplemented
        same_given = (self.frequencies is None) == (other.frequencies is None) and (
            self.frequencies is None
            or np.array_equal(np.asarray(self.frequencies), np.asarray(other.frequencies))
        )
        return same_given and self._settings() == other._settings()

    def __hash__(self) -> int:
        return hash(self._settings())

    def _settings(self) -> tuple[object, ...]:
        return (
            self.n_frequencies,
            self.sampling,
            self.tolerance,
            self.max_frequencies,
            self.algorithm,
            self.precision,
        )

    @property
    def single(self) -> bool:
        """Whether features in single precision will do."""
        drawn = self.frequencies is None
        return self.precision == "single" or (self.precision == "auto" and drawn)

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
        settings = self
        if self.frequencies is not None:
            given = check_frequencies(self.frequencies, x.n_columns)
        elif self.sampling == "auto":
            settings = replace(
                self, sampling=choose_sampling(kernel, x.n_columns, self.n_frequencies)
            )

        def draw(n_more: int) -> DenseFrequencies:
            if self.frequencies is not None:
                return given
            return draw_frequencies(
                kernel, n_more, x.n_columns, sampling=settings.sampling, rng=rng
            )

        return spectral_estimate(
            x,
            y,
            draw,
            kernel=kernel,
            estimator=estimator,
            settings=settings,
            n_frequencies=self.n_frequencies,
            tolerance=self.tolerance,
            max_frequencies=self.max_frequencies,
            single=self.single,
            algorithm=self.algorithm,
        )


def check_spectral_options(
    n_frequencies: int, tolerance: float | None, max_frequencies: int, /
) -> None:
    """Check the options that Fourier and Fastfood share."""
    check_count(n_frequencies, name="n_frequencies")
    check_count(max_frequencies, name="max_frequencies")
    if tolerance is not None:
        check_positive(tolerance, name="tolerance")
        if max_frequencies < n_frequencies:
            msg = (
                f"`max_frequencies` must be at least `n_frequencies`; got {max_frequencies} "
                f"and {n_frequencies}."
            )
            raise ValueError(msg)
