"""The slow and obvious ways to compute things, which the library is compared with."""

from __future__ import annotations

import itertools
import math

import numpy as np


def double_sum(kernel, x, y, estimator):
    """Squared MMD by its definition, one pair at a time, summed exactly."""
    x, y = np.atleast_2d(x), np.atleast_2d(y)
    n, m = len(x), len(y)

    def total(a, b, skip_same):
        return math.fsum(
            float(kernel(a[i] - b[j]))
            for i, j in itertools.product(range(len(a)), range(len(b)))
            if not (skip_same and i == j)
        )

    if estimator == "unbiased":
        within = total(x, x, True) / (n * (n - 1)) + total(y, y, True) / (m * (m - 1))
    else:
        within = total(x, x, False) / n**2 + total(y, y, False) / m**2
    return within - 2.0 * total(x, y, False) / (n * m)


def linear_sum(kernel, x, y):
    """Return the linear-time estimate, term by term (Gretton et al. 2012, Lemma 14)."""
    n = min(len(x), len(y)) // 2
    terms = []
    for i in range(n):
        a, b, c, d = x[2 * i], x[2 * i + 1], y[2 * i], y[2 * i + 1]
        terms.append(float(kernel(a - b) + kernel(c - d) - kernel(a - d) - kernel(b - c)))
    return math.fsum(terms) / n


def block_sum(kernel, x, y, size):
    """Return the B-test's estimate: one-sample U statistics of consecutive blocks."""
    blocks = min(len(x), len(y)) // size
    values = []
    for b in range(blocks):
        u, v = x[b * size : (b + 1) * size], y[b * size : (b + 1) * size]
        terms = [
            float(
                kernel(u[i] - u[j])
                + kernel(v[i] - v[j])
                - kernel(u[i] - v[j])
                - kernel(u[j] - v[i])
            )
            for i in range(size)
            for j in range(size)
            if i != j
        ]
        values.append(math.fsum(terms) / (size * (size - 1)))
    return math.fsum(values) / blocks


def feature_sum(frequencies, at_zero, x, y, estimator):
    """Squared MMD of explicit features, pair by pair through their inner products."""

    def features(rows):
        phases = rows @ np.asarray(frequencies).T
        both = np.concatenate([np.cos(phases), np.sin(phases)], axis=1)
        return both * math.sqrt(at_zero / len(frequencies))

    def mean_product(a, b, skip_same):
        products = a @ b.T
        if not skip_same:
            return products.mean()
        n = len(a)
        return (products.sum() - np.trace(products)) / (n * (n - 1))

    z, w = features(np.asarray(x)), features(np.asarray(y))
    skip = estimator == "unbiased"
    return (
        mean_product(z, z, skip)
        + mean_product(w, w, skip)
        - 2 * mean_product(z, w, False)
    )


def gaussian_mmd2(mean, variance_x, variance_y, bandwidth):
    """Squared MMD of N(0, variance_x I) and N(mean, variance_y I), Gaussian kernel.

    E k(x, y) for x - y ~ N(mean, v I) is (1 + v/s^2)^(-d/2) exp(-|mean|^2 / (2 (s^2 + v))).
    """
    dim, s2 = len(mean), bandwidth**2

    def expected(variance, squared):
        factor = (1.0 + variance / s2) ** (-dim / 2)
        return factor * math.exp(-squared / (2.0 * (s2 + variance)))

    squared = float(np.dot(mean, mean))
    within = expected(2 * variance_x, 0.0) + expected(2 * variance_y, 0.0)
    return within - 2.0 * expected(variance_x + variance_y, squared)
