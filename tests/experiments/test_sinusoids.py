"""Figure 1: sums of sinusoids as sums of complex numbers."""

from __future__ import annotations

import cmath

import numpy as np
import pytest

from fastmmd import experiments
from fastmmd.experiments.sinusoids import direct, sequential, two_samples

EPS = float(np.finfo(float).eps)


def test_both_ways_give_the_length_of_a_complex_sum(rng):
    phases, weights = rng.uniform(-9.0, 9.0, 40), rng.normal(size=40)
    steps = sequential(phases, weights)
    total = 0j
    for i, (phase, weight) in enumerate(zip(phases, weights, strict=True)):
        total += weight * cmath.exp(1j * phase)
        # Each step rounds numbers of the size of all weights by some epsilons.
        bound = 8 * EPS * (i + 1) * np.abs(weights).sum()
        amplitude, theta = steps[i]
        assert abs(cmath.rect(amplitude, theta) - total) <= bound
    # Of A^2, 1600 terms are rounded once each and summed exactly.
    squares = np.abs(weights).sum() ** 2
    assert direct(phases, weights) ** 2 == pytest.approx(
        abs(total) ** 2, abs=40 * EPS * squares
    )


def test_the_amplitude_is_the_largest_value(rng):
    phases, weights = two_samples(5, rng)
    times = np.linspace(0.0, 2.0 * np.pi, 100_001)
    wave = (weights[:, None] * np.sin(times - phases[:, None])).sum(axis=0)
    amplitude, theta = sequential(phases, weights)[-1]
    # Next to its top a sinusoid falls by half the square of the distance.
    assert wave.max() == pytest.approx(amplitude, rel=0.5 * (2e-5 * np.pi) ** 2 + 1e-14)
    top = (theta + np.pi / 2.0) % (2.0 * np.pi)
    assert times[wave.argmax()] == pytest.approx(top, abs=1e-4)


def test_weights_are_those_of_the_biased_mmd(rng):
    phases, weights = two_samples(3, rng)
    assert phases.shape == (6,)
    np.testing.assert_array_equal(weights, [1 / 3] * 3 + [-1 / 3] * 3)


def test_the_report():
    report = experiments.run("sinusoids", quick=True)
    assert [verdict.holds for verdict in report.verdicts] == ["holds", "holds"]
    table = report.outcome.tables[0].columns
    assert list(table["sinusoids"]) == [4, 8, 16, 32, 64, 128, 256, 512]
    assert max(table["relative_difference"]) < 1e-13
