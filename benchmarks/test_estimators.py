"""Time of `mmd` by method, with the error it was bought at in ``extra_info``."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import fastmmd

N_ROWS = 2000
N_DRAWS = 8
METHODS = {
    "exact": fastmmd.Exact(),
    "fourier-iid": fastmmd.Fourier(1024, sampling="iid"),
    "fourier-orthogonal": fastmmd.Fourier(1024, sampling="orthogonal"),
    "fourier-sobol": fastmmd.Fourier(1024, sampling="sobol"),
    "fastfood": fastmmd.Fastfood(1024),
    "linear": fastmmd.Linear(),
    "block": fastmmd.Block(),
    "grid": fastmmd.Grid(),
}


@functools.cache
def _samples(n_columns):
    rng = np.random.default_rng([2015, n_columns])
    x = rng.normal(size=(N_ROWS, n_columns))
    y = 1.2 * rng.normal(size=(N_ROWS, n_columns)) + 0.2
    return x, y, fastmmd.Gaussian(np.sqrt(2.0 * n_columns))


@functools.cache
def _exact(n_columns):
    x, y, kernel = _samples(n_columns)
    return fastmmd.mmd(x, y, kernel=kernel, method="exact").mmd2


@pytest.mark.parametrize("n_columns", [2, 16, 256])
@pytest.mark.parametrize("name", METHODS)
def test_time_of_mmd(benchmark, name, n_columns):
    if name == "grid":
        pytest.importorskip("finufft")
        if n_columns > 3:
            pytest.skip("the grid takes at most 3 columns")
    x, y, kernel = _samples(n_columns)
    estimate = functools.partial(fastmmd.mmd, x, y, kernel=kernel, method=METHODS[name])
    benchmark(estimate, rng=0)
    n_draws = N_DRAWS if name.startswith(("fourier", "fastfood")) else 1
    errors = [estimate(rng=i).mmd2 / _exact(n_columns) - 1.0 for i in range(n_draws)]
    error = float(np.sqrt(np.mean(np.square(errors))))
    benchmark.extra_info["relative_rms_error"] = error
    # A broken method would be off by its whole value; linear is that noisy by nature.
    assert error < (10.0 if name == "linear" else 0.5)
