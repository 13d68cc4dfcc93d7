"""Frequencies of several kernels at once, with as few projections as possible.

Kernels that differ in their bandwidth only share their frequencies: those of bandwidth
``h`` are those of bandwidth 1 divided by ``h``. So one projection of the rows serves them
all; and where a bandwidth is half of another, so do its cosines and sines.
"""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast, final

import numpy as np

from fastmmd._backends import Channel
from fastmmd.frequencies.draw import draw_frequencies
from fastmmd.frequencies.fastfood import draw_fastfood

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastmmd._backends import Places
    from fastmmd._rows import Rows
    from fastmmd._typing import FloatArray
    from fastmmd.frequencies.dense import DenseFrequencies
    from fastmmd.frequencies.fastfood import FastfoodFrequencies
    from fastmmd.kernels import Kernel


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
    single : bool, default=True
        Whether features in single precision will do.
    """

    kernels: tuple[Kernel, ...]
    n_frequencies: tuple[int, ...]
    n_columns: int
    bundles: tuple[Bundle, ...]
    single: bool = True

    @property
    def edges(self) -> tuple[int, ...]:
        """Where each kernel's features start among all, and the total at the end."""
        return (0, *itertools.accumulate(2 * n for n in self.n_frequencies))

    def add_feature_sums(
        self,
        sums: FloatArray,
        rows: Rows,
        places: Places,
        center: FloatArray | None,
        /,
    ) -> None:
        """Add the features of rows to the sums of their bins: cosines, then sines.

        Parameters
        ----------
        sums : ndarray of shape (n_bins, edges[-1])
            Where they are added, in place.
        rows : Rows
            The data.
        places : Places
            Which rows, and the bin of each.
        center : ndarray of shape (n_columns,), optional
            Taken off every row.
        """
        for bundle in self.bundles:
            channels = tuple(
                Channel(
                    1.0 / (2.0 * np.pi * member.bandwidth),
                    member.n_frequencies,
                    self.edges[member.index],
                )
                for member in bundle.members
            )
            bundle.base.add_feature_sums(
                sums, rows, places, center, channels, single=self.single
            )

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
    single: bool = True,
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
    single : bool, default=True
        Whether features in single precision will do.
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
        tuple(kernels), tuple(n_frequencies), n_columns, tuple(bundles), single
    )


def given_family(
    kernel: Kernel, frequencies: DenseFrequencies, /, *, single: bool = False
) -> FrequencyFamily:
    """Return the family of one kernel whose frequencies are given."""
    n_frequencies, n_columns = frequencies.frequencies.shape
    bundle = Bundle(frequencies, (Member(0, 1.0, n_frequencies),))
    return FrequencyFamily(
        (kernel,), (n_frequencies,), n_columns, (bundle,), single=single
    )


def _shape(kernel: Kernel, index: int) -> tuple[Kernel | int, float]:
    """Return the kernel at bandwidth 1 and its bandwidth; its number if it has none."""
    bandwidth = getattr(kernel, "bandwidth", None)
    if bandwidth is None:
        return index, 1.0
    return dataclasses.replace(cast("Any", kernel), bandwidth=1.0), float(bandwidth)
