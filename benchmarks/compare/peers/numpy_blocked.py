"""Random Fourier features in NumPy, written for speed: float32, blocks that stay in cache."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from compare.common import Data, Way, mmd2_from_means

# Phases, cosines and sines of a block, 4 bytes each: together about half a megabyte.
BLOCK_NUMBERS = 1 << 16


def mean_features(rows: Any, w: np.ndarray) -> np.ndarray:
    n_rows, n_frequencies = rows.shape[0], len(w)
    size = max(16, BLOCK_NUMBERS // n_frequencies)
    w = np.ascontiguousarray(w.T)
    phases, values = np.empty((2, size, n_frequencies), dtype=np.float32)
    cosines, sines = np.zeros((2, n_frequencies))
    for start in range(0, n_rows, size):
        block = rows[start : start + size].astype(np.float32, copy=False)
        k = block.shape[0]
        if isinstance(block, np.ndarray):
            np.matmul(block, w, out=phases[:k])
        else:
            phases[:k] = block @ w
        cosines += np.cos(phases[:k], out=values[:k]).sum(axis=0)
        sines += np.sin(phases[:k], out=values[:k]).sum(axis=0)
    return (cosines + 1j * sines) / n_rows


def estimate(data: Data, seed: int) -> float:
    w = data.frequencies(seed, "float32")
    means = (mean_features(rows, w) for rows in (data.x, data.y))
    return mmd2_from_means(*means, data.x.shape[0], data.y.shape[0])[0]


def reference(data: Data, n_frequencies: int) -> dict[str, float]:
    """Return both estimates from many frequencies, with standard errors over them."""
    rng = np.random.default_rng(31415)
    shape = (128, data.problem.n_columns)
    found = []
    for _ in range(n_frequencies // 128):
        w = rng.standard_normal(shape, dtype=np.float32) / np.float32(data.bandwidth)
        means = (mean_features(rows, w) for rows in (data.x, data.y))
        found.append(mmd2_from_means(*means, data.x.shape[0], data.y.shape[0]))
    unbiased, biased = np.mean(found, axis=0)
    spread = np.std([u for u, _ in found], ddof=1) / math.sqrt(len(found))
    return {
        "unbiased": float(unbiased),
        "biased": float(biased),
        "standard_error": float(spread),
    }


WAYS = (Way("features, float32 in blocks", estimate),)
