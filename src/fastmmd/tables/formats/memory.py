"""A table that is in memory already, read like a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

from fastmmd.tables.formats.base import File, Format, Layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa


@final
@dataclass(frozen=True, slots=True, eq=False)
class Memory(Format):
    """An Arrow table."""

    name: ClassVar[str] = "table"
    table: pa.Table

    def inspect(self, filesystem: Any, file: File, /) -> Layout:
        return Layout(self.table.schema.remove_metadata(), (self.table.num_rows,))

    def batches(
        self, filesystem: Any, file: File, piece: int, schema: pa.Schema, rows: int, /
    ) -> Iterator[pa.RecordBatch]:
        yield from self.table.select(schema.names).to_batches(max_chunksize=rows)
