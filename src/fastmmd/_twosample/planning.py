"""`power` and `sample_size`: plan a study from a pilot."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fastmmd._errors import UndefinedEstimateError
from fastmmd._plan import resolve_method
from fastmmd._random import spawn
from fastmmd._rows import check_samples
from fastmmd._twosample.families import choose_kernels
from fastmmd._twosample.grams import send_to_bins
from fastmmd._twosample.layout import choose_layout
from fastmmd._twosample.test import bin_sums, choose_method
from fastmmd._validation import check_between, check_count, check_positive
from fastmmd.nulls.bins import BinGram
from fastmmd.nulls.power import Alternative
from fastmmd.nulls.power import power as power_of
from fastmmd.nulls.power import sample_size as size_for
from fastmmd.nulls.pvalues import smallest_pvalue

if TYPE_CHECKING:
    from fastmmd._typing import RNGLike, SampleLike
    from fastmmd.kernels import Kernel

_FEWEST_ROWS = 8


def power(
    x: SampleLike,
    y: SampleLike,
    /,
    *,
    n_x: int,
    n_y: int,
    kernel: Kernel | str = "gaussian",
    level: float = 0.05,
    rng: RNGLike = None,
) -> float:
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
        Source of all randomness.

    Returns
    -------
    float
        A value between 0 and 1; 0 where no relabelling could give so small a p-value.

    Notes
    -----
    The pilot's difference is taken for the true one, chance included: two pilots of the
    same distribution also differ a little, and enough rows "find" that. Make sure by
    `fastmmd.two_sample_test` that the pilot's difference is real.

    Examples
    --------
    >>> import numpy as np, fastmmd
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) + 0.5
    >>> fastmmd.power(x, y, n_x=30, n_y=30) < fastmmd.power(x, y, n_x=100, n_y=100)
    True
    """
    pilot = _pilot(x, y, kernel, rng)
    n_x = check_count(n_x, name="n_x", minimum=2)
    n_y = check_count(n_y, name="n_y", minimum=2)
    level = check_between(level, 0.0, 1.0, name="level")
    if smallest_pvalue(n_x, n_y) > level:
        return 0.0
    return power_of(pilot, n_x=n_x, n_y=n_y, level=level)


def sample_size(
    x: SampleLike,
    y: SampleLike,
    /,
    *,
    power: float = 0.8,
    ratio: float = 1.0,
    kernel: Kernel | str = "gaussian",
    level: float = 0.05,
    rng: RNGLike = None,
) -> tuple[int, int]:
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
        Source of all randomness.

    Returns
    -------
    n_x, n_y : int
        Rows of each sample.

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
    pilot = _pilot(x, y, kernel, rng)
    level = check_between(level, 0.0, 1.0, name="level")
    power = check_between(power, level, 1.0, name="power")
    if pilot.mmd2 <= 0.0:
        msg = "`x` and `y` must differ in the pilot; their estimated squared MMD is not positive."
        raise ValueError(msg)
    ratio = check_positive(ratio, name="ratio")
    n_x, n_y = size_for(pilot, target=power, ratio=ratio, level=level)
    while smallest_pvalue(n_x, n_y) > level:
        n_x += 1
        n_y = max(2, math.ceil(ratio * n_x))
    return n_x, n_y


def _pilot(
    x: SampleLike, y: SampleLike, kernel: Kernel | str, rng: RNGLike
) -> Alternative:
    rows = check_samples(x, y)
    if min(part.n_rows for part in rows) < _FEWEST_ROWS:
        msg = (
            f"a pilot must have at least {_FEWEST_ROWS} rows in each sample; got "
            f"{rows[0].n_rows} and {rows[1].n_rows}."
        )
        raise UndefinedEstimateError(msg)
    for_kernels, for_frequencies, for_bins = spawn(rng, 3)
    kernels, numbers = choose_kernels(kernel, *rows, for_kernels)
    if len(kernels) > 1:
        msg = '`kernel` must be one kernel to plan with; got a family. Use "gaussian".'
        raise ValueError(msg)
    method = choose_method(resolve_method("auto"), kernels, rows)
    binned = send_to_bins(rows, choose_layout([r.n_rows for r in rows]), for_bins)
    seed = int(for_frequencies.integers(2**63))
    bins = BinGram(
        bin_sums(binned, kernels, numbers, method, seed),
        binned.counts,
        binned.labels == 0,
        binned.movable,
    )
    return Alternative.from_pilot(bins)
