"""Other two-sample tests, in a few lines each, to stand beside ours."""

from __future__ import annotations

import numpy as np
from scipy import stats

RESAMPLES = 199
"""Both 0.05 and 0.01 are multiples of 1 / (199 + 1)."""


def t_test(x: np.ndarray, y: np.ndarray) -> float:
    """Return the p-value of Welch's test of equal means, for one column."""
    return float(stats.ttest_ind(x[:, 0], y[:, 0], equal_var=False).pvalue)


def hotelling(x: np.ndarray, y: np.ndarray) -> float:
    """Return the p-value of Hotelling's test of equal means in all columns."""
    (n, d), m = x.shape, len(y)
    pooled = ((n - 1) * np.cov(x.T) + (m - 1) * np.cov(y.T)) / (n + m - 2)
    shift = x.mean(axis=0) - y.mean(axis=0)
    squared = n * m / (n + m) * shift @ np.linalg.solve(pooled, shift)
    ratio = squared * (n + m - d - 1) / (d * (n + m - 2))
    return float(stats.f.sf(ratio, d, n + m - d - 1))


def kolmogorov_smirnov(x: np.ndarray, y: np.ndarray) -> float:
    """Return the smallest p-value over the columns, times their number.

    The smallest is that of the largest distance, so only that column is tested. Without ties.
    """
    order = np.argsort(np.concatenate((x, y)), axis=0)
    steps = np.where(order < len(x), 1.0 / len(x), -1.0 / len(y))
    furthest = int(np.argmax(np.abs(np.cumsum(steps, axis=0)).max(axis=0)))
    method = "exact" if len(x) <= 50 else "asymp"
    found = stats.ks_2samp(x[:, furthest], y[:, furthest], method=method)
    return min(1.0, x.shape[1] * float(found.pvalue))


def energy(x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> float:
    """Return the p-value of the energy distance with relabelled rows."""
    pooled = np.concatenate((x, y))
    squares = np.square(pooled).sum(axis=1)
    products = pooled @ pooled.T
    distances = np.sqrt(np.maximum(squares[:, None] + squares - 2.0 * products, 0.0))
    n = len(x)
    chosen = np.zeros((RESAMPLES + 1, len(pooled)))
    chosen[0, :n] = 1.0
    order = np.argsort(rng.random((RESAMPLES, len(pooled))), axis=1)[:, :n]
    np.put_along_axis(chosen[1:], order, 1.0, axis=1)
    weights = chosen / n - (1.0 - chosen) / len(y)
    statistics = -np.einsum("ij,ij->i", weights @ distances, weights)
    # Relabellings that differ by rounding only are ties.
    slack = 1e-9 * abs(statistics[0])
    return float(np.mean(statistics >= statistics[0] - slack))


def chi_squared(x: np.ndarray, y: np.ndarray) -> float:
    """Return the p-value of Pearson's test on the counts of one-hot rows."""
    counts = np.stack((x.sum(axis=0), y.sum(axis=0)))
    return float(stats.chi2_contingency(counts[:, counts.any(axis=0)]).pvalue)


def classifier(x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> float | None:
    """Return the p-value of boosted trees that tell held-out rows apart.

    Half of the rows train; the share of the others that is named rightly is compared with
    tossing a coin. None without scikit-learn.
    """
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError:
        return None
    rows = np.concatenate((x, y))
    labels = np.repeat([0, 1], [len(x), len(y)])
    order = rng.permutation(len(rows))
    train, held = np.array_split(order, 2)
    model = HistGradientBoostingClassifier(max_iter=100, early_stopping=False)
    model.fit(rows[train], labels[train])
    right = int((model.predict(rows[held]) == labels[held]).sum())
    return float(stats.binomtest(right, len(held), 0.5, alternative="greater").pvalue)
