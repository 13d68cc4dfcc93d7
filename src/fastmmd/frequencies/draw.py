"""Ways to draw frequencies: independent, stratified, orthogonal, and scrambled Sobol.

All have the kernel's spectral law for each single frequency, so every estimate is
unbiased over the draw; they differ in how frequencies depend on each other, and with it
in how far the estimate strays. The measurement behind the automatic choice is
``benchmarks/sampling_error.py``, its outcome is in the documentation (Choosing
frequencies).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastmmd._errors import UnsupportedKernelError
from fastmmd._random import as_generator
from fastmmd._validation import check_choice, check_count
from fastmmd.frequencies.dense import GROUPS, DenseFrequencies, group_sizes
from fastmmd.kernels.base import Kernel, open_uniforms

if TYPE_CHECKING:
    from fastmmd._typing import FloatArray, RNGLike

SAMPLINGS = ("auto", "iid", "orthogonal", "sobol", "stratified")

_SOBOL_COLUMNS = 6
"""Up to this many columns Sobol points err least; beyond it orthogonal directions do."""

_CROWDED = 0.125
"""With fewer frequencies than this share of the columns, independent directions are nearly
orthogonal, err little more, and need no factorisation
(``benchmarks/few_frequencies.py``)."""

_SOBOL_COLUMNS_PRODUCT = 16
"""The same for product kernels, whose alternative is independent frequencies."""


def draw_frequencies(
    kernel: Kernel,
    n_frequencies: int,
    n_columns: int,
    /,
    *,
    sampling: str = "auto",
    n_groups: int | None = None,
    rng: RNGLike = None,
) -> DenseFrequencies:
    """Draw frequencies of `kernel`.

    Parameters
    ----------
    kernel : Kernel
        Whose spectral law to draw from.
    n_frequencies, n_columns : int
        Shape of the draw.
    sampling : {"auto", "iid", "orthogonal", "sobol", "stratified"}, default="auto"
        ``"iid"``: independent. ``"orthogonal"``: directions orthogonal within blocks of
        `n_columns` frequencies, stratified lengths from the kernel's radial law; radial
        kernels only. ``"stratified"``: the same with independent directions. ``"sobol"``:
        scrambled Sobol points through the inverse distribution function. ``"auto"``: the
        one that errs least for the kernel and `n_columns`, or as little at less cost.
    n_groups : int, optional
        Independent parts of the draw, which a standard error needs; one part errs less.
    rng : int or numpy.random.Generator, optional
        Source of the draw.

    Returns
    -------
    DenseFrequencies
        The frequencies and their independent groups.

    Examples
    --------
    Frequencies for another program, with an even spread of lengths and directions:

    >>> import fastmmd
    >>> from fastmmd.frequencies import draw_frequencies
    >>> drawn = draw_frequencies(fastmmd.Gaussian(2.0), 256, 10, rng=0)
    >>> drawn.frequencies.shape
    (256, 10)
    """
    n_frequencies = check_count(n_frequencies, name="n_frequencies")
    n_columns = check_count(n_columns, name="n_columns")
    check_choice(sampling, SAMPLINGS, name="sampling")
    if sampling == "auto":
        sampling = choose_sampling(kernel, n_columns, n_frequencies)
    n_groups = GROUPS if n_groups is None else check_count(n_groups, name="n_groups")
    generator = as_generator(rng)
    shape = (n_frequencies, n_columns)
    if sampling in ("orthogonal", "stratified"):
        _check_radial(kernel, sampling)
        if sampling == "stratified":
            # Directions are independent, so any number of groups will do.
            most, block = n_frequencies, 1
        else:
            # Each group has a whole block if possible.
            most, block = n_frequencies // n_columns, min(n_columns, n_frequencies)
        return _radial(kernel, shape, min(n_groups, most), block, generator)
    if sampling == "sobol":
        return _sobol(kernel, shape, n_groups, generator)
    drawn = kernel.sample_frequencies(n_frequencies, n_columns=n_columns, rng=generator)
    return DenseFrequencies(drawn, np.ones(n_frequencies, dtype=np.intp))


def choose_sampling(kernel: Kernel, n_columns: int, n_frequencies: int, /) -> str:
    """Return what ``sampling="auto"`` means for this kernel and these numbers."""
    limit = _SOBOL_COLUMNS if kernel.is_radial else _SOBOL_COLUMNS_PRODUCT
    if kernel.draws_from_uniforms and n_columns <= limit:
        return "sobol"
    if not kernel.is_radial:
        return "iid"
    return "stratified" if n_frequencies <= _CROWDED * n_columns else "orthogonal"


def _check_radial(kernel: Kernel, sampling: str) -> None:
    if not kernel.is_radial:
        msg = (
            f'`sampling` must be "iid" or "sobol" for a kernel that is not radial; got '
            f'"{sampling}" with {kernel!r}.'
        )
        raise UnsupportedKernelError(msg)


def _radial(
    kernel: Kernel,
    shape: tuple[int, int],
    n_groups: int,
    block: int,
    rng: np.random.Generator,
) -> DenseFrequencies:
    """Return directions times lengths, in independent groups.

    Directions are orthogonal within blocks of so many, and each block is uniformly
    distributed over all orthonormal sets.
    """
    n_frequencies, n_columns = shape
    sizes = group_sizes(n_frequencies, n_groups)
    normals, radii = [], []
    for size in sizes:
        normals.append(rng.standard_normal((-(-size // block), n_columns, block)))
        # Lengths are stratified over the group, which matters most where they vary most:
        # in few columns and for heavy-tailed laws.
        radii.append(kernel.sample_radii(int(size), n_columns=n_columns, rng=rng))
    # All blocks at once: small ones take less time than the calls.
    directions = _orthonormal(np.concatenate(normals))
    ends = np.cumsum([len(own) for own in normals])
    groups = [
        own.reshape(-1, n_columns)[:size] * lengths[:, None]
        for own, size, lengths in zip(
            np.split(directions, ends[:-1]), sizes, radii, strict=True
        )
    ]
    return DenseFrequencies(np.concatenate(groups), sizes)


def _orthonormal(normals: FloatArray) -> FloatArray:
    """Return orthonormal rows made of the normal columns of each matrix."""
    if normals.shape[2] == 1:
        columns = normals[:, :, 0]
        return (columns / np.linalg.norm(columns, axis=1, keepdims=True))[:, None, :]
    q, r = np.linalg.qr(normals)
    # QR fixes signs by convention; giving them back makes the law uniform (Haar).
    q *= np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None, :]
    return np.asarray(q.transpose(0, 2, 1))


def _sobol(
    kernel: Kernel, shape: tuple[int, int], n_groups: int, rng: np.random.Generator
) -> DenseFrequencies:
    n_frequencies, n_columns = shape
    # scipy.stats takes most of a second to import: only here, and only when asked for.
    from scipy.stats import qmc

    width = kernel.uniforms_per_frequency(n_columns)
    sizes = group_sizes(n_frequencies, min(n_groups, n_frequencies))
    groups = []
    for size in sizes:
        points = qmc.Sobol(width, scramble=True, bits=53, rng=rng)
        # Whole powers of two are balanced; of a partial one take the first points.
        uniforms = points.random_base2(int(size - 1).bit_length())[:size]
        groups.append(
            kernel.frequencies_from_uniforms(open_uniforms(uniforms), n_columns)
        )
    return DenseFrequencies(np.concatenate(groups), sizes)
