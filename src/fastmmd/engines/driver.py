"""What the calling process does, whatever the engine: choose, hand out work, finish.

An adapter only says how data are opened and where work runs. Everything else is here, so
that all engines give the answer of `fastmmd.tables` on one machine.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
import pyarrow as pa

from fastmmd._errors import DataError
from fastmmd._random import spawn
from fastmmd._rows import is_table
from fastmmd._validation import check_count
from fastmmd.engines.sampling import Sampling, likely_bound, n_kept, pooled_sample
from fastmmd.engines.tasks import check_task_rows, shell_of
from fastmmd.engines.work import Sketching, Work
from fastmmd.sketch import Sketch
from fastmmd.tables import Source, open_source
from fastmmd.tables.arrow import check_names
from fastmmd.tables.infer import quoted
from fastmmd.tables.sample import sample_stream
from fastmmd.tables.sketching import (
    check_like,
    check_made,
    check_rows_kept,
    plan_sketch,
    schema_of,
    warn_notes,
)
from fastmmd.tables.two_sample import check_asked, compare_sources

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fastmmd._twosample import TwoSampleResult
    from fastmmd._typing import RNGLike
    from fastmmd.tables.sample import Sample
    from fastmmd.tables.schema import SchemaOptions


@final
@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A data set that an engine holds, as far as the driver is concerned.

    Parameters
    ----------
    name : str
        What to call it in messages.
    data : Any
        The engine's own object.
    schema : pyarrow.Schema
        Names of columns; types are known after a sample.
    condition : None
        There is no filter: frames are filtered by their engine.
    """

    name: str
    data: Any
    schema: pa.Schema
    condition: None = None


def frame_of(
    name: str,
    data: Any,
    columns: Sequence[Any],
    /,
    *,
    types: Mapping[str, pa.DataType] | None = None,
) -> Frame:
    """Return the frame of an engine's own object with these columns, of these known types."""
    names = [str(column) for column in columns]
    check_names(names, origin=f"`{name}`")
    known = types or {}
    return Frame(name, data, pa.schema([(n, known.get(n, pa.null())) for n in names]))


def open_files(data: Any, /, *, name: str, also: str) -> Source:
    """Return the source of files; `also` says what else the engine takes.

    What lies in the memory of this process is refused: it would have to be sent to all
    workers, and one process is enough for it.
    """
    array = isinstance(data, np.ndarray)
    if array or is_table(data):
        kind = type(data)
        what = "an array" if array else f"a {kind.__module__.partition('.')[0]} table"
        module = "fastmmd" if array else "fastmmd.tables"
        msg = (
            f"`{name}` must be a path, a list of paths, a Source or {also}; got {what} in "
            f"the memory of this process. `{module}` takes it without an engine."
        )
        raise TypeError(msg)
    if not isinstance(data, (str, os.PathLike, list, tuple, Source)):
        msg = (
            f"`{name}` must be a path, a list of paths, a Source or {also}; got "
            f"{type(data).__name__}."
        )
        raise TypeError(msg)
    return open_source(data)


class Adapter(abc.ABC):
    """How one engine moves data and work."""

    __slots__ = ()

    task_rows: int | None
    """Rows of a task on files; None to let them decide."""

    @abc.abstractmethod
    def open(self, data: Any, /, *, name: str) -> Any:
        """Return a `Source` of files, or the `Frame` of something the engine holds."""

    @abc.abstractmethod
    def reduce(self, data: Any, work: Work, /) -> bytes:
        """Return the merged outcome of `work` on all pieces of a source or frame."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """What all engines take besides the data."""

    options: SchemaOptions
    kernel: Any = "adaptive"
    n_bins: int = 256
    rng: RNGLike = 0
    key: str | None = None
    n_threads: int = 1

    @classmethod
    def checked(cls, options: SchemaOptions, /, **others: Any) -> Settings:
        """Return settings; a key column tells rows apart and is no part of the data."""
        settings = cls(options, **others)
        check_count(settings.n_threads, name="n_threads")
        key: Any = settings.key
        if key is None:
            return settings
        if not isinstance(key, str):
            msg = f"`key` must be the name of a column; got {key!r}."
            raise TypeError(msg)
        return settings.without(key)

    def without(self, column: str, /) -> Settings:
        """Return settings that leave a column out, if it is not asked for."""
        if column in (self.options.columns or ()) or column in (
            self.options.exclude or ()
        ):
            return self
        exclude = (*(self.options.exclude or ()), column)
        return dataclasses.replace(
            self, options=dataclasses.replace(self.options, exclude=exclude)
        )


def make_sketch(
    adapter: Adapter,
    data: Any,
    settings: Settings,
    /,
    *,
    like: Sketch | None,
    stream: str | bytes | int | None,
) -> Sketch:
    """Return the sketch of a data set."""
    check_asked_for(adapter, settings, stream)
    source = adapter.open(data, name="data")
    empty = empty_sketch(adapter, source, settings, like=like, stream=stream)
    sketch, _ = run_work(adapter, source, empty, settings, like=like is not None)
    check_rows_kept(source, sketch.count, 0)
    return sketch


def check_asked_for(adapter: Adapter, settings: Settings, stream: Any, /) -> None:
    """Raise for options that cannot be, before data are looked at: passes take long."""
    check_made(settings.kernel, settings.n_bins, stream)
    check_task_rows(adapter.task_rows)


def empty_sketch(
    adapter: Adapter,
    source: Any,
    settings: Settings,
    /,
    *,
    like: Sketch | None,
    stream: str | bytes | int | None,
    left_out: str | None = None,
) -> Sketch:
    """Return the sketch without rows that workers are to fill.

    The column `left_out` was added to those that the user leaves out.
    """
    if like is None:
        check_more_than_key([source], settings)
        plan = plan_sketch(
            [source],
            settings.options,
            kernel=settings.kernel,
            n_bins=settings.n_bins,
            rng=settings.rng,
            draw=functools.partial(draw, adapter, settings),
        )
        warn_notes(plan.notes)
        like = plan.sketch
    else:
        check_options(like, settings, left_out)
        notes = check_columns(like, source, settings)
        warn_notes(notes)
    if stream is None and isinstance(source, Source):
        stream = source.fingerprint()
    return like.like(stream=stream)


def check_options(
    like: Sketch, settings: Settings, left_out: str | None = None, /
) -> None:
    """Raise if options are given that `like` decides; columns left out for us are none."""
    ours = {settings.key, left_out}
    exclude = tuple(n for n in settings.options.exclude or () if n not in ours)
    options = dataclasses.replace(settings.options, exclude=exclude or None)
    others = {k: getattr(settings, k) for k in ("kernel", "n_bins", "rng")}
    check_like(like, options, others)
    if like.schema is not None and settings.key in schema_of(like).names:
        msg = (
            f"`key` must not be a column that `like` compares; got {settings.key!r}. "
            f"Make the sketch that is given as `like` with `exclude=[{settings.key!r}]`."
        )
        raise ValueError(msg)


def check_columns(like: Sketch, source: Any, settings: Settings, /) -> Sequence[str]:
    """Raise if a source cannot be sketched like another; return what else to know of it.

    Of a frame some types are known beforehand, others not.
    """
    origin = f"`{source.name}`"
    if like.schema is not None:
        report = schema_of(like).check(source.schema, origin=origin)
        return report.notes if isinstance(source, Source) else ()
    if isinstance(source, Source):
        schema_of(like)
    n_columns = sum(name != settings.key for name in source.schema.names)
    if n_columns != like.n_columns:
        msg = (
            f"{origin} must have {like.n_columns} columns, as the sketch that is given as "
            f"`like`; got {n_columns}."
        )
        raise DataError(msg)
    return ()


def check_more_than_key(sources: Sequence[Any], settings: Settings, /) -> None:
    """Raise if there is nothing to compare but the column that tells rows apart."""
    key, options = settings.key, settings.options
    if key is None or options.columns is not None:
        return
    names = [source.schema.names for source in sources]
    left_out = [name for name in options.exclude or () if name != key]
    if set(names[0]).intersection(*names) <= {key, *left_out}:
        have = " and ".join(f"({', '.join(own)})" for own in names)
        common = "columns in common" if len(sources) > 1 else "columns"
        msg = f"the data must have {common} besides the key `{key}`; they have {have}."
        if left_out:
            msg += f" Left out by `exclude`: {quoted(left_out)}."
        raise DataError(msg)


def make_test(
    adapter: Adapter,
    x: Any,
    y: Any,
    settings: Settings,
    asked: Mapping[str, Any],
    /,
) -> TwoSampleResult:
    """Return the test that `fastmmd.tables.two_sample_test` would do."""
    asked = check_asked(settings.kernel, asked, by_sketch=True)
    check_asked_for(adapter, settings, None)
    streams = spawn(settings.rng, 4)
    sources = [adapter.open(data, name=name) for data, name in ((x, "x"), (y, "y"))]
    check_more_than_key(sources, settings)

    def make(source: Any, empty: Sketch, n_rows: int, _n_read: int) -> tuple[Sketch, int]:
        sketch, n_dropped = run_work(adapter, source, empty, settings, n_rows=n_rows)
        check_rows_kept(source, sketch.count, n_dropped)
        return sketch, n_dropped

    return compare_sources(
        sources,
        settings.options,
        settings.kernel,
        asked,
        streams=streams,
        make=make,
        draw=functools.partial(draw, adapter, settings),
    )


def run_work(
    adapter: Adapter,
    source: Any,
    empty: Sketch,
    settings: Settings,
    /,
    *,
    n_rows: int | None = None,
    like: bool = False,
) -> tuple[Sketch, int]:
    """Return the sketch of a source, and of `n_rows` rows those that were left out.

    `like` says that the user gave a sketch which this one is to be comparable with.
    """
    shell = shell_of(source) if isinstance(source, Source) else None
    work = Sketching(empty.to_bytes(), shell, settings.key, settings.n_threads, like)
    sketch = Sketch.from_bytes(adapter.reduce(source, work))
    return sketch, 0 if n_rows is None else n_rows - sketch.count


def draw(
    adapter: Adapter,
    settings: Settings,
    sources: Sequence[Any],
    columns: Sequence[str],
    size: int,
    /,
    *,
    seed: int,
) -> Sample:
    """Do what `fastmmd.tables.sample.draw_sample` does, on the workers."""
    known = [
        source.n_rows if isinstance(source, Source) and source.condition is None else None
        for source in sources
    ]
    total = None if None in known else sum(n for n in known if n is not None)
    bounds = [None] if total is None else [likely_bound(size, total), None]
    outcomes: list[bytes] = []
    for below in bounds:
        outcomes = [
            adapter.reduce(
                source,
                sampling(
                    source,
                    columns,
                    size,
                    place=place,
                    seed=seed,
                    key=settings.key,
                    below=below,
                ),
            )
            for place, source in enumerate(sources)
        ]
        # Too few below the bound is as good as impossible, but then the bound goes.
        if below is None or sum(map(n_kept, outcomes)) >= size:
            break
    schemas = [s.schema if isinstance(s, Source) else None for s in sources]
    return pooled_sample(outcomes, columns, size, schemas=schemas)


def sampling(
    source: Any,
    columns: Sequence[str],
    size: int,
    /,
    *,
    place: int,
    seed: int,
    key: str | None,
    below: int | None = None,
) -> Sampling:
    """Return the work that draws the sample of one of several sources."""
    return Sampling(
        tuple(columns),
        size,
        sample_stream(seed, place),
        below=below,
        shell=shell_of(source) if isinstance(source, Source) else None,
        key=key,
    )


def check_key(source: Any, key: str | None, /) -> None:
    """Raise if a key is given for files, whose rows are known without, or is not there."""
    if key is None:
        return
    if isinstance(source, Source):
        msg = "`key` must be left out for files, whose rows are known by their number."
        raise TypeError(msg)
    if key not in source.schema.names:
        msg = f"`key` must name a column of the data; got {key!r}."
        raise ValueError(msg)
