"""KeOps on the processor: sums that are compiled for the formula and never stored."""

from __future__ import annotations

import numpy as np
import pykeops
from pykeops.numpy import LazyTensor

from compare.common import (
    Data,
    Problem,
    Way,
    mmd2_from_means,
    mmd2_from_sums,
    only_dense,
)

pykeops.set_verbose(False)


def pair_sum(x: np.ndarray, y: np.ndarray) -> float:
    squares = ((LazyTensor(x[:, None, :]) - LazyTensor(y[None, :, :])) ** 2).sum(-1)
    return float((-0.5 * squares).exp().sum(1).sum())


def exact(data: Data, _seed: int) -> float:
    x, y = (rows.astype(np.float64) / data.bandwidth for rows in (data.x, data.y))
    sums = pair_sum(x, x), pair_sum(y, y), pair_sum(x, y)
    return mmd2_from_sums(*sums, len(x), len(y))[0]


def features(data: Data, seed: int) -> float:
    w = LazyTensor(data.frequencies(seed, "float32")[:, None, :])

    def mean_features(rows: np.ndarray) -> np.ndarray:
        phases = (w * LazyTensor(rows.astype(np.float32)[None, :, :])).sum(-1)
        total = phases.cos().sum(1) + 1j * phases.sin().sum(1)
        return total[:, 0] / len(rows)

    means = (mean_features(rows) for rows in (data.x, data.y))
    return mmd2_from_means(*means, len(data.x), len(data.y))[0]


def refuses(problem: Problem) -> str:
    # Each row becomes local variables of the compiled loop.
    if problem.n_columns > 2048:
        return "not made for so many columns"
    return only_dense(problem)


WAYS = (
    Way(
        "double sum, float64",
        exact,
        pairwise=True,
        random=False,
        compiles=True,
        refuses=refuses,
    ),
    Way("features, float32", features, compiles=True, refuses=refuses),
)
