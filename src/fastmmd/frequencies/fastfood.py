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

from fastmmd._backends import walsh_hadamard
from fastmmd._errors import UnsupportedKernelError
from fastmmd._random import as_generator
from fastmmd._validation import check_count
from fastmmd.frequencies.dense import GROUPS, group_sizes

if TYPE_CHECKING:
    import numpy.typing as npt

    from fastmmd._typing import FloatArray, RNGLike
    from fastmmd.kernels.base import Kernel


@final
@dataclass(frozen=True, slots=True, eq=False)
class FastfoodFrequencies:
    """Stacked Fastfood blocks; arrays have shape (n_blocks, padded columns).

    Parameters
    ----------
    signs : ndarray
        The diagonal of ``B``: +1 or -1.
    order : ndarray of int
        The permutation ``P``.
    normals : ndarray
        The diagonal of ``G``, standard normal.
    scales : ndarray
        The diagonal of ``S / sqrt(D)``.
    n_frequencies, n_columns : int
        Frequencies kept (the last block may be cut) and columns of the data.
    """

    signs: FloatArray
    order: npt.NDArray[np.intp]
    normals: FloatArray
    scales: FloatArray
    n_frequencies: int
    n_columns: int

    @property
    def group_sizes(self) -> npt.NDArray[np.intp]:
        """Sizes of the independent groups: some whole blocks each, the last one cut."""
        n_blocks, padded = self.signs.shape
        sizes = _blocks_per_group(n_blocks) * padded
        sizes[-1] -= n_blocks * padded - self.n_frequencies
        return sizes

    def project(self, rows: Any, center: FloatArray | None, /) -> FloatArray:
        """Return the phases ``(rows - center) @ w`` of every row and frequency."""
        values = rows if isinstance(rows, np.ndarray) else rows.toarray()
        padded = np.zeros((len(values), 1, self.signs.shape[1]))
        padded[:, 0, : self.n_columns] = values if center is None else values - center
        mixed = _hadamard(padded * self.signs)
        mixed = np.take_along_axis(mixed, self.order[None], axis=2)
        mixed *= self.normals
        phases = _hadamard(mixed)
        phases *= self.scales
        return phases.reshape(len(values), -1)[:, : self.n_frequencies]

    def to_dense(self) -> FloatArray:
        """Return the frequencies as a matrix, by projecting the unit vectors."""
        return self.project(np.eye(self.n_columns), None).T


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
    order = np.argsort(generator.random(shape), axis=1)
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
    return FastfoodFrequencies(signs, order, normals, scales, n_frequencies, n_columns)


def _hadamard(values: FloatArray) -> FloatArray:
    """Transform along the last of three axes; the primitive takes rows."""
    rows = values.reshape(-1, values.shape[-1])
    return walsh_hadamard(rows).reshape(values.shape)


def _blocks_per_group(n_blocks: int) -> npt.NDArray[np.intp]:
    return group_sizes(n_blocks, min(GROUPS, n_blocks))


def padded_columns(n_columns: int, /) -> int:
    """Return the next power of two."""
    return 1 << (n_columns - 1).bit_length()
