"""What the machine can do at best: bare products of a shape, and its general rates.

The product of a problem's shape is timed like a peer, in turns with the others. Rates are
measured once a run, on as many threads as the peers have.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from compare.common import Data, Way

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCK_NUMBERS = 1 << 18
_prepared: dict[str, Any] = {}


def prepare(data: Data) -> dict[str, Any]:
    """Return rows and frequencies in float32: converting them is not part of the ceiling."""
    if _prepared.get("problem") != data.problem:
        _prepared.clear()
        rows = [
            sample[i : i + size].astype(np.float32)
            for size in [max(16, BLOCK_NUMBERS // data.n_frequencies)]
            for sample in (data.x, data.y)
            for i in range(0, sample.shape[0], size)
        ]
        w = np.ascontiguousarray(data.frequencies(0, "float32").T)
        _prepared.update(problem=data.problem, rows=rows, w=w)
    return _prepared


def product(data: Data, _seed: int) -> float:
    """Return the seconds of all products; the caller's own time includes the preparation."""
    ready = prepare(data)
    w, rows = ready["w"], ready["rows"]
    out = np.empty((rows[0].shape[0], w.shape[1]), dtype=np.float32)
    start = time.perf_counter()
    for block in rows:
        if data.is_sparse:
            block @ w
        else:
            np.matmul(block, w, out=out[: block.shape[0]])
    return time.perf_counter() - start


def whole_product(data: Data, _seed: int) -> float:
    """Return the seconds of one product of the whole matrices, its result in memory."""
    ready = prepare(data)
    if "whole" not in ready:
        if data.is_sparse:
            import scipy.sparse

            ready["whole"] = scipy.sparse.vstack(ready["rows"]).tocsr()
        else:
            ready["whole"] = np.concatenate(ready["rows"])
    start = time.perf_counter()
    ready["whole"] @ ready["w"]
    return time.perf_counter() - start


def rates(*, scale: float = 1.0) -> dict[str, float]:
    """Return the general rates of the machine, a second; `scale` shrinks the work."""
    threads = len(os.sched_getaffinity(0))
    side = 256 * max(1, round(16 * scale))
    a, b = np.ones((2, side, side), dtype=np.float32)
    length = int(scale * (1 << 27))
    source, target = np.ones((2, length), dtype=np.float32)
    halves = [
        slice(i * length // threads, (i + 1) * length // threads) for i in range(threads)
    ]
    small = [np.linspace(-3.0, 3.0, 1 << 15, dtype=np.float32) for _ in range(threads)]
    outs = [np.empty_like(piece) for piece in small]
    loops = max(1, int(200 * scale))
    with ThreadPoolExecutor(threads) as pool:

        def spread(task: Callable[[int], None]) -> Callable[[], None]:
            return lambda: list(pool.map(task, range(threads))) and None

        def copy(i: int) -> None:
            np.copyto(target[halves[i]], source[halves[i]])

        def add_up(i: int) -> None:
            source[halves[i]].sum()

        def cosines(i: int) -> None:
            for _ in range(loops):
                np.cos(small[i], out=outs[i])

        def sines(i: int) -> None:
            for _ in range(loops):
                np.sin(small[i], out=outs[i])

        def polynomial(i: int) -> None:
            for _ in range(loops):
                out = outs[i]
                np.multiply(small[i], np.float32(0.1), out=out)
                for _ in range(5):
                    out += np.float32(0.5)
                    out *= small[i]

        values = threads * loops * small[0].size
        return {
            "threads": threads,
            "sgemm_flops": 2.0 * side**3 / best(lambda: a @ b),
            "sgemm_side": side,
            "copy_bytes": 2.0 * source.nbytes / best(spread(copy)),
            "sum_bytes": source.nbytes / best(spread(add_up)),
            "cosines": values / best(spread(cosines)),
            "sines": values / best(spread(sines)),
            "polynomials": values / best(spread(polynomial)),
        }


def best(task: Callable[[], Any], repeats: int = 5) -> float:
    """Return the least of some times: a ceiling is what the machine can do."""
    task()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return min(times)


WAYS = (
    Way("bare product, float32 in blocks", product, "ceiling", "", random=False),
    Way("bare product, float32 whole", whole_product, "ceiling", "", random=False),
)
