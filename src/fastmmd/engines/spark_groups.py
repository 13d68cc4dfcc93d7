"""The stages that make one sketch for each value of a column, on Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import pyarrow as pa

from fastmmd.engines import pieces
from fastmmd.engines.groups import Grouping, value_text
from fastmmd.engines.spark_stages import FAN_IN, longs, split_place, sql_name, with_place
from fastmmd.sketch import Sketch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SPREAD = 64
"""Partitions of sketches by values. Who writes them to Parquet holds all of a partition's,
and Spark, left to itself, would join partitions up to 64 MB as compressed, far more in memory.
Each costs a tenth of a second, even if it is empty."""


def sketches_by_value(data: Any, work: Grouping, type_: str, /) -> Any:
    """Return a data frame of values, of a type as Spark calls it, and of sketches."""
    cut = f"value {type_}, bucket long, place long, number long, {pieces.SCHEMA}"
    found = with_place(data).mapInArrow(OnGroups(work, tuple(data.columns)), cut)
    # Twice: a value may be in all of thousands of partitions.
    found = together(found, "value", "bucket").mapInArrow(MergeGroups(), cut)
    found = together(found, _SPREAD, "value")
    whole = f"{sql_name(work.by)} {type_}, sketch binary"
    return found.mapInArrow(FinishGroups(work.by), whole)


def together(found: Any, *partitioning: Any) -> Any:
    """Return pieces so that a task has all sketches of a value, one after the other."""
    order = ("value", "place", "number", "piece")
    return found.repartition(*partitioning).sortWithinPartitions(*order)


@final
@dataclass(frozen=True, slots=True)
class OnGroups:
    """From the rows of a partition to sketches of values."""

    work: Grouping
    names: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        place, rows = split_place(batches, self.names)
        if place is not None:
            found = self.work.on_batches(rows, part=f"partition {place}")
            for number, (value, data) in enumerate(found):
                labels = {"bucket": place % FAN_IN, "place": place, "number": number}
                yield pieces.cut(data, {"value": value, **longs(labels)})


@final
@dataclass(frozen=True, slots=True)
class MergeGroups:
    """From sketches in order of their values to one for each value, in pieces."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for labels, data in merged_groups(batches):
            yield pieces.cut(data, labels)


@final
@dataclass(frozen=True, slots=True)
class FinishGroups:
    """From sketches in order of their values to one for each value, whole."""

    by: str

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for labels, data in merged_groups(batches):
            yield pa.RecordBatch.from_arrays(
                [labels["value"], pa.array([data], pa.binary())],
                names=[self.by, "sketch"],
            )


def merged_groups(
    batches: Iterable[pa.RecordBatch], /
) -> Iterator[tuple[dict[str, pa.Array], bytes]]:
    """Yield, for each value, the labels of its first sketch and the sum of all."""
    total: Sketch | None = None
    held: dict[str, pa.Array] = {}
    for labels, data in pieces.joined(batches):
        sketch = Sketch.from_bytes(data)
        if total is not None and value_text(held["value"]) == value_text(labels["value"]):
            total.merge(sketch, parts=True)
            continue
        if total is not None:
            yield held, total.to_bytes()
        held, total = labels, sketch
    if total is not None:
        yield held, total.to_bytes()
