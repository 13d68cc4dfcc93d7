"""FastMMD by its public functions, as a user calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import fastmmd
from compare.common import Data, Way

if TYPE_CHECKING:
    from fastmmd import Method


def estimate(data: Data, seed: int, method: Method) -> float:
    kernel = fastmmd.Gaussian(data.bandwidth)
    return fastmmd.mmd(data.x, data.y, kernel=kernel, method=method, rng=seed).mmd2


def fourier(data: Data, seed: int) -> float:
    return estimate(data, seed, fastmmd.Fourier(data.n_frequencies))


def independent(data: Data, seed: int) -> float:
    method = fastmmd.Fourier(data.n_frequencies, sampling="iid")
    return estimate(data, seed, method)


def fastfood(data: Data, seed: int) -> float:
    return estimate(data, seed, fastmmd.Fastfood(data.n_frequencies))


def exact(data: Data, seed: int) -> float:
    return estimate(data, seed, fastmmd.Exact())


def block(data: Data, seed: int) -> float:
    return estimate(data, seed, fastmmd.Block())


def default_test(data: Data, seed: int) -> float:
    return fastmmd.two_sample_test(data.x, data.y, rng=seed).pvalue


def fourier_test(data: Data, seed: int) -> float:
    return fastmmd.two_sample_test(
        data.x,
        data.y,
        kernel=fastmmd.Gaussian(data.bandwidth),
        method=fastmmd.Fourier(data.n_frequencies),
        rng=seed,
    ).pvalue


def block_test(data: Data, seed: int) -> float:
    return fastmmd.two_sample_test(
        data.x,
        data.y,
        kernel=fastmmd.Gaussian(data.bandwidth),
        method=fastmmd.Block(),
        rng=seed,
    ).pvalue


WAYS = (
    Way("Fourier", fourier),
    Way("Fourier, independent", independent),
    Way("Fastfood", fastfood),
    Way("Exact", exact, pairwise=True, random=False),
    Way("Block", block, random=False),
    Way("default test", default_test, "test", "", note="999 relabellings of bins"),
    Way(
        "Fourier test, one kernel",
        fourier_test,
        "test",
        "",
        note="999 relabellings of bins",
    ),
    Way("Block test, one kernel", block_test, "test", "", note="normal null"),
)
