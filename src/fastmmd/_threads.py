"""How many threads the compiled kernels may use."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

from fastmmd._validation import check_count

if TYPE_CHECKING:
    from collections.abc import Iterator

_VARIABLES = ("FASTMMD_NUM_THREADS", "OMP_NUM_THREADS")
"""Where the number is looked up, first come first served."""

_chosen: contextvars.ContextVar[int | None] = contextvars.ContextVar(
    "fastmmd_n_threads", default=None
)


@contextlib.contextmanager
def threads(n_threads: int | None, /) -> Iterator[None]:
    """Limit the threads of everything computed inside a ``with`` block.

    Parameters
    ----------
    n_threads : int or None
        At most so many threads; None changes nothing.

    Yields
    ------
    None
        The block runs under the limit.

    See Also
    --------
    fastmmd.two_sample_test : Takes `n_threads` itself, and so does `fastmmd.mmd`.

    Notes
    -----
    Without it the number is that of the environment variable ``FASTMMD_NUM_THREADS``, else
    ``OMP_NUM_THREADS``, else the processors that this process may use. The limit belongs
    to the current thread or task, not to the whole process. Results do not depend on it.

    Examples
    --------
    >>> import fastmmd
    >>> with fastmmd.threads(1):
    ...     fastmmd.mmd([0.0, 1.0], [2.0, 3.0], kernel=fastmmd.Gaussian(1.0)).mmd2
    0.7689
    """
    if n_threads is None:
        yield
        return
    token = _chosen.set(check_count(n_threads, name="n_threads"))
    try:
        yield
    finally:
        _chosen.reset(token)


def n_threads() -> int:
    """Return how many threads to use now."""
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    for name in _VARIABLES:
        # OpenMP allows a list, one number for each level of nesting.
        first = os.environ.get(name, "").split(",")[0].strip()
        if first.isdecimal() and int(first) > 0:
            return int(first)
    return _usable_processors()


def _usable_processors() -> int:
    """Return the processors of this process: its affinity and its container's quota."""
    if hasattr(os, "sched_getaffinity"):
        available = len(os.sched_getaffinity(0))
    else:  # pragma: no cover - not on Linux
        available = os.cpu_count() or 1
    return int(max(1, min(available, _container_processors())))


@functools.cache
def _container_processors() -> float:
    """Return the processors that the container's quota pays for; read once."""
    with contextlib.suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text("ascii").split()
        if quota != "max":
            return -(-int(quota) // int(period))
    return math.inf
