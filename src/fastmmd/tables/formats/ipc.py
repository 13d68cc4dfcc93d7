"""Arrow IPC files and streams, Feather among them: one piece for each file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import pyarrow as pa

from fastmmd.tables.formats.base import File, Format, Layout, reading

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAGIC = b"ARROW1"


@final
@dataclass(frozen=True, slots=True)
class IPC(Format):
    """Arrow IPC, as a file (Feather version 2) or as a stream."""

    name: ClassVar[str] = "Arrow"

    def inspect(self, filesystem: Any, file: File, /) -> Layout:
        with reading(self.name, file), filesystem.open_input_file(file.path) as source:
            reader = _reader(source, None)
            return Layout(reader.schema.remove_metadata(), (None,))

    def batches(
        self, filesystem: Any, file: File, piece: int, schema: pa.Schema, rows: int, /
    ) -> Iterator[pa.RecordBatch]:
        with reading(self.name, file), filesystem.open_input_file(file.path) as source:
            whole = _reader(source, None).schema
            source.seek(0)
            reader = _reader(
                source, [whole.get_field_index(name) for name in schema.names]
            )
            if isinstance(reader, pa.ipc.RecordBatchFileReader):
                for i in range(reader.num_record_batches):
                    yield reader.get_batch(i)
            else:
                yield from reader


def _reader(source: Any, fields: list[int] | None) -> Any:
    options = pa.ipc.IpcReadOptions(included_fields=fields)
    start = source.read(len(_MAGIC))
    source.seek(0)
    is_file = bytes(start) == _MAGIC
    opened = pa.ipc.open_file if is_file else pa.ipc.open_stream
    return opened(source, options=options)
