"""The compiled extension, behind the functions that every backend provides."""

from __future__ import annotations

import importlib
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmmd._backends import numpy as reference
from fastmmd._backends.features import Places
from fastmmd._backends.pairs import DIRECT_COLUMNS
from fastmmd._errors import MissingDependencyError
from fastmmd._rows import Rows
from fastmmd._threads import n_threads

_native: Any
try:
    # By name: to the import checker, `from fastmmd import` would be an upward import.
    _native = importlib.import_module("fastmmd._native")
except ImportError:  # pragma: no cover
    # Installed without a C++ compiler: the NumPy backend serves instead.
    _native = None

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from fastmmd._backends.features import Channel, FastfoodBlocks
    from fastmmd._backends.pairs import PairForm
    from fastmmd._typing import FloatArray

_CALL_NUMBERS = 2**31
"""Phases, and products behind them, of one call: a second or less, so that an interrupt
from the keyboard is heard between calls."""

_CONVERTED_NUMBERS = 2**18
"""Numbers of other types than floats that are converted together: 2 MB."""

_RIGHT_NUMBERS = 2**16
"""Numbers of the rows on the right that are packed together: they stay in cache."""

_RATIO = 1e100
"""Scales that differ more do not share distances: the ratio's square would overflow."""

_CALL_PAIRS = 2**27
"""Pairs of one call."""


def available() -> bool:
    """Say whether the extension was compiled when the package was installed."""
    return _native is not None


def targets() -> list[str]:
    """Return the instruction sets that can be used on this machine, best last."""
    return [] if _native is None else _native.targets()


def target() -> str:
    """Return the instruction set in use."""
    return _extension().target()


def use_target(name: str, /) -> None:
    """Use the instruction set of this name from now on."""
    _extension().use_target(name)


def matrix_feature_sums(
    sums: FloatArray,
    rows: Rows,
    places: Places,
    frequencies: FloatArray,
    channels: Sequence[Channel],
    /,
    *,
    center: FloatArray | None,
    single_radius: float,
) -> None:
    """Add features to the sums of bins; see the NumPy backend."""
    options: dict[str, Any] = {
        "frequencies": np.ascontiguousarray(frequencies),
        "single_radius": single_radius,
        "n_threads": n_threads(),
    }
    phases_per_row = sum(channel.n_frequencies for channel in channels)
    if not rows.is_sparse:
        per_row = phases_per_row + frequencies.size // 32
        for values, part, bins in _calls(rows, places, per_row):
            _extension().dense_feature_sums(
                sums[bins],
                values,
                order=part.order,
                edges=part.edges,
                center=center,
                channels=_channel_tuples(channels),
                **options,
            )
        return
    data, columns, starts = _csr_arrays(rows.raw)
    _extension().sparse_feature_sums(
        sums,
        data,
        columns,
        starts,
        order=places.order,
        edges=places.edges,
        center=center,
        channels=_channel_tuples(channels),
        **options,
    )


def fastfood_feature_sums(
    sums: FloatArray,
    rows: Rows,
    places: Places,
    blocks: FastfoodBlocks,
    channels: Sequence[Channel],
    /,
    *,
    center: FloatArray | None,
    single_radius: float,
) -> None:
    """Add features to the sums of bins by Fastfood; see the NumPy backend."""
    per_row = sum(channel.n_frequencies for channel in channels) + blocks.signs.size
    for values, part, bins in _calls(rows, places, per_row):
        _extension().fastfood_feature_sums(
            sums[bins],
            values,
            order=part.order,
            edges=part.edges,
            center=center,
            signs=blocks.signs,
            permutation=blocks.order,
            normals=blocks.normals,
            scales=blocks.scales,
            n_frequencies=blocks.n_frequencies,
            channels=_channel_tuples(channels),
            single_radius=single_radius,
            n_threads=n_threads(),
        )


def pair_sum(x: Rows, y: Rows, /, *, form: PairForm, workspace: int) -> float:
    """Return the sum of a kernel's term over all pairs; see the NumPy backend."""
    if _stays_with_numpy(x, y, form):
        return reference.pair_sum(x, y, form=form, workspace=workspace)
    return math.fsum(_pair_sums(x, y, form, workspace, within=False))


def self_pair_sum(x: Rows, /, *, form: PairForm, workspace: int) -> float:
    """Return the sum over all pairs i != k within one sample."""
    if _stays_with_numpy(x, x, form):
        return reference.self_pair_sum(x, form=form, workspace=workspace)
    return 2.0 * math.fsum(_pair_sums(x, x, form, workspace, within=True))


def bin_pair_sums(
    values: FloatArray,
    edges: npt.NDArray[np.int64],
    form: PairForm,
    scales: Sequence[float],
    /,
) -> FloatArray:
    """Return sums between bins for several scales of a term; see the NumPy backend."""
    if form.formula is None:
        return reference.bin_pair_sums(values, edges, form, scales)
    n_bins = len(edges) - 1
    alone = form.rule == "log1p_squared" or max(scales) > _RATIO * min(scales)
    if alone and len(scales) > 1:
        return np.concatenate(
            [bin_pair_sums(values, edges, form, [scale]) for scale in scales]
        )
    rising = np.sort(scales)
    sums = np.zeros((len(rising), n_bins, n_bins))
    center = _product_center(Rows(values), form)
    # As many bins a call as make few enough pairs.
    rows_a_call = _CALL_PAIRS // max(1, len(values) * len(scales))
    first = 0
    while first < n_bins:
        wanted = edges[first] + rows_a_call
        last = max(first + 1, int(np.searchsorted(edges, wanted, side="right")) - 1)
        _extension().bin_pair_sums(
            sums,
            values,
            edges,
            first,
            last,
            center=center,
            scales=rising.tolist(),
            rule=form.rule,
            profile=form.formula,
            parameter=form.parameter,
            n_threads=n_threads(),
        )
        first = last
    sums += sums.transpose(0, 2, 1).copy()
    # Every row with itself: all terms with a compiled form are 1 at 0.
    sums[:, np.arange(n_bins), np.arange(n_bins)] += np.diff(edges)
    return sums[np.searchsorted(rising, scales)]


def walsh_hadamard(values: FloatArray, /) -> FloatArray:
    """Multiply along the last axis by the unnormalised Hadamard matrix, in natural order.

    Parameters
    ----------
    values : array of shape (..., length)
        Rows to transform; `length` is a power of two. Left untouched.

    Returns
    -------
    array of the same shape
        The transformed rows, in float64.
    """
    result = np.array(values, dtype=np.float64, order="C", copy=True)
    rows = result.reshape(math.prod(result.shape[:-1]), result.shape[-1])
    _extension().walsh_hadamard(rows, n_threads())
    return result


def _extension() -> Any:
    if _native is None:
        message = (
            "the compiled extension of fastmmd is not available. Install a C++ compiler "
            "and reinstall fastmmd from source."
        )
        raise MissingDependencyError(message)
    return _native


def _channel_tuples(
    channels: Sequence[Channel],
) -> list[tuple[float, int, int, int]]:
    return [
        (c.multiplier, c.n_frequencies, c.start, c.start + c.n_frequencies)
        for c in channels
    ]


def _calls(
    rows: Rows, places: Places, numbers_per_row: int
) -> Iterator[tuple[Any, Places, slice]]:
    """Cut the work into calls: an array, the places in it, and the bins concerned."""
    step = max(1024, _CALL_NUMBERS // max(1, numbers_per_row))
    as_they_are = _is_float_array(rows)
    if not as_they_are:
        step = min(step, max(16, _CONVERTED_NUMBERS // rows.n_columns))
    if as_they_are and places.n_positions <= step:
        yield rows.raw, places, slice(None)
        return
    for start in range(0, places.n_positions, step):
        stop = min(start + step, places.n_positions)
        # The bins that these positions touch, so that calls cost no more than their share.
        first = int(np.searchsorted(places.edges, start, side="right")) - 1
        last = int(np.searchsorted(places.edges, stop, side="left"))
        edges = np.clip(places.edges[first : last + 1], start, stop) - start
        bins = slice(first, last)
        if not as_they_are:
            values = _readable(rows.take(places.rows(start, stop)))
            yield values, Places(edges), bins
        elif places.order is None:
            yield rows.raw[start:stop], Places(edges), bins
        else:
            yield rows.raw, Places(edges, places.order[start:stop]), bins


def _csr_arrays(matrix: Any) -> tuple[Any, Any, Any]:
    """Return values, columns and starts of a CSR matrix as the extension wants them."""
    data = matrix.data
    if data.dtype not in (np.float32, np.float64):
        data = data.astype(np.float64)
    same = matrix.indices.dtype == matrix.indptr.dtype
    index = matrix.indptr.dtype if same else np.dtype(np.int64)
    columns, starts = (
        np.ascontiguousarray(array, dtype=index)
        for array in (matrix.indices, matrix.indptr)
    )
    return np.ascontiguousarray(data), columns, starts


def _stays_with_numpy(x: Rows, y: Rows, form: PairForm) -> bool:
    """Return whether a term has no compiled form, or needs sparse rows as they are."""
    sparse = x.is_sparse and y.is_sparse and form.rule == "squared"
    return form.formula is None or sparse


def _pair_sums(
    x: Rows, y: Rows, form: PairForm, workspace: int, *, within: bool
) -> Iterator[float]:
    n_columns = x.n_columns
    room = workspace // (4 * 8 * n_columns)
    right_step = max(16, min(_RIGHT_NUMBERS // n_columns, room) // 16 * 16)
    left_step = max(16, _CALL_PAIRS // right_step)
    if not (_is_float_array(x) and _is_float_array(y)):
        left_step = max(16, min(left_step, room))
    center = _product_center(x, form)
    for left_start, left_stop in x.spans(left_step):
        left = _float_block(x, left_start, left_stop)
        for right_start, right_stop in y.spans(right_step):
            if within and right_stop <= left_start:
                continue
            yield from _extension().pair_sums(
                left,
                _float_block(y, right_start, right_stop),
                center=center,
                offset=right_start - left_start if within else None,
                scale=form.scale,
                rule=form.rule,
                profile=form.formula,
                parameter=form.parameter,
                n_threads=n_threads(),
            )


def _product_center(rows: Rows, form: PairForm) -> FloatArray | None:
    """Return a point amid the rows where distances come from products.

    A common shift changes no difference, and takes out what all rows share before products
    cancel it. Differences need none: a far center would only cost digits.
    """
    if form.rule != "squared" or rows.n_columns <= DIRECT_COLUMNS or not len(rows):
        return None
    return rows.middle()


def _is_float_array(rows: Rows) -> bool:
    """Return whether the extension can read the data where they are."""
    if rows.is_sparse or rows.raw.dtype not in (np.float32, np.float64):
        return False
    # A field of a structured array need not lie at multiples of its size.
    steps = (stride % rows.raw.itemsize for stride in rows.raw.strides)
    return bool(rows.raw.flags.aligned) and not any(steps)


def _float_block(rows: Rows, start: int, stop: int) -> Any:
    """Return rows as they are if they are floats, else converted."""
    if _is_float_array(rows):
        return rows.raw[start:stop]
    return _readable(rows.dense(start, stop))


def _readable(values: FloatArray) -> FloatArray:
    """Return numbers that lie one after the other, at multiples of their size."""
    return np.require(values, requirements=["C_CONTIGUOUS", "ALIGNED"])
