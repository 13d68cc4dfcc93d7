"""Kernels: values, frequency laws, Gram matrices, and kernels as values."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse
import scipy.special
import scipy.stats

from fastmmd import (
    Cauchy,
    Gaussian,
    Kernel,
    Laplace,
    Matern,
    Mixture,
    RationalQuadratic,
    SpectralKernel,
    UnsupportedKernelError,
)
from fastmmd.kernels.base import open_uniforms

if TYPE_CHECKING:
    from collections.abc import Callable

EPS = 2.0**-52

N_ERRORS = 4.9
"""Standard errors allowed: a normal variable passes them once in 10^6 cases."""

N_DRAWS = 20_000


# --- Values written anew, from the formulas


def gaussian(s: float) -> Callable:
    return lambda t: math.exp(-sum(c * c for c in t) / (2.0 * s * s))


def laplace(s: float) -> Callable:
    return lambda t: math.exp(-sum(abs(c) for c in t) / s)


def matern(s: float, nu: float) -> Callable:
    def value(t: np.ndarray) -> float:
        a = math.sqrt(2.0 * nu) * math.sqrt(sum(c * c for c in t)) / s
        if a == 0.0:
            return 1.0
        bessel = scipy.special.kv(nu, a)
        return 2.0 ** (1.0 - nu) / scipy.special.gamma(nu) * a**nu * bessel

    return value


def rational_quadratic(s: float, alpha: float) -> Callable:
    return lambda t: (1.0 + sum(c * c for c in t) / (2.0 * alpha * s * s)) ** -alpha


def cauchy(s: float) -> Callable:
    return lambda t: math.prod(1.0 / (1.0 + (c / s) ** 2) for c in t)


def normal_sampler(
    n_frequencies: int, n_columns: int, rng: np.random.Generator
) -> np.ndarray:
    return rng.normal(0.0, 1.0 / 0.7, (n_frequencies, n_columns))


def normal_value(differences: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * np.square(differences / 0.7).sum(-1))


@dataclass(frozen=True)
class Case:
    """A kernel, its formula, and the law of one coordinate of its frequencies."""

    kernel: Kernel
    value: Callable
    law: Any = None


CASES = {
    "gaussian": Case(Gaussian(1.3), gaussian(1.3), scipy.stats.norm(scale=1 / 1.3)),
    "laplace": Case(Laplace(1.7), laplace(1.7), scipy.stats.cauchy(scale=1 / 1.7)),
    **{
        f"matern {nu}": Case(
            Matern(1.4, nu=nu), matern(1.4, nu), scipy.stats.t(2 * nu, scale=1 / 1.4)
        )
        for nu in (0.5, 1.5, 2.5, 0.8, 7.3)
    },
    # A normal variable times the root of an exponential one has a Laplace law.
    "rational quadratic": Case(
        RationalQuadratic(0.9),
        rational_quadratic(0.9, 1.0),
        scipy.stats.laplace(scale=1 / (0.9 * math.sqrt(2.0))),
    ),
    "rational quadratic 0.5": Case(
        RationalQuadratic(1.1, alpha=0.5), rational_quadratic(1.1, 0.5)
    ),
    "rational quadratic 3": Case(
        RationalQuadratic(1.1, alpha=3.0), rational_quadratic(1.1, 3.0)
    ),
    "cauchy": Case(Cauchy(1.2), cauchy(1.2), scipy.stats.laplace(scale=1 / 1.2)),
    "radial cauchy": Case(
        Cauchy.radial(1.2),
        lambda t: 1.0 / (1.0 + sum(c * c for c in t) / 1.2**2),
        scipy.stats.laplace(scale=1 / 1.2),
    ),
    "scaled": Case(2.5 * Gaussian(1.3), lambda t: 2.5 * gaussian(1.3)(t)),
    "radial mixture": Case(
        Mixture([Gaussian(0.5), Gaussian(2.0), Matern(1.0)], weights=[1.0, 0.5, 2.0]),
        lambda t: gaussian(0.5)(t) + 0.5 * gaussian(2.0)(t) + 2.0 * matern(1.0, 1.5)(t),
    ),
    # The first component has 3/4 of the mass although its weight is the same.
    "mixed mixture": Case(
        Mixture([3.0 * Gaussian(0.6), Laplace(4.0)]),
        lambda t: 0.5 * (3.0 * gaussian(0.6)(t) + laplace(4.0)(t)),
    ),
    "nested mixture": Case(
        0.5 * Mixture([Mixture([Cauchy(1.0), 2 * Gaussian(2.0)]), Laplace(1.0)], [2, 1]),
        lambda t: 0.5 * (cauchy(1.0)(t) + 2.0 * gaussian(2.0)(t) + laplace(1.0)(t)),
    ),
    "spectral": Case(
        SpectralKernel(normal_sampler, normal_value),
        gaussian(0.7),
        scipy.stats.norm(scale=1 / 0.7),
    ),
    "spectral in a mixture": Case(
        Mixture([SpectralKernel(normal_sampler, normal_value), 3.0 * Cauchy(2.0)]),
        lambda t: 0.5 * (gaussian(0.7)(t) + 3.0 * cauchy(2.0)(t)),
    ),
}

RADIAL = [name for name, case in CASES.items() if case.kernel.is_radial]

every_kernel = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
radial_kernels = pytest.mark.parametrize("name", RADIAL)


def test_which_kernels_are_radial() -> None:
    radial = {"gaussian", "rational quadratic", "rational quadratic 0.5", "scaled"}
    radial |= {"rational quadratic 3", "radial cauchy", "radial mixture"}
    assert set(RADIAL) == radial | {f"matern {nu}" for nu in (0.5, 1.5, 2.5, 0.8, 7.3)}


# --- Values


@every_kernel
@pytest.mark.parametrize("n_columns", [1, 2, 20])
def test_value(case: Case, n_columns: int) -> None:
    rng = np.random.default_rng(1)
    scales = np.array([1e-8, 1e-4, 0.03, 0.3, 1.0, 3.0, 10.0])
    differences = scales[:, None] * rng.normal(size=(7, n_columns))
    expected = [case.value(delta) for delta in differences]
    # Exponents up to 200 are sums of 20 terms: relative error 200 * 20 eps; the formula
    # for Matern multiplies numbers with a few hundred eps of their own.
    np.testing.assert_allclose(case.kernel(differences), expected, rtol=5000 * EPS)


@every_kernel
def test_value_keeps_the_leading_shape_and_takes_lists(case: Case) -> None:
    differences = np.random.default_rng(2).normal(size=(2, 3, 4))
    values = case.kernel(differences)
    assert values.shape == (2, 3)
    assert float(values[1, 2]) == float(case.kernel(differences[1, 2].tolist()))


@every_kernel
@pytest.mark.parametrize("n_columns", [1, 40])
def test_at_zero(case: Case, n_columns: int) -> None:
    # A sum of up to three products.
    assert case.kernel.at_zero == pytest.approx(case.value(np.zeros(3)), rel=8 * EPS)
    assert case.kernel(np.zeros(n_columns)) == pytest.approx(
        case.kernel.at_zero, rel=8 * EPS
    )


@radial_kernels
def test_radial_values_do_not_see_rotations(name: str) -> None:
    kernel = CASES[name].kernel
    rng = np.random.default_rng(3)
    rotation = scipy.stats.ortho_group.rvs(5, random_state=rng)
    differences = rng.normal(size=(50, 5))
    # A rotation moves a squared length by a dozen eps of itself; lengths are below 10.
    np.testing.assert_allclose(
        kernel(differences @ rotation), kernel(differences), rtol=10 * 100 * EPS
    )


@pytest.mark.parametrize("kernel", [Laplace(1.0), Cauchy(1.0)])
def test_product_kernels_do_see_rotations(kernel: Kernel) -> None:
    diagonal, axis = np.array([1.0, 1.0]), np.array([math.sqrt(2.0), 0.0])
    assert abs(float(kernel(diagonal)) - float(kernel(axis))) > 0.05


def test_one_number_is_not_a_difference() -> None:
    with pytest.raises(
        ValueError, match=r"^`differences` must have shape \(\.\.\., n_col"
    ):
        Gaussian(1.0)(3.0)


@pytest.mark.parametrize("nu", [30.0, 100.0, 200.0, 1000.0])
def test_matern_of_high_order(nu: float) -> None:
    r = np.array([0.0, 1e-8, 1e-3, 0.01, 0.1, 0.3, 1.0])
    # The expansion of 2^(1-nu) a^nu K_nu(a) / Gamma(nu) in powers of a^2 / 4; what it
    # leaves out is of the order of (a / nu)^(2 nu), at most 1e-17 here.
    quarter = 2.0 * nu * r**2 / 4.0
    terms, total = np.ones_like(r), np.ones_like(r)
    for k in range(1, 25):
        terms = terms * -quarter / (k * (nu - k))
        total = total + terms
    # The logarithm of a number of size nu^nu is taken: nu log(nu) eps, a few times.
    bound = 20 * nu * math.log(nu) * EPS
    np.testing.assert_allclose(
        Matern(1.0, nu=nu)(r[:, None]), total, rtol=0.0, atol=bound
    )


def test_matern_and_rational_quadratic_tend_to_the_gaussian() -> None:
    differences = np.linspace(0.0, 3.0, 7)[:, None]
    expected = Gaussian(1.0)(differences)
    # Both differ by about r^4 exp(-r^2/2) / (4 order) <= 0.6 / order.
    for kernel in (Matern(1.0, nu=40.0), RationalQuadratic(1.0, alpha=40.0)):
        np.testing.assert_allclose(kernel(differences), expected, atol=0.6 / 40.0)


# --- Frequencies


@every_kernel
@pytest.mark.parametrize("n_columns", [1, 3, 20])
def test_the_mean_cosine_is_the_kernel(case: Case, n_columns: int) -> None:
    w = case.kernel.sample_frequencies(N_DRAWS, n_columns=n_columns, rng=4)
    assert w.shape == (N_DRAWS, n_columns)
    directions = np.random.default_rng(5).normal(size=(4, n_columns))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    for delta in directions * np.array([0.2, 0.7, 1.5, 3.0])[:, None]:
        cosines = case.kernel.at_zero * np.cos(w @ delta)
        error = cosines.std() / math.sqrt(N_DRAWS)
        assert abs(cosines.mean() - case.value(delta)) <= N_ERRORS * error
        # The law is symmetric, so that sines vanish.
        sines = np.sin(w @ delta)
        assert abs(sines.mean()) <= N_ERRORS * sines.std() / math.sqrt(N_DRAWS)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.law])
def test_the_law_of_one_coordinate(name: str) -> None:
    case = CASES[name]
    w = case.kernel.sample_frequencies(N_DRAWS, n_columns=3, rng=6)
    for coordinate in w.T:
        # False alarm: once in 10^4 cases, at a fixed seed.
        assert scipy.stats.kstest(coordinate, case.law.cdf).pvalue > 1e-4
    if case.kernel.is_radial:
        along = w @ np.array([2.0, -1.0, 2.0]) / 3.0
        assert scipy.stats.kstest(along, case.law.cdf).pvalue > 1e-4


@radial_kernels
def test_the_law_of_radial_frequencies_does_not_see_rotations(name: str) -> None:
    kernel = CASES[name].kernel
    w = kernel.sample_frequencies(N_DRAWS, n_columns=4, rng=7)
    lengths = np.linalg.norm(w, axis=1)
    # Directions: a coordinate of a uniform direction in 4 columns, squared, is Beta.
    along = (w @ np.array([1.0, 1.0, -1.0, 1.0]) / 2.0 / lengths) ** 2
    assert scipy.stats.kstest(along, scipy.stats.beta(0.5, 1.5).cdf).pvalue > 1e-4
    # Directions and lengths are independent: rank correlation with 4.9 standard errors.
    correlation = scipy.stats.spearmanr(along, lengths).statistic
    assert abs(correlation) <= N_ERRORS / math.sqrt(N_DRAWS - 1)
    # Lengths drawn alone have the same law.
    radii = kernel.sample_radii(N_DRAWS, n_columns=4, rng=8)
    assert scipy.stats.ks_2samp(radii, lengths).pvalue > 1e-4


def test_the_law_of_gaussian_and_matern_radii() -> None:
    radii = Gaussian(2.0).sample_radii(N_DRAWS, n_columns=6, rng=9)
    law = scipy.stats.chi(6, scale=0.5)
    assert scipy.stats.kstest(radii, law.cdf).pvalue > 1e-4
    radii = Matern(2.0, nu=1.5).sample_radii(N_DRAWS, n_columns=6, rng=10)
    # |t|^2 / d of a multivariate t vector has an F law with d and 2 nu degrees of freedom.
    law = scipy.stats.f(6, 3)
    assert scipy.stats.kstest((2.0 * radii) ** 2 / 6, law.cdf).pvalue > 1e-4


@pytest.mark.parametrize("kernel", [Laplace(1.0), 2 * Cauchy(1.0)], ids=repr)
def test_product_kernels_have_no_radii(kernel: Kernel) -> None:
    with pytest.raises(UnsupportedKernelError, match=r"^`kernel` must be radial"):
        kernel.sample_radii(10, n_columns=2, rng=0)


@pytest.mark.parametrize("kernel", [Laplace(1.0), Cauchy(1.0)], ids=repr)
def test_coordinates_of_product_kernels_are_independent(kernel: Kernel) -> None:
    w = kernel.sample_frequencies(N_DRAWS, n_columns=2, rng=11)
    correlation = scipy.stats.spearmanr(np.abs(w[:, 0]), np.abs(w[:, 1])).statistic
    assert abs(correlation) <= N_ERRORS / math.sqrt(N_DRAWS - 1)


@every_kernel
def test_the_same_seed_draws_the_same_frequencies(case: Case) -> None:
    first, second, other = (
        case.kernel.sample_frequencies(8, n_columns=2, rng=seed) for seed in (1, 1, 2)
    )
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)
    assert np.isfinite(first).all()


@every_kernel
def test_extreme_uniforms_make_finite_frequencies(case: Case) -> None:
    if not case.kernel.draws_from_uniforms:
        pytest.skip("has a sampler of its own")
    width = case.kernel.uniforms_per_frequency(2)
    corners = open_uniforms(np.array([0.0, 0.5, 1.0]))
    assert 0.0 < corners[0] < corners[1] == 0.5 < corners[2] < 1.0
    uniforms = np.repeat(corners[:, None], width, axis=1)
    frequencies = case.kernel.frequencies_from_uniforms(uniforms, 2)
    assert frequencies.shape == (3, 2)
    assert np.isfinite(frequencies).all()


@pytest.mark.parametrize(
    "name",
    [
        "gaussian",
        "matern 7.3",
        "rational quadratic 3",
        "cauchy",
        "radial cauchy",
        "scaled",
    ],
)
@pytest.mark.parametrize("n_columns", [1, 7])
def test_second_moment_by_simulation(name: str, n_columns: int) -> None:
    kernel = CASES[name].kernel
    w = kernel.sample_frequencies(N_DRAWS, n_columns=n_columns, rng=12)
    squares = np.square(w).sum(axis=1)
    error = squares.std() / math.sqrt(N_DRAWS)
    assert abs(squares.mean() - kernel.second_moment(n_columns)) <= N_ERRORS * error


def test_second_moment_of_matern_and_mixtures() -> None:
    for nu in (1.2, 1.5, 2.5):
        # The variance of a t law, one coordinate at a time.
        expected = 4 * scipy.stats.t(2 * nu, scale=1 / 1.4).var()
        moment = Matern(1.4, nu=nu).second_moment(4)
        assert moment == pytest.approx(expected, rel=16 * EPS)
    mixture = Mixture([3.0 * Gaussian(1.0), Gaussian(0.5)], weights=[1.0, 2.0])
    # Masses 3 and 2, moments 1 and 4 in one column.
    assert mixture.second_moment(1) == pytest.approx((3 * 1 + 2 * 4) / 5, rel=8 * EPS)
    spectral = SpectralKernel(normal_sampler, second_moment_per_column=2.5)
    assert spectral.second_moment(4) == 10.0


@pytest.mark.parametrize(
    "kernel",
    [
        Laplace(1.0),
        Matern(1.0, nu=0.5),
        Matern(1.0, nu=1.0),
        Mixture([Gaussian(1.0), Laplace(1.0)]),
        SpectralKernel(normal_sampler),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_second_moment_of_rough_kernels(kernel: Kernel) -> None:
    assert kernel.second_moment(3) == math.inf


# --- Gram matrices


def _rows(n_columns: int, offset: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(13)
    # Distances of about 1.5 whatever the number of columns.
    x, y = rng.normal(size=(2, 12, n_columns)) / math.sqrt(n_columns) + offset
    y[:5] = x[:5]
    x[7] = x[6]
    return x, y


@every_kernel
@pytest.mark.parametrize("n_columns", [3, 40])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_gram_is_the_double_loop(case: Case, n_columns: int, offset: float) -> None:
    x, y = _rows(n_columns, offset)
    expected = [[case.value(a - b) for b in y] for a in x]
    # Differences of rows are exact (they are close to each other), so the offset costs
    # nothing. Squared distances are good to 1e-13 of themselves, and no kernel of this
    # list changes by more than its own size, at most 3, when they double.
    np.testing.assert_allclose(case.kernel.gram(x, y), expected, rtol=0.0, atol=5e-13)
    sparse = case.kernel.gram(scipy.sparse.csr_array(x), scipy.sparse.csr_array(y))
    if offset == 0.0:
        np.testing.assert_allclose(sparse, expected, rtol=0.0, atol=5e-13)


@every_kernel
@pytest.mark.parametrize("n_columns", [3, 40])
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("sparse", [False, True])
def test_equal_rows_have_distance_zero(
    case: Case, n_columns: int, offset: float, sparse: bool
) -> None:
    x, y = _rows(n_columns, offset)
    make = scipy.sparse.csr_array if sparse else np.asarray
    at_zero = float(case.kernel(np.zeros(n_columns)))
    between, within = (
        case.kernel.gram(make(x), make(y)),
        case.kernel.gram(make(x), make(x)),
    )
    # Exactly: a rounding of 1e-16 in a squared distance would be 1e-8 in Matern 1/2.
    assert (np.diagonal(between)[:5] == at_zero).all()
    assert (np.diagonal(within) == at_zero).all()
    assert within[6, 7] == within[7, 6] == at_zero


def test_matern_of_equal_rows_is_exactly_one() -> None:
    for n_columns in (3, 40):
        x, _ = _rows(n_columns, 1e6)
        assert (np.diagonal(Matern(1.0, nu=0.5).gram(x, x)) == 1.0).all()


@every_kernel
@pytest.mark.parametrize("n_columns", [3, 40])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_gram_is_symmetric_and_positive(
    case: Case, n_columns: int, offset: float
) -> None:
    rows = np.concatenate(_rows(n_columns, offset))
    gram = case.kernel.gram(rows, rows)
    # Entries are off by at most 5e-13 as above, eigenvalues by 24 times that.
    np.testing.assert_allclose(gram, gram.T, rtol=0.0, atol=1e-12)
    assert np.linalg.eigvalsh(gram).min() >= -24 * 5e-13


def test_gram_checks_its_rows() -> None:
    with pytest.raises(ValueError, match=r"same number of columns"):
        Gaussian(1.0).gram(np.zeros((3, 2)), np.zeros((3, 4)))
    assert Gaussian(1.0).gram([0.0, 1.0], [2.0]).shape == (2, 1)


# --- Kernels are values


@every_kernel
def test_pickle_round_trip(case: Case) -> None:
    copy = pickle.loads(pickle.dumps(case.kernel))
    assert copy == case.kernel
    assert hash(copy) == hash(case.kernel)
    assert repr(copy) == repr(case.kernel)
    assert float(copy([1.0, 2.0])) == float(case.kernel([1.0, 2.0]))


def test_equal_parameters_make_equal_kernels() -> None:
    assert Gaussian(1) == Gaussian(np.float64(1.0))
    assert hash(Gaussian(1)) == hash(Gaussian(np.float32(1.0)))
    assert 2 * Gaussian(1.0) == Gaussian(1.0) * 2.0 == np.float64(2.0) * Gaussian(1)
    assert Cauchy.radial(2.0) == RationalQuadratic(2.0 / math.sqrt(2.0), alpha=1.0)
    parts = [Gaussian(1.0), Laplace(2.0)]
    assert Mixture(parts) == Mixture(tuple(parts), weights=[0.5, 0.5])
    assert hash(Mixture(parts)) == hash(Mixture(iter(parts), weights=(0.5, 0.5)))


def test_different_kernels_differ() -> None:
    parts = [Gaussian(1.0), Laplace(2.0)]
    kernels = [
        Gaussian(1.0),
        Gaussian(2.0),
        Laplace(1.0),
        Cauchy(1.0),
        Matern(1.0),
        Matern(1.0, nu=2.5),
        RationalQuadratic(1.0),
        RationalQuadratic(1.0, alpha=2.0),
        2 * Gaussian(1.0),
        3 * Gaussian(1.0),
        Mixture(parts),
        Mixture(parts[::-1]),
        Mixture(parts, weights=[1.0, 1.0]),
        SpectralKernel(normal_sampler),
        SpectralKernel(normal_sampler, radial=True),
    ]
    for i, a in enumerate(kernels):
        assert [a == b for b in kernels] == [i == j for j in range(len(kernels))]
    assert len(set(kernels)) == len(kernels)
    assert Gaussian(1.0) != "gaussian"
    assert Mixture(parts) != "mixture"


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (Gaussian(1), "Gaussian(bandwidth=1.0)"),
        (Matern(2.0, nu=0.8), "Matern(bandwidth=2.0, nu=0.8)"),
        (RationalQuadratic(2.0), "RationalQuadratic(bandwidth=2.0, alpha=1.0)"),
        (Laplace(0.1), "Laplace(bandwidth=0.1)"),
        (Cauchy(3.0), "Cauchy(bandwidth=3.0)"),
        (
            Mixture([Gaussian(1.0), Cauchy(2.0)], weights=[1, 3]),
            "Mixture([Gaussian(bandwidth=1.0), Cauchy(bandwidth=2.0)], weights=[1.0, 3.0])",
        ),
    ],
)
def test_repr_can_be_run(kernel: Kernel, text: str) -> None:
    assert repr(kernel) == text
    assert eval(text) == kernel


@pytest.mark.parametrize("factor", [2.5, 1.0 / 3.0, 1e-300, 1234567.0])
def test_repr_of_a_scaled_kernel_keeps_all_digits(factor: float) -> None:
    kernel = factor * Gaussian(1.0)
    assert repr(kernel).endswith(" * Gaussian(bandwidth=1.0)")
    assert eval(repr(kernel)) == kernel


FIELDS = ("bandwidth", "weights", "kernels", "kernel", "factor", "sampler", "other")


@every_kernel
def test_kernels_cannot_be_changed(case: Case) -> None:
    for name in FIELDS:
        with pytest.raises((AttributeError, TypeError)):
            setattr(case.kernel, name, 1.0)
    # A sum of three products of numbers good to some eps.
    assert case.kernel(np.ones(2)) == pytest.approx(case.value(np.ones(2)), rel=1e-13)


@every_kernel
def test_nothing_can_be_deleted_from_a_kernel(case: Case) -> None:
    kernel = pickle.loads(pickle.dumps(case.kernel))
    for name in FIELDS:
        with pytest.raises((AttributeError, TypeError)):
            delattr(kernel, name)
    assert kernel == case.kernel


def test_changing_the_lists_does_not_change_the_mixture() -> None:
    kernels, weights = [Gaussian(1.0), Gaussian(2.0)], [1.0, 2.0]
    mixture = Mixture(kernels, weights)
    kernels[0], weights[0] = Gaussian(9.0), 9.0
    assert mixture == Mixture([Gaussian(1.0), Gaussian(2.0)], [1.0, 2.0])


def test_multiples() -> None:
    kernel = Laplace(2.0)
    for doubled in (2 * kernel, kernel * 2, np.int64(2) * kernel):
        assert doubled.at_zero == 2.0
        assert not doubled.is_radial
        assert float(doubled([1.0])) == 2.0 * float(kernel([1.0]))
    nested = 3 * (2 * kernel)
    assert nested.at_zero == 6.0
    assert float(nested([1.0])) == pytest.approx(6.0 * math.exp(-0.5), rel=8 * EPS)
    # A factor changes the height, not the frequencies.
    drawn = nested.sample_frequencies(5, n_columns=2, rng=0)
    assert np.array_equal(drawn, kernel.sample_frequencies(5, n_columns=2, rng=0))
    gram = nested.gram([0.0, 1.0], [2.0])
    np.testing.assert_allclose(gram, 6.0 * kernel.gram([0.0, 1.0], [2.0]), rtol=8 * EPS)


@pytest.mark.parametrize(
    ("kernels", "weights", "error", "message"),
    [
        ([], None, TypeError, r"^`kernels` must be a non-empty sequence of kernels"),
        ([Gaussian], None, TypeError, r"^`kernels` must be a non-empty sequence of ker"),
        (["gaussian"], None, TypeError, r"^`kernels` must be a non-empty sequence"),
        (Gaussian(1.0), None, TypeError, r"^`kernels` must be a non-empty sequence"),
        ([Gaussian(1.0)], [1.0, 2.0], ValueError, r"got 2 weights for 1 kernels"),
        ([Gaussian(1.0)], [], ValueError, r"got 0 weights for 1 kernels"),
        ([Gaussian(1.0)], [0.0], ValueError, r"^`weights` must be .*greater than 0"),
        ([Gaussian(1.0)], [-1.0], ValueError, r"^`weights` must be .*greater than 0"),
        ([Gaussian(1.0)], [math.nan], ValueError, r"^`weights` must be .*greater than"),
        ([Gaussian(1.0)], ["1"], TypeError, r"^`weights` must be .*got '1'"),
        ([Gaussian(1.0)], 1.0, TypeError, r"^`weights` must "),
    ],
)
def test_bad_mixtures(
    kernels: Any, weights: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Mixture(kernels, weights)
