"""Theorems 3 and 4: bounds, their inverses, and a simulation that must obey them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmmd._errors import UnsupportedKernelError
from fastmmd.bounds import (
    fastfood_bound,
    fastfood_bound_as_printed,
    fastfood_frequencies,
    fourier_bound,
    fourier_epsilon,
    fourier_frequencies,
)
from fastmmd.kernels import Cauchy, Gaussian, Laplace, Matern, Mixture

PLACE = {"kernel": Gaussian(0.8), "n_columns": 3, "diameter": 2.5}

SETTINGS = st.fixed_dictionaries(
    {
        "kernel": st.builds(
            lambda scale, bandwidth: scale * Gaussian(bandwidth),
            st.floats(0.1, 10.0),
            st.floats(0.01, 100.0),
        ),
        "n_columns": st.integers(1, 50),
        "diameter": st.floats(0.01, 100.0),
    }
)


# --- Theorem 3


@pytest.mark.parametrize("n_frequencies", [1, 700, 20_000])
@pytest.mark.parametrize("epsilon", [0.3, 1.1])
def test_fourier_bound_is_theorem_3(epsilon, n_frequencies):
    second_moment = 3 / 0.8**2
    printed = (
        4096
        * second_moment
        * (2.5 / epsilon) ** 2
        * math.exp(-n_frequencies * epsilon**2 / (64 * (3 + 2)))
    )
    raw = fourier_bound(epsilon, n_frequencies, **PLACE, capped=False)
    # Through logarithms of size below 40, each rounded a few times.
    assert raw == pytest.approx(printed, rel=1e-13)
    assert fourier_bound(epsilon, n_frequencies, **PLACE) == min(1.0, raw)


@pytest.mark.parametrize(
    ("kernel", "second_moment"),
    [
        (Cauchy(0.5), 2 * 4 / 0.5**2),
        (Matern(2.0, nu=2.5), 4 * 2.5 / 1.5 / 2.0**2),
        (Mixture([Gaussian(1.0), Gaussian(2.0)]), 4 * (1.0 + 0.25) / 2),
    ],
)
def test_fourier_bound_takes_the_second_moment_over_all_columns(kernel, second_moment):
    raw = fourier_bound(1.0, 1, kernel=kernel, n_columns=4, diameter=3.0, capped=False)
    expected = 4096 * second_moment * 9.0 * math.exp(-1 / (64 * 6))
    assert raw == pytest.approx(expected, rel=1e-13)


def test_fourier_bound_of_a_scaled_kernel_scales_the_error():
    scaled = PLACE | {"kernel": 5.0 * Gaussian(0.8)}
    assert fourier_bound(2.0, 900, **scaled, capped=False) == pytest.approx(
        fourier_bound(0.4, 900, **PLACE, capped=False), rel=1e-13
    )


def test_fourier_bound_of_a_tiny_set_is_that_of_a_larger_one():
    # sigma_p = 1 in one column. Below diameter = epsilon / 4 the proof does not reach.
    place = {"kernel": Gaussian(1.0), "n_columns": 1}
    smallest = fourier_bound(0.8, 10, **place, diameter=0.2, capped=False)
    assert smallest == pytest.approx(2**8 * math.exp(-10 * 0.64 / 192), rel=1e-13)
    for diameter in (0.1, 1e-9):
        # To rounding: at 0.2 itself either side of the maximum may win.
        tiny = fourier_bound(0.8, 10, **place, diameter=diameter, capped=False)
        assert tiny == pytest.approx(smallest, rel=1e-13)
    assert fourier_bound(0.8, 10, **place, diameter=0.21, capped=False) > smallest * 1.1


def test_extreme_arguments_do_not_overflow():
    assert fourier_bound(1e200, 1, **PLACE) == 0.0
    assert fourier_bound(1e-200, 1, **PLACE, capped=False) == math.inf
    assert fastfood_bound(1e200, 8, bandwidth=1.0, diameter=1.0) == 0.0
    assert fastfood_bound_as_printed(1e200, 8, bandwidth=1.0, diameter=1.0) == 0.0


@pytest.mark.parametrize(
    "kernel", [Laplace(1.0), Matern(1.0, nu=1.0), 2.0 * Laplace(1.0)]
)
def test_fourier_bound_refuses_an_infinite_second_moment(kernel):
    place = {"kernel": kernel, "n_columns": 2, "diameter": 1.0}
    for function, arguments in (
        (fourier_bound, (0.1, 100)),
        (fourier_frequencies, (0.1, 0.05)),
        (fourier_epsilon, (100, 0.05)),
    ):
        with pytest.raises(UnsupportedKernelError, match="second moment is infinite"):
            function(*arguments, **place)


@given(epsilon=st.floats(0.01, 10.0), delta=st.floats(1e-12, 0.999), place=SETTINGS)
def test_number_of_frequencies_is_the_smallest(epsilon, delta, place):
    n_frequencies = fourier_frequencies(epsilon, delta, **place)
    # The bound may differ from exp(log(delta)) in the last digits.
    assert fourier_bound(epsilon, n_frequencies, **place) <= delta * (1 + 1e-12)
    if n_frequencies > 1:
        assert fourier_bound(epsilon, n_frequencies - 1, **place) > delta * (1 - 1e-12)


@given(n_frequencies=st.integers(1, 10**9), delta=st.floats(1e-12, 0.999), place=SETTINGS)
def test_error_is_the_smallest(n_frequencies, delta, place):
    epsilon = fourier_epsilon(n_frequencies, delta, **place)
    assert fourier_bound(epsilon, n_frequencies, **place) <= delta * (1 + 1e-12)
    # One part in 10^9 less and the bound is above delta: its exponent is of size
    # log(bound) < 100, so it moves by at least 2e-9 of itself.
    shorter = fourier_bound(epsilon * (1 - 1e-9), n_frequencies, **place)
    assert shorter > delta * (1 + 1e-12)


@given(n_frequencies=st.integers(1, 10**9), delta=st.floats(1e-12, 0.9), place=SETTINGS)
def test_error_and_number_of_frequencies_are_inverse(n_frequencies, delta, place):
    epsilon = fourier_epsilon(n_frequencies, delta, **place)
    # The smallest error lies on the edge, where rounding may ask for a last frequency.
    found = fourier_frequencies(epsilon * (1 + 1e-12), delta, **place)
    assert n_frequencies * (1 - 1e-10) - 1 <= found <= n_frequencies


def test_more_frequencies_than_exist_are_refused():
    with pytest.raises(
        ValueError, match=r"within reach of 2\*\*60 frequencies; got 1e-09"
    ):
        fourier_frequencies(1e-9, 0.05, **PLACE)


def test_simulated_errors_obey_theorem_3():
    # Gaussian kernel in one column, rows in an interval of length 2, K(0) = 50: without
    # scaling by K(0) the bound would be far below the measured share.
    at_zero, n_frequencies, diameter, repeats = 50.0, 3000, 2.0, 200
    kernel = at_zero * Gaussian(1.0)
    place = {"kernel": kernel, "n_columns": 1, "diameter": diameter}
    rng = np.random.default_rng(0)
    gaps = np.linspace(-diameter, diameter, 41)[:, None]
    x, y = np.linspace(0.0, 1.0, 7)[:, None], np.array([[0.2], [1.9], [2.0]])
    exact = (
        kernel.gram(x, x).mean() + kernel.gram(y, y).mean() - 2 * kernel.gram(x, y).mean()
    )
    worst, errors = np.empty(repeats), np.empty(repeats)
    for i in range(repeats):
        w = kernel.sample_frequencies(n_frequencies, n_columns=1, rng=rng)
        # The proof bounds 4 sup |approximate kernel - kernel|, which no samples exceed.
        approximate = at_zero * np.cos(gaps @ w.T).mean(axis=1)
        worst[i] = 4 * np.abs(approximate - kernel(gaps)).max()
        difference = np.exp(1j * x @ w.T).mean(axis=0) - np.exp(1j * y @ w.T).mean(axis=0)
        errors[i] = abs(at_zero * np.mean(np.abs(difference) ** 2) - exact)
    assert (errors <= worst * (1 + 1e-9)).all()
    informative = 0
    for epsilon in (
        *np.linspace(0.5, 60.0, 50),
        *(fourier_epsilon(n_frequencies, delta, **place) for delta in (0.5, 0.05)),
    ):
        bound = fourier_bound(float(epsilon), n_frequencies, **place)
        informative += bound < 1.0
        assert np.mean(errors >= epsilon) <= bound
        assert np.mean(worst >= epsilon) <= bound
    assert informative >= 3


# --- Theorem 4


@pytest.mark.parametrize("block_size", [8, 64, 1024])
def test_fastfood_bound_is_the_line_with_equal_terms(block_size):
    # Small enough powers to form kappa_1 itself.
    epsilon, bandwidth, diameter = 0.9, 1.7, 0.4
    d, e = block_size, epsilon / 4
    kappa_1 = 2 * (4 * diameter) ** d * math.exp(-d * e**2 / 8)
    kappa_2 = 64 * math.log(d) / (d * bandwidth**2 * e**2)
    r = (kappa_1 / kappa_2) ** (1 / (d + 2))
    raw = fastfood_bound(epsilon, d, bandwidth=bandwidth, diameter=diameter, capped=False)
    # kappa_1 is a power of d, which multiplies its rounding by d; then the root of d + 2.
    assert raw == pytest.approx(kappa_1 * r**-d + kappa_2 * r**2, rel=1e-11)
    # The two terms are equal at this r: the factor 2 of the sum is not lost.
    assert raw == pytest.approx(2 * kappa_2 * r**2, rel=1e-11)


def test_fastfood_bound_as_printed_is_theorem_4():
    raw = fastfood_bound_as_printed(0.9, 128, bandwidth=1.7, diameter=5.0, capped=False)
    ratio = math.log(128) * 5.0 / (128 * 1.7**2 * 0.9**2)
    expected = 2**20 * ratio**2 * math.exp(-128 * 0.9**2 / (64 * 130))
    assert raw == pytest.approx(expected, rel=1e-13)


def test_printed_theorem_4_falls_below_the_line_it_comes_from():
    # The paper's assumption holds with equality: log d * diam / (d s^2 e^2) = 1.
    d, diameter, e = 64, 100.0, 0.1
    bandwidth = math.sqrt(math.log(d) * diameter / (d * e**2))
    place = {"bandwidth": bandwidth, "diameter": diameter, "capped": False}
    assert fastfood_bound(4 * e, d, **place) == pytest.approx(1.47e5, rel=1e-2)
    assert fastfood_bound_as_printed(4 * e, d, **place) == pytest.approx(4.09e3, rel=1e-2)


@given(
    epsilon=st.floats(0.01, 8.0),
    power=st.integers(3, 20),
    diameter=st.floats(1.0, 1e4),
    slack=st.floats(1.0, 1e6),
)
def test_printed_theorem_4_says_nothing_under_its_assumption(
    epsilon, power, diameter, slack
):
    d = 2**power
    # slack = log d * diam / (d s^2 (epsilon / 4)^2) >= 1.
    bandwidth = math.sqrt(math.log(d) * diameter / (d * (epsilon / 4) ** 2 * slack))
    place = {"bandwidth": bandwidth, "diameter": diameter}
    assert fastfood_bound_as_printed(epsilon, d, **place) == 1.0


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("delta", [0.5, 0.01])
def test_fastfood_frequencies_is_the_smallest_power_of_two(epsilon, delta):
    place = {"bandwidth": 1.3, "diameter": 2.0}
    found = fastfood_frequencies(epsilon, delta, **place)
    assert found.bit_count() == 1
    assert fastfood_bound(epsilon, found, **place) <= delta
    for power in range(3, found.bit_length() - 1):
        assert fastfood_bound(epsilon, 2**power, **place) > delta


def test_fastfood_frequencies_starts_at_8():
    # A set and an error for which the smallest block is enough at once.
    assert fastfood_frequencies(3.9, 0.5, bandwidth=100.0, diameter=0.1) == 8


def test_fastfood_frequencies_out_of_reach_are_refused():
    with pytest.raises(ValueError, match=r"2\*\*60 frequencies in a block; got 0.0001"):
        fastfood_frequencies(1e-4, 0.01, bandwidth=1.0, diameter=100.0)


# --- arguments


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: fourier_bound(0.0, 9, **PLACE),
            ValueError,
            "`epsilon` must be a finite",
        ),
        (
            lambda: fourier_bound(0.1, 0, **PLACE),
            ValueError,
            "`n_frequencies` must be an",
        ),
        (
            lambda: fourier_bound(0.1, 9.0, **PLACE),
            TypeError,
            "`n_frequencies` must be an",
        ),
        (
            lambda: fourier_bound(0.1, 9, **PLACE | {"diameter": -1.0}),
            ValueError,
            "`diameter` must be a finite number greater than 0; got -1.0",
        ),
        (
            lambda: fourier_bound(0.1, 9, **PLACE | {"n_columns": 0}),
            ValueError,
            "`n_columns` must be an integer of at least 1",
        ),
        (
            lambda: fourier_bound(0.1, 9, **PLACE | {"kernel": "gaussian"}),
            TypeError,
            r"`kernel` must be a kernel such as Gaussian\(1.0\); got 'gaussian'",
        ),
        (lambda: fourier_frequencies(0.1, 1.0, **PLACE), ValueError, "`delta` must be a"),
        (
            lambda: fourier_epsilon(9, 0.0, **PLACE),
            ValueError,
            "`delta` must be a number",
        ),
        (
            lambda: fastfood_bound(0.1, 4, bandwidth=1.0, diameter=1.0),
            ValueError,
            "`block_size` must be an integer of at least 8; got 4",
        ),
        (
            lambda: fastfood_bound_as_printed(0.1, 4, bandwidth=1.0, diameter=1.0),
            ValueError,
            "`block_size` must be an integer of at least 8; got 4",
        ),
        (
            lambda: fastfood_frequencies(0.1, 2.0, bandwidth=1.0, diameter=1.0),
            ValueError,
            "`delta` must be a number strictly between 0 and 1; got 2.0",
        ),
    ],
)
def test_arguments_are_checked(call, error, message):
    with pytest.raises(error, match=message):
        call()
