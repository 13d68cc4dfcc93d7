"""Rows that belong together: whole groups are relabelled."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from scipy.stats import binom

import fastmmd
from fastmmd import Gaussian, two_sample_test
from fastmmd._rows import Rows
from fastmmd._twosample.clusters import check_groups
from fastmmd._twosample.layout import MAX_BINS
from fastmmd.nulls.groups import group_statistics, jackknife_error, permute_groups

EPS = np.finfo(float).eps
TIE = 1e-9


def between_groups(kernel, x, names_x, y, names_y):
    """Return squared MMD from pairs of rows of different groups, one pair at a time."""

    def mean(a, names_a, b, names_b):
        values = [
            float(kernel(u - v))
            for (u, g), (v, h) in itertools.product(
                zip(a, names_a, strict=True), zip(b, names_b, strict=True)
            )
            if g != h
        ]
        return sum(values) / len(values)

    within = mean(x, names_x, x, names_x) + mean(y, names_y, y, names_y)
    return within - 2.0 * mean(x, names_x, y, names_y)


def tiny(rng, shift=0.0):
    """Return seven groups of one to three rows, three of them in x, in mixed order."""
    names = np.repeat(np.arange(7), [2, 1, 3, 2, 3, 1, 2])
    rows = rng.normal(size=(7, 2))[names] + 0.3 * rng.normal(size=(len(names), 2))
    from_x = names < 3
    rows[from_x] += shift
    x_order, y_order = (rng.permutation(np.flatnonzero(w)) for w in (from_x, ~from_x))
    return rows, names, x_order, y_order


@pytest.mark.parametrize("shift", [0.0, 1.5])
def test_groups_are_relabelled_as_a_whole(shift, rng):
    kernel = 2.0 * Gaussian(1.0)
    rows, names, i, j = tiny(rng, shift)
    values = []
    for chosen in itertools.combinations(range(7), 3):
        x = np.isin(names, chosen)
        values.append(between_groups(kernel, rows[x], names[x], rows[~x], names[~x]))
    n_resamples = 4000
    result = two_sample_test(
        rows[i],
        rows[j],
        kernel=kernel,
        groups=(names[i], names[j]),
        n_resamples=n_resamples,
        rng=0,
    )
    # The observed groups 0, 1, 2 come first among the combinations.
    assert abs(result.statistic - values[0]) < 64 * EPS * 2.0
    # Only these 35 values occur, all of them: the rarest is missed with chance
    # 35 (34/35)^4000 = 1e-49.
    found = np.unique(np.round(result.null_distribution, 9))
    assert np.allclose(found, np.unique(np.round(values, 9)), rtol=0, atol=1e-9)
    exact = np.mean(np.array(values) >= values[0] - TIE)
    # 4.9 standard errors, and one for the observed labels.
    error = 4.9 * np.sqrt(exact * (1 - exact) / n_resamples) + 1 / n_resamples
    assert abs(result.pvalue - exact) < error
    assert (result.null, result.level_is) == ("permutation of groups", "exact")
    assert (result.n_bins, result.used_x, result.used_y) == (7, 1.0, 1.0)


def test_groups_of_one_row_are_rows(rng):
    x, y = rng.normal(size=(30, 2)), rng.normal(size=(40, 2)) + 0.3
    names = (np.arange(30), 30 + np.arange(40))
    grouped = two_sample_test(x, y, kernel=Gaussian(1.0), groups=names, rng=0)
    plain = two_sample_test(x, y, kernel=Gaussian(1.0), n_resamples=4000, rng=0)
    assert abs(grouped.statistic - plain.statistic) < 64 * EPS
    # The spread of the groups has k(x, x) in it, that of rows has not: 1 / n apart.
    assert grouped.effect_size == pytest.approx(plain.effect_size, rel=0.05)
    # 4.9 standard errors of both runs.
    p = plain.pvalue
    assert abs(grouped.pvalue - p) < 4.9 * np.sqrt(p * (1 - p) * (1 / 999 + 1 / 4000))


def test_order_and_names_of_groups_do_not_matter(rng):
    rows, names, i, j = tiny(rng)
    options = {"kernel": Gaussian(1.0), "n_resamples": 50, "rng": 0}
    one = two_sample_test(rows[i], rows[j], groups=(names[i], names[j]), **options)
    texts = np.array(["ann", "bob", "cy", "dee", "ed", "flo", "gus"])[names]
    for names_x, names_y in (
        (texts[i], texts[j]),
        (list(texts[i]), list(texts[j])),
        (names[i] / 2, names[j] / 2),
    ):
        other = two_sample_test(rows[i], rows[j], groups=(names_x, names_y), **options)
        assert other.statistic == one.statistic
    shuffled = rng.permutation(i)
    other = two_sample_test(
        rows[shuffled], rows[j], groups=(names[shuffled], names[j]), **options
    )
    assert abs(other.statistic - one.statistic) < 64 * EPS


def test_level_holds_for_rows_that_are_copies(rng):
    # Each group is one row, four times: as independent rows they would reject far too
    # often. With 20 relabellings p <= 0.05 has chance at most 1 / 21.
    runs, by_group, by_row = 250, 0, 0
    names = np.repeat(np.arange(16), 4)
    for _ in range(runs):
        z = rng.normal(size=(16, 1))[names]
        x, y = z[:28], z[28:]
        options = {"kernel": Gaussian(1.0), "n_resamples": 20, "rng": rng}
        groups = (names[:28], names[28:])
        by_group += two_sample_test(x, y, groups=groups, **options).pvalue <= 0.05
        by_row += two_sample_test(x, y, **options).pvalue <= 0.05
    assert by_group <= binom.isf(1e-6, runs, 1 / 21)
    assert by_row > binom.isf(1e-6, runs, 1 / 21)


@pytest.mark.parametrize("method", ["exact", "fourier", "fastfood"])
def test_groups_take_every_method_of_kernel_sums(method, rng):
    x, y = rng.normal(size=(60, 2)), rng.normal(size=(90, 2)) + 2.0
    names = (np.arange(60) // 3, 100 + np.arange(90) // 3)
    result = two_sample_test(x, y, groups=names, method=method, n_resamples=99, rng=1)
    assert (result.method, result.pvalue) == (method, 0.01)
    assert result.confidence_interval[0] > 0.0
    assert 0.0 < result.effect_size < 1.0
    assert (result.n_x, result.n_y) == (60, 90)
    assert abs(sum(result.shares) - 1.0) < 8 * EPS


@pytest.mark.parametrize(
    ("n_x", "n_y"), [(300, 300), (2, 1000), (4, 1000), (1000, 9), (100, 157), (128, 128)]
)
def test_very_many_groups_share_bins(n_x, n_y, rng):
    names = [np.repeat(np.arange(n), 2) + first for n, first in ((n_x, 0), (n_y, n_x))]
    samples = [Rows(np.zeros((2 * n, 1))) for n in (n_x, n_y)]
    binned = check_groups(tuple(names), *samples, rng)
    assert np.count_nonzero(binned.movable) <= MAX_BINS
    for sample, (n, order, edges) in enumerate(
        zip((n_x, n_y), binned.orders, binned.edges, strict=True)
    ):
        mine = binned.labels == sample
        assert len(edges) - 1 >= 2
        assert binned.counts[mine].sum() == 2 * n
        assert np.array_equal(np.sort(order), np.arange(2 * n))
        # As many bins as there are groups, up to eight: fewer could hardly be relabelled.
        assert np.count_nonzero(binned.movable & mine) >= min(n, 8)
        # A group is in one bin.
        bin_of_row = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
        found = np.unique(np.stack([names[sample][order], bin_of_row]), axis=1)
        assert found.shape[1] == n
    # Movable bins hold the same number of groups, here of two rows each.
    assert len(set(binned.counts[binned.movable])) == 1


@pytest.mark.parametrize(("n_x", "n_y"), [(2, 1000), (400, 300)])
def test_very_many_groups_are_tested(n_x, n_y, rng):
    x, y = rng.normal(size=(n_x, 1)), rng.normal(size=(n_y, 1))
    names = (np.arange(n_x), n_x + np.arange(n_y))
    options = {"kernel": Gaussian(1.0), "groups": names, "n_resamples": 199, "rng": 0}
    result = two_sample_test(x, y, **options)
    assert result.pvalue > 0.005
    assert np.isfinite(result.null_distribution).all()
    assert two_sample_test(x + 9.0, y, **options).rejects(0.02)


def test_two_groups_give_no_interval(rng):
    x, y = rng.normal(size=(6, 1)), rng.normal(size=(9, 1))
    names = (np.arange(6) // 3, 2 + np.arange(9) // 3)
    result = two_sample_test(x, y, groups=names, n_resamples=19, rng=0)
    assert result.confidence_interval is None
    json.dumps(result.to_dict(), allow_nan=False)


def test_constant_rows_in_groups_are_alike():
    names = (np.arange(8) // 2, 4 + np.arange(8) // 2)
    result = two_sample_test(np.ones(8), np.ones(8), groups=names, n_resamples=19, rng=0)
    assert (result.pvalue, result.effect_size) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        ([0, 0, 1, 1, 2, 2, 3, 3], TypeError, "`groups` must be a pair, .* got list"),
        (np.arange(8).reshape(2, 4), TypeError, "`groups` must be a pair.* got ndarray"),
        (([0, 1, 2, 3],), TypeError, "`groups` must be a pair"),
        (([0, 1, 2], [4, 5, 6, 7]), ValueError, r"4 rows of `x`; got shape \(3,\)"),
        (
            ([0, 1, 2, 3], [[4, 5, 6, 7]]),
            ValueError,
            r"4 rows of `y`; got shape \(1, 4\)",
        ),
        (
            ([0, 1, 2, 3], [3, 4, 5, 6]),
            ValueError,
            "different in the two samples.* got 3",
        ),
        (
            ([0, 0, 0, 0], [1, 2, 3, 4]),
            ValueError,
            "at least 2 in each sample; got 1 and 4",
        ),
        (([0, 1, 2, 3], [4] * 4), ValueError, "at least 2 in each sample; got 4 and 1"),
    ],
)
def test_wrong_groups_are_refused(groups, error, message):
    with pytest.raises(error, match=message):
        two_sample_test(np.arange(4.0), np.arange(4.0), groups=groups)


@pytest.mark.parametrize(
    "options",
    [
        {"null": "gamma"},
        {"kernel": "gaussian", "margin": 0.1},
        {"method": "linear"},
        {"method": fastmmd.Block(2)},
    ],
)
def test_groups_go_with_permutation_only(options):
    with pytest.raises(ValueError, match="`groups`"):
        two_sample_test(
            np.arange(4.0), np.arange(4.0), groups=([0, 1] * 2, [2, 3] * 2), **options
        )


# ---- the functions beneath


def test_fixed_groups_stay(rng):
    gram = rng.normal(size=(6, 3))
    grams, counts = (gram @ gram.T)[None], np.array([1, 2, 3, 1, 2, 3])
    x = np.array([True, True, True, False, False, False])
    movable = np.array([True, False, True, False, True, True])
    found = permute_groups(grams, counts, x, movable, n_resamples=500, rng=rng)
    expected = []
    for chosen in itertools.combinations([0, 2, 4, 5], 2):
        labels = np.isin(np.arange(6), (1, *chosen))
        expected.append(group_statistics(grams, counts, labels)[0])
    # Six values, each missed with chance (5/6)^500 = 1e-40. Terms are of size 10.
    unique = np.unique(np.round(found, 9))
    assert np.allclose(unique, np.unique(np.round(expected, 9)), rtol=0, atol=1e-9)


def test_more_resamples_keep_the_first_ones():
    grams, counts = np.diag(np.arange(1.0, 9.0))[None] + 1, np.ones(8, int)
    x = np.arange(8) < 4
    few, many = (
        permute_groups(
            grams, counts, x, x | ~x, n_resamples=n, rng=np.random.default_rng(1)
        )
        for n in (10, 100)
    )
    assert np.allclose(few, many[:10], rtol=0, atol=1e-12)


def test_jackknife_error_is_that_of_the_estimate(rng):
    # Groups of two rows around a common point, x shifted so that the linear part rules.
    def draw():
        z = rng.normal(size=60) + np.where(np.arange(60) < 30, 1.5, 0.0)
        rows = np.repeat(z, 2) + 0.5 * rng.normal(size=120)
        matrix = np.exp(-((rows[:, None] - rows) ** 2) / 2)
        return matrix.reshape(60, 2, 60, 2).sum(axis=(1, 3))

    counts, x = np.full(60, 2), np.arange(60) < 30
    grams = [draw() for _ in range(60)]
    spread = np.std([group_statistics(g[None], counts, x)[0] for g in grams], ddof=1)
    errors = [jackknife_error(g, counts, x) for g in grams[:10]]
    # 60 values know their standard deviation to 1 / sqrt(120) = 0.09: 4.9 of these, and a
    # twentieth for the jackknife's own error (its mean over ten draws).
    assert abs(np.mean(errors) / spread - 1.0) < 0.5
    assert jackknife_error(np.ones((5, 5)), np.ones(5, int), np.arange(5) < 2) == np.inf
