"""`compare`: the test from two sketches, against the same test from the rows."""

from __future__ import annotations

import itertools

import numpy as np
import precision
import pytest

import fastmmd
from fastmmd import Gaussian, IncompatibleSketchError, Laplace, Sketch, compare
from fastmmd.nulls.matching import equalise
from fastmmd.sketch.routing import route, stream_id


def embedding_error(frequencies, n_doublings=0):
    """Bound the error of a mean embedding's length.

    A mean of features errs by no more than they do on average, here for numbers of at most
    2 on average; the vector of 2 L features over sqrt(L) by the root of twice the mean
    square of that.
    """
    turns = 2 * np.abs(frequencies).sum(axis=1) / (2 * np.pi)
    errors = precision.feature_error(
        turns, frequencies.shape[1], single=True, n_doublings=n_doublings
    )
    return np.sqrt(2 * np.mean(errors**2))


def statistic_error(n_x, n_y, frequencies=None, **options):
    """Bound the error of the unbiased estimate for ``K(0) = 1``.

    It is ``n/(n-1) |a|^2 + m/(m-1) |b|^2 - 2 a.b`` and a constant, with mean embeddings of
    length at most 1: each square or product moves by at most twice the vector's error.
    """
    # By default those of a Gaussian of bandwidth 1 in two columns: |w_1| + |w_2| has a
    # root mean square of 1.8.
    frequencies = np.ones((1, 2)) if frequencies is None else frequencies
    error = embedding_error(frequencies, **options)
    return 2 * error * (n_x / (n_x - 1) + n_y / (n_y - 1) + 2)


def sketch(rows, stream, kernel=None, **options):
    options = {"n_frequencies": 16, "n_bins": 64} | options
    kernel = Gaussian(1.0) if kernel is None else kernel
    made = Sketch(kernel, np.shape(rows)[1], stream=stream, **options)
    made.update(rows)
    return made


def pair(n_x, n_y, *args, shift=0.0, seed=1, **options):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n_x, 2)), rng.normal(size=(n_y, 2)) + shift
    return sketch(x, "x", *args, **options), sketch(y, "y", *args, **options)


def own_frequencies(made, index=0):
    for bundle in made._family.bundles:
        for member in bundle.members:
            if member.index == index:
                return bundle.base.frequencies[: member.n_frequencies] / member.bandwidth
    raise AssertionError(index)


FAMILY = (Gaussian(0.5), Gaussian(1.0), Laplace(1.0))


# --- The statistic


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplace(0.5), 3.0 * Gaussian(2.0)])
@pytest.mark.parametrize(("n_x", "n_y"), [(2, 3), (40, 900), (2000, 1500)])
def test_the_statistic_is_the_estimate_with_the_sketches_frequencies(
    kernel, n_x, n_y, rng
):
    x, y = rng.normal(size=(n_x, 3)), rng.normal(size=(n_y, 3)) + 0.3
    first = sketch(x, "x", kernel, center=[0.5, 0.0, 0.0])
    result = compare(first, sketch(y, "y", kernel, center=[0.5, 0.0, 0.0]), rng=0)
    method = fastmmd.Fourier(frequencies=own_frequencies(first))
    expected = fastmmd.mmd(x, y, kernel=kernel, method=method).mmd2
    error = abs(result.statistic - expected)
    bound = kernel.at_zero * statistic_error(n_x, n_y, own_frequencies(first))
    # Three numbers in a sample of two may be larger than 2 on average, but not than 4.
    assert error < (2 * bound if n_x == 2 else bound)
    assert (result.n_x, result.n_y, result.method) == (n_x, n_y, "sketch")


def test_the_statistic_of_a_family_is_that_of_the_kernel_named(rng):
    x, y = rng.normal(size=(700, 2)), 1.2 * rng.normal(size=(800, 2))
    first = sketch(x, "x", FAMILY)
    result = compare(first, sketch(y, "y", FAMILY), rng=0)
    index = FAMILY.index(result.kernel)
    assert index == np.argmax(result.shares)
    assert result.kernels == FAMILY
    method = fastmmd.Fourier(frequencies=own_frequencies(first, index))
    expected = fastmmd.mmd(x, y, kernel=result.kernel, method=method).mmd2
    # The Gaussian of half the bandwidth doubles the angles of the other.
    bound = statistic_error(700, 800, own_frequencies(first, index), n_doublings=1)
    assert abs(result.statistic - expected) < bound


def test_merged_sketches_stand_for_all_their_rows(rng):
    x, y = rng.normal(size=(1200, 2)), rng.normal(size=(900, 2))
    parts = [sketch(part, f"x{i}") for i, part in enumerate(np.array_split(x, 5))]
    other = sketch(y, "y")
    whole = compare(sketch(x, "x"), other, rng=0)
    merged = compare(sum(parts), other, rng=0)
    # Sums over all slots are the same to the last bit; products of sums of slots, 256 on
    # either side and of at most 1 in all, are rounded otherwise.
    assert abs(whole.statistic - merged.statistic) < 4 * 512 * 2.0**-52
    assert merged.n_x == 1200


def test_slots_may_differ_in_number(rng):
    x, y = rng.normal(size=(2000, 2)), rng.normal(size=(2000, 2))
    fine, coarse = sketch(x, "x", n_bins=256), sketch(y, "y")
    result = compare(fine, coarse, rng=0)
    equal = compare(fine, sketch(y, "y", n_bins=256), rng=0)
    assert result.level_is == "exact"
    assert abs(result.statistic - equal.statistic) < 1e-12
    assert (fine.n_bins, coarse.n_bins) == (256, 64)


def test_swapping_the_sketches_keeps_the_statistic():
    first, second = pair(600, 500, shift=0.1)
    forth, back = compare(first, second, rng=0), compare(second, first, rng=0)
    assert abs(forth.statistic - back.statistic) < 1e-12
    assert (back.n_x, back.n_y) == (500, 600)


# --- The exact p-value


def test_the_pvalue_is_that_of_relabelled_groups_of_rows(rng):
    # Everything again from the rows, by the definition: slots of rows, groups of slots
    # with equal numbers of rows, all relabellings of the groups, and for each the double
    # sums over pairs of rows.
    x, y = rng.normal(size=(24, 2)), rng.normal(size=(20, 2)) + 0.5
    first, second = (sketch(rows, name, n_bins=16) for rows, name in ((x, "x"), (y, "y")))
    result = compare(first, second, null="permutation", n_resamples=1000)
    # Groups come from the counts of occupied slots alone.
    slots = [
        route(stream_id(name), 0, len(rows), 16) for rows, name in ((x, "x"), (y, "y"))
    ]
    occupied = [np.unique(s, return_inverse=True)[1] for s in slots]
    matching = equalise(*(np.bincount(s) for s in occupied))
    k_x, k_y = matching.n_groups_x, matching.n_groups_y
    assert min(k_x, k_y) >= 4
    group_of_row = np.concatenate(
        [
            matching.groups_x[occupied[0]],
            np.where(
                matching.groups_y[occupied[1]] < 0,
                -1,
                matching.groups_y[occupied[1]] + k_x,
            ),
        ]
    )
    rows, from_x = np.concatenate([x, y]), np.arange(44) < 24
    differences = rows[:, None] - rows
    kernel = np.cos(differences @ own_frequencies(first).T).mean(axis=2)
    off_diagonal = kernel - np.eye(44)

    def u_statistic(labels):
        n, m = labels.sum(), (~labels).sum()
        within_x = off_diagonal[np.ix_(labels, labels)].sum() / (n * (n - 1))
        within_y = off_diagonal[np.ix_(~labels, ~labels)].sum() / (m * (m - 1))
        return within_x + within_y - 2 * kernel[np.ix_(labels, ~labels)].sum() / (n * m)

    observed = u_statistic(from_x)
    relabelled = []
    for chosen in itertools.combinations(range(k_x + k_y), k_x):
        labels = np.where(group_of_row < 0, from_x, np.isin(group_of_row, chosen))
        relabelled.append(u_statistic(labels))
    values = np.array(relabelled)
    # One of them is the observed one; no other is so near that rounding could decide.
    distances = np.sort(np.abs(values - observed))
    assert distances[0] < 1e-12
    assert distances[1] > 4 * statistic_error(24, 20)
    expected = np.count_nonzero(values >= observed - 1e-12) / len(values)
    assert result.pvalue == pytest.approx(expected, abs=1e-12)
    assert 0.001 < expected < 0.999
    assert result.n_resamples == len(values)
    assert result.used_x == np.mean(group_of_row[:24] >= 0)
    assert result.used_y == np.mean(group_of_row[24:] >= 0)
    # All relabelled statistics, not only their order.
    error = np.abs(np.sort(result.null_distribution[:, 0]) - np.sort(values)).max()
    assert error < statistic_error(24, 20)
    assert abs(result.statistic - observed) < statistic_error(24, 20)


@pytest.mark.parametrize("kernel", [Gaussian(1.0), FAMILY], ids=["one", "family"])
@pytest.mark.parametrize(("n_x", "n_y"), [(200, 200), (1000, 1300), (5000, 1000)])
def test_groups_are_relabelled_where_counts_match(kernel, n_x, n_y):
    result = compare(*pair(n_x, n_y, kernel, n_bins=256), rng=0)
    assert (result.null, result.level_is) == ("permutation", "exact")
    assert min(result.used_x, result.used_y) > 0.8
    smaller = result.used_x if n_x < n_y else result.used_y
    assert smaller >= 0.9
    assert max(result.used_x, result.used_y) <= 1.0
    assert result.n_resamples == 999
    assert result.pvalue * 1000 == pytest.approx(round(result.pvalue * 1000), abs=1e-9)
    assert result.null_distribution.shape == (999, len(result.kernels))


@pytest.mark.parametrize("kernel", [Gaussian(1.0), FAMILY], ids=["one", "family"])
def test_a_difference_is_found_and_the_tail_continued(kernel):
    result = compare(*pair(1000, 800, kernel, shift=1.0, n_bins=256), rng=0)
    assert result.pvalue == 0.001
    assert result.rejects()
    assert 0.0 < result.tail_pvalue < 1e-6
    low, high = result.confidence_interval
    assert 0.0 < low < result.statistic < high


def test_equal_seeds_give_equal_pvalues():
    sketches = pair(400, 500, shift=0.05)
    first, again, other = (
        compare(*sketches, null="permutation", rng=seed).pvalue for seed in (1, 1, 2)
    )
    assert first == again
    # Standard error of a difference of two shares of 999 draws: 0.022 at most.
    assert 0.0 < abs(first - other) < 5 * 0.022
    assert compare(*sketches, null="permutation", n_resamples=49).n_resamples == 49


def test_the_pvalue_is_about_uniform_for_equal_distributions():
    # The mean of 40 uniform p-values is 0.5 with standard error 0.046; 5 of those.
    options = {"n_frequencies": 8, "n_bins": 32}
    pvalues = []
    for i in range(40):
        sketches = pair(150, 170, seed=i, **options)
        found = compare(*sketches, null="permutation", n_resamples=99, rng=i)
        pvalues.append(found.pvalue)
    assert abs(np.mean(pvalues) - 0.5) < 5 * 0.046
    assert min(pvalues) < 0.2
    assert max(pvalues) > 0.8


# --- Where counts cannot match


@pytest.fixture(scope="module")
def unequal():
    return pair(20_000, 50)


@pytest.fixture(scope="module")
def unequal_family():
    return pair(20_000, 50, FAMILY, n_frequencies=8)


def test_one_kernel_has_three_moments_where_counts_cannot_match(unequal):
    result = compare(*unequal, rng=0)
    assert (result.null, result.level_is) == ("pearson", "asymptotic")
    assert (result.used_x, result.used_y, result.n_resamples) == (1.0, 1.0, 0)
    assert 0.001 < result.pvalue <= 1.0
    assert result.null_distribution is None
    assert result.pvalue == compare(*unequal, null="pearson").pvalue
    assert "asymptotic" in str(result)


def test_far_in_the_tail_one_kernel_has_all_eigenvalues():
    sketches = pair(20_000, 50, shift=1.0)
    result = compare(*sketches, rng=0)
    assert (result.null, result.level_is) == ("spectrum", "asymptotic")
    assert 0.0 < result.pvalue < 1e-3
    assert result.pvalue == compare(*sketches, null="spectrum").pvalue


def test_a_family_has_random_signs_where_counts_cannot_match(unequal_family):
    result = compare(*unequal_family, rng=0, n_resamples=499)
    assert (result.null, result.level_is) == ("multiplier", "asymptotic")
    assert (result.used_x, result.used_y, result.n_resamples) == (1.0, 1.0, 499)
    assert 1 / 500 <= result.pvalue <= 1.0
    assert sum(result.shares) == pytest.approx(1.0)
    assert result.pvalue == compare(*unequal_family, rng=0, n_resamples=499).pvalue


def test_a_family_finds_a_difference_where_counts_cannot_match():
    result = compare(*pair(20_000, 50, FAMILY, shift=1.0, n_frequencies=8), rng=0)
    assert (result.null, result.pvalue) == ("multiplier", 0.001)
    assert 0.0 < result.tail_pvalue < 0.001


@pytest.mark.parametrize("fixture", ["unequal", "unequal_family"])
def test_a_permutation_is_refused_where_counts_cannot_match(fixture, request):
    with pytest.raises(ValueError, match="no groups of slots hold equal numbers of rows"):
        compare(*request.getfixturevalue(fixture), null="permutation")


def test_few_groups_are_relabelled_only_on_demand():
    # Three groups of the smaller sketch are exact but weak: not the default.
    sketches = pair(3000, 100)
    assert compare(*sketches, rng=0).level_is == "asymptotic"
    result = compare(*sketches, null="permutation", rng=0)
    assert (result.null, result.level_is) == ("permutation", "exact")
    assert result.used_y > 0.5


# --- Nulls by name


@pytest.mark.parametrize("null", ["gamma", "pearson", "spectrum"])
@pytest.mark.parametrize("kernel", [Gaussian(1.0), FAMILY], ids=["one", "family"])
def test_analytic_nulls_agree_with_relabelling(null, kernel):
    # Some 80 groups: with 20 the relabellings of one data set are a coarser law.
    sketches = pair(2000, 2000, kernel, shift=0.05, seed=3, n_bins=256)
    result = compare(*sketches, null=null)
    assert (result.null, result.level_is, result.n_resamples) == (null, "asymptotic", 0)
    exact = compare(*sketches, null="permutation", rng=0)
    assert exact.null == "permutation"
    assert result.statistic == exact.statistic or kernel is FAMILY
    if kernel is not FAMILY:
        # 0.016 standard error of the share of 999 relabellings, and what a fit by moments
        # errs in the middle, a few hundredths.
        assert abs(result.pvalue - exact.pvalue) < 5 * 0.016 + 0.03
    assert 0.0 < result.pvalue <= 1.0


def test_a_family_pays_for_its_kernels_by_bonferronis_rule(rng):
    x, y = rng.normal(size=(1000, 2)), rng.normal(size=(1000, 2)) + 0.08
    # Bandwidths share their frequencies, with each other and with a family of one.
    kernels = [Gaussian(h) for h in (0.5, 1.0, 2.0)]
    together, *alone = (
        compare(sketch(x, "x", kernel), sketch(y, "y", kernel), null="gamma").pvalue
        for kernel in (kernels, *kernels)
    )
    assert max(alone) > 1.1 * min(alone)
    # The same sums but for their order of adding.
    assert together == pytest.approx(3 * min(alone), rel=1e-9)
    assert together < 1.0


def test_nulls_may_be_objects():
    sketches = pair(1000, 1000)
    by_name = compare(*sketches, null="spectrum").pvalue
    assert compare(*sketches, null=fastmmd.nulls.choices.Spectrum()).pvalue == by_name
    drawn = compare(*sketches, null=fastmmd.nulls.choices.Spectrum(simulate=True), rng=0)
    assert drawn.n_resamples == 999
    # Two shares, of 999 draws and of infinitely many.
    assert abs(drawn.pvalue - by_name) < 5 * 0.016 + 0.02


# --- Margin


def test_a_margin_asks_whether_the_data_are_further_apart():
    sketches = pair(2000, 2000, shift=0.5)
    distance = np.sqrt(compare(*sketches, rng=0).statistic)
    near, at, far = (
        compare(*sketches, margin=share * distance) for share in (0.5, 1.0, 2.0)
    )
    assert near.pvalue < 1e-4
    # The estimate is all but symmetric about the distance: half, give or take the skewness.
    assert 0.3 < at.pvalue < 0.7
    assert far.pvalue > 0.999
    assert near.margin == 0.5 * distance
    assert near.level_is == "asymptotic"
    assert "further apart than" in str(near)
    assert "The samples are within an MMD of" in str(far)


def test_a_margin_is_in_units_of_the_kernel():
    plain = compare(*pair(500, 500, shift=0.5), margin=0.3)
    scaled = compare(*pair(500, 500, 4.0 * Gaussian(1.0), shift=0.5), margin=0.6)
    assert scaled.pvalue == pytest.approx(plain.pvalue, rel=1e-9)
    assert scaled.statistic == pytest.approx(4.0 * plain.statistic, rel=1e-9)
    assert scaled.confidence_interval == pytest.approx(
        [4.0 * end for end in plain.confidence_interval], rel=1e-6
    )


def test_null_distributions_are_in_units_of_the_kernel():
    plain = compare(*pair(300, 300), rng=0).null_distribution
    scaled = compare(*pair(300, 300, 4.0 * Gaussian(1.0)), rng=0).null_distribution
    np.testing.assert_allclose(scaled, 4.0 * plain, rtol=1e-12, atol=1e-15)


# --- Constant data and small sketches


@pytest.mark.parametrize("null", ["auto", "permutation", "gamma", "pearson", "spectrum"])
def test_constant_data_do_not_differ(null):
    rows = np.full((300, 2), 0.7)
    result = compare(sketch(rows, "x"), sketch(rows, "y"), null=null, rng=0)
    assert result.pvalue == 1.0
    assert abs(result.statistic) < statistic_error(300, 300)
    assert result.shares == (1.0,)


def test_two_rows_are_enough():
    result = compare(*pair(2, 2), rng=0)
    assert 0.0 < result.pvalue <= 1.0
    assert result.confidence_interval is None or len(result.confidence_interval) == 2


def test_results_are_plain_when_asked():
    found = compare(*pair(300, 300), rng=0).to_dict()
    assert found["method"] == "sketch"
    assert found["null"] == "permutation"


def test_comparing_leaves_the_sketches_as_they_were():
    first, second = pair(300, 300)
    kept = first.copy(), second.copy()
    compare(first, second, rng=0)
    assert (first, second) == kept


# --- Refusals


@pytest.mark.parametrize("other", [None, "sketch.mmd", np.zeros((5, 2))])
def test_only_sketches_are_compared(other):
    first, _ = pair(10, 10)
    with pytest.raises(TypeError, match="`sketch_y` must be a Sketch; got"):
        compare(first, other)
    with pytest.raises(TypeError, match="`sketch_x` must be a Sketch; got"):
        compare(other, first)


@pytest.mark.parametrize("n_rows", [0, 1])
def test_two_rows_are_needed(n_rows):
    first, second = pair(10, 10)
    few = first.like(stream="few")
    if n_rows:
        few.update([[1.0, 2.0]])
    for args, name in (((few, second), "x"), ((second, few), "y")):
        with pytest.raises(
            fastmmd.UndefinedEstimateError,
            match=f"`sketch_{name}` must have seen at least 2 rows; got {n_rows}",
        ):
            compare(*args)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"kernel": Gaussian(2.0)}, "kernels: "),
        ({"rng": 1}, "seed: 0 and 1"),
        ({"n_frequencies": 8}, "n_frequencies: "),
        ({"center": [0.0, 1.0]}, r"center\[1\]: 0.0 and 1.0\.$"),
    ],
)
def test_sketches_made_differently_are_not_compared(options, named, rng):
    rows = rng.normal(size=(50, 2))
    with pytest.raises(IncompatibleSketchError, match=named):
        compare(sketch(rows, "x"), sketch(rows, "y", **options))


def test_sketches_of_other_columns_are_not_compared(rng):
    x, y = sketch(rng.normal(size=(9, 2)), "x"), sketch(rng.normal(size=(9, 3)), "y")
    with pytest.raises(IncompatibleSketchError, match="n_columns: 2 and 3"):
        compare(x, y)


def test_sketches_that_share_a_stream_are_not_compared():
    first, second = pair(50, 60)
    for args in ((first, first), (first, first + second), (first + second, second)):
        with pytest.raises(IncompatibleSketchError, match="they share a stream"):
            compare(*args)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"null": "normal"}, ValueError, "for `Linear` and `Block`"),
        ({"null": "bootstrap"}, ValueError, "`null` must be one of"),
        ({"null": None}, TypeError, "`null` must be one of"),
        ({"n_resamples": 0}, ValueError, "`n_resamples`"),
        ({"n_resamples": 99.0}, TypeError, "`n_resamples`"),
        ({"level": 0.0}, ValueError, "`level`"),
        ({"level": 1.0}, ValueError, "`level`"),
        ({"margin": 0.0}, ValueError, "`margin` must be a finite number greater than 0"),
        ({"margin": -1.0}, ValueError, "`margin`"),
        ({"margin": "large"}, TypeError, "`margin`"),
        ({"rng": -1}, ValueError, "`rng`"),
    ],
)
def test_bad_options_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        compare(*pair(50, 60), **options)


def test_a_margin_needs_one_kernel():
    with pytest.raises(ValueError, match="`margin` must be used with sketches of one"):
        compare(*pair(50, 60, FAMILY), margin=0.1)
