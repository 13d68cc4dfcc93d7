"""Angles on the unit circle, and the signed masses two samples put there."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fastmmd._rows import check_rows

if TYPE_CHECKING:
    import numpy.typing as npt

    from fastmmd._typing import FloatArray, SampleLike

TURN = 2.0 * math.pi
"""The circumference of the unit circle."""


def project(rows: SampleLike, frequency: npt.ArrayLike, /) -> FloatArray:
    r"""Wrap rows around the unit circle.

    Parameters
    ----------
    rows : array of shape (n, n_columns)
        A sample; one dimension is read as one column.
    frequency : array of shape (n_columns,) or (n_frequencies, n_columns)
        One frequency, or several.

    Returns
    -------
    ndarray of shape (n,) or (n, n_frequencies)
        The angles :math:`w^\top x` modulo :math:`2 \pi`, in :math:`[0, 2 \pi)`.

    Notes
    -----
    A phase is rounded to about ``2**-53`` of its size before it is wrapped, so rows far
    from the origin lose digits: subtract a common point first, which only turns the
    circle.

    Examples
    --------
    >>> import numpy as np
    >>> project([[1.0, 0.0], [0.0, 1.0]], [np.pi, -np.pi / 2]) / np.pi
    array([1. , 1.5])
    """
    sample = check_rows(rows, name="rows")
    given = np.asarray(frequency)
    matrix = check_rows(given[None, :] if given.ndim == 1 else given, name="frequency")
    if matrix.n_columns != sample.n_columns:
        msg = (
            "`frequency` must have one entry for each column of `rows`; got shape "
            f"{given.shape} for {sample.n_columns} columns."
        )
        raise ValueError(msg)
    directions = matrix.dense(0, matrix.n_rows)
    angles = wrap(np.asarray(sample.block(0, sample.n_rows) @ directions.T))
    return angles[:, 0] if given.ndim == 1 else angles


def wrap(angles: FloatArray, /) -> FloatArray:
    """Return angles in [0, 2 pi)."""
    wrapped = np.mod(angles, TURN)
    # A tiny negative angle is rounded up to a whole turn, which is 0 on the circle.
    return np.where(wrapped < TURN, wrapped, 0.0)


def check_angles(angles: npt.ArrayLike, /, *, name: str) -> FloatArray:
    """Return `angles` as a float64 vector with at least one finite entry."""
    values = np.asarray(angles)
    if values.ndim != 1:
        msg = f"`{name}` must have shape (n,); got {values.shape}."
        raise ValueError(msg)
    rows = check_rows(values, name=name)
    return rows.dense(0, rows.n_rows)[:, 0]


def signed_masses(
    angles_x: npt.ArrayLike,
    angles_y: npt.ArrayLike,
    weights_x: npt.ArrayLike | None,
    weights_y: npt.ArrayLike | None,
    /,
) -> tuple[FloatArray, FloatArray]:
    """Return all angles with the masses ``a_i`` of Claim 5.

    The masses of x are positive and sum to 1, those of y are negative and sum to -1.
    """
    at_x = check_angles(angles_x, name="angles_x")
    at_y = check_angles(angles_y, name="angles_y")
    masses_x = _shares(weights_x, len(at_x), name="weights_x")
    masses_y = _shares(weights_y, len(at_y), name="weights_y")
    return np.concatenate((at_x, at_y)), np.concatenate((masses_x, -masses_y))


def _shares(weights: npt.ArrayLike | None, n_angles: int, /, *, name: str) -> FloatArray:
    if weights is None:
        return np.full(n_angles, 1.0 / n_angles)
    values = check_angles(weights, name=name)
    if len(values) != n_angles:
        msg = (
            f"`{name}` must have one entry for each angle; got {len(values)} for "
            f"{n_angles} angles."
        )
        raise ValueError(msg)
    if values.min() < 0.0:
        msg = f"`{name}` must not be negative; got {float(values.min())!r}."
        raise ValueError(msg)
    largest = float(values.max())
    if largest == 0.0:
        msg = f"`{name}` must have a positive entry; got only zeros."
        raise ValueError(msg)
    # Dividing by the largest first keeps the sum finite, whatever the weights' unit.
    values = values / largest
    return np.asarray(values / values.sum())
