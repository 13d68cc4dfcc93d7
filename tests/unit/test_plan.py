"""What ``method="auto"`` chooses, what it says about it, and that `mmd` obeys."""

from __future__ import annotations

import importlib.util
import math
import re
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import fastmmd
from fastmmd import (
    Cauchy,
    Gaussian,
    Laplace,
    Matern,
    Mixture,
    Plan,
    RationalQuadratic,
    SpectralKernel,
    _cost,
    _plan,
    plan,
)
from fastmmd._backends.pairs import DIRECT_COLUMNS
from fastmmd._plan import plan_for_rows
from fastmmd._rows import check_rows

MILLION = 10**6

# Numbers to reason with, in seconds per operation, in place of those measured.
RATES = {
    "call": 1e-4,
    "pair": 1e-8,
    "pair_column": 1e-9,
    "pair_column_product": 1e-10,
    "linear_row": 1e-8,
    "linear_number": 1e-9,
    "phase": 1e-8,
    "phase_column": 1e-10,
    "phase_nonzero": 1e-9,
    "orthogonal": 1e-14,
    "hadamard": 1e-10,
    "grid_row_1": 1e-7,
    "grid_row_2": 5e-7,
    "grid_row_3": 2e-6,
    "grid_mode_1": 1e-7,
    "grid_mode_2": 1e-7,
    "grid_mode_3": 1e-7,
}


def normal_sampler(
    n_frequencies: int, n_columns: int, rng: np.random.Generator
) -> np.ndarray:
    return rng.normal(size=(n_frequencies, n_columns))


@pytest.fixture
def fixed_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_cost, "_rates", lambda: RATES)
    monkeypatch.setattr(_plan, "_FASTFOOD_ADVANTAGE", 10.0)


@pytest.fixture
def without_finufft(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name == "finufft" else find(name, *rest),
    )


@pytest.fixture
def few_transforms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail when a plan, which should take milliseconds, transforms millions of points."""
    transform, total = np.fft.fft, 0

    def fft(values: np.ndarray, *rest: Any, **options: Any) -> np.ndarray:
        nonlocal total
        total += len(values)
        assert total <= 2**24, "a plan must not cost more than what it plans"
        return transform(values, *rest, **options)

    monkeypatch.setattr(np.fft, "fft", fft)


def names(of: Plan) -> list[str]:
    return [option.method.name for option in of.options]


def seconds(of: Plan, name: str) -> float:
    (found,) = (option.seconds for option in of.options if option.method.name == name)
    return found


# --- Choices


@pytest.mark.parametrize("n_columns", [1, 3, 16, 100])
@pytest.mark.parametrize("kernel", ["gaussian", "cauchy", Gaussian(0.3)], ids=str)
@pytest.mark.parametrize("estimator", ["unbiased", "biased"])
def test_small_samples_are_computed_exactly(
    n_columns: int, kernel: Any, estimator: str
) -> None:
    assert plan(100, 200, n_columns, kernel, estimator=estimator).method.name == "exact"


@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_many_rows_of_few_columns_take_the_grid(n_columns: int) -> None:
    pytest.importorskip("finufft")
    chosen = plan(MILLION, MILLION, n_columns)
    assert chosen.method.name == "grid"
    assert f"In {n_columns} column{'s' if n_columns > 1 else ''} a grid" in chosen.reason


@pytest.mark.usefixtures("without_finufft")
@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_without_finufft_there_is_no_grid(n_columns: int) -> None:
    chosen = plan(MILLION, MILLION, n_columns)
    assert chosen.method.name == "fourier"
    assert "grid" not in names(chosen)


@pytest.mark.parametrize("n_columns", [4, 16, 50])
@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "matern", "cauchy"])
def test_many_rows_of_more_columns_take_frequencies(n_columns: int, kernel: str) -> None:
    chosen = plan(MILLION, MILLION, n_columns, kernel)
    assert chosen.method.name == "fourier"
    assert "grid" not in names(chosen)


@pytest.mark.usefixtures("few_transforms")
@pytest.mark.parametrize("n_columns", [1, 2, 3])
@pytest.mark.parametrize("kernel", [Laplace(1.0), Matern(1.0, nu=0.5)], ids=repr)
def test_rough_kernels_take_no_grid(kernel: Any, n_columns: int) -> None:
    chosen = plan(MILLION, MILLION, n_columns, kernel)
    assert chosen.method.name == "fourier"
    assert "grid" not in names(chosen)


@pytest.mark.usefixtures("few_transforms")
def test_a_rough_kernel_is_refused_by_the_grid_at_little_cost() -> None:
    pytest.importorskip("finufft")
    with pytest.raises(
        fastmmd.UnsupportedKernelError, match=r"^`Grid` must need fewer frequencies"
    ):
        fastmmd.mmd([0.0, 1.0, 2.0], [1.0, 3.0], kernel=Laplace(1.0), method="grid")


@pytest.mark.parametrize(
    "kernel",
    [Laplace(1.0), Cauchy(1.0), 2 * Laplace(1.0), Mixture([Gaussian(1.0), Laplace(1.0)])],
    ids=repr,
)
@pytest.mark.parametrize("n_columns", [16, 1000, 100_000])
def test_product_kernels_never_take_fastfood(kernel: Any, n_columns: int) -> None:
    chosen = plan(MILLION, MILLION, n_columns, kernel)
    assert chosen.method.name == "fourier"
    assert "fastfood" not in names(chosen)


@pytest.mark.usefixtures("fixed_rates")
def test_very_many_dense_columns_take_fastfood() -> None:
    chosen = plan(10**5, 10**5, 4096)
    assert chosen.method.name == "fastfood"
    # 1024 frequencies of 2e5 rows. The matrix: 1e-8 s for cos and sin and 4096 times 1e-10
    # for the product; drawing it and the call come to less than 1e-4 of that.
    phases = 2e5 * 1024
    assert seconds(chosen, "fourier") == pytest.approx(phases * 4.196e-7, rel=1e-4)
    # Fast transforms: one block of 4096 columns, 1 + 12 passes of 1e-10 s.
    by_transforms = phases * 1e-8 + 2e5 * 4096 * 13e-10
    assert chosen.seconds == pytest.approx(by_transforms, rel=1e-4)
    assert "27.6 times faster" in chosen.reason
    # In 64 columns the product is next to nothing, and there is nothing to gain.
    assert plan(10**5, 10**5, 64).method.name == "fourier"


@pytest.mark.usefixtures("fixed_rates")
def test_padding_counts() -> None:
    # 2049 columns are padded to 4096, of which 1024 frequencies are kept.
    below, above = (seconds(plan(10**5, 10**5, d), "fastfood") for d in (2048, 2049))
    passes = (4096 * 13 - 2048 * 12) * 2e5 * 1e-10
    assert above - below == pytest.approx(passes, rel=1e-9)


@pytest.mark.usefixtures("fixed_rates")
def test_a_small_advantage_does_not_buy_worse_draws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Transforms 15 times as slow as above take 18 s against 86 s: not the factor 10.
    monkeypatch.setattr(_cost, "_rates", lambda: RATES | {"hadamard": 1.5e-9})
    chosen = plan(10**5, 10**5, 4096)
    assert chosen.method.name == "fourier"
    assert seconds(chosen, "fastfood") < 0.25 * chosen.seconds


@pytest.mark.usefixtures("fixed_rates")
def test_density_matters() -> None:
    dense, sparse = (plan(10**5, 10**5, 4096, density=share) for share in (1.0, 0.001))
    assert dense.method.name == "fastfood"
    assert sparse.method.name == "fourier"
    # Four non-zero entries a row: 1e-8 + 4.1e-9 s a phase.
    expected = 2e5 * 1024 * (1e-8 + 4.096e-9)
    assert sparse.seconds == pytest.approx(expected, rel=1e-4)
    assert seconds(sparse, "exact") < seconds(dense, "exact")
    # Denser rows cost more.
    costs = [
        seconds(plan(10**5, 10**5, 4096, density=share), "fourier")
        for share in (0.0, 0.001, 0.01, 0.1, 0.9)
    ]
    assert costs == sorted(set(costs))


@pytest.mark.parametrize("n", [1000, MILLION])
def test_the_biased_estimate_excludes_linear_and_block(n: int) -> None:
    unbiased = plan(n, n, 5)
    biased = plan(n, n, 5, estimator="biased")
    assert set(names(unbiased)) - set(names(biased)) == {"linear", "block"}
    assert biased.method.name == unbiased.method.name


def test_linear_and_block_need_two_rows() -> None:
    assert not {"linear", "block"} & set(names(plan(1, 10, 2)))
    assert {"linear", "block"} <= set(names(plan(2, 10, 2)))


@pytest.mark.parametrize("n", [10, MILLION])
@pytest.mark.parametrize("n_columns", [1, 5])
def test_a_kernel_without_value_takes_frequencies(n: int, n_columns: int) -> None:
    chosen = plan(n, n, n_columns, SpectralKernel(normal_sampler))
    assert names(chosen) == ["fourier"]
    radial = plan(n, n, n_columns, SpectralKernel(normal_sampler, radial=True))
    assert set(names(radial)) == {"fourier", "fastfood"}


def test_noisy_methods_are_never_chosen() -> None:
    for n in (10, 1000, 10**4, 10**5, 10**7):
        for n_columns in (1, 3, 16, 300, 5000):
            chosen = plan(n, n, n_columns)
            assert chosen.method.name in {"exact", "grid", "fourier", "fastfood"}
            assert {"linear", "block"} <= set(names(chosen))


@pytest.mark.usefixtures("fixed_rates")
def test_exact_up_to_half_a_second() -> None:
    # All pairs of n + n rows, each once: 2 n^2 (1e-8 + 5e-9) s, half a second at n = 4082.
    below, above = plan(4080, 4080, 5), plan(4085, 4085, 5)
    assert below.method.name == "exact"
    assert above.method.name == "fourier"
    assert "all pairs would take" in above.reason
    assert seconds(above, "exact") > 0.5 >= below.seconds


# --- What a plan holds


@pytest.mark.parametrize(
    "args",
    [(100, 100, 2), (MILLION, 10, 2), (MILLION, MILLION, 16), (10**5, 10**5, 4096)],
)
def test_a_plan_is_consistent(args: tuple[int, int, int]) -> None:
    made = plan(*args)
    first, *rest = made.options
    assert (made.method, made.seconds, made.workspace) == (
        first.method,
        first.seconds,
        first.workspace,
    )
    assert [option.seconds for option in rest] == sorted(o.seconds for o in rest)
    assert len(set(names(made))) == len(made.options)
    for option in made.options:
        assert math.isfinite(option.seconds)
        assert option.seconds > 0.0
        assert isinstance(option.workspace, int)
        assert option.workspace > 0
        assert option.error


@pytest.mark.parametrize("n_columns", [1, 2, 3, 16, 5000])
def test_costs_grow_with_rows(n_columns: int) -> None:
    sizes = [2, 100, 5000, 10**5, 10**7]
    by_size = [plan(n, n, n_columns) for n in sizes]
    for name in set.intersection(*(set(names(made)) for made in by_size)):
        costs = [seconds(made, name) for made in by_size]
        assert costs == sorted(set(costs)), name
    # One longer sample costs more too, except for methods of the shorter one.
    short, long = plan(1000, 1000, n_columns), plan(1000, 10**6, n_columns)
    for name in set(names(short)) - {"linear", "block"}:
        assert seconds(long, name) > seconds(short, name)


@pytest.mark.parametrize("n", [1000, MILLION])
def test_costs_grow_with_columns(n: int) -> None:
    few, many = (1, 2, 3, DIRECT_COLUMNS), (DIRECT_COLUMNS + 1, 100, 3000, 10**5)
    by_columns = [plan(n, n, d) for d in few + many]
    for name in ("exact", "linear", "block", "fourier", "fastfood"):
        costs = [seconds(made, name) for made in by_columns]
        # In many columns distances come from a matrix product, which is faster.
        for part in (costs[: len(few)], costs[len(few) :]):
            assert part == sorted(part), name
        assert costs[-1] > costs[0], name
    grids = [seconds(made, "grid") for made in by_columns if "grid" in names(made)]
    assert grids == sorted(set(grids))


@pytest.mark.usefixtures("fixed_rates")
def test_only_euclidean_distances_come_from_a_product() -> None:
    # 2e6 pairs of 100 columns: 1e-10 s each by the product, 1e-9 s column by column.
    pairs = 2e6
    gaussian, laplace, cauchy = (
        seconds(plan(1000, 1000, 100, kernel), "exact")
        for kernel in ("gaussian", "laplace", "cauchy")
    )
    assert gaussian == pytest.approx(1e-4 + pairs * (1e-8 + 100 * 1e-10), rel=1e-9)
    assert laplace == pytest.approx(1e-4 + pairs * (1e-8 + 100 * 1e-9), rel=1e-9)
    assert cauchy == laplace


def test_the_measured_rates_make_sense() -> None:
    rates = _cost._rates()
    assert rates.keys() == RATES.keys()
    for name, measured in rates.items():
        # A part of a cost may be too small to measure; a millisecond is no rate.
        assert 0.0 <= measured < (0.1 if name == "call" else 1e-3), name
    for name in ("call", "pair", "phase", "grid_row_1", "grid_row_2", "grid_row_3"):
        assert rates[name] > 0.0, name


# --- mmd obeys


def _sample(n: int, n_columns: int) -> np.ndarray:
    return np.random.default_rng(1).random((n, n_columns))


@pytest.mark.parametrize(
    ("n_columns", "kernel", "estimator"),
    [
        (1, Gaussian(0.1), "unbiased"),
        (2, Gaussian(0.1), "biased"),
        (5, Gaussian(1.0), "unbiased"),
        (5, Laplace(1.0), "biased"),
        (20, RationalQuadratic(1.0), "unbiased"),
        (300, Gaussian(1.0), "unbiased"),
        (300, Laplace(1.0), "unbiased"),
    ],
)
@pytest.mark.parametrize("exact_seconds", [0.0, 0.5])
def test_mmd_uses_what_plan_says(
    n_columns: int,
    kernel: Any,
    estimator: Any,
    exact_seconds: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # No time for all pairs stands for large samples, without their cost.
    monkeypatch.setattr(_plan, "_EXACT_SECONDS", exact_seconds)
    monkeypatch.setattr(_cost, "_rates", lambda: RATES)
    monkeypatch.setattr(_plan, "_FASTFOOD_ADVANTAGE", 1.5)
    x, y = _sample(50, n_columns), _sample(60, n_columns)
    expected = plan(50, 60, n_columns, kernel, estimator=estimator).method.name
    estimate = fastmmd.mmd(x, y, kernel=kernel, estimator=estimator, rng=0)
    assert estimate.method == expected
    assert (expected == "exact") == (exact_seconds > 0.0)
    if exact_seconds == 0.0:
        low_dimension = n_columns <= 3
        mixing = n_columns == 300 and kernel.is_radial
        other = "fastfood" if mixing else "fourier"
        assert expected == ("grid" if low_dimension else other)


def test_mmd_knows_the_density_of_sparse_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_plan, "_EXACT_SECONDS", 0.0)
    monkeypatch.setattr(_cost, "_rates", lambda: RATES)
    monkeypatch.setattr(_plan, "_FASTFOOD_ADVANTAGE", 1.5)
    x = np.eye(40, 1024)
    kernel = Gaussian(1.0)
    assert fastmmd.mmd(x, x, kernel=kernel, rng=0).method == "fastfood"
    # Planned only: drawing orthogonal frequencies in 1024 columns takes seconds.
    dense, sparse = (check_rows(make(x), name="x") for make in (np.asarray, csr_array))
    assert plan_for_rows(dense, dense, kernel, "unbiased").method.name == "fastfood"
    of_sparse = plan_for_rows(sparse, sparse, kernel, "unbiased")
    assert of_sparse.method.name == "fourier"
    assert of_sparse.seconds == plan(40, 40, 1024, kernel, density=1 / 1024).seconds


def test_mmd_asks_no_grid_for_data_far_wider_than_the_bandwidth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_plan, "_EXACT_SECONDS", 0.0)
    x = _sample(50, 2)
    pytest.importorskip("finufft")
    assert fastmmd.mmd(x, x, kernel=Gaussian(0.1), rng=0).method == "grid"
    assert fastmmd.mmd(1e5 * x, x, kernel=Gaussian(0.1), rng=0).method == "fourier"


@pytest.mark.usefixtures("without_finufft")
def test_mmd_without_finufft(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_plan, "_EXACT_SECONDS", 0.0)
    x = _sample(50, 1)
    assert fastmmd.mmd(x, x, kernel=Gaussian(0.1), rng=0).method == "fourier"


def test_a_wide_kernel_takes_the_grid_in_three_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Uniform data with their median bandwidth: smoother than at half the bandwidth, where
    # a grid of 64^3 is enough.
    monkeypatch.setattr(_plan, "_EXACT_SECONDS", 0.0)
    pytest.importorskip("finufft")
    rows = check_rows(_sample(50, 3), name="x")
    for bandwidth in (0.1, 0.3, 0.66, 2.0):
        made = plan_for_rows(rows, rows, Gaussian(bandwidth), "unbiased")
        assert made.method.name == "grid", bandwidth


# --- Reading it


@pytest.mark.usefixtures("fixed_rates")
@pytest.mark.parametrize(
    ("args", "first_line"),
    [
        # All pairs: 2e4 * 1.2e-8 s and the call.
        ((100, 100, 2), "Exact(workspace=67108864): about 0.34 ms on one core, 64 MB of"),
        # 2e5 rows, 1024 frequencies, 1.16e-8 s; 8 MiB and 8 * 1024 * 16 bytes.
        (
            (10**5, 10**5, 16),
            "Fourier(1024, sampling='auto'): about 2.4 s on one core, 8.1",
        ),
        (
            (10**7, 10**7, 16),
            "Fourier(1024, sampling='auto'): about 4 min on one core, 8.1",
        ),
        (
            (10**9, 10**9, 16),
            "Fourier(1024, sampling='auto'): about 6.6 h on one core, 8.1",
        ),
    ],
)
def test_printing_reads_as_text_with_numbers(args: Any, first_line: str) -> None:
    made = plan(*args)
    first, reason, heading, *lines = str(made).splitlines()
    assert first.startswith(first_line)
    assert first.endswith(" of workspace.")
    assert reason == made.reason
    assert re.match(r"^[A-Z].*\.$", reason)
    assert heading == "Alternatives:"
    for line, option in zip(lines, made.options[1:], strict=True):
        pattern = rf"^  {option.method.name} +[\d.e+]+ (ms|s|min|h) +[\d.]+ (MB|GB)  \w+"
        assert re.match(pattern, line), line


@pytest.mark.usefixtures("fixed_rates")
@pytest.mark.parametrize("n", [1500, 3000, 5000, 12_000, 30_000, 10**5, 3 * 10**6])
def test_printed_numbers_need_no_powers_of_ten(n: int) -> None:
    text = str(plan(n, n, 16))
    assert re.search(r"\de[+-]?\d", text) is None, text


def test_a_plan_without_alternatives_announces_none() -> None:
    text = str(plan(10, 10, 5, SpectralKernel(normal_sampler)))
    assert not text.rstrip().endswith("Alternatives:")


# --- Errors


@pytest.mark.parametrize("name", ["n_x", "n_y", "n_columns"])
def test_bad_counts(name: str) -> None:
    sizes: dict[str, Any] = {"n_x": 10, "n_y": 10, "n_columns": 2}
    with pytest.raises(ValueError, match=rf"^`{name}` must be an integer of at least 1"):
        plan(**(sizes | {name: 0}))
    for bad in (10.0, "10", True):
        with pytest.raises(TypeError, match=rf"^`{name}` must be an integer of at least"):
            plan(**(sizes | {name: bad}))


def test_bad_choices() -> None:
    with pytest.raises(ValueError, match=r"^`kernel` must be one of \"gaussian\", "):
        plan(10, 10, 2, "gauss")
    with pytest.raises(TypeError, match=r"^`kernel` must be .*got .*Gaussian"):
        plan(10, 10, 2, Gaussian)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^`estimator` must be one of "):
        plan(10, 10, 2, estimator="U")
    for bad in (-0.1, 1.1, math.nan):
        with pytest.raises(
            ValueError, match=r"^`density` must be a number between 0 and"
        ):
            plan(10, 10, 2, density=bad)
    with pytest.raises(TypeError, match=r"^`density` must be a number between 0 and 1"):
        plan(10, 10, 2, density="half")  # type: ignore[arg-type]
