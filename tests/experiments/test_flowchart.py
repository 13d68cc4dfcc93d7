"""Figure 3: the ensemble, from its parts."""

from __future__ import annotations

import numpy as np
import pytest

from fastmmd import experiments
from fastmmd.experiments import flowchart


@pytest.fixture(scope="module")
def found():
    settings = flowchart.EXPERIMENT.settings(quick=True, trials=300, seed=5)
    return flowchart.measure(settings)


def means(found):
    """Return the mean of exp(i w.x) for every frequency and sample."""
    return [
        np.exp(1j * rows @ found.frequencies.T).mean(axis=0)
        for rows in (found.x, found.y)
    ]


def naive_mmd(x, y, bandwidth):
    """Return the biased MMD from all pairs."""

    def kernel(a, b):
        squares = ((a[:, None] - b) ** 2).sum(axis=-1)
        return np.exp(-squares / (2.0 * bandwidth**2)).mean()

    return np.sqrt(kernel(x, x) + kernel(y, y) - 2.0 * kernel(x, y))


def test_discrepancies_are_distances_of_mean_points(found):
    mean_x, mean_y = means(found)
    # Features in double precision, 400 of them in a mean.
    np.testing.assert_allclose(found.discrepancies, np.abs(mean_x - mean_y), atol=1e-13)
    squares = [np.mean(found.discrepancies[: n + 1] ** 2) for n in range(300)]
    np.testing.assert_allclose(found.running() ** 2, squares, rtol=1e-13)


def test_exact_values(found):
    # Squares are differences of numbers of size 1, right to some epsilons; the smallest
    # MMD here is 0.01, whose square loses four digits.
    assert found.exact == pytest.approx(naive_mmd(found.x, found.y, 1.0), rel=1e-11)
    for place in (0, 10, 20):
        expected = naive_mmd(found.x, found.y, flowchart.BANDWIDTHS[place])
        assert found.by_bandwidth[place] == pytest.approx(expected, rel=1e-10)


def test_frequencies_follow_the_kernel(found):
    # Standard normal: means of 300 stray by 0.06, variances by 0.08; four of these.
    assert np.abs(found.frequencies.mean(axis=0)).max() < 0.24
    assert np.abs(found.frequencies.var(axis=0) - 1.0).max() < 0.33


def test_the_vote_is_the_witness_function(found):
    rows = found.x[:7]
    votes = flowchart.vote(found.x, found.y, rows, found.frequencies[:5])
    mean_x, mean_y = (mean[:5] for mean in means(found))
    phases = np.exp(1j * rows @ found.frequencies[:5].T)
    witness = (np.conj(mean_x - mean_y) * phases).real.sum(axis=1)
    np.testing.assert_allclose(votes, witness, atol=1e-12)


def test_the_report():
    report = experiments.run("flowchart", quick=True)
    assert [verdict.holds for verdict in report.verdicts] == ["holds"] * 3
