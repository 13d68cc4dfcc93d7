"""A checked sample: rows of finite numbers, dense or sparse, read block by block.

Every public function turns its samples into `Rows` first and computes only after that.
The data are neither copied nor converted as a whole: a block becomes float64 when it is
read, so a million float32 or integer rows cost no second copy in memory.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fastmmd._errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import scipy.sparse

    from fastmmd._typing import FloatArray, SampleLike

_CHECK_ELEMENTS = 2**20
"""Numbers looked at together when searching for NaN: 8 MB, whatever the sample's size."""

_MIDDLE_ROWS = 64
"""Rows whose median is their middle: anywhere amid the data will do."""


@final
class Rows:
    """Rows of one sample, known to be finite real numbers.

    Parameters
    ----------
    values : ndarray of shape (n, n_columns) or CSR matrix
        Checked data; never written to.
    """

    __slots__ = ("_values", "is_sparse", "n_columns", "n_rows")

    def __init__(self, values: Any, /) -> None:
        self._values = values
        self.is_sparse = not isinstance(values, np.ndarray)
        self.n_rows = int(values.shape[0])
        self.n_columns = int(values.shape[1])

    def __len__(self) -> int:
        return self.n_rows

    @property
    def raw(self) -> Any:
        """The data as they came, an array or a CSR matrix; not to be written to."""
        return self._values

    @property
    def n_nonzero(self) -> int:
        """Stored numbers: all of them if the sample is dense."""
        return int(self._values.nnz if self.is_sparse else self._values.size)

    def part(self, start: int, stop: int, /) -> Rows:
        """Return rows `start` to `stop` as a sample of their own, without a copy."""
        return Rows(self._values[start:stop])

    def block(self, start: int, stop: int, /) -> FloatArray | scipy.sparse.csr_array:
        """Return rows `start` to `stop` as float64, sparse if the sample is."""
        part = self._values[start:stop]
        return part.astype(np.float64, copy=False)

    def dense(self, start: int, stop: int, /) -> FloatArray:
        """Return rows `start` to `stop` as a dense float64 array."""
        part = self.block(start, stop)
        return part if isinstance(part, np.ndarray) else part.toarray()

    def select(self, indices: Any, /) -> FloatArray | scipy.sparse.csr_array:
        """Return the rows with these numbers as float64, sparse if the sample is."""
        return self._values[indices].astype(np.float64, copy=False)

    def take(self, indices: Any, /) -> FloatArray:
        """Return the rows with these numbers as a dense float64 array."""
        part = self.select(indices)
        return part if isinstance(part, np.ndarray) else part.toarray()

    def middle(self) -> FloatArray:
        """Return a point amid the rows, to measure from: the median of some of them.

        Not the mean, which one outlier could carry away.
        """
        step = max(1, self.n_rows // _MIDDLE_ROWS)
        return np.asarray(np.median(self.take(slice(None, None, step)), axis=0))

    def spans(self, size: int, /) -> Iterator[tuple[int, int]]:
        """Yield (start, stop) of consecutive blocks of at most `size` rows."""
        for start in range(0, self.n_rows, size):
            yield start, min(start + size, self.n_rows)


def check_rows(sample: SampleLike, /, *, name: str, allow_empty: bool = False) -> Rows:
    """Return `sample` as `Rows`; one dimension is read as one column."""
    if isinstance(sample, Rows):
        return sample
    check_read(sample, name=name)
    if isinstance(sample, (str, os.PathLike)):
        msg = (
            f"`{name}` must be an array of numbers; got a path. "
            "`fastmmd.tables.two_sample_test` reads files."
        )
        raise TypeError(msg)
    if is_table(sample):
        msg = (
            f"`{name}` must be an array of numbers; got a table ({type(sample).__name__}). "
            "`fastmmd.two_sample_test` takes tables as they are; elsewhere turn them into "
            "numbers first, by `fastmmd.tables.Schema.infer(...)` and its `encode`."
        )
        raise TypeError(msg)
    values = _as_csr(sample, name=name) if _is_sparse(sample) else _as_array(sample, name)
    for axis, what in enumerate(("row", "column")):
        if values.shape[axis] == 0 and not (what == "row" and allow_empty):
            msg = f"`{name}` must have at least one {what}; got shape {values.shape}."
            raise ValueError(msg)
    _check_finite(values, name=name)
    return Rows(values)


def check_samples(x: SampleLike, y: SampleLike, /) -> tuple[Rows, Rows]:
    """Return both samples as `Rows` with the same columns."""
    rows_x, rows_y = check_rows(x, name="x"), check_rows(y, name="y")
    if rows_x.n_columns != rows_y.n_columns:
        msg = (
            "`x` and `y` must have the same number of columns; got shapes "
            f"{np.shape(x)} and {np.shape(y)}."
        )
        for name, sample in (("x", x), ("y", y)):
            if np.ndim(sample) == 1:
                msg += (
                    f" One-dimensional `{name}` was read as one column; write "
                    f"`{name}[None, :]` if it is one row."
                )
        raise ValueError(msg)
    return rows_x, rows_y


def is_table(sample: Any, /) -> bool:
    """Return whether `sample` has named columns and speaks a protocol of data frames.

    Series and chunked arrays speak the same protocol with one nameless column. They are
    told by attributes of their type: of a frame's own attributes some may be columns.
    """
    kind = type(sample)
    if not any(
        hasattr(kind, protocol)
        for protocol in ("__arrow_c_stream__", "__arrow_c_array__", "__dataframe__")
    ):
        return False
    return not hasattr(kind, "dtype") and (
        hasattr(kind, "columns") or not hasattr(kind, "type")
    )


def check_read(sample: Any, /, *, name: str) -> None:
    """Raise for data that are not yet read: a lazy frame of Polars, a dataset of PyArrow.

    They could be read here, but whether they fit in memory only the user knows.
    """
    kind = type(sample)
    read = None
    if hasattr(kind, "collect") and hasattr(kind, "collect_schema"):
        read = "collect"
    elif (
        hasattr(kind, "to_table") and hasattr(kind, "to_batches") and not is_table(sample)
    ):
        read = "to_table"
    if read is not None:
        msg = (
            f"`{name}` must be a table or an array; got a {kind.__name__}, whose rows are "
            f"not read yet. Pass `{name}.{read}()`, or, if it does not fit in memory, the "
            "path of its files to `fastmmd.tables`."
        )
        raise TypeError(msg)


def _is_sparse(sample: Any) -> bool:
    # Asking the type for its home avoids importing scipy.sparse for dense data.
    return any(
        base.__module__.startswith("scipy.sparse") for base in type(sample).__mro__
    )


def _as_csr(sample: Any, *, name: str) -> Any:
    _check_kind(sample.dtype, name=name)
    if sample.ndim != 2:
        msg = f"`{name}` must have shape (n, n_columns); got {sample.shape}."
        raise ValueError(msg)
    _check_places(sample, name=name)
    matrix = sample.tocsr()
    if not matrix.has_canonical_format:
        # Indices given twice mean a sum; `sum_duplicates` works in place, so on a copy.
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def _check_places(sample: Any, *, name: str) -> None:
    """Raise if a sparse matrix has values where it has no rows or columns.

    SciPy takes the arrays that a matrix is made of as they are, and its conversions and
    products then read and write memory that is not theirs.
    """
    n_rows, n_columns = sample.shape
    if sample.format == "coo":
        places = [(sample.row, n_rows), (sample.col, n_columns)]
    elif sample.format in ("csr", "csc", "bsr"):
        starts, sizes = sample.indptr, np.diff(sample.indptr)
        block = getattr(sample, "blocksize", (1, 1))
        if sample.format == "csc":
            n_rows, n_columns = n_columns, n_rows
        n_rows, n_columns = n_rows // block[0], n_columns // block[1]
        if (
            len(starts) != n_rows + 1
            or starts[0] != 0
            or (sizes < 0).any()
            or starts[-1] > min(len(sample.indices), len(sample.data))
        ):
            msg = (
                f"`{name}` must be a sparse matrix in order; the pointers to its rows "
                "(`indptr`) do not fit its values."
            )
            raise DataError(msg)
        places = [(sample.indices[: starts[-1]], n_columns)]
    else:
        return
    for indices, n in places:
        low, high = (indices.min(), indices.max()) if len(indices) else (0, n - 1)
        if low < 0 or high >= n:
            msg = (
                f"`{name}` must be a sparse matrix with values inside its shape "
                f"{sample.shape}; got indices from {low} to {high} where there are {n}."
            )
            raise DataError(msg)


def _as_array(sample: Any, name: str) -> np.ndarray[Any, np.dtype[Any]]:
    if isinstance(sample, np.ma.MaskedArray) and np.ma.is_masked(sample):
        n_masked = int(np.ma.getmaskarray(sample).sum())
        msg = (
            f"`{name}` must not have masked values; got {n_masked}. Drop or fill "
            "them first."
        )
        raise ValueError(msg)
    try:
        values = np.asarray(sample)
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        msg = f"`{name}` must have rows of equal length; got ragged rows."
        raise ValueError(msg) from error
    _check_kind(values.dtype, name=name)
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2:
        msg = (
            f"`{name}` must have shape (n, n_columns) or (n,); got {values.shape}. "
            f"Flatten each row with `{name}.reshape(len({name}), -1)`."
        )
        if values.ndim == 0:
            msg = f"`{name}` must have shape (n, n_columns) or (n,); got a single value."
        raise ValueError(msg)
    return values


def _check_kind(dtype: np.dtype[Any], *, name: str) -> None:
    if dtype.kind not in "biuf":
        what = {
            "c": "complex numbers",
            "O": "Python objects",
            "M": "dates",
            "m": "durations",
        }
        got = what.get(dtype.kind, "strings" if dtype.kind in "USTa" else str(dtype))
        msg = f"`{name}` must hold real numbers; got {got} (dtype {dtype})."
        if dtype.kind == "O":
            msg += f" If all of them are numbers, pass `{name}.astype(float)`."
        raise TypeError(msg)


def _check_finite(values: Any, *, name: str) -> None:
    if values.dtype.kind != "f":
        return
    if not isinstance(values, np.ndarray):
        # Room beyond the last row's end belongs to no entry.
        bad_entries = np.flatnonzero(~np.isfinite(values.data[: values.indptr[-1]]))
        bad_rows = np.unique(
            np.searchsorted(values.indptr, bad_entries, side="right") - 1
        )
    else:
        step = max(1, _CHECK_ELEMENTS // values.shape[1])
        if all(
            _finite(values[start : start + step]).all()
            for start in range(0, values.shape[0], step)
        ):
            return
        bad_rows = np.concatenate(
            [
                start + np.flatnonzero(~_finite(values[start : start + step]).all(axis=1))
                for start in range(0, max(values.shape[0], 1), step)
            ]
        )
    if bad_rows.size:
        msg = (
            f"`{name}` must be finite; got NaN or infinity in {bad_rows.size} of "
            f"{values.shape[0]} rows, first in row {bad_rows[0]}. Drop or fill those "
            "rows first."
        )
        raise ValueError(msg)


def _finite(values: Any) -> Any:
    if values.dtype.itemsize <= np.dtype(np.float64).itemsize:
        return np.isfinite(values)
    # Long doubles are judged as what they become.
    with np.errstate(over="ignore"):
        return np.isfinite(values.astype(np.float64))
