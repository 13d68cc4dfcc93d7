"""Figure 8: p-values are those of direct calls, and errors are counted from them."""

from __future__ import annotations

import numpy as np
import pytest

import fastmmd
from fastmmd.experiments import type2
from fastmmd.experiments._classical import (
    as_bins,
    bootstrap_pvalue,
    fastmmd_pvalues,
    kernel_matrix,
    moment_pvalues,
    quadratic_forms,
    shuffled_signs,
)
from fastmmd.experiments._data import blobs
from fastmmd.experiments._experiment import Table
from fastmmd.nulls import spectrum_pvalue

KERNEL = fastmmd.Gaussian(type2.BANDWIDTH)


def test_signs_are_shuffles_of_the_observed_ones(rng):
    signs = shuffled_signs(30, 50, rng)
    assert signs.shape == (51, 60)
    np.testing.assert_array_equal(signs[0], np.repeat([1.0, -1.0], 30))
    np.testing.assert_array_equal(
        np.sort(signs, axis=1), np.sort(signs[:1].repeat(51, 0))
    )
    # Every place is as often first as second; of 1500 pairs none is the observed one.
    assert len(np.unique(signs, axis=0)) == 51
    share = (signs[1:] > 0.0).mean()
    assert share == 0.5
    assert np.abs(signs[1:].mean(axis=0)).max() < 5.0 / np.sqrt(50)


@pytest.mark.parametrize("n", [3, 8, 61])
def test_quadratic_forms_by_the_lower_half(n, rng):
    vectors = rng.standard_normal((20, n)).astype(np.float32)
    matrix = rng.standard_normal((n, n)).astype(np.float32)
    matrix += matrix.T
    exact = vectors.astype(np.float64)
    expected = np.einsum("vi,ij,vj->v", exact, matrix.astype(np.float64), exact)
    # Sums of at most n products in single precision, then of n of these.
    sizes = np.einsum("vi,ij,vj->v", *(np.abs(a) for a in (exact, matrix, exact)))
    errors = np.abs(quadratic_forms(vectors, matrix) - expected)
    assert (errors <= 2 * n * 2.0**-24 * sizes).all()


def relabelled(rows, signs, **options):
    """Return biased MMD of every relabelling, one call each."""
    return np.array(
        [
            fastmmd.mmd(
                rows[s > 0.0], rows[s < 0.0], kernel=KERNEL, estimator="biased", **options
            ).mmd2
            for s in signs
        ]
    )


def share_as_large(values):
    """Return the share of values at least as large as the first, itself included."""
    # Sums in single precision and in another order: differences of 1e-7 are ties.
    return np.mean(values >= values[0] - 1e-7)


def test_bootstrap_is_exact_mmd_of_relabelled_rows(rng):
    rows = np.concatenate(blobs(25, 3.0, rng))
    signs = shuffled_signs(25, 40, rng)
    values = relabelled(rows, signs, method="exact")
    kernel = kernel_matrix(rows, type2.BANDWIDTH)
    assert bootstrap_pvalue(kernel, signs) == share_as_large(values)
    np.testing.assert_allclose(kernel, KERNEL.gram(rows, rows), atol=1e-15)


def test_fastmmd_is_mmd_from_the_first_frequencies(rng):
    rows = np.concatenate(blobs(25, 3.0, rng))
    signs = shuffled_signs(25, 40, rng)
    frequencies = type2.draw_frequencies(8, rng)
    found = fastmmd_pvalues(rows, frequencies, signs, [1, 3, 8])
    for number, pvalue in zip((1, 3, 8), found, strict=True):
        method = fastmmd.Fourier(frequencies=frequencies[:number])
        assert pvalue == share_as_large(relabelled(rows, signs, method=method))


def single_precision(null, n):
    """Return how far single precision moves a p-value of a thousandth or more.

    Entries are right to 2^-24, so the second moment is to 2^-23 and the third, with sums of
    n products in it, to n 2^-24 at worst. In relative terms a tail at z standard deviations
    moves by z^2 / 2 times as much as the variance, and less with the third moment: ten times
    is enough up to z = 4.
    """
    return 10.0 * {"gamma": 2.0**-23, "pearson": n * 2.0**-24}[null]


@pytest.mark.parametrize("ratio", [1.0, 4.0])
def test_moments_are_those_of_the_public_tests(ratio, rng):
    x, y = blobs(150, ratio, rng)
    kernel = kernel_matrix(np.concatenate([x, y]), type2.BANDWIDTH)
    normals = rng.standard_normal((20_000, 300)).astype(np.float32)
    found = moment_pvalues(kernel, normals)
    for null in ("gamma", "pearson"):
        expected = fastmmd.two_sample_test(
            x, y, kernel=KERNEL, method="exact", null=null, rng=0
        ).pvalue
        assert found[null] == pytest.approx(expected, rel=single_precision(null, 300))
    # Simulated by 20,000 draws: five standard errors, and one draw for the observed value.
    expected = spectrum_pvalue(as_bins(kernel))
    error = np.sqrt(expected * (1.0 - expected) / 20_000)
    assert found["spectrum"] == pytest.approx(expected, abs=5.0 * error + 1.0 / 20_000)


def test_a_cell_is_counted_from_direct_calls(settings):
    chosen = settings("type2", trials=4)
    sizes = type2.design(chosen)
    counts = type2.rejections_by_ratio(chosen, sizes, 2.2)
    expected = dict.fromkeys(("gamma", "pearson", "bins", "adaptive"), 0)
    for trial in range(4):
        x, y = blobs(sizes.n_rows, 2.2, chosen.rng("rows", 220, trial))
        for null in ("gamma", "pearson"):
            result = fastmmd.two_sample_test(
                x, y, kernel=KERNEL, method="exact", null=null, rng=0
            )
            expected[null] += result.rejects(0.05)
        rng = chosen.rng("tests", 220, trial)
        type2.draw_frequencies(type2.N_FREQUENCIES, rng)
        method = fastmmd.Fourier(256, sampling="iid")
        options = {"n_resamples": sizes.n_shuffles, "rng": rng}
        result = fastmmd.two_sample_test(x, y, kernel=KERNEL, method=method, **options)
        expected["bins"] += result.rejects(0.05)
        expected["adaptive"] += fastmmd.two_sample_test(x, y, **options).rejects(0.05)
    assert counts | expected == counts
    assert set(counts) == set(type2.TESTS)


def test_more_frequencies_and_larger_ratios_are_found(settings):
    chosen = settings("type2", trials=6)
    sizes = type2.design(chosen)
    by_number, exact = type2.rejections_by_frequencies(chosen, sizes)
    # With 400 rows at ratio 4 exact MMD finds at least 4 of 6 with probability 0.99 or
    # more, as its power is above 0.85; one frequency has a power near 0.1.
    assert exact >= 4
    assert by_number[-1] >= 3
    assert by_number[0] <= 3
    level = type2.rejections_by_ratio(chosen, sizes, 1.0)
    # Of 6 trials at level 0.05 more than 3 are rejected once in ten thousand.
    assert max(level.values()) <= 3


def test_timed_tests_give_pvalues(settings):
    chosen = settings("type2")
    sizes = type2.design(chosen)
    tests = type2.timed_tests(chosen, sizes)
    assert tuple(tests) == type2.TESTS
    x, y = blobs(sizes.n_rows, 2.0, chosen.rng("timed rows"))
    kernel = kernel_matrix(np.concatenate([x, y]), type2.BANDWIDTH)
    shared = moment_pvalues(kernel, sizes.normals)
    assert tests["bootstrap"]() == bootstrap_pvalue(kernel, sizes.signs)
    for null in ("gamma", "pearson"):
        slack = single_precision(null, 2 * sizes.n_rows)
        assert tests[null]() == pytest.approx(shared[null], rel=slack)
    for name in ("fastmmd", "bins", "adaptive"):
        assert 0.0 < tests[name]() <= 1.0


def test_numbers_of_frequencies_are_counted_from_direct_calls(settings):
    chosen = settings("type2", trials=3)
    sizes = type2.design(chosen)
    by_number, exact = np.zeros(len(sizes.numbers), dtype=int), 0
    for trial in range(3):
        rows = np.concatenate(
            blobs(sizes.n_rows, 4.0, chosen.rng("rows by number", trial))
        )
        frequencies = type2.draw_frequencies(256, chosen.rng("frequencies", trial))
        found = fastmmd_pvalues(rows, frequencies, sizes.signs, sizes.numbers)
        by_number += np.array(found) <= 0.05
        exact += bootstrap_pvalue(kernel_matrix(rows, 1.0), sizes.signs) <= 0.05
    assert type2.rejections_by_frequencies(chosen, sizes) == (by_number.tolist(), exact)


def test_sizes_are_those_of_the_paper():
    chosen = type2.EXPERIMENT.settings()
    sizes = type2.design(chosen)
    assert chosen.trials == 100
    assert sizes.ratios == (1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.4, 2.6, 2.8, 3.0)
    assert sizes.numbers == tuple(2**k for k in range(11))
    assert (sizes.n_rows, sizes.n_shuffles) == (1000, 1000)
    assert sizes.signs.shape == (1001, 2000)


def test_tables_of_a_run(written, settings):
    ratios, numbers, levels, _ = written("type2").outcome.tables
    chosen = settings("type2", trials=2)
    sizes = type2.design(chosen)
    errors = {}
    for ratio in (1.0, *sizes.ratios):
        counts = type2.rejections_by_ratio(chosen, sizes, ratio)
        errors |= {(ratio, test): 1.0 - count / 2 for test, count in counts.items()}
    # Of two trials one or both are found somewhere, so that an error is not its complement.
    assert len(set(errors.values())) > 1
    columns = ratios.columns
    cells = zip(columns["ratio"], columns["test"], strict=True)
    found = dict(zip(cells, columns["type2_error"], strict=True))
    level = {key: errors.pop(key) for key in list(errors) if key[0] == 1.0}
    assert found == errors
    assert columns["trials"] == [2] * len(found)
    assert levels.columns["test"] == [test for _, test in level]
    assert levels.columns["type1_error"] == [1.0 - error for error in level.values()]
    by_number, exact = type2.rejections_by_frequencies(chosen, sizes)
    columns = numbers.columns
    assert columns["n_frequencies"] == list(sizes.numbers)
    assert columns["type2_error"] == [1.0 - count / 2 for count in by_number]
    assert set(columns["type2_error_of_bootstrap"]) == {1.0 - exact / 2}
    # Else the last line could not tell an error from its complement.
    assert exact != 1


def test_the_level_is_that_of_equal_laws(written, settings, monkeypatch):
    times = written("type2").outcome.tables[-1]

    def counts(_settings, _sizes, ratio):
        return dict.fromkeys(type2.TESTS, 1 if ratio == 1.0 else 2)

    monkeypatch.setattr(type2, "rejections_by_ratio", counts)
    monkeypatch.setattr(type2, "_time_table", lambda _settings, _sizes: times)
    ratios, _, levels, _ = type2.run(settings("type2", trials=4)).tables
    assert set(ratios.columns["type2_error"]) == {0.5}
    assert set(levels.columns["type1_error"]) == {0.25}


def test_times_of_a_run(written):
    *_, times = written("type2").outcome.tables
    seconds = np.array(times.columns["seconds"])
    assert min(seconds) > 0.0
    own = seconds[times.columns["test"].index("fastmmd")]
    np.testing.assert_allclose(times.columns["times_fastmmd"], seconds / own)
    assert times.columns["paper_times_fastmmd"][0] == pytest.approx(88.7 / 4.5)


# --- Verdicts, from tables made up


def numbers_table(errors, exact=0.1):
    return Table(
        "type2-frequencies",
        "A row is a number.",
        {
            "n_frequencies": [2**k for k in range(len(errors))],
            "trials": [100] * len(errors),
            "type2_error": errors,
            "type2_error_of_bootstrap": [exact] * len(errors),
        },
    )


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        ([0.9, 0.5, 0.2, 0.1], "holds"),
        ([0.9, 0.2, 0.6, 0.1], "holds partly"),
        ([0.9, 0.9, 0.8, 0.8], "holds partly"),
        ([0.5, 0.9, 0.8, 0.8], "fails"),
    ],
)
def test_verdict_on_frequencies(errors, expected):
    assert type2._drops_with_frequencies(numbers_table(errors)).holds == expected


@pytest.mark.parametrize(
    ("own", "expected"), [(0.45, "holds"), (0.7, "holds partly"), (0.95, "fails")]
)
def test_verdict_on_other_tests(own, expected):
    errors = dict.fromkeys(type2.TESTS, 0.4) | {"gamma": 0.6, "fastmmd": own}
    ratios = Table(
        "type2",
        "A row is a test.",
        {
            "test": list(errors),
            "trials": [100] * len(errors),
            "type2_error": list(errors.values()),
        },
    )
    levels = Table("type2-level", "A row is a test.", {"type1_error": [0.03, 0.06]})
    verdict = type2._compares_with_others(ratios, levels)
    assert verdict.holds == expected
    assert "3 to 6 % of trials" in verdict.measured


def test_verdicts_on_times():
    def verdicts(**seconds):
        found = dict.fromkeys(type2.TESTS, 0.1) | seconds
        table = {"test": list(found), "seconds": list(found.values())}
        judged = type2._times_compare(Table("type2-times", "A row is a test.", table))
        return [verdict.holds for verdict in judged]

    assert verdicts(fastmmd=0.02, gamma=0.01) == ["holds", "holds"]
    assert verdicts(fastmmd=0.09, spectrum=1.0) == ["holds partly", "fails"]
    assert verdicts(fastmmd=0.09) == ["fails", "fails"]
