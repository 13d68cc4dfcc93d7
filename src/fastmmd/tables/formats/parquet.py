"""Parquet: one piece for each row group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import pyarrow.fs as pafs
import pyarrow.parquet as pq

from fastmmd.tables.columns import kind_of
from fastmmd.tables.formats.base import File, Format, Layout, reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

_LOCAL_BUFFERS = 2**23
_REMOTE_BUFFERS = 2**26
_SMALLEST_BUFFER = 2**16
"""Bytes read ahead of all columns together. Without buffers whole column chunks are loaded,
which in files of one large row group is everything; each request to a remote store takes
long, so there they are fewer and larger."""


@final
@dataclass(frozen=True, slots=True)
class Parquet(Format):
    """Parquet files."""

    name: ClassVar[str] = "Parquet"

    def inspect(self, filesystem: Any, file: File, /) -> Layout:
        with reading(self.name, file), _opened(filesystem, file) as parquet:
            metadata = parquet.metadata
            groups = range(metadata.num_row_groups)
            pieces = tuple(metadata.row_group(i).num_rows for i in groups)
            schema = parquet.schema_arrow.remove_metadata()
            return Layout(schema, pieces)

    def batches(
        self, filesystem: Any, file: File, piece: int, schema: pa.Schema, rows: int, /
    ) -> Iterator[pa.RecordBatch]:
        # Read as dictionaries what is stored so: a string is not repeated in each row.
        names = [f.name for f in schema if kind_of(f.type) == "categorical"]
        with (
            reading(self.name, file),
            _opened(filesystem, file, len(schema), dictionaries=names) as parquet,
        ):
            yield from parquet.iter_batches(
                batch_size=rows, row_groups=[piece], columns=schema.names
            )


def _opened(
    filesystem: Any,
    file: File,
    n_columns: int = 1,
    *,
    dictionaries: list[str] | None = None,
) -> pq.ParquetFile:
    local = isinstance(filesystem, pafs.LocalFileSystem)
    room = (_LOCAL_BUFFERS if local else _REMOTE_BUFFERS) // max(n_columns, 8)
    return pq.ParquetFile(
        file.path,
        filesystem=filesystem,
        buffer_size=max(room, _SMALLEST_BUFFER),
        pre_buffer=False,
        page_checksum_verification=True,
        read_dictionary=dictionaries,
    )
