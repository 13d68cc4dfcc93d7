"""dcor's energy distance: another distance between distributions, for the same question."""

from __future__ import annotations

import dcor
import numpy as np
from dcor.homogeneity import energy_test

from compare.common import Data, Way, only_dense

N_RESAMPLES = 199


def distance(data: Data, _seed: int) -> float:
    return float(dcor.energy_distance(data.x, data.y))


def test(data: Data, seed: int) -> float:
    # It takes the older kind of generator as well, but this one is enough.
    rng = np.random.default_rng(seed)
    found = energy_test(data.x, data.y, num_resamples=N_RESAMPLES, random_state=rng)
    return float(found.pvalue)


WAYS = (
    Way(
        "energy distance",
        distance,
        target="",
        pairwise=True,
        random=False,
        compiles=True,
        note="another distance",
        refuses=only_dense,
    ),
    Way(
        "energy test",
        test,
        "test",
        "",
        pairwise=True,
        compiles=True,
        note=f"{N_RESAMPLES} relabellings of rows",
        refuses=only_dense,
    ),
)
