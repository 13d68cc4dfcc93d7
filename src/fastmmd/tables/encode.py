"""From Arrow batches to rows of numbers, by the constants of a schema.

Columns are converted one at a time by Arrow and NumPy, without a Python loop over rows;
numbers of 64 bits without missing values are read in place. Loops go over the distinct
values of a category only.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fastmmd._errors import GIVEN_AS_LIKE, DataError
from fastmmd.tables.columns import RARE_SCALE, Categorical, Numeric, is_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from fastmmd._typing import FloatArray
    from fastmmd.tables.columns import Column

_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_DAY = 86400.0

_ODD = np.uint64(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio: multiplying by it spreads checksums over all high bits."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """Rows of numbers, and what was wrong with the values they were made from.

    Parameters
    ----------
    rows : ndarray of shape (n, n_encoded)
        The rows; missing values are NaN unless a policy took care of them.
    missing : ndarray of bool of shape (n,), optional
        Rows with a missing value that was not given a number.
    n_missing, n_infinite : dict
        Number of missing and of infinite values in the columns that have any.
    """

    rows: FloatArray
    missing: npt.NDArray[np.bool_] | None = None
    n_missing: dict[str, int] = field(default_factory=dict)
    n_infinite: dict[str, int] = field(default_factory=dict)


def encode_batch(
    columns: Sequence[Column], batch: pa.RecordBatch, /, *, indicator: bool = False
) -> Encoded:
    """Return a batch as rows of numbers.

    Parameters
    ----------
    columns : sequence of Column
        What becomes of each column; the batch must have them, and may have others.
    batch : pyarrow.RecordBatch
        The data.
    indicator : bool, default=False
        Whether missing values become numbers: the center of their column, and one in a
        column of its own or, where the sample had none missing, in the last one of all.

    Returns
    -------
    Encoded
        The rows, without regard to missing and infinite values, and how many there are.
    """
    n_rows = batch.num_rows
    width = sum(len(column.encoded_names) for column in columns) + indicator
    rows = np.zeros((n_rows, width))
    # One index is quicker to follow than two.
    flat, first = rows.reshape(-1), width * np.arange(n_rows)
    missing: npt.NDArray[np.bool_] | None = None
    n_missing: dict[str, int] = {}
    n_infinite: dict[str, int] = {}
    place = 0
    for column in columns:
        array = _array(batch, column.name)
        if isinstance(column, Numeric):
            values = numbers(array, name=column.name)
            # One quick sum tells whether there is anything to look for.
            with np.errstate(invalid="ignore", over="ignore"):
                absent = None if np.isfinite(values.sum()) else np.isnan(values)
            if absent is not None and (n := int(np.isinf(values).sum())):
                n_infinite[column.name] = n
            absent = absent if absent is not None and absent.any() else None
            with np.errstate(over="ignore", invalid="ignore"):
                shifted = values - column.center
                np.divide(shifted, column.scale, out=rows[:, place])
            if absent is not None and indicator:
                rows[absent, place] = 0.0
                if column.indicator is not None:
                    rows[absent, place + 1] = 1.0 / column.indicator
        else:
            codes, absent = _codes(array, column)
            known = slice(None) if absent is None else ~absent
            flat[first[known] + place + codes[known]] = column.weight
            if absent is not None and column.indicator:
                last = place + len(column.encoded_names) - 1
                rows[absent, last] = column.weight
        if absent is not None:
            n_missing[column.name] = int(absent.sum())
            if not indicator:
                missing = absent if missing is None else missing | absent
            elif not column.indicator:
                rows[absent, -1] += 1.0 / RARE_SCALE
        place += len(column.encoded_names)
    return Encoded(rows, missing, n_missing, n_infinite)


def numbers(array: pa.Array, /, *, name: str) -> FloatArray:
    """Return an Arrow array as float64, NaN where a value is missing; times in seconds."""
    array = _plain(array)
    type_, unit = array.type, 1.0
    types = pa.types
    if types.is_null(type_):
        return np.full(len(array), np.nan)
    if types.is_date32(type_):
        array, unit = array.view(pa.int32()), _DAY
    elif types.is_date64(type_):
        array, unit = array.view(pa.int64()), 1e-3
    elif types.is_temporal(type_) and hasattr(type_, "unit"):
        narrow = types.is_time32(type_)
        array = array.view(pa.int32() if narrow else pa.int64())
        unit = _SECONDS[type_.unit]
    if not types.is_float64(array.type):
        try:
            # Whole numbers beyond 2^53 are rounded, as everywhere in floating point.
            array = array.cast(pa.float64(), safe=False)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            msg = f"column `{name}` must hold numbers; got {type_} ({error})."
            raise DataError(msg) from error
    values: FloatArray = array.to_numpy(zero_copy_only=False)
    return values if unit == 1.0 else values * unit


def distinct(array: pa.Array, /, *, name: str) -> tuple[list[str | None], Any]:
    """Return the distinct values of an array as strings, and for each row its place there.

    The place is -1 where the value is missing; a value may also be None in the list.
    """
    array = _plain(array, dictionary=True)
    if pa.types.is_null(array.type):
        return [], np.full(len(array), -1, dtype=np.int64)
    if not pa.types.is_dictionary(array.type):
        if pa.types.is_floating(array.type):
            # NaN is missing, also in a column of numbers that is read as categories.
            array = pa.array(array.to_numpy(zero_copy_only=False), from_pandas=True)
        array = array.dictionary_encode()
    elif len(array.dictionary) > 2 * len(array) + 1000:
        # A few rows of a long dictionary: only the values that occur are of interest.
        array = array.dictionary_decode().dictionary_encode()
    indices = array.indices
    places = indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return _strings(array.dictionary, name=name), places


def buckets(values: Sequence[str], n_buckets: int, /) -> npt.NDArray[np.int64]:
    """Return the buckets of values: the same in every process, version and machine."""
    sums = (zlib.crc32(value.encode("utf-8", "surrogatepass")) for value in values)
    mixed = np.fromiter(sums, dtype=np.uint64, count=len(values)) * _ODD >> np.uint64(32)
    return (mixed % np.uint64(n_buckets)).astype(np.int64)


def check_values(
    n_missing: Mapping[str, int],
    n_infinite: Mapping[str, int],
    n_rows: int,
    /,
    *,
    missing: str,
    origin: str,
    like: bool = False,
) -> None:
    """Raise if there are infinite values, or missing ones that have no policy.

    With `like` a sketch that was given decides, and the advice is about making that one.
    """
    if n_infinite:
        remedy = (
            f"make {GIVEN_AS_LIKE} without the columns, by `exclude`"
            if like
            else "leave the columns out with `exclude`"
        )
        msg = (
            f"{origin} must hold finite numbers; got, in {n_rows} rows, infinite ones: "
            f"{_listed(n_infinite)}. Clip them, or {remedy}."
        )
        raise DataError(msg)
    if n_missing and missing == "raise":
        make, again = (f"Make {GIVEN_AS_LIKE} with", "with ") if like else ("Pass", "")
        msg = (
            f"{origin} must have no missing values; got, in {n_rows} rows: "
            f'{_listed(n_missing)}. {make} `missing="drop"` to leave such rows out, or '
            f'{again}`missing="indicator"` to let "missing" be a value.'
        )
        raise DataError(msg)


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} in `{name}`" for name, count in counts.items())


def _array(batch: pa.RecordBatch, name: str) -> pa.Array:
    index = batch.schema.get_field_index(name)
    if index < 0:
        msg = f"a batch must have the column `{name}`; got {batch.schema.names}."
        raise DataError(msg)
    return batch.column(index)


def _plain(array: pa.Array, *, dictionary: bool = False) -> pa.Array:
    """Return the array without wrappings: extension, run-length, dictionary."""
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.storage
    if pa.types.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)
    if pa.types.is_dictionary(array.type) and not dictionary:
        array = array.dictionary_decode()
    return array


def _strings(values: pa.Array, *, name: str) -> list[str | None]:
    if pa.types.is_fixed_size_binary(values.type):
        values = values.cast(pa.binary())
    try:
        if not pa.types.is_string(values.type):
            values = values.cast(pa.large_string())
        found: list[str | None] = values.to_pylist()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, UnicodeDecodeError) as error:
        hint = "text in UTF-8" if is_text(values.type) else "strings"
        msg = (
            f"column `{name}` must hold {hint}; got {values.type} ({error}). Leave it out "
            "with `exclude`."
        )
        raise DataError(msg) from error
    return found


def _codes(
    array: pa.Array, column: Categorical
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_] | None]:
    """Return the place of each value within the block, and which values are missing."""
    values, places = distinct(array, name=column.name)
    own: dict[str | None, int] = {level: i for i, level in enumerate(column.levels)}
    # One more at the end, which is where a place of -1 looks.
    codes = np.array([own.get(value, -1) for value in (*values, None)], dtype=np.int64)
    others = {i: v for i, v in enumerate(values) if v is not None and v not in own}
    hashed = buckets(list(others.values()), column.n_buckets)
    codes[list(others)] = len(own) + hashed
    found = codes[places]
    absent = found < 0
    return found, absent if absent.any() else None
