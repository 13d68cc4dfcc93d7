"""goodpoints: the tests by compression (``ctt``) and by random features (``rff``).

Its Gaussian kernel is exp(-|x - y|^2 / lam^2). Both keep their own default of 39
relabellings. ``rejects`` is a probability, because ties at the threshold are broken at
random; the p-value given here is 0 or 1 by a draw of it.
"""

from __future__ import annotations

import math

import numpy as np
from goodpoints import ctt

from compare.common import LEVEL, Data, Way, only_dense

COMPRESSION = 2  # its g: coresets of 2^g times the root of the rows in each bin


def scale(data: Data) -> float:
    return math.sqrt(2.0) * data.bandwidth


def rff_test(data: Data, seed: int) -> float:
    found = ctt.rff(
        data.x.astype(np.float64, copy=False),
        data.y.astype(np.float64, copy=False),
        data.n_frequencies,
        lam=scale(data),
        null_seed=seed,
        statistic_seed=seed + 1,
        alpha=LEVEL,
    )
    return decide(found.rejects, seed)


def compressed_test(data: Data, seed: int) -> float:
    found = ctt.ctt(
        data.x.astype(np.float64, copy=False),
        data.y.astype(np.float64, copy=False),
        COMPRESSION,
        lam=scale(data),
        null_seed=seed,
        statistic_seed=seed + 1,
        alpha=LEVEL,
    )
    return decide(found.rejects, seed)


def decide(probability: float, seed: int) -> float:
    draw = np.random.default_rng([7, seed]).random()
    return 0.0 if draw < float(np.squeeze(probability)) else 1.0


WAYS = (
    Way(
        "rff",
        rff_test,
        "test",
        "",
        note="39 relabellings of rows, its default",
        refuses=only_dense,
    ),
    Way(
        f"ctt, g = {COMPRESSION}",
        compressed_test,
        "test",
        "",
        note="39 relabellings of bins, its default",
        refuses=only_dense,
    ),
)
