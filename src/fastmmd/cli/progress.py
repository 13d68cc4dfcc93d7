"""A bar for each pass over the data: on a terminal, on standard error, gone at the end."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastmmd.tables import Progress

_NAME_WIDTH = 32
_STAGES = {"sampling": "Sampling", "sketching": "Sketching"}


@final
class Watcher:
    """What the library reports to: it remembers counts, and moves a bar if there is one."""

    def __init__(self, bar: Any = None) -> None:
        self._bar = bar
        self._tasks: dict[tuple[str, str], Any] = {}
        self._totals: dict[str, int] = {}
        self.n_dropped: dict[str, int] = {}
        self.n_read: dict[str, int] = {}

    def __call__(self, at: Progress, /) -> None:
        """Take a report."""
        self.n_read[at.source] = at.n_read
        self.n_dropped[at.source] = at.n_dropped
        total = at.n_rows if at.n_rows is not None else self._totals.get(at.source)
        if at.stage == "sampling" and at.parts_done == at.n_parts:
            # How many rows a text file has is known once it was read.
            self._totals[at.source] = total = at.n_read
        if self._bar is None:
            return
        key = (at.stage, at.source)
        if key not in self._tasks:
            name = shortened(at.source, _NAME_WIDTH)
            # What a checkpoint had done already is not part of the speed.
            self._tasks[key] = self._bar.add_task(
                f"{_STAGES[at.stage]} {name}", total=total, completed=at.n_read
            )
        self._bar.update(self._tasks[key], completed=at.n_read, total=total)


@contextlib.contextmanager
def watching(*, quiet: bool) -> Iterator[Watcher]:
    """Yield a watcher, with a bar if somebody can see it."""
    if quiet or not sys.stderr.isatty():
        yield Watcher()
        return
    with _make_bar() as bar:
        yield Watcher(bar)


def shortened(name: str, width: int, /) -> str:
    """Return the end of a long name: that is where names of files differ."""
    return name if len(name) <= width else "…" + name[1 - width :]


def _make_bar() -> Any:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    @final
    class Rows(ProgressColumn):
        """Rows done, of how many, and how many a second."""

        def render(self, task: Any) -> Text:
            total = f" of {task.total:,.0f}" if task.total else ""
            speed = task.finished_speed or task.speed
            rate = f", {brief(speed)} rows/s" if speed else ""
            return Text(f"{task.completed:,.0f}{total} rows{rate}")

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        Rows(),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        transient=True,
    )


def brief(number: float, /) -> str:
    """Return a number with a unit: 950, 12.3 k, 1.45 M."""
    for unit in ("", " k", " M"):
        if number < 999.5:
            return f"{number:.3g}{unit}"
        number /= 1000
    return f"{number:.3g} G"
