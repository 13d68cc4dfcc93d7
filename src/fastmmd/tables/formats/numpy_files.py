"""NumPy's ``.npy`` and ``.npz``: read by ranges of rows.

Not mapped into memory: pages of a mapped file count as resident memory for as long as the
system likes, and remote files cannot be mapped. Ranges are as quick and stay small.
"""

from __future__ import annotations

import contextlib
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
import pyarrow as pa

from fastmmd._errors import DataError
from fastmmd.tables.formats.base import File, Format, Layout, reading

if TYPE_CHECKING:
    from collections.abc import Iterator

_PIECE_ROWS = 2**20
"""Rows of a piece: several machines can share one large array."""


@final
@dataclass(frozen=True, slots=True)
class NumPy(Format):
    """Arrays in NumPy's own files.

    Columns of an array are called ``c0``, ``c1``, …; a structured array has names, and so do
    the arrays of a ``.npz`` file that has one for each column.

    Parameters
    ----------
    array : str, optional
        Which array of a ``.npz`` file to read, if it has several of two dimensions.
    """

    name: ClassVar[str] = "NumPy"
    array: str | None = None

    def inspect(self, filesystem: Any, file: File, /) -> Layout:
        with reading(self.name, file), self._opened(filesystem, file) as arrays:
            n_rows = {array.n_rows for array in arrays}
            if len(n_rows) > 1:
                self._refuse_mixture(file, arrays)
            (total,) = n_rows
            fields = [field for array in arrays for field in array.schema]
            step = (
                _PIECE_ROWS if all(array.can_seek for array in arrays) else max(total, 1)
            )
            pieces = tuple(min(step, total - at) for at in range(0, total, step))
            return Layout(pa.schema(fields), pieces or (0,))

    def batches(
        self, filesystem: Any, file: File, piece: int, schema: pa.Schema, rows: int, /
    ) -> Iterator[pa.RecordBatch]:
        with reading(self.name, file), self._opened(filesystem, file) as arrays:
            wanted = [a for a in arrays if set(a.schema.names) & set(schema.names)]
            place, end = piece * _PIECE_ROWS, (piece + 1) * _PIECE_ROWS
            total = arrays[0].n_rows
            end = min(end, total) if all(array.can_seek for array in arrays) else total
            while place < end:
                n = min(rows, end - place)
                columns: dict[str, Any] = {}
                for array in wanted:
                    columns |= array.read(place, n)
                yield pa.RecordBatch.from_pydict(
                    {name: _arrow(columns[name]) for name in schema.names}
                )
                place += n

    @contextlib.contextmanager
    def _opened(self, filesystem: Any, file: File) -> Iterator[list[_Array]]:
        with contextlib.ExitStack() as stack:
            source = stack.enter_context(filesystem.open_input_file(file.path))
            if bytes(source.read(2)) != b"PK":
                source.seek(0)
                yield [_Array(source, file, "", can_seek=True)]
                return
            source.seek(0)
            archive = stack.enter_context(zipfile.ZipFile(source))
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            if self.array is not None:
                if self.array not in names:
                    msg = (
                        f"`array` must name an array of `{file.shown}`; got {self.array!r}. "
                        f"It has {', '.join(names)}."
                    )
                    raise DataError(msg)
                names = [self.array]
            arrays = [
                _Array(
                    stack.enter_context(archive.open(f"{name}.npy")),
                    file,
                    name,
                    can_seek=False,
                )
                for name in names
            ]
            if len(arrays) > 1 and any(array.is_matrix for array in arrays):
                self._refuse_mixture(file, arrays)
            if not arrays:
                msg = f"`{file.shown}` must hold arrays; it is empty."
                raise DataError(msg)
            yield arrays

    def _refuse_mixture(self, file: File, arrays: list[_Array]) -> None:
        shapes = ", ".join(f"{array.name} {array.shape}" for array in arrays)
        msg = (
            f"`{file.shown}` must hold one array of two dimensions, or one of one dimension "
            f"for each column; got {shapes}. Choose one with `array`."
        )
        raise DataError(msg)


@final
class _Array:
    """An array within a file, read by ranges of rows or from start to end."""

    def __init__(self, source: Any, file: File, name: str, *, can_seek: bool) -> None:
        version = np.lib.format.read_magic(source)
        if version == (1, 0):
            header = np.lib.format.read_array_header_1_0(source)
        else:
            header = np.lib.format.read_array_header_2_0(source)
        self.shape, fortran, self._dtype = header
        self.name, self.can_seek = name, can_seek
        self._source, self._place, self._at = source, source.tell(), 0
        if (
            self._dtype.hasobject
            or len(self.shape) not in (1, 2)
            or self._dtype.kind in "cV"
        ):
            structured = self._dtype.names is not None and len(self.shape) == 1
            if self._dtype.hasobject or not structured:
                msg = (
                    f"`{file.shown}` must hold rows of plain values; got an array of shape "
                    f"{self.shape} and dtype {self._dtype}."
                )
                raise DataError(msg)
        self.n_rows = int(self.shape[0])
        self._fortran = fortran and self.is_matrix and self.shape[1] > 1
        self._whole: Any = None

    @property
    def is_matrix(self) -> bool:
        return len(self.shape) == 2

    @property
    def _names(self) -> list[str]:
        if self.is_matrix:
            return [f"c{i}" for i in range(self.shape[1])]
        return [self.name or "c0"]

    @property
    def schema(self) -> pa.Schema:
        if self._dtype.names is not None:
            types = [(name, self._dtype[name]) for name in self._dtype.names]
        else:
            types = [(name, self._dtype) for name in self._names]
        return pa.schema([(n, _arrow(np.zeros(0, dtype=d)).type) for n, d in types])

    def read(self, first: int, n: int) -> dict[str, Any]:
        """Return columns by name."""
        values = self._fortran_rows(first, n) if self._fortran else self._rows(first, n)
        if self._dtype.names is not None:
            return {name: values[name] for name in self._dtype.names}
        if self.is_matrix:
            return {name: values[:, i] for i, name in enumerate(self._names)}
        return {self._names[0]: values}

    def _rows(self, first: int, n: int) -> Any:
        width = int(self.shape[1]) if self.is_matrix else 1
        size = width * self._dtype.itemsize
        if self.can_seek:
            self._source.seek(self._place + first * size)
        else:
            while self._at < first:
                skip = min(first - self._at, _PIECE_ROWS)
                self._source.read(skip * size)
                self._at += skip
            self._at += n
        return self._values(n * width).reshape(n, *self.shape[1:])

    def _fortran_rows(self, first: int, n: int) -> Any:
        columns = int(self.shape[1])
        if not self.can_seek:
            # Column after column in a compressed stream: there is no way to read rows.
            if self._whole is None:
                flat = self._values(self.n_rows * columns)
                self._whole = flat.reshape(columns, self.n_rows).T
            return self._whole[first : first + n]
        values = np.empty((n, columns), dtype=self._dtype, order="F")
        for i in range(columns):
            row = i * self.n_rows + first
            self._source.seek(self._place + row * self._dtype.itemsize)
            values[:, i] = self._values(n)
        return values

    def _values(self, count: int) -> Any:
        data = self._source.read(count * self._dtype.itemsize)
        if len(data) < count * self._dtype.itemsize:
            msg = "the file ends before its array does"
            raise EOFError(msg)
        return np.frombuffer(data, dtype=self._dtype)


def _arrow(values: Any) -> pa.Array:
    """Return a column as Arrow, in the byte order and units that it knows."""
    dtype = values.dtype
    if dtype.kind == "m" and np.datetime_data(dtype)[0] not in ("s", "ms", "us", "ns"):
        values = values.astype("m8[s]")
    elif not dtype.isnative:
        values = values.astype(dtype.newbyteorder("="))
    if dtype.kind == "f" and dtype.itemsize > 8:
        values = values.astype(np.float64)
    if dtype.kind in "iufb":
        values = np.ascontiguousarray(values)
    return pa.array(values)
