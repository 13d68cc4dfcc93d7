"""What Figure 6 shows: all methods at all bandwidths, sharing distances and projections."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmmd._backends import Places
from fastmmd._rows import Rows
from fastmmd.estimators.spectral import contributions, reference_point
from fastmmd.experiments._data import ring
from fastmmd.frequencies import draw_family
from fastmmd.kernels import Gaussian

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastmmd._typing import Estimator, FloatArray
    from fastmmd.experiments._experiment import Settings

    Values = Mapping[tuple[Estimator, str], FloatArray]

N_ROWS = 200
N_FREQUENCIES = 1024
BANDWIDTHS = tuple(float(b) for b in 10.0 ** (np.arange(-5, 11) / 5.0))
"""0.1 to 100 in steps of 10^(1/5)."""

SAMPLINGS: Mapping[str, str] = {
    "fourier": "iid",
    "fastfood": "fastfood",
    "sobol": "sobol",
}
"""Methods by features; those of the paper are the first two."""

ESTIMATORS: tuple[Estimator, ...] = ("biased", "unbiased")
FEATURES = ("fourier", "fastfood")
UNBIASED_ONLY = ("linear", "block")
METHODS = ("fourier", "fastfood", "linear", "block", "sobol")


def kernel_matrices(x: FloatArray, y: FloatArray, /) -> tuple[FloatArray, ...]:
    """Return the kernels within x, within y and between, one matrix for each bandwidth.

    Distances are computed once for all bandwidths.
    """
    scales = -0.5 / np.square(BANDWIDTHS)[:, None, None]
    matrices = []
    for a, b in ((x, x), (y, y), (x, y)):
        squares = np.square(a[:, None, :] - b).sum(axis=2)
        matrices.append(np.exp(scales * squares))
    return tuple(matrices)


def exact_values(matrices: tuple[FloatArray, ...], /) -> dict[Estimator, FloatArray]:
    """Return the exact squared MMD at each bandwidth."""
    n = matrices[0].shape[1]
    within_x, within_y, between = (each.sum(axis=(1, 2)) for each in matrices)
    return {
        "biased": (within_x + within_y - 2.0 * between) / n**2,
        # The n pairs of a row with itself have kernel 1.
        "unbiased": (within_x + within_y - 2 * n) / (n * (n - 1)) - 2.0 * between / n**2,
    }


def linear_values(matrices: tuple[FloatArray, ...], x: Any, y: Any, /) -> FloatArray:
    """Return the linear-time estimate at each bandwidth, rows in the orders `x` and `y`."""
    within_x, within_y, between = matrices
    x_1, x_2, y_1, y_2 = x[::2], x[1::2], y[::2], y[1::2]
    terms = within_x[:, x_1, x_2] + within_y[:, y_1, y_2]
    terms -= between[:, x_1, y_2] + between[:, x_2, y_1]
    return np.asarray(terms.mean(axis=1))


def block_values(matrices: tuple[FloatArray, ...], x: Any, y: Any, /) -> FloatArray:
    """Return the B-test's estimate at each bandwidth, rows in the orders `x` and `y`."""
    within_x, within_y, between = matrices
    size = math.isqrt(len(x))
    n_blocks = len(x) // size
    x, y = (order[: n_blocks * size].reshape(n_blocks, size) for order in (x, y))
    h = within_x[:, x[:, :, None], x[:, None, :]]
    h += within_y[:, y[:, :, None], y[:, None, :]]
    h -= 2.0 * between[:, x[:, :, None], y[:, None, :]]
    # Rows of the same number are not paired, neither within nor between the samples.
    same = np.einsum("hbii->h", h)
    return np.asarray((h.sum(axis=(1, 2, 3)) - same) / (n_blocks * size * (size - 1)))


def feature_values(
    x: FloatArray, y: FloatArray, sampling: str, seed: int, /
) -> dict[Estimator, FloatArray]:
    """Return the estimate by one draw of frequencies, projected once for all bandwidths."""
    kernels = [Gaussian(bandwidth) for bandwidth in BANDWIDTHS]
    numbers = [N_FREQUENCIES] * len(kernels)
    family = draw_family(kernels, numbers, x.shape[1], sampling=sampling, seed=seed)
    sums = np.zeros((2, family.edges[-1]))
    rows = Rows(np.concatenate([x, y]))
    places = Places(np.array([0, len(x), len(rows)], dtype=np.int64))
    family.add_feature_sums(sums, rows, places, reference_point(rows))
    cosines, sines = np.moveaxis(sums.reshape(2, len(kernels), 2, -1), 2, 0)
    means = (cosines + 1j * sines) / np.array([len(x), len(y)])[:, None, None]
    return {
        estimator: contributions(
            *means, n_x=len(x), n_y=len(y), estimator=estimator, algorithm="features"
        ).mean(axis=1)
        for estimator in ESTIMATORS
    }


def on_the_same_rows(settings: Settings) -> tuple[dict[Estimator, FloatArray], Values]:
    """Return exact values, and those of each method for new frequencies or new orders."""
    x, y = ring(N_ROWS, settings.rng("rows"))
    matrices = kernel_matrices(x, y)
    trials = settings.track(range(settings.trials), "The same rows")
    found = [_estimates(x, y, matrices, settings.rng("same", trial)) for trial in trials]
    return exact_values(matrices), _stacked(found)


def on_new_rows(settings: Settings) -> Values:
    """Return the values of all methods, the exact one too, on new rows for each trial."""
    found = []
    for trial in settings.track(range(settings.trials), "New rows"):
        x, y = ring(N_ROWS, settings.rng("new rows", trial))
        matrices = kernel_matrices(x, y)
        values = _estimates(x, y, matrices, settings.rng("new", trial))
        for estimator, squares in exact_values(matrices).items():
            values[estimator, "exact"] = squares
        found.append(values)
    return _stacked(found)


def _stacked(found: list[dict[tuple[Estimator, str], FloatArray]]) -> Values:
    """Return an array of shape (trials, bandwidths) for each estimator and method."""
    return {key: np.array([values[key] for values in found]) for key in found[0]}


def _estimates(
    x: FloatArray,
    y: FloatArray,
    matrices: tuple[FloatArray, ...],
    rng: np.random.Generator,
) -> dict[tuple[Estimator, str], FloatArray]:
    """Return the values of all methods by one draw of frequencies and of orders."""
    seed = int(rng.integers(2**63))
    orders = rng.permutation(len(x)), rng.permutation(len(y))
    values: dict[tuple[Estimator, str], FloatArray] = {}
    for method, sampling in SAMPLINGS.items():
        for estimator, squares in feature_values(x, y, sampling, seed).items():
            values[estimator, method] = squares
    values["unbiased", "linear"] = linear_values(matrices, *orders)
    values["unbiased", "block"] = block_values(matrices, *orders)
    return values
