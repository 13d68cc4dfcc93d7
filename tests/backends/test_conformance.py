"""One suite for every implementation of the primitives; NumPy's defines the answers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from fastmmd import _backends
from fastmmd._backends import native
from fastmmd._backends import numpy as reference

WALSH_HADAMARD = {"numpy": reference.walsh_hadamard, "native": native.walsh_hadamard}
EPS = np.finfo(float).eps


@pytest.fixture(params=sorted(WALSH_HADAMARD))
def walsh_hadamard(request):
    if request.param == "native" and not native.available():
        pytest.skip("installed without the compiled extension")
    return WALSH_HADAMARD[request.param]


@pytest.mark.parametrize("length", [1, 2, 4, 8, 16, 32, 256, 1024])
@pytest.mark.parametrize("n_rows", [0, 1, 3, 17])
def test_walsh_hadamard_is_the_product_with_the_matrix(
    walsh_hadamard, length, n_rows, rng
):
    rows = rng.normal(size=(n_rows, length))
    expected = rows @ scipy.linalg.hadamard(length)
    # log2(length) additions of numbers whose sizes add up to at most |row|_1.
    atol = (
        16 * EPS * max(1, length.bit_length()) * np.abs(rows).sum(axis=1).max(initial=1)
    )
    np.testing.assert_allclose(walsh_hadamard(rows), expected, rtol=0, atol=atol)


def test_walsh_hadamard_twice_is_a_multiple(walsh_hadamard, rng):
    # Small whole numbers: every sum is exact.
    rows = rng.integers(-9, 10, (5, 64)).astype(float)
    np.testing.assert_array_equal(walsh_hadamard(walsh_hadamard(rows)), 64 * rows)


def test_walsh_hadamard_leaves_its_input_alone(walsh_hadamard, rng):
    base = rng.normal(size=(6, 32))
    for rows in (base, base[:, ::2], np.asfortranarray(base), base[::-1]):
        before = rows.copy()
        rows.flags.writeable = False
        length = rows.shape[1]
        expected = before @ scipy.linalg.hadamard(length)
        np.testing.assert_allclose(walsh_hadamard(rows), expected, atol=1e-12)
        np.testing.assert_array_equal(rows, before)


def test_walsh_hadamard_of_denormals_and_huge_numbers(walsh_hadamard):
    tiny = np.full((1, 4), 5e-324)
    np.testing.assert_array_equal(walsh_hadamard(tiny), [[4 * 5e-324, 0.0, 0.0, 0.0]])
    huge = np.full((1, 2), 1e300)
    np.testing.assert_array_equal(walsh_hadamard(huge), [[2e300, 0.0]])


def test_the_fastest_implementation_is_used():
    expected = native.walsh_hadamard if native.available() else reference.walsh_hadamard
    assert _backends.walsh_hadamard is expected
