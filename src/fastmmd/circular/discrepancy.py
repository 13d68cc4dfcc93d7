"""The circular discrepancy: two samples on a circle, told apart by a sine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from fastmmd.circular.angles import TURN, signed_masses, wrap

if TYPE_CHECKING:
    import numpy.typing as npt

    from fastmmd._typing import FloatArray

_BLOCK_ELEMENTS = 2**20
"""Sines computed together: 8 MB."""

_ROUNDING = 64 * float(np.finfo(np.float64).eps)
"""Rounding error of the sums. NumPy sums pairwise in runs of 128 terms, eight at a time:
at most 16 + 3 + log2(n / 128) roundings of terms whose sizes sum to 2."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionDiameter:
    """The diameter of the circle that best separates two samples.

    Attributes
    ----------
    angle : float
        End where the objective is largest, in [0, 2 pi); NaN if every diameter
        separates the samples equally, that is not at all.
    opposite : float
        The other end, where the objective is smallest; NaN with `angle`.
    discrepancy : float
        The circular discrepancy: the objective at `angle`.

    Examples
    --------
    >>> import math
    >>> from fastmmd.circular import decision_diameter
    >>> found = decision_diameter([0.0], [math.pi])
    >>> round(found.discrepancy, 6), round(abs(found.angle - found.opposite) / math.pi, 6)
    (2.0, 1.0)
    """

    angle: float
    opposite: float
    discrepancy: float


def objective(
    at: npt.ArrayLike,
    angles_x: npt.ArrayLike,
    angles_y: npt.ArrayLike,
    /,
    *,
    weights_x: npt.ArrayLike | None = None,
    weights_y: npt.ArrayLike | None = None,
) -> FloatArray:
    r"""Return the mean sine from `at` to x minus that to y.

    Its largest value over the circle is the circular discrepancy.

    Parameters
    ----------
    at : array of any shape
        Angles at which to evaluate.
    angles_x, angles_y : array of shape (n,)
        Angles of the two samples, wrapped or not.
    weights_x, weights_y : array of shape (n,), optional
        Non-negative weights of the angles; equal by default. Only ratios count.

    Returns
    -------
    ndarray of the shape of `at`
        :math:`\sum_i a_i \sin(t - \theta_i)` with the masses :math:`a_i` of x summing to
        1 and those of y to -1.

    Notes
    -----
    Definition 2 and Claim 5 of [1]_, summed as written: time is the number of sines,
    ``n_at * (n_x + n_y)``, and memory is bounded.

    References
    ----------
    .. [1] Zhao and Meng, "FastMMD: Ensemble of Circular Discrepancy for Efficient
       Two-Sample Test", Neural Computation 27, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> objective([0.0, np.pi / 2, np.pi], [0.0], [np.pi])
    array([0., 2., 0.])
    """
    angles, masses = signed_masses(angles_x, angles_y, weights_x, weights_y)
    places = np.asarray(at, dtype=np.float64)
    if not np.isfinite(places).all():
        msg = "`at` must be finite; got NaN or infinity."
        raise ValueError(msg)
    return _objective(places.ravel(), angles, masses).reshape(places.shape)


def circular_discrepancy(
    angles_x: npt.ArrayLike,
    angles_y: npt.ArrayLike,
    /,
    *,
    weights_x: npt.ArrayLike | None = None,
    weights_y: npt.ArrayLike | None = None,
) -> float:
    r"""Return the circular discrepancy of two samples of angles.

    Parameters
    ----------
    angles_x, angles_y : array of shape (n,)
        Angles of the two samples, wrapped or not.
    weights_x, weights_y : array of shape (n,), optional
        Non-negative weights of the angles; equal by default. Only ratios count.

    Returns
    -------
    float
        A value between 0 and 2.

    See Also
    --------
    fastmmd.circular.circular_discrepancy_by_supremum : The definition, maximised.
    fastmmd.circular.circular_earth_mover : A distance that sees every harmonic.

    Notes
    -----
    The double sum of Claim 5, :math:`\sum_i \sum_j a_i a_j \cos(\theta_i - \theta_j)`, is
    the squared length of :math:`\sum_i a_i e^{i \theta_i}`: linear time. The value is 0
    whenever the first harmonics agree, even if the samples differ.

    Examples
    --------
    >>> import numpy as np
    >>> circular_discrepancy([0.0], [np.pi])
    2.0
    >>> circular_discrepancy([0.0], [np.pi / 2])
    1.41421356
    """
    angles, masses = signed_masses(angles_x, angles_y, weights_x, weights_y)
    return math.hypot(*_resultant(angles, masses))


def circular_discrepancy_by_supremum(
    angles_x: npt.ArrayLike,
    angles_y: npt.ArrayLike,
    /,
    *,
    weights_x: npt.ArrayLike | None = None,
    weights_y: npt.ArrayLike | None = None,
) -> float:
    """Return the circular discrepancy by searching the circle for its supremum.

    Slow; the definition itself, to check `circular_discrepancy` against.

    Parameters
    ----------
    angles_x, angles_y : array of shape (n,)
        Angles of the two samples, wrapped or not.
    weights_x, weights_y : array of shape (n,), optional
        Non-negative weights of the angles; equal by default. Only ratios count.

    Returns
    -------
    float
        The largest value of `objective` found.

    Notes
    -----
    A grid of 64 angles, then eight grids of 17 around the best so far, each eight times
    finer. The last spacing, 6e-9, leaves a relative error of its square, below rounding.

    Examples
    --------
    >>> import numpy as np
    >>> circular_discrepancy_by_supremum([0.0], [np.pi / 2])
    1.41421356
    """
    angles, masses = signed_masses(angles_x, angles_y, weights_x, weights_y)
    step = TURN / 64
    places = step * np.arange(64.0)
    values = _objective(places, angles, masses)
    for _ in range(8):
        centre = float(places[values.argmax()])
        # 17 places reach one old step to either side, where the maximum must be.
        places = centre + step * np.arange(-1.0, 1.125, 0.125)
        values = _objective(places, angles, masses)
        step /= 8
    return float(values.max())


def decision_diameter(
    angles_x: npt.ArrayLike,
    angles_y: npt.ArrayLike,
    /,
    *,
    weights_x: npt.ArrayLike | None = None,
    weights_y: npt.ArrayLike | None = None,
) -> DecisionDiameter:
    r"""Return the diameter that separates two samples on the circle best.

    Parameters
    ----------
    angles_x, angles_y : array of shape (n,)
        Angles of the two samples, wrapped or not.
    weights_x, weights_y : array of shape (n,), optional
        Non-negative weights of the angles; equal by default. Only ratios count.

    Returns
    -------
    DecisionDiameter
        Where the objective is largest and smallest, and the discrepancy. The two angles
        are NaN where the discrepancy is 0 to rounding (1.4e-14): the objective is then
        flat and no diameter is better than another.

    Notes
    -----
    The objective is :math:`A \sin(t - \theta)`, so it is largest at
    :math:`\theta + \pi/2`, where :math:`\theta` is the direction of
    :math:`\sum_i a_i e^{i \theta_i}`.

    Examples
    --------
    Samples at the two ends of one diameter are separated by the one across it:

    >>> import numpy as np
    >>> diameter = decision_diameter([0.0], [np.pi])
    >>> diameter.angle / np.pi, diameter.opposite / np.pi, diameter.discrepancy
    (0.5, 1.5, 2.0)
    """
    angles, masses = signed_masses(angles_x, angles_y, weights_x, weights_y)
    cosine, sine = _resultant(angles, masses)
    discrepancy = math.hypot(cosine, sine)
    if discrepancy <= _ROUNDING:
        return DecisionDiameter(
            angle=math.nan, opposite=math.nan, discrepancy=discrepancy
        )
    # Appendix A.5 of the paper puts the supremum at theta itself, but A sin(t - theta) is
    # 0 there; it is a quarter of a turn further.
    angle = math.atan2(sine, cosine) + math.pi / 2
    ends = wrap(np.array([angle, angle + math.pi]))
    return DecisionDiameter(
        angle=float(ends[0]), opposite=float(ends[1]), discrepancy=discrepancy
    )


def _resultant(angles: FloatArray, masses: FloatArray) -> tuple[float, float]:
    """Return the real and imaginary part of ``sum_i a_i exp(i angle_i)``."""
    # Summed by NumPy, not as a BLAS product: pairwise sums round less.
    return float((masses * np.cos(angles)).sum()), float((masses * np.sin(angles)).sum())


def _objective(at: FloatArray, angles: FloatArray, masses: FloatArray) -> FloatArray:
    values = np.empty(len(at))
    size = max(1, _BLOCK_ELEMENTS // len(angles))
    for start in range(0, len(at), size):
        block = slice(start, start + size)
        values[block] = (masses * np.sin(at[block, None] - angles)).sum(axis=1)
    return values
