"""What went wrong, in one line, in the words of the command line, with an exit status."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from cyclopts import CycloptsError, UnusedCliTokensError

from fastmmd._errors import (
    GIVEN_AS_LIKE,
    MAKE_ALIKE,
    DataError,
    IncompatibleSketchError,
    MissingDependencyError,
    SketchFileError,
    UndefinedEstimateError,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

DIFFERENCE, USAGE, UNREADABLE = 1, 2, 3
DEFECT = 70
INTERRUPTED = 130
PIPE_CLOSED = 141

KINDS = {
    USAGE: "usage",
    UNREADABLE: "data",
    DEFECT: "defect",
    INTERRUPTED: "interrupted",
}
"""What a JSON object calls the errors that end with these statuses."""

_OPTIONS = {
    name: "--" + name.replace("_", "-")
    for name in (
        *(
            "array",
            "by",
            "checkpoint_seconds",
            "columns",
            "delimiter",
            "encoding",
            "exclude",
            "format",
        ),
        *("kernel", "kinds", "level", "like", "margin", "max_levels", "missing"),
        *(
            "n_resamples",
            "out",
            "sample_rows",
            "scale",
            "stream",
            "trials",
            "types",
            "where",
        ),
    )
} | {"n_threads": "--threads", "n_bins": "--bins", "rng": "--seed", "seed": "--seed"}
"""What the library calls a parameter, and what it is called here."""

_MAKE_ALIKE = (
    "make both with the same --like, or one like the other by `fastmmd sketch DATA -o FILE "
    "--like OTHER`"
)

_SUBJECTS = re.compile(r"(?:`\w+`(?:, | and )?)+(?= must)")
_MENTIONED = re.compile(r"\b(?:[Pp]ass|with|by|consider|own) `\w+`")
_NAME = re.compile(r"`(\w+)`")
_WITH_VALUE = re.compile(r"`(\w+)=([^`]+)`")


class UsageError(ValueError):
    """The command cannot mean anything as it was given."""


class Interrupted(KeyboardInterrupt):
    """The user pressed Ctrl-C; the message says what became of the work."""


def explain(error: Exception, /) -> tuple[int, str]:
    """Return the exit status of an error, and a line about it."""
    text = " ".join(str(error).split())
    arrow = type(error).__module__.startswith("pyarrow")
    if isinstance(error, (UsageError, MissingDependencyError)):
        found = USAGE, text
    elif isinstance(error, OSError):
        found = UNREADABLE, _system_message(error)
    elif isinstance(error, MemoryError):
        found = UNREADABLE, "there is not enough memory."
    elif isinstance(error, (ValueError, TypeError)) or arrow:
        found = _status(error, text), translate(text)
    else:
        name = type(error).__name__
        advice = "This should not happen: run again with --debug to see where."
        found = DEFECT, f"{name}: {text}. {advice}"
    return found


def translate(text: str, /) -> str:
    """Return a message of the library in the words of the command line.

    Names of columns look like those of parameters, so only places are changed where a
    parameter must stand: at the start, and after a few words.
    """

    def option(match: re.Match[str]) -> str:
        return f"`{_OPTIONS.get(match[1], match[1])}`"

    def with_value(match: re.Match[str]) -> str:
        name, value = match[1], match[2]
        return f"`{_OPTIONS[name]} {_typed(value)}`" if name in _OPTIONS else match[0]

    text = text.replace(MAKE_ALIKE, _MAKE_ALIKE)
    text = text.replace(GIVEN_AS_LIKE, "the reference sketch")
    text = _WITH_VALUE.sub(with_value, text)
    subjects = _SUBJECTS.match(text)
    if subjects:
        text = _NAME.sub(option, subjects[0]) + text[subjects.end() :]
    return _MENTIONED.sub(lambda match: _NAME.sub(option, match[0]), text)


def usage_message(error: CycloptsError, arguments: Sequence[str], /) -> str:
    """Return one line about words that do not fit a command."""
    text = " ".join(str(error).split())
    before = arguments[arguments.index("-") - 1] if "-" in arguments[1:] else ""
    if before in ("-o", "--output"):
        text = (
            "`-` stands for no output: `-o /dev/stdout` writes the sketch to standard "
            "output."
        )
    elif "-" in arguments:
        text = (
            "`-` stands for no data: they are read more than once, so write what comes from "
            "a pipe to a file first."
        )
    elif isinstance(error, UnusedCliTokensError):
        extra = ", ".join(f"`{word}`" for word in (error.unused_tokens or ())[:3])
        text = f"unexpected {extra}. A pattern for several files must be in quotes."
    else:
        text = text[:1].lower() + text[1:]
    words = [word for word in arguments if not word.startswith("-")]
    command = error.command_chain[0] if error.command_chain else ""
    where = f"fastmmd {command}" if command in words else "fastmmd"
    return f"{text} See `{where} --help`."


def _typed(value: str) -> str:
    """Return a Python value as one would type it after an option."""
    try:
        found = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        found = value
    if isinstance(found, dict):
        found = [f"{name}={kind}" for name, kind in found.items()]
    if isinstance(found, (list, tuple)):
        found = ",".join(map(str, found))
    text = "tab" if found == "\t" else str(found)
    return f"'{text}'" if re.search(r"[^\w,.=/-]", text) else text


def _status(error: Exception, text: str) -> int:
    """Return whether the options or the data are to blame."""
    subjects = _SUBJECTS.match(text)
    if subjects and set(_NAME.findall(subjects[0])) <= set(_OPTIONS):
        return USAGE
    data = (DataError, IncompatibleSketchError, SketchFileError, UndefinedEstimateError)
    arrow = type(error).__module__.startswith("pyarrow")
    unreadable = isinstance(error, (*data, UnicodeError)) or arrow
    return UNREADABLE if unreadable else USAGE


def _system_message(error: OSError) -> str:
    """Return what the operating system says, about which file, and what was added to it."""
    text = " ".join(str(error).split())
    if error.strerror and error.filename is not None:
        text = f"`{error.filename}`: {error.strerror}."
    return " ".join([text, *getattr(error, "__notes__", ())])
