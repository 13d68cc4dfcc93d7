"""scikit-learn's ``RBFSampler`` and the mean of its features.

Its features are cosines with random phases, as many as we draw frequencies; they have no
constant length, so the unbiased estimate cannot be had from their means.
"""

from __future__ import annotations

import numpy as np
from sklearn.kernel_approximation import RBFSampler

from compare.common import Data, Way


def estimate(data: Data, seed: int) -> float:
    sampler = RBFSampler(
        gamma=0.5 / data.bandwidth**2,
        n_components=data.n_frequencies,
        random_state=seed,
    ).fit(data.x)
    mean_x, mean_y = (sampler.transform(rows).mean(axis=0) for rows in (data.x, data.y))
    return float(np.sum((mean_x - mean_y) ** 2))


WAYS = (Way("RBFSampler", estimate, target="biased"),)
