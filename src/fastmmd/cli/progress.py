"""A bar for each pass or trial: on a terminal, on standard error, gone at the end."""

from __future__ import annotations

import contextlib
import datetime as dt
import sys
import time
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastmmd.experiments import Step
    from fastmmd.tables import Progress

_NAME_WIDTH = 32
_STAGES = {"sampling": "Sampling", "sketching": "Sketching"}


@final
class Watcher:
    """What the library reports to: it remembers counts, and moves a bar if there is one."""

    def __init__(self, bar: Any = None, *, resumed: bool = False) -> None:
        self._bar = bar
        self._resumed = resumed
        self._tasks: dict[tuple[str, str], tuple[Any, int]] = {}
        self._totals: dict[str, int] = {}
        self._began = time.monotonic()
        self._waiting = (
            None if bar is None else bar.add_task("Reading", total=None, text="")
        )
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
        if self._bar is not None:
            self._show(at, total)

    def _show(self, at: Progress, total: int | None) -> None:
        if self._waiting is not None:
            self._bar.remove_task(self._waiting)
            self._waiting = None
        key = (at.stage, at.source)
        if key not in self._tasks:
            # What a checkpoint had done already is not part of the speed.
            before = at.n_read if self._resumed and at.stage == "sketching" else 0
            name = shortened(at.source, _NAME_WIDTH)
            title = f"{_STAGES[at.stage]} {name}"
            self._tasks[key] = self._bar.add_task(title, total=total, text=""), before
        (task, before), now = self._tasks[key], time.monotonic()
        done, seconds = at.n_read - before, now - self._began
        speed = done / seconds if done > 0 and seconds > 0 else None
        text = sentence(at.n_read, total, speed)
        self._bar.update(task, completed=at.n_read, total=total, text=text)
        if at.parts_done == at.n_parts:
            self._began = now


@contextlib.contextmanager
def watching(*, quiet: bool, resumed: bool = False) -> Iterator[Watcher]:
    """Yield a watcher, with a bar if somebody can see it."""
    if quiet or not sys.stderr.isatty():
        yield Watcher()
        return
    with _make_bar() as bar:
        yield Watcher(bar, resumed=resumed)


@final
class ExperimentWatcher:
    """What experiments report to: one bar for all of them, and one for the part at work."""

    def __init__(self, n_experiments: int, bar: Any = None) -> None:
        self._bar = bar
        self._n_done = 0
        self._what: str | None = None
        self._part: Any = None
        self._began = time.monotonic()
        self._all = None
        if bar is not None:
            self._all = bar.add_task("Experiments", total=n_experiments, text="")

    def start(self, name: str, /) -> None:
        """Say that an experiment begins."""
        if self._bar is not None:
            self._bar.update(self._all, text=name)

    def end(self) -> None:
        """Say that it has ended."""
        self._n_done += 1
        if self._bar is not None:
            self._bar.update(self._all, completed=self._n_done)
            self._remove_part()

    def __call__(self, at: Step, /) -> None:
        """Take a report."""
        if self._bar is None:
            return
        now = time.monotonic()
        if at.what != self._what:
            self._remove_part()
            self._part = self._bar.add_task(at.what, total=at.total, text="")
            self._what, self._began = at.what, now
        text = steps(at.done, at.total, now - self._began)
        self._bar.update(self._part, completed=at.done, total=at.total, text=text)

    def _remove_part(self) -> None:
        if self._part is not None:
            self._bar.remove_task(self._part)
        self._part = self._what = None


@contextlib.contextmanager
def watching_experiments(
    n_experiments: int, /, *, quiet: bool
) -> Iterator[ExperimentWatcher]:
    """Yield a watcher of experiments, with bars if somebody can see them."""
    if quiet or not sys.stderr.isatty():
        yield ExperimentWatcher(n_experiments)
        return
    with _make_bar() as bar:
        yield ExperimentWatcher(n_experiments, bar)


def steps(done: int, total: int, seconds: float, /) -> str:
    """Return how far a number of steps has come, and how long the rest will take."""
    text = f"{done:,} of {total:,}"
    if 0 < done < total:
        left = dt.timedelta(seconds=round(seconds * (total - done) / done))
        text += f", {left} left"
    return text


def shortened(name: str, width: int, /) -> str:
    """Return the end of a long name: that is where names of files differ."""
    return name if len(name) <= width else "…" + name[1 - width :]


def _make_bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[text]}", markup=False),
        console=Console(stderr=True),
        transient=True,
    )


def sentence(n_read: int, total: int | None, speed: float | None, /) -> str:
    """Return how far a pass has come, how fast it is, and how long it will take."""
    if total is None or n_read >= total:
        text = f"{n_read:,} rows"
    else:
        text = f"{n_read:,} of {total:,} rows"
    if speed:
        text += f", {brief(speed)} rows/s"
        if total is not None and n_read < total:
            left = dt.timedelta(seconds=round((total - n_read) / speed))
            text += f", {left} left"
    return text


def brief(number: float, /) -> str:
    """Return a number with a unit: 950, 12.3 k, 1.45 M."""
    for unit in ("", " k", " M"):
        if number < 999.5:
            return f"{number:.3g}{unit}"
        number /= 1000
    return f"{number:.3g} G"
