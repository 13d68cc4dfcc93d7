"""Row filters as text: ``year == 2018 and (delay > 3 or carrier in ('AA', 'UA'))``.

A small language with a parser of its own: nothing is evaluated as Python. Conditions are
frozen values that turn a batch into a mask, so they can be sent to other processes.

    or      :=  and ("or" and)*
    and     :=  not ("and" not)*
    not     :=  "not" not | "(" or ")" | test
    test    :=  value (("==" | "=" | "!=" | "<>" | "<" | "<=" | ">" | ">=") value
             |  "not"? "in" "(" literal ("," literal)* ")"
             |  "is" "not"? "null")?
    value   :=  literal | column
    literal :=  number | 'text' | "text" | true | false
    column  :=  name | `any name`

As in SQL a comparison with a missing value is neither true nor false, and such rows are left
out. Text that is compared with a date or a time is read as one; durations are in seconds.
"""

from __future__ import annotations

import abc
import datetime
import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, final

import pyarrow as pa
import pyarrow.compute as pc

from fastmmd._errors import DataError
from fastmmd.tables.columns import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])
    | (?P<text>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*")
    | `(?P<quoted>[^`]+)`
    | (?P<symbol>==|!=|<>|<=|>=|=|<|>|\(|\)|,)
    | (?P<word>[^\W\d]\w*(?:\.\w+)*)
    )""",
    re.VERBOSE,
)

_COMPARISONS = {
    "==": pc.equal,
    "=": pc.equal,
    "!=": pc.not_equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}

_KEYWORDS = frozenset({"and", "or", "not", "in", "is", "null", "true", "false"})


class Condition(abc.ABC):
    """A condition on the rows of a table."""

    __slots__ = ()

    @property
    @abc.abstractmethod
    def columns(self) -> frozenset[str]:
        """The columns it looks at."""

    @abc.abstractmethod
    def mask(self, batch: pa.RecordBatch, /) -> Any:
        """Return for each row whether the condition holds; null where that is not known."""

    def conjuncts(self) -> tuple[Condition, ...]:
        """Return conditions that must all hold."""
        return (self,)


@final
@dataclass(frozen=True, slots=True)
class Value:
    """A column or a literal."""

    column: str | None = None
    literal: Any = None

    @property
    def columns(self) -> frozenset[str]:
        return frozenset() if self.column is None else frozenset([self.column])


@final
@dataclass(frozen=True, slots=True)
class Comparison(Condition):
    """A comparison of two values."""

    left: Value
    symbol: str
    right: Value

    @property
    def columns(self) -> frozenset[str]:
        return self.left.columns | self.right.columns

    def mask(self, batch: pa.RecordBatch, /) -> Any:
        left, right = _operands(batch, self.left, self.right)
        try:
            return _COMPARISONS[self.symbol](left, right)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            msg = (
                f"`where` must compare like with like; got {left.type} and {right.type}."
            )
            raise DataError(msg) from error


@final
@dataclass(frozen=True, slots=True)
class Among(Condition):
    """Whether a column's value is one of several."""

    column: str
    literals: tuple[Any, ...]

    @property
    def columns(self) -> frozenset[str]:
        return frozenset([self.column])

    def mask(self, batch: pa.RecordBatch, /) -> Any:
        column = Value(self.column)
        masks = [
            Comparison(column, "==", Value(literal=literal)).mask(batch)
            for literal in self.literals
        ]
        result = masks[0]
        for mask in masks[1:]:
            result = pc.or_kleene(result, mask)
        return result


@final
@dataclass(frozen=True, slots=True)
class IsNull(Condition):
    """Whether a column's value is missing: null or NaN."""

    column: str

    @property
    def columns(self) -> frozenset[str]:
        return frozenset([self.column])

    def mask(self, batch: pa.RecordBatch, /) -> Any:
        return pc.is_null(_column(batch, self.column), nan_is_null=True)


@final
@dataclass(frozen=True, slots=True)
class Flag(Condition):
    """A boolean column by itself."""

    column: str

    @property
    def columns(self) -> frozenset[str]:
        return frozenset([self.column])

    def mask(self, batch: pa.RecordBatch, /) -> Any:
        found = _column(batch, self.column)
        if not pa.types.is_boolean(found.type):
            msg = (
                f"`where` must compare `{self.column}` with something: it is {found.type}, "
                "not true or false."
            )
            raise DataError(msg)
        return found


@final
@dataclass(frozen=True, slots=True)
class Not(Condition):
    """The opposite of a condition."""

    inner: Condition

    @property
    def columns(self) -> frozenset[str]:
        return self.inner.columns

    def mask(self, batch: pa.RecordBatch, /) -> Any:
        return pc.invert(self.inner.mask(batch))


@final
@dataclass(frozen=True, slots=True)
class Both(Condition):
    """Two conditions at once."""

    left: Condition
    right: Condition

    @property
    def columns(self) -> frozenset[str]:
        return self.left.columns | self.right.columns

    def mask(self, batch: pa.RecordBatch, /) -> Any:
        return pc.and_kleene(self.left.mask(batch), self.right.mask(batch))

    def conjuncts(self) -> tuple[Condition, ...]:
        return (*self.left.conjuncts(), *self.right.conjuncts())


@final
@dataclass(frozen=True, slots=True)
class Either(Condition):
    """One of two conditions, or both."""

    left: Condition
    right: Condition

    @property
    def columns(self) -> frozenset[str]:
        return self.left.columns | self.right.columns

    def mask(self, batch: pa.RecordBatch, /) -> Any:
        return pc.or_kleene(self.left.mask(batch), self.right.mask(batch))


def parse_where(text: str, /) -> Condition:
    """Return the condition that a text stands for.

    Parameters
    ----------
    text : str
        For instance ``"year == 2018 and not cancelled"``.

    Returns
    -------
    Condition
        The condition; `mask` applies it to a batch.
    """
    given: Any = text
    if not isinstance(given, str):
        msg = f"`where` must be a string; got {text!r}."
        raise TypeError(msg)
    try:
        return _Parser(given).parse()
    except RecursionError as error:
        msg = "`where` must have fewer conditions inside each other."
        raise ValueError(msg) from error


def check_columns(names: Iterable[str], schema: pa.Schema, /, *, option: str) -> None:
    """Raise if columns do not exist, and say which one may have been meant."""
    for name in sorted(names):
        if name not in schema.names:
            near = difflib.get_close_matches(name, schema.names, n=1)
            hint = f" Did you mean `{near[0]}`?" if near else ""
            listed = ", ".join(f"`{other}`" for other in schema.names)
            msg = (
                f"`{option}` must name columns of the data; got `{name}`.{hint} They have "
                f"{listed}."
            )
            raise DataError(msg)


@final
class _Parser:
    """A recursive descent through the grammar above."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._split()
        self._place = 0

    def parse(self) -> Condition:
        found = self._either()
        if self._peek() is not None:
            self._fail("the end")
        return found

    def _split(self) -> Sequence[tuple[str, str, int]]:
        tokens, place = [], 0
        end = len(self._text.rstrip())
        while place < end:
            match = _TOKEN.match(self._text, place)
            if match is None:
                self._fail_at(place, "a column, a value or a comparison")
            kind = str(match.lastgroup)
            tokens.append((kind, match[kind], match.start(kind)))
            place = match.end()
        return tokens

    def _peek(self) -> str | None:
        """Return the next symbol or keyword, ``"value"`` for anything else."""
        if self._place >= len(self._tokens):
            return None
        kind, text, _ = self._tokens[self._place]
        if kind == "symbol":
            return text
        lower = text.lower()
        return lower if kind == "word" and lower in _KEYWORDS else "value"

    def _take(self, expected: str) -> bool:
        if self._peek() == expected:
            self._place += 1
            return True
        return False

    def _demand(self, expected: str) -> None:
        if not self._take(expected):
            self._fail(f"`{expected}`")

    def _fail(self, expected: str) -> NoReturn:
        done = self._place >= len(self._tokens)
        place = len(self._text) if done else self._tokens[self._place][2]
        self._fail_at(place, expected)

    def _fail_at(self, place: int, expected: str) -> NoReturn:
        found = self._text[place:].strip()
        got = f"`{found}`" if found else "the end"
        msg = (
            f"`where` must be a condition such as `year == 2018 and delay > 3`; expected "
            f"{expected} at character {place + 1}, got {got}."
        )
        raise ValueError(msg)

    def _either(self) -> Condition:
        found = self._both()
        while self._take("or"):
            found = Either(found, self._both())
        return found

    def _both(self) -> Condition:
        found = self._not()
        while self._take("and"):
            found = Both(found, self._not())
        return found

    def _not(self) -> Condition:
        if self._take("not"):
            return Not(self._not())
        if self._take("("):
            found = self._either()
            self._demand(")")
            return found
        return self._test()

    def _test(self) -> Condition:
        start = self._place
        left = self._value()
        symbol = self._peek()
        if symbol in _COMPARISONS:
            self._place += 1
            right = self._value()
            if left.column is None and right.column is None:
                self._place = start
                self._fail("a column")
            return Comparison(left, str(symbol), right)
        if left.column is None:
            self._fail("a comparison")
        name = str(left.column)
        if self._take("is"):
            opposite = self._take("not")
            self._demand("null")
            return Not(IsNull(name)) if opposite else IsNull(name)
        opposite = self._take("not")
        if self._take("in"):
            self._demand("(")
            literals = [self._literal()]
            while self._take(","):
                literals.append(self._literal())
            self._demand(")")
            among = Among(name, tuple(literals))
            return Not(among) if opposite else among
        if opposite:
            self._fail("`in`")
        return Flag(name)

    def _literal(self) -> Any:
        value = self._value()
        if value.column is not None:
            self._place -= 1
            self._fail("a number or a text in quotes")
        return value.literal

    def _value(self) -> Value:
        word = self._peek()
        if word in ("true", "false"):
            self._place += 1
            return Value(literal=word == "true")
        if word != "value":
            self._fail("a column or a value")
        kind, text, _ = self._tokens[self._place]
        self._place += 1
        if kind == "number":
            whole = re.fullmatch(r"[+-]?\d+", text)
            return Value(literal=int(text) if whole else float(text))
        if kind == "text":
            inner = text[1:-1]
            if text[0] == "'":
                inner = inner.replace("''", "'")
            return Value(literal=re.sub(r"\\(.)", r"\1", inner))
        return Value(column=text)


def _column(batch: pa.RecordBatch, name: str) -> pa.Array:
    check_columns([name], batch.schema, option="where")
    found = batch.column(batch.schema.get_field_index(name))
    if isinstance(found.type, pa.BaseExtensionType):
        found = found.storage
    if pa.types.is_dictionary(found.type):
        found = found.dictionary_decode()
    if pa.types.is_decimal(found.type):
        found = found.cast(pa.float64())
    if pa.types.is_string_view(found.type):
        found = found.cast(pa.string())
    if pa.types.is_floating(found.type):
        # NaN is missing, too: a comparison with it is not false, but unknown.
        found = pc.if_else(pc.is_nan(found), pa.scalar(None, found.type), found)
    return found


def _operands(batch: pa.RecordBatch, left: Value, right: Value) -> tuple[Any, Any]:
    """Return both sides; a literal gets the type of the column it is compared with."""
    if left.column is None:
        column = _column(batch, str(right.column))
        return literal_like(left.literal, column.type, str(right.column)), column
    column = _column(batch, left.column)
    if right.column is None:
        return column, literal_like(right.literal, column.type, left.column)
    return column, _column(batch, right.column)


def literal_like(literal: Any, type_: pa.DataType, name: str, /) -> pa.Scalar:
    """Return a literal as a value of a column's type, or say why it cannot be one."""
    kind = kind_of(type_)
    text = isinstance(literal, str)
    try:
        if kind == "null":
            return pa.scalar(None, type_)
        if kind == "utc_datetime" and text:
            return _zoned(literal, type_)
        if kind in ("datetime", "categorical") and text:
            return pa.scalar(literal).cast(type_)
        if kind == "time" and text:
            return pa.scalar(datetime.time.fromisoformat(literal), type_)
        if kind == "duration" and not text:
            return pa.scalar(datetime.timedelta(seconds=literal), type_)
        if kind == "boolean" and (isinstance(literal, bool) or literal in (0, 1)):
            return pa.scalar(bool(literal))
        if kind == "numeric" and not text and not isinstance(literal, bool):
            return pa.scalar(literal)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
        msg = f"`where` must compare `{name}` with a {type_}; got {literal!r} ({error})."
        raise DataError(msg) from error
    hints = {"categorical": " Write text in quotes.", "duration": " Write seconds."}
    hint = hints.get(str(kind), "")
    msg = f"`where` must compare `{name}` with a {type_}; got {literal!r}.{hint}"
    raise DataError(msg)


def _zoned(literal: str, type_: pa.DataType) -> pa.Scalar:
    """Return a moment: text without an offset is in the time zone of the column."""
    if re.search(r"(Z|[+-]\d\d:?\d\d)$", literal):
        return pa.scalar(literal).cast(type_)
    naive = pa.scalar(literal).cast(pa.timestamp(type_.unit))
    return pc.assume_timezone(naive, type_.tz)
