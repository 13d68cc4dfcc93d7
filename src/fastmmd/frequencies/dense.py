"""Frequencies as a matrix: a projection is a matrix product."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fastmmd._backends import matrix_feature_sums, matrix_phases, single_radius
from fastmmd._rows import check_rows

if TYPE_CHECKING:
    import numpy.typing as npt

    from fastmmd._backends import Channel, Places
    from fastmmd._rows import Rows
    from fastmmd._typing import FloatArray


GROUPS = 8
"""Independent parts of a draw: as few as give a usable standard error."""


def group_sizes(n_items: int, n_groups: int, /) -> npt.NDArray[np.intp]:
    """Return nearly equal sizes of at least one group."""
    n_groups = max(1, n_groups)
    sizes = np.full(n_groups, n_items // n_groups, dtype=np.intp)
    sizes[: n_items % n_groups] += 1
    return sizes


@final
@dataclass(frozen=True, slots=True, eq=False)
class DenseFrequencies:
    """Frequencies, and which of them were drawn independently of each other.

    Parameters
    ----------
    frequencies : ndarray of shape (n_frequencies, n_columns)
        One frequency a row.
    group_sizes : ndarray of int
        Frequencies come in consecutive groups of these sizes. Groups are independent;
        within a group frequencies may depend on each other (an orthogonal block, one
        scrambled point set). The spread between groups gives the standard error.

    Examples
    --------
    >>> import fastmmd
    >>> from fastmmd.frequencies import draw_frequencies
    >>> drawn = draw_frequencies(fastmmd.Gaussian(1.0), 64, 2, rng=0)
    >>> drawn.n_frequencies, int(drawn.group_sizes.sum())
    (64, 64)
    """

    frequencies: FloatArray
    group_sizes: npt.NDArray[np.intp]

    @property
    def n_frequencies(self) -> int:
        """How many frequencies there are."""
        return len(self.frequencies)

    def project(self, rows: Any, center: FloatArray | None, /) -> FloatArray:
        """Return the phases ``(rows - center) @ w`` of every row and frequency."""
        return matrix_phases(rows, center, self.frequencies)

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
    ) -> None:
        """Add the features of rows to the sums of their bins.

        With `single`, features of rows that are not too far from the center are right to
        single precision, the others, and all without it, to double precision.
        """
        radius = -1.0
        if single:
            with np.errstate(over="ignore"):
                squares = np.einsum("ij,ij->i", self.frequencies, self.frequencies)
            typical = math.sqrt(float(squares.mean()) / self.frequencies.shape[1])
            radius = single_radius(typical, math.sqrt(float(squares.max())), channels)
        matrix_feature_sums(
            sums,
            rows,
            places,
            self.frequencies,
            channels,
            center=center,
            single_radius=radius,
        )


def check_frequencies(frequencies: npt.ArrayLike, n_columns: int, /) -> DenseFrequencies:
    """Return frequencies given by the user, taken as independent draws."""
    rows = check_rows(frequencies, name="frequencies")
    values = rows.dense(0, rows.n_rows)
    if rows.n_columns != n_columns:
        msg = (
            f"`frequencies` must have shape (n_frequencies, {n_columns}), one column for "
            f"each column of the data; got {np.shape(frequencies)}."
        )
        raise ValueError(msg)
    return DenseFrequencies(values, np.ones(len(values), dtype=np.intp))
