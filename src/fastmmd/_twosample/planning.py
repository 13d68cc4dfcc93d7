"""`power` and `sample_size`: plan a study from a pilot."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from fastmmd._errors import UndefinedEstimateError
from fastmmd._key import streams_of
from fastmmd._plan import resolve_method
from fastmmd._rows import check_samples
from fastmmd._twosample.families import choose_kernels
from fastmmd._twosample.grams import send_to_bins
from fastmmd._twosample.layout import choose_layout
from fastmmd._twosample.test import bin_sums, choose_method
from fastmmd._validation import check_between, check_count, check_positive
from fastmmd.nulls.bins import BinGram
from fastmmd.nulls.effect import interval
from fastmmd.nulls.power import Alternative
from fastmmd.nulls.power import power as power_of
from fastmmd.nulls.power import sample_size as size_for

if TYPE_CHECKING:
    from fastmmd._typing import RNGLike, SampleLike
    from fastmmd.kernels import Kernel

_FEWEST_ROWS = 8

_CONFIDENCE = 0.95
"""Of the intervals that come with an answer."""


@final
class Power(float):
    """A power, as a number, with what the pilot leaves open.

    Attributes
    ----------
    interval : tuple of float
        The power for the smallest and the largest difference that the pilot is compatible
        with, at 95 % confidence.

    Examples
    --------
    >>> import numpy as np, fastmmd
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) + 0.5
    >>> found = fastmmd.power(x, y, n_x=50, n_y=50)
    >>> found.interval[0] < found < found.interval[1]
    True
    """

    interval: tuple[float, float]

    def __new__(cls, value: float, interval: tuple[float, float]) -> Power:
        self = super().__new__(cls, value)
        self.interval = interval
        return self

    def __repr__(self) -> str:
        low, high = self.interval
        return f"{float(self):.3g} ({low:.3g} to {high:.3g})"


@final
class SampleSize(tuple[int, int]):
    """Rows of both samples, as a pair, with what the pilot leaves open.

    Attributes
    ----------
    n_x, n_y : int
        The rows.
    interval : tuple
        The pairs for the largest and the smallest difference that the pilot is compatible
        with, at 95 % confidence. The second is None if that may be no difference at all:
        then no number of rows is enough for certain.

    Examples
    --------
    >>> import numpy as np, fastmmd
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) + 0.5
    >>> found = fastmmd.sample_size(x, y, power=0.9)
    >>> fewest, most = found.interval
    >>> fewest[0] < found.n_x < most[0]
    True
    """

    interval: tuple[tuple[int, int], tuple[int, int] | None]

    def __new__(
        cls,
        sizes: tuple[int, int],
        interval: tuple[tuple[int, int], tuple[int, int] | None],
    ) -> SampleSize:
        self = super().__new__(cls, sizes)
        self.interval = interval
        return self

    @property
    def n_x(self) -> int:
        """Rows of the first sample."""
        return self[0]

    @property
    def n_y(self) -> int:
        """Rows of the second sample."""
        return self[1]

    def __repr__(self) -> str:
        low, high = self.interval
        return f"{self[0]} and {self[1]} ({low} to {high if high else 'any number'})"


def power(
    x: SampleLike,
    y: SampleLike,
    /,
    *,
    n_x: int,
    n_y: int,
    kernel: Kernel | str = "gaussian",
    level: float = 0.05,
    rng: RNGLike = None,  # noqa: ARG001 - as all of them
) -> Power:
    """Return the chance that a test finds a difference like that of two pilot samples.

    Parameters
    ----------
    x, y : array of shape (n, n_columns)
        Pilot samples that differ as the distributions of interest are thought to.
    n_x, n_y : int
        Rows planned for each sample.
    kernel : Kernel or str, default="gaussian"
        The kernel of the planned test.
    level : float, default=0.05
        Its significance level.
    rng : int or numpy.random.Generator, optional
        Taken as everywhere; nothing here is random.

    Returns
    -------
    Power
        A number between 0 and 1; 0 where no relabelling could give so small a p-value. Its
        `interval` says what the pilot leaves open.

    Notes
    -----
    The pilot's difference is taken for the true one, chance included: two pilots of the
    same distribution also differ a little, and enough rows "find" that. The interval shows
    it, and `fastmmd.two_sample_test` tells whether the pilot's difference is real.

    Examples
    --------
    >>> import numpy as np, fastmmd
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) + 0.5
    >>> fastmmd.power(x, y, n_x=30, n_y=30) < fastmmd.power(x, y, n_x=100, n_y=100)
    True
    """
    n_x = check_count(n_x, name="n_x", minimum=2)
    n_y = check_count(n_y, name="n_y", minimum=2)
    level = check_between(level, 0.0, 1.0, name="level")
    pilot, ends = _pilot(x, y, kernel)
    low, middle, high = (
        power_of(pilot.at(mmd2), n_x=n_x, n_y=n_y, level=level)
        for mmd2 in (ends[0], pilot.mmd2, ends[1])
    )
    return Power(middle, (low, high))


def sample_size(
    x: SampleLike,
    y: SampleLike,
    /,
    *,
    power: float = 0.8,
    ratio: float = 1.0,
    kernel: Kernel | str = "gaussian",
    level: float = 0.05,
    rng: RNGLike = None,  # noqa: ARG001 - as all of them
) -> SampleSize:
    """Return the rows needed to find a difference like that of two pilot samples.

    Parameters
    ----------
    x, y : array of shape (n, n_columns)
        Pilot samples that differ as the distributions of interest are thought to.
    power : float, default=0.8
        Chance to find the difference.
    ratio : float, default=1.0
        Rows of the second sample for each of the first.
    kernel : Kernel or str, default="gaussian"
        The kernel of the planned test.
    level : float, default=0.05
        Its significance level.
    rng : int or numpy.random.Generator, optional
        Taken as everywhere; nothing here is random.

    Returns
    -------
    SampleSize
        Rows of each sample, as a pair; its `interval` says what the pilot leaves open.

    Notes
    -----
    See `fastmmd.power`: a pilot whose difference is chance gives a number all the same.

    Examples
    --------
    >>> import numpy as np, fastmmd
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) + 0.5
    >>> n_x, n_y = fastmmd.sample_size(x, y, power=0.9)
    >>> fastmmd.power(x, y, n_x=n_x, n_y=n_y) >= 0.9
    True
    """
    level = check_between(level, 0.0, 1.0, name="level")
    power = check_between(power, level, 1.0, name="power")
    ratio = check_positive(ratio, name="ratio")
    pilot, ends = _pilot(x, y, kernel)
    if pilot.mmd2 <= 0.0:
        msg = "`x` and `y` must differ in the pilot; their estimated squared MMD is not positive."
        raise ValueError(msg)

    def needed(mmd2: float) -> tuple[int, int]:
        return size_for(pilot.at(mmd2), target=power, ratio=ratio, level=level)

    return SampleSize(
        needed(pilot.mmd2), (needed(ends[1]), needed(ends[0]) if ends[0] > 0.0 else None)
    )


def _pilot(
    x: SampleLike, y: SampleLike, kernel: Kernel | str
) -> tuple[Alternative, tuple[float, float]]:
    """Return the pilot's difference, and an interval for its squared MMD."""
    rows = check_samples(x, y)
    if min(part.n_rows for part in rows) < _FEWEST_ROWS:
        msg = (
            f"a pilot must have at least {_FEWEST_ROWS} rows in each sample; got "
            f"{rows[0].n_rows} and {rows[1].n_rows}."
        )
        raise UndefinedEstimateError(msg)
    for_kernels, for_bins = streams_of(rows)
    kernels, numbers = choose_kernels(kernel, *rows, for_kernels)
    if len(kernels) > 1:
        msg = '`kernel` must be one kernel to plan with; got a family. Use "gaussian".'
        raise ValueError(msg)
    method = choose_method(resolve_method("auto"), kernels, rows)
    binned = send_to_bins(rows, choose_layout([r.n_rows for r in rows]), for_bins)
    bins = BinGram(
        bin_sums(binned, kernels, numbers, method),
        binned.counts,
        binned.labels == 0,
        binned.movable,
    )
    return Alternative.from_pilot(bins), interval(bins, confidence=_CONFIDENCE)
