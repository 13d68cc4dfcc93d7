"""From rows to kernel sums between bins, by exact kernels or by features."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fastmmd._backends.pairs import column_sums
from fastmmd._errors import UnsupportedKernelError
from fastmmd._twosample.layout import bin_edges
from fastmmd.estimators.spectral import reference_point
from fastmmd.frequencies import draw_family
from fastmmd.kernels import Gaussian

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from fastmmd._rows import Rows
    from fastmmd._twosample.layout import Layout
    from fastmmd._typing import FloatArray
    from fastmmd.frequencies import FrequencyFamily
    from fastmmd.kernels import Kernel

_TILE_ROWS = 256


@final
@dataclass(frozen=True, slots=True, eq=False)
class BinnedSamples:
    """Samples whose rows were sent to bins.

    Parameters
    ----------
    samples : tuple of Rows
        The samples.
    orders : tuple of ndarray
        For each sample its row numbers, bin after bin.
    edges : tuple of ndarray
        For each sample where its bins start and end in that order.
    movable : ndarray of bool
        Whether a bin may be relabelled; bins of the first sample first.
    """

    samples: tuple[Rows, ...]
    orders: tuple[npt.NDArray[np.intp], ...]
    edges: tuple[npt.NDArray[np.intp], ...]
    movable: npt.NDArray[np.bool_]

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Rows in each bin."""
        return np.concatenate([np.diff(edges) for edges in self.edges]).astype(np.int64)

    @property
    def labels(self) -> npt.NDArray[np.int64]:
        """Sample of each bin."""
        sizes = [len(edges) - 1 for edges in self.edges]
        return np.repeat(np.arange(len(sizes)), sizes)

    def blocks(self, size: int, /) -> Iterator[tuple[Any, npt.NDArray[np.intp]]]:
        """Yield blocks of rows in the order of bins, with the bin of each row."""
        first_bin = 0
        for rows, order, edges in zip(self.samples, self.orders, self.edges, strict=True):
            bins = first_bin + np.repeat(np.arange(len(edges) - 1), np.diff(edges))
            for start in range(0, rows.n_rows, size):
                chosen = slice(start, start + size)
                yield rows.select(order[chosen]), bins[chosen]
            first_bin += len(edges) - 1


def send_to_bins(
    samples: Sequence[Rows], layout: Layout, rng: np.random.Generator, /
) -> BinnedSamples:
    """Shuffle the rows of each sample into bins of equal size.

    At random, whatever the order of the data: bins of neighbouring rows, or bins filled
    in turn, have the wrong spread when the data are sorted.
    """
    orders, edges, movable = [], [], []
    for rows, n_bins in zip(samples, layout.n_bins, strict=True):
        orders.append(rng.permutation(rows.n_rows).astype(np.intp, copy=False))
        edges.append(bin_edges(rows.n_rows, n_bins, layout.rows_per_bin))
        movable.append(np.arange(len(edges[-1]) - 1) < n_bins)
    return BinnedSamples(
        tuple(samples), tuple(orders), tuple(edges), np.concatenate(movable)
    )


def exact_grams(binned: BinnedSamples, kernels: Sequence[Kernel], /) -> FloatArray:
    """Return kernel sums between bins from all pairs of rows, for ``K(0) = 1``."""
    n_bins = len(binned.movable)
    grams = np.zeros((len(kernels), n_bins, n_bins))
    blocks = list(binned.blocks(_TILE_ROWS))
    for (rows_a, bins_a), (rows_b, bins_b) in itertools.combinations_with_replacement(
        blocks, 2
    ):
        (present_a, first_a), (present_b, first_b) = _runs(bins_a), _runs(bins_b)
        place = np.ix_(present_a, present_b)
        for gram, values in zip(
            grams, family_values(kernels, rows_a, rows_b), strict=True
        ):
            sums = np.add.reduceat(values, first_a, axis=0)
            sums = np.add.reduceat(sums, first_b, axis=1)
            gram[place] += sums
            if rows_a is not rows_b:
                gram[place[1].T, place[0].T] += sums.T
    return grams


def feature_grams(
    binned: BinnedSamples,
    kernels: Sequence[Kernel],
    n_frequencies: Sequence[int],
    /,
    *,
    sampling: str,
    seed: int,
) -> FloatArray:
    """Return kernel sums between bins from random frequencies: one pass over the rows."""
    # One group: a test needs no standard error over frequencies.
    family = draw_family(
        kernels,
        n_frequencies,
        binned.samples[0].n_columns,
        sampling=sampling,
        n_groups=1,
        seed=seed,
    )
    return family_grams(binned, family)


def family_grams(binned: BinnedSamples, family: FrequencyFamily, /) -> FloatArray:
    """Return kernel sums between bins from these frequencies."""
    center = reference_point(binned.samples[0])
    sums = np.zeros((len(binned.movable), family.edges[-1]))
    for rows, bins in binned.blocks(family.block_rows()):
        family.add_features(sums, rows, center, bins)
    return family.grams(sums)


def family_values(kernels: Sequence[Kernel], x: Any, y: Any, /) -> list[FloatArray]:
    """Return the values of each kernel, divided by its value at 0, for all pairs of rows.

    Gaussian kernels share the distances, and one of half the bandwidth is the fourth power
    of the last: the exponential is taken once.
    """
    result: list[FloatArray | None] = [None] * len(kernels)
    squared: FloatArray | None = None
    unit = 1.0
    last, last_bandwidth = np.empty(0), 0.0
    gaussians = [i for i, k in enumerate(kernels) if isinstance(k, Gaussian)]
    dense = isinstance(x, np.ndarray) and isinstance(y, np.ndarray)
    if len(gaussians) > 1 and dense:
        for i in sorted(gaussians, key=lambda i: -_bandwidth(kernels[i])):
            bandwidth = _bandwidth(kernels[i])
            if last_bandwidth == 2.0 * bandwidth:
                values = np.square(last)
                np.square(values, out=values)
            else:
                if squared is None:
                    # In the largest bandwidth, so that neither huge nor tiny data overflow.
                    unit = bandwidth
                    squared = column_sums(x, y, "squared", 1.0 / unit)
                values = np.exp(squared * (-0.5 * (unit / bandwidth) ** 2))
            result[i] = last = values
            last_bandwidth = bandwidth
    return [
        kernel.gram(x, y) / kernel.at_zero if values is None else values
        for kernel, values in zip(kernels, result, strict=True)
    ]


def check_values(kernels: Sequence[Kernel], /) -> None:
    """Raise if a kernel cannot be evaluated."""
    for kernel in kernels:
        kernel.pair_forms()


def has_values(kernels: Sequence[Kernel], /) -> bool:
    """Return whether every kernel can be evaluated, not only sampled from."""
    try:
        check_values(kernels)
    except UnsupportedKernelError:
        return False
    return True


def _bandwidth(kernel: Kernel) -> float:
    return float(getattr(kernel, "bandwidth", 0.0))


def _runs(
    bins: npt.NDArray[np.intp],
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the bins in a block and where their runs start."""
    first = np.flatnonzero(np.diff(bins, prepend=bins[0] - 1))
    return bins[first], first
