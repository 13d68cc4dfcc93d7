"""Samples on a circle: the sine's discrepancy, the earth mover's, and ensembles of both."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from fastmmd.circular import (
    circular_discrepancy,
    circular_discrepancy_by_supremum,
    circular_earth_mover,
    decision_diameter,
    ensemble,
    objective,
    project,
)
from fastmmd.circular import discrepancy as discrepancy_module
from fastmmd.circular import ensembles as ensembles_module
from fastmmd.frequencies import draw_frequencies
from fastmmd.kernels import Gaussian, Laplace, Mixture

EPS = np.finfo(np.float64).eps
TURN = 2 * math.pi

ANGLES = st.lists(st.floats(0.0, 6.28), min_size=1, max_size=12)


def samples(seed, n_x=23, n_y=31, n_columns=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_x, n_columns)), rng.normal(0.4, 1.3, size=(n_y, n_columns))


def rounding(*angles):
    """Bound the rounding of sums over masses that total 2: one each term, one each sum."""
    n = sum(len(a) for a in angles)
    return 2 * EPS * (n + 8 + max(abs(a) for some in angles for a in some))


# --- project


def test_project_is_the_phase_modulo_a_turn():
    rows = np.array([[1.0, 2.0], [-3.0, 0.5], [40.0, 7.0]])
    w = np.array([0.7, -1.9])
    expected = [math.fmod(r @ w, TURN) % TURN for r in rows]
    np.testing.assert_allclose(project(rows, w), expected, rtol=0, atol=100 * EPS)


def test_project_with_several_frequencies_has_one_column_each():
    rows, _ = samples(0)
    w = np.random.default_rng(1).normal(size=(4, 3))
    angles = project(rows, w)
    assert angles.shape == (23, 4)
    for k in range(4):
        # The same product through matrix-matrix and matrix-vector routines.
        np.testing.assert_allclose(angles[:, k], project(rows, w[k]), rtol=0, atol=1e-13)


def test_projected_angles_never_reach_a_whole_turn():
    angles = project(np.array([[-1e-20], [-1e-300], [0.0], [TURN]]), [1.0])
    assert (angles >= 0.0).all()
    assert (angles < TURN).all()


def test_project_reads_sparse_rows():
    rows, _ = samples(2)
    rows[rows < 0] = 0.0
    w = [1.0, -2.0, 0.5]
    sparse = project(scipy.sparse.csr_array(rows), w)
    np.testing.assert_allclose(sparse, project(rows, w), rtol=0, atol=1e-13)


def test_project_refuses_a_frequency_of_another_length():
    with pytest.raises(
        ValueError, match=r"`frequency` must have one entry .* \(2,\) for 3"
    ):
        project(np.zeros((4, 3)), [1.0, 2.0])


# --- objective


def test_objective_is_the_signed_sum_of_sines():
    at, x, y = [0.3, 2.0], [1.0, 5.0, 2.5], [0.1, 4.0]
    expected = [
        sum(math.sin(t - a) for a in x) / 3 - sum(math.sin(t - a) for a in y) / 2
        for t in at
    ]
    np.testing.assert_allclose(objective(at, x, y), expected, rtol=0, atol=20 * EPS)


def test_objective_keeps_the_shape_of_its_places():
    assert objective(0.5, [1.0], [2.0]).shape == ()
    assert objective(np.zeros((2, 3)), [1.0], [2.0]).shape == (2, 3)


def test_objective_does_not_depend_on_the_block(monkeypatch):
    at = np.linspace(0.0, TURN, 50)
    x, y = np.arange(7.0), np.arange(5.0) / 3
    # Blocks first: after the whole, entries left out could hold its freed, right values.
    with monkeypatch.context() as patch:
        patch.setattr(discrepancy_module, "_BLOCK_ELEMENTS", 30)
        parts = objective(at, x, y)
    np.testing.assert_array_equal(parts, objective(at, x, y))


def test_whole_weights_are_repeated_angles():
    x, y = [1.0, 2.0, 4.0], [0.5, 3.0]
    repeated = ([1.0, 1.0, 1.0, 2.0, 4.0, 4.0], [0.5, 3.0, 3.0])
    weights = {"weights_x": [30.0, 10.0, 20.0], "weights_y": [0.1, 0.2]}
    for function in (
        circular_discrepancy,
        circular_discrepancy_by_supremum,
        circular_earth_mover,
        lambda *a, **k: float(objective(0.7, *a, **k)),
        lambda *a, **k: decision_diameter(*a, **k).angle,
    ):
        # Values of at most 2 pi after a dozen roundings.
        assert function(x, y, **weights) == pytest.approx(function(*repeated), abs=1e-14)


def test_extreme_weights_do_not_overflow():
    weighted = circular_discrepancy([0.0, 1.0], [2.0], weights_x=[1.5e308, 1.5e308])
    assert weighted == pytest.approx(circular_discrepancy([0.0, 1.0], [2.0]), abs=1e-15)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([], [1.0]), {}, "`angles_x` must have at least one row"),
        (([1.0], [[1.0]]), {}, r"`angles_y` must have shape \(n,\); got \(1, 1\)"),
        (([1.0], [np.nan]), {}, "`angles_y` must be finite"),
        (([1.0], [1.0]), {"weights_x": [1.0, 2.0]}, "`weights_x` must have one entry"),
        (
            ([1.0], [1.0]),
            {"weights_y": [-1.0]},
            r"`weights_y` must not be negative; got -1",
        ),
        (([1.0], [1.0]), {"weights_y": [0.0]}, "`weights_y` must have a positive entry"),
    ],
)
def test_angles_and_weights_are_checked(arguments, options, message):
    for function in (circular_discrepancy, circular_earth_mover, decision_diameter):
        with pytest.raises(ValueError, match=message):
            function(*arguments, **options)


def test_objective_refuses_places_that_are_not_finite():
    with pytest.raises(ValueError, match="`at` must be finite"):
        objective([0.0, np.inf], [1.0], [2.0])


# --- circular discrepancy


@given(x=ANGLES, y=ANGLES)
def test_discrepancy_is_the_double_sum_of_cosines(x, y):
    masses = [1 / len(x)] * len(x) + [-1 / len(y)] * len(y)
    angles = [*x, *y]
    pairs = [
        a * b * math.cos(s - t)
        for a, s in zip(masses, angles, strict=True)
        for b, t in zip(masses, angles, strict=True)
    ]
    # Compared as squares: the root of a double sum near 0 has no digits.
    squared = circular_discrepancy(x, y) ** 2
    assert squared == pytest.approx(math.fsum(pairs), abs=4 * rounding(x, y))


@settings(deadline=None)
@given(x=ANGLES, y=ANGLES)
def test_discrepancy_is_the_supremum(x, y):
    closed = circular_discrepancy(x, y)
    assert circular_discrepancy_by_supremum(x, y) == pytest.approx(
        closed, abs=2 * rounding(x, y)
    )


def test_discrepancy_of_points_apart():
    for gap in (0.1, 1.0, 3.0, 5.0):
        # The chord between two points on the unit circle.
        chord = 2 * math.sin(gap / 2)
        assert circular_discrepancy([0.4], [0.4 + gap]) == pytest.approx(chord, abs=1e-15)


# --- decision diameter


@given(x=ANGLES, y=ANGLES)
def test_diameter_ends_where_the_objective_is_extreme(x, y):
    diameter = decision_diameter(x, y)
    closed = circular_discrepancy(x, y)
    assert diameter.discrepancy == closed
    if closed < 1e-6:
        return  # the direction has lost its digits; see the test of equal samples
    assert 0.0 <= diameter.angle < TURN
    assert 0.0 <= diameter.opposite < TURN
    ends = objective([diameter.angle, diameter.opposite], x, y)
    # The angle errs by rounding / closed, and at the maximum only its square counts.
    np.testing.assert_allclose(ends, [closed, -closed], rtol=0, atol=2 * rounding(x, y))
    # A quarter of a turn away, at the angle the paper gives, there is nothing to see.
    across = float(objective(diameter.angle - math.pi / 2, x, y))
    assert across == pytest.approx(0.0, abs=4 * rounding(x, y))


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([0.1, 0.7, 2.9], [2.9, 0.1, 0.7]),
        ([0.0, math.pi], [math.pi / 2, -math.pi / 2]),
        ([0.1] * 3, [0.1] * 7),
    ],
    ids=["equal", "opposite pairs", "repeated"],
)
def test_diameter_of_samples_that_no_sine_separates_is_nan(x, y):
    diameter = decision_diameter(x, y)
    assert math.isnan(diameter.angle)
    assert math.isnan(diameter.opposite)
    assert diameter.discrepancy < 1e-15


def test_diameter_of_a_small_real_difference_is_found():
    diameter = decision_diameter([0.0], [1e-9])
    assert diameter.discrepancy == pytest.approx(1e-9, rel=1e-6)
    # sin(t) - sin(t - gap) is gap * cos(t) to first order: largest at 0.
    assert math.cos(diameter.angle) == pytest.approx(1.0, abs=1e-6)


# --- earth mover


def by_linear_program(x, y, weights_x=None, weights_y=None):
    """Solve the transport problem with the shorter arc as cost."""
    x, y = np.asarray(x), np.asarray(y)
    supply = np.ones(len(x)) if weights_x is None else np.asarray(weights_x)
    demand = np.ones(len(y)) if weights_y is None else np.asarray(weights_y)
    gaps = np.abs(x[:, None] - y[None, :]) % TURN
    cost = np.minimum(gaps, TURN - gaps)
    leaves = np.kron(np.eye(len(x)), np.ones(len(y)))
    arrives = np.kron(np.ones(len(x)), np.eye(len(y)))
    solution = linprog(
        cost.ravel(),
        A_eq=np.vstack((leaves, arrives)),
        b_eq=np.concatenate((supply / supply.sum(), demand / demand.sum())),
    )
    return solution.fun


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("weighted", [False, True])
def test_earth_mover_solves_the_transport_problem(seed, weighted):
    rng = np.random.default_rng(seed)
    n_x, n_y = rng.integers(1, 9, size=2)
    # Angles of several turns, some of them tied.
    x = rng.choice([1.0, 2.0, rng.uniform(-20, 20), rng.uniform(0, 7)], size=n_x)
    y = rng.choice([2.0, 5.5, rng.uniform(-20, 20), rng.uniform(0, 7)], size=n_y)
    weights = {}
    if weighted:
        weights = {"weights_x": rng.random(n_x), "weights_y": rng.random(n_y)}
    # The solver's own feasibility tolerance is 1e-7.
    assert circular_earth_mover(x, y, **weights) == pytest.approx(
        by_linear_program(x, y, **weights), abs=1e-6
    )


def test_earth_mover_of_points_is_the_shorter_arc():
    for gap in (0.1, 1.0, 3.0, 4.0, 6.0, 7.0):
        expected = min(gap % TURN, TURN - gap % TURN)
        assert circular_earth_mover([0.4], [0.4 + gap]) == pytest.approx(
            expected, abs=1e-14
        )
        assert circular_earth_mover([0.4 + gap], [0.4]) == pytest.approx(
            expected, abs=1e-14
        )


def test_earth_mover_splits_one_point_between_two():
    # Half of the mass goes each way: 0.5 * 1 + 0.5 * 2.
    assert circular_earth_mover([6.0], [6.0 - 1.0, 6.0 + 2.0]) == pytest.approx(
        1.5, abs=1e-14
    )


def emd_rounding(*angles):
    """Bound rounding: n additions of masses, each seen on arcs of 2 pi, and the angles."""
    n = sum(len(a) for a in angles)
    return TURN * EPS * (4 * n + 40)


@given(x=ANGLES, y=ANGLES, z=ANGLES, turn=st.floats(-10.0, 10.0))
def test_earth_mover_is_a_metric_and_ignores_rotation(x, y, z, turn):
    slack = emd_rounding(x, y, z)
    to_y = circular_earth_mover(x, y)
    assert 0.0 <= to_y <= math.pi + slack
    assert circular_earth_mover(x, x[::-1]) <= slack
    assert circular_earth_mover(y, x) == pytest.approx(to_y, abs=slack)
    detour = circular_earth_mover(x, z) + circular_earth_mover(z, y)
    assert to_y <= detour + 2 * slack
    turned = circular_earth_mover(np.add(x, turn), np.add(y, turn))
    assert turned == pytest.approx(to_y, abs=2 * slack)


@given(x=ANGLES, y=ANGLES)
def test_sine_never_exceeds_the_earth_mover(x, y):
    # The sine changes by at most the arc, so moving the mass changes its mean by at most
    # the work.
    slack = emd_rounding(x, y)
    assert circular_discrepancy(x, y) <= circular_earth_mover(x, y) + slack


# --- ensemble


def biased_mmd_by_features(x, y, frequencies, at_zero):
    """Algorithm 2 of the paper, with features scaled by sqrt(K(0) / L)."""

    def mean_features(rows):
        phases = rows @ frequencies.T
        return np.hstack((np.cos(phases), np.sin(phases))).mean(axis=0)

    difference = mean_features(x) - mean_features(y)
    return math.sqrt(at_zero / len(frequencies) * (difference @ difference))


def biased_mmd2(x, y, kernel):
    return (
        kernel.gram(x, x).mean() + kernel.gram(y, y).mean() - 2 * kernel.gram(x, y).mean()
    )


@pytest.mark.parametrize("at_zero", [1.0, 2.5])
@pytest.mark.parametrize("seed", range(3))
def test_ensemble_of_order_two_is_the_biased_mmd(seed, at_zero):
    x, y = samples(seed)
    kernel = at_zero * Gaussian(1.5)
    result = ensemble(x, y, kernel=kernel, n_frequencies=257, rng=seed)
    w = result.frequencies
    # A phase errs by d + 2 roundings of its terms' total size, in each of two ways to
    # centre; a mean of n features by n; and two features make one discrepancy.
    size = (np.abs(np.vstack((x, y))) @ np.abs(w).T).max()
    atol = math.sqrt(2 * at_zero) * 2 * EPS * (2 * 5 * size + len(x) + len(y))
    expected = biased_mmd_by_features(x, y, w, at_zero)
    assert result.value == pytest.approx(expected, abs=atol)


@pytest.mark.parametrize(
    "kernel", [3.0 * Gaussian(1.2), Laplace(2.0), Mixture([Gaussian(0.7), Gaussian(3.0)])]
)
@pytest.mark.parametrize("n_frequencies", [200, 20_000])
def test_ensemble_converges_to_the_exact_double_sum(kernel, n_frequencies):
    x, y = samples(4)
    result = ensemble(
        x, y, kernel=kernel, n_frequencies=n_frequencies, sampling="iid", rng=5
    )
    terms = kernel.at_zero * result.discrepancies**2
    # Independent terms: five standard errors, once in two million.
    slack = 5 * terms.std() / math.sqrt(n_frequencies)
    assert result.value**2 == pytest.approx(biased_mmd2(x, y, kernel), abs=slack)


@pytest.mark.parametrize("kind", ["sine", "earth_mover"])
def test_discrepancies_are_those_of_each_circle(kind):
    x, y = samples(6)
    function = {"sine": circular_discrepancy, "earth_mover": circular_earth_mover}[kind]
    result = ensemble(
        x, y, kernel=4.0 * Gaussian(1.0), n_frequencies=9, discrepancy=kind, rng=1
    )
    expected = [function(project(x, w), project(y, w)) for w in result.frequencies]
    # Phases of size below 30 here, centred one way and not the other.
    np.testing.assert_allclose(result.discrepancies, expected, rtol=0, atol=1e-13)
    scale = 2.0 if kind == "sine" else 1.0
    assert result.value == pytest.approx(
        scale * math.sqrt(np.mean(np.square(expected))), rel=1e-12
    )


def test_norms_are_power_means():
    x, y = samples(7)
    given_frequencies = np.random.default_rng(0).normal(size=(20, 3))
    results = {
        p: ensemble(
            x, y, kernel=9.0 * Gaussian(1.0), frequencies=given_frequencies, norm=p
        )
        for p in (1, 1.5, 2, 7, 3000.0, math.inf)
    }
    eta = results[1].discrepancies
    # Powers round p times over, so relative to the value.
    for p in (1, 1.5, 2, 7):
        expected = 3.0 * np.mean(eta**p) ** (1 / p)
        assert results[p].value == pytest.approx(expected, rel=1e-13)
    assert results[math.inf].value == 3.0 * eta.max()
    # A power of 3000 underflows unless scaled; the mean costs the factor 20^(-1/3000).
    assert results[3000.0].value == pytest.approx(3.0 * eta.max(), rel=2e-3)


def test_ensemble_of_equal_samples_is_zero():
    x, _ = samples(8)
    for p in (1, 2, math.inf):
        assert ensemble(x, x, n_frequencies=16, norm=p, rng=0).value == 0.0


@pytest.mark.parametrize("kind", ["sine", "earth_mover"])
def test_ensemble_does_not_depend_on_blocks(kind, monkeypatch):
    x, y = samples(9)
    options = {
        "kernel": Gaussian(1.0),
        "n_frequencies": 40,
        "discrepancy": kind,
        "rng": 3,
    }
    whole = ensemble(x, y, **options)
    monkeypatch.setattr(ensembles_module, "_BLOCK_ELEMENTS", 100)
    parts = ensemble(x, y, **options)
    np.testing.assert_array_equal(parts.frequencies, whole.frequencies)
    # The centre is another row too; phases of size below 30.
    np.testing.assert_allclose(
        parts.discrepancies, whole.discrepancies, rtol=0, atol=1e-13
    )


@pytest.mark.parametrize("kind", ["sine", "earth_mover"])
def test_ensemble_reads_sparse_rows(kind):
    x, y = samples(10)
    x[x < 0], y[y < 0] = 0.0, 0.0
    options = {
        "kernel": Gaussian(1.0),
        "n_frequencies": 12,
        "discrepancy": kind,
        "rng": 3,
    }
    dense = ensemble(x, y, **options)
    sparse = ensemble(scipy.sparse.csr_array(x), scipy.sparse.csr_array(y), **options)
    np.testing.assert_allclose(sparse.discrepancies, dense.discrepancies, atol=1e-13)


@pytest.mark.parametrize("kind", ["sine", "earth_mover"])
def test_ensemble_keeps_its_digits_far_from_the_origin(kind):
    x, y = samples(11)
    # Shifts that are exact in binary leave the differences between rows unchanged.
    x, y = np.round(x * 2**20) / 2**20, np.round(y * 2**20) / 2**20
    far = np.array([2.0**25, -(2.0**24), 2.0**26])
    options = {
        "kernel": Gaussian(1.0),
        "n_frequencies": 12,
        "discrepancy": kind,
        "rng": 3,
    }
    near = ensemble(x, y, **options).discrepancies
    shifted = ensemble(x + far, y + far, **options).discrepancies
    # Rows less their centre are exact, and another centre turns every circle as a whole.
    # Not centred, phases of size 1e8 would leave errors of 1e-8.
    np.testing.assert_allclose(shifted, near, rtol=0, atol=1e-13)


def test_named_kernel_takes_the_median_bandwidth():
    x, y = [[0.0], [3.0]], [[4.0]]
    result = ensemble(x, y, n_frequencies=8, rng=0)
    assert result.kernel == Gaussian(3.0)
    assert (result.n_x, result.n_y, result.norm, result.discrepancy) == (
        2,
        1,
        2.0,
        "sine",
    )


def test_same_seed_same_result():
    x, y = samples(12)
    first, second = (ensemble(x, y, n_frequencies=32, rng=7) for _ in range(2))
    np.testing.assert_array_equal(first.discrepancies, second.discrepancies)
    other = ensemble(x, y, n_frequencies=32, rng=8)
    assert not np.array_equal(first.frequencies, other.frequencies)


@pytest.mark.parametrize("sampling", ["iid", "orthogonal", "sobol"])
def test_frequencies_are_drawn_as_asked(sampling):
    x, y = samples(16)
    kernel = Gaussian(1.5)
    result = ensemble(x, y, kernel=kernel, n_frequencies=10, sampling=sampling, rng=2)
    stream = np.random.default_rng(2).spawn(2)[1]
    drawn = draw_frequencies(kernel, 10, 3, sampling=sampling, rng=stream)
    np.testing.assert_array_equal(result.frequencies, drawn.frequencies)


def test_given_frequencies_are_used_and_copied():
    x, y = samples(13)
    w = np.random.default_rng(0).normal(size=(5, 3))
    result = ensemble(x, y, frequencies=w)
    np.testing.assert_array_equal(result.frequencies, w)
    assert not np.shares_memory(result.frequencies, w)


def test_to_dict_is_plain_json():
    x, y = samples(14)
    result = ensemble(x, y, kernel=Gaussian(2.0), n_frequencies=8, norm=math.inf, rng=0)
    restored = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert restored["value"] == result.value
    assert restored["norm"] == "inf"
    assert restored["n_frequencies"] == 8
    assert restored["kernel"] == "Gaussian(bandwidth=2.0)"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"norm": 0.5},
            ValueError,
            "`norm` must be a number of at least 1, or inf; got 0.5",
        ),
        ({"norm": math.nan}, ValueError, "`norm` must be a number of at least 1"),
        ({"norm": "max"}, TypeError, "`norm` must be a number of at least 1"),
        ({"norm": True}, TypeError, "`norm` must be a number of at least 1"),
        ({"discrepancy": "cosine"}, ValueError, '`discrepancy` must be one of "sine"'),
        ({"sampling": "grid"}, ValueError, "`sampling` must be one of"),
        (
            {"sampling": "grid", "frequencies": np.ones((4, 3))},
            ValueError,
            "`sampling` must be one of",
        ),
        ({"n_frequencies": 0}, ValueError, "`n_frequencies` must be an integer"),
        ({"frequencies": np.ones((4, 2))}, ValueError, "`frequencies` must have shape"),
        ({"kernel": "box"}, ValueError, "`kernel` must be one of"),
    ],
)
def test_ensemble_options_are_checked(options, error, message):
    x, y = samples(15)
    with pytest.raises(error, match=message):
        ensemble(x, y, **options)
