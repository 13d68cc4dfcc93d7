"""Figure 5: errors are those of the public functions, and each draw is what it says."""

from __future__ import annotations

import numpy as np
import pytest

import fastmmd
from fastmmd import experiments
from fastmmd.experiments import approximation
from fastmmd.experiments._data import blobs
from fastmmd.experiments._estimates import distance, exact_mmd2, spectral_mmd2
from fastmmd.frequencies import draw_fastfood

KERNEL = approximation.KERNEL


@pytest.fixture(scope="module")
def report():
    return experiments.run("approximation", quick=True, trials=8)


def test_estimates_from_frequencies_are_those_of_the_public_function(rng):
    x, y = blobs(300, 4.0, rng)
    drawn = approximation.draw("fourier", 64, rng)
    found = spectral_mmd2(x, y, 2.0 * KERNEL, drawn)
    method = fastmmd.Fourier(frequencies=drawn.frequencies)
    for value, estimator in zip(found, ("biased", "unbiased"), strict=True):
        expected = fastmmd.mmd(
            x, y, kernel=2.0 * KERNEL, method=method, estimator=estimator
        ).mmd2
        # Single precision: each feature mean is right to about 1e-7.
        assert value == pytest.approx(expected, abs=2e-6)


def test_exact_values_are_double_sums(rng):
    x, y = blobs(50, 4.0, rng)

    def kernel(a, b):
        return np.exp(-0.5 * ((a[:, None] - b) ** 2).sum(axis=-1))

    biased = kernel(x, x).mean() + kernel(y, y).mean() - 2.0 * kernel(x, y).mean()
    within = [(kernel(a, a).sum() - 50) / (50 * 49) for a in (x, y)]
    unbiased = sum(within) - 2.0 * kernel(x, y).mean()
    np.testing.assert_allclose(exact_mmd2(x, y, KERNEL), [biased, unbiased], atol=1e-14)


def test_fastfood_frequencies_are_the_transforms_own(rng):
    seed = int(rng.integers(1000))
    dense = approximation.draw("fastfood", 33, np.random.default_rng(seed))
    drawn = draw_fastfood(KERNEL, 33, 2, rng=np.random.default_rng(seed))
    rows = rng.normal(size=(5, 2))
    expected = drawn.project(rows, None)
    np.testing.assert_allclose(rows @ dense.frequencies.T, expected, atol=1e-13)


@pytest.mark.parametrize("method", [*approximation.PAPER, *approximation.OURS])
def test_every_draw_follows_the_kernel(method, rng):
    frequencies = approximation.draw(method, 4000, rng).frequencies
    assert frequencies.shape == (4000, 2)
    # Second moments are 1; independent ones stray by sqrt(2/4000) = 0.022, five times that.
    # Frequencies of a Fastfood block share their length, which doubles the variance.
    np.testing.assert_allclose((frequencies**2).mean(axis=0), 1.0, atol=0.16)


def test_draws_differ_as_they_should(rng):
    def draw(method):
        return approximation.draw(method, 4096, rng).frequencies

    pairs = draw("orthogonal").reshape(-1, 2, 2)
    np.testing.assert_allclose((pairs[:, 0] * pairs[:, 1]).sum(axis=1), 0.0, atol=1e-13)
    independent = draw("fourier").reshape(-1, 2, 2)
    assert np.abs((independent[:, 0] * independent[:, 1]).sum(axis=1)).mean() > 0.5
    # Means of independent frequencies stray by 1/64, those of Sobol points far less.
    assert np.abs(draw("sobol").mean(axis=0)).max() < 0.1 / 64


def test_negative_squares_count_as_zero():
    np.testing.assert_array_equal(distance(np.array([-1.0, 0.0, 4.0])), [0.0, 0.0, 2.0])


def test_the_table_has_the_errors(report):
    table = report.outcome.tables[0].columns
    rows = list(zip(*table.values(), strict=True))
    assert len(rows) == 4 * 2 * 8 + 2
    errors = {row[:3]: row[4] for row in rows}
    trials = {row[0]: row[3] for row in rows}
    assert trials == {"fourier": 8, "fastfood": 8, "orthogonal": 2, "sobol": 2, "grid": 8}
    for estimator in ("biased", "unbiased"):
        # Eight trials know a mean error to a third of it, and from 16 to 2048 it falls
        # eleven times.
        ends = errors["fourier", estimator, 16], errors["fourier", estimator, 2048]
        assert 4.0 < ends[0] / ends[1] < 40.0
    assert all(row[4] < 1e-12 for row in rows if row[0] == "grid")


def test_errors_of_one_trial_are_computed_again():
    settings = approximation.EXPERIMENT.settings(quick=True, trials=2, seed=3)
    found = approximation.measure(settings)
    x, y = blobs(1000, 4.0, settings.rng("rows", 1))
    rng = settings.rng("fourier", 1)
    for place, size in enumerate((16, 32)):
        w = approximation.draw("fourier", size, rng).frequencies
        means = [np.exp(1j * rows @ w.T).mean(axis=0) for rows in (x, y)]
        squares = np.abs(means[0] - means[1]) ** 2
        exact = found.mmd[1, 0]
        error = abs(np.sqrt(squares.mean()) - exact)
        # Single precision of mean features, beside amplitudes of 0.06.
        assert found.errors["fourier"][1, place, 0] == pytest.approx(error, abs=1e-5)
        relative = found.relative("fourier", "biased")[1, place]
        assert relative == pytest.approx(error / exact, abs=1e-3)


def test_verdicts_follow_the_numbers():
    sizes = 2 ** np.arange(4, 12)
    rng = np.random.default_rng(1)
    shape = (50, 8, 2)

    def measured(fourier, fastfood, sobol):
        noise = 1.0 + 0.1 * rng.random((4, *shape))
        curves = (fourier, fastfood, fourier, sobol)
        errors = {
            method: curve[None, :, None] * each
            for method, curve, each in zip(
                ("fourier", "fastfood", "orthogonal", "sobol"), curves, noise, strict=True
            )
        }
        return approximation.Measured(
            sizes=sizes,
            mmd=np.full((50, 2), 1.0),
            errors=errors,
            grid=np.zeros((50, 2)),
            n_grid=9,
        )

    def words(found):
        parts = ("_falls", "_alike", "_modest", "_quasi_random")
        return [getattr(approximation, part)(found).holds for part in parts]

    root = 1.0 / np.sqrt(sizes)
    assert words(measured(root, root, 0.5 * root)) == ["holds"] * 4
    assert words(measured(root, 2.0 * root, 2.0 * root))[1:] == [
        "fails",
        "holds",
        "fails",
    ]
    assert words(measured(1.0 / sizes, root, root))[0] == "holds partly"
    flat = np.full(8, 0.5)
    assert words(measured(flat, flat, flat))[:3] == ["fails", "holds", "fails"]
