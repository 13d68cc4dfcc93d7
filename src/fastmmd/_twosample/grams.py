"""From rows to kernel sums between bins, by exact kernels or by features."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fastmmd._backends import Places, bin_pair_sums
from fastmmd._errors import UnsupportedKernelError
from fastmmd._twosample.layout import bin_edges
from fastmmd.estimators.spectral import reference_point
from fastmmd.frequencies import draw_family

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from fastmmd._backends.pairs import PairForm
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
    orders: tuple[npt.NDArray[np.int64], ...]
    edges: tuple[npt.NDArray[np.int64], ...]
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
        orders.append(rng.permutation(rows.n_rows).astype(np.int64, copy=False))
        edges.append(bin_edges(rows.n_rows, n_bins, layout.rows_per_bin))
        movable.append(np.arange(len(edges[-1]) - 1) < n_bins)
    return BinnedSamples(
        tuple(samples), tuple(orders), tuple(edges), np.concatenate(movable)
    )


def exact_grams(binned: BinnedSamples, kernels: Sequence[Kernel], /) -> FloatArray:
    """Return kernel sums between bins from all pairs of rows, for ``K(0) = 1``."""
    if any(rows.is_sparse for rows in binned.samples):
        return _sparse_exact_grams(binned, kernels)
    values = np.concatenate(
        [
            rows.take(order)
            for rows, order in zip(binned.samples, binned.orders, strict=True)
        ]
    )
    edges = np.concatenate([[0], np.cumsum(binned.counts)])
    # Terms of one form share the distances of each pair.
    terms: dict[PairForm, list[tuple[int, PairForm]]] = {}
    for index, kernel in enumerate(kernels):
        for form in kernel.pair_forms():
            # Without a compiled form, equal profiles are not known to be equal.
            same = form if form.formula is None else replace(form, profile=np.positive)
            key = replace(same, scale=1.0, weight=1.0)
            terms.setdefault(key, []).append((index, form))
    grams = np.zeros((len(kernels), len(edges) - 1, len(edges) - 1))
    for members in terms.values():
        scales = [form.scale for _, form in members]
        sums = bin_pair_sums(values, edges, members[0][1], scales)
        for (index, form), total in zip(members, sums, strict=True):
            grams[index] += form.weight / kernels[index].at_zero * total
    return grams


def _sparse_exact_grams(
    binned: BinnedSamples, kernels: Sequence[Kernel], /
) -> FloatArray:
    """Return kernel sums between bins of rows that are not to be made dense."""
    n_bins = len(binned.movable)
    grams = np.zeros((len(kernels), n_bins, n_bins))
    blocks = list(binned.blocks(_TILE_ROWS))
    for (rows_a, bins_a), (rows_b, bins_b) in itertools.combinations_with_replacement(
        blocks, 2
    ):
        (present_a, first_a), (present_b, first_b) = _runs(bins_a), _runs(bins_b)
        place = np.ix_(present_a, present_b)
        for gram, kernel in zip(grams, kernels, strict=True):
            sums = np.add.reduceat(kernel.gram(rows_a, rows_b), first_a, axis=0)
            sums = np.add.reduceat(sums, first_b, axis=1) / kernel.at_zero
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
    single: bool = True,
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
        single=single,
        seed=seed,
    )
    return family_grams(binned, family)


def family_grams(binned: BinnedSamples, family: FrequencyFamily, /) -> FloatArray:
    """Return kernel sums between bins from these frequencies."""
    center = reference_point(binned.samples[0])
    sums = np.zeros((len(binned.movable), family.edges[-1]))
    first_bin = 0
    for rows, order, edges in zip(
        binned.samples, binned.orders, binned.edges, strict=True
    ):
        last_bin = first_bin + len(edges) - 1
        places = Places(edges, order)
        family.add_feature_sums(sums[first_bin:last_bin], rows, places, center)
        first_bin = last_bin
    return family.grams(sums)


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


def _runs(
    bins: npt.NDArray[np.intp],
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the bins in a block and where their runs start."""
    first = np.flatnonzero(np.diff(bins, prepend=bins[0] - 1))
    return bins[first], first
