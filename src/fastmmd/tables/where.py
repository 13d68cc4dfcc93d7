"""Row filters as text: ``year == 2018 and (delay > 3 or carrier in ('AA', 'UA'))``.

A small language with a parser of its own: nothing is evaluated as Python.

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

import re
from typing import TYPE_CHECKING, Any, NoReturn, final

from fastmmd.tables.conditions import (
    COMPARISONS,
    Among,
    Both,
    Comparison,
    Condition,
    Either,
    Flag,
    IsNull,
    Not,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

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

_KEYWORDS = frozenset({"and", "or", "not", "in", "is", "null", "true", "false"})


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
        if symbol in COMPARISONS:
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
