"""From a source to a sketch: choose kernels from a sample, then one pass over the parts."""

from __future__ import annotations

import collections
import concurrent.futures
import functools
import hashlib
import inspect
import json
import os
import pathlib
import warnings
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fastmmd._errors import (
    GIVEN_AS_LIKE,
    DataError,
    DataWarning,
    IncompatibleSketchError,
    UndefinedEstimateError,
)
from fastmmd._random import spawn
from fastmmd._rows import Rows
from fastmmd._threads import n_threads as usual_threads
from fastmmd._threads import threads
from fastmmd._twosample.families import choose_kernels
from fastmmd._validation import check_choice, check_count, check_positive
from fastmmd.bandwidth import KERNEL_NAMES
from fastmmd.families import SUBSAMPLE_ROWS, adaptive_family
from fastmmd.kernels import Kernel
from fastmmd.sketch import Sketch
from fastmmd.sketch.file import sketch_parts
from fastmmd.sketch.routing import check_bins, stream_id
from fastmmd.tables.ahead import read_ahead
from fastmmd.tables.checkpoint import Checkpoint, State, empty_copy
from fastmmd.tables.infer import quoted
from fastmmd.tables.opening import open_source
from fastmmd.tables.progress import Progress
from fastmmd.tables.sample import Sample, draw_sample, sample_size
from fastmmd.tables.schema import (
    MAX_LEVELS,
    Schema,
    SchemaOptions,
    changed_types,
    infer_schema,
)
from fastmmd.tables.source import batch_rows_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fastmmd._typing import FloatArray, RNGLike
    from fastmmd.tables.part import Batch, Part
    from fastmmd.tables.progress import Report
    from fastmmd.tables.schema import Missing, Scale
    from fastmmd.tables.source import Source

_CHECKPOINT_SECONDS = 30.0

_FEWEST_ROWS = 2
"""Rows of each data set that a comparison needs."""

_PACKAGE = os.fspath(pathlib.Path(__file__).parents[1]) + os.sep

_DEFAULTS: dict[str, Any] = {"kernel": "adaptive", "n_bins": 256, "rng": 0}


def new_sketch(
    *sources: Any,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    scale: Scale = "robust",
    missing: Missing = "raise",
    kinds: Mapping[str, str] | None = None,
    max_levels: int = MAX_LEVELS,
    kernel: Kernel | str | Sequence[Kernel | str] = "adaptive",
    n_bins: int = 256,
    n_rows: int | None = None,
    rng: RNGLike = 0,
    progress: Report | None = None,
) -> Sketch:
    """Return an empty sketch suited to data: with a schema, kernels and a center.

    Give all data that are to be compared, or the reference alone.

    Parameters
    ----------
    *sources : Source, path or table
        The data. A sample of them is looked at, pooled, in one pass; nothing is added.
    columns, exclude : sequence of str, optional
        The columns to use, and to leave out; by default all that the data have in common.
    scale : {"robust", "standard"}, default="robust"
        Constants of numbers: median and distance between quartiles, or mean and standard
        deviation.
    missing : {"raise", "drop", "indicator"}, default="raise"
        What becomes of missing values.
    kinds : mapping, optional
        Kinds of columns that differ from what their type says.
    max_levels : int, default=32
        Largest number of places for the levels of one category.
    kernel : Kernel, str or sequence of these, default="adaptive"
        As in `fastmmd.two_sample_test`.
    n_bins : int, default=256
        Slots.
    n_rows : int, optional
        Rows that a comparison will see in both sketches together; by default those of the
        sources, twice if there is only one.
    rng : int or numpy.random.Generator, default=0
        Seed of the frequencies and of the sample. Sketches must share it.
    progress : callable, optional
        Called with a `Progress` after each batch.

    Returns
    -------
    Sketch
        Without rows; pass it as `like` to `sketch_source`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table(
    ...     {"delay": [1.0, 4.0, 2.0, 8.0], "late": [False, True, False, True]}
    ... )
    >>> sketch = new_sketch(table)
    >>> sketch.count, sketch.n_columns, [c["name"] for c in sketch.schema["columns"]]
    (0, 2, ['delay', 'late'])
    """
    check_made(kernel, n_bins)
    if n_rows is not None:
        n_rows = check_count(n_rows, name="n_rows")
    opened = [open_source(source) for source in sources]
    options = SchemaOptions(columns, exclude, scale, missing, kinds, max_levels)
    plan = plan_sketch(
        opened,
        options,
        kernel=kernel,
        n_bins=n_bins,
        n_rows=n_rows,
        rng=rng,
        progress=progress,
    )
    warn_notes(plan.notes)
    return plan.sketch


def sketch_source(
    source: Any,
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
    n_threads: int | None = None,
    progress: Report | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_seconds: float = _CHECKPOINT_SECONDS,
    resume: bool = False,
) -> Sketch:
    """Return the sketch of a data set of any size.

    Parameters
    ----------
    source : Source, path or table
        The data.
    like : Sketch, optional
        A sketch to be comparable with: its schema and kernels are used, and none of the
        options up to `rng` may be given. Else they are chosen from a sample, in a first
        pass over the data.
    columns, exclude, scale, missing, kinds, max_levels, kernel, n_bins, rng : optional
        As in `new_sketch`.
    stream : str, bytes or int, optional
        Name of the data, which decides the slots of its rows. By default it follows from
        the paths, sizes and dates of the files, so that the same files give the same
        sketch; random for a table in memory.
    n_threads : int, optional
        Threads that compute; see `fastmmd.threads`. The result does not depend on it.
    progress : callable, optional
        Called with a `Progress` after each batch.
    checkpoint : path, optional
        A file for what is done so far, written from time to time, in both passes and also
        in the middle of a file, and at the end. It is left there: remove it when the sketch
        is saved.
    checkpoint_seconds : float, default=30.0
        Time between two checkpoints.
    resume : bool, default=False
        Whether to go on from the checkpoint if there is one. The result is the same to
        the last bit as that of a run without interruption. Rows of a text file that were
        counted are read once more, as only reading tells where they end, but not sketched.

    Returns
    -------
    Sketch
        The sketch; `fastmmd.compare` tests two of them, `save` keeps it.

    Notes
    -----
    Memory: some batches of 8 MB and some copies of the sketch, whatever the size of the
    data. Every part of the source is added up by itself, and parts in their order, so
    sketches of parts made elsewhere by `sketch_part` add up to the same bits.

    Examples
    --------
    >>> import fastmmd, numpy as np, pyarrow as pa
    >>> rng = np.random.default_rng(0)
    >>> january = pa.table({"delay": rng.normal(size=2000)})
    >>> february = pa.table({"delay": rng.normal(size=1500) + 0.3})
    >>> old = sketch_source(january)
    >>> new = sketch_source(february, like=old)
    >>> fastmmd.compare(old, new, rng=0).pvalue
    0.001
    """
    check_made(kernel, n_bins, stream)
    opened = open_source(source)
    n_threads = check_threads(n_threads)
    checkpoint_seconds = check_positive(checkpoint_seconds, name="checkpoint_seconds")
    options = SchemaOptions(columns, exclude, scale, missing, kinds, max_levels)
    if like is not None:
        check_like(like, options, {"kernel": kernel, "n_bins": n_bins, "rng": rng})
        report = schema_of(like).check(opened.schema, origin=f"`{opened.name}`")
        warn_notes(report.notes)
    given, run = like is not None, None
    if checkpoint is not None:
        key = _run_key(opened, like, [options, kernel, n_bins, rng, stream])
        run = Checkpoint(checkpoint, key, checkpoint_seconds)
    state = run.load() if run is not None and resume else None
    if not isinstance(state, State):
        n_rows = None
        if like is None:
            plan = plan_sketch(
                [opened],
                options,
                kernel=kernel,
                n_bins=n_bins,
                rng=rng,
                draw=functools.partial(
                    draw_sample,
                    progress=progress,
                    state=state,
                    save=None if run is None else run.save_if_due,
                ),
            )
            warn_notes(plan.notes)
            like, n_rows = plan.sketch, plan.sample.n_read[0]
        empty = like.like(stream=opened.fingerprint() if stream is None else stream)
        state = State(empty, empty_copy(empty), n_rows=n_rows)
    return run_sketch(
        opened,
        state,
        n_threads=n_threads,
        progress=progress,
        checkpoint=run,
        like=given,
    ).total


def sketch_part(empty: Sketch, source: Source, part: Part, /) -> Sketch:
    """Return the sketch of one part of a source.

    What a task on another machine does: `empty` comes from `new_sketch` and `like`, with a
    name for its stream, and the sketches of all parts, merged in the order of the parts by
    ``merge(..., parts=True)``, are the sketch that `sketch_source` makes.

    Parameters
    ----------
    empty : Sketch
        A sketch without rows, of the stream that the source is.
    source : Source
        The data.
    part : Part
        One of its parts.

    Returns
    -------
    Sketch
        The sketch of the part's rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> source = open_source(pa.table({"x": [1.0, 2.0, 4.0, 8.0]}))
    >>> empty = new_sketch(source).like(stream="numbers")
    >>> sketch_part(empty, source, source.parts()[0]).count
    4
    """
    schema = schema_of(empty)
    schema.check(source.schema, origin=f"`{source.name}`")
    total = empty_copy(empty)
    for batch in source.read(
        part, schema.names, batch_rows=batch_rows_for(schema.n_encoded)
    ):
        piece, _ = _sketch_batch(empty, schema, source, part, batch)
        total.merge(piece, parts=True)
    return total


def schema_of(sketch: Sketch, /) -> Schema:
    """Return the schema that a sketch carries.

    Parameters
    ----------
    sketch : Sketch
        A sketch of a table.

    Returns
    -------
    Schema
        How its rows were made.

    Examples
    --------
    >>> import pyarrow as pa
    >>> schema_of(new_sketch(pa.table({"x": [1.0, 2.0, 4.0]}))).names
    ('x',)
    """
    if sketch.schema is None:
        msg = (
            "`sketch` must be one of a table to take further tables; it was made of plain "
            "numbers."
        )
        raise IncompatibleSketchError(msg)
    return Schema.from_json(sketch.schema)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """An empty sketch for some sources, what the user should know, and their sample."""

    sketch: Sketch
    notes: list[str]
    sample: Sample


def plan_sketch(
    sources: Sequence[Source],
    options: SchemaOptions,
    /,
    *,
    kernel: Any,
    n_bins: int,
    rng: RNGLike,
    n_rows: int | None = None,
    progress: Report | None = None,
    draw: Callable[..., Sample] | None = None,
) -> Plan:
    """Choose schema, kernels and center from a pooled sample of the sources.

    `draw` does what `draw_sample` does, elsewhere.
    """
    request = request_sample(sources, options, kernel, rng)
    if draw is None:
        draw = functools.partial(draw_sample, progress=progress)
    sample = draw(sources, request.columns, request.size, seed=request.seed)
    return plan_from_sample(
        sources,
        options,
        request,
        sample,
        kernel=kernel,
        n_bins=n_bins,
        rng=rng,
        n_rows=n_rows,
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class SampleRequest:
    """Which sample to draw, and what is left of the randomness."""

    columns: list[str]
    size: int
    seed: int
    notes: list[str]
    for_kernels: np.random.Generator


def request_sample(
    sources: Sequence[Source], options: SchemaOptions, kernel: Any, rng: RNGLike, /
) -> SampleRequest:
    """Return which sample of the sources to choose schema and kernels from."""
    if not sources:
        msg = "`sources` must be at least one; got none."
        raise TypeError(msg)
    check_kernel(kernel)
    names, notes = options.choose([source.schema for source in sources])
    for_sample, for_kernels = spawn(rng, 2)
    seed = int(for_sample.integers(2**63))
    return SampleRequest(names, sample_size(len(names)), seed, notes, for_kernels)


def plan_from_sample(
    sources: Sequence[Source],
    options: SchemaOptions,
    request: SampleRequest,
    sample: Sample,
    /,
    *,
    kernel: Any,
    n_bins: int,
    rng: RNGLike,
    n_rows: int | None = None,
) -> Plan:
    """Choose schema, kernels and center from the sample that was asked for."""
    names, notes = request.columns, request.notes
    check_rows_left(sources, sample.n_rows)
    tables = [table for own in sample.tables for table in own]
    n_drawn = sum(table.num_rows for table in tables)
    listed = " and ".join(f"`{source.name}`" for source in sources)
    whole = n_drawn == sum(sample.n_rows)
    origin = listed if whole else f"a sample of {n_drawn} rows of {listed}"
    schemas = (
        [source.schema for source in sources]
        if sample.schemas is None
        else list(sample.schemas)
    )
    named = [
        (f"`{source.name}`", own) for source, own in zip(sources, schemas, strict=True)
    ]
    schema, more = infer_schema(tables, names, options, origin=origin, schemas=named)
    for label, own in named:
        more += changed_types(schema, own, label)
    rows = encode_sample(schema, sample)
    planned = sum(sample.n_rows) * (2 if len(sources) == 1 else 1)
    kernels, numbers = _kernels(kernel, rows, n_rows or planned, request.for_kernels)
    sketch = Sketch(
        kernels,
        schema.n_encoded,
        n_frequencies=numbers,
        n_bins=n_bins,
        rng=rng,
        center=np.median(rows, axis=0),
        schema=schema.to_json(),
    )
    return Plan(sketch, notes + more, sample)


def encode_sample(schema: Schema, sample: Sample, /) -> FloatArray:
    """Return the rows of a sample as numbers."""
    tables = [table for own in sample.tables for table in own]
    rows = np.concatenate([schema.encode_parts(table).rows for table in tables])
    if not len(rows):
        msg = (
            "the data must have rows without missing values; every row of a sample of "
            f'{sum(t.num_rows for t in tables)} has one. Pass `missing="indicator"`, or '
            "leave the emptiest columns out with `exclude`."
        )
        raise DataError(msg)
    return rows


def check_rows_left(sources: Sequence[Source], n_rows: Sequence[int], /) -> None:
    """Raise if a source has no rows."""
    for source, n in zip(sources, n_rows, strict=True):
        if n == 0 and source.condition is not None:
            msg = f"`{source.name}` must have rows that meet the condition; none does."
            raise DataError(msg)
        if n == 0:
            msg = f"`{source.name}` must have at least one row; it has none."
            raise DataError(msg)


def check_kernel(kernel: Any, /) -> None:
    """Raise for a kernel that cannot be resolved, before any data are read."""
    given = kernel if isinstance(kernel, (list, tuple)) else [kernel]
    if not given:
        msg = "`kernel` must name at least one kernel; got an empty sequence."
        raise ValueError(msg)
    for own in given:
        if not isinstance(own, Kernel):
            named = ("adaptive", *KERNEL_NAMES) if own is kernel else KERNEL_NAMES
            check_choice(own, named, name="kernel", also="kernels")


def check_made(kernel: Any, n_bins: Any, stream: Any = None, /) -> None:
    """Raise for options that no sketch can be made with, before any data are read."""
    check_kernel(kernel)
    check_bins(n_bins)
    stream_id(stream)


def check_threads(n_threads: int | None, /) -> int:
    """Return how many threads to use; None for as many as `fastmmd.threads` says."""
    if n_threads is None:
        return usual_threads()
    return check_count(n_threads, name="n_threads")


def check_rows_kept(
    source: Source, n_rows: int, n_dropped: int, /, *, like: bool = False
) -> None:
    """Raise if a sketch of a source has no rows, because of missing values or at all."""
    if n_rows == 0 and n_dropped:
        make = f"Make {GIVEN_AS_LIKE} with" if like else "Pass"
        msg = (
            f"`{source.name}` must have rows without missing values; all {n_dropped} have "
            f'one. {make} `missing="indicator"`.'
        )
        raise DataError(msg)
    check_rows_left([source], [n_rows])


def check_enough(origin: str, n_rows: int, n_dropped: int = 0, /) -> None:
    """Raise if a data set has too few rows to be compared with another."""
    if n_rows < _FEWEST_ROWS:
        why = f" without missing values, of {n_rows + n_dropped}" if n_dropped else ""
        msg = f"{origin} must have at least {_FEWEST_ROWS} rows; got {n_rows}{why}."
        raise UndefinedEstimateError(msg)


def run_sketch(
    source: Source,
    state: State,
    /,
    *,
    n_threads: int,
    progress: Report | None = None,
    checkpoint: Checkpoint | None = None,
    parts: Sequence[Part] | None = None,
    like: bool = False,
) -> State:
    """Add all parts of a source that `state` has not seen, and return the state.

    Threads read ahead and compute; sums are added here, one after the other. Given some of
    the `parts`, those are all that is read, and they may be without rows. `like` says that
    the schema is that of a sketch which the user gave.
    """
    empty = empty_copy(state.total)
    schema = schema_of(empty)
    schema.check(source.schema, origin=f"`{source.name}`")
    whole = parts is None
    parts = source.parts() if parts is None else parts
    batches = read_ahead(
        source,
        parts,
        schema.names,
        batch_rows=batch_rows_for(schema.n_encoded),
        first_part=state.part,
        skip=state.row,
    )
    pending: collections.deque[tuple[int, Any]] = collections.deque()

    def fold() -> None:
        n_read, future = pending.popleft()
        if future is None:
            state.finish_part()
        else:
            piece, n_dropped = future.result()
            state.current.merge(piece, parts=True)
            state.row += n_read
            state.n_read += n_read
            state.n_dropped += n_dropped
        if checkpoint is not None:
            checkpoint.save_if_due(state)
        if progress is not None:
            total = source.n_rows if state.n_rows is None else state.n_rows
            progress(
                Progress(
                    "sketching",
                    source.name,
                    state.n_read,
                    total,
                    state.part,
                    len(parts),
                    state.n_dropped,
                )
            )

    pool = concurrent.futures.ThreadPoolExecutor(n_threads)
    try:
        for i, batch in batches:
            if batch is None:
                pending.append((0, None))
            else:
                task = pool.submit(
                    _sketch_batch, empty, schema, source, parts[i], batch, like=like
                )
                pending.append((batch.n_read, task))
            while len(pending) > n_threads + 1:
                fold()
        while pending:
            fold()
    finally:
        pool.shutdown(cancel_futures=True)
        batches.close()  # type: ignore[attr-defined]
    if whole:
        check_rows_kept(source, state.total.count, state.n_dropped, like=like)
    if checkpoint is not None:
        checkpoint.save(state)
    return state


def _sketch_batch(
    empty: Sketch,
    schema: Schema,
    source: Source,
    part: Part,
    batch: Batch,
    *,
    like: bool = False,
) -> tuple[Sketch, int]:
    """Return the sketch of a batch, and how many rows were left out of it."""
    piece = empty_copy(empty)
    n_rows = batch.data.num_rows
    if not n_rows:
        return piece, 0
    encoded = schema.encode_batch(batch.data)
    numbers = batch.row_numbers
    if encoded.n_missing or encoded.n_infinite:
        name = source.file_of(part).shown or source.name
        where = f"`{name}`, rows {numbers[0]} to {numbers[-1]},"
        schema.check_values(
            encoded.n_missing, encoded.n_infinite, n_rows, origin=where, like=like
        )
    rows = encoded.rows
    if encoded.missing is not None:
        rows, numbers = rows[~encoded.missing], numbers[~encoded.missing]
    # Batches run side by side, each in one thread.
    with threads(1):
        piece.update(rows, part=part.name, row_numbers=numbers)
    return piece, n_rows - len(rows)


def _kernels(
    kernel: Any, rows: FloatArray, n_rows: int, rng: np.random.Generator
) -> tuple[Sequence[Kernel], Sequence[int]]:
    chosen = rows
    if len(rows) > SUBSAMPLE_ROWS:
        chosen = rows[np.sort(rng.choice(len(rows), SUBSAMPLE_ROWS, replace=False))]
    if isinstance(kernel, str) and kernel == "adaptive":
        return adaptive_family(chosen, n_rows)
    half = len(chosen) // 2
    return choose_kernels(kernel, Rows(chosen[:half]), Rows(chosen[half:]), rng)


def _run_key(source: Source, like: Sketch | None, options: Sequence[Any]) -> str:
    """Return what a checkpoint must agree in with the run that goes on from it."""
    files = source.fingerprint()
    if files is None:
        msg = "`checkpoint` must be left out for a table in memory."
        raise ValueError(msg)
    header = None if like is None else sketch_parts(like.like(stream=""))[0]
    about = [files, header, *(repr(option) for option in options)]
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()


def check_like(like: Any, options: SchemaOptions, others: Mapping[str, Any]) -> None:
    """Raise if options are given that the sketch to be comparable with decides."""
    if not isinstance(like, Sketch):
        msg = f"`like` must be a Sketch; got {type(like).__name__}."
        raise TypeError(msg)
    given = {field.name: getattr(options, field.name) for field in fields(options)}
    usual = {f.name: f.default for f in fields(options)} | _DEFAULTS
    wrong = [
        name for name, value in (given | dict(others)).items() if value != usual[name]
    ]
    if wrong:
        them = "it" if len(wrong) == 1 else "them"
        msg = f"{quoted(wrong)} must be left out with `like`, which decides {them}."
        raise TypeError(msg)


def warn_notes(notes: Sequence[str], /) -> None:
    """Warn of what the user should know of the data, where the user called the package."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    for note in notes:
        warnings.warn(note, DataWarning, stacklevel=level)
