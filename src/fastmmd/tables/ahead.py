"""Read parts in background threads, in order, while the caller computes.

Each part that is being read has a thread and a short queue of its own, so that a few parts
are decoded at once but never more than a few batches are in memory. What comes out is the
same whatever the threads do: batches in the order of the parts.
"""

from __future__ import annotations

import collections
import itertools
import queue
import threading
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fastmmd.tables.part import Batch, Part
    from fastmmd.tables.source import Source

N_READERS = 2
"""Parts read at once."""

_DEPTH = 1
"""Batches that wait in each queue."""

_PATIENCE = 0.1
"""Seconds after which a waiting thread looks whether anybody still wants its batches."""


def read_ahead(
    source: Source,
    parts: Sequence[Part],
    columns: Sequence[str],
    /,
    *,
    batch_rows: int,
    first_part: int = 0,
    skip: int = 0,
) -> Iterator[tuple[int, Batch | None]]:
    """Yield the number of a part and a batch of it; None at the end of each part.

    Reading starts at part `first_part`, after `skip` of its rows.
    """
    waiting: collections.deque[tuple[int, _Reader]] = collections.deque()
    numbers = iter(range(first_part, len(parts)))

    def start(count: int) -> None:
        for i in itertools.islice(numbers, count):
            rows = skip if i == first_part else 0
            batches = source.read(parts[i], columns, batch_rows=batch_rows, skip=rows)
            waiting.append((i, _Reader(batches)))

    try:
        start(N_READERS)
        while waiting:
            i, reader = waiting[0]
            for batch in reader:
                yield i, batch
            waiting.popleft()
            start(1)
            yield i, None
    finally:
        for _, reader in waiting:
            reader.stop()


@final
class _Reader:
    """A thread that runs through an iterator a little ahead of whoever asks for items."""

    def __init__(self, batches: Iterator[Batch]) -> None:
        self._batches = batches
        self._queue: queue.Queue[Any] = queue.Queue(_DEPTH)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[Batch]:
        while True:
            kind, value = self._queue.get()
            if kind == "batch":
                yield value
                continue
            self._thread.join()
            if kind == "error":
                raise value
            return

    def stop(self) -> None:
        """Let the thread end after the batch it is reading."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            for batch in self._batches:
                if not self._put("batch", batch):
                    return
            self._put("end", None)
        except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
            self._put("error", error)

    def _put(self, kind: str, value: Any) -> bool:
        while not self._stopped.is_set():
            try:
                self._queue.put((kind, value), timeout=_PATIENCE)
            except queue.Full:
                continue
            return True
        return False
