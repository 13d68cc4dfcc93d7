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

_LOCAL_BUFFER = 2**20
_REMOTE_BUFFER = 2**23
"""Bytes read ahead of each column. Without a buffer whole column chunks are loaded, which in
files of one large row group is everything; each request to a remote store takes long, so
there they are fewer and larger."""


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
            _opened(filesystem, file, dictionaries=names) as parquet,
        ):
            yield from parquet.iter_batches(
                batch_size=rows, row_groups=[piece], columns=schema.names
            )


def _opened(
    filesystem: Any, file: File, *, dictionaries: list[str] | None = None
) -> pq.ParquetFile:
    local = isinstance(filesystem, pafs.LocalFileSystem)
    return pq.ParquetFile(
        file.path,
        filesystem=filesystem,
        buffer_size=_LOCAL_BUFFER if local else _REMOTE_BUFFER,
        pre_buffer=False,
        page_checksum_verification=True,
        read_dictionary=dictionaries,
    )
