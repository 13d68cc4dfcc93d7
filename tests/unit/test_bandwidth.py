"""Bandwidths from pooled data: right, cheap, and blind to the labels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from fastmmd import (
    Cauchy,
    Gaussian,
    Laplace,
    Matern,
    RationalQuadratic,
    bandwidth,
)
from fastmmd._random import as_generator
from fastmmd._rows import check_rows
from fastmmd.bandwidth import (
    geometric_bandwidths,
    median_bandwidth,
    pooled_subsample,
    resolve_kernel,
)

EPS = 2.0**-52


def brute_force(rows: np.ndarray, metric: str = "euclidean") -> float:
    distances = [
        math.sqrt(sum((a - b) ** 2)) if metric == "euclidean" else sum(abs(a - b))
        for i, a in enumerate(rows)
        for b in rows[:i]
    ]
    return float(np.median(distances))


# --- The median


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
@pytest.mark.parametrize("n_columns", [1, 3, 30])
@pytest.mark.parametrize(("n_x", "n_y"), [(1, 2), (7, 12), (20, 5)])
def test_median_against_all_pairs(
    metric: str, n_columns: int, n_x: int, n_y: int
) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(n_x, n_columns)), rng.normal(3.0, 2.0, (n_y, n_columns))
    expected = brute_force(np.concatenate([x, y]), metric)
    # Sums of 30 terms; squared distances from a product are good to 1e-13 of themselves.
    assert median_bandwidth(x, y, metric=metric) == pytest.approx(expected, rel=1e-13)


def test_default_metric_is_euclidean() -> None:
    assert median_bandwidth([[0.0, 0.0]], [[3.0, 4.0]]) == 5.0
    assert median_bandwidth([[0.0, 0.0]], [[3.0, 4.0]], metric="cityblock") == 7.0


def test_median_of_an_even_number_of_pairs() -> None:
    # Distances 1, 2, 3, 1, 2, 1 of four rows in a row: the middle two are 1 and 2.
    assert median_bandwidth([0.0, 1.0], [2.0, 3.0]) == 1.5


def test_every_way_to_split_the_pooled_rows_gives_the_same() -> None:
    rows = np.random.default_rng(2).normal(size=(300, 2))
    for max_rows in (50, 299, 300, 1000):
        medians = {
            median_bandwidth(rows[:n], rows[n:], max_rows=max_rows, rng=3)
            for n in (1, 2, 100, 299)
        }
        assert len(medians) == 1, max_rows


def test_swapping_the_samples_changes_nothing_but_the_draw() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(40, 2)), rng.normal(size=(70, 2))
    assert median_bandwidth(x, y) == median_bandwidth(y, x)
    pooled = np.concatenate([x, y])
    # With a draw, the same rows in the same pooled order count, whoever has them.
    assert median_bandwidth(x, y, max_rows=30, rng=5) == median_bandwidth(
        pooled[:70], pooled[70:], max_rows=30, rng=5
    )


def test_a_draw_depends_on_the_seed_alone() -> None:
    x, y = np.random.default_rng(6).normal(size=(2, 400, 3))
    medians = [median_bandwidth(x, y, max_rows=20, rng=seed) for seed in (0, 0, 1)]
    assert medians[0] == medians[1] != medians[2]
    # Without a draw there is nothing random.
    whole = {median_bandwidth(x, y, rng=seed) for seed in (0, 1, None)}
    assert len(whole) == 1


def test_the_subsample_is_uniform_over_the_pooled_rows() -> None:
    n_x, n_y, size, n_repeats = 3, 17, 5, 4000
    x = check_rows(np.arange(n_x, dtype=float), name="x")
    y = check_rows(np.arange(n_x, n_x + n_y, dtype=float), name="y")
    rng = as_generator(7)
    counts = np.zeros(n_x + n_y)
    pairs = 0
    for _ in range(n_repeats):
        rows = pooled_subsample(x, y, size, rng).ravel().astype(int)
        assert len(set(rows)) == size  # no row twice
        counts[rows] += 1
        pairs += {0, 1} <= set(rows)
    share = size / (n_x + n_y)
    # Binomial counts, 4.9 standard errors: once in 10^6 for each of 20 rows.
    error = math.sqrt(n_repeats * share * (1 - share))
    assert np.abs(counts - n_repeats * share).max() <= 4.9 * error
    share = size * (size - 1) / ((n_x + n_y) * (n_x + n_y - 1))
    error = math.sqrt(n_repeats * share * (1 - share))
    assert abs(pairs - n_repeats * share) <= 4.9 * error


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array])
def test_a_subsample_holds_rows_of_the_sample(make: Any) -> None:
    values = np.random.default_rng(8).integers(0, 3, (50, 4)).astype(np.float32)
    x, y = (
        check_rows(make(values[:20]), name="x"),
        check_rows(make(values[20:]), name="y"),
    )
    for size in (10, 100):
        rows = pooled_subsample(x, y, size, as_generator(9))
        assert rows.shape == (min(size, 50), 4)
        assert rows.dtype == np.float64
        assert {tuple(row) for row in rows} <= {tuple(row) for row in values}


def test_large_samples_are_never_compared_as_a_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = []
    original = bandwidth.column_sums

    def column_sums(x: np.ndarray, y: np.ndarray, *options: Any) -> np.ndarray:
        sizes.append((len(x), len(y)))
        return original(x, y, *options)

    monkeypatch.setattr(bandwidth, "column_sums", column_sums)
    x = np.random.default_rng(10).normal(size=(300_000, 1))
    median = median_bandwidth(x, x + 1.0, rng=0)
    assert sum(n_x * n_y for n_x, n_y in sizes) <= 1000 * 1000
    # Rows are N(0, 1) or N(1, 1) with equal chance, so half the differences are N(0, 2) and
    # half N(+-1, 2); the median of their size is 1.08. Of a U statistic with 1000 rows,
    # the sampling error is about 0.03.
    assert median == pytest.approx(1.08, abs=0.15)


def test_many_columns_take_fewer_rows() -> None:
    # 20 rows of 2^21 columns would be 320 MB; the subsample has room for 64.
    x = scipy.sparse.random_array(
        (10, 2**21), density=1e-6, rng=np.random.default_rng(11)
    )
    rows = check_rows(x, name="x")
    assert pooled_subsample(rows, rows, 1000, as_generator(0)).nbytes <= 2**26


def test_sparse_rows() -> None:
    rng = np.random.default_rng(12)
    values = rng.normal(size=(60, 8)) * (rng.random((60, 8)) < 0.3)
    dense = [
        median_bandwidth(values[:25], values[25:], max_rows=size, rng=1)
        for size in (30, 1000)
    ]
    for make in (scipy.sparse.csr_array, scipy.sparse.csc_matrix, scipy.sparse.coo_array):
        x, y = make(values[:25]), make(values[25:])
        sparse = [median_bandwidth(x, y, max_rows=size, rng=1) for size in (30, 1000)]
        assert sparse == dense
    assert median_bandwidth(make(values[:25]), values[25:]) == dense[1]


# --- Ties


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
@pytest.mark.parametrize("n_columns", [2, 30])
@pytest.mark.parametrize("offset", [0.0, 1e6, 0.1])
def test_equal_rows_give_one(metric: str, n_columns: int, offset: float) -> None:
    rows = np.full((20, n_columns), offset)
    assert median_bandwidth(rows[:5], rows[5:], metric=metric) == 1.0


def test_one_row_in_each_sample() -> None:
    assert median_bandwidth([2.0], [5.0]) == 3.0
    assert median_bandwidth([2.0], [2.0]) == 1.0


def test_mostly_equal_rows_give_the_median_of_those_that_differ() -> None:
    # 8 equal rows make 28 of 45 pairs zero; the others are 3 (8 times), 5 (8 times), 2.
    x, y = [0.0] * 8, [3.0, 5.0]
    assert median_bandwidth(x, y) == 3.0
    # Few ties do not matter: the plain median of 0, 1, 1 over three pairs.
    assert median_bandwidth([0.0, 0.0], [1.0]) == 1.0
    # Three distances of 0 among six are not more than half: the plain median again.
    assert median_bandwidth([0.0, 0.0, 0.0], [4.0]) == brute_force(
        np.array([[0.0], [0.0], [0.0], [4.0]])
    )


def test_integers_do_not_wrap_around() -> None:
    x, y = np.array([250], dtype=np.uint8), np.array([1], dtype=np.uint8)
    assert median_bandwidth(x, y) == 249.0


# --- Families


def test_the_family_of_the_paper() -> None:
    family = geometric_bandwidths(0.1, 100.0, ratio=10 ** (1 / 5))
    assert family.shape == (16,)
    # A power of a rounded ratio: up to 15 + 1 times its rounding.
    np.testing.assert_allclose(family, 10 ** np.linspace(-1.0, 2.0, 16), rtol=32 * EPS)


@pytest.mark.parametrize(
    ("start", "stop", "ratio", "expected"),
    [
        (1.0, 8.0, 2.0, [1.0, 2.0, 4.0, 8.0]),
        (1.0, 7.9, 2.0, [1.0, 2.0, 4.0]),
        (3.0, 3.0, 2.0, [3.0]),
        (3.0, 5.0, 2.0, [3.0]),
        (1, 100, 10, [1.0, 10.0, 100.0]),
    ],
)
def test_geometric_steps(
    start: float, stop: float, ratio: float, expected: list[float]
) -> None:
    assert geometric_bandwidths(start, stop, ratio=ratio).tolist() == expected


# --- Named kernels


def test_a_name_means_the_pooled_median() -> None:
    rng = np.random.default_rng(13)
    x, y = rng.normal(size=(2, 30, 2))
    euclidean = median_bandwidth(x, y)
    for name, kernel in {
        "gaussian": Gaussian(euclidean),
        "matern": Matern(euclidean),
        "rational_quadratic": RationalQuadratic(euclidean),
        "cauchy": Cauchy(euclidean),
        "laplace": Laplace(median_bandwidth(x, y, metric="cityblock")),
    }.items():
        assert resolve_kernel(name, x, y) == kernel
    assert median_bandwidth(x, y, metric="cityblock") > euclidean
    assert resolve_kernel(Gaussian(0.1), x, y) == Gaussian(0.1)


# --- Errors


def test_errors_of_the_median() -> None:
    x = np.zeros((5, 2))
    with pytest.raises(ValueError, match=r"^`metric` must be one of .*got 'l2'"):
        median_bandwidth(x, x, metric="l2")
    with pytest.raises(ValueError, match=r"^`max_rows` must be an integer of at least 2"):
        median_bandwidth(x, x, max_rows=1)
    with pytest.raises(TypeError, match=r"^`max_rows` must be an integer of at least 2"):
        median_bandwidth(x, x, max_rows=10.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"same number of columns"):
        median_bandwidth(x, np.zeros((5, 3)))
    with pytest.raises(ValueError, match=r"^`y` must be finite"):
        median_bandwidth(x, [[1.0, np.nan]])
    with pytest.raises(TypeError, match=r"^`rng` must be "):
        median_bandwidth(x, x, rng="a")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("start", "stop", "ratio", "message"),
    [
        (0.0, 1.0, 2.0, r"^`start` must be a finite number greater than 0"),
        (1.0, math.inf, 2.0, r"^`stop` must be a finite number greater than 0"),
        (1.0, 2.0, math.nan, r"^`ratio` must be a finite number greater than 0"),
        (2.0, 1.0, 2.0, r"^`stop` must be at least `start`; got 1\.0 and 2\.0"),
        (1.0, 2.0, 1.0, r"^`ratio` must be greater than 1; got 1\.0"),
        (1.0, 2.0, 0.5, r"^`ratio` must be greater than 1; got 0\.5"),
    ],
)
def test_errors_of_families(
    start: float, stop: float, ratio: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        geometric_bandwidths(start, stop, ratio=ratio)


def test_errors_of_names() -> None:
    with pytest.raises(ValueError, match=r"^`kernel` must be one of \"gaussian\", "):
        resolve_kernel("gauss", [0.0], [1.0])
    with pytest.raises(TypeError, match=r"not its class; got Laplace\."):
        resolve_kernel(Laplace, [0.0], [1.0])  # type: ignore[arg-type]
