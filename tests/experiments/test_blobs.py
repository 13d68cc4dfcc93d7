"""Figure 4: the data have the covariance they should, and the closed form is right."""

from __future__ import annotations

import numpy as np
import pytest

from fastmmd import experiments
from fastmmd.experiments._data import blob_covariance, blobs
from fastmmd.experiments.blobs import BANDWIDTHS, population_mmd2


def test_moments_of_the_blobs(rng):
    n = 200_000
    samples = blobs(n, 4.0, rng)
    # Centres are uniform on 0, 5, 10, 15, 20: mean 10, variance 50, and independent.
    expected = (np.eye(2), [[2.5, 1.5], [1.5, 2.5]])
    for rows, covariance in zip(samples, expected, strict=True):
        total = 50.0 * np.eye(2) + covariance
        # Standard errors of at most 52.5 sqrt(2/n) = 0.17 for normal rows, less for these;
        # five of them are below the 1.5 by which the two differ.
        np.testing.assert_allclose(np.cov(rows.T), total, atol=5 * 52.5 * np.sqrt(2 / n))
        np.testing.assert_allclose(rows.mean(axis=0), 10.0, atol=5 * np.sqrt(52.5 / n))


@pytest.mark.parametrize("ratio", [1.0, 2.5, 4.0])
def test_eigenvalues_have_the_ratio(ratio):
    values, vectors = np.linalg.eigh(blob_covariance(ratio))
    np.testing.assert_allclose(values, [1.0, ratio], rtol=1e-13)
    if ratio > 1.0:
        np.testing.assert_allclose(np.abs(vectors[:, 1]), np.sqrt(0.5), rtol=1e-13)


@pytest.mark.parametrize("bandwidth", [0.4, 1.0, 3.0])
def test_the_closed_form_is_an_integral_over_frequencies(bandwidth):
    # MMD^2 is the mean of |phi_P - phi_Q|^2 over the kernel's frequencies, and the
    # characteristic functions are known. The trapezoidal rule on an entire function of
    # Gaussian decay is exact to rounding once its step resolves the widest distance, 20
    # sqrt(2) plus what the Gaussians reach.
    step, reach = 0.04, 9.0 / bandwidth
    line = np.arange(-reach, reach + step / 2, step)
    w = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    density = (
        bandwidth**2 / (2 * np.pi) * np.exp(-0.5 * bandwidth**2 * (w**2).sum(axis=1))
    )
    grid = np.exp(1j * 5.0 * w[:, :, None] * np.arange(5)).mean(axis=-1).prod(axis=-1)
    shapes = [
        np.exp(-0.5 * np.einsum("ij,jk,ik->i", w, cov, w))
        for cov in (np.eye(2), blob_covariance(4.0))
    ]
    squares = np.abs(grid * (shapes[0] - shapes[1])) ** 2
    integral = float((squares * density).sum() * step**2)
    assert population_mmd2(bandwidth, 4.0) == pytest.approx(integral, rel=1e-9, abs=1e-15)


def test_no_difference_no_mmd():
    assert population_mmd2(1.0, 1.0) == pytest.approx(0.0, abs=1e-15)


def test_the_report():
    report = experiments.run("blobs", quick=True)
    assert [verdict.holds for verdict in report.verdicts] == ["holds", "holds"]
    table = report.outcome.tables[1].columns
    np.testing.assert_allclose(BANDWIDTHS[[0, 5, 15]], [0.1, 1.0, 100.0], rtol=1e-14)
    assert np.argmax(table["mmd2_of_the_distributions"]) == 5
    of_means = np.array(table["standard_deviation"]) / np.sqrt(report.trials)
    np.testing.assert_allclose(table["its_standard_error"], of_means, rtol=1e-14)
