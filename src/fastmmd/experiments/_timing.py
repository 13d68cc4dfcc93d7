"""Measuring time and memory, and what a power law makes of the times."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Value = TypeVar("Value")

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


class Timing(NamedTuple):
    """The median time of one run, and how many runs it is the median of."""

    seconds: float
    runs: int


_SECONDS_A_RUN = 0.04
_MOST_RUNS = 100


def median_time(
    run: Callable[[], object], /, *, runs: int, most_seconds: float = 2.0
) -> Timing:
    """Return the median time of at least `runs` runs after a first one that is not counted.

    The first run loads what is loaded on demand. If it takes longer than `most_seconds`
    it is the only one and counts; otherwise runs end when they took so long together.
    Short runs are repeated for 0.04 s times `runs`, up to a hundred times.
    """
    _, first = timed(run)
    if first > most_seconds:
        return Timing(first, 1)
    times: list[float] = []
    enough = _SECONDS_A_RUN * runs
    while sum(times) <= most_seconds and (
        len(times) < runs or (sum(times) < enough and len(times) < _MOST_RUNS)
    ):
        times.append(timed(run)[1])
    return Timing(float(np.median(times)), len(times))


def timed(run: Callable[[], Value], /) -> tuple[Value, float]:
    """Return what a run returns and how long it took."""
    start = time.perf_counter()
    value = run()
    return value, time.perf_counter() - start


def growth(sizes: Sequence[float], seconds: Sequence[float], /) -> float:
    """Return the power of the size that the time follows: a straight line of logarithms."""
    slope, _ = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return float(slope)


def extrapolate(size: float, seconds: float, to: float, /, *, power: float) -> float:
    """Return the time at another size, from one that was measured."""
    return seconds * (to / size) ** power


class PeakMemory:
    """How much more memory the process came to hold than at the start; Linux only.

    Examples
    --------
    >>> with PeakMemory() as peak:
    ...     rows = bytearray(2**20)
    >>> peak.nbytes is None or peak.nbytes >= 0
    True
    """

    __slots__ = ("_before", "nbytes")

    def __init__(self) -> None:
        self.nbytes: int | None = None
        self._before: int | None = None

    def __enter__(self) -> Self:
        with contextlib.suppress(OSError):
            # Sets the peak to what is held now.
            _CLEAR.write_text("5", encoding="ascii")
            self._before = _peak()
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            self.nbytes = max(0, _peak() - self._before)


def _peak() -> int:
    """Return the most bytes that the process has held since the peak was reset."""
    for line in _STATUS.read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    raise OSError
