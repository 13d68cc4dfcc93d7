"""The steps inside `fastmmd.two_sample_test`, to look at several nulls on the same bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastmmd._plan import resolve_method
from fastmmd._random import spawn
from fastmmd._rows import check_samples
from fastmmd._twosample.families import choose_kernels
from fastmmd._twosample.grams import send_to_bins
from fastmmd._twosample.layout import choose_layout
from fastmmd._twosample.test import bin_sums, choose_method
from fastmmd.nulls import BinGram

if TYPE_CHECKING:
    import numpy as np

    from fastmmd.kernels import Kernel


@dataclass(frozen=True)
class Assembled:
    """Kernel sums between bins, the kernels, and the generator of relabellings."""

    bins: BinGram
    kernels: tuple[Kernel, ...]
    rng: np.random.Generator


def assemble(
    x: np.ndarray,
    y: np.ndarray,
    *,
    rng: int,
    kernel: Any = "adaptive",
    method: Any = "auto",
    by_rows: bool = False,
) -> Assembled:
    """Return what `two_sample_test` with the same arguments computes its p-value from."""
    samples = check_samples(x, y)
    for_kernels, for_frequencies, for_bins, for_null = spawn(rng, 4)
    kernels, numbers = choose_kernels(kernel, *samples, for_kernels)
    chosen = choose_method(resolve_method(method), kernels, samples)
    layout = choose_layout([len(x), len(y)], by_rows=by_rows)
    binned = send_to_bins(samples, layout, for_bins)
    seed = int(for_frequencies.integers(2**63))
    grams = bin_sums(binned, kernels, numbers, chosen, seed)
    bins = BinGram(grams, binned.counts, binned.labels == 0, binned.movable)
    return Assembled(bins, kernels, for_null)
