"""Pieces of the work on files, small and plain enough to be sent anywhere."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from fastmmd._validation import check_count
from fastmmd.tables import Part
from fastmmd.tables.formats import File, Memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastmmd.tables import Source

TASK_ROWS = 2**20
"""Rows of a task: seconds of work, so that its own cost and a retry are cheap."""

_MOST_TASKS = 4096
"""Tasks that a source is cut into at most, unless asked: each returns a sketch."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Some consecutive parts of a source.

    Parameters
    ----------
    source : Source
        The source, with no more files than the parts are in.
    parts : tuple of Part
        The parts.
    first : int
        Number of the first part among all parts of the source.
    """

    source: Source
    parts: tuple[Part, ...]
    first: int

    def to_json(self) -> str:
        """Return what tells the task from others, as text."""
        return json.dumps(
            {
                "files": [dataclasses.astuple(file) for file in self.source.files],
                "parts": [part.to_json() for part in self.parts],
                "first": self.first,
            }
        )

    @classmethod
    def from_json(cls, shell: Source, text: str, /) -> Task:
        """Return the task that `to_json` described, of the source that `shell` is of."""
        value = json.loads(text)
        files = tuple(_file(entry) for entry in value["files"])
        source = dataclasses.replace(shell, files=files)
        parts = tuple(Part.from_json(part) for part in value["parts"])
        return cls(source, parts, value["first"])


def shell_of(source: Source, /) -> Source:
    """Return a source without its files: what all tasks have in common."""
    if isinstance(source.format_, Memory):
        msg = (
            "data must be paths, or what the engine itself holds; got a table in the memory "
            "of this process. `fastmmd.tables` takes it as it is."
        )
        raise TypeError(msg)
    return dataclasses.replace(source, files=(), layouts=())


def check_task_rows(task_rows: Any, /) -> int | None:
    """Return the number of rows of a task; None to let the data decide."""
    return None if task_rows is None else check_count(task_rows, name="task_rows")


def tasks_of(source: Source, task_rows: int | None, /) -> list[str]:
    """Return the work on a source as tasks of about `task_rows` rows, each as text.

    Sums do not depend on how parts are shared out: only time does.
    """
    shell_of(source)
    parts = source.parts()
    task_rows = check_task_rows(task_rows)
    if task_rows is None:
        n_rows = sum(part.n_rows or 0 for part in parts)
        task_rows = max(TASK_ROWS, -(-n_rows // _MOST_TASKS))
    files = {file.identity: file for file in source.files}
    groups: list[list[Part]] = []
    n_waiting: float = float("inf")
    for part in parts:
        # How long a part of unknown size takes is unknown too: it stays alone.
        n = float("inf") if part.n_rows is None else part.n_rows
        if n_waiting + n > task_rows:
            groups.append([])
            n_waiting = 0
        groups[-1].append(part)
        n_waiting += n
    tasks, first = [], 0
    for group in groups:
        own = _files_of(group, files)
        tasks.append(Task(dataclasses.replace(source, files=own), tuple(group), first))
        first += len(group)
    return [task.to_json() for task in tasks]


def _files_of(parts: Sequence[Part], files: dict[str, File]) -> tuple[File, ...]:
    return tuple(files[name] for name in dict.fromkeys(part.file for part in parts))


def _file(entry: Sequence[Any]) -> File:
    path, identity, size, modified, partition, label = entry
    pairs = tuple((name, value) for name, value in partition)
    return File(path, identity, size, modified, pairs, label)
