"""Frequencies: laws, orthogonality, balance, and Fastfood's chain of matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.stats

import fastmmd
from fastmmd.frequencies import choose_sampling, draw_fastfood, draw_frequencies

RADIAL = [
    fastmmd.Gaussian(1.3),
    fastmmd.Matern(1.3, nu=0.5),
    fastmmd.Matern(1.3, nu=2.5),
    fastmmd.RationalQuadratic(1.3, alpha=0.5),
    fastmmd.Mixture([fastmmd.Gaussian(0.7), fastmmd.Matern(2.0, nu=1.5)], [1.0, 3.0]),
    2.0 * fastmmd.Gaussian(1.3),
    fastmmd.SpectralKernel(lambda n, d, rng: rng.normal(size=(n, d)), radial=True),
]
PRODUCT = [fastmmd.Laplace(1.3), fastmmd.Cauchy(1.3)]

# False alarms at most once in about 10^6 runs of a comparison with normal errors.
FIVE_SIGMA = 4.9


def mean_cosine_and_error(draws, delta):
    """Mean over independent draws of the mean cosine, and its standard error."""
    means = np.array([np.cos(w @ delta).mean() for w in draws])
    return means.mean(), means.std(ddof=1) / np.sqrt(len(means))


@pytest.mark.parametrize("kernel", RADIAL, ids=repr)
@pytest.mark.parametrize(
    ("sampling", "n_columns"),
    [("orthogonal", 1), ("orthogonal", 3), ("orthogonal", 5), ("stratified", 3)],
)
def test_orthogonal_draws_are_unbiased_for_every_radial_kernel(
    kernel, sampling, n_columns, rng
):
    delta = np.linspace(0.3, 0.9, n_columns)
    draws = [
        draw_frequencies(kernel, 64, n_columns, sampling=sampling, rng=rng).frequencies
        for _ in range(300)
    ]
    mean, error = mean_cosine_and_error(draws, delta)
    expected = (
        np.exp(-delta @ delta / 2)
        if isinstance(kernel, fastmmd.SpectralKernel)
        else kernel(delta) / kernel.at_zero
    )
    assert abs(mean - expected) < FIVE_SIGMA * error + 1e-12


@pytest.mark.parametrize("kernel", [*RADIAL[:6], *PRODUCT], ids=repr)
@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.parametrize("n_frequencies", [7, 64, 100])
def test_sobol_draws_are_unbiased(kernel, n_columns, n_frequencies, rng):
    delta = np.linspace(0.3, 0.9, n_columns)
    draws = [
        draw_frequencies(
            kernel, n_frequencies, n_columns, sampling="sobol", rng=rng
        ).frequencies
        for _ in range(100)
    ]
    mean, error = mean_cosine_and_error(draws, delta)
    assert abs(mean - kernel(delta) / kernel.at_zero) < FIVE_SIGMA * error + 1e-12


@pytest.mark.parametrize(
    ("n_frequencies", "n_columns"), [(12, 4), (10, 4), (3, 8), (100, 4)]
)
def test_directions_are_exactly_orthogonal_within_blocks(n_frequencies, n_columns, rng):
    drawn = draw_frequencies(
        fastmmd.Gaussian(1.0), n_frequencies, n_columns, sampling="orthogonal", rng=rng
    )
    assert drawn.group_sizes.sum() == n_frequencies
    edges = np.concatenate([[0], np.cumsum(drawn.group_sizes)])
    for group in np.split(drawn.frequencies, edges[1:-1]):
        for start in range(0, len(group), n_columns):
            block = group[start : start + n_columns]
            directions = block / np.linalg.norm(block, axis=1, keepdims=True)
            # A QR factor is orthogonal to a small multiple of n_columns times epsilon.
            np.testing.assert_allclose(
                directions @ directions.T,
                np.eye(len(block)),
                atol=50 * np.finfo(float).eps,
            )


def test_orthogonal_lengths_follow_the_kernels_radial_law(rng):
    # For Matern nu the squared length over n_columns has the F(n_columns, 2 nu) law.
    kernel = fastmmd.Matern(1.0, nu=1.5)
    drawn = draw_frequencies(kernel, 4000, 5, sampling="orthogonal", rng=rng).frequencies
    squares = np.square(drawn).sum(axis=1) / 5
    assert scipy.stats.kstest(squares, scipy.stats.f(5, 3).cdf).pvalue > 1e-6


def test_orthogonal_directions_are_uniform(rng):
    # The angle of the first direction of 2-D blocks, over many blocks.
    # 500 in each of 8 groups: blocks of 2 start at even numbers.
    drawn = draw_frequencies(
        fastmmd.Gaussian(1.0), 4000, 2, sampling="orthogonal", rng=rng
    ).frequencies[::2]
    angles = np.arctan2(drawn[:, 1], drawn[:, 0]) / (2 * np.pi) + 0.5
    assert scipy.stats.kstest(angles, "uniform").pvalue > 1e-6


def test_better_draws_err_less_than_independent_ones(rng):
    # Variance ratios of 200 draws: a ratio of 2 in the population falls below 1 with
    # probability under 1e-6 (F with 199 and 199 degrees of freedom).
    def variance(sampling, n_columns):
        delta = np.full(n_columns, 1.0 / np.sqrt(n_columns))
        means = [
            np.cos(
                draw_frequencies(
                    fastmmd.Gaussian(1.0), 64, n_columns, sampling=sampling, rng=rng
                ).frequencies
                @ delta
            ).mean()
            for _ in range(200)
        ]
        return np.var(means)

    assert variance("sobol", 2) < variance("iid", 2)
    assert variance("orthogonal", 16) < variance("iid", 16)


def test_a_draw_is_repeatable_and_depends_on_the_seed():
    kernel = fastmmd.Matern(1.0, nu=1.5)
    for sampling in ("iid", "orthogonal", "sobol", "stratified"):
        first, again, other = (
            draw_frequencies(kernel, 33, 3, sampling=sampling, rng=seed).frequencies
            for seed in (1, 1, 2)
        )
        np.testing.assert_array_equal(first, again)
        assert not np.allclose(first, other)


def test_groups_cover_all_frequencies():
    for sampling in ("iid", "orthogonal", "sobol", "stratified"):
        for n_frequencies in (1, 5, 8, 100):
            drawn = draw_frequencies(
                fastmmd.Gaussian(1.0), n_frequencies, 3, sampling=sampling, rng=0
            )
            assert drawn.n_frequencies == drawn.group_sizes.sum() == n_frequencies


@pytest.mark.parametrize("sampling", ["orthogonal", "stratified"])
def test_lengths_need_a_radial_kernel(sampling):
    message = f'not radial; got "{sampling}" with'
    with pytest.raises(fastmmd.UnsupportedKernelError, match=message):
        draw_frequencies(fastmmd.Laplace(1.0), 4, 2, sampling=sampling)


def test_sobol_needs_a_kernel_that_maps_uniforms():
    kernel = fastmmd.SpectralKernel(lambda n, d, rng: rng.normal(size=(n, d)))
    with pytest.raises(fastmmd.UnsupportedKernelError, match="cannot take quasi-random"):
        draw_frequencies(kernel, 4, 2, sampling="sobol")


def test_auto_sampling_by_kernel_and_columns():
    assert choose_sampling(fastmmd.Gaussian(1.0), 2, 64) == "sobol"
    assert choose_sampling(fastmmd.Gaussian(1.0), 64, 64) == "orthogonal"
    # Few directions in many columns are nearly orthogonal by themselves.
    assert choose_sampling(fastmmd.Gaussian(1.0), 64, 9) == "orthogonal"
    assert choose_sampling(fastmmd.Gaussian(1.0), 64, 8) == "stratified"
    assert choose_sampling(fastmmd.Gaussian(1.0), 2, 1) == "sobol"
    assert choose_sampling(fastmmd.Laplace(1.0), 2, 64) == "sobol"
    assert choose_sampling(fastmmd.Laplace(1.0), 64, 64) == "iid"
    assert choose_sampling(fastmmd.Laplace(1.0), 64, 1) == "iid"
    plain = fastmmd.SpectralKernel(lambda n, d, rng: rng.normal(size=(n, d)))
    assert choose_sampling(plain, 2, 64) == "iid"


@pytest.mark.parametrize(
    ("n_frequencies", "n_columns"), [(1, 1), (5, 1), (8, 4), (10, 5), (3, 100), (33, 6)]
)
def test_fastfood_projection_is_its_chain_of_matrices(n_frequencies, n_columns, rng):
    drawn = draw_fastfood(fastmmd.Gaussian(0.7), n_frequencies, n_columns, rng=rng)
    blocks = drawn.blocks
    padded = blocks.signs.shape[1]
    hadamard = scipy.linalg.hadamard(padded).astype(float)
    parts = []
    for b in range(len(blocks.signs)):
        permutation = np.eye(padded)[blocks.order[b]]
        parts.append(
            np.diag(blocks.scales[b])
            @ hadamard
            @ np.diag(blocks.normals[b])
            @ permutation
            @ hadamard
            @ np.diag(blocks.signs[b])
        )
    dense = np.concatenate(parts)[:n_frequencies, :n_columns]
    rows = rng.normal(size=(7, n_columns))
    expected = (rows - 0.5) @ dense.T
    # 2 log2(padded) additions of terms whose total size is below padded * |phase|.
    atol = 4 * padded * np.finfo(float).eps * np.abs(expected).max()
    center = np.full(n_columns, 0.5)
    np.testing.assert_allclose(drawn.project(rows, center), expected, atol=atol)
    np.testing.assert_allclose(drawn.to_dense(), dense, atol=atol)


@pytest.mark.parametrize("kernel", RADIAL[:6], ids=repr)
@pytest.mark.parametrize("n_columns", [1, 3, 8])
def test_fastfood_is_unbiased_for_every_radial_kernel(kernel, n_columns, rng):
    delta = np.linspace(0.3, 0.9, n_columns)
    draws = [draw_fastfood(kernel, 16, n_columns, rng=rng).to_dense() for _ in range(400)]
    mean, error = mean_cosine_and_error(draws, delta)
    assert abs(mean - kernel(delta) / kernel.at_zero) < FIVE_SIGMA * error


def test_fastfood_lengths_are_the_radii_of_the_padded_law(rng):
    # Without padding (8 columns) every row's length is chi with 8 degrees of freedom.
    lengths = np.concatenate(
        [
            np.linalg.norm(
                draw_fastfood(fastmmd.Gaussian(1.0), 8, 8, rng=rng).to_dense(), axis=1
            )
            for _ in range(300)
        ]
    )
    assert scipy.stats.kstest(lengths, scipy.stats.chi(8).cdf).pvalue > 1e-6


def test_fastfood_refuses_kernels_that_are_not_radial():
    with pytest.raises(
        fastmmd.UnsupportedKernelError, match="must be radial for Fastfood"
    ):
        draw_fastfood(fastmmd.Cauchy(1.0), 8, 2)
