"""How many rows a text file has, guessed from its start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastmmd.tables import Source

_LOOK_BYTES = 2**20


def estimate_rows(source: Source, /) -> int | None:
    """Return about how many lines the files of a source have, None if that fails.

    The first megabyte of text of the largest file tells how many bytes of a file, as it is
    stored, make a line.
    """
    import pyarrow as pa

    if source.n_bytes is None or not source.files:
        return None
    file = max(source.files, key=lambda file: file.size or 0)
    try:
        with source.filesystem.open_input_file(file.path) as raw:
            text = _unpacked(raw, file.path)
            start = text.read(_LOOK_BYTES)
            n_stored = raw.tell()
    except (OSError, pa.ArrowException):
        return None
    n_lines = start.count(b"\n")
    return round(source.n_bytes * n_lines / n_stored) if n_lines and n_stored else None


def _unpacked(raw: Any, path: str) -> Any:
    """Return the text of a stream, unpacked if the name says that it is packed."""
    import pyarrow as pa

    codec = {"gz": "gzip", "bz2": "bz2", "zst": "zstd", "lz4": "lz4"}
    packed = codec.get(path.rpartition(".")[2].lower())
    return pa.CompressedInputStream(raw, packed) if packed else raw
