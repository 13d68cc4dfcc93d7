"""Sketches and tests on Dask: of files, of ``dask.dataframe`` and of ``dask.array``.

Needs Dask: ``pip install "fastmmd[dask]"``. Work runs where Dask would run it: on the
cluster of the current client, else in threads of this process.
"""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
import pyarrow as pa

from fastmmd._errors import MissingDependencyError
from fastmmd._validation import check_flag

try:
    import dask
except ImportError as _error:  # pragma: no cover
    _message = 'this engine needs Dask: pip install "fastmmd[dask]"'
    raise MissingDependencyError(_message) from _error

from fastmmd.engines.driver import (
    Adapter,
    Frame,
    Settings,
    check_asked_for,
    check_columns,
    check_key,
    check_more_than_key,
    check_options,
    frame_of,
    make_sketch,
    make_test,
    open_files,
    sampling,
)
from fastmmd.engines.sampling import pooled_sample
from fastmmd.engines.tasks import shell_of, tasks_of
from fastmmd.engines.work import Sketching, Work, as_batches
from fastmmd.sketch import Sketch
from fastmmd.tables import Source
from fastmmd.tables.arrow import as_table
from fastmmd.tables.schema import MAX_LEVELS, SchemaOptions
from fastmmd.tables.sketching import (
    check_rows_kept,
    plan_from_sample,
    request_sample,
    warn_notes,
)
from fastmmd.tables.source import batch_rows_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fastmmd._twosample import TwoSampleResult
    from fastmmd._typing import RNGLike
    from fastmmd.kernels import Kernel
    from fastmmd.nulls.choices import Null
    from fastmmd.tables.schema import Missing, Scale

__all__ = ["sketch", "two_sample_test"]

_FAN_IN = 8
"""Outcomes that one task merges."""


def sketch(
    data: Any,
    /,
    *,
    like: Sketch | None = None,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    scale: Scale = "robust",
    missing: Missing = "raise",
    kinds: Mapping[str, str] | None = None,
    max_levels: int = MAX_LEVELS,
    kernel: Kernel | str | Sequence[Kernel | str] = "adaptive",
    n_bins: int = 256,
    rng: RNGLike = 0,
    stream: str | bytes | int | None = None,
    key: str | None = None,
    task_rows: int | None = None,
    n_threads: int = 1,
    compute: bool = True,
) -> Any:
    """Return the sketch of a data set, made by the workers of Dask.

    Parameters
    ----------
    data : path, list of paths, Source, dask.dataframe.DataFrame or dask.array.Array
        The data. Files are read by the workers, which must reach them under the same
        names; this is the quickest way. An array has rows along its first axis and
        columns called ``c0``, ``c1``, … as an ``.npy`` file has.
    like : Sketch, optional
        A sketch to be comparable with; then none of the options up to `rng` may be given.
        Else they are chosen from a sample, in a first pass over the data.
    columns, exclude, scale, missing, kinds, max_levels, kernel, n_bins, rng : optional
        As in `fastmmd.tables.sketch_source`.
    stream : str, bytes or int, optional
        Name of the data. By default it follows from files; random for collections.
    key : str, optional
        For a data frame: a column of whole numbers, text or times that tells rows apart.
        It decides their slots, and is not part of the data.
    task_rows : int, optional
        For files: rows of a task, by default a million or more. The result does not depend
        on it.
    n_threads : int, default=1
        Threads that a task computes with.
    compute : bool, default=True
        Whether to do it now; else a ``Delayed`` is returned.

    Returns
    -------
    Sketch or dask.delayed.Delayed
        The sketch. Of files, to the last bit that of `fastmmd.tables.sketch_source`.

    Notes
    -----
    Rows of an array are known by their number, whatever its chunks (if their sizes are
    known). Rows of a data frame without `key` are known by the number of their partition
    and their number in it: the same partitions give the same sketch, other partitions an
    equally valid one.

    Examples
    --------
    .. code-block:: python

       from dask.distributed import Client
       from fastmmd.engines.dask import sketch

       with Client("tcp://scheduler:8786"):
           january = sketch("s3://flights/2018-01/*.parquet")
           february = sketch("s3://flights/2018-02/*.parquet", like=january)
       fastmmd.compare(january, february, rng=0)
    """
    options = SchemaOptions(columns, exclude, scale, missing, kinds, max_levels)
    settings = Settings.checked(
        options, kernel=kernel, n_bins=n_bins, rng=rng, key=key, n_threads=n_threads
    )
    adapter = _Dask(task_rows, key)
    if check_flag(compute, name="compute"):
        return make_sketch(adapter, data, settings, like=like, stream=stream)
    return _lazy_sketch(adapter, data, settings, like, stream)


def two_sample_test(
    x: Any,
    y: Any,
    /,
    *,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    scale: Scale = "robust",
    missing: Missing = "raise",
    kinds: Mapping[str, str] | None = None,
    max_levels: int = MAX_LEVELS,
    kernel: Kernel | str | Sequence[Kernel | str] = "adaptive",
    null: Null | str = "auto",
    n_resamples: int = 999,
    level: float = 0.05,
    margin: float | None = None,
    rng: RNGLike = None,
    key: str | None = None,
    task_rows: int | None = None,
    n_threads: int = 1,
) -> TwoSampleResult:
    """Test whether two data sets have the same distribution, by the workers of Dask.

    Parameters
    ----------
    x, y : path, list of paths, Source, dask.dataframe.DataFrame or dask.array.Array
        The data.
    columns, exclude, scale, missing, kinds, max_levels : optional
        As in `fastmmd.tables.two_sample_test`.
    kernel, null, n_resamples, level, margin, rng : optional
        As in `fastmmd.two_sample_test`.
    key, task_rows, n_threads : optional
        As in `sketch`.

    Returns
    -------
    TwoSampleResult
        Of files, the result of `fastmmd.tables.two_sample_test` with the same `rng`.

    Examples
    --------
    .. code-block:: python

       from dask.distributed import Client
       from fastmmd.engines.dask import two_sample_test

       with Client("tcp://scheduler:8786"):
           print(two_sample_test("s3://flights/2017", "s3://flights/2018", rng=0))
    """
    options = SchemaOptions(columns, exclude, scale, missing, kinds, max_levels)
    settings = Settings.checked(
        options, kernel=kernel, rng=rng, key=key, n_threads=n_threads
    )
    asked = {"null": null, "n_resamples": n_resamples, "level": level, "margin": margin}
    return make_test(_Dask(task_rows, key), x, y, settings, asked)


@final
@dataclass(frozen=True, slots=True)
class _Dask(Adapter):
    """Work as delayed tasks."""

    task_rows: int | None
    key: str | None

    def open(self, data: Any, /, *, name: str) -> Source | Frame:
        opened = _open(data, name)
        check_key(opened, self.key)
        return opened

    def reduce(self, data: Any, work: Work, /) -> bytes:
        outcome: bytes = self.lazily(data, work).compute()
        return outcome

    def lazily(self, data: Any, work: Any, /) -> Any:
        """Return the outcome as a ``Delayed``; `work` may be one too."""
        # By itself in the graph: every task gets it from there, and Dask does not look
        # for other tasks inside.
        if isinstance(work, Work):
            work = dask.delayed(work, traverse=False)
        pieces = list(self._pieces(data, work))
        merge = dask.delayed(_merge, pure=False)
        while len(pieces) > 1:
            pieces = [
                merge(work, pieces[i : i + _FAN_IN])
                for i in range(0, len(pieces), _FAN_IN)
            ]
        return pieces[0] if pieces else merge(work, [])

    def _pieces(self, data: Any, work: Any) -> Iterator[Any]:
        if isinstance(data, Source):
            on_files = dask.delayed(_on_files, pure=False)
            for task in tasks_of(data, self.task_rows):
                yield on_files(work, task)
        elif hasattr(data.data, "chunks"):
            on_array = dask.delayed(_on_array, pure=False)
            first_row = 0
            sizes = data.data.chunks[0]
            known = not any(math.isnan(size) for size in sizes)
            for place, block in enumerate(data.data.to_delayed()[:, 0]):
                part = None if known else f"block {place}"
                yield on_array(work, block, part, place, first_row)
                first_row += sizes[place] if known else 0
        else:
            on_frame = dask.delayed(_on_frame, pure=False)
            for place, frame in enumerate(data.data.to_delayed()):
                yield on_frame(work, frame, f"partition {place}", place)


def _open(data: Any, name: str) -> Source | Frame:
    # Asked by name: files do without the modules of arrays and of data frames. The type is
    # asked: a Delayed has every attribute.
    kind = type(data)
    if kind.__module__.startswith("dask") and hasattr(kind, "chunks"):
        return _open_array(data, name)
    if kind.__module__.startswith("dask") and hasattr(kind, "partitions"):
        return _open_frame(data, name)
    return open_files(data, name=name, also="a DataFrame or an Array of Dask")


def _open_array(data: Any, name: str) -> Frame:
    if data.dtype.kind in "cV":
        hint = (
            f" Put `{name}.real` and `{name}.imag` side by side, as columns."
            if data.dtype.kind == "c"
            else ""
        )
        msg = f"`{name}` must hold real numbers, text or times; got {data.dtype}.{hint}"
        raise TypeError(msg)
    if data.ndim not in (1, 2):
        msg = f"`{name}` must have 1 or 2 dimensions; got {data.ndim}."
        raise ValueError(msg)
    array = data[:, None] if data.ndim == 1 else data
    array = array.rechunk({1: -1})
    return frame_of(name, array, [f"c{i}" for i in range(array.shape[1])])


def _open_frame(data: Any, name: str) -> Frame:
    if data.ndim != 2:
        msg = (
            f"`{name}` must be a DataFrame of Dask, whose columns have names; got a "
            f"{type(data).__name__}. Write `{name}.to_frame()`."
        )
        raise TypeError(msg)
    columns = list(data.columns)
    # A table without rows tells all types but those of Python objects.
    known = as_table(data._meta, name=name).schema  # noqa: SLF001 - Dask has no other
    types = dict(zip(known.names, known.types, strict=True))
    return frame_of(name, data, columns, types=types)


def _on_files(work: Work, task: str) -> bytes:
    return work.on_files(task)


def _on_frame(work: Work, frame: Any, part: str, place: int) -> bytes:
    return work.on_batches(as_batches(as_table(frame)), part=part, place=place)


def _on_array(
    work: Work, block: Any, part: str | None, place: int, first_row: int
) -> bytes:
    return work.on_batches(
        _array_batches(block), part=part, place=place, first_row=first_row
    )


def _array_batches(block: Any) -> Iterator[pa.RecordBatch]:
    rows = np.asarray(block)
    names = [f"c{i}" for i in range(rows.shape[1])]
    step = batch_rows_for(rows.shape[1])
    for start in range(0, max(len(rows), 1), step):
        some = rows[start : start + step]
        arrays = [pa.array(np.ascontiguousarray(column)) for column in some.T]
        yield pa.RecordBatch.from_arrays(arrays, names=names)


def _merge(work: Work, outcomes: list[bytes]) -> bytes:
    return work.merge(outcomes)


def _lazy_sketch(
    adapter: _Dask,
    data: Any,
    settings: Settings,
    like: Sketch | None,
    stream: str | bytes | int | None,
) -> Any:
    """Return a sketch to come; even the choice of kernels waits."""
    check_asked_for(adapter, settings, stream)
    source = adapter.open(data, name="data")
    shell = shell_of(source) if isinstance(source, Source) else None
    if stream is None:
        # Now: a task that is run again must not draw another one.
        stream = (
            source.fingerprint()
            if isinstance(source, Source)
            else secrets.token_bytes(16)
        )
    about = Frame(source.name, None, source.schema)
    if like is not None:
        check_options(like, settings)
        warn_notes(check_columns(like, source, settings))
        empty: Any = like.like(stream=stream).to_bytes()
    else:
        check_more_than_key([source], settings)
        request = request_sample(
            [about],  # type: ignore[list-item]
            settings.options,
            settings.kernel,
            settings.rng,
        )
        # Whether a bound was too low shows only when it is too late to try again.
        work = sampling(
            source,
            request.columns,
            request.size,
            place=0,
            seed=request.seed,
            key=settings.key,
        )
        sample = adapter.lazily(source, work)
        empty = dask.delayed(_plan, pure=False, traverse=False)(
            dask.delayed((about, request, settings, shell, stream), traverse=False),
            sample,
        )
    work_to_come = dask.delayed(Sketching, pure=False)(
        empty,
        dask.delayed(shell, traverse=False),
        settings.key,
        settings.n_threads,
        like=like is not None,
    )
    outcome = adapter.lazily(source, work_to_come)
    return dask.delayed(_finish, pure=False)(outcome, dask.delayed(about, traverse=False))


def _plan(given: Any, outcome: bytes) -> bytes:
    about, request, settings, shell, stream = given
    schemas = [None if shell is None else about.schema]
    sample = pooled_sample([outcome], request.columns, request.size, schemas=schemas)
    plan = plan_from_sample(
        [about],
        settings.options,
        request,
        sample,
        kernel=settings.kernel,
        n_bins=settings.n_bins,
        rng=settings.rng,
    )
    warn_notes(plan.notes)
    return plan.sketch.like(stream=stream).to_bytes()


def _finish(outcome: bytes, about: Any) -> Sketch:
    made = Sketch.from_bytes(outcome)
    check_rows_kept(about, made.count, 0)
    return made
