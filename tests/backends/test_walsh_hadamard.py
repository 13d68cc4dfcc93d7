"""The Walsh-Hadamard transform of every backend, at all lengths and in both precisions."""

from __future__ import annotations

import os

import numpy as np
import precision
import pytest
import scipy.linalg

import fastmmd
from fastmmd import _backends
from fastmmd._backends import native
from fastmmd._backends import numpy as reference

# Shorter than a register, all levels within one, odd numbers of levels, and rows beyond
# the first cache (4096 numbers in single precision, 2048 in double) by one to four levels.
LENGTHS = [2**k for k in range(17)]


def some_outputs(rows, places):
    """Return chosen outputs by the definition: signs (-1)^(bits that i and j share)."""
    inputs = np.arange(rows.shape[1])
    signs = 1.0 - 2.0 * (np.bitwise_count(inputs & places[:, None]) % 2)
    return rows @ signs.T


@pytest.mark.parametrize("length", LENGTHS)
def test_the_transform_is_exact_on_whole_numbers(backend, length, rng):
    rows = rng.integers(-99, 100, size=(3, length)).astype(float)
    found = backend.walsh_hadamard(rows)
    places = np.unique(
        np.concatenate([[0, length - 1, length // 2], rng.integers(0, length, 12)])
    )
    np.testing.assert_array_equal(found[:, places], some_outputs(rows, places))
    # All outputs at once: the transform is its own inverse, up to the length.
    np.testing.assert_array_equal(backend.walsh_hadamard(found), length * rows)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.usefixtures("compiled")
def test_single_precision_is_exact_on_whole_numbers(length, rng):
    # Sums of up to 65536 numbers of at most 9: below 2^24.
    rows = rng.integers(-9, 10, size=(3, length)).astype(np.float32)
    expected = reference.walsh_hadamard(rows)
    native._extension().walsh_hadamard(rows)
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.usefixtures("compiled")
def test_rounding_grows_with_the_levels(dtype, rng):
    roundoff = precision.SINGLE if dtype == np.float32 else precision.DOUBLE
    for length in LENGTHS:
        rows = rng.normal(size=(2, length)).astype(dtype)
        exact = reference.walsh_hadamard(rows.astype(float))
        native._extension().walsh_hadamard(rows)
        # Each level rounds a sum by one roundoff of itself: of lengths, as all levels
        # keep these in proportion. Twice, for the reference's own in double precision.
        lengths = np.linalg.norm(exact, axis=1)
        errors = np.linalg.norm(rows - exact, axis=1)
        assert (errors <= 2 * np.log2(2 * length) * roundoff * lengths).all()


@pytest.mark.parametrize("length", [1, 2, 4, 8, 16, 32, 256, 1024])
@pytest.mark.parametrize("n_rows", [0, 1, 3, 17])
def test_the_transform_is_the_product_with_the_matrix(backend, length, n_rows, rng):
    rows = rng.normal(size=(n_rows, length))
    expected = rows @ scipy.linalg.hadamard(length)
    # log2(length) additions of numbers whose sizes add up to at most |row|_1, and the
    # product's own length additions.
    sizes = np.abs(rows).sum(axis=1, keepdims=True)
    bound = (np.log2(length) + length) * precision.DOUBLE * sizes
    assert (np.abs(backend.walsh_hadamard(rows) - expected) <= bound).all()


def test_any_layout_is_taken_and_left_alone(backend, rng):
    base = rng.integers(-9, 10, size=(6, 32)).astype(float)
    for rows in (base, base[:, ::2], np.asfortranarray(base), base[::-1], base[:, ::-1]):
        before = rows.copy()
        rows.flags.writeable = False
        expected = before @ scipy.linalg.hadamard(rows.shape[1])
        np.testing.assert_array_equal(backend.walsh_hadamard(rows), expected)
        np.testing.assert_array_equal(rows, before)


def test_more_axes_are_rows(backend, rng):
    values = rng.integers(-9, 10, size=(2, 3, 4, 8)).astype(float)
    expected = values @ scipy.linalg.hadamard(8)
    np.testing.assert_array_equal(backend.walsh_hadamard(values), expected)
    np.testing.assert_array_equal(
        backend.walsh_hadamard(values[0, 0, 0]), expected[0, 0, 0]
    )


def test_denormals_and_huge_numbers(backend):
    tiny = np.full((1, 4), 5e-324)
    np.testing.assert_array_equal(
        backend.walsh_hadamard(tiny), [[4 * 5e-324, 0.0, 0.0, 0.0]]
    )
    huge = np.full((1, 2), 1e300)
    np.testing.assert_array_equal(backend.walsh_hadamard(huge), [[2e300, 0.0]])


@pytest.mark.parametrize("length", [1, 64, 32768])
def test_threads_do_not_matter(compiled, length, rng):
    # A unit of work is 2^18 numbers.
    rows = rng.normal(size=(2**19 // length + 1, length))
    results = []
    for n_threads in (1, 2, 3, 8):
        with fastmmd.threads(n_threads):
            results.append(compiled.walsh_hadamard(rows))
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


@pytest.mark.skipif(
    bool(os.environ.get("FASTMMD_TARGET")), reason="FASTMMD_TARGET chooses another"
)
def test_the_fastest_implementation_is_used():
    names = ["matrix_feature_sums", "fastfood_feature_sums", "pair_sum"]
    names += ["self_pair_sum", "bin_pair_sums", "walsh_hadamard"]
    expected = native if native.available() else reference
    for name in names:
        assert getattr(_backends, name) is getattr(expected, name)
    if native.available():
        assert native.target() == native.targets()[-1]
