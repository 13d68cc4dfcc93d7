"""Frequencies of several kernels at once, with as few projections as possible.

Kernels that differ in their bandwidth only share their frequencies: those of bandwidth
``h`` are those of bandwidth 1 divided by ``h``. So one projection of the rows serves them
all, and halving the bandwidth doubles every phase, for which the double-angle formulas
give cosine and sine without evaluating either.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast, final

import numpy as np

from fastmmd.frequencies.draw import draw_frequencies
from fastmmd.frequencies.fastfood import draw_fastfood

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    """

    kernels: tuple[Kernel, ...]
    n_frequencies: tuple[int, ...]
    n_columns: int
    bundles: tuple[Bundle, ...]

    @property
    def widths(self) -> tuple[int, ...]:
        """Numbers of features, a cosine and a sine each, of the kernels."""
        return tuple(2 * n for n in self.n_frequencies)

    def features(self, rows: Any, center: FloatArray | None, /) -> list[FloatArray]:
        """Return each kernel's features of all rows: cosines, then sines, unscaled."""
        result: list[FloatArray | None] = [None] * len(self.kernels)
        for bundle in self.bundles:
            phases = bundle.base.project(rows, center)
            for index, values in _bundle_features(phases, bundle):
                result[index] = values
        return [values for values in result if values is not None]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Bundle:
    """Kernels that share the frequencies `base`, by decreasing bandwidth."""

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
    seed : int
        The draw depends on this number, the kernels' shapes and `n_columns` alone.

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
            else draw_frequencies(kernel, n_needed, n_columns, sampling=sampling, rng=rng)
        )
        ordered = sorted(members, key=lambda member: -member.bandwidth)
        bundles.append(Bundle(base, tuple(ordered)))
    return FrequencyFamily(
        tuple(kernels), tuple(n_frequencies), n_columns, tuple(bundles)
    )


def _shape(kernel: Kernel, index: int) -> tuple[Kernel | int, float]:
    """Return the kernel at bandwidth 1 and its bandwidth; its number if it has none."""
    bandwidth = getattr(kernel, "bandwidth", None)
    if bandwidth is None:
        return index, 1.0
    return dataclasses.replace(cast("Any", kernel), bandwidth=1.0), float(bandwidth)


def _bundle_features(phases: FloatArray, bundle: Bundle) -> list[tuple[int, FloatArray]]:
    features: list[tuple[int, FloatArray]] = []
    cosines = sines = np.empty((len(phases), 0))
    last_bandwidth = math.inf
    for member in bundle.members:
        n = member.n_frequencies
        values = np.empty((len(phases), 2 * n))
        new_cosines, new_sines = values[:, :n], values[:, n:]
        known = 0
        if member.bandwidth * 2.0 == last_bandwidth:
            # cos 2t = 1 - 2 sin^2 t and sin 2t = 2 sin t cos t double the error of each
            # step at most: 2^6 eps after the six halvings of the default family.
            known = min(n, cosines.shape[1])
            cos, sin = cosines[:, :known], sines[:, :known]
            np.multiply(sin, sin, out=new_cosines[:, :known])
            new_cosines[:, :known] *= -2.0
            new_cosines[:, :known] += 1.0
            np.multiply(sin, cos, out=new_sines[:, :known])
            new_sines[:, :known] *= 2.0
        if known < n:
            scaled = phases[:, known:n] / member.bandwidth
            np.cos(scaled, out=new_cosines[:, known:])
            np.sin(scaled, out=new_sines[:, known:])
        cosines, sines, last_bandwidth = new_cosines, new_sines, member.bandwidth
        features.append((member.index, values))
    return features
