"""Sketches and tests on Spark: of files and of data frames, classic, Connect or Sail.

Needs PySpark, 3.5 or later, or a client of Spark Connect: ``pip install "fastmmd[spark]"``,
on the executors too. Rows stay there: ``mapInArrow`` turns partitions into sketches, further
stages add these up, and the driver gets a few of them.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from fastmmd._errors import DataError, MissingDependencyError

try:
    from pyspark.sql import SparkSession
except ImportError as _error:  # pragma: no cover
    _message = 'this engine needs PySpark: pip install "fastmmd[spark]"'
    raise MissingDependencyError(_message) from _error

from fastmmd.engines.driver import (
    Adapter,
    Frame,
    Settings,
    check_asked_for,
    check_key,
    empty_sketch,
    frame_of,
    make_sketch,
    make_test,
    open_files,
)
from fastmmd.engines.groups import Grouping
from fastmmd.engines.sampling import Sampling
from fastmmd.engines.spark_groups import sketches_by_value
from fastmmd.engines.spark_stages import (
    OUTCOMES,
    OnFiles,
    OnPartition,
    collect_outcomes,
    cut_column,
    levels_for,
    sql_name,
    with_place,
)
from fastmmd.engines.tasks import tasks_of
from fastmmd.engines.work import Work, merge_bytes
from fastmmd.sketch import Sketch
from fastmmd.tables import Source
from fastmmd.tables.infer import quoted
from fastmmd.tables.schema import MAX_LEVELS, SchemaOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from fastmmd._twosample import TwoSampleResult
    from fastmmd._typing import RNGLike
    from fastmmd.kernels import Kernel
    from fastmmd.nulls.choices import Null
    from fastmmd.tables.schema import Missing, Scale

__all__ = ["merge_sketches", "sketch", "two_sample_test"]

_FEW = 8
"""Sketches that the driver gets, at most."""

_MANY = 4096
"""Partitions that a data frame may have. Connect does not tell, and where adaptive execution
joins small partitions a stage for more of them than there are costs next to nothing."""


def sketch(
    data: Any,
    /,
    *,
    like: Sketch | None = None,
    by: str | None = None,
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
    spark: SparkSession | None = None,
) -> Any:
    """Return the sketch of a data set, made by the executors of Spark.

    Parameters
    ----------
    data : pyspark.sql.DataFrame, path, list of paths or Source
        The data. Files are read by the executors themselves, without Spark's readers, and
        they must reach them under the same names.
    like : Sketch, optional
        A sketch to be comparable with; then none of the options up to `rng` may be given.
        Else they are chosen from a sample, in a first pass over the data.
    by : str, optional
        For a data frame: a column, for instance of days, with a value in every row. Then
        there is one sketch for each of its values, and the result is a data frame.
    columns, exclude, scale, missing, kinds, max_levels, kernel, n_bins, rng : optional
        As in `fastmmd.tables.sketch_source`.
    stream : str, bytes or int, optional
        Name of the data. By default it follows from files; random for data frames. With
        `by`, sketches are of streams such as ``"flights/day=2018-01-31"`` for
        ``stream="flights"``.
    key : str, optional
        For a data frame: a column of whole numbers, text or times that tells rows apart.
        It decides their slots, and is not part of the data.
    task_rows : int, optional
        For files: rows of a task, by default a million or more. The result does not depend
        on it.
    n_threads : int, default=1
        Threads that a task computes with.
    spark : SparkSession, optional
        For files: the session; by default the active one.

    Returns
    -------
    Sketch or pyspark.sql.DataFrame
        The sketch. Of files, to the last bit that of `fastmmd.tables.sketch_source`. With
        `by` a data frame, not yet computed, of the column and of ``sketch``, the bytes that
        `Sketch.from_bytes` reads and `merge_sketches` adds up.

    Notes
    -----
    Rows of a data frame without `key` are known by the number of their partition and their
    number in it. The result is repeatable to the bit where those are, as in a scan of files;
    after a shuffle they are not, and then the sketch is as valid but differs in its slots.

    With `by`, a task holds the sketches of up to 32 values at once, 9 MB each by default.
    Rows should therefore come roughly in order of the column, as in files of one day each;
    else ``data.repartition(by)`` first. The result has 64 partitions: for thousands of values
    give `n_bins` or fewer kernels, or write with
    ``.option("parquet.page.size.row.check.min", 1)``, as Spark holds a hundred rows in memory
    before it writes any.

    Examples
    --------
    .. code-block:: python

       from fastmmd.engines.spark import merge_sketches, sketch

       flights = spark.read.parquet("s3a://flights/2018")
       days = sketch(flights, by="day", stream="flights")
       days.write.parquet("s3a://flights/sketches")
       days = spark.read.parquet("s3a://flights/sketches")
       january = merge_sketches(days.where("day < '2018-02-01'"))
       february = merge_sketches(days.where("month(day) = 2"))
       fastmmd.compare(january, february, rng=0)
    """
    options = SchemaOptions(columns, exclude, scale, missing, kinds, max_levels)
    settings = Settings.checked(
        options, kernel=kernel, n_bins=n_bins, rng=rng, key=key, n_threads=n_threads
    )
    adapter = _Spark(task_rows, key, spark)
    if by is None:
        return make_sketch(adapter, data, settings, like=like, stream=stream)
    return _sketch_groups(adapter, data, by, settings, like=like, stream=stream)


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
    spark: SparkSession | None = None,
) -> TwoSampleResult:
    """Test whether two data sets have the same distribution, by the executors of Spark.

    Parameters
    ----------
    x, y : pyspark.sql.DataFrame, path, list of paths or Source
        The data.
    columns, exclude, scale, missing, kinds, max_levels : optional
        As in `fastmmd.tables.two_sample_test`.
    kernel, null, n_resamples, level, margin, rng : optional
        As in `fastmmd.two_sample_test`.
    key, task_rows, n_threads, spark : optional
        As in `sketch`.

    Returns
    -------
    TwoSampleResult
        Of files, the result of `fastmmd.tables.two_sample_test` with the same `rng`.

    Notes
    -----
    Schema and kernels come from a sample of the pooled rows, up to 10,000. They and the two
    sketches are all that the driver sees. A data frame is computed twice: cache it if it is
    costly to make.

    Examples
    --------
    .. code-block:: python

       from fastmmd.engines.spark import two_sample_test

       old, new = (spark.read.parquet(f"s3a://flights/{year}") for year in (2017, 2018))
       print(two_sample_test(old, new, rng=0))
    """
    options = SchemaOptions(columns, exclude, scale, missing, kinds, max_levels)
    settings = Settings.checked(
        options, kernel=kernel, rng=rng, key=key, n_threads=n_threads
    )
    asked = {"null": null, "n_resamples": n_resamples, "level": level, "margin": margin}
    return make_test(_Spark(task_rows, key, spark), x, y, settings, asked)


def merge_sketches(frame: Any, /, *, column: str = "sketch") -> Sketch:
    """Return the sum of all sketches in a data frame.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        Sketches of different data, such as the rows of some days of ``sketch(…, by="day")``.
    column : str, default="sketch"
        The column that holds their bytes.

    Returns
    -------
    Sketch
        The merged sketch. Executors merge; the driver gets a few.

    Examples
    --------
    .. code-block:: python

       week = merge_sketches(days.where("day between '2018-01-01' and '2018-01-07'"))
    """
    _check_sketches(frame, column)
    levels = levels_for(_MANY, _FEW)
    name = sql_name(column)
    # A sketch is known by its bytes, however often and in whatever order rows are computed.
    named = frame.selectExpr(
        f"xxhash64({name}) AS place",
        f"pmod(xxhash64({name}), {levels[0]}L) AS bucket",
        f"coalesce({name}, X'') AS sketch",
    )
    outcomes = collect_outcomes(cut_column(named), _merge_strictly, levels)
    if not outcomes:
        msg = "`frame` must have at least one sketch; it has none."
        raise DataError(msg)
    return Sketch.from_bytes(_merge_strictly(outcomes))


def _check_sketches(frame: Any, column: Any) -> None:
    """Raise if a data frame has no column of bytes with this name."""
    if not hasattr(frame, "mapInArrow"):
        kind = type(frame)
        got = f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
        msg = f"`frame` must be a data frame of Spark; got {got}."
        raise TypeError(msg)
    if column not in frame.columns:
        msg = (
            f"`column` must name a column of the frame; got {column!r}. It has "
            f"{quoted(frame.columns)}."
        )
        raise ValueError(msg)
    type_ = frame.schema[column].dataType.simpleString()
    if type_ != "binary":
        msg = (
            f"`column` must name a column of bytes, as `sketch(…, by=…)` makes; {column!r} "
            f"is of {type_}."
        )
        raise TypeError(msg)


def _merge_strictly(outcomes: Iterable[bytes]) -> bytes:
    """Merge sketches of different data: a stream that comes twice is refused."""

    def present() -> Iterator[bytes]:
        for outcome in outcomes:
            if not outcome:
                msg = "there must be a sketch in every row; one has none. Leave it out."
                raise DataError(msg)
            yield outcome

    return merge_bytes(present(), parts=False)


@final
@dataclass(frozen=True, slots=True)
class _Spark(Adapter):
    """Work as stages of ``mapInArrow``."""

    task_rows: int | None
    key: str | None
    session: SparkSession | None

    def open(self, data: Any, /, *, name: str) -> Source | Frame:
        opened: Source | Frame
        if hasattr(data, "mapInArrow"):
            opened = frame_of(name, data, data.columns)
        else:
            opened = open_files(data, name=name, also="a DataFrame of Spark")
        check_key(opened, self.key)
        return opened

    def reduce(self, data: Any, work: Work, /) -> bytes:
        # Of a sample the driver gets no more rows than it has; of sketches a few will do.
        last = 1 if isinstance(work, Sampling) else _FEW
        if isinstance(data, Source):
            tasks = tasks_of(data, self.task_rows)
            session = self.session or SparkSession.getActiveSession()
            session = session or SparkSession.builder.getOrCreate()
            levels = levels_for(len(tasks), last)
            numbers = session.range(0, len(tasks), 1, max(len(tasks), 1))
            found = numbers.mapInArrow(OnFiles(work, tasks, levels[0]), OUTCOMES)
        else:
            levels = levels_for(_MANY, last)
            numbered = with_place(data.data)
            on_partition = OnPartition(work, levels[0], tuple(data.data.columns))
            found = numbered.mapInArrow(on_partition, OUTCOMES)
        return work.merge(collect_outcomes(found, work.merge, levels))


def _sketch_groups(
    adapter: _Spark,
    data: Any,
    by: Any,
    settings: Settings,
    /,
    *,
    like: Sketch | None,
    stream: str | bytes | int | None,
) -> Any:
    """Return a data frame of values and sketches."""
    check_asked_for(adapter, settings, stream)
    source = adapter.open(data, name="data")
    if isinstance(source, Source):
        msg = "`by` must be left out for files; read them by Spark, `spark.read.parquet(…)`."
        raise TypeError(msg)
    if not isinstance(by, str):
        msg = f"`by` must be the name of one column; got {type(by).__name__}."
        raise TypeError(msg)
    if by not in source.schema.names:
        msg = (
            f"`by` must name a column of the data; got {by!r}. They have "
            f"{quoted(source.schema.names)}."
        )
        raise ValueError(msg)
    if by == "sketch":
        msg = (
            "`by` must not be 'sketch', the name of the result's other column: rename it."
        )
        raise ValueError(msg)
    type_ = data.schema[by].dataType.simpleString()
    if type_.startswith(("array", "binary", "map", "struct", "variant")):
        msg = f"`by` must name a column of numbers, text, days or times; {by!r} is of {type_}."
        raise TypeError(msg)
    settings = settings.without(by)
    base = secrets.token_hex(16) if stream is None else stream
    empty = empty_sketch(adapter, source, settings, like=like, stream=base, left_out=by)
    work = Grouping(
        empty.to_bytes(),
        by,
        base,
        settings.key,
        settings.n_threads,
        like=like is not None,
    )
    return sketches_by_value(data, work, type_)
