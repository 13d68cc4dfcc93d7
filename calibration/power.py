"""Power: bins against rows, and the adaptive test against other rules and MMD-FUSE."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from data import SYNTHETIC, Scenario, blobs, real_scenarios, scaled, shifted
from fuse import fuse_pvalue
from internals import assemble
from simulate import Cell

import fastmmd
from fastmmd._twosample import layout
from fastmmd.nulls import (
    Fuse,
    Maximum,
    MinP,
    SoftMaximum,
    Sum,
    combine,
    permute_bins,
    u_statistics,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from data import Draw

    from fastmmd.kernels import Kernel

RESAMPLES = 199
BINS = (128, 256, 512)
FREQUENCIES = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
HALVINGS = range(-1, 6)
SINGLE = {-1: "2 medians", 0: "median", **{j: f"median / {2**j}" for j in range(1, 6)}}


def bins_and_rows(
    rng: np.random.Generator, *, draw: Draw, bandwidth: float
) -> dict[str, float]:
    """Return p-values from relabelled rows and from bins, on the same features."""
    x, y = draw(rng)
    n = len(x)
    phases = np.concatenate((x, y)) @ rng.standard_normal((x.shape[1], 128)) / bandwidth
    features = np.hstack((np.cos(phases), np.sin(phases))).astype(np.float32)
    pvalues = {"rows": _sign_pvalue(features, n, rng)}
    usual = layout.MAX_BINS
    for most in BINS:
        layout.MAX_BINS = most
        try:
            chosen = layout.choose_layout((n, len(y)))
        finally:
            layout.MAX_BINS = usual
        size = chosen.rows_per_bin
        if chosen.n_bins[0] * size != n or chosen.n_bins[0] != chosen.n_bins[1]:
            msg = f"{n} rows must fill the bins here; got {chosen}"
            raise AssertionError(msg)
        order = np.concatenate((rng.permutation(n), n + rng.permutation(n)))
        sums = features[order].reshape(-1, size, features.shape[1]).sum(axis=1)
        pvalues[f"{most} bins"] = _sign_pvalue(sums, chosen.n_bins[0], rng)
    return pvalues


def _sign_pvalue(sums: np.ndarray, k: int, rng: np.random.Generator) -> float:
    """Return the p-value for samples of equally many bins.

    With equal sizes the unbiased statistic grows with the distance of the two sums.
    """
    signs = np.full((RESAMPLES + 1, len(sums)), -1.0, dtype=np.float32)
    signs[0, :k] = 1.0
    np.put_along_axis(
        signs[1:], np.argsort(rng.random((RESAMPLES, len(sums))), axis=1)[:, :k], 1.0, 1
    )
    distances = np.square(signs @ sums).sum(axis=1)
    return float(np.mean(distances >= distances[0]))


def bins_cells() -> Iterator[Cell]:
    """Yield the settings that compare bins with rows."""
    n = 1000
    for name, draw, bandwidth in (
        ("blobs, eigenvalue ratio 3.5, bandwidth 1", partial(blobs, n, 3.5), 1.0),
        ("shift by 0.15, 5 columns, bandwidth 3", partial(shifted, n, 5, 0.15), 3.0),
        ("1.07 times as wide, 5 columns, bandwidth 2", partial(scaled, n, 5, 1.07), 2.0),
    ):
        run = partial(bins_and_rows, draw=draw, bandwidth=bandwidth)
        yield Cell(name, {"sizes": [n, n]}, run, 1000)


def rules(
    rng: np.random.Generator, *, scenario: Scenario, fourier: bool
) -> dict[str, float]:
    """Return the p-values of all rules, and of single bandwidths, on the same relabellings."""
    x, y = scenario.draw(rng)
    seed = int(rng.integers(2**31))
    start = time.perf_counter()
    made = assemble(x, y, rng=seed)
    observed = u_statistics(made.bins)
    null = permute_bins(made.bins, n_resamples=RESAMPLES, rng=made.rng)
    found = {"soft maximum": combine(observed, null.statistics).pvalue}
    seconds = time.perf_counter() - start
    n = min(len(x), len(y))
    fuse = Fuse(_root_mean_squares(made.kernels, x, y), rate=float(np.sqrt(n * (n - 1))))
    for name, rule in (
        ("soft maximum of plain scores", SoftMaximum(2.0, normal=False)),
        ("maximum", Maximum()),
        ("min-p", MinP()),
        ("sum", Sum()),
        ("FUSE's rule", fuse),
    ):
        found[name] = combine(observed, null.statistics, rule=rule).pvalue
    alone = null.pvalues(observed)
    median = made.kernels[1].bandwidth
    halvings = [round(np.log2(median / k.bandwidth)) for k in made.kernels]
    for j in HALVINGS:
        # A bandwidth that the filter dropped never rejects here.
        found[SINGLE[j]] = alone[halvings.index(j)] if j in halvings else 1.0
    if fourier and seed % 4 == 0:  # in a quarter of the runs, to save time
        result = fastmmd.two_sample_test(
            x, y, method="fourier", n_resamples=RESAMPLES, rng=seed
        )
        found["soft maximum, Fourier"] = result.pvalue
    if seed % 25 == 0:  # the public function must say the same
        result = fastmmd.two_sample_test(x, y, n_resamples=RESAMPLES, rng=seed)
        if not np.isclose(result.pvalue, found["soft maximum"]):
            msg = f"{result.pvalue} from the test, {found['soft maximum']} here"
            raise AssertionError(msg)
    return {**found, "mean seconds": seconds, "mean kernels": len(made.kernels)}


def _root_mean_squares(
    kernels: tuple[Kernel, ...], x: np.ndarray, y: np.ndarray
) -> tuple[float, ...]:
    """Return the root mean square of each kernel over pairs of some pooled rows."""
    rows = np.concatenate((x[:150], y[:150]))
    pairs = np.triu_indices(len(rows), k=1)
    squared = np.square(rows[pairs[0]] - rows[pairs[1]]).sum(axis=1)
    return tuple(
        float(np.sqrt(np.exp(-squared / k.bandwidth**2).mean())) + 1e-12 for k in kernels
    )


def adaptive_cells(folder: Path | None) -> Iterator[Cell]:
    """Yield the scenarios for the adaptive test, held-out ones first."""
    every = [*SYNTHETIC, *real_scenarios(folder)]
    every.sort(key=lambda scenario: not scenario.held_out)
    for scenario in every:
        about = {"text": scenario.text, "held_out": scenario.held_out}
        run = partial(rules, scenario=scenario, fourier=scenario.held_out)
        many = 300 if "blobs" in scenario.name else 80
        yield Cell(scenario.name, about, run, 200 if scenario.held_out else many)


def with_published(rng: np.random.Generator, *, scenario: Scenario) -> dict[str, float]:
    """Return the p-values of the default test and of MMD-FUSE, with their times."""
    x, y = scenario.draw(rng)
    start = time.perf_counter()
    ours = fastmmd.two_sample_test(
        x, y, n_resamples=RESAMPLES, rng=int(rng.integers(2**31))
    ).pvalue
    between = time.perf_counter()
    theirs = fuse_pvalue(x, y, n_resamples=RESAMPLES, rng=rng)
    end = time.perf_counter()
    return {
        "default test": ours,
        "MMD-FUSE": theirs,
        "mean seconds of the default test": between - start,
        "mean seconds of MMD-FUSE": end - between,
    }


def published_cells(folder: Path | None) -> Iterator[Cell]:
    """Yield some scenarios for MMD-FUSE as published."""
    every = {s.name: s for s in (*SYNTHETIC, *real_scenarios(folder))}
    for name, runs in (
        ("EEG", 60),
        ("blobs E2", 40),
        ("shift 20", 40),
        ("Spambase", 60),
    ):
        if name in every:
            about = {"text": every[name].text}
            yield Cell(name, about, partial(with_published, scenario=every[name]), runs)


def by_frequencies(
    rng: np.random.Generator, *, draw: Draw, bandwidth: float
) -> dict[str, float]:
    """Return p-values of one kernel by the number of frequencies, and from all pairs."""
    x, y = draw(rng)
    seed = int(rng.integers(2**31))
    methods = {str(n): fastmmd.Fourier(n) for n in FREQUENCIES}
    return {
        name: fastmmd.two_sample_test(
            x,
            y,
            kernel=fastmmd.Gaussian(bandwidth),
            method=method,
            n_resamples=RESAMPLES,
            rng=seed,
            n_threads=1,
        ).pvalue
        for name, method in (methods | {"exact": fastmmd.Exact()}).items()
    }


def frequencies_cells() -> Iterator[Cell]:
    """Yield a broad and two fine differences; the fine ones need more frequencies."""
    n = 1000
    for name, text, draw, bandwidth in (
        (
            "shift",
            "20 columns, one moved by 0.2, bandwidth 6",
            partial(shifted, n, 20, 0.2),
            6.0,
        ),
        (
            "wider",
            "5 columns, 1.07 times as wide, bandwidth 2",
            partial(scaled, n, 5, 1.07),
            2.0,
        ),
        (
            "blobs",
            "5 x 5 blobs, eigenvalue ratio 3, bandwidth 1",
            partial(blobs, n, 3.0),
            1.0,
        ),
    ):
        about = {"text": text, "sizes": [n, n]}
        yield Cell(
            name, about, partial(by_frequencies, draw=draw, bandwidth=bandwidth), 500
        )
