"""The stages of work on Spark: ``mapInArrow`` on partitions, and merging in between.

Nothing here imports Spark. A data frame is what its methods do, on Spark, Connect and Sail;
the classes are what executors get, and see Arrow batches alone.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, final

import pyarrow as pa

from fastmmd.engines import pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from fastmmd.engines.work import Work

    Merging: TypeAlias = Callable[[Iterable[bytes]], bytes]

FAN_IN = 64
"""Outcomes that one task merges, about. It holds two of them at a time."""

_AT_ONCE = 32
"""Pieces in a chunk of a sketch, about the root of how many pieces it has."""

_PLACE = "fastmmd place"
OUTCOMES = f"place long, bucket long, {pieces.SCHEMA}"


def levels_for(n: int, last: int) -> list[int]:
    """Return how many outcomes there are to be after each stage of merging."""
    levels = []
    while n > last:
        n = max(last, -(-n // FAN_IN))
        levels.append(n)
    return [*levels, 1]


def collect_outcomes(outcomes: Any, merge: Merging, levels: Sequence[int]) -> list[bytes]:
    """Merge outcomes in stages and return the few that are left.

    Which outcomes are merged depends on the numbers of their partitions alone. A plain
    ``repartition(n)`` deals them out in turn, and a task that is run again after others
    have read some of its outcomes might deal otherwise.
    """
    for after in levels[1:]:
        outcomes = (
            outcomes.repartition("bucket")
            .sortWithinPartitions("place", "piece")
            .mapInArrow(Merge(merge, after), OUTCOMES)
        )
    found = outcomes.select("place", "piece", "data").collect()
    found.sort(key=lambda row: (row.place, row.piece))
    return [
        b"".join(bytes(row.data) for row in rows)
        for _, rows in itertools.groupby(found, key=lambda row: row.place)
    ]


def with_place(frame: Any, /) -> Any:
    """Return a data frame with a further column, the number of the row's partition.

    Columns are called by their number: Spark takes a dot in a name for a part of a structure,
    and two that differ in capitals alone for one.
    """
    numbered = frame.toDF(*(f"column_{i}" for i in range(len(frame.columns))))
    return numbered.selectExpr("*", f"spark_partition_id() AS `{_PLACE}`")


def sql_name(name: str, /) -> str:
    """Return the name of a column as it stands in an expression."""
    escaped = name.replace("`", "``")
    return f"`{escaped}`"


@final
@dataclass(frozen=True, slots=True)
class OnFiles:
    """From numbers of tasks to outcomes."""

    work: Work
    tasks: Sequence[str]
    buckets: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                outcome = self.work.on_files(self.tasks[number])
                yield _outcome_rows(number, self.buckets, outcome)


@final
@dataclass(frozen=True, slots=True)
class OnPartition:
    """From the rows of a partition to an outcome."""

    work: Work
    buckets: int
    names: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        place, rows = split_place(batches, self.names)
        if place is not None:
            part = f"partition {place}"
            outcome = self.work.on_batches(rows, part=part, place=place)
            yield _outcome_rows(place, self.buckets, outcome)


@final
@dataclass(frozen=True, slots=True)
class Merge:
    """From some outcomes to one."""

    merge: Merging
    buckets: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        places: list[int] = []

        def outcomes() -> Iterator[bytes]:
            for labels, outcome in pieces.joined(batches):
                places.extend(labels["place"].to_pylist())
                yield outcome

        found = outcomes()
        first = next(found, None)
        if first is not None:
            merged = self.merge(itertools.chain([first], found))
            yield _outcome_rows(min(places), self.buckets, merged)


@final
@dataclass(frozen=True, slots=True)
class _Cut:
    """From whole sketches to pieces."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for i in range(batch.num_rows):
                labels = {n: batch.column(n).slice(i, 1) for n in ("place", "bucket")}
                yield pieces.cut(batch.column("sketch")[i].as_py(), labels)


def split_place(
    batches: Iterable[pa.RecordBatch], names: Sequence[str], /
) -> tuple[int | None, Iterator[pa.RecordBatch]]:
    """Return the number of the partition, None if it is empty, and its rows without it.

    The number is the last column; the others get their own names again.
    """
    filled = (batch for batch in batches if batch.num_rows)
    first = next(filled, None)
    if first is None:
        return None, iter(())

    def rows() -> Iterator[pa.RecordBatch]:
        for batch in itertools.chain([first], filled):
            yield pa.RecordBatch.from_arrays(batch.columns[:-1], names=list(names))

    return first.column(_PLACE)[0].as_py(), rows()


def _outcome_rows(place: int, buckets: int, outcome: bytes) -> pa.RecordBatch:
    return pieces.cut(outcome, longs({"place": place, "bucket": place % buckets}))


def longs(labels: Mapping[str, int], /) -> dict[str, pa.Array]:
    """Return labels as `pieces.cut` takes them."""
    return {name: pa.array([value], pa.int64()) for name, value in labels.items()}


def cut_column(named: Any) -> Any:
    """Return sketches as pieces, cut before they go to Python."""
    n = pieces.LENGTH
    # In two steps, as Spark copies the whole of what is cut for each piece that it cuts off.
    cut = (
        named.selectExpr(
            "place",
            "bucket",
            f"CAST((length(sketch) - 1) DIV {n} + 1 AS INT) AS n_pieces",
            _exploded("sketch", _AT_ONCE * n, "(chunk, bytes)"),
        )
        .selectExpr(
            "place", "bucket", "n_pieces", "chunk", _exploded("bytes", n, "(i, data)")
        )
        .selectExpr(
            "place", "bucket", f"chunk * {_AT_ONCE} + i AS piece", "n_pieces", "data"
        )
    )
    if cut.schema["data"].dataType.simpleString() == "binary":
        return cut
    # Sail makes text of pieces of bytes. It has no JVM whose memory they could fill.
    return named.mapInArrow(_Cut(), OUTCOMES)


def _exploded(column: str, length: int, names: str) -> str:
    """Return the expression that makes rows of a column's pieces, with their numbers."""
    last = f"CAST((length({column}) - 1) DIV {length} AS INT)"
    piece = f"substring({column}, i * {length} + 1, {length})"
    return f"posexplode(transform(sequence(0, {last}), i -> {piece})) AS {names}"
