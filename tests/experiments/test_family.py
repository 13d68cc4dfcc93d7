"""Figure 6: every method's values are those of the public function, at all bandwidths."""

from __future__ import annotations

import numpy as np
import pytest

import fastmmd
from fastmmd import experiments
from fastmmd.experiments import _family_values as values_of
from fastmmd.experiments import family
from fastmmd.experiments._data import RING_RADII, RING_SQUARE, ring, ring_mmd2
from fastmmd.experiments._experiment import Table
from fastmmd.frequencies import draw_family

SOME = (0, 4, 7, 12)
"""Places of bandwidths that are looked at: small, middle, the best, large."""


def test_bandwidths_are_those_of_the_paper():
    assert len(values_of.BANDWIDTHS) == 16
    assert values_of.BANDWIDTHS[0] == pytest.approx(0.1)
    assert values_of.BANDWIDTHS[-1] == pytest.approx(100.0)
    steps = np.divide(values_of.BANDWIDTHS[1:], values_of.BANDWIDTHS[:-1])
    np.testing.assert_allclose(steps, 10.0**0.2)


def test_ring_and_the_rest_of_the_square(rng):
    inside, others = ring(5000, rng)
    for sample in (inside, others):
        assert sample.shape == (5000, 2)
        assert np.abs(sample).max() <= RING_SQUARE
    lengths = np.linalg.norm(inside, axis=1)
    assert lengths.min() >= RING_RADII[0]
    assert lengths.max() <= RING_RADII[1]
    rest = np.linalg.norm(others, axis=1)
    assert np.all((rest < RING_RADII[0]) | (rest > RING_RADII[1]))
    # Uniform on the ring, squared lengths are uniform on 1 to 16; five standard errors.
    error = 15.0 / np.sqrt(12.0 * 5000)
    assert np.mean(lengths**2) == pytest.approx(8.5, abs=5.0 * error)
    # The hole is pi of the 100 - 15 pi that are left.
    share = np.pi / (100.0 - 15.0 * np.pi)
    error = np.sqrt(share * (1.0 - share) / 5000)
    assert np.mean(rest < RING_RADII[0]) == pytest.approx(share, abs=5.0 * error)


@pytest.mark.parametrize("bandwidth", [0.25, 2.5, 10.0])
def test_mmd_between_the_laws_is_the_mean_of_unbiased_estimates(bandwidth, rng):
    kernel = fastmmd.Gaussian(bandwidth)
    found = [
        fastmmd.mmd(*ring(500, rng), kernel=kernel, method="exact").mmd2
        for _ in range(40)
    ]
    error = np.std(found, ddof=1) / np.sqrt(len(found))
    # Four and a half standard errors of 40 values: one false alarm in ten thousand.
    assert ring_mmd2(bandwidth) == pytest.approx(np.mean(found), abs=4.5 * error)


def test_values_from_kernel_matrices_are_those_of_the_public_function(rng):
    x, y = ring(values_of.N_ROWS, rng)
    orders = rng.permutation(len(x)), rng.permutation(len(y))
    matrices = values_of.kernel_matrices(x, y)
    exact = values_of.exact_values(matrices)
    linear = values_of.linear_values(matrices, *orders)
    block = values_of.block_values(matrices, *orders)
    for j in SOME:
        kernel = fastmmd.Gaussian(values_of.BANDWIDTHS[j])
        for estimator in values_of.ESTIMATORS:
            expected = fastmmd.mmd(
                x, y, kernel=kernel, method="exact", estimator=estimator
            ).mmd2
            # Means of kernels up to 1, each right to some epsilons.
            assert exact[estimator][j] == pytest.approx(expected, abs=1e-14)
        shuffled = x[orders[0]], y[orders[1]]
        for values, method in ((linear, "linear"), (block, "block")):
            expected = fastmmd.mmd(*shuffled, kernel=kernel, method=method).mmd2
            assert values[j] == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("method", values_of.SAMPLINGS)
def test_values_from_features_are_those_of_the_public_function(method, rng):
    x, y = ring(values_of.N_ROWS, rng)
    sampling = values_of.SAMPLINGS[method]
    found = values_of.feature_values(x, y, sampling, 5)
    kernels = [fastmmd.Gaussian(bandwidth) for bandwidth in values_of.BANDWIDTHS]
    drawn = draw_family(kernels, [1024] * 16, 2, sampling=sampling, seed=5)
    base = drawn.bundles[0].base
    unit = base.to_dense() if method == "fastfood" else base.frequencies
    for j in SOME:
        way = fastmmd.Fourier(frequencies=unit / values_of.BANDWIDTHS[j])
        for estimator in values_of.ESTIMATORS:
            expected = fastmmd.mmd(
                x, y, kernel=kernels[j], method=way, estimator=estimator
            ).mmd2
            # Phases of 50 turns in single precision are off by 3e-5 at most and at random;
            # means over 200 rows and 1024 frequencies by far less than 1e-6.
            assert found[estimator][j] == pytest.approx(expected, abs=1e-6)


@pytest.fixture(scope="module")
def report():
    return experiments.run("family", quick=True, trials=12)


def column(table, name, **where):
    """Return the entries of a column in the rows with these values."""
    chosen = np.logical_and.reduce(
        [np.array(table.columns[key]) == value for key, value in where.items()]
    )
    return np.array(table.columns[name])[chosen]


def test_table_has_means_and_deviations_of_all_methods(report, settings):
    table = report.outcome.tables[0]
    exact, found = values_of.on_the_same_rows(settings("family", trials=12))
    assert set(found) == {
        *((e, m) for e in values_of.ESTIMATORS for m in values_of.SAMPLINGS),
        *(("unbiased", m) for m in values_of.UNBIASED_ONLY),
    }
    for (estimator, method), squares in found.items():
        where = {"estimator": estimator, "method": method}
        roots = np.sqrt(np.clip(squares, 0.0, None))
        assert squares.shape == (12, 16)
        for name, expected in (
            ("mean_mmd", roots.mean(axis=0)),
            ("deviation_mmd", roots.std(axis=0)),
            ("mean_mmd2", squares.mean(axis=0)),
            ("exact_mmd2", exact[estimator]),
            ("share_below_zero", (squares < 0.0).mean(axis=0)),
        ):
            # The same numbers added up in another order: some epsilons of a mean below 1.
            found_here = column(table, name, **where)
            np.testing.assert_allclose(found_here, expected, rtol=0.0, atol=1e-14)
    assert set(table.columns["trials"]) == {12}


def test_picks_are_counted_against_the_largest_mmd(report, settings):
    picks = report.outcome.tables[1]
    chosen = settings("family", trials=12)
    exact, found = values_of.on_the_same_rows(chosen)
    new = values_of.on_new_rows(chosen)
    best = np.argmax([ring_mmd2(bandwidth) for bandwidth in values_of.BANDWIDTHS])
    assert values_of.BANDWIDTHS[best] == pytest.approx(10.0**0.4)
    for (estimator, method), squares in new.items():
        where = {"estimator": estimator, "method": method}
        hits = sum(int(np.argmax(row)) == best for row in squares)
        assert column(picks, "picked_on_new_rows", **where) == pytest.approx(hits / 12)
        if method == "exact":
            continue
        right = int(np.argmax(exact[estimator]))
        hits = sum(int(np.argmax(row)) == right for row in found[estimator, method])
        share = column(picks, "picked_on_the_same_rows", **where)
        assert share == pytest.approx(hits / 12)


def test_rows_are_new_in_each_trial(settings):
    new = values_of.on_new_rows(settings("family", trials=2))
    first, second = new["unbiased", "exact"]
    assert np.all(first != second)


# --- Verdicts, from values made up


def made_up(**deviations):
    """Return values around an exact curve, with a deviation for each method."""
    exact = np.linspace(0.1, 0.2, 16)
    noise = np.array([-1.0, 1.0])[:, None]
    values = {
        ("unbiased", method): exact + noise * deviation
        for method, deviation in deviations.items()
    }
    return {"unbiased": exact, "biased": exact}, values


ALIKE = {"fourier": 1e-3, "fastfood": 1e-3, "linear": 9e-3, "block": 3e-3}


@pytest.mark.parametrize(
    ("judge", "changes", "expected"),
    [
        (family._features_are_alike, {}, "holds"),
        (family._features_are_alike, {"fastfood": 3e-3}, "fails"),
        (family._features_stray_less, {}, "holds"),
        (family._features_stray_less, {"block": 1e-3}, "holds partly"),
        (family._features_stray_less, {"block": 1e-3, "linear": 1e-3}, "fails"),
    ],
)
def test_verdicts_on_deviations(judge, changes, expected):
    _, found = made_up(**ALIKE | changes)
    assert judge(found).holds == expected


def test_verdict_on_means():
    exact, found = made_up(**ALIKE)
    assert family._means_agree(exact, found).holds == "holds"
    found["unbiased", "linear"] = found["unbiased", "linear"] + 0.1
    verdict = family._means_agree(exact, found)
    assert verdict.holds == "holds partly"
    assert "MMD-linear unbiased at 16" in verdict.measured


@pytest.mark.parametrize(
    ("fourier", "block", "on_new_rows", "expected"),
    [
        (0.95, 0.9, 0.9, "holds"),
        (0.95, 0.9, 0.96, "holds partly"),
        (0.9, 0.95, 0.95, "holds partly"),
    ],
)
def test_verdict_on_picks(fourier, block, on_new_rows, expected):
    shares = {"fourier": fourier, "fastfood": 0.97, "linear": 0.7, "block": block}
    methods = [*shares, "exact"]
    picks = Table(
        "family-picks",
        "A row is a method.",
        {
            "estimator": ["unbiased"] * 5,
            "method": methods,
            "picked_on_the_same_rows": [*shares.values(), 1.0],
            "picked_on_new_rows": [fourier, 0.97, 0.7, on_new_rows, 1.0],
        },
    )
    assert family._features_pick_better(picks).holds == expected
