"""The tests that the paper compares, on equal samples and one Gaussian kernel.

Each takes rows and gives a p-value. Tests of the same rows share what they can: the kernel
matrix, its moments, and the random vectors, which do not depend on the data.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from fastmmd._backends import bin_pair_sums
from fastmmd.kernels import Gaussian
from fastmmd.nulls import BinGram, hollow_gram, hollow_moments, permutation_pvalue
from fastmmd.nulls.hollow import scaled_hollow
from fastmmd.nulls.moments import gamma_tail, pearson_tail_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from fastmmd._typing import FloatArray

    SingleArray = npt.NDArray[np.float32]


def shuffled_signs(
    n_rows: int, n_shuffles: int, rng: np.random.Generator, /
) -> SingleArray:
    """Return +1 for rows of the first sample and -1 for others: observed, then shuffled."""
    observed = np.repeat(np.array([1.0, -1.0], dtype=np.float32), n_rows)
    shuffled = rng.permuted(np.tile(observed, (n_shuffles, 1)), axis=1)
    return np.vstack([observed, shuffled])


def kernel_matrix(rows: FloatArray, bandwidth: float, /) -> FloatArray:
    """Return the kernel between all rows."""
    (form,) = Gaussian(bandwidth).pair_forms()
    edges = np.arange(len(rows) + 1, dtype=np.int64)
    return bin_pair_sums(rows, edges, form, [form.scale])[0]


_N_STRIPES = 8
"""More would save little: already 56 % of the products are left."""


def quadratic_forms(vectors: SingleArray, matrix: SingleArray, /) -> FloatArray:
    """Return ``v' M v`` for every row v and a symmetric M, in single precision.

    Products of all vectors at once, with the stripes of M on and below its diagonal only, as
    the part above is the same: nearly half of the work is saved.
    """
    forms = np.zeros(len(vectors))
    edges = np.linspace(0, len(matrix), _N_STRIPES + 1).astype(np.int64)
    for start, stop in itertools.pairwise(edges):
        stripe, below = vectors[:, start:stop], vectors[:, stop:]
        products = below @ matrix[stop:, start:stop]
        products *= 2.0
        products += stripe @ matrix[start:stop, start:stop]
        forms += np.einsum("ij,ij->i", products, stripe, dtype=np.float64)
    return forms


def shuffle_pvalue(values: FloatArray, /) -> float:
    """Return the p-value of the first value among the others."""
    # Equal labels give equal bits: no slack is needed for ties.
    return permutation_pvalue(values[0], values[1:], scale=0.0)


def bootstrap_pvalue(kernel: FloatArray, signs: SingleArray, /) -> float:
    """Return the p-value of exact biased MMD by shuffling rows."""
    # The factor 1 / n^2 is the same for all.
    return shuffle_pvalue(quadratic_forms(signs, kernel.astype(np.float32)))


def amplitudes(
    rows: FloatArray, frequencies: FloatArray, signs: SingleArray, /
) -> FloatArray:
    """Return n^2 times each frequency's squared amplitude, for every row of signs."""
    phases = rows @ frequencies.T
    cosines, sines = (signs @ f(phases).astype(np.float32) for f in (np.cos, np.sin))
    return np.asarray(cosines**2 + sines**2, dtype=np.float64)


def fastmmd_pvalues(
    rows: FloatArray,
    frequencies: FloatArray,
    signs: SingleArray,
    numbers: Sequence[int],
    /,
) -> list[float]:
    """Return p-values of biased FastMMD by shuffling rows, from the first frequencies.

    Frequencies stay the same over the shuffles, without which rows would not be
    exchangeable. One projection serves all `numbers` of frequencies.
    """
    sums = np.cumsum(amplitudes(rows, frequencies, signs), axis=1)
    return [shuffle_pvalue(sums[:, number - 1]) for number in numbers]


def as_bins(kernel: FloatArray, /) -> BinGram:
    """Return two equal samples as bins of one row."""
    n = len(kernel)
    return BinGram.from_bins(kernel, np.ones(n), np.arange(n) < n // 2)


def moment_pvalues(kernel: FloatArray, normals: SingleArray, /) -> dict[str, float]:
    """Return the p-values of gamma, Pearson and spectrum, from the same moments.

    The spectrum's law, a sum of chi-squares weighted by eigenvalues, is that of ``z' H z``
    for normal z; so it is simulated without eigenvalues, which would take longer than all
    the rest.
    """
    bins = as_bins(kernel)
    # Single precision moves a p-value by far less than a thousandth of itself.
    hollow = hollow_gram(bins).astype(np.float32)
    moments = hollow_moments(bins, hollow=hollow)
    matrix = scaled_hollow(hollow, moments).astype(np.float32, copy=False)
    null = quadratic_forms(normals, matrix)
    return {
        "gamma": gamma_tail(moments),
        "pearson": pearson_tail_of(moments),
        "spectrum": permutation_pvalue(moments.statistic, null),
    }
