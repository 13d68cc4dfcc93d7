"""PyTorch on the processor: the textbook formula, and float32 in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from compare.common import Data, Way, mmd2_from_means

BLOCK_NUMBERS = 1 << 18


def tensor(rows: Any, dtype: torch.dtype) -> torch.Tensor:
    if isinstance(rows, np.ndarray):
        return torch.from_numpy(rows).to(dtype)
    parts = (torch.from_numpy(part) for part in (rows.indptr, rows.indices, rows.data))
    return torch.sparse_csr_tensor(*parts, size=rows.shape, dtype=dtype)


def textbook(data: Data, seed: int) -> float:
    w = torch.from_numpy(data.frequencies(seed)).T

    def mean_features(rows: Any) -> np.ndarray:
        phases = tensor(rows, torch.float64) @ w
        return (phases.cos().mean(0) + 1j * phases.sin().mean(0)).numpy()

    means = (mean_features(rows) for rows in (data.x, data.y))
    return mmd2_from_means(*means, data.x.shape[0], data.y.shape[0])[0]


def blocked(data: Data, seed: int) -> float:
    w = torch.from_numpy(data.frequencies(seed, "float32")).T.contiguous()
    size = max(64, BLOCK_NUMBERS // data.n_frequencies)

    def mean_features(rows: Any) -> np.ndarray:
        total = torch.zeros(data.n_frequencies, dtype=torch.complex128)
        for start in range(0, rows.shape[0], size):
            phases = tensor(rows[start : start + size], torch.float32) @ w
            total += torch.complex(phases.cos().sum(0), phases.sin().sum(0))
        return (total / rows.shape[0]).numpy()

    means = (mean_features(rows) for rows in (data.x, data.y))
    return mmd2_from_means(*means, data.x.shape[0], data.y.shape[0])[0]


WAYS = (
    Way("features, float64", textbook),
    Way("features, float32 in blocks", blocked),
)
