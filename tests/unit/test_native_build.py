"""The compiled extension is there, and transforms rows as the Hadamard matrix does."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest
import scipy.linalg

from fastmmd._backends import native
from fastmmd._errors import MissingDependencyError

needs_extension = pytest.mark.skipif(
    not native.available(), reason="the extension was not compiled"
)

SIZES = [2**k for k in range(11)]


@pytest.fixture
def extension():
    return pytest.importorskip("fastmmd._native", exc_type=ImportError)


@pytest.mark.skipif(
    os.environ.get("FASTMMD_ALLOW_PURE") == "1", reason="FASTMMD_ALLOW_PURE=1"
)
def test_pure_python_fallback_was_not_taken_by_accident():
    assert native.available(), (
        "fastmmd was installed without its compiled extension; if that is intended, "
        "set FASTMMD_ALLOW_PURE=1"
    )


def test_build_info_says_how_it_was_compiled(extension):
    info = extension.build_info()
    assert set(info) == {"compiler", "cpp_standard", "build_type"}
    assert info["cpp_standard"] >= 202002
    assert info["compiler"]
    assert info["build_type"] == "Release"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_transform_is_exact_on_small_integers(extension, dtype, size):
    # Sums of at most 1024 integers below 100 are exact in float32 too.
    rng = np.random.default_rng(size)
    values = rng.integers(-99, 100, size=(3, size)).astype(dtype)
    expected = values @ scipy.linalg.hadamard(size, dtype=dtype)
    extension.walsh_hadamard(values)
    np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_transform_of_real_numbers(extension, dtype, size):
    rng = np.random.default_rng(size)
    values = rng.normal(size=(3, size)).astype(dtype)
    rows = values.astype(np.float64)
    signs = scipy.linalg.hadamard(size)
    expected = [[math.fsum(row * sign) for sign in signs] for row in rows]
    # log2(size) levels of additions, each off by at most eps / 2 of the sum of sizes; one
    # eps per level, and one more, covers this and the last rounding of the reference.
    sizes = np.abs(rows).sum(axis=1, keepdims=True)
    bound = np.finfo(dtype).eps * np.log2(2 * size) * sizes
    extension.walsh_hadamard(values)
    assert (np.abs(values - expected) <= bound).all()


@pytest.mark.parametrize("shape", [(0, 8), (1, 1), (1, 8), (5, 1)])
def test_edge_shapes(extension, shape):
    values = np.ones(shape)
    extension.walsh_hadamard(values)
    np.testing.assert_array_equal(
        values, np.ones(shape) @ scipy.linalg.hadamard(shape[1], dtype=np.float64)
    )


@pytest.mark.parametrize("size", [0, 3, 6, 1023])
def test_length_must_be_a_power_of_two(extension, size):
    with pytest.raises(ValueError, match=f"a power of two; got {size}"):
        extension.walsh_hadamard(np.ones((2, size)))


def test_read_only_array_is_refused_and_left_alone(extension):
    values = np.arange(8.0).reshape(2, 4)
    values.flags.writeable = False
    with pytest.raises(ValueError, match="must be writable"):
        extension.walsh_hadamard(values)
    np.testing.assert_array_equal(values, np.arange(8.0).reshape(2, 4))


@pytest.mark.parametrize("dtype", [np.int64, np.float16, np.complex128, np.bool_])
def test_other_dtypes_are_refused(extension, dtype):
    with pytest.raises(TypeError, match="float32 or float64"):
        extension.walsh_hadamard(np.ones((2, 4), dtype=dtype))


@pytest.mark.parametrize("values", [[[1.0, 2.0]], 1.0, None, "rows"])
def test_other_objects_are_refused(extension, values):
    with pytest.raises(TypeError, match="must be a NumPy array"):
        extension.walsh_hadamard(values)


@pytest.mark.parametrize("shape", [(), (4,), (2, 2, 4)])
def test_other_numbers_of_axes_are_refused(extension, shape):
    with pytest.raises(ValueError, match=f"two axes; got {len(shape)}"):
        extension.walsh_hadamard(np.ones(shape))


@pytest.mark.parametrize(
    "values",
    [np.ones((4, 4), order="F"), np.ones((4, 8))[:, ::2], np.ones((4, 8))[:, :4]],
)
def test_other_layouts_are_refused(extension, values):
    with pytest.raises(ValueError, match="C-contiguous"):
        extension.walsh_hadamard(values)


@needs_extension
@pytest.mark.parametrize(
    "values",
    [
        [[1, 2, 3, 4]],
        np.ones((3, 8), dtype=np.float32),
        np.arange(32.0).reshape(4, 8)[::2, ::-2],
        np.asfortranarray(np.arange(32.0).reshape(4, 8)),
    ],
)
def test_wrapper_takes_any_rows_and_leaves_them_alone(values):
    before = np.array(values)
    result = native.walsh_hadamard(values)
    assert result.dtype == np.float64
    assert result.flags.c_contiguous
    np.testing.assert_array_equal(
        result, before @ scipy.linalg.hadamard(before.shape[1], dtype=np.float64)
    )
    np.testing.assert_array_equal(values, before)


@needs_extension
def test_wrapper_takes_a_read_only_array():
    values = np.arange(8.0).reshape(2, 4)
    values.flags.writeable = False
    np.testing.assert_array_equal(
        native.walsh_hadamard(values), values @ scipy.linalg.hadamard(4, dtype=np.float64)
    )


def test_wrapper_without_the_extension_says_what_to_install(monkeypatch):
    monkeypatch.setattr(native, "_native", None)
    assert not native.available()
    with pytest.raises(MissingDependencyError, match="Install a C\\+\\+ compiler"):
        native.walsh_hadamard(np.ones((1, 2)))
