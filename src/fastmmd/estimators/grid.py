r"""Grid: exact MMD in linear time, for one to three columns.

Write the kernel as a trigonometric sum that is right for every difference that can occur,
``kappa(delta) = sum_k c_k exp(i k . 2 pi delta / period)``. Then

``MMD^2 = sum_k c_k |m_x(k) - m_y(k)|^2``, with ``m(k)`` the mean of
``exp(i k . 2 pi row / period)``, and all the ``m(k)`` together are one non-uniform fast
Fourier transform of the rows. Nothing is random; the error is the truncation of the sum.

The coefficients ``c_k`` come from an ordinary FFT of the kernel on one period. Two things
must hold there. The period must be long enough that no difference is mistaken for another
one; and the kernel must meet itself smoothly where the period closes, or the sum converges
slowly. A kernel that has decayed to nothing does so by itself. One with a heavy tail is
bent: beyond the largest difference ``D`` of the data its argument levels off smoothly,
which changes values that are never used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, final

import numpy as np

from fastmmd._errors import MissingDependencyError, UnsupportedKernelError
from fastmmd._validation import check_between
from fastmmd.estimators.base import Method, Outcome, check_defined

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from fastmmd._rows import Rows
    from fastmmd._typing import Estimator, FloatArray
    from fastmmd.kernels import Kernel

MAX_COLUMNS = 3

_HEADROOM = 1e-4
"""Each source of error is held this much below the tolerance: the tolerance is relative
to K(0), and a small MMD should still have digits of its own."""

_FINEST = 1e-14
"""No error source can be asked to be smaller than this in double precision."""

_MAX_FINE_POINTS = 2**26
"""Points of the transform's internal grid: 1 GB of complex numbers."""

_MAX_AXIS_POINTS = 2**20
"""Points along one column: a kernel that needs more is rough, not merely narrow."""

_MAX_WIDE_POINTS = 256
"""Points for a kernel that reaches far beyond the data: a Gaussian needs some 40; a heavy
tail would need very many, and is bent instead."""

_ROWS_PER_CALL = 2**20
_ROWS_FOR_THREADS = 50_000


@final
@dataclass(frozen=True, slots=True)
class Grid(Method):
    r"""The exact MMD to a tolerance, by a regular grid of frequencies.

    For one to three columns and smooth kernels (Gaussian, rational quadratic, Cauchy,
    Matern of high order, mixtures of these): linear time, and no randomness. Needs the
    package finufft (``pip install "fastmmd[grid]"``).

    Parameters
    ----------
    tolerance : float, default=1e-9
        Largest error of the squared MMD, in units of ``K(0)``. The actual error is
        usually thousands of times smaller.

    Notes
    -----
    Time ``O(n + M log M)`` for M grid frequencies; M grows as the ratio of the data's
    extent to the bandwidth, to the power of the number of columns. A kernel with a
    cusp (Laplace, Matern of low order) or a bandwidth far below the extent of the data
    would need too many, which is an error.

    Examples
    --------
    >>> import fastmmd
    >>> fastmmd.mmd(
    ...     [0.0, 1.0], [2.0, 3.0], kernel=fastmmd.Gaussian(1.0), method=Grid()
    ... ).mmd2
    0.7689
    """

    name: ClassVar[str] = "grid"

    tolerance: float = 1e-9

    def __post_init__(self) -> None:
        check_between(self.tolerance, 0.0, 0.1, name="tolerance")

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
        finufft = import_finufft()
        if x.n_columns > MAX_COLUMNS:
            msg = (
                f"`Grid` must have at most {MAX_COLUMNS} columns; got {x.n_columns}. Use "
                '`method="fourier"`.'
            )
            raise ValueError(msg)
        target = max(self.tolerance * _HEADROOM, _FINEST)
        low, high = column_bounds(x, y)
        series = cosine_series(kernel, high - low, target)
        transform = _Transform(finufft, series, 0.5 * (low + high), target)
        _verify(transform, kernel, high - low, self.tolerance, rng)
        mean_x, mean_y = transform.means(x), transform.means(y)
        n_x, n_y = x.n_rows, y.n_rows
        coefficients = series.coefficients
        mmd2 = _weighted_square(coefficients, mean_x - mean_y)
        if estimator == "unbiased":
            # Appendix A.1: take the i = j terms out of the means within each sample.
            at_zero = kernel.at_zero
            mmd2 -= (at_zero - _weighted_square(coefficients, mean_x)) / (n_x - 1)
            mmd2 -= (at_zero - _weighted_square(coefficients, mean_y)) / (n_y - 1)
        return Outcome(mmd2=mmd2, settings=self, n_frequencies=coefficients.size)


@final
@dataclass(frozen=True, slots=True, eq=False)
class CosineSeries:
    """A kernel as a sum of cosines over one period.

    Parameters
    ----------
    periods : ndarray of shape (n_columns,)
        Period in each column.
    coefficients : ndarray
        ``c_k`` on the grid of ``k``, with k = 0 in the middle of each axis.
    """

    periods: FloatArray
    coefficients: FloatArray


def cosine_series(kernel: Kernel, extents: FloatArray, target: float, /) -> CosineSeries:
    """Return the series of `kernel` for differences up to `extents`, good to `target`."""
    axes = [_axis(kernel, j, extents, target) for j in range(len(extents))]
    shape = tuple(len(arguments) for _, arguments in axes)
    if math.prod(shape) > _max_modes(len(extents)):
        _refuse(kernel, math.prod(shape))
    mesh = np.meshgrid(*(arguments for _, arguments in axes), indexing="ij")
    values = kernel(np.stack(mesh, axis=-1))
    coefficients = np.fft.fftshift(np.fft.fftn(values).real) / values.size
    return CosineSeries(np.array([period for period, _ in axes]), coefficients)


def grid_size(kernel: Kernel, extents: FloatArray, tolerance: float, /) -> int | None:
    """Return how many frequencies `Grid` needs for these data, None if too many."""
    target = max(tolerance * _HEADROOM, _FINEST)
    try:
        axes = [_axis(kernel, j, extents, target) for j in range(len(extents))]
    except UnsupportedKernelError:
        return None
    size = math.prod(len(arguments) for _, arguments in axes)
    return size if size <= _max_modes(len(extents)) else None


def _axis(
    kernel: Kernel, column: int, extents: FloatArray, target: float
) -> tuple[float, FloatArray]:
    """Return the period along one column and where to evaluate the kernel on it."""
    extent = float(extents[column])
    if extent == 0.0:
        # A constant column: the only difference is 0, one frequency is enough.
        return 1.0, np.zeros(1)

    def along(arguments: FloatArray) -> FloatArray:
        points = np.zeros((len(arguments), len(extents)))
        points[:, column] = arguments
        return kernel(points) / kernel.at_zero

    def enough(arguments: FloatArray) -> bool:
        # Once the last quarter of the frequencies is negligible, so is all beyond them.
        n_points = len(arguments)
        spectrum = np.abs(np.fft.fft(along(arguments))) / n_points
        last = slice(3 * n_points // 8, n_points - 3 * n_points // 8)
        return bool(spectrum[last].sum() <= target)

    reach = _reach(along, extent, target)
    if reach is not None:
        # Wrapped differences are at least `period - extent` away: nothing is left there.
        period = max(extent + reach, 2.0 * reach)
        most = _MAX_AXIS_POINTS if reach <= 3.0 * extent else _MAX_WIDE_POINTS
        points = _fewest(lambda n: _steps(n, period), enough, most)
        if points is not None:
            return period, points
    # A heavy tail needs room to level off on both sides.
    period = 4.0 * extent
    points = _fewest(
        lambda n: _bend(_steps(n, period), extent),
        enough,
        _MAX_AXIS_POINTS,
    )
    if points is None:
        _refuse(kernel, _MAX_AXIS_POINTS)
    return period, points


def _steps(n_points: int, period: float) -> FloatArray:
    """Return distances from 0 around the period: 0, 1, 2, …, 2, 1 steps."""
    return np.abs(np.fft.fftfreq(n_points, 1.0 / n_points)) * (period / n_points)


def _fewest(
    arguments: Callable[[int], FloatArray],
    enough: Callable[[FloatArray], bool],
    most: int,
) -> FloatArray | None:
    """Return the shortest arguments that are enough, None if more than `most` are."""
    n_points = 16
    while not enough(arguments(n_points)):
        n_points *= 2
        if n_points > most:
            return None
    # The power of two that was enough is up to twice too many.
    for eighths in (5, 6, 7):
        if enough(arguments(n_points * eighths // 8)):
            return arguments(n_points * eighths // 8)
    return arguments(n_points)


def _reach(
    along: Callable[[FloatArray], FloatArray], extent: float, target: float
) -> float | None:
    """Return the distance beyond which the kernel is below `target`, None if endless."""
    high = extent
    while along(np.array([high]))[0] > target:
        high *= 2.0
        if high > 1e100 * extent:
            return None
    low = 0.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if along(np.array([middle]))[0] > target:
            low = middle
        else:
            high = middle
    return high


def _bend(distances: FloatArray, extent: float) -> FloatArray:
    """Return distances that level off smoothly between `extent` and twice `extent`.

    The slope falls from 1 to 0 as an error function whose ends, 5.5 widths from the
    middle, differ from 1 and 0 by 1e-14.
    """
    from scipy.special import erfc

    width = extent / 11.0
    t = (distances - 1.5 * extent) / width
    start = -5.5
    # The integral of erfc(t) / 2 is (t erfc(t) - exp(-t^2) / sqrt(pi)) / 2.
    integral = 0.5 * (t * erfc(t) - np.exp(-t * t) / math.sqrt(math.pi))
    at_start = 0.5 * (start * erfc(start) - math.exp(-start * start) / math.sqrt(math.pi))
    return np.where(
        distances <= extent, distances, extent + width * (integral - at_start)
    )


def _max_modes(n_columns: int) -> int:
    # The transform works on a grid twice as fine in each direction.
    return _MAX_FINE_POINTS >> n_columns


def _refuse(kernel: Kernel, n_modes: int) -> NoReturn:
    msg = (
        f"`Grid` must need fewer frequencies; {kernel!r} on these data needs more than "
        f"{n_modes:.1e}. The kernel is too rough at 0, or its bandwidth too small for the "
        'extent of the data. Use `method="exact"` or `method="fourier"`.'
    )
    raise UnsupportedKernelError(msg)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Transform:
    """Means of the grid's exponentials over rows, by finufft."""

    finufft: Any
    series: CosineSeries
    center: FloatArray
    accuracy: float

    def means(self, rows: Rows) -> npt.NDArray[np.complex128]:
        total = np.zeros(self.series.coefficients.shape, dtype=np.complex128)
        forward = getattr(self.finufft, f"nufft{rows.n_columns}d1")
        for start, stop in rows.spans(_ROWS_PER_CALL):
            angles = self._angles(rows.dense(start, stop) - self.center)
            strengths = np.ones(stop - start, dtype=np.complex128)
            total += forward(
                *angles,
                strengths,
                total.shape,
                eps=self.accuracy,
                isign=1,
                nthreads=_threads(stop - start),
            )
        return total / rows.n_rows

    def values(self, differences: FloatArray) -> FloatArray:
        """Return the series at given differences: what the kernel has become."""
        backward = getattr(self.finufft, f"nufft{differences.shape[1]}d2")
        coefficients = self.series.coefficients.astype(np.complex128)
        angles = self._angles(differences)
        return np.asarray(
            backward(*angles, coefficients, eps=self.accuracy, nthreads=1).real
        )

    def _angles(self, rows: FloatArray) -> list[FloatArray]:
        turns = rows / self.series.periods
        if not np.isfinite(turns).all():
            # finufft would read outside its arrays.
            msg = "the data must extend over a range that a float can divide by; rescale them."
            raise UnsupportedKernelError(msg)
        turns -= np.round(turns)
        return [np.ascontiguousarray(2.0 * np.pi * column) for column in turns.T]


def _threads(n_rows: int) -> int:
    """Return how many threads are worth starting; 0 leaves it to finufft."""
    return 1 if n_rows < _ROWS_FOR_THREADS else 0


def _verify(
    transform: _Transform,
    kernel: Kernel,
    extents: FloatArray,
    tolerance: float,
    rng: np.random.Generator,
) -> None:
    """Compare the series with the kernel at random differences before trusting it."""
    differences = rng.uniform(-1.0, 1.0, (256, len(extents))) * extents
    # Half of them near 0, where a rough kernel is hardest to follow.
    differences[::2] *= rng.uniform(0.0, 1.0, (128, 1)) ** 4
    error = np.max(np.abs(transform.values(differences) - kernel(differences)))
    if error > tolerance * kernel.at_zero:
        _refuse(kernel, transform.series.coefficients.size)


def column_bounds(x: Rows, y: Rows, /) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest value in each column of both samples."""
    low = np.full(x.n_columns, np.inf)
    high = -low
    for rows in (x, y):
        for start, stop in rows.spans(_ROWS_PER_CALL):
            block = rows.dense(start, stop)
            low = np.minimum(low, block.min(axis=0))
            high = np.maximum(high, block.max(axis=0))
    return low, high


def _weighted_square(
    coefficients: FloatArray, means: npt.NDArray[np.complex128]
) -> float:
    return float(np.sum(coefficients * (means.real**2 + means.imag**2)))


def import_finufft() -> Any:
    """Return the module finufft, or say how to install it."""
    try:
        import finufft
    except ImportError as error:
        msg = '`Grid` needs the package finufft. Install it: pip install "fastmmd[grid]"'
        raise MissingDependencyError(msg) from error
    return finufft
