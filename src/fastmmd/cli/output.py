"""What a command prints: a sentence and a small table, or one JSON object.

On a terminal rich folds long lines and adds colour, unless ``NO_COLOR`` is set; anywhere else
the same words come plain, one field a line.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fastmmd._twosample import TwoSampleResult

Fields = list[tuple[str, str]]

_MOST_NAMES = 8
"""Columns that are named before an ellipsis."""

_STYLES = {"error": "bold red", "warning": "bold yellow", "note": "bold"}


def write_json(value: Any, /) -> None:
    """Print a value as one line of JSON."""
    sys.stdout.write(json.dumps(value) + "\n")


def beside(target: Path, /) -> contextlib.AbstractContextManager[Any]:
    """Return a context in which reports go where errors go if `target` is standard output.

    What is written there must be the sketch and nothing else.
    """
    with contextlib.suppress(OSError, ValueError):
        if os.path.samestat(target.stat(), os.fstat(sys.stdout.fileno())):
            return contextlib.redirect_stdout(sys.stderr)
    return contextlib.nullcontext()


def write_report(headline: str, fields: Fields, /, *, style: str = "bold") -> None:
    """Print a sentence and a table of two columns."""
    if not sys.stdout.isatty():
        width = max((len(label) for label, _ in fields), default=0)
        lines = [headline, *(f"  {label:<{width}}  {text}" for label, text in fields)]
        sys.stdout.write("".join(line.rstrip() + "\n" for line in lines))
        return
    from rich.table import Table
    from rich.text import Text

    console = _console(sys.stdout)
    console.print(Text(headline, style=style))
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in fields:
        table.add_row(Text(f"  {label}"), Text(text))
    console.print(table)


def say(label: str, text: str, /) -> None:
    """Print one line about an error, a warning or a note where errors go."""
    if not sys.stderr.isatty():
        sys.stderr.write(f"{label}: {text}\n")
        return
    from rich.text import Text

    line = Text.assemble((f"{label}:", _STYLES[label]), " ", text)
    _console(sys.stderr).print(line)


def result_fields(
    result: TwoSampleResult,
    /,
    *,
    samples: Sequence[str],
    seed: int,
) -> Fields:
    """Return the table below the sentence of a test."""
    from fastmmd.nulls.pvalues import pvalue_words

    share = f"{100 * (1 - result.level):g} %"

    def between(ends: tuple[float, float] | None) -> str:
        return (
            "" if ends is None else f", {share} interval {ends[0]:.2g} to {ends[1]:.2g}"
        )

    pvalue = pvalue_words(result.pvalue, result.tail_pvalue)
    found = [("p-value", pvalue.removeprefix("p ").removeprefix("= "))]
    effect = f"{result.effect_size:.2g}{between(result.effect_interval)}"
    found.append(("effect size", f"{effect} (0 none, 1 disjoint)"))
    if result.margin is not None:
        found.append(("MMD", f"{max(result.statistic, 0.0) ** 0.5:.3g}"))
    squared = f"{result.statistic:.4g}{between(result.confidence_interval)}"
    found.append(("MMD^2", squared))
    for name, rows, used in zip(
        samples,
        (result.n_x, result.n_y),
        (result.used_x, result.used_y),
        strict=True,
    ):
        part = "" if used > 0.9 else f", {100 * used:.0f} % of them relabelled"
        label = "rows" if found[-1][0] != "rows" else ""
        found.append((label, f"{rows:,} of {name}{part}"))
    if result.columns:
        found.append(("columns", names(result.columns)))
    kernels = f"{len(result.kernels)}, most telling " if len(result.kernels) > 1 else ""
    found.append(("kernels", f"{kernels}{result.kernel}"))
    resamples = f"{result.n_resamples} resamples of " if result.n_resamples else ""
    found.append(
        (
            "test",
            (
                f"{result.null}, {result.level_is} level; {resamples}{result.n_bins} bins, "
                f"seed {seed}"
            ),
        )
    )
    return found + notes(result.notes)


def notes(texts: Sequence[str], /) -> Fields:
    """Return notes as fields of a table."""
    from fastmmd.cli.errors import translate

    return [("note", text[:1].upper() + text[1:]) for text in map(translate, texts)]


def names(words: Sequence[str], /) -> str:
    """Return how many names there are, and the first of them."""
    shown = ", ".join(words[:_MOST_NAMES])
    more = ", …" if len(words) > _MOST_NAMES else ""
    return f"{len(words)}: {shown}{more}"


def count(number: int, thing: str, ending: str = "s", /) -> str:
    """Return a number of things: 1 file, 2 files."""
    return f"{number:,} {thing}{'' if number == 1 else ending}"


def size(n_bytes: float, /) -> str:
    """Return a number of bytes for people."""
    units = ("bytes", "kB", "MB", "GB", "TB")
    place = 0
    while n_bytes >= 999.5 and place < len(units) - 1:
        n_bytes, place = n_bytes / 1000, place + 1
    return f"{n_bytes:.3g} {units[place]}"


def duration(seconds: float, /) -> str:
    """Return a time for people."""
    if seconds < 90:
        return f"{seconds:.2g} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _console(stream: TextIO) -> Any:
    from rich.console import Console

    return Console(file=stream, highlight=False, markup=False, emoji=False)
