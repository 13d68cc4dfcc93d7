r"""Fastfood: frequencies that are never written down.

A block of ``D`` frequencies in ``D`` columns, ``D`` a power of two, is the product
``V = S H G P H B / sqrt(D)`` of diagonal matrices ``S``, ``G``, ``B``, a permutation ``P``
and Hadamard matrices ``H`` (Le, Sarlos and Smola 2013). Multiplying by it costs
``O(D log D)`` in place of ``D^2``.

Row ``i`` of ``H G P H B`` has length ``|G| sqrt(D)`` and, given ``P`` and ``B``, points in
a uniform direction. So ``S_ii = radius_i / |G|`` with radii from the kernel's own law
gives each frequency exactly that law: the kernel need only be radial, not Gaussian.
Columns are padded with zeros to the next power of two, which leaves ``D``-dimensional
frequencies restricted to the first columns, and blocks are stacked until there are enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fastmmd._backends import (
    FastfoodBlocks,
    fastfood_feature_sums,
    fastfood_phases,
    single_radius,
)
from fastmmd._errors import UnsupportedKernelError
from fastmmd._random import as_generator
from fastmmd._validation import check_count
from fastmmd.frequencies.dense import GROUPS, group_sizes

if TYPE_CHECKING:
    import numpy.typing as npt

    from fastmmd._backends import Channel, Places
    from fastmmd._rows import Rows
    from fastmmd._typing import FloatArray, RNGLike
    from fastmmd.kernels.base import Kernel


@final
@dataclass(frozen=True, slots=True, eq=False)
class FastfoodFrequencies:
    """The frequencies of stacked Fastfood blocks.

    Parameters
    ----------
    blocks : FastfoodBlocks
        Diagonals and permutations; the last block may be cut.
    """

    blocks: FastfoodBlocks

    @property
    def n_frequencies(self) -> int:
        """How many frequencies there are."""
        return self.blocks.n_frequencies

    @property
    def group_sizes(self) -> npt.NDArray[np.intp]:
        """Sizes of the independent groups: some whole blocks each, the last one cut."""
        n_blocks, padded = self.blocks.signs.shape
        sizes = _blocks_per_group(n_blocks) * padded
        sizes[-1] -= n_blocks * padded - self.n_frequencies
        return sizes

    def project(self, rows: Any, center: FloatArray | None, /) -> FloatArray:
        """Return the phases ``(rows - center) @ w`` of every row and frequency."""
        return fastfood_phases(rows, center, self.blocks)

    def add_feature_sums(
        self,
        sums: FloatArray,
        rows: Rows,
        places: Places,
        center: FloatArray | None,
        channels: tuple[Channel, ...],
        /,
        *,
        single: bool,
    ) -> None:
        """Add the features of rows to the sums of their bins, as dense frequencies do."""
        radius = -1.0
        if single:
            padded = self.blocks.signs.shape[1]
            # The length of a frequency before its columns are cut to those of the data.
            lengths = self.blocks.scales * np.sqrt(padded)
            lengths *= np.linalg.norm(self.blocks.normals, axis=1, keepdims=True)
            typical = float(np.sqrt(np.mean(np.square(lengths)) / padded))
            radius = single_radius(typical, float(lengths.max()), channels)
        fastfood_feature_sums(
            sums,
            rows,
            places,
            self.blocks,
            channels,
            center=center,
            single_radius=radius,
        )

    def to_dense(self) -> FloatArray:
        """Return the frequencies as a matrix, by projecting the unit vectors."""
        return self.project(np.eye(self.blocks.n_columns), None).T


def draw_fastfood(
    kernel: Kernel, n_frequencies: int, n_columns: int, /, *, rng: RNGLike = None
) -> FastfoodFrequencies:
    """Draw Fastfood blocks for a radial kernel.

    Parameters
    ----------
    kernel : Kernel
        A radial kernel.
    n_frequencies, n_columns : int
        Frequencies wanted and columns of the data.
    rng : int or numpy.random.Generator, optional
        Source of the draw.

    Returns
    -------
    FastfoodFrequencies
        As many blocks as hold `n_frequencies`.
    """
    if not kernel.is_radial:
        msg = (
            f"`kernel` must be radial for Fastfood; got {kernel!r}. Use "
            '`method="fourier"`, which takes every kernel.'
        )
        raise UnsupportedKernelError(msg)
    n_frequencies = check_count(n_frequencies, name="n_frequencies")
    n_columns = check_count(n_columns, name="n_columns")
    generator = as_generator(rng)
    padded = padded_columns(n_columns)
    n_blocks = -(-n_frequencies // padded)
    shape = (n_blocks, padded)
    signs = np.where(generator.random(shape) < 0.5, -1.0, 1.0)
    order = np.argsort(generator.random(shape), axis=1).astype(np.int64, copy=False)
    normals = generator.standard_normal(shape)
    # Lengths are stratified within groups, which stay independent of each other.
    radii = np.concatenate(
        [
            kernel.sample_radii(int(n) * padded, n_columns=padded, rng=generator)
            for n in _blocks_per_group(n_blocks)
        ]
    )
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    scales = radii.reshape(shape) / (lengths * np.sqrt(padded))
    return FastfoodFrequencies(
        FastfoodBlocks(signs, order, normals, scales, n_frequencies, n_columns)
    )


def _blocks_per_group(n_blocks: int) -> npt.NDArray[np.intp]:
    return group_sizes(n_blocks, min(GROUPS, n_blocks))


def padded_columns(n_columns: int, /) -> int:
    """Return the next power of two."""
    return 1 << (n_columns - 1).bit_length()
