"""The earth mover's distance on the circle, in closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastmmd.circular.angles import TURN, signed_masses, wrap

if TYPE_CHECKING:
    import numpy.typing as npt

    from fastmmd._typing import FloatArray


def circular_earth_mover(
    angles_x: npt.ArrayLike,
    angles_y: npt.ArrayLike,
    /,
    *,
    weights_x: npt.ArrayLike | None = None,
    weights_y: npt.ArrayLike | None = None,
) -> float:
    r"""Return the earth mover's distance of two samples on the unit circle.

    The least work that turns one sample into the other, where moving mass along an arc
    costs mass times length (Wasserstein distance of order 1).

    Parameters
    ----------
    angles_x, angles_y : array of shape (n,)
        Angles of the two samples, wrapped or not.
    weights_x, weights_y : array of shape (n,), optional
        Non-negative weights of the angles; equal by default. Only ratios count.

    Returns
    -------
    float
        A value between 0 and :math:`\pi`.

    See Also
    --------
    fastmmd.circular.circular_discrepancy : The sine's discrepancy, in linear time.

    Notes
    -----
    With :math:`F` and :math:`G` the distribution functions from an arbitrary starting
    point the distance is :math:`\min_c \int_0^{2\pi} |F(t) - G(t) - c| \, dt` [1]_, where
    :math:`c` is the mass sent across the starting point. The best :math:`c` is the median
    of :math:`F - G`, each value weighted by the arc on which it is taken. Sorting
    dominates: O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] Rabin, Delon and Gousseau, "Transportation Distances on the Circle", Journal of
       Mathematical Imaging and Vision 41, 2011.

    Examples
    --------
    The short way between two points is taken, here across zero:

    >>> circular_earth_mover([0.1], [6.0])
    0.38318531
    """
    angles, masses = signed_masses(angles_x, angles_y, weights_x, weights_y)
    return earth_mover(wrap(angles), masses)


def earth_mover(angles: FloatArray, masses: FloatArray, /) -> float:
    """Return the least work that cancels `masses`, of sum 0, at wrapped `angles`."""
    order = np.argsort(angles)
    places = angles[order]
    # F - G on the arc that starts at each place. Equal places may come in any order: the
    # arcs between them have length 0.
    excess = np.cumsum(masses[order])
    arcs = np.diff(places, append=places[0] + TURN)
    by_excess = np.argsort(excess)
    covered = np.cumsum(arcs[by_excess])
    median = excess[by_excess[np.searchsorted(covered, 0.5 * covered[-1])]]
    return float((arcs * np.abs(excess - median)).sum())
