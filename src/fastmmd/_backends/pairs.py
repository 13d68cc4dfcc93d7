"""Terms of kernels, and distances between blocks of rows, accurate where it matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fastmmd._typing import FloatArray

Rule = Literal["squared", "absolute", "log1p_squared", "difference"]
"""How one column's difference ``t`` (in bandwidths) enters the sum over columns: t^2, |t|
or log(1 + t^2). With "difference" there is no sum: the profile gets the differences."""

Formula = Literal[
    "gaussian",
    "exponential",
    "matern_1",
    "matern_3",
    "matern_5",
    "rational_quadratic",
    "reciprocal",
]
"""Profiles that have a compiled form; they are defined in native/.../tasks.hpp."""


@final
@dataclass(frozen=True, slots=True)
class PairForm:
    """One term of a kernel: ``weight * profile(sum_j rule(scale * difference_j))``.

    Every kernel is a sum of such terms, so backends need to know a few rules and a
    function of one number, and nothing about kernels.

    Parameters
    ----------
    rule : {"squared", "absolute", "log1p_squared", "difference"}
        How a column's scaled difference enters the sum over columns.
    scale : float
        One over the bandwidth.
    profile : callable
        Maps the sum to the kernel's value, elementwise; may overwrite its argument.
    weight : float, default=1.0
        Factor of this term.
    formula : str, optional
        Name of the profile's compiled form, if it has one.
    parameter : float, default=0.0
        The formula's parameter, if it has one.
    """

    rule: Rule
    scale: float
    profile: Callable[[FloatArray], FloatArray]
    weight: float = 1.0
    formula: Formula | None = None
    parameter: float = 0.0


DIRECT_COLUMNS = 8
"""Up to this many columns squared distances come from differences, column by column.

The matrix product is faster in many columns but cancels: |x|^2 + |y|^2 - 2 x.y loses the
digits of close pairs, the ones that count. In few columns rows are often close compared
with their spread and differences cost little; in many columns distances concentrate."""

_FAR = 1e300
"""Stands for distances that overflow: finite, so that no profile makes NaN of it."""

_CANCELLED = 1e-3
"""Squared distances below this share of |x|^2 + |y|^2 are computed again from differences.

What is left of the product's error, about 1e-16 (|x|^2 + |y|^2), is then at most 1e-13 of
the distance."""


def pair_values(x: Any, y: Any, /, *, form: PairForm) -> FloatArray:
    """Return ``profile(distance(x[i], y[k]))`` for all pairs of rows of two blocks."""
    rule, scale, profile = form.rule, form.scale, form.profile
    if rule == "squared" and not (isinstance(x, np.ndarray) or isinstance(y, np.ndarray)):
        return profile(_squared_of_sparse(x, y, scale))
    x, y = (b if isinstance(b, np.ndarray) else b.toarray() for b in (x, y))
    if rule == "difference":
        values = np.asarray(profile((x[:, None, :] - y[None, :, :]) * scale))
        if values.shape != (len(x), len(y)):
            msg = (
                "`value` must return one number for each difference, shape (n, m) for "
                f"differences of shape (n, m, n_columns); got shape {values.shape}."
            )
            raise ValueError(msg)
        return values
    return profile(column_sums(x, y, rule, scale))


def column_sums(x: FloatArray, y: FloatArray, rule: str, scale: float, /) -> FloatArray:
    """Return ``sum_j rule(scale * (x[i, j] - y[k, j]))`` for all pairs i, k."""
    # Squares of numbers beyond 1e150 overflow; as distances they are all "far".
    with np.errstate(over="ignore", invalid="ignore"):
        return np.minimum(_column_sums(x, y, rule, scale), _FAR)


def _column_sums(x: FloatArray, y: FloatArray, rule: str, scale: float) -> FloatArray:
    if rule == "squared" and x.shape[1] > DIRECT_COLUMNS:
        sums = _squared_by_product(x, y, scale)
        if np.isfinite(sums).all():
            return sums
    sums = np.zeros((len(x), len(y)))
    difference = np.empty_like(sums)
    for column_x, column_y in zip(x.T, y.T, strict=True):
        np.subtract.outer(column_x, column_y, out=difference)
        difference *= scale
        if rule == "absolute":
            np.abs(difference, out=difference)
        elif rule == "squared":
            np.multiply(difference, difference, out=difference)
        else:
            np.multiply(difference, difference, out=difference)
            np.log1p(difference, out=difference)
        sums += difference
    return sums


def _squared_of_sparse(x: Any, y: Any, scale: float) -> FloatArray:
    """Return scaled squared distances between rows of two CSR matrices."""
    x, y = x * scale, y * scale
    squares_x = np.asarray(x.multiply(x).sum(axis=1)).ravel()
    squares_y = np.asarray(y.multiply(y).sum(axis=1)).ravel()
    lengths = squares_x[:, None] + squares_y
    sums = lengths - 2.0 * np.asarray((x @ y.T).toarray())
    for i, k in _cancelled_pairs(sums, lengths):
        delta = x[i] - y[k]
        sums[i, k] = np.asarray(delta.multiply(delta).sum(axis=1)).ravel()
    return sums


def _squared_by_product(x: FloatArray, y: FloatArray, scale: float) -> FloatArray:
    # A common shift changes no difference and takes out what both rows share. The median,
    # not the mean: an outlier must not carry it away.
    origin = np.median(x, axis=0)
    x, y = (x - origin) * scale, (y - origin) * scale
    lengths = np.einsum("ij,ij->i", x, x)[:, None] + np.einsum("ij,ij->i", y, y)
    sums = x @ y.T
    sums *= -2.0
    sums += lengths
    for i, k in _cancelled_pairs(sums, lengths):
        delta = x[i] - y[k]
        sums[i, k] = np.einsum("ij,ij->i", delta, delta)
    return sums


def _cancelled_pairs(sums: FloatArray, lengths: FloatArray) -> Iterator[tuple[Any, Any]]:
    """Yield index pairs whose distance must be computed again, a small batch at a time."""
    rows, columns = np.nonzero(sums < _CANCELLED * lengths)
    # A batch of differences takes no more room than two blocks of rows.
    batch = sum(sums.shape)
    for start in range(0, rows.size, batch):
        yield rows[start : start + batch], columns[start : start + batch]
