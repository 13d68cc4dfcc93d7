"""The compute core: three primitives on arrays, nothing about kernels or statistics.

1. `sincos_sums`: sums over rows of the cosine and sine of phases;
2. `pair_sum`: sums of a function of all pairs of rows, without storing the matrix;
3. `walsh_hadamard`: the fast Walsh-Hadamard transform of rows.

`fastmmd._backends.numpy` is the reference: it defines the answers. Faster
implementations are compared with it by one conformance suite.
"""

from __future__ import annotations

from fastmmd._backends import native
from fastmmd._backends.numpy import pair_sum, self_pair_sum, sincos_sums
from fastmmd._backends.numpy import walsh_hadamard as _walsh_hadamard_numpy

__all__ = ["pair_sum", "self_pair_sum", "sincos_sums", "walsh_hadamard"]

walsh_hadamard = native.walsh_hadamard if native.available() else _walsh_hadamard_numpy
