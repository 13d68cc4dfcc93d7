"""Laws that hold without knowing the answer, over every way to ask for it.

A p-value does not grow when the difference grows; every way in gives the same verdict; order,
batches, shift and scale change nothing. The worst defect there was said p = 1 for a shift of
one standard deviation, because a score was larger than any test had tried.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import ways_in

import fastmmd

slow = pytest.mark.slow
"""Part of the full grid, which `make test-all` runs: the everyday ways run always."""

EVERYDAY = {ways_in.arrays, ways_in.parquet_files, ways_in.sketches, ways_in.two_of_k}
WAYS = [
    pytest.param(way, id=way.__name__, marks=() if way in EVERYDAY else slow)
    for way in ways_in.ALL
]
SIZES = [(30, 30), (40, 4_000), (4_000, 40), (3_000, 2_000)]
SOME_SIZES = [
    pytest.param(sizes, id=str(sizes), marks=() if sizes == (40, 4_000) else slow)
    for sizes in SIZES
]
EXTREME = [(9, 90_000), (70_000, 71_400), (20_000, 300_000)]

GROWING = (0.0, 0.3, 1.0, 3.0, 30.0, 3e3, 3e6)


def shifted(rng, n_x, n_y, size):
    x, y = rng.normal(size=(n_x, 2)), rng.normal(size=(n_y, 2))
    return x, y + size


def one_column_shifted(rng, n_x, n_y, size):
    x, y = rng.normal(size=(n_x, 5)), rng.normal(size=(n_y, 5))
    return x, y + size * (np.arange(5) == 3)


def wider(rng, n_x, n_y, size):
    x, y = rng.normal(size=(n_x, 2)), rng.normal(size=(n_y, 2))
    return x, y * (1.0 + 3.0 * size)


def narrower(rng, n_x, n_y, size):
    x, y = rng.normal(size=(n_x, 2)), rng.normal(size=(n_y, 2))
    return x, y / (1.0 + 3.0 * size)


def far_cluster(rng, n_x, n_y, size):
    """Move a share of the rows, up to all of them, elsewhere."""
    x, y = rng.normal(size=(n_x, 2)), rng.normal(size=(n_y, 2))
    y[rng.permutation(n_y) < n_y * min(size, 1.0)] += 20.0
    return x, y


def coins(rng, n_x, n_y, size):
    """Two values; their shares drift apart until each sample is constant."""
    share = 0.5 / (1.0 + size)
    x, y = rng.random((n_x, 1)), rng.random((n_y, 1))
    return (x < share) * 1.0, (y < 1.0 - share) * 1.0


DIFFERENCES = (shifted, one_column_shifted, wider, narrower, far_cluster, coins)


def monotone(pvalues, n_resamples=999):
    """Whether p-values fall, but for the chance of relabellings and of the data.

    Below 0.01 nothing is left to chance: what is found stays found.
    """
    for earlier, later in itertools.pairwise(pvalues):
        if earlier <= 0.01 and later > earlier + 3.0 / (n_resamples + 1):
            return False
    return True


def growing(way, difference, n_x, n_y, folder, seed=0, **options):
    results = []
    for size in GROWING:
        x, y = difference(np.random.default_rng(seed), n_x, n_y, size)
        results.append(way(x, y, folder, rng=0, **options))
    return [result.pvalue for result in results]


@pytest.mark.parametrize("sizes", SOME_SIZES)
@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("way", WAYS)
def test_the_pvalue_falls_as_the_difference_grows(way, difference, sizes, tmp_path):
    pvalues = growing(way, difference, *sizes, tmp_path)
    assert monotone(pvalues), pvalues
    assert pvalues[-1] <= 0.002, pvalues


@pytest.mark.parametrize(
    "sizes",
    [pytest.param(s, id=str(s), marks=slow if max(s) == 70_000 else ()) for s in EXTREME],
)
@pytest.mark.parametrize("difference", [shifted, coins], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "way",
    [ways_in.arrays, ways_in.pandas_frames, ways_in.parquet_files, ways_in.sketches],
    ids=lambda f: f.__name__,
)
def test_the_pvalue_falls_at_extreme_sizes(way, difference, sizes, tmp_path):
    pvalues = growing(way, difference, *sizes, tmp_path)
    assert monotone(pvalues), pvalues
    assert pvalues[-1] <= 0.002, pvalues


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "sizes", [(60, 45), pytest.param((400, 1_500), marks=slow)], ids=str
)
@pytest.mark.parametrize("method", ways_in.METHODS)
def test_the_pvalue_falls_whatever_the_method(method, difference, sizes, tmp_path):
    pvalues = growing(ways_in.METHODS[method], difference, *sizes, tmp_path)
    assert monotone(pvalues), pvalues
    if method not in ("linear", "block"):
        assert pvalues[-1] <= 0.002, pvalues


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "sizes", [(60, 45), pytest.param((100, 8_000), marks=slow)], ids=str
)
@pytest.mark.parametrize(
    "null", [pytest.param(n, marks=slow if "files" in n else ()) for n in ways_in.NULLS]
)
def test_the_pvalue_falls_whatever_the_null(null, difference, sizes, tmp_path):
    pvalues = growing(ways_in.NULLS[null], difference, *sizes, tmp_path)
    assert monotone(pvalues), pvalues
    assert pvalues[-1] < 1e-4, pvalues


@pytest.mark.parametrize("sizes", [*SIZES, (9, 90_000), (70_000, 71_400)], ids=str)
@pytest.mark.parametrize("size", [0.0, 5.0])
def test_every_way_in_gives_the_same_verdict(sizes, size, tmp_path):
    x, y = shifted(np.random.default_rng(1), *sizes, size)
    verdicts = {
        way.__name__: way(x, y, tmp_path, rng=0).pvalue <= 0.01 for way in ways_in.ALL
    }
    assert set(verdicts.values()) == {size > 0.0}, verdicts


def reordered(values, rng):
    return values[rng.permutation(len(values))]


CHANGES = {
    "moved": lambda v, _: v + 1e3,
    "moved far": lambda v, _: v - 2.0**33,
    "doubled": lambda v, _: 2.0 * v,
    "in other units": lambda v, _: 1e-9 * v,
    "turned round": lambda v, _: -v,
    "columns swapped": lambda v, _: v[:, ::-1],
    "reordered": reordered,
    "sorted": lambda v, _: v[np.argsort(v[:, 0])],
    "backwards": lambda v, _: v[::-1],
    "column-major": lambda v, _: np.asfortranarray(v),
}


@pytest.mark.parametrize("size", [0.0, 0.35, 5.0])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("way", [w for w in WAYS if w.id != "single_arrays"])
def test_what_is_no_difference_changes_no_verdict(way, change, size, tmp_path):
    x, y = shifted(np.random.default_rng(2), 700, 600, size)
    rng = np.random.default_rng(3)
    before = way(x, y, tmp_path, rng=0).pvalue
    after = way(CHANGES[change](x, rng), CHANGES[change](y, rng), tmp_path, rng=0).pvalue
    if size:
        assert before == after == 0.001
    else:
        assert min(before, after) > 0.01


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("size", [0.0, 0.35, 5.0])
def test_the_samples_may_be_swapped(way, size, tmp_path):
    x, y = shifted(np.random.default_rng(4), 700, 500, size)
    forth, back = way(x, y, tmp_path, rng=0), way(y, x, tmp_path, rng=0)
    assert (forth.pvalue == 0.001) == (back.pvalue == 0.001) == (size > 0.0)


@pytest.mark.parametrize("scale", [2.0, 2.0**-40, 2.0**60])
@pytest.mark.parametrize(
    "way", [ways_in.arrays, ways_in.sketches], ids=lambda f: f.__name__
)
def test_units_of_a_power_of_two_change_nothing_at_all(way, scale, tmp_path):
    x, y = shifted(np.random.default_rng(5), 900, 800, 0.1)
    before, after = (way(f * x, f * y, tmp_path, rng=0) for f in (1.0, scale))
    assert after.pvalue == before.pvalue
    # Features are rounded to 2**-22, and the effect here is a twentieth of its terms.
    assert after.effect_size == pytest.approx(before.effect_size, rel=1e-5)


@pytest.mark.parametrize("null", ["auto", "permutation", "gamma", "pearson", "spectrum"])
@pytest.mark.parametrize("noise", [0.0, 1e-9])
@pytest.mark.parametrize("sizes", [(30, 30), (20, 5_000), (1_000, 50_000)], ids=str)
def test_two_different_constants_differ(null, noise, sizes):
    rng = np.random.default_rng(6)
    x, y = (
        rng.normal(level, noise, size=(n, 1))
        for level, n in zip((0, 3), sizes, strict=True)
    )
    assert fastmmd.two_sample_test(x, y, null=null, rng=0).pvalue <= 0.001
    equal = fastmmd.two_sample_test(x, y - 3.0, null=null, rng=0)
    assert equal.pvalue > 0.01
