"""The sum of cosines and sines: what Fourier and Fastfood share.

For one frequency the samples' mean features are two points in the plane,
``m_x = mean exp(i w.x)`` and ``m_y``. Each frequency contributes a number to the estimate,
and the estimate is ``K(0)`` times the mean of these contributions.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from fastmmd._backends import Channel, Places
from fastmmd._errors import ToleranceWarning
from fastmmd.estimators.base import Method, Outcome, check_defined

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from fastmmd._rows import Rows
    from fastmmd._typing import Estimator, FloatArray
    from fastmmd.kernels import Kernel

    ComplexArray = npt.NDArray[np.complex128]

Algorithm = Literal["features", "amplitudes"]

_GROUPS_FOR_ERROR = 8
"""With fewer independent groups the spread between them is too uncertain to report."""


class Frequencies(Protocol):
    """What the estimate needs of frequencies: phases of rows, and independent groups."""

    @property
    def n_frequencies(self) -> int: ...

    @property
    def group_sizes(self) -> npt.NDArray[np.intp]: ...

    def add_feature_sums(
        self,
        sums: FloatArray,
        rows: Rows,
        places: Places,
        center: FloatArray | None,
        channels: tuple[Channel, ...],
        /,
        *,
        single: bool,
    ) -> None: ...


def reference_point(x: Rows, /) -> FloatArray | None:
    """Return a point amid the data to measure from; MMD does not depend on it.

    Phases of centred rows are small and keep their digits. Sparse rows are left alone:
    centring would make them dense.
    """
    return None if x.is_sparse else x.middle()


def mean_features(
    rows: Rows,
    frequencies: Frequencies,
    center: FloatArray | None,
    /,
    *,
    single: bool = False,
) -> ComplexArray:
    """Return ``mean exp(i w.(row - center))`` for every frequency: one pass."""
    n_frequencies = frequencies.n_frequencies
    sums = np.zeros((1, 2 * n_frequencies))
    places = Places(np.array([0, rows.n_rows], dtype=np.int64))
    channels = (Channel(1.0 / (2.0 * np.pi), n_frequencies, 0),)
    frequencies.add_feature_sums(sums, rows, places, center, channels, single=single)
    cosines, sines = sums.reshape(2, n_frequencies)
    return np.asarray((cosines + 1j * sines) / rows.n_rows, dtype=np.complex128)


def contributions(
    mean_x: ComplexArray,
    mean_y: ComplexArray,
    /,
    *,
    n_x: int,
    n_y: int,
    estimator: Estimator,
    algorithm: Algorithm,
) -> FloatArray:
    """Return each frequency's share of the squared MMD, for ``K(0) = 1``.

    ``"features"`` is Algorithm 2 of the paper, the squared distance of the mean features;
    ``"amplitudes"`` is Algorithm 1, amplitudes and phases of the combined sinusoids. They
    are the same number. Both carry ``K(0)`` outside: Algorithm 2 as printed scales the
    features by ``K(0) / sqrt(L)`` where it must be ``sqrt(K(0) / L)``.
    """
    if algorithm == "amplitudes":
        amplitude_x, amplitude_y = np.abs(mean_x), np.abs(mean_y)
        square_x, square_y = amplitude_x**2, amplitude_y**2
        angle = np.angle(mean_x) - np.angle(mean_y)
        squares = square_x + square_y - 2.0 * amplitude_x * amplitude_y * np.cos(angle)
    else:
        square_x, square_y = _squared_length(mean_x), _squared_length(mean_y)
        squares = _squared_length(mean_x - mean_y)
    if estimator == "biased":
        return squares
    # Appendix A.1: each feature pair has length one, so the i = j terms are known.
    return np.asarray(
        squares - (1.0 - square_x) / (n_x - 1) - (1.0 - square_y) / (n_y - 1)
    )


def standard_error(
    values: FloatArray, group_sizes: npt.NDArray[np.intp], /
) -> float | None:
    """Return the standard error of ``values.mean()`` over draws of independent groups.

    With few groups the values are taken one by one. That overstates the error of
    orthogonal frequencies, which vary less than independent ones, and understates that of
    Fastfood by up to a quarter.
    """
    if len(group_sizes) < _GROUPS_FOR_ERROR:
        group_sizes = np.ones(len(values), dtype=np.intp)
    n_groups = len(group_sizes)
    if n_groups < 2:
        return None
    starts = np.concatenate([[0], np.cumsum(group_sizes)[:-1]])
    sums = np.add.reduceat(values - values.mean(), starts)
    return math.sqrt(n_groups / (n_groups - 1) * float(sums @ sums)) / len(values)


def spectral_estimate(
    x: Rows,
    y: Rows,
    draw: Callable[[int], Frequencies],
    /,
    *,
    kernel: Kernel,
    estimator: Estimator,
    settings: Method,
    n_frequencies: int,
    tolerance: float | None,
    max_frequencies: int,
    single: bool,
    algorithm: Algorithm = "features",
) -> Outcome:
    """Estimate MMD from the frequencies that `draw` gives, a number of them at a time.

    With a `tolerance`, frequencies are doubled until the standard error is at most that
    share of the estimate.
    """
    check_defined(x, y, estimator)
    center = reference_point(x)
    all_values: list[FloatArray] = []
    all_sizes: list[npt.NDArray[np.intp]] = []
    total = 0
    wanted = n_frequencies
    while True:
        drawn = draw(wanted - total)
        all_values.append(
            contributions(
                mean_features(x, drawn, center, single=single),
                mean_features(y, drawn, center, single=single),
                n_x=x.n_rows,
                n_y=y.n_rows,
                estimator=estimator,
                algorithm=algorithm,
            )
        )
        all_sizes.append(drawn.group_sizes)
        total += drawn.n_frequencies
        values = np.concatenate(all_values)
        error = standard_error(values, np.concatenate(all_sizes))
        estimate = float(values.mean())
        if tolerance is None or (
            error is not None and error <= tolerance * abs(estimate)
        ):
            break
        if total >= max_frequencies:
            _warn_tolerance(estimate, error, tolerance, total)
            break
        wanted = min(2 * total, max_frequencies)
    return Outcome(
        mmd2=kernel.at_zero * estimate,
        standard_error=None if error is None else kernel.at_zero * error,
        settings=settings,
        n_frequencies=total,
    )


def _warn_tolerance(
    estimate: float, error: float | None, tolerance: float, total: int
) -> None:
    reached = math.inf if error is None or estimate == 0.0 else error / abs(estimate)
    msg = (
        f"the relative standard error is {reached:.2g} after {total} frequencies, above "
        f"`tolerance` of {tolerance:.2g}. An estimate near 0 has no small relative error; "
        "otherwise raise `max_frequencies`."
    )
    warnings.warn(msg, ToleranceWarning, stacklevel=5)


def _squared_length(values: ComplexArray) -> FloatArray:
    return np.asarray(values.real**2 + values.imag**2)
