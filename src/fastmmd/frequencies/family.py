"""Frequencies of several kernels at once, with as few projections as possible.

Kernels that differ in their bandwidth only share their frequencies: those of bandwidth
``h`` are those of bandwidth 1 divided by ``h``. So one projection of the rows serves them
all.

Features are computed in single precision, which is many times faster: the phase is reduced
to one turn in double precision first, so a feature is right to 5e-7 for phases up to 1e8.
"""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast, final

import numpy as np

from fastmmd.frequencies.draw import draw_frequencies
from fastmmd.frequencies.fastfood import draw_fastfood

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from fastmmd._typing import FloatArray
    from fastmmd.frequencies.dense import DenseFrequencies
    from fastmmd.frequencies.fastfood import FastfoodFrequencies
    from fastmmd.kernels import Kernel


_BLOCK_FEATURES = 2**18
"""Features computed together: 1 MB in single precision."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class FrequencyFamily:
    """Frequencies of a family of kernels.

    Parameters
    ----------
    kernels : tuple of Kernel
        The kernels.
    n_frequencies : tuple of int
        Frequencies of each kernel.
    n_columns : int
        Columns of the data.
    bundles : tuple of Bundle
        The kernels by shared frequencies; together they name each kernel once.
    """

    kernels: tuple[Kernel, ...]
    n_frequencies: tuple[int, ...]
    n_columns: int
    bundles: tuple[Bundle, ...]

    @property
    def edges(self) -> tuple[int, ...]:
        """Where each kernel's features start among all, and the total at the end."""
        return (0, *itertools.accumulate(2 * n for n in self.n_frequencies))

    def features(
        self, rows: Any, center: FloatArray | None, /
    ) -> npt.NDArray[np.float32]:
        """Return all features of all rows: for each kernel cosines, then sines."""
        edges = self.edges
        values = np.empty((rows.shape[0], edges[-1]), dtype=np.float32)
        for bundle in self.bundles:
            phases = bundle.base.project(rows, center)
            for member in bundle.members:
                n, start = member.n_frequencies, edges[member.index]
                turns = phases[:, :n] * (1.0 / (2.0 * np.pi * member.bandwidth))
                turns -= np.rint(turns)
                angles = np.multiply(turns, 2.0 * np.pi, dtype=np.float32)
                np.cos(angles, out=values[:, start : start + n])
                np.sin(angles, out=values[:, start + n : start + 2 * n])
        return values

    def add_features(
        self,
        sums: FloatArray,
        rows: Any,
        center: FloatArray | None,
        bins: npt.NDArray[np.intp],
        /,
    ) -> None:
        """Add the features of rows, sorted by bin, to the sums of their bins."""
        values = self.features(rows, center)
        starts = np.flatnonzero(np.diff(bins, prepend=bins[0] - 1))
        lengths = np.diff(starts, append=len(bins))
        if lengths.max() == lengths.min():
            # Bins of equal size, the usual case of arrays: one sum for all of them.
            grouped = values.reshape(len(starts), lengths[0], -1)
            sums[bins[starts]] += grouped.sum(axis=1, dtype=np.float64)
            return
        for start, stop in itertools.pairwise([*starts, len(bins)]):
            sums[bins[start]] += values[start:stop].sum(axis=0, dtype=np.float64)

    def block_rows(self) -> int:
        """Return how many rows to handle together so that features stay in cache."""
        return max(16, _BLOCK_FEATURES // self.edges[-1])

    def grams(self, sums: FloatArray, /) -> FloatArray:
        """Return each kernel's matrix between bins, for features of length 1."""
        edges = itertools.pairwise(self.edges)
        parts = [sums[:, start:stop] for start, stop in edges]
        return np.stack(
            [part @ part.T / n for part, n in zip(parts, self.n_frequencies, strict=True)]
        )


@final
@dataclass(frozen=True, slots=True, eq=False)
class Bundle:
    """Kernels that share the frequencies `base`."""

    base: DenseFrequencies | FastfoodFrequencies
    members: tuple[Member, ...]


@final
@dataclass(frozen=True, slots=True)
class Member:
    """One kernel of a bundle: its place in the family, its bandwidth and its share."""

    index: int
    bandwidth: float
    n_frequencies: int


def draw_family(
    kernels: Sequence[Kernel],
    n_frequencies: Sequence[int],
    n_columns: int,
    /,
    *,
    sampling: str = "auto",
    n_groups: int | None = None,
    seed: int,
) -> FrequencyFamily:
    """Draw the frequencies of several kernels.

    Parameters
    ----------
    kernels : sequence of Kernel
        The kernels.
    n_frequencies : sequence of int
        Frequencies of each; kernels that differ in bandwidth only use the first so many
        of one common draw.
    n_columns : int
        Columns of the data.
    sampling : {"auto", "iid", "orthogonal", "sobol", "fastfood"}, default="auto"
        How to draw.
    n_groups : int, optional
        Independent parts of the draw.
    seed : int
        The draw depends on this number, `n_columns`, and the kernels' shapes in the order
        they first appear with the most frequencies of each; not on any data.

    Returns
    -------
    FrequencyFamily
        The frequencies.
    """
    shapes: dict[Kernel | int, list[Member]] = {}
    for index, (kernel, n) in enumerate(zip(kernels, n_frequencies, strict=True)):
        shape, bandwidth = _shape(kernel, index)
        shapes.setdefault(shape, []).append(Member(index, bandwidth, n))
    bundles: list[Bundle] = []
    for shape, members in shapes.items():
        kernel = kernels[shape] if isinstance(shape, int) else shape
        n_needed = max(member.n_frequencies for member in members)
        # A stream for each shape: adding another shape leaves this one's draw alone.
        rng = np.random.default_rng([seed, len(bundles)])
        base = (
            draw_fastfood(kernel, n_needed, n_columns, rng=rng)
            if sampling == "fastfood"
            else draw_frequencies(
                kernel, n_needed, n_columns, sampling=sampling, n_groups=n_groups, rng=rng
            )
        )
        bundles.append(Bundle(base, tuple(members)))
    return FrequencyFamily(
        tuple(kernels), tuple(n_frequencies), n_columns, tuple(bundles)
    )


def given_family(kernel: Kernel, frequencies: DenseFrequencies, /) -> FrequencyFamily:
    """Return the family of one kernel whose frequencies are given."""
    n_frequencies, n_columns = frequencies.frequencies.shape
    bundle = Bundle(frequencies, (Member(0, 1.0, n_frequencies),))
    return FrequencyFamily((kernel,), (n_frequencies,), n_columns, (bundle,))


def _shape(kernel: Kernel, index: int) -> tuple[Kernel | int, float]:
    """Return the kernel at bandwidth 1 and its bandwidth; its number if it has none."""
    bandwidth = getattr(kernel, "bandwidth", None)
    if bandwidth is None:
        return index, 1.0
    return dataclasses.replace(cast("Any", kernel), bandwidth=1.0), float(bandwidth)
