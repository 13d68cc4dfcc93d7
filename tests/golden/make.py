"""Write the sketch files of this folder: ``python tests/golden/make.py``.

Files of a released version stay for good, so that every later version is known to read
them. Run this again only before a release, or to add files for a new format.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import fastmmd

FOLDER = Path(__file__).parent


def rows(n_rows, n_columns, *, start=0):
    """Return rows that are the same everywhere: whole numbers divided by 32."""
    i = np.arange(start, start + n_rows)[:, None]
    j = np.arange(n_columns)
    return ((7919 * i * i + 104729 * j + 31 * i * j) % 257 - 128) / 32


def sketches():
    """Return the sketches by the names of their files."""
    one = fastmmd.Sketch(
        fastmmd.Gaussian(1.5),
        2,
        n_frequencies=4,
        n_bins=4,
        stream="golden",
        center=[0.25, -1.0],
    )
    family = fastmmd.Sketch(
        [
            fastmmd.Gaussian(1.0),
            fastmmd.Gaussian(0.5),
            fastmmd.Laplace(2.0),
            fastmmd.Matern(1.0, nu=1.5),
            fastmmd.RationalQuadratic(1.0, alpha=0.75),
            fastmmd.Cauchy(3.0),
            fastmmd.Mixture([fastmmd.Gaussian(1.0), fastmmd.Gaussian(4.0)], [1.0, 2.0]),
            2.5 * fastmmd.Gaussian(1.0),
        ],
        3,
        n_frequencies=[4, 8, 4, 4, 4, 4, 4, 4],
        n_bins=8,
        rng=12,
        stream=b"golden",
    )
    # Eight columns: directions are orthogonal there, where few columns have Sobol points.
    merged = fastmmd.Sketch(
        fastmmd.Gaussian(4.0), 8, n_frequencies=16, n_bins=16, rng=2**64, stream=1
    )
    other = merged.like(stream=2)
    empty = one.like(stream="nothing")
    one.update(rows(50, 2))
    family.update(rows(100, 3))
    merged.update(rows(40, 8))
    other.update(rows(60, 8, start=40))
    merged.merge(other)
    return {
        "v1-one-kernel.mmd": one,
        "v1-family.mmd": family,
        "v1-merged.mmd": merged,
        "v1-empty.mmd": empty,
    }


if __name__ == "__main__":
    for name, sketch in sketches().items():
        sketch.save(FOLDER / name)
