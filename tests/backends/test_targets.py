"""Instruction sets: which there are, how one is chosen, and what binding errors say."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from fastmmd._backends import native, use_native

pytestmark = pytest.mark.skipif(
    not native.available(), reason="installed without the compiled extension"
)

SCRIPT = """
import numpy as np, fastmmd
from fastmmd import _backends
from fastmmd._backends import native
rng = np.random.default_rng(0)
x, y = rng.normal(size=(200, 3)), rng.normal(size=(150, 3)) + 0.5
kernel = fastmmd.Gaussian(1.0)
methods = [fastmmd.Exact(), fastmmd.Fourier(64, sampling="iid"), fastmmd.Fastfood(64)]
estimates = [fastmmd.mmd(x, y, kernel=kernel, method=m, rng=0).mmd2 for m in methods]
module = _backends.matrix_feature_sums.__module__.rpartition(".")[2]
print(module, native.target(), *estimates)
"""


def run(script, **variables):
    return subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_there_is_a_baseline_and_the_best_comes_last(use_target):
    names = native.targets()
    assert names[0] == "baseline"
    assert len(set(names)) == len(names)
    for name in names:
        use_target(name)
        assert native.target() == name


@pytest.mark.parametrize("name", ["", "sse9", "AVX2", "numpy"])
def test_other_instruction_sets_are_refused(name, use_target):
    before = native.target()
    with pytest.raises(ValueError, match="no compiled instruction set"):
        use_target(name)
    assert native.target() == before


def test_the_variable_is_read_when_the_package_is_imported():
    outputs = {}
    for wanted in ["", "numpy", *native.targets()]:
        done = run(SCRIPT, FASTMMD_TARGET=wanted)
        assert done.returncode == 0, done.stderr
        module, target, *estimates = done.stdout.split()
        outputs[wanted] = np.array(estimates, dtype=float)
        assert module == ("numpy" if wanted == "numpy" else "native")
        if wanted not in ("", "numpy"):
            assert target == wanted
    # The same numbers whoever computes them: features of phases below 10 differ by 3
    # columns' roundings in single precision, and an estimate by 12 times that.
    for estimates in outputs.values():
        assert np.abs(estimates - outputs["numpy"]).max() < 12 * 7 * 10 * 2.0**-24
        assert abs(estimates[0] - outputs["numpy"][0]) < 1e-14


def test_a_variable_that_names_nothing_is_an_error():
    done = run(
        "import fastmmd; fastmmd.mmd([0.0, 1.0], [2.0, 3.0])", FASTMMD_TARGET="sse9"
    )
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ValueError: `FASTMMD_TARGET` must be empty or one of numpy, ")
    assert last.endswith("got 'sse9'.")


@pytest.mark.usefixtures("use_target")
def test_names_of_the_variable():
    assert not use_native("numpy")
    assert use_native("")
    for name in native.targets():
        assert use_native(name)
        assert native.target() == name
    with pytest.raises(ValueError, match=r"one of numpy, baseline.*got 'fast'"):
        use_native("fast")


# --- Arguments that would read or write outside of the arrays


def dense_arguments(**changes):
    arguments = {
        "sums": np.zeros((2, 8)),
        "values": np.ones((5, 3)),
        "order": None,
        "edges": np.array([0, 2, 5]),
        "center": None,
        "frequencies": np.ones((4, 3)),
        "channels": [(1.0, 4, 0, 4)],
        "single_radius": 1.0,
        "n_threads": 1,
    }
    return arguments | changes


def sparse_arguments(**changes):
    arguments = dense_arguments(
        values=np.ones(3),
        columns=np.array([0, 1, 2], dtype=np.int32),
        starts=np.array([0, 1, 1, 2, 3, 3], dtype=np.int32),
    )
    return arguments | changes


def fastfood_arguments(**changes):
    arguments = dense_arguments(
        signs=np.ones((1, 4)),
        permutation=np.array([[3, 2, 1, 0]]),
        normals=np.ones((1, 4)),
        scales=np.ones((1, 4)),
        n_frequencies=4,
    )
    del arguments["frequencies"]
    return arguments | changes


def pair_arguments(**changes):
    arguments = {
        "left": np.ones((5, 3)),
        "right": np.ones((4, 3)),
        "center": None,
        "offset": None,
        "scale": 1.0,
        "rule": "squared",
        "profile": "gaussian",
        "parameter": 0.0,
        "n_threads": 1,
    }
    return arguments | changes


def refused(function, arguments, error, message=None):
    with pytest.raises(error, match=message):
        getattr(native._extension(), function)(**arguments)


def read_only(array):
    array.flags.writeable = False
    return array


def integers(*numbers):
    return np.array(numbers, dtype=np.int64)


BAD_PLACES = {
    "edges too few": ({"edges": integers(0, 5)}, "one number more"),
    "edges too many": ({"edges": integers(0, 1, 2, 5)}, "one number more"),
    "edges start": ({"edges": integers(1, 2, 5)}, "must start at 0"),
    "edges negative": ({"edges": integers(-1, 2, 5)}, "must start at 0"),
    "edges end late": ({"edges": integers(0, 2, 6)}, "end with the number of rows"),
    "edges fall": ({"edges": integers(0, 7, 5)}, "must not fall"),
    "edges below": ({"edges": integers(0, -2, 5)}, "must not fall"),
    "order high": ({"order": integers(0, 1, 2, 3, 5)}, "rows that exist"),
    "order negative": ({"order": integers(0, 1, 2, 3, -1)}, "rows that exist"),
    "order short": ({"order": integers(0, 1)}, "end with the number of rows"),
    "order long": ({"order": integers(*[0] * 6)}, "end with the number of rows"),
    "channel frequencies": ({"channels": [(1.0, 5, 0, 0)]}, "more frequencies"),
    "channel cosines": ({"channels": [(1.0, 4, 5, 0)]}, "within `sums`"),
    "channel sines": ({"channels": [(1.0, 4, 0, 5)]}, "within `sums`"),
    "channel far": ({"channels": [(1.0, 4, 2**63, 0)]}, "within `sums`"),
    "channel wraps": ({"channels": [(1.0, 4, 2**64 - 1, 0)]}, "within `sums`"),
    "channel sines wrap": ({"channels": [(1.0, 4, 0, 2**64 - 4)]}, "within `sums`"),
}

ARGUMENTS = {
    "dense_feature_sums": dense_arguments,
    "sparse_feature_sums": sparse_arguments,
    "fastfood_feature_sums": fastfood_arguments,
}


@pytest.mark.parametrize("function", ARGUMENTS)
def test_the_arguments_are_taken_as_they_are(function):
    arguments = ARGUMENTS[function]()
    getattr(native._extension(), function)(**arguments)
    assert arguments["sums"].any()


@pytest.mark.parametrize("function", ARGUMENTS)
@pytest.mark.parametrize("name", BAD_PLACES)
def test_bad_places_and_channels(function, name):
    changes, message = BAD_PLACES[name]
    arguments = ARGUMENTS[function](**changes)
    refused(function, arguments, ValueError, message)
    assert not arguments["sums"].any()


@pytest.mark.parametrize("function", ARGUMENTS)
@pytest.mark.parametrize(
    "sums",
    [
        np.zeros((2, 8), dtype=np.float32),
        np.zeros((2, 16))[:, ::2],
        np.zeros((2, 8), order="F"),
        np.zeros(16),
        read_only(np.zeros((2, 8))),
        [[0.0] * 8] * 2,
        None,
    ],
    ids=["float32", "strided", "Fortran", "flat", "read-only", "list", "None"],
)
def test_sums_must_be_an_array_that_can_be_written(function, sums):
    # A converted copy would be written to, and lost.
    refused(function, ARGUMENTS[function](sums=sums), TypeError)


@pytest.mark.parametrize("function", ["dense_feature_sums", "fastfood_feature_sums"])
@pytest.mark.parametrize(
    "dtype", [np.int64, np.float16, np.longdouble, bool, ">f8", complex]
)
def test_rows_of_other_types(function, dtype):
    values = np.ones((5, 3)).astype(dtype)
    refused(function, ARGUMENTS[function](values=values), TypeError)
    refused("pair_sums", pair_arguments(left=values), TypeError)
    refused("pair_sums", pair_arguments(right=values), TypeError)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"values": np.ones(15)}, "two axes; got 1"),
        ({"values": np.ones((5, 3, 1))}, "two axes; got 3"),
        ({"center": np.ones(2)}, "one number for each column"),
        ({"frequencies": np.ones((4, 2))}, "the columns of `values`"),
        ({"values": np.ones((4, 3))}, "end with the number of rows"),
    ],
)
def test_dense_rows_that_do_not_fit(changes, message):
    refused("dense_feature_sums", dense_arguments(**changes), ValueError, message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"columns": np.array([0, 1, 3], dtype=np.int32)}, "columns that exist"),
        ({"columns": np.array([0, 1, -1], dtype=np.int32)}, "columns that exist"),
        ({"columns": np.array([0, 1], dtype=np.int32)}, "columns that exist"),
        ({"values": np.ones(2)}, "columns that exist"),
        ({"values": np.ones((3, 1))}, "one axis"),
        ({"values": np.ones(6)[::2]}, "contiguous"),
        ({"columns": integers(0, 1, 2)}, "both be int32 or both int64"),
        (
            {"columns": np.array([0, 1, 2], dtype=np.uint32)},
            "both be int32 or both int64",
        ),
        ({"starts": np.array([0, 1, 1, 2, 3, 4], np.int32)}, "columns that exist"),
        ({"starts": np.array([0, 3, 1, 2, 3, 3], np.int32)}, "columns that exist"),
        ({"starts": np.array([-1, 1, 1, 2, 3, 3], np.int32)}, "columns that exist"),
        ({"starts": np.array([0, 1, 1, 2, 3], np.int32)}, "number of rows"),
        ({"starts": np.empty(0, np.int32)}, "one axis"),
    ],
)
def test_sparse_rows_that_do_not_fit(changes, message):
    refused("sparse_feature_sums", sparse_arguments(**changes), ValueError, message)


def test_sparse_rows_of_other_types():
    for dtype in (np.int64, np.float16, complex):
        arguments = sparse_arguments(values=np.ones(3, dtype=dtype))
        refused("sparse_feature_sums", arguments, TypeError, "float32 or float64")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"normals": np.ones((1, 8))}, "one shape"),
        ({"scales": np.ones((2, 4))}, "one shape"),
        ({"permutation": integers(0, 1, 2, 4)[None]}, "columns that exist"),
        ({"permutation": integers(0, 1, 2, -1)[None]}, "columns that exist"),
        ({"n_frequencies": 5}, "end in the last block"),
        ({"n_frequencies": 0, "channels": []}, "end in the last block"),
        ({"values": np.ones((5, 5))}, "at least those of `values`"),
    ],
)
def test_fastfood_arrays_that_do_not_fit(changes, message):
    refused("fastfood_feature_sums", fastfood_arguments(**changes), ValueError, message)


def test_fastfood_blocks_have_a_power_of_two_columns():
    names = ("signs", "normals", "scales")
    changes = {name: np.ones((1, 6)) for name in names}
    changes |= {"permutation": np.arange(6)[None], "n_frequencies": 6}
    arguments = fastfood_arguments(**changes)
    refused("fastfood_feature_sums", arguments, ValueError, "a power of two")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"left": np.ones(5)}, "`left` must have two axes"),
        ({"right": np.ones((4, 2))}, "the same columns"),
        ({"center": np.ones(2)}, "one number for each column"),
        ({"rule": "cubed"}, "no compiled form of cubed"),
        ({"profile": "sinc"}, "no compiled form of sinc"),
    ],
)
def test_pairs_that_do_not_fit(changes, message):
    refused("pair_sums", pair_arguments(**changes), ValueError, message)


def bin_arguments(**changes):
    arguments = {
        "sums": np.zeros((2, 3, 3)),
        "values": np.ones((5, 2)),
        "edges": integers(0, 2, 2, 5),
        "first_bin": 0,
        "last_bin": 3,
        "center": None,
        "scales": [1.0, 2.0],
        "rule": "squared",
        "profile": "gaussian",
        "parameter": 0.0,
        "n_threads": 1,
    }
    return arguments | changes


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sums": np.zeros((1, 3, 3))}, r"shape \(n_scales, n_bins, n_bins\)"),
        ({"sums": np.zeros((2, 3, 2))}, r"shape \(n_scales, n_bins, n_bins\)"),
        ({"scales": []}, r"shape \(n_scales, n_bins, n_bins\)"),
        ({"edges": integers(0, 2, 5)}, "start at 0 and end"),
        ({"edges": integers(0, 2, 2, 6)}, "start at 0 and end"),
        ({"edges": integers(-1, 2, 2, 5)}, "start at 0 and end"),
        ({"edges": integers(0, 7, 2, 5)}, "must not fall"),
        ({"first_bin": 2, "last_bin": 1}, "such bins"),
        ({"last_bin": 4}, "such bins"),
        ({"center": np.ones(3)}, "one number for each column"),
        ({"values": np.ones(5)}, "two axes"),
        ({"rule": "log1p_squared", "profile": "reciprocal"}, "one scale at a time"),
        ({"rule": "cubed"}, "no compiled form of cubed"),
    ],
)
def test_bins_of_pairs_that_do_not_fit(changes, message):
    arguments = bin_arguments(**changes)
    refused("bin_pair_sums", arguments, ValueError, message)
    assert not arguments["sums"].any()


@pytest.mark.parametrize("function", ARGUMENTS)
@pytest.mark.parametrize("n_threads", [-1, 2.5, "1", None])
def test_bad_numbers_of_threads(function, n_threads):
    refused(function, ARGUMENTS[function](n_threads=n_threads), TypeError)
