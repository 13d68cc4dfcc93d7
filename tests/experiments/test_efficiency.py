"""Figure 7: what is timed gives the right numbers, and growth is fitted rightly."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import fastmmd
from fastmmd.experiments import _efficiency_times as work
from fastmmd.experiments import _timing, efficiency
from fastmmd.experiments._pictures import short_time
from fastmmd.experiments._textbook import textbook_mmd2
from fastmmd.experiments._timing import (
    PeakMemory,
    Timing,
    extrapolate,
    growth,
    median_time,
    timed,
)

# --- Times


@pytest.fixture
def clock(monkeypatch):
    """Return a function that makes runs take the given times, one after the other."""

    def clock(*seconds):
        now = itertools.accumulate(
            itertools.chain.from_iterable((0.0, each) for each in seconds), initial=0.0
        )
        next(now)
        monkeypatch.setattr(_timing.time, "perf_counter", lambda: next(now))

    return clock


def test_the_first_run_is_not_counted(clock):
    clock(0.9, 0.1, 0.5, 0.3)
    assert median_time(lambda: None, runs=3) == (pytest.approx(0.3), 3)


def test_one_long_run_counts(clock):
    clock(2.5)
    assert median_time(lambda: None, runs=3, most_seconds=2.0) == (2.5, 1)


def test_runs_end_when_they_took_long_together(clock):
    clock(1.0, 1.5, 1.1, 9.0)
    assert median_time(lambda: None, runs=9, most_seconds=2.0) == (pytest.approx(1.3), 2)


def test_short_runs_are_repeated(clock):
    clock(*[0.01] * 40)
    timing = median_time(lambda: None, runs=5)
    assert timing.seconds == pytest.approx(0.01)
    # Twenty times 10 ms make 0.2 s, one more or less by rounding.
    assert 20 <= timing.runs <= 21


def test_value_and_time_of_a_run(clock):
    clock(0.25)
    assert timed(lambda: "value") == ("value", 0.25)


def test_growth_is_the_power_of_the_size(rng):
    sizes = np.array([1e3, 1e4, 1e5])
    assert growth(sizes, 3e-9 * sizes**1.5) == pytest.approx(1.5, abs=1e-12)
    noisy = 3e-9 * sizes**2 * np.exp(0.01 * rng.standard_normal(3))
    # The slope's standard error is 0.01 / sqrt(2) / log(10) = 0.003; five of them.
    assert growth(sizes, noisy) == pytest.approx(2.0, abs=0.016)
    assert extrapolate(100, 2.0, 300, power=2.0) == pytest.approx(18.0)


def test_peak_of_memory_sees_what_was_held():
    with PeakMemory() as peak:
        held = np.ones(8 * 2**20)
        del held
    if peak.nbytes is None:
        pytest.skip("the system does not tell")
    assert 60e6 < peak.nbytes < 80e6


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.00234, "2.3 ms"), (0.127, "130 ms"), (1.04, "1 s"), (15590.1, "16,000 s")],
)
def test_times_in_words(seconds, text):
    assert short_time(seconds) == text


# --- What is timed


def test_textbook_is_the_exact_estimate(rng):
    # More rows than a block has.
    x, y = work.samples(3000, 5, rng)
    kernel = fastmmd.Gaussian(0.7)
    expected = fastmmd.mmd(x, y, kernel=kernel, method="exact").mmd2
    # Distances from products lose about 1e-15 of the squared lengths, here below 5.
    assert textbook_mmd2(x, y, 0.7) == pytest.approx(expected, abs=1e-13)


def test_samples_are_uniform_on_their_ranges(rng):
    for ranges in (work.OVERLAPPING, work.PRINTED):
        pair = work.samples(4000, 16, rng, ranges)
        for sample, (low, high) in zip(pair, ranges, strict=True):
            assert sample.shape == (2000, 16)
            assert low <= sample.min() < low + 0.01
            assert high - 0.01 < sample.max() <= high


@pytest.mark.parametrize("method", work.METHODS)
def test_each_run_is_one_estimate_by_its_method(method, rng):
    x, y = work.samples(2000, 16, rng)
    width = work.bandwidth(16)
    found = work.runner(method, x, y, 128)()
    kernel = fastmmd.Gaussian(width)
    if method in ("linear", "block"):
        assert found == fastmmd.mmd(x, y, kernel=kernel, method=method).mmd2
        return
    exact = fastmmd.mmd(x, y, kernel=kernel, method="exact").mmd2
    if method in ("textbook", "exact"):
        assert found == pytest.approx(exact, abs=1e-13)
        return
    # Contributions of frequencies vary about as much as they are; one in 128, five times.
    assert found == pytest.approx(exact, rel=5.0 / np.sqrt(128))
    again = work.runner(method, x, y, 256)()
    assert again != found


def test_distances_are_of_the_size_of_the_bandwidth(rng):
    for n_columns in (8, 1024):
        x, y = work.samples(200, n_columns, rng)
        distances = np.linalg.norm(x - y, axis=1)
        ratio = np.median(distances) / work.bandwidth(n_columns)
        assert 0.5 < ratio < 1.5


def test_the_double_sum_is_extrapolated_where_it_would_take_long(monkeypatch, settings):
    ran = []

    def fake(run, *, runs):
        ran.append(run())
        return Timing(ran[-1], runs)

    def runner(method, x, y, n_frequencies):
        assert n_frequencies == 128
        n_rows = len(x) + len(y)
        return lambda: 1e-6 * n_rows**2 if method == "textbook" else 1.0

    monkeypatch.setattr(work, "median_time", fake)
    monkeypatch.setattr(work, "runner", runner)
    sizes = [(n, 2) for n in (1000, 3000, 6000)]
    rows = work.time_methods(settings("efficiency"), sizes, 128, "Rows")
    assert len(rows) == 3 * len(work.METHODS)
    textbook = [row for row in rows if row["method"] == "textbook"]
    assert [row["seconds"] for row in textbook] == pytest.approx([1.0, 9.0, 36.0])
    assert [row["extrapolated"] for row in textbook] == [False, False, True]
    assert [row["runs"] for row in textbook] == [2, 2, 0]
    assert len(ran) == 3 * len(work.METHODS) - 1
    assert {row["n_frequencies"] for row in rows if row["method"] == "fourier"} == {128}
    # What was not measured does not count for the growth.
    found = efficiency.powers(rows, "rows", 1000)
    assert found["textbook"] == pytest.approx(2.0)
    assert found["fourier"] == pytest.approx(0.0)


def test_batches_are_the_rows_of_one_draw(monkeypatch):
    whole = list(work.batches(1000, 3, np.random.default_rng(0), (0.0, 0.5)))
    assert [len(batch) for batch in whole] == [1000]
    monkeypatch.setattr(work, "BATCH_ROWS", 300)
    parts = list(work.batches(1000, 3, np.random.default_rng(0), (0.0, 0.5)))
    assert [len(batch) for batch in parts] == [300, 300, 300, 100]
    np.testing.assert_array_equal(np.concatenate(parts), whole[0])


def test_streams_are_tested_in_little_memory(settings):
    chosen = settings("efficiency")
    row = work.time_stream(chosen, 400_000, work.QUICK)
    rng = chosen.rng("streams", 400_000)
    x, y = (
        next(work.batches(200_000, 16, rng, span))[:4000] for span in work.OVERLAPPING
    )
    kernel = fastmmd.Gaussian(work.bandwidth(16))
    exact = fastmmd.mmd(x, y, kernel=kernel, method="exact").mmd2
    # Orthogonal frequencies, 128 of them, err by some 5 % here; six times that.
    assert row["mmd2"] == pytest.approx(exact, rel=0.3)
    assert row["megabytes_of_all_rows"] == pytest.approx(51.2)
    peak = row["megabytes_more_at_the_peak"]
    # A batch has 8 MB, and twice as many for its order and what is added.
    assert peak == "" or peak < 40.0
    assert row["seconds"] > 0.0


# --- Verdicts, from times made up


def made_up(sizes=(1000, 10_000, 100_000), **powers):
    """Return rows of times that follow powers of the size, 1 ms at the smallest."""
    usual = {
        "textbook": 2.0,
        "exact": 2.0,
        "block": 1.5,
        "linear": 1.0,
        "fourier": 1.0,
        "fastfood": 1.0,
    }
    return [
        {
            "method": method,
            "rows": size,
            "columns": size,
            "seconds": 1e-3 * (size / sizes[0]) ** power,
            "extrapolated": False,
        }
        for method, power in (usual | powers).items()
        for size in sizes
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "holds"),
        ({"fourier": 1.5}, "holds partly"),
        (dict.fromkeys(work.METHODS, 3.0), "fails"),
    ],
)
def test_verdict_on_growth(changes, expected):
    found = efficiency.powers(made_up(**changes), "rows", 1000)
    assert efficiency._growth_with_rows(found, 1.0, 1000).holds == expected


def test_verdict_on_speed_ups():
    # At a hundred times the size: 100 times as fast as exact, 10 times as the B-test.
    (verdict,) = efficiency._speed_ups(made_up())
    assert verdict.holds == "holds partly"
    assert "100 times as fast as the double sum" in verdict.measured
    (fast,) = efficiency._speed_ups(made_up(textbook=3.0, block=1.6))
    assert fast.holds == "holds"
    (slow,) = efficiency._speed_ups(made_up(block=1.2))
    assert slow.holds == "fails"
    assert efficiency._not_judged(made_up()) == []


def test_a_claim_about_sizes_that_were_not_reached_is_not_judged():
    rows = made_up(sizes=(1000, 6000))
    assert efficiency._speed_ups(rows) == []
    (note,) = efficiency._not_judged(rows)
    assert "claims of 100,000 rows" in note
    assert "cannot be judged at 6,000, and is not. At 6,000 rows Fourier is 6.0" in note


@pytest.mark.parametrize(
    ("ratios", "said"),
    [
        (
            (0.96, 1.02),
            "Times are the same: those on the printed ranges are 0.96 to 1.02",
        ),
        (
            (0.44, 1.0),
            "Times are too uneven to compare here: those on the printed ranges",
        ),
        (
            (1.0, 1.84),
            "Times are too uneven to compare here: those on the printed ranges",
        ),
    ],
)
def test_times_are_called_the_same_only_if_they_are(ratios, said):
    stream = {
        "rows": 10,
        "seconds": 1.0,
        "seconds_of_the_test": 1.0,
        "megabytes_more_at_the_peak": "",
        "megabytes_of_all_rows": 1.0,
    }
    notes = efficiency._notes(work.QUICK, [{"ratio": r} for r in ratios], [stream])
    assert said in notes[0]


def test_verdict_on_gains():
    better = {"exact": 1.5, "block": 1.2, "fourier": 1.0, "fastfood": 0.3}
    rows, columns = made_up(), made_up(**better)
    assert efficiency._gain_on_others(rows, columns).holds == "holds"
    worse = made_up(exact=1.0, fourier=1.1)
    assert efficiency._gain_on_others(rows, worse).holds == "holds partly"


def test_verdict_on_linear():
    def verdict(**powers):
        usual = {"linear": 1.0, "fourier": 0.9, "fastfood": 0.5}
        found = {"rows": usual | powers, "columns": usual | powers}
        return efficiency._slower_growth_than_linear(found).holds

    assert verdict() == "holds"
    assert verdict(fourier=1.1) == "holds partly"
    assert verdict(fourier=1.1, fastfood=1.2) == "fails"


def test_tables_of_a_run(written):
    report = written("efficiency")
    by_rows, by_columns, streams, powers, ranges = report.outcome.tables
    assert set(by_rows.columns["method"]) == set(work.METHODS)
    assert set(by_rows.columns["rows"]) == set(work.QUICK.rows)
    assert set(by_columns.columns["columns"]) == set(work.QUICK.columns)
    assert tuple(streams.columns["rows"]) == work.QUICK.streamed
    assert set(powers.columns["varied"]) == {"rows", "columns"}
    assert ranges.columns["method"] == list(work.METHODS)
    notes = " ".join(report.outcome.notes)
    assert "[0, 0.95] and [0.95, 1]" in notes
