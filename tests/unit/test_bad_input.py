"""What users may pass by mistake, what each mistake is told, and what just works."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import precision
import pytest
import scipy.sparse

import fastmmd
from fastmmd import (
    Block,
    Cauchy,
    DataError,
    Exact,
    Fastfood,
    Fourier,
    Gaussian,
    Grid,
    Laplace,
    Linear,
    Matern,
    MissingDependencyError,
    Mixture,
    RationalQuadratic,
    SpectralKernel,
    UndefinedEstimateError,
    UnsupportedKernelError,
)

KERNEL = Gaussian(1.0)
RNG = np.random.default_rng(20150630)

# Whole numbers from 0 to 4, so that every type down to float16 and int8 holds them exactly.
X = RNG.integers(0, 5, (30, 3)).astype(np.float64)
Y = RNG.integers(0, 5, (40, 3)).astype(np.float64)
X.flags.writeable = Y.flags.writeable = False

ALL_METHODS = [
    Exact(),
    Fourier(64, sampling="iid"),
    Fourier(64, sampling="orthogonal", algorithm="amplitudes"),
    Fourier(frequencies=RNG.normal(size=(20, 3))),
    Fastfood(64),
    Linear(),
    Block(),
    Grid(),
]


def mmd2(x: Any, y: Any, method: Any = "exact", **options: Any) -> float:
    return fastmmd.mmd(x, y, kernel=KERNEL, method=method, rng=1, **options).mmd2


def normal_sampler(
    n_frequencies: int, n_columns: int, rng: np.random.Generator
) -> np.ndarray:
    return rng.normal(size=(n_frequencies, n_columns))


class Frame:
    """A table of numbers as data-frame packages show themselves to NumPy."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.values, dtype=dtype)


# --- Shapes


@pytest.mark.parametrize("name", ["x", "y"])
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (3.0, r"have shape \(n, n_columns\) or \(n,\); got a single value"),
        (np.array(3.0), r"got a single value"),
        (np.zeros((4, 5, 6)), r"got \(4, 5, 6\)\. Flatten each row"),
        (np.zeros((0, 3)), r"at least one row; got shape \(0, 3\)"),
        ([], r"at least one row"),
        (np.zeros((4, 0)), r"at least one column; got shape \(4, 0\)"),
        (scipy.sparse.csr_array((0, 3)), r"at least one row; got shape \(0, 3\)"),
        (scipy.sparse.csr_array((4, 0)), r"at least one column; got shape \(4, 0\)"),
        ([[1.0, 2.0], [3.0]], r"rows of equal length; got ragged rows"),
    ],
)
def test_a_sample_of_the_wrong_shape(name: str, bad: Any, message: str) -> None:
    samples = {"x": X, "y": Y} | {name: bad}
    with pytest.raises(ValueError, match=f"^`{name}` must.* {message}"):
        fastmmd.mmd(samples["x"], samples["y"])


def test_different_numbers_of_columns() -> None:
    with pytest.raises(
        ValueError, match=r"same number of columns; got shapes \(30, 3\) and \(40, 2\)\.$"
    ):
        fastmmd.mmd(X, Y[:, :2])
    with pytest.raises(ValueError, match=r"shapes \(30, 3\) and \(40, 2\)"):
        fastmmd.mmd(scipy.sparse.csr_array(X), scipy.sparse.csr_array(Y[:, :2]))


@pytest.mark.parametrize("name", ["x", "y"])
def test_one_dimension_was_read_as_one_column(name: str) -> None:
    samples = {"x": X, "y": Y} | {name: [1.0, 2.0, 3.0]}
    hint = rf"One-dimensional `{name}` was read as one column; write `{name}\[None, :\]`"
    with pytest.raises(ValueError, match=hint):
        fastmmd.mmd(samples["x"], samples["y"])
    remedied = {"x": X, "y": Y} | {name: np.array([1.0, 2.0, 3.0])[None, :]}
    estimate = fastmmd.mmd(remedied["x"], remedied["y"], estimator="biased")
    assert (estimate.n_x == 1, estimate.n_y == 1) == (name == "x", name == "y")


# --- Values that are not numbers


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_that_are_not_finite_are_counted(bad: float, dtype: type) -> None:
    x = X.astype(dtype)
    x[7, 1] = x[7, 2] = x[19, 0] = bad
    with pytest.raises(ValueError, match=r"^`x` must be finite.* 2 of 30 rows.* row 7\."):
        fastmmd.mmd(x, Y)
    with pytest.raises(ValueError, match=r"^`y` must be finite.* 2 of 30 rows.* row 7\."):
        fastmmd.mmd(Y, x)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_rows_that_are_not_finite_are_counted(bad: float, form: str) -> None:
    x = np.zeros((9, 4))
    x[1, 1] = 1.0  # rows 0 and 2 to 4 store nothing: the row is found all the same
    x[5, 0] = x[5, 3] = x[8, 2] = bad
    sparse = scipy.sparse.csr_array(x).asformat(form)
    with pytest.raises(ValueError, match=r"finite.* 2 of 9 rows, first in row 5\."):
        fastmmd.mmd(sparse, np.ones((5, 4)))


def test_nan_in_a_later_block_of_a_large_sample() -> None:
    # The check reads 2^20 numbers at a time; these are in the second and third block.
    x = np.zeros((2**20 + 100, 2))
    x[2**19 + 5, 1] = x[2**20 + 3, 0] = np.nan
    with pytest.raises(ValueError, match=r" 2 of 1048676 rows, first in row 524293\."):
        fastmmd.mmd(x, Y[:, :2])


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (["1", "2", "3"], r"got strings \(dtype <U1\)"),
        (np.array([b"1", b"2"]), r"got strings"),
        ([1.0 + 2.0j, 3.0], r"got complex numbers \(dtype complex128\)"),
        (np.array([1.0, 2.0], dtype=object), r"got Python objects"),
        ([1.0, None], r"got Python objects"),
        (None, r"got Python objects"),
        ({1.0, 2.0}, r"got Python objects"),
        ([2**70, 1], r"got Python objects"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), r"got dates"),
        (np.array([1, 2], dtype="timedelta64[s]"), r"got durations"),
        (np.zeros(3, dtype=[("a", float)]), r"got \[\('a'"),
        (scipy.sparse.csr_array(np.eye(3) * 1j), r"got complex numbers"),
    ],
)
def test_values_that_are_not_real_numbers(bad: Any, message: str) -> None:
    with pytest.raises(TypeError, match=f"^`x` must hold real numbers.*{message}"):
        fastmmd.mmd(bad, Y[:, 0])
    with pytest.raises(TypeError, match=f"^`y` must hold real numbers.*{message}"):
        fastmmd.mmd(X[:, 0], bad)


def test_masked_values() -> None:
    x = np.ma.masked_array(X, mask=X == 2.0)
    n_masked = int((X == 2.0).sum())
    assert n_masked > 0
    with pytest.raises(
        ValueError, match=rf"^`x` must not have masked values; got {n_masked}\."
    ):
        fastmmd.mmd(x, Y)
    assert mmd2(np.ma.masked_array(X, mask=False), Y) == mmd2(X, Y)


# --- Bandwidths and counts


@pytest.mark.parametrize(
    "make", [Gaussian, Laplace, Matern, RationalQuadratic, Cauchy, Cauchy.radial]
)
@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (-1.0, ValueError),
        (0, ValueError),
        (0.0, ValueError),
        (math.nan, ValueError),
        (math.inf, ValueError),
        ("1", TypeError),
        (True, TypeError),
        (None, TypeError),
        (1j, TypeError),
        (np.array([1.0, 2.0]), TypeError),
    ],
)
def test_bandwidths(make: Any, bad: Any, error: type[Exception]) -> None:
    rule = r"^`bandwidth` must be a finite number greater than 0; got "
    with pytest.raises(error, match=rule):
        make(bad)


@pytest.mark.parametrize("bad", [-1.0, 0.0, math.nan, math.inf])
def test_shape_parameters(bad: float) -> None:
    with pytest.raises(ValueError, match=r"^`nu` must be a finite number greater than 0"):
        Matern(1.0, nu=bad)
    with pytest.raises(
        ValueError, match=r"^`alpha` must be a finite number greater than 0"
    ):
        RationalQuadratic(1.0, alpha=bad)


@pytest.mark.parametrize(
    ("make", "name", "too_small"),
    [
        (Fourier, "n_frequencies", 0),
        (lambda count: Fourier(max_frequencies=count), "max_frequencies", 0),
        (Fastfood, "n_frequencies", -1),
        (lambda count: Fastfood(max_frequencies=count), "max_frequencies", 0),
        (Block, "size", 1),
        (lambda count: Exact(workspace=count), "workspace", 1000),
    ],
)
def test_counts(make: Any, name: str, too_small: int) -> None:
    rule = rf"^`{name}` must be an integer of at least \d+; got "
    with pytest.raises(ValueError, match=rule + f"{too_small}"):
        make(too_small)
    for bad in (100.0, "100", True, math.nan):
        with pytest.raises(TypeError, match=rule):
            make(bad)
    make(np.int64(70_000))  # NumPy's integers are integers


@pytest.mark.parametrize("make", [Fourier, Fastfood])
@pytest.mark.parametrize("bad", [-0.1, 0.0, math.nan])
def test_tolerance_over_frequencies(make: Any, bad: float) -> None:
    with pytest.raises(ValueError, match=r"^`tolerance` must be a finite number greater"):
        make(tolerance=bad)


@pytest.mark.parametrize("bad", [0.0, 0.1, 1.0, -1e-9, math.nan])
def test_tolerance_of_the_grid(bad: float) -> None:
    with pytest.raises(ValueError, match=r"^`tolerance` must be a number strictly betw"):
        Grid(tolerance=bad)


# --- Choices


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"kernel": "Gaussian"},
            r"^`kernel` must be one of \"gaussian\", .*got 'Gaussian'",
        ),
        (
            {"method": "fast"},
            r"^`method` must be one of \"auto\", \"exact\", .*got 'fast'",
        ),
        (
            {"estimator": "u"},
            r"^`estimator` must be one of \"unbiased\", \"biased\".*'u'",
        ),
    ],
)
def test_unknown_names(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fastmmd.mmd(X, Y, **options)
    (name,) = options
    with pytest.raises(TypeError, match=rf"^`{name}` must be one of .*got 3\."):
        fastmmd.mmd(X, Y, **{name: 3})


def test_unknown_options_of_fourier() -> None:
    with pytest.raises(
        ValueError, match=r"^`sampling` must be one of .*\"sobol\".*'qmc'"
    ):
        Fourier(sampling="qmc")
    with pytest.raises(ValueError, match=r"^`algorithm` must be one of .*got 'fft'"):
        Fourier(algorithm="fft")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^`tolerance` must be left out when"):
        Fourier(frequencies=[[1.0]], tolerance=0.1)


@pytest.mark.parametrize("kernel", [Gaussian, Laplace, Mixture])
def test_a_kernel_class_where_a_kernel_is_meant(kernel: Any) -> None:
    name = kernel.__name__
    with pytest.raises(
        TypeError, match=rf"^`kernel`.*not its class; got {name}\. Write `{name}\("
    ):
        fastmmd.mmd(X, Y, kernel=kernel)


@pytest.mark.parametrize("method", [Exact, Fourier, Grid])
def test_a_method_class_where_a_method_is_meant(method: Any) -> None:
    name = method.__name__
    with pytest.raises(
        TypeError, match=rf"^`method`.*not its class; got {name}\. Write `{name}\("
    ):
        fastmmd.mmd(X, Y, method=method)


@pytest.mark.parametrize(
    ("rng", "error"), [("seed", TypeError), (1.5, TypeError), (-1, ValueError)]
)
def test_a_bad_source_of_randomness(rng: Any, error: type[Exception]) -> None:
    # Also where nothing is random in the end.
    for method in ("exact", "fourier"):
        with pytest.raises(error, match=rf"^`rng` must be None, .*got {rng!r}\."):
            fastmmd.mmd(X, Y, method=method, rng=rng)


# --- Estimates that do not exist


@pytest.mark.parametrize("method", ALL_METHODS, ids=repr)
@pytest.mark.parametrize(("n_x", "n_y"), [(1, 5), (5, 1), (1, 1)])
def test_unbiased_needs_two_rows(method: Any, n_x: int, n_y: int) -> None:
    message = rf"at least 2 rows in each sample; got {n_x} and {n_y}\. .*\"biased\""
    with pytest.raises(UndefinedEstimateError, match=message):
        mmd2(X[:n_x], Y[:n_y], method)


def test_biased_with_one_row_each() -> None:
    x, y = np.array([[0.0, 1.0]]), np.array([[2.0, 0.0]])
    # mean k(x, x) + mean k(y, y) - 2 mean k(x, y), with r^2 = 5.
    expected = 2.0 - 2.0 * math.exp(-5.0 / 2.0)
    # A handful of roundings of numbers below 2.
    assert mmd2(x, y, estimator="biased") == pytest.approx(expected, abs=8 * 2.0**-52)
    assert mmd2(x, y, Grid(), estimator="biased") == pytest.approx(expected, abs=1e-9)
    w = np.array([[0.3, -0.7], [1.1, 0.4]])
    of_two = np.mean(2.0 - 2.0 * np.cos(w @ (x - y)[0]))
    assert mmd2(x, y, Fourier(frequencies=w), estimator="biased") == pytest.approx(
        of_two, abs=16 * 2.0**-52
    )
    for method in ("fourier", "fastfood"):
        estimate = fastmmd.mmd(
            x, y, kernel=KERNEL, method=method, estimator="biased", rng=1
        )
        # The standard error is itself estimated, at worst from 8 groups: 8.5 of them are
        # passed with probability 6e-5 under a t law with 7 degrees of freedom.
        assert estimate.standard_error is not None
        assert abs(estimate.mmd2 - expected) <= 8.5 * estimate.standard_error


@pytest.mark.parametrize("method", [Linear(), Block(), Block(5), "linear", "block"])
def test_linear_and_block_have_no_biased_form(method: Any) -> None:
    with pytest.raises(
        UndefinedEstimateError, match=r"^`estimator` must be \"unbiased\""
    ):
        mmd2(X, Y, method, estimator="biased")


def test_blocks_larger_than_the_sample() -> None:
    message = r"^`size` must be at most the shorter sample's 30 rows; got 31\."
    with pytest.raises(UndefinedEstimateError, match=message):
        mmd2(X, Y, Block(31))
    # One block of all rows is the one-sample U statistic over them.
    y = Y[:30]
    gram = KERNEL.gram(X, X) + KERNEL.gram(y, y) - KERNEL.gram(X, y) - KERNEL.gram(y, X)
    expected = (gram.sum() - np.trace(gram)) / (30 * 29)
    # Sums of 3600 numbers up to 1, divided by 870.
    assert mmd2(X, y, Block(30)) == pytest.approx(expected, abs=3600 * 2.0**-52)


# --- Frequencies and kernels that do not fit the method


@pytest.mark.parametrize(
    ("frequencies", "error", "message"),
    [
        (
            np.ones((5, 2)),
            ValueError,
            r"must have shape \(n_frequencies, 3\).*got \(5, 2\)",
        ),
        ([1.0, 2.0], ValueError, r"must have shape \(n_frequencies, 3\).*got \(2,\)"),
        (np.ones((0, 3)), ValueError, r"at least one row"),
        ([[1.0, np.nan, 2.0]], ValueError, r"must be finite.* 1 of 1 rows"),
        (3.0, ValueError, r"must have shape"),
        ([["a", "b", "c"]], TypeError, r"must hold real numbers; got strings"),
    ],
)
def test_bad_frequencies(frequencies: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^`frequencies` .*{message}"):
        mmd2(X, Y, Fourier(frequencies=frequencies))


@pytest.mark.parametrize(
    "kernel",
    [
        Laplace(1.0),
        Cauchy(1.0),
        2.0 * Laplace(1.0),
        Mixture([Gaussian(1.0), Laplace(1.0)]),
        SpectralKernel(normal_sampler),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_fastfood_and_orthogonal_draws_need_a_radial_kernel(kernel: Any) -> None:
    with pytest.raises(
        UnsupportedKernelError, match=r"^`kernel` must be radial for Fastf"
    ):
        fastmmd.mmd(X, Y, kernel=kernel, method="fastfood")
    with pytest.raises(UnsupportedKernelError, match=r"^`sampling` must be .*not radial"):
        fastmmd.mmd(X, Y, kernel=kernel, method=Fourier(sampling="orthogonal"))


def test_grid_has_at_most_three_columns() -> None:
    with pytest.raises(ValueError, match=r"^`Grid` must have at most 3 columns; got 4\."):
        mmd2(np.zeros((5, 4)), np.ones((5, 4)), "grid")


def test_missing_finufft_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "finufft", None)  # makes `import finufft` fail
    with pytest.raises(
        MissingDependencyError, match=r"finufft.*pip install \"fastmmd\[grid\]\""
    ) as caught:
        mmd2(X, Y, "grid")
    assert isinstance(caught.value, ImportError)


@pytest.mark.parametrize("method", ["exact", "linear", "block", "grid"])
def test_a_kernel_known_by_its_sampler_alone(method: str) -> None:
    kernel = SpectralKernel(normal_sampler)
    with pytest.raises(UnsupportedKernelError, match=r"`kernel` must have a value"):
        fastmmd.mmd(X, Y, kernel=kernel, method=method)
    with pytest.raises(UnsupportedKernelError, match=r"`kernel` must have a value"):
        kernel([[1.0, 2.0]])
    assert fastmmd.mmd(X, Y, kernel=kernel, rng=1).method == "fourier"


def test_quasi_random_draws_need_more_than_a_sampler() -> None:
    with pytest.raises(UnsupportedKernelError, match=r"^`sampling` must be \"iid\""):
        fastmmd.mmd(
            X, Y, kernel=SpectralKernel(normal_sampler), method=Fourier(sampling="sobol")
        )


@pytest.mark.parametrize(
    ("sampler", "message"),
    [
        (
            lambda n, d, rng: rng.normal(size=(d, n)),
            r"\(1024, 3\); got shape \(3, 1024\)",
        ),
        (lambda n, _, rng: rng.normal(size=n), r"\(1024, 3\); got shape \(1024,\)"),
        (lambda n, d, _: np.full((n, d), np.nan), r"with NaN or infinity"),
    ],
)
def test_a_sampler_that_breaks_its_promise(sampler: Any, message: str) -> None:
    with pytest.raises(ValueError, match=rf"^`sampler` must return finite.*{message}"):
        fastmmd.mmd(X, Y, kernel=SpectralKernel(sampler), method="fourier")


def test_bad_parts_of_a_spectral_kernel() -> None:
    with pytest.raises(TypeError, match=r"^`sampler` must be callable; got 3\."):
        SpectralKernel(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^`value` must be callable; got 3\."):
        SpectralKernel(normal_sampler, 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^`second_moment_per_column` must be a finite"):
        SpectralKernel(normal_sampler, second_moment_per_column=-1.0)


@pytest.mark.parametrize("bad", [-1.0, 0.0, math.nan, math.inf])
def test_bad_factors_of_a_kernel(bad: float) -> None:
    for product in (lambda: bad * KERNEL, lambda: KERNEL * bad):
        with pytest.raises(
            ValueError, match=r"^`factor` must be a finite number greater"
        ):
            product()
    with pytest.raises(TypeError, match=r"^`factor` must be a finite number greater"):
        KERNEL * "2"  # type: ignore[operator]


# --- What just works


def _strided(values: np.ndarray) -> np.ndarray:
    wide = np.full((2 * len(values), 2 * values.shape[1]), -9.0)
    wide[::2, ::2] = values
    return wide[::2, ::2]


def with_duplicates(values: np.ndarray) -> scipy.sparse.csr_array:
    """Return CSR rows where each number is stored in two unordered parts."""
    n_rows, n_columns = values.shape
    columns = np.concatenate([np.arange(n_columns), np.arange(n_columns)[::-1]])
    parts = np.concatenate([values - 1.0, np.ones_like(values)], axis=1)
    return scipy.sparse.csr_array(
        (parts.ravel(), np.tile(columns, n_rows), 2 * n_columns * np.arange(n_rows + 1)),
        shape=values.shape,
    )


FORMS = {
    "list": lambda values: values.tolist(),
    "tuple": lambda values: tuple(map(tuple, values.tolist())),
    "list of rows": list,
    "int64": lambda values: values.astype(np.int64),
    "int8": lambda values: values.astype(np.int8),
    "uint8": lambda values: values.astype(np.uint8),
    "float32": lambda values: values.astype(np.float32),
    "float16": lambda values: values.astype(np.float16),
    "long double": lambda values: values.astype(np.longdouble),
    "other byte order": lambda values: values.astype(">f8"),
    "Fortran order": np.asfortranarray,
    "strided": _strided,
    "reversed": lambda values: values[::-1, ::-1].copy()[::-1, ::-1],
    "data frame": Frame,
    "csr_array": scipy.sparse.csr_array,
    "csc_array": scipy.sparse.csc_array,
    "coo_array": scipy.sparse.coo_array,
    "csr_matrix": scipy.sparse.csr_matrix,
    "csc_matrix": scipy.sparse.csc_matrix,
    "coo_matrix": scipy.sparse.coo_matrix,
    "csr_array of int8": lambda values: scipy.sparse.csr_array(values.astype(np.int8)),
    "csr_array of float32": lambda values: scipy.sparse.csr_array(
        values, dtype=np.float32
    ),
    "CSR with duplicates": with_duplicates,
}


IN_DOUBLE = [
    Fourier(64, sampling="iid", precision="double"),
    Fourier(64, sampling="orthogonal", algorithm="amplitudes", precision="double"),
    Fastfood(64, precision="double"),
]


@pytest.mark.parametrize("method", ALL_METHODS[:-1] + IN_DOUBLE, ids=repr)
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_same_numbers_gives_the_same_estimate(
    form: str, method: Any
) -> None:
    x, y = FORMS[form](X), FORMS[form](Y)
    plain = mmd2(X, Y, method)
    # Values are equal, only the order of roundings may differ. Largest in phases: three
    # products of |w| < 5 and |x| <= 4 are off by 60 eps, a squared amplitude by 4 times
    # that; differences of kernel values by less.
    bound = 3 * 4 * 60 * 2.0**-52
    in_single = method in (ALL_METHODS[1], ALL_METHODS[2], ALL_METHODS[4])
    if in_single and scipy.sparse.issparse(x):
        # Features of drawn frequencies are in single precision and sparse rows are not
        # centred: phases of up to 60, in both estimates.
        feature = precision.feature_error(60 / (2 * np.pi), 3, single=True)
        bound = 2 * precision.mmd2_error(feature, n_rows=30)
    elif in_single and precision.EXACT_SUMS:
        bound = 0.0
    assert mmd2(x, y, method) == pytest.approx(plain, rel=0.0, abs=bound)
    assert mmd2(x, Y, method) == pytest.approx(plain, rel=0.0, abs=bound)
    assert mmd2(X, y, method) == pytest.approx(plain, rel=0.0, abs=bound)


@pytest.mark.parametrize("form", ["int8", "float16", "strided", "CSR with duplicates"])
def test_forms_for_the_grid(form: str) -> None:
    # In one column and few forms: each transform starts threads, which takes its time.
    x, y = X[:, :1], Y[:, :1]
    expected = mmd2(x, y, "grid")
    # Equal numbers go into the transform; it adds them up in an order of its own.
    assert mmd2(FORMS[form](x), FORMS[form](y), "grid") == pytest.approx(
        expected, abs=1e-12
    )


def test_booleans_are_zeros_and_ones() -> None:
    x, y = X > 2.0, Y > 1.0
    assert mmd2(x, y) == mmd2(x.astype(float), y.astype(float))
    sparse = mmd2(scipy.sparse.csr_array(x), scipy.sparse.csr_array(y))
    assert sparse == pytest.approx(mmd2(x, y), abs=64 * 2.0**-52)


def test_small_integers_do_not_wrap_around() -> None:
    # 200 - 100 and 100 - 200 in uint8, 100 + 100 in int8.
    x, y = np.array([200, 100], dtype=np.uint8), np.array([100, 201], dtype=np.uint8)
    kernel = Gaussian(100.0)
    for method in ("exact", "linear", "fourier"):
        options = {"kernel": kernel, "method": method, "rng": 0}
        expected = fastmmd.mmd(x.astype(float), y.astype(float), **options).mmd2
        assert fastmmd.mmd(x, y, **options).mmd2 == expected


@pytest.mark.parametrize("method", ["exact", "fourier", "linear"])
def test_one_dimension_is_one_column(method: str) -> None:
    x, y = X[:, 0], Y[:, 0]
    expected = mmd2(x[:, None], y[:, None], method)
    assert mmd2(x, y, method) == expected
    assert mmd2(x.tolist(), y[:, None], method) == expected
    assert mmd2(Frame(x), y, method) == expected


def test_given_frequencies_in_every_form() -> None:
    w = RNG.normal(size=(20, 3))
    expected = mmd2(X, Y, Fourier(frequencies=w))
    # The bound of the phases above.
    bound = 3 * 4 * 60 * 2.0**-52
    for form in (w.tolist(), np.asfortranarray(w), _strided(w)):
        assert mmd2(X, Y, Fourier(frequencies=form)) == pytest.approx(expected, abs=bound)


def _bytes(sample: Any) -> tuple[bytes, ...]:
    if isinstance(sample, np.ndarray):
        return (sample.tobytes(),)
    return tuple(part.tobytes() for part in (sample.data, sample.indices, sample.indptr))


@pytest.mark.parametrize("method", ALL_METHODS, ids=repr)
def test_inputs_are_never_modified(method: Any) -> None:
    n_columns = 1 if isinstance(method, Grid) else 3
    for make in (np.array, with_duplicates, scipy.sparse.csr_array):
        x, y = make(X[:, :n_columns]), make(Y[:, :n_columns])
        before = _bytes(x), _bytes(y)
        fastmmd.mmd(x, y, method=method, rng=1)
        assert (_bytes(x), _bytes(y)) == before


def test_neither_bandwidth_rules_nor_gram_matrices_modify_inputs() -> None:
    for make in (np.array, with_duplicates):
        x, y = make(X), make(Y)
        before = _bytes(x), _bytes(y)
        fastmmd.bandwidth.median_bandwidth(x, y, max_rows=20, rng=0)
        for kernel in (KERNEL, Laplace(1.0), Cauchy(1.0), Matern(1.0, nu=0.8)):
            kernel.gram(x, y)
        assert (_bytes(x), _bytes(y)) == before
    differences = X - Y[:30]
    before = differences.tobytes()
    for kernel in (
        KERNEL,
        Laplace(1.0),
        SpectralKernel(normal_sampler, lambda t: np.exp(np.negative(t, out=t).sum(-1))),
    ):
        kernel(differences)
        assert differences.tobytes() == before


def broken(form: str, what: str) -> scipy.sparse.csr_array:
    """Return a matrix whose arrays do not fit its shape; SciPy looks at lengths alone."""
    matrix = scipy.sparse.random_array((6, 4), density=0.5, format=form, rng=0)
    if form == "coo":
        which = matrix.coords["indices" not in what]
        which[...] += {"high indices": 4, "low indices": -3, "rows": 60}[what]
    elif what == "pointers":
        matrix.indptr[2] = matrix.indptr[1] - 1 if matrix.indptr[1] else 99
    elif what == "last pointer":
        matrix.indptr[-1] += 5
    else:
        matrix.indices += {"high indices": 6, "low indices": -3}[what]
    return matrix


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo"])
@pytest.mark.parametrize(
    "what", ["high indices", "low indices", "pointers", "last pointer"]
)
@pytest.mark.parametrize("method", ["exact", "fourier", "fastfood", "linear"])
def test_sparse_matrices_out_of_order_are_refused(form, what, method):
    """Read past their memory, they gave wrong answers or ended the process."""
    what = "rows" if form == "coo" and "pointer" in what else what
    good = scipy.sparse.random_array((6, 4), density=0.5, format="csr", rng=1)
    with pytest.raises(DataError, match=r"`x` must be a sparse matrix"):
        fastmmd.mmd(broken(form, what), good, method=method, rng=0)
    with pytest.raises(DataError, match=r"`y` must be a sparse matrix"):
        fastmmd.two_sample_test(good, broken(form, what), rng=0)
