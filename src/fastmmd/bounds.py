r"""How many frequencies are enough: Theorems 3 and 4 of Zhao and Meng (2015).

Both bound the probability that the squared MMD from frequencies strays by `epsilon` or
more from the exact one, for *some* pair of samples inside a set of given diameter. They
hold for every pair at once, and so ask for far more frequencies than one pair needs: use
them for guarantees, and the measured spread over frequencies for planning.

The biased and the unbiased estimate have the same bounds: in both, the absolute
coefficients of the kernel values sum to 4, so a kernel known to within ``epsilon / 4``
gives a squared MMD to within `epsilon`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fastmmd._errors import UnsupportedKernelError
from fastmmd._validation import check_between, check_count, check_positive
from fastmmd.kernels import Kernel

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "fastfood_bound",
    "fastfood_bound_as_printed",
    "fastfood_frequencies",
    "fourier_bound",
    "fourier_epsilon",
    "fourier_frequencies",
]

_COEFFICIENTS = 4.0
"""Sum of the absolute coefficients of the kernel values in a squared MMD."""

_LARGEST_POWER = 60
"""Answers beyond 2^60 frequencies are of no use to anybody."""

_SMALLEST_BLOCK = 8
"""Claim 8 needs ``log(block_size) / 2 > 1``, and blocks are powers of two."""


def fourier_bound(
    epsilon: float,
    n_frequencies: int,
    /,
    *,
    kernel: Kernel,
    n_columns: int,
    diameter: float,
    capped: bool = True,
) -> float:
    r"""Bound the probability of an error of `epsilon` with independent frequencies.

    Parameters
    ----------
    epsilon : float
        Error of the squared MMD.
    n_frequencies : int
        Independent frequencies.
    kernel : Kernel
        Needs frequencies with a finite second moment: not `Laplace`, nor `Matern` with
        ``nu <= 1``.
    n_columns : int
        Columns of the data.
    diameter : float
        Largest distance between any two rows that may occur.
    capped : bool, default=True
        Whether to return at most 1. The formula itself can be anything above 0.

    Returns
    -------
    float
        Probability that for some samples in the set the error is `epsilon` or more.

    Raises
    ------
    UnsupportedKernelError
        If the second moment of the frequencies is infinite.

    See Also
    --------
    fastmmd.bounds.fourier_frequencies : The number of frequencies for an error.
    fastmmd.bounds.fourier_epsilon : The error for a number of frequencies.

    Notes
    -----
    Theorem 3 of [1]_, which rests on Claim 1 of [2]_: with :math:`D` the diameter and
    :math:`\sigma_p^2 = E \|w\|^2`, the sum over all columns,

    .. math:: 2^{12} \left(\frac{\sigma_p D}{\epsilon}\right)^2
              \exp\left(-\frac{L \epsilon^2}{64 (d + 2)}\right).

    It is stated for :math:`K(0) = 1`. Otherwise the squared MMD, and its error with it,
    is :math:`K(0)` times that of the normalised kernel, so the formula is applied to
    :math:`\epsilon / K(0)`.

    Claim 1 is proved for :math:`\sigma_p D \ge \epsilon / 4` only. Where the set is
    smaller the bound of a larger set is returned, with a diameter that just satisfies
    this: what holds there holds in every subset.

    The frequencies are taken as independent. Orthogonal and Sobol draws err less in
    practice, but no theorem here says so.

    References
    ----------
    .. [1] Zhao and Meng, "FastMMD: Ensemble of Circular Discrepancy for Efficient
       Two-Sample Test", Neural Computation 27, 2015.
    .. [2] Rahimi and Recht, "Random Features for Large-Scale Kernel Machines",
       NIPS 2007.

    Examples
    --------
    >>> from fastmmd.kernels import Gaussian
    >>> where = {"kernel": Gaussian(1.0), "n_columns": 2, "diameter": 2.0}
    >>> fourier_bound(0.5, 20_000, **where)
    0.00043
    >>> fourier_bound(0.5, 100, **where), fourier_bound(0.5, 100, **where, capped=False)
    (1.0, 118877.1)
    """
    epsilon = check_positive(epsilon, name="epsilon")
    n_frequencies = check_count(n_frequencies, name="n_frequencies")
    log_bound = _fourier_log_bound(kernel, n_columns, diameter)
    return _probability(log_bound(epsilon, n_frequencies), capped)


def fourier_frequencies(
    epsilon: float,
    delta: float,
    /,
    *,
    kernel: Kernel,
    n_columns: int,
    diameter: float,
) -> int:
    r"""Return how many independent frequencies guarantee an error below `epsilon`.

    Parameters
    ----------
    epsilon : float
        Error of the squared MMD.
    delta : float
        Probability, between 0 and 1, with which the error may be larger.
    kernel : Kernel
        As in `fourier_bound`, like the next two.
    n_columns : int
        Columns of the data.
    diameter : float
        Largest distance between any two rows that may occur.

    Returns
    -------
    int
        The smallest number of frequencies for which `fourier_bound` is at most `delta`.

    See Also
    --------
    fastmmd.bounds.fourier_bound : The bound, and when it applies.

    Notes
    -----
    Grows like :math:`64 (d + 2) \epsilon^{-2} \log(2^{12} \sigma_p^2 D^2 / (\epsilon^2
    \delta))`: ten times the accuracy takes a hundred times the frequencies.

    Examples
    --------
    >>> from fastmmd.kernels import Gaussian
    >>> where = {"kernel": Gaussian(1.0), "n_columns": 2, "diameter": 2.0}
    >>> n_frequencies = fourier_frequencies(0.5, 0.01, **where)
    >>> n_frequencies
    16783
    >>> fourier_bound(0.5, n_frequencies, **where) <= 0.01
    True
    >>> fourier_bound(0.5, n_frequencies - 1, **where) <= 0.01
    False
    """
    epsilon = check_positive(epsilon, name="epsilon")
    log_delta = math.log(check_between(delta, 0.0, 1.0, name="delta"))
    log_bound = _fourier_log_bound(kernel, n_columns, diameter)
    too_few, enough = 0, 1
    # Search over integers in place of the closed form: exact where that would round.
    while log_bound(epsilon, enough) > log_delta:
        too_few, enough = enough, 2 * enough
        if enough > 2**_LARGEST_POWER:
            raise ValueError(_no_size_message("frequencies", epsilon, delta))
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if log_bound(epsilon, middle) > log_delta:
            too_few = middle
        else:
            enough = middle
    return enough


def fourier_epsilon(
    n_frequencies: int,
    delta: float,
    /,
    *,
    kernel: Kernel,
    n_columns: int,
    diameter: float,
) -> float:
    """Return the error that independent frequencies guarantee.

    Parameters
    ----------
    n_frequencies : int
        Independent frequencies.
    delta : float
        Probability, between 0 and 1, with which the error may be larger.
    kernel : Kernel
        As in `fourier_bound`, like the next two.
    n_columns : int
        Columns of the data.
    diameter : float
        Largest distance between any two rows that may occur.

    Returns
    -------
    float
        The smallest error of the squared MMD, to rounding, for which `fourier_bound` is
        at most `delta`. Above 4 times the kernel at zero it says nothing: no error is
        larger than that.

    See Also
    --------
    fastmmd.bounds.fourier_bound : The bound, and when it applies.

    Examples
    --------
    >>> from fastmmd.kernels import Gaussian
    >>> fourier_epsilon(16783, 0.01, kernel=Gaussian(1.0), n_columns=2, diameter=2.0)
    0.5000
    """
    n_frequencies = check_count(n_frequencies, name="n_frequencies")
    log_delta = math.log(check_between(delta, 0.0, 1.0, name="delta"))
    log_bound = _fourier_log_bound(kernel, n_columns, diameter)
    too_small = enough = 1.0
    # The bound falls strictly from infinity to 0 as epsilon grows: there is one answer.
    while log_bound(enough, n_frequencies) > log_delta:
        enough *= 2.0
    while log_bound(too_small, n_frequencies) <= log_delta:
        too_small /= 2.0
    while too_small < (middle := 0.5 * (too_small + enough)) < enough:
        if log_bound(middle, n_frequencies) > log_delta:
            too_small = middle
        else:
            enough = middle
    return enough


def fastfood_bound(
    epsilon: float,
    block_size: int,
    /,
    *,
    bandwidth: float,
    diameter: float,
    capped: bool = True,
) -> float:
    r"""Bound the probability of an error of `epsilon` with one Fastfood block.

    The last line of the proof of Theorem 4 that does not depend on the assumption behind
    its final form. Read it as an order of magnitude, for the reasons in the Notes.

    Parameters
    ----------
    epsilon : float
        Error of the squared MMD.
    block_size : int
        Frequencies, which is also the number of columns after padding; at least 8.
    bandwidth : float
        Bandwidth of the Gaussian kernel.
    diameter : float
        Largest distance between any two rows that may occur.
    capped : bool, default=True
        Whether to return at most 1. The formula itself can be anything above 0.

    Returns
    -------
    float
        Probability that for some samples in the set the error is `epsilon` or more.

    See Also
    --------
    fastmmd.bounds.fastfood_bound_as_printed : The final form of the theorem.
    fastmmd.bounds.fourier_bound : The bound for independent frequencies.

    Notes
    -----
    With :math:`D` the diameter, :math:`d` the block size and :math:`e = \epsilon / 4`,
    appendix A.4 of [1]_ bounds the probability by :math:`\kappa_1 r^{-d} + \kappa_2 r^2`
    for every radius :math:`r`, where

    .. math:: \kappa_1 = 2 (4 D)^d e^{-d e^2 / 8}, \qquad
              \kappa_2 = \frac{64 \log d}{d \, s^2 e^2}.

    Taking the :math:`r` that makes the two terms equal gives
    :math:`2 \kappa_1^{2 / (d + 2)} \kappa_2^{d / (d + 2)}`, which is returned. (The paper
    loses the factor 2 here.) For a large block it falls like :math:`\log d / d`.

    The final form then needs :math:`\log d / (d s^2 e^2) \ge 1`, but the paper assumes
    only :math:`D \log d / (d s^2 e^2) \ge 1`, and that is not enough. With :math:`d = 64`,
    :math:`D = 100` and the latter exactly 1 (``e = 0.1``), the line above is 1.5e5, while
    the final form claims 4.1e3, which is lower.

    Two steps before that line are open as well. The second term bounds the error at
    single points, not its largest value in a ball of radius :math:`r`. And it does so at
    :math:`e` where the argument asks for :math:`e / 2`, which would make
    :math:`\kappa_2` four times as large.

    References
    ----------
    .. [1] Zhao and Meng, "FastMMD: Ensemble of Circular Discrepancy for Efficient
       Two-Sample Test", Neural Computation 27, 2015.

    Examples
    --------
    >>> fastfood_bound(0.5, 2**30, bandwidth=1.0, diameter=2.0)
    0.0101
    >>> fastfood_bound(0.4, 64, bandwidth=25.5, diameter=100.0, capped=False)
    146993.1
    """
    epsilon = check_positive(epsilon, name="epsilon")
    block_size = check_count(block_size, name="block_size", minimum=_SMALLEST_BLOCK)
    bandwidth = check_positive(bandwidth, name="bandwidth")
    diameter = check_positive(diameter, name="diameter")
    log_bound = _fastfood_log_bound(epsilon, block_size, bandwidth, diameter)
    return _probability(log_bound, capped)


def fastfood_bound_as_printed(
    epsilon: float,
    block_size: int,
    /,
    *,
    bandwidth: float,
    diameter: float,
    capped: bool = True,
) -> float:
    r"""Return the right-hand side of Theorem 4 as printed, which is not proved.

    For comparison only: `fastfood_bound` is the line from which it was derived.

    Parameters
    ----------
    epsilon : float
        Error of the squared MMD.
    block_size : int
        Frequencies, which is also the number of columns after padding; at least 8.
    bandwidth : float
        Bandwidth of the Gaussian kernel.
    diameter : float
        Largest distance between any two rows that may occur.
    capped : bool, default=True
        Whether to return at most 1. The formula itself can be anything above 0.

    Returns
    -------
    float
        The printed expression.

    See Also
    --------
    fastmmd.bounds.fastfood_bound : The line before, and what is wrong with this one.

    Notes
    -----
    With :math:`D` the diameter and :math:`d` the block size, Theorem 4 of [1]_ states

    .. math:: 2^{20} \left(\frac{D \log d}{d \, s^2 \epsilon^2}\right)^2
              \exp\left(-\frac{d \epsilon^2}{64 (d + 2)}\right).

    Its proof assumes :math:`16 D \log d / (d s^2 \epsilon^2) \ge 1`. Then the expression
    is at least :math:`2^{12} e^{-\epsilon^2 / 64}`, which exceeds 1 for every
    :math:`\epsilon` below 23, and no squared MMD errs by more than 4: where the theorem
    could apply it says nothing.

    References
    ----------
    .. [1] Zhao and Meng, "FastMMD: Ensemble of Circular Discrepancy for Efficient
       Two-Sample Test", Neural Computation 27, 2015.

    Examples
    --------
    >>> fastfood_bound_as_printed(0.4, 64, bandwidth=25.5, diameter=100.0, capped=False)
    4080.7
    """
    epsilon = check_positive(epsilon, name="epsilon")
    block_size = check_count(block_size, name="block_size", minimum=_SMALLEST_BLOCK)
    bandwidth = check_positive(bandwidth, name="bandwidth")
    diameter = check_positive(diameter, name="diameter")
    log_ratio = (
        math.log(diameter)
        + math.log(math.log(block_size))
        - math.log(block_size)
        - 2.0 * math.log(bandwidth)
        - 2.0 * math.log(epsilon)
    )
    shrinkage = block_size / (block_size + 2) * epsilon * epsilon / 64.0
    return _probability(20.0 * math.log(2.0) + 2.0 * log_ratio - shrinkage, capped)


def fastfood_frequencies(
    epsilon: float, delta: float, /, *, bandwidth: float, diameter: float
) -> int:
    """Return the Fastfood block size for an error below `epsilon`.

    Parameters
    ----------
    epsilon : float
        Error of the squared MMD.
    delta : float
        Probability, between 0 and 1, with which the error may be larger.
    bandwidth : float
        Bandwidth of the Gaussian kernel.
    diameter : float
        Largest distance between any two rows that may occur.

    Returns
    -------
    int
        The smallest power of two, from 8, for which `fastfood_bound` is at most `delta`.

    Raises
    ------
    ValueError
        If no power of two up to ``2**60`` is enough.

    See Also
    --------
    fastmmd.bounds.fastfood_bound : The bound, and how far to trust it.

    Examples
    --------
    Far more than independent frequencies need, because the bound is far from sharp:

    >>> fastfood_frequencies(0.5, 0.01, bandwidth=1.0, diameter=2.0)
    2147483648
    """
    epsilon = check_positive(epsilon, name="epsilon")
    log_delta = math.log(check_between(delta, 0.0, 1.0, name="delta"))
    bandwidth = check_positive(bandwidth, name="bandwidth")
    diameter = check_positive(diameter, name="diameter")
    # Every power is tried, because the bound may rise with the block before it falls.
    for power in range(3, _LARGEST_POWER + 1):
        if _fastfood_log_bound(epsilon, 2**power, bandwidth, diameter) <= log_delta:
            return 2**power
    raise ValueError(_no_size_message("frequencies in a block", epsilon, delta))


def _fourier_log_bound(
    kernel: Any, n_columns: int, diameter: float
) -> Callable[[float, int], float]:
    """Check the setting; return the logarithm of the bound given epsilon and L."""
    if not isinstance(kernel, Kernel):
        msg = f"`kernel` must be a kernel such as Gaussian(1.0); got {kernel!r}."
        raise TypeError(msg)
    n_columns = check_count(n_columns, name="n_columns")
    diameter = check_positive(diameter, name="diameter")
    second_moment = kernel.second_moment(n_columns)
    if not math.isfinite(second_moment):
        msg = (
            "`kernel` must have frequencies with a finite second moment for this bound; "
            f"got {kernel!r}, whose second moment is infinite."
        )
        raise UnsupportedKernelError(msg)
    log_spread = 0.5 * math.log(second_moment) + math.log(diameter)

    def log_bound(epsilon: float, n_frequencies: int) -> float:
        # Products, not powers: those of Python's floats raise where these give infinity.
        relative = epsilon / kernel.at_zero
        # Claim 1 of Rahimi and Recht, applied at epsilon / 4, turns a power 2 d / (d + 2)
        # of its ratio into a square. That holds from 1 on, hence the larger set below it.
        log_ratio = max(log_spread - math.log(relative), -math.log(_COEFFICIENTS))
        decay = n_frequencies * relative * relative / (64.0 * (n_columns + 2))
        return 12.0 * math.log(2.0) + 2.0 * log_ratio - decay

    return log_bound


def _fastfood_log_bound(
    epsilon: float, block_size: int, bandwidth: float, diameter: float
) -> float:
    d, e = block_size, epsilon / _COEFFICIENTS
    log_kappa_1 = math.log(2.0) + d * math.log(4.0 * diameter) - d * e * e / 8.0
    log_kappa_2 = (
        math.log(64.0 * math.log(d) / d) - 2.0 * math.log(bandwidth) - 2.0 * math.log(e)
    )
    return math.log(2.0) + (2.0 * log_kappa_1 + d * log_kappa_2) / (d + 2)


def _probability(log_bound: float, capped: bool) -> float:
    if capped and log_bound >= 0.0:
        return 1.0
    try:
        return math.exp(log_bound)
    except OverflowError:
        return math.inf


def _no_size_message(what: str, epsilon: float, delta: float) -> str:
    return (
        f"`epsilon` and `delta` must be within reach of 2**{_LARGEST_POWER} {what}; got "
        f"{epsilon!r} and {delta!r}."
    )
