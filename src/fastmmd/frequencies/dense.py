"""Frequencies as a matrix: a projection is a matrix product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fastmmd._rows import check_rows

if TYPE_CHECKING:
    import numpy.typing as npt

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
    """

    frequencies: FloatArray
    group_sizes: npt.NDArray[np.intp]

    def __post_init__(self) -> None:
        # Columns of frequencies are contiguous, as a product with sparse rows wants them.
        object.__setattr__(self, "frequencies", np.asfortranarray(self.frequencies))

    @property
    def n_frequencies(self) -> int:
        """How many frequencies there are."""
        return len(self.frequencies)

    def project(self, rows: Any, center: FloatArray | None, /) -> FloatArray:
        """Return the phases ``(rows - center) @ w`` of every row and frequency."""
        if isinstance(rows, np.ndarray):
            # Centre first: phases stay small, and so does their rounding.
            return (rows if center is None else rows - center) @ self.frequencies.T
        phases = np.asarray(rows @ self.frequencies.T)
        return phases if center is None else phases - self.frequencies @ center


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
