"""Time of the compiled fast Walsh-Hadamard transform."""

from __future__ import annotations

import numpy as np
import pytest

from fastmmd._backends import native


@pytest.mark.skipif(not native.available(), reason="the extension was not compiled")
@pytest.mark.parametrize("length", [16, 256, 4096])
def test_walsh_hadamard_of_a_million_values(benchmark, length):
    values = np.random.default_rng(0).normal(size=(2**20 // length, length))
    result = benchmark(native.walsh_hadamard, values)
    # Twice the transform is `length` times the identity. Each of the 2 log2(length) levels
    # adds at most eps times the length of the row vector to the error.
    norm = np.linalg.norm(values, axis=1).max()
    bound = 2 * np.log2(length) * np.finfo(np.float64).eps * norm
    again = native.walsh_hadamard(result) / length
    np.testing.assert_allclose(again, values, rtol=0, atol=bound)
