"""Sketches and tests on Ray: of files and of ``ray.data`` data sets.

Needs Ray: ``pip install "fastmmd[ray]"``. Work runs on the cluster that this process is
connected to; without one, Ray starts its own on this machine.
"""

from __future__ import annotations

import secrets
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import pyarrow as pa

from fastmmd._errors import MissingDependencyError

try:
    import ray
except ImportError as _error:  # pragma: no cover
    _message = 'this engine needs Ray: pip install "fastmmd[ray]"'
    raise MissingDependencyError(_message) from _error

from fastmmd.engines.driver import (
    Adapter,
    Frame,
    Settings,
    check_key,
    frame_of,
    make_sketch,
    make_test,
    open_files,
)
from fastmmd.engines.tasks import tasks_of
from fastmmd.engines.work import Work, as_batches
from fastmmd.tables import Source
from fastmmd.tables.schema import MAX_LEVELS, SchemaOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fastmmd._twosample import TwoSampleResult
    from fastmmd._typing import RNGLike
    from fastmmd.kernels import Kernel
    from fastmmd.nulls.choices import Null
    from fastmmd.sketch import Sketch
    from fastmmd.tables.schema import Missing, Scale

__all__ = ["sketch", "two_sample_test"]

_FAN_IN = 8
"""Outcomes that one task merges."""

_COLUMN = "outcome"

_AHEAD = 4
"""Tasks in hand for each processor: outcomes are megabytes, and are merged as they come."""


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
) -> Sketch:
    """Return the sketch of a data set, made by the workers of Ray.

    Parameters
    ----------
    data : path, list of paths, Source or ray.data.Dataset
        The data. Files are read by the workers, which must reach them under the same
        names; this is the quickest way.
    like : Sketch, optional
        A sketch to be comparable with; then none of the options up to `rng` may be given.
        Else they are chosen from a sample, in a first pass over the data.
    columns, exclude, scale, missing, kinds, max_levels, kernel, n_bins, rng : optional
        As in `fastmmd.tables.sketch_source`.
    stream : str, bytes or int, optional
        Name of the data. By default it follows from files; random for data sets.
    key : str, optional
        For a data set of Ray: a column of whole numbers, text or times that tells rows
        apart. It decides their slots, and is not part of the data.
    task_rows : int, optional
        For files: rows of a task, by default a million or more. The result does not depend
        on it.
    n_threads : int, default=1
        Threads and processors of a task.

    Returns
    -------
    Sketch
        The sketch. Of files, to the last bit that of `fastmmd.tables.sketch_source`.

    Notes
    -----
    Blocks of a data set of Ray have no name that stays. Without `key` every block is named
    at random when it is read: tests are as valid, but not repeatable to the bit.

    Examples
    --------
    .. code-block:: python

       from fastmmd.engines.ray import sketch

       january = sketch("s3://flights/2018-01/*.parquet")
       february = sketch("s3://flights/2018-02/*.parquet", like=january)
       fastmmd.compare(january, february, rng=0)
    """
    options = SchemaOptions(columns, exclude, scale, missing, kinds, max_levels)
    settings = Settings.checked(
        options, kernel=kernel, n_bins=n_bins, rng=rng, key=key, n_threads=n_threads
    )
    adapter = _Ray(task_rows, key, n_threads)
    return make_sketch(adapter, data, settings, like=like, stream=stream)


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
    """Test whether two data sets have the same distribution, by the workers of Ray.

    Parameters
    ----------
    x, y : path, list of paths, Source or ray.data.Dataset
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

       from fastmmd.engines.ray import two_sample_test

       print(two_sample_test("s3://flights/2017", "s3://flights/2018", rng=0))
    """
    options = SchemaOptions(columns, exclude, scale, missing, kinds, max_levels)
    settings = Settings.checked(
        options, kernel=kernel, rng=rng, key=key, n_threads=n_threads
    )
    asked = {"null": null, "n_resamples": n_resamples, "level": level, "margin": margin}
    return make_test(_Ray(task_rows, key, n_threads), x, y, settings, asked)


@final
@dataclass(frozen=True, slots=True)
class _Ray(Adapter):
    """Work as remote tasks."""

    task_rows: int | None
    key: str | None
    n_threads: int

    def open(self, data: Any, /, *, name: str) -> Source | Frame:
        opened: Source | Frame
        # Asked by name: `ray.data` takes seconds to import, and files do without it.
        kind = type(data)
        if kind.__module__.startswith("ray.data") and hasattr(kind, "map_batches"):
            # Of a data set without rows Ray knows no columns.
            opened = frame_of(name, data, data.columns() or [])
        else:
            opened = open_files(data, name=name, also="a Dataset of Ray")
        check_key(opened, self.key)
        return opened

    def reduce(self, data: Any, work: Work, /) -> bytes:
        if not ray.is_initialized():
            ray.init()
        warn_waiting(self.n_threads)
        ladder = _Ladder(ray.put(work))
        if isinstance(data, Source):
            self._add_files(data, ladder)
        else:
            outcomes = data.data.map_batches(
                _OnBlock(work, self.key),
                batch_format="pyarrow",
                batch_size=None,
                zero_copy_batch=True,
                num_cpus=self.n_threads,
            )
            # References only: outcomes go from worker to worker.
            for bundle in outcomes.iter_internal_ref_bundles():
                for reference in bundle.block_refs:
                    ladder.add(reference)
        found = ladder.total()
        return work.merge([] if found is None else _outcomes(found))

    def _add_files(self, source: Source, ladder: _Ladder) -> None:
        on_files = ray.remote(_on_files).options(num_cpus=self.n_threads)
        processors = int(ray.cluster_resources().get("CPU", 1))
        running: list[Any] = []
        for task in tasks_of(source, self.task_rows):
            if len(running) >= _AHEAD * processors:
                running = ladder.take_ready(running)
            running.append(on_files.remote(ladder.work, task))
        while running:
            running = ladder.take_ready(running)


def warn_waiting(n_threads: int, /) -> None:
    """Warn if no machine of the cluster has so many processors, now: tasks wait for one."""
    nodes = [node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"]]
    most = int(max(nodes, default=0))
    if n_threads > max(most, 1):
        msg = (
            f"`n_threads` is {n_threads}, and no machine of the cluster has more than {most} "
            "processors: tasks wait until one joins that has."
        )
        warnings.warn(msg, RuntimeWarning, stacklevel=2)


@final
class _Ladder:
    """Outcomes on several rungs: as many as one task merges make one on the next rung.

    So never more than a few of them are in memory, in whatever order they come.
    """

    def __init__(self, work: Any) -> None:
        self.work = work
        self._merge = ray.remote(_merge)
        self._rungs: list[list[Any]] = []

    def add(self, reference: Any, rung: int = 0) -> None:
        """Take one more outcome."""
        if rung == len(self._rungs):
            self._rungs.append([])
        own = self._rungs[rung]
        own.append(reference)
        if len(own) == _FAN_IN:
            self._rungs[rung] = []
            self.add(self._merge.remote(self.work, *own), rung + 1)

    def take_ready(self, running: list[Any]) -> list[Any]:
        """Wait for a task, take its outcome, and return the others."""
        ready, others = ray.wait(running, num_returns=1)
        for reference in ready:
            self.add(reference)
        return list(others)

    def total(self) -> Any:
        """Return the merged outcome; None if there was none."""
        left = [reference for rung in self._rungs for reference in rung]
        while len(left) > 1:
            left = [
                self._merge.remote(self.work, *left[i : i + _FAN_IN])
                for i in range(0, len(left), _FAN_IN)
            ]
        return ray.get(left[0]) if left else None


def _on_files(work: Work, task: str) -> bytes:
    return work.on_files(task)


def _merge(work: Work, *found: Any) -> bytes:
    return work.merge(outcome for one in found for outcome in _outcomes(one))


@final
@dataclass(frozen=True, slots=True)
class _OnBlock:
    """From a block of rows to a block of one outcome."""

    work: Work
    key: str | None

    def __call__(self, block: pa.Table) -> pa.Table:
        part = None if self.key else f"block {secrets.token_hex(16)}"
        outcome = self.work.on_batches(as_batches(block), part=part)
        return pa.table({_COLUMN: pa.array([outcome], pa.large_binary())})


def _outcomes(found: Any) -> list[bytes]:
    """Return outcomes that came as they are or in a block, which may hold several.

    Ray does no work on an empty block, but gives it on as it is.
    """
    if isinstance(found, bytes):
        return [found]
    empty = _COLUMN not in found.column_names
    return [] if empty else found.column(_COLUMN).to_pylist()
