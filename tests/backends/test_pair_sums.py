"""Sums over pairs: every backend against differences in extended precision."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import precision
import pytest
import scipy.sparse
from scipy.special import gamma, kv

import fastmmd
from fastmmd._backends import native
from fastmmd._rows import Rows

WORKSPACE = 2**26

LONG = np.longdouble


def matern_by_bessel(a, nu):
    # Where powers would overflow, the limits: 1 at 0, and 0 where exp(-a) is.
    inner = np.clip(a.astype(float), 1e-100, 700.0)
    values = 2.0 ** (1.0 - nu) / gamma(nu) * inner**nu * kv(nu, inner)
    return np.where(a > 700.0, 0.0, np.where(a < 1e-100, 1.0, values))


def rational_quadratic(s, alpha):
    return np.exp(-LONG(alpha) * np.log1p(s / (2 * LONG(alpha))))


# Each kernel as a function of differences (..., n_columns) divided by the bandwidth.
FORMULAS = {
    fastmmd.Gaussian: lambda t, _: np.exp(-(t * t).sum(-1) / 2),
    fastmmd.Laplace: lambda t, _: np.exp(-np.abs(t).sum(-1)),
    fastmmd.Cauchy: lambda t, _: 1 / np.prod(1 + t * t, axis=-1),
    fastmmd.RationalQuadratic: lambda t, k: rational_quadratic((t * t).sum(-1), k.alpha),
}


def matern(t, kernel):
    a = np.sqrt(2 * LONG(kernel.nu) * (t * t).sum(-1))
    if kernel.nu == 0.5:
        return np.exp(-a)
    if kernel.nu == 1.5:
        return (1 + a) * np.exp(-a)
    if kernel.nu == 2.5:
        return (1 + a + a * a / 3) * np.exp(-a)
    return matern_by_bessel(a, kernel.nu)


def exact_values(kernel, x, y):
    """Return the kernel's matrix from differences in extended precision."""
    if isinstance(kernel, fastmmd.Mixture):
        return sum(
            LONG(weight) * exact_values(part, x, y)
            for part, weight in zip(kernel.kernels, kernel.weights, strict=True)
        )
    x, y = (np.asarray(rows).astype(LONG) for rows in (x, y))
    t = (x[:, None, :] - y[None, :, :]) / LONG(kernel.bandwidth)
    formula = FORMULAS.get(type(kernel), matern)
    return np.asarray(formula(t, kernel))


def value_bounds(kernel, x):
    """Bound the error of each value.

    A sum over columns is right to n_columns + 6 roundings, relative to itself if it comes
    from differences and to |x|^2 + |y|^2 if from a product, which is used only where that
    is at most 1000 times the sum. Every profile here has s |k'(s)| <= 1/2, so that much of
    the relative error of s reaches k; for products of columns it is all of it. The profile
    itself has a dozen roundings, its arguments being at most 700 where it is not 0.
    """
    kernels = kernel.kernels if isinstance(kernel, fastmmd.Mixture) else (kernel,)
    n_columns = np.shape(x)[1]
    product = n_columns > 8 and any(k.is_radial for k in kernels)
    share = 1e3 if product else 1.0
    per_value = (n_columns + 6) * share + 16
    if any(
        isinstance(k, fastmmd.Matern) and k.nu not in (0.5, 1.5, 2.5) for k in kernels
    ):
        per_value += 1000  # SciPy's Bessel functions, about 1e-13
    return per_value * 2 * precision.DOUBLE


def exact_sum(kernel, x, y, *, within=False):
    values = exact_values(kernel, x, y)
    if within:
        values[np.diag_indices(len(values))] = 0
    return math.fsum(values.astype(float).ravel())


def form_sums(backend, kernel, x, y=None, workspace=WORKSPACE):
    """Return the sum over pairs of two samples, or within one, over the kernel's terms."""
    total = 0.0
    for form in kernel.pair_forms():
        options = {"form": form, "workspace": workspace}
        total += form.weight * (
            backend.self_pair_sum(Rows(x), **options)
            if y is None
            else backend.pair_sum(Rows(x), Rows(y), **options)
        )
    return total


def assert_sums(backend, kernel, x, y, workspace=WORKSPACE):
    bound = value_bounds(kernel, x)
    for first, second in ((x, y), (y, x)):
        found = form_sums(backend, kernel, first, second, workspace)
        expected = exact_sum(kernel, first, second)
        assert abs(found - expected) <= bound * len(x) * len(y)
    for rows in (x, y):
        found = form_sums(backend, kernel, rows, workspace=workspace)
        expected = exact_sum(kernel, rows, rows, within=True)
        assert abs(found - expected) <= bound * len(rows) ** 2


KERNELS = [
    fastmmd.Gaussian(1.3),
    fastmmd.Laplace(1.7),
    fastmmd.Cauchy(2.0),
    fastmmd.Cauchy.radial(1.5),
    fastmmd.Matern(1.1, nu=0.5),
    fastmmd.Matern(1.1, nu=1.5),
    fastmmd.Matern(1.1, nu=2.5),
    fastmmd.Matern(1.1, nu=2.0),
    fastmmd.RationalQuadratic(0.9, alpha=0.05),
    fastmmd.RationalQuadratic(0.9, alpha=1.0),
    fastmmd.RationalQuadratic(0.9, alpha=7.5),
    fastmmd.RationalQuadratic(0.9, alpha=1e8),
    fastmmd.Mixture([fastmmd.Gaussian(1.0), fastmmd.Laplace(2.0)], [0.25, 3.0]),
]
by_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


@by_kernel
@pytest.mark.parametrize("n_columns", [1, 3, 8, 9, 40])
def test_sums_are_those_over_pairs(backend, kernel, n_columns, rng):
    scale = 2 / np.sqrt(n_columns)
    x, y = (scale * rng.normal(size=(n, n_columns)) for n in (37, 29))
    y[:5] = x[:5]  # equal rows: distance 0
    y[5:9] = x[5:9] * (1 + 1e-9)  # and nearly equal ones
    assert_sums(backend, kernel, x, y)
    # Far from the origin, where |x|^2 + |y|^2 - 2 x.y cancels: sixteenths, so that the
    # shift is exact.
    x, y = (np.rint(16 * rows) / 16 + 1e5 for rows in (x, y))
    assert_sums(backend, kernel, x, y)


@pytest.mark.parametrize("kernel", [KERNELS[0], KERNELS[1]], ids=repr)
@pytest.mark.parametrize("n_columns", [2, 11])
def test_numbers_of_rows(backend, kernel, n_columns, rng):
    # Around the registers, panels and tiles of pairs: 2, 4, 8; 16; 6 and 12.
    counts = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 23, 24, 25, 33]
    rows = rng.normal(size=(80, n_columns))
    for n in counts:
        assert_sums(backend, kernel, rows[:n], rows[40:57])


@pytest.mark.parametrize("n_columns", [2, 11])
def test_no_rows_have_no_pairs(backend, n_columns, rng):
    some, none = rng.normal(size=(5, n_columns)), np.empty((0, n_columns))
    for kernel in KERNELS[:4]:
        assert form_sums(backend, kernel, none, some) == 0.0
        assert form_sums(backend, kernel, some, none) == 0.0
        assert form_sums(backend, kernel, none) == 0.0
        assert form_sums(backend, kernel, some[:1]) == 0.0


@by_kernel
def test_small_workspaces_cut_the_pairs(backend, kernel, rng, monkeypatch):
    # Blocks of 16 rows on the right; and, for whole numbers, which must be converted, on
    # the left too. NumPy has tiles of 7 rows.
    monkeypatch.setattr(native, "_CALL_PAIRS", 1)
    x, y = (rng.integers(-3, 4, size=(n, 3)) for n in (83, 50))
    for kind in (np.float64, np.float32, np.int8):
        assert_sums(backend, kernel, x.astype(kind), y.astype(kind), workspace=3000)


@by_kernel
def test_sparse_rows(backend, kernel, rng):
    for n_columns in (3, 30):
        x, y = (
            np.where(
                rng.random((n, n_columns)) < 0.3, rng.normal(size=(n, n_columns)), 0.0
            )
            for n in (40, 31)
        )
        y[:3] = x[:3]
        sparse_x, sparse_y = scipy.sparse.csr_array(x), scipy.sparse.csr_array(y)
        expected = exact_sum(kernel, x, y)
        # Sparse squares come from products whatever the columns.
        bound = ((n_columns + 6) * 1e3 + 1016) * 2 * precision.DOUBLE * 40 * 40
        for first, second in ((sparse_x, sparse_y), (sparse_x, y), (x, sparse_y)):
            assert abs(form_sums(backend, kernel, first, second) - expected) <= bound
        inner = exact_sum(kernel, x, x, within=True)
        assert abs(form_sums(backend, kernel, sparse_x) - inner) <= bound


LAYOUTS = {
    "Fortran": np.asfortranarray,
    "columns": lambda rows: np.repeat(rows, 3, axis=1)[:, ::3],
    "rows": lambda rows: np.repeat(rows, 2, axis=0)[::2],
    "reversed": lambda rows: rows[::-1, ::-1].copy()[::-1, ::-1],
    "part": lambda rows: np.pad(rows, 2)[2:-2, 2:-2],
    "read-only": lambda rows: np.frombuffer(rows.tobytes()).reshape(rows.shape),
}


def records(rows):
    """Return rows as a field of records: strides are no multiples of a number's size."""
    table = np.zeros(len(rows), dtype=[("flag", "i1"), ("row", "f8", rows.shape[1:])])
    table["row"] = rows
    return table["row"]


@pytest.mark.parametrize("layout", [*LAYOUTS, "records"])
@pytest.mark.parametrize("n_columns", [2, 12])
def test_layouts_do_not_matter(backend, layout, n_columns, rng):
    x, y = (rng.normal(size=(n, n_columns)) for n in (43, 38))
    change = LAYOUTS.get(layout, records)
    other_x, other_y = change(x), change(y)
    kept = other_x.copy()
    for kernel in (KERNELS[0], KERNELS[1], KERNELS[2]):
        pairs = [(x, y), (other_x, other_y), (x, other_y)]
        sums = [form_sums(backend, kernel, *pair) for pair in pairs]
        sums += [form_sums(backend, kernel, rows) for rows in (x, other_x)]
        if backend.is_native:
            assert sums[0] == sums[1] == sums[2]
            assert sums[3] == sums[4]
        bound = 2 * value_bounds(kernel, x) * 43 * 43
        assert abs(sums[0] - sums[1]) <= bound
        assert abs(sums[3] - sums[4]) <= bound
    np.testing.assert_array_equal(other_x, kept)


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f4", "g", ">f8", ">f4"])
@pytest.mark.parametrize("n_columns", [2, 12])
def test_types_of_numbers_do_not_matter(backend, dtype, n_columns, rng):
    x, y = (rng.integers(0, 2, size=(n, n_columns)) for n in (43, 38))
    for kernel in (KERNELS[0], KERNELS[1], KERNELS[2]):
        expected = form_sums(backend, kernel, x.astype(float), y.astype(float))
        assert form_sums(backend, kernel, x.astype(dtype), y.astype(dtype)) == expected
        within = form_sums(backend, kernel, x.astype(float))
        assert form_sums(backend, kernel, x.astype(dtype)) == within


# --- Values that cancel, overflow or vanish


@by_kernel
@pytest.mark.parametrize("outlier", [1e10, 1e18, 1e200])
def test_an_outlier_leaves_other_pairs_alone(backend, kernel, outlier, rng):
    # One row far away must not cost the others their digits.
    for n_columns in (1, 3, 12):
        x, y = (rng.normal(size=(n, n_columns)) for n in (9, 7))
        x[4] = outlier
        assert_sums(backend, kernel, x, y)


@by_kernel
@pytest.mark.parametrize("size", [1e160, 1e300])
def test_distances_that_overflow_are_far(backend, kernel, size):
    # Equal rows are at distance 0 wherever they are; all others are too far to count.
    for n_columns in (1, 9):
        rows = size * np.arange(-2.0, 3.0)[:, None] * np.ones(n_columns)
        at_zero = float(exact_values(kernel, np.zeros((1, 1)), np.zeros((1, 1)))[0, 0])
        # The heaviest tail is not nothing: 1e300 stands for all larger squares, and to the
        # power of -0.05 it is 1e-15, for each of 20 pairs.
        slack = 5 * at_zero * 16 * precision.DOUBLE + 20 * 1.1e-15
        assert abs(form_sums(backend, kernel, rows, rows) - 5 * at_zero) <= slack
        assert abs(form_sums(backend, kernel, rows)) <= slack


@by_kernel
def test_tiny_numbers_are_all_equal(backend, kernel, rng):
    rows = 5e-324 * rng.integers(-9, 10, size=(20, 3))
    at_zero = float(exact_values(kernel, np.zeros((1, 1)), np.zeros((1, 1)))[0, 0])
    found = form_sums(backend, kernel, rows)
    assert abs(found - 380 * at_zero) <= 380 * 16 * precision.DOUBLE * at_zero


@by_kernel
def test_profiles_are_right_from_zero_to_underflow(backend, kernel):
    # One column, one row at 0: the values themselves, from distance 1e-9 to 1e3.
    distances = np.concatenate([[0.0], np.geomspace(1e-9, 1e3, 400)])[:, None]
    zero = np.zeros((1, 1))
    bound = value_bounds(kernel, zero)
    expected = exact_values(kernel, zero, distances).astype(float)[0]
    for value, distance in zip(expected, distances, strict=True):
        found = form_sums(backend, kernel, zero, distance[None])
        assert abs(found - value) <= bound


@pytest.mark.parametrize("n_columns", [2, 12])
def test_threads_do_not_matter(compiled, n_columns, rng):
    x, y = rng.normal(size=(700, n_columns)), rng.normal(size=(300, n_columns))
    for kernel in (KERNELS[0], KERNELS[1], KERNELS[2], KERNELS[-1]):
        results = []
        for n_threads in (1, 2, 3, 8):
            with fastmmd.threads(n_threads):
                results.append(
                    (form_sums(compiled, kernel, x, y), form_sums(compiled, kernel, x))
                )
        assert len(set(results)) == 1


# --- Sums between bins

EDGES = {
    "one bin": [0, 61],
    "single rows": [*range(62)],
    "uneven": [0, 1, 2, 30, 31, 60, 61],
    "empty bins": [0, 0, 0, 7, 7, 20, 61, 61],
    "equal": [0, 12, 24, 36, 48, 61],
}

SCALES = {
    "one": [1.0],
    "halvings": [0.5, 1.0, 2.0, 4.0],
    "unordered": [3.0, 0.5, 1.0, 0.7],
    "repeated": [1.0, 2.0, 1.0],
    "halvings backwards": [4.0, 2.0, 1.0, 1.5],
}


def bin_sums(values, edges):
    """Add up a matrix between bins."""
    member = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
    adding = (np.arange(len(edges) - 1)[:, None] == member).astype(LONG)
    return (adding @ values @ adding.T).astype(float)


@by_kernel
@pytest.mark.parametrize("n_columns", [1, 8, 11])
def test_sums_between_bins(backend, kernel, n_columns, rng):
    rows = 2 / np.sqrt(n_columns) * rng.normal(size=(61, n_columns))
    rows[50:53] = rows[:3]  # equal rows
    for part in kernel.kernels if isinstance(kernel, fastmmd.Mixture) else [kernel]:
        (form,) = part.pair_forms()
        exact = {
            scale: exact_values(
                dataclasses.replace(part, bandwidth=1 / scale), rows, rows
            )
            for scale in set(itertools.chain(*SCALES.values()))
        }
        # Every list of scales, and every kind of bins with the one that has most to share.
        cases = [(scales, EDGES["uneven"]) for scales in SCALES.values()]
        cases += [(SCALES["halvings"], edges) for edges in EDGES.values()]
        for scales, edges in cases:
            found = backend.bin_pair_sums(rows, np.array(edges), form, scales)
            pairs = np.outer(np.diff(edges), np.diff(edges))
            # A halved bandwidth may be a fourth power, with four times the relative error.
            powers = 4 ** (len(scales) - 1) if form.formula == "gaussian" else 1
            bound = (value_bounds(part, rows) + 16 * powers * precision.DOUBLE) * pairs
            for scale, sums in zip(scales, found, strict=True):
                expected = bin_sums(exact[scale], edges)
                assert (np.abs(sums - expected) <= bound).all()
                assert (np.abs(sums - sums.T) <= bound).all()


@pytest.mark.parametrize("n_columns", [2, 12])
def test_numbers_of_rows_between_bins(backend, n_columns, rng):
    rows = rng.normal(size=(40, n_columns))
    (form,) = KERNELS[0].pair_forms()
    for n in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 23, 24, 25, 33, 40]:
        edges = np.unique([0, n // 3, n // 2, n])
        edges = edges if len(edges) > 1 else np.array([0, 0])
        (found,) = backend.bin_pair_sums(rows[:n], edges, form, [1 / 1.3])
        expected = bin_sums(exact_values(KERNELS[0], rows[:n], rows[:n]), edges)
        bound = value_bounds(KERNELS[0], rows) * n * n
        assert np.abs(found - expected).max() <= bound


def test_sums_between_bins_cut_into_calls(backend, rng, monkeypatch):
    rows = rng.normal(size=(90, 3))
    edges = np.array([0, 0, 10, 11, 50, 50, 90, 90])
    (form,) = KERNELS[0].pair_forms()
    whole = backend.bin_pair_sums(rows, edges, form, [1.0, 2.0])
    monkeypatch.setattr(native, "_CALL_PAIRS", 1)  # a bin a call
    found = backend.bin_pair_sums(rows, edges, form, [1.0, 2.0])
    # Tiles start elsewhere: at most 1600 numbers of at most 1 in another order.
    np.testing.assert_allclose(found, whole, rtol=1600 * 2 * precision.DOUBLE, atol=0)
    assert (whole[0] > 0).sum() == 16


def test_threads_do_not_matter_between_bins(compiled, rng):
    rows = rng.normal(size=(900, 3))  # threads are used from 512 rows on
    edges = np.concatenate([[0], np.sort(rng.integers(0, 900, 40)), [900]])
    for kernel in KERNELS[:3]:
        (form,) = kernel.pair_forms()
        results = []
        for n_threads in (1, 2, 3, 8):
            with fastmmd.threads(n_threads):
                results.append(compiled.bin_pair_sums(rows, edges, form, [0.5, 1.0]))
        for result in results[1:]:
            np.testing.assert_array_equal(result, results[0])


def test_outliers_between_bins(backend, rng):
    for n_columns in (2, 12):
        rows = rng.normal(size=(30, n_columns))
        rows[7] = 1e18
        edges = np.array([0, 5, 20, 30])
        for kernel in KERNELS:
            for form in kernel.pair_forms():
                (found,) = backend.bin_pair_sums(rows, edges, form, [form.scale])
                part = next(
                    k
                    for k in getattr(kernel, "kernels", (kernel,))
                    if k.pair_forms()[0].rule == form.rule
                )
                expected = bin_sums(exact_values(part, rows, rows), edges)
                assert np.abs(found - expected).max() <= value_bounds(part, rows) * 900


def test_which_kernels_are_compiled(compiled, rng, monkeypatch):
    # So that none falls back to NumPy unnoticed, and Bessel functions do.
    calls = []

    def counted(_x, _y, /, *, form, **_options):
        calls.append(form)
        return 0.0

    monkeypatch.setattr(native.reference, "pair_sum", counted)
    x = rng.normal(size=(5, 2))
    for kernel in KERNELS:
        calls.clear()
        form_sums(compiled, kernel, x, x)
        bessel = isinstance(kernel, fastmmd.Matern) and kernel.nu == 2.0
        assert len(calls) == (1 if bessel else 0)


def test_terms_and_rules_are_all_covered():
    seen = {
        (form.rule, form.formula)
        for kernel in KERNELS
        for form in kernel.pair_forms()
        if form.formula
    }
    compiled = {
        ("squared", name)
        for name in ("gaussian", "matern_1", "matern_3", "matern_5", "rational_quadratic")
    }
    assert seen == compiled | {
        ("absolute", "exponential"),
        ("log1p_squared", "reciprocal"),
    }


@pytest.mark.parametrize("left", [5, 40])
@pytest.mark.parametrize("right", [7, 33])
@pytest.mark.usefixtures("compiled")
def test_rows_of_one_sample_from_any_place_on(left, right, rng):
    # The binding's own promise: with an offset, pairs (i, j) count only for j > i.
    rows = rng.normal(size=(80, 2))
    values = exact_values(KERNELS[0], rows, rows).astype(float)
    for start in (0, 3, left - 1, left):
        second = rows[start : start + right]
        found = math.fsum(
            native._extension().pair_sums(
                rows[:left],
                second,
                center=None,
                offset=start,
                scale=1 / 1.3,
                rule="squared",
                profile="gaussian",
                parameter=0.0,
                n_threads=2,
            )
        )
        expected = math.fsum(
            values[i, start + j]
            for i in range(left)
            for j in range(len(second))
            if start + j > i
        )
        assert abs(found - expected) <= 64 * precision.DOUBLE * left * right
