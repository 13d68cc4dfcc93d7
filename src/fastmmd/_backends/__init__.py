"""The compute core: three primitives on arrays, nothing about kernels or statistics.

1. `matrix_feature_sums` and `fastfood_feature_sums`: sums, over the rows of each bin, of
   the cosine and sine of phases;
2. `pair_sum`, `self_pair_sum` and `bin_pair_sums`: sums of a function of all pairs of
   rows, in all or between bins, without storing the matrix;
3. `walsh_hadamard`: the fast Walsh-Hadamard transform of rows.

`fastmmd._backends.numpy` is the reference: it defines the answers. The compiled extension
is compared with it by one conformance suite, for every instruction set. The environment
variable ``FASTMMD_TARGET`` forces one of these, or ``numpy``.
"""

from __future__ import annotations

import os

from fastmmd._backends import native
from fastmmd._backends import numpy as reference
from fastmmd._backends.features import Channel, FastfoodBlocks, Places, single_radius
from fastmmd._backends.numpy import fastfood_phases, matrix_phases

__all__ = [
    "Channel",
    "FastfoodBlocks",
    "Places",
    "bin_pair_sums",
    "fastfood_feature_sums",
    "fastfood_phases",
    "matrix_feature_sums",
    "matrix_phases",
    "pair_sum",
    "self_pair_sum",
    "single_radius",
    "walsh_hadamard",
]


def use_native(wanted: str) -> bool:
    """Choose the instruction set named, or the best for an empty name.

    Returns whether the compiled extension is to be used at all.
    """
    if wanted == "numpy":
        return False
    if wanted:
        names = ["numpy", *native.targets()]
        if wanted not in names:
            msg = (
                "`FASTMMD_TARGET` must be empty or one of "
                f"{', '.join(names)} on this machine; got {wanted!r}."
            )
            raise ValueError(msg)
        native.use_target(wanted)
    return native.available()


if use_native(os.environ.get("FASTMMD_TARGET", "")):
    matrix_feature_sums = native.matrix_feature_sums
    fastfood_feature_sums = native.fastfood_feature_sums
    pair_sum = native.pair_sum
    self_pair_sum = native.self_pair_sum
    bin_pair_sums = native.bin_pair_sums
    walsh_hadamard = native.walsh_hadamard
else:
    matrix_feature_sums = reference.matrix_feature_sums
    fastfood_feature_sums = reference.fastfood_feature_sums
    pair_sum = reference.pair_sum
    self_pair_sum = reference.self_pair_sum
    bin_pair_sums = reference.bin_pair_sums
    walsh_hadamard = reference.walsh_hadamard
