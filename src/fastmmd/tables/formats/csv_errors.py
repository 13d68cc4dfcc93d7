"""What is wrong with a delimited text file, in words that help.

Arrow says what it stumbled over. The cause is often another one: values separated by another
character, text in another encoding. The first lines of the file tell, and the message names
the option that helps.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, final

import pyarrow as pa

from fastmmd._errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fastmmd.tables.formats.base import File
    from fastmmd.tables.formats.csv import CSV

_LINE_BYTES = 2**16
"""The start of a file that is looked at for a clue."""

_DELIMITERS = ",;\t|"

_RAGGED = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+): ?(.*)", re.DOTALL)
_WRONG_VALUE = re.compile(
    r"column #(\d+): (?:Row #(\d+): )?.*conversion error to ([^:]+): "
    r"(?:invalid value )?(.*)"
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis:
    """A file, how it is read, and what may be wrong with that."""

    form: CSV
    filesystem: Any
    file: File

    @contextlib.contextmanager
    def explaining(self, names: Sequence[str] = (), /) -> Iterator[None]:
        """Turn what Arrow says while reading the columns `names` into an error that helps."""
        try:
            yield
        except UnicodeError as error:
            self._refuse_encoding(str(error), error)
        except pa.ArrowInvalid as error:
            text = str(error)
            if self._starts_as_utf16():
                self._refuse_encoding(text, error)
            if ragged := _RAGGED.search(text):
                self._refuse_ragged(ragged, error)
            if (wrong := _WRONG_VALUE.search(text)) and names:
                self._refuse_value(wrong, names, error)
            if "Empty CSV" in text:
                header = self.form.header
                what = "a line with the names of the columns" if header else "rows"
                msg = f"`{self.file.shown}` must have {what}; it is empty."
                raise DataError(msg) from error
            raise

    def check_encoding(self, schema: pa.Schema, /) -> None:
        """Raise if values are in another encoding; Arrow takes them for binary data."""
        for name, type_ in zip(schema.names, schema.types, strict=True):
            if pa.types.is_binary(type_) and name not in self.form.types:
                self._refuse_encoding(f"column `{name}` is not")

    def check_delimiter(self, schema: pa.Schema, /) -> None:
        """Raise if the one column seems to be several; who names a delimiter is believed."""
        if len(schema) > 1 or self.form.delimiter is not None:
            return
        used = self.form.delimiter_of(self.file)
        # Text may have a semicolon anywhere: without a header two lines must agree.
        lines = self._first_lines()[: 1 if self.form.header else 2]
        likely = {_likely_delimiter(line, used) for line in lines}
        mark = likely.pop() if len(likely) == 1 else None
        if mark is not None:
            msg = (
                f"`{self.file.shown}` must have values separated by {used!r}; its first "
                f"line is {lines[0][:60]!r}. Pass `delimiter={mark!r}`, or "
                f"`delimiter={used!r}` if it is one column."
            )
            raise DataError(msg)

    def names_alone(self) -> list[str] | None:
        """Return the names of the columns if there is nothing else, not even a line end."""
        lines = [line for line in self._first_lines() if line]
        if not self.form.header or len(lines) != 1:
            return None
        return next(csv.reader(lines, delimiter=self.form.delimiter_of(self.file)))

    def _first_lines(self) -> list[str]:
        """Return the first lines; characters in another encoding are replaced."""
        with self.filesystem.open_input_stream(self.file.path) as stream:
            start = bytes(stream.read(_LINE_BYTES))
        text = start.decode(self.form.encoding, errors="replace")
        return text.removeprefix("\ufeff").splitlines()

    def _starts_as_utf16(self) -> bool:
        with self.filesystem.open_input_stream(self.file.path) as stream:
            start = bytes(stream.read(2))
        return start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

    def _refuse_encoding(self, why: str, error: Exception | None = None) -> NoReturn:
        given, likely = codecs.lookup(self.form.encoding).name, "utf8"
        if self._starts_as_utf16():
            why, likely = "it starts as UTF-16 does", "utf16"
        elif given == "utf-8":
            likely = "latin1"
        msg = (
            f"`{self.file.shown}` must be text in the encoding {given}; {why}. Pass the one "
            f"that it is in, for instance `encoding={likely!r}`."
        )
        raise DataError(msg) from error

    def _refuse_ragged(self, found: re.Match[str], error: Exception) -> NoReturn:
        line, expected, got, content = found.groups()
        values = "value" if expected == "1" else "values"
        msg = (
            f"`{self.file.shown}`, line {line}, must have {expected} {values} like the lines "
            f"before; got {got}: {content[:60]!r}."
        )
        lines = self._first_lines()
        used = self.form.delimiter_of(self.file)
        mark = _likely_delimiter(lines[0], used) if lines else None
        if mark is not None:
            msg += f" If values are separated by {mark!r}, pass `delimiter={mark!r}`."
        raise DataError(msg) from error

    def _refuse_value(
        self, found: re.Match[str], names: Sequence[str], error: Exception
    ) -> NoReturn:
        index, row, type_, value = found.groups()
        name = names[int(index)]
        where = "" if row is None else f"line {row}, "
        if "UTF8" in value:
            self._refuse_encoding(f"{where}column `{name}` is not", error)
        asked = name in self.form.types
        why = "as asked for with `types`" if asked else "like the rows before"
        msg = (
            f"`{self.file.shown}`, {where}column `{name}` must be of type {type_} {why}; got "
            f"{value[:60]}."
        )
        if not asked:
            msg += f" If the column holds text, pass `types={{{name!r}: 'string'}}`."
        raise DataError(msg) from error


def _likely_delimiter(line: str, used: str) -> str | None:
    """Return what seems to separate the values of a line, if it is not `used`."""
    best = max(_DELIMITERS, key=line.count)
    return best if line.count(best) > line.count(used) else None
