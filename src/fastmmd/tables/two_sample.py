"""Tests of tables and files: a schema from the pooled data, then the test of the numbers."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fastmmd._random import spawn
from fastmmd._rows import check_read, is_table
from fastmmd._twosample import compare
from fastmmd._twosample import k_sample_test as test_k_arrays
from fastmmd._twosample import two_sample_test as test_arrays
from fastmmd._twosample.decide import check_bins_null, check_margin_null
from fastmmd._validation import check_between, check_count, check_positive
from fastmmd.nulls.choices import resolve_null
from fastmmd.tables.arrow import as_table, without_views
from fastmmd.tables.checkpoint import State, empty_copy
from fastmmd.tables.opening import open_source
from fastmmd.tables.sample import draw_sample, sample_size
from fastmmd.tables.schema import (
    MAX_LEVELS,
    SchemaOptions,
    changed_types,
    infer_schema,
)
from fastmmd.tables.sketching import (
    check_enough,
    check_kernel,
    check_rows_left,
    check_threads,
    plan_sketch,
    run_sketch,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa

    from fastmmd._twosample import KSampleResult, TwoSampleResult
    from fastmmd._typing import FloatArray, RNGLike
    from fastmmd.estimators import Method
    from fastmmd.kernels import Kernel
    from fastmmd.nulls.choices import Null
    from fastmmd.sketch import Sketch
    from fastmmd.tables.progress import Report
    from fastmmd.tables.sample import Sample
    from fastmmd.tables.schema import Missing, Scale
    from fastmmd.tables.source import Source

    Make: TypeAlias = Callable[[Source, Sketch, int, int], tuple[Sketch, int]]
    """From a source, an empty sketch and the numbers of rows after and before the source's
    filter to the sketch and the number of rows left out of it."""


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
    sample_rows: int | None = None,
    kernel: Kernel | str | Sequence[Kernel | str] = "adaptive",
    method: Method | str = "auto",
    null: Null | str = "auto",
    n_resamples: int = 999,
    level: float = 0.05,
    margin: float | None = None,
    groups: tuple[Any, Any] | None = None,
    rng: RNGLike = None,
    n_threads: int | None = None,
    progress: Report | None = None,
) -> TwoSampleResult:
    """Test whether two tables, or two data sets in files, have the same distribution.

    Columns are matched by name and become numbers by a `Schema` of the pooled data. Tables
    in memory are tested like arrays; files are read in two passes, one for a sample, one for
    sketches, in memory that does not grow with them.

    Parameters
    ----------
    x, y : table, Source or path
        Tables of pandas, Polars, PyArrow or another library with the Arrow protocol, or
        anything that `open_source` takes.
    columns, exclude : sequence of str, optional
        The columns to use, and to leave out; by default all that both have.
    scale : {"robust", "standard"}, default="robust"
        Constants of numbers: median and distance between quartiles, or mean and standard
        deviation.
    missing : {"raise", "drop", "indicator"}, default="raise"
        What becomes of missing values: an error, their rows are left out, or "missing" is
        a value like others.
    kinds : mapping, optional
        Kinds of columns that differ from what their type says, for instance
        ``{"zip_code": "categorical"}``.
    max_levels : int, default=32
        Largest number of places for the levels of one category.
    sample_rows : int, optional
        Test only so many rows of each, drawn at random.
    kernel, method, null, n_resamples, level, margin, groups : optional
        As in `fastmmd.two_sample_test`. Files take ``method="auto"`` only and no groups;
        `sample_rows` lifts the first.
    rng : int or numpy.random.Generator, optional
        Source of all randomness.
    n_threads : int, optional
        At most so many threads; see `fastmmd.threads`. The result does not depend on it.
    progress : callable, optional
        Called with a `Progress` after each batch of a file.

    Returns
    -------
    TwoSampleResult
        As of arrays, with `notes` on rows and columns that were left out.

    See Also
    --------
    fastmmd.tables.sketch_source : A sketch to keep, of data that come later or elsewhere.

    Notes
    -----
    The schema and the kernels come from a sample of the pooled rows, each equally likely
    whatever table it is in, so the level of the permutation test stays exact.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> rng = np.random.default_rng(0)
    >>> def flights(n, late):
    ...     return pa.table(
    ...         {
    ...             "delay": rng.exponential(10.0, n),
    ...             "carrier": rng.choice(["AA", "UA", "DL"], n),
    ...             "late": rng.random(n) < late,
    ...         }
    ...     )
    >>> two_sample_test(flights(900, 0.2), flights(700, 0.4), rng=0).pvalue
    0.001
    """
    options = SchemaOptions(columns, exclude, scale, missing, kinds, max_levels)
    _check_kinds((x, y), ("x", "y"))
    in_memory = is_table(x) and is_table(y)
    asked = check_asked(
        kernel,
        {"null": null, "n_resamples": n_resamples, "level": level, "margin": margin},
        by_sketch=not in_memory and sample_rows is None,
    )
    check_threads(n_threads)
    streams = spawn(rng, 4)
    if not in_memory and groups is not None:
        msg = "`groups` must be left out for files, whose rows are not kept."
        raise ValueError(msg)
    if not in_memory and sample_rows is None:
        if method != "auto":
            msg = (
                '`method` must be "auto" for files, which are tested by sketches; got '
                f"{method!r}. Pass `sample_rows` to test so many rows of each in memory."
            )
            raise ValueError(msg)
        return compare_sources(
            _sources(x, y),
            options,
            kernel,
            asked,
            streams=streams,
            make=_make_here(n_threads, progress),
            progress=progress,
        )
    labels = ["`x`", "`y`"]
    if sample_rows is None:
        tables = [[as_table(x, name="x")], [as_table(y, name="y")]]
        names, notes = options.choose([own[0].schema for own in tables])
    else:
        if groups is not None:
            msg = "`groups` must be left out with `sample_rows`."
            raise ValueError(msg)
        sources = _sources(x, y)
        labels = [f"`{source.name}`" for source in sources]
        names, notes = options.choose([source.schema for source in sources])
        tables, drawn = _subsets(sources, names, sample_rows, streams[0], progress)
        notes += drawn
    rows, kept, more = _encode(tables, labels, names, options, streams[1])
    if groups is not None:
        groups = _kept_groups(groups, kept)
    result = test_arrays(
        *rows,
        kernel=kernel,
        method=method,
        groups=groups,
        rng=streams[2],
        n_threads=n_threads,
        **asked,
    )
    return dataclasses.replace(result, columns=tuple(names), notes=(*notes, *more))


def k_sample_test(
    *samples: Any,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    scale: Scale = "robust",
    missing: Missing = "raise",
    kinds: Mapping[str, str] | None = None,
    max_levels: int = MAX_LEVELS,
    kernel: Kernel | str | Sequence[Kernel | str] = "adaptive",
    method: Method | str = "auto",
    n_resamples: int = 999,
    level: float = 0.05,
    rng: RNGLike = None,
) -> KSampleResult:
    """Test whether several tables all have the same distribution.

    Parameters
    ----------
    *samples : table
        Two or more tables.
    columns, exclude, scale, missing, kinds, max_levels : optional
        As in `two_sample_test`.
    kernel, method, n_resamples, level, rng : optional
        As in `fastmmd.k_sample_test`.

    Returns
    -------
    KSampleResult
        As of arrays, with `notes` on rows and columns that were left out.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> rng = np.random.default_rng(0)
    >>> a, b, c = (pa.table({"x": rng.normal(size=200) + shift}) for shift in (0, 0, 1))
    >>> k_sample_test(a, b, c, rng=0).pvalue
    0.001
    """
    options = SchemaOptions(columns, exclude, scale, missing, kinds, max_levels)
    names = [f"samples[{i}]" for i in range(len(samples))]
    _check_kinds(samples, names)
    tables = [
        [as_table(own, name=name)] for own, name in zip(samples, names, strict=True)
    ]
    for_schema, for_test = spawn(rng, 2)
    chosen, notes = options.choose([own[0].schema for own in tables])
    labels = [f"`{name}`" for name in names]
    rows, _, more = _encode(tables, labels, chosen, options, for_schema)
    result = test_k_arrays(
        *rows,
        kernel=kernel,
        method=method,
        n_resamples=n_resamples,
        level=level,
        rng=for_test,
    )
    return dataclasses.replace(result, columns=tuple(chosen), notes=(*notes, *more))


def check_asked(
    kernel: Any, asked: Mapping[str, Any], /, *, by_sketch: bool
) -> dict[str, Any]:
    """Return the options of a test, checked before anything is read: files take long."""
    check_kernel(kernel)
    null, margin = resolve_null(asked["null"]), asked["margin"]
    if by_sketch:
        check_bins_null(null)
    if margin is not None:
        margin = check_positive(margin, name="margin")
        check_margin_null(null)
        # The adaptive family has never less than two.
        if kernel == "adaptive" or (isinstance(kernel, (list, tuple)) and kernel[1:]):
            msg = (
                "`margin` must be used with one kernel, whose MMD it is in; got a family. "
                'Pass for instance `kernel="gaussian"`.'
            )
            raise ValueError(msg)
    return {
        "null": asked["null"],
        "n_resamples": check_count(asked["n_resamples"], name="n_resamples"),
        "level": check_between(asked["level"], 0.0, 1.0, name="level"),
        "margin": margin,
    }


def _sources(x: Any, y: Any) -> list[Source]:
    """Return both data sets as sources; tables in memory are called as the arguments are."""
    return [
        dataclasses.replace(open_source(as_table(data, name=name)), name=name)
        if is_table(data)
        else open_source(data)
        for data, name in ((x, "x"), (y, "y"))
    ]


def _check_kinds(samples: Sequence[Any], names: Sequence[str]) -> None:
    """Raise if an array is compared with a table: its columns have no names."""
    for sample, name in zip(samples, names, strict=True):
        check_read(sample, name=name)
        if isinstance(sample, np.ndarray):
            msg = (
                f"`{name}` must be a table; got an array, whose columns have no names. "
                "Make it a table, or encode the others by `fastmmd.tables.Schema`."
            )
            raise TypeError(msg)


def _encode(
    tables: Sequence[Sequence[pa.Table]],
    labels: Sequence[str],
    names: Sequence[str],
    options: SchemaOptions,
    rng: np.random.Generator,
) -> tuple[list[FloatArray], list[Any], list[str]]:
    """Return each sample as rows of numbers, which of its rows were kept, and notes.

    A sample may come in several tables.
    """
    pieces = [table.select(names) for own in tables for table in own]
    schema, notes = infer_schema(
        _pooled_sample(pieces, sample_size(len(names)), rng),
        names,
        options,
        origin="the data",
        check=False,
        schemas=[(name, own[0].schema) for name, own in zip(labels, tables, strict=True)],
    )
    rows, kept = [], []
    for own, name in zip(tables, labels, strict=True):
        notes += changed_types(schema, own[0].schema, name)
        parts = [schema.encode_parts(table, origin=name) for table in own]
        rows.append(np.concatenate([part.rows for part in parts]))
        lost = [
            np.zeros(table.num_rows, np.bool_) if part.missing is None else part.missing
            for part, table in zip(parts, own, strict=True)
        ]
        kept.append(~np.concatenate(lost))
        n_rows, n_kept = len(kept[-1]), int(kept[-1].sum())
        check_enough(name, n_kept, n_rows - n_kept)
        if n_kept < n_rows:
            notes.append(
                f"{n_rows - n_kept} of {n_rows} rows of {name}, with missing values, left "
                "out."
            )
    return rows, kept, notes


def _pooled_sample(
    tables: Sequence[pa.Table], size: int, rng: np.random.Generator
) -> list[pa.Table]:
    """Return rows of all tables together, each set of `size` rows equally likely."""
    edges = np.cumsum([0, *(table.num_rows for table in tables)])
    if edges[-1] <= size:
        return list(tables)
    drawn = np.sort(rng.choice(edges[-1], size, replace=False))
    return [
        without_views(table).take(drawn[(drawn >= start) & (drawn < stop)] - start)
        for table, start, stop in zip(tables, edges[:-1], edges[1:], strict=True)
    ]


def _subsets(
    sources: Sequence[Source],
    names: Sequence[str],
    sample_rows: int,
    rng: np.random.Generator,
    progress: Report | None,
) -> tuple[list[list[pa.Table]], list[str]]:
    """Return some rows of each source, and notes on how many there were."""
    size = check_count(sample_rows, name="sample_rows", minimum=2)
    tables, notes = [], []
    for source in sources:
        seed = int(rng.integers(2**63))
        sample = draw_sample([source], names, size, seed=seed, progress=progress)
        check_rows_left([source], sample.n_rows)
        tables.append(list(sample.tables[0]))
        n_rows = sample.n_rows[0]
        if size < n_rows:
            notes.append(f"{size} of {n_rows} rows of `{source.name}` drawn at random.")
    return tables, notes


def _kept_groups(groups: tuple[Any, Any], kept: Sequence[Any]) -> tuple[Any, Any]:
    """Return the groups of the rows that were kept; wrong lengths are found out later."""
    first, second = (
        own[keep] if own.shape == keep.shape else own
        for own, keep in zip(map(np.asarray, groups), kept, strict=True)
    )
    return first, second


def compare_sources(
    sources: Sequence[Source],
    options: SchemaOptions,
    kernel: Any,
    asked: Mapping[str, Any],
    /,
    *,
    streams: Sequence[np.random.Generator],
    make: Make,
    draw: Callable[..., Sample] | None = None,
    progress: Report | None = None,
) -> TwoSampleResult:
    """Make a sketch of each source and compare them; what is `asked` has been checked.

    `make` fills an empty sketch: here, or on the machines of a cluster.
    """
    plan = plan_sketch(
        sources,
        options,
        kernel=kernel,
        n_bins=256,
        rng=streams[1],
        progress=progress,
        draw=draw,
    )
    for source, n_rows in zip(sources, plan.sample.n_rows, strict=True):
        check_enough(f"`{source.name}`", n_rows)
    notes, sketches = list(plan.notes), []
    names = streams[2].bytes(16)
    for i, source in enumerate(sources):
        empty = plan.sketch.like(stream=names + bytes([i]))
        sketch, n_dropped = make(
            source, empty, plan.sample.n_rows[i], plan.sample.n_read[i]
        )
        check_enough(f"`{source.name}`", sketch.count, n_dropped)
        if n_dropped:
            notes.append(
                f"{n_dropped} of {n_dropped + sketch.count} rows of `{source.name}`, with "
                "missing values, left out."
            )
        sketches.append(sketch)
    result = compare(*sketches, rng=streams[3], **asked)
    return dataclasses.replace(result, notes=tuple(notes))


def _make_here(n_threads: int | None, progress: Report | None) -> Make:
    """Return what makes a sketch of a source in this process."""
    n_threads = check_threads(n_threads)

    def make(
        source: Source, empty: Sketch, _n_rows: int, n_read: int
    ) -> tuple[Sketch, int]:
        state = run_sketch(
            source,
            State(empty, empty_copy(empty), n_rows=n_read),
            n_threads=n_threads,
            progress=progress,
        )
        return state.total, state.n_dropped

    return make
