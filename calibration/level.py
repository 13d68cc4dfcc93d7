"""Level of the tests: those that claim to be exact, and the asymptotic ones."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from data import draw, in_order
from internals import assemble
from simulate import Cell

import fastmmd
from fastmmd import Block, Fastfood, Fourier, Gaussian, Linear, Permutation
from fastmmd.nulls import gamma_pvalue, pearson_pvalue, spectrum_pvalue

if TYPE_CHECKING:
    from collections.abc import Iterator

    Sizes = tuple[int, ...]

FEW = Fourier(64)
"""The level does not depend on the number of frequencies, the time does."""

RESAMPLES = 199
"""Both 0.05 and 0.01 are multiples of 1 / (199 + 1)."""


def _samples(
    kind: str, sizes: Sizes, n_columns: int, rng: np.random.Generator, order: str
) -> list[np.ndarray]:
    drawn = [draw(kind, n, n_columns, rng) for n in sizes]
    return [in_order(rows) for rows in drawn] if order == "sorted" else drawn


def _exact(result: Any) -> dict[str, float]:
    if result.level_is != "exact":
        return {"mean asymptotic": 1.0}
    return {"p": result.pvalue}


def arrays(
    rng: np.random.Generator, *, kind: str, sizes: Sizes, order: str, **test: Any
) -> dict[str, float]:
    """Return the p-value of `two_sample_test` on data of one kind."""
    x, y = _samples(kind, sizes, 2, rng, order)
    seed = int(rng.integers(2**31))
    return _exact(fastmmd.two_sample_test(x, y, n_resamples=RESAMPLES, rng=seed, **test))


def several(
    rng: np.random.Generator, *, kind: str, sizes: Sizes, order: str, **test: Any
) -> dict[str, float]:
    """Return the p-value of `k_sample_test`."""
    samples = _samples(kind, sizes, 2, rng, order)
    seed = int(rng.integers(2**31))
    return _exact(
        fastmmd.k_sample_test(*samples, n_resamples=RESAMPLES, rng=seed, **test)
    )


def clustered(
    rng: np.random.Generator, *, groups: Sizes, most: int, **test: Any
) -> dict[str, float]:
    """Return the p-value with groups of unequal size whose rows are alike."""
    samples, names = [], []
    for part, n_groups in enumerate(groups):
        sizes = rng.integers(1, most + 1, size=n_groups)
        centres = rng.standard_normal((n_groups, 2))
        code = np.repeat(np.arange(n_groups), sizes)
        samples.append(centres[code] + 0.5 * rng.standard_normal((len(code), 2)))
        names.append(2 * code + part)
    seed = int(rng.integers(2**31))
    return _exact(
        fastmmd.two_sample_test(
            *samples, groups=tuple(names), n_resamples=RESAMPLES, rng=seed, **test
        )
    )


def sketched(
    rows: np.ndarray, empty: fastmmd.Sketch, way: str, rng: np.random.Generator
) -> fastmmd.Sketch:
    """Return a sketch of rows: in one batch, in odd batches, or merged from parts."""

    def stream() -> int:
        return int(rng.integers(2**62))

    if way == "merged":
        parts = []
        for part in np.array_split(rows, 5):
            parts.append(empty.like(stream=stream()))
            parts[-1].update(part)
        return sum(parts)
    sketch = empty.like(stream=stream())
    step = len(rows) // 7 + 1 if way == "odd batches" else len(rows)
    for batch in np.split(rows, range(1 + step % 2, len(rows), step)):
        sketch.update(batch)
    return sketch


def sketches(
    rng: np.random.Generator,
    *,
    kind: str,
    sizes: Sizes,
    order: str,
    way: str = "one batch",
    bandwidths: tuple[float, ...] | str = (1.0,),
    null: str = "permutation",
    names: tuple[str, str] | None = None,
    n_bins: int = 64,
) -> dict[str, float]:
    """Return the p-value of `compare`; "p" if exact, else "asymptotic"."""
    x, y = _samples(kind, sizes, 2, rng, order)
    if bandwidths == "of x":
        bandwidths = (fastmmd.bandwidth.median_bandwidth(x[::2], x[1::2], rng=0),)
    kernels = [Gaussian(bandwidth) for bandwidth in bandwidths]
    empty = fastmmd.Sketch(kernels, 2, n_frequencies=64, n_bins=n_bins)
    if names is None:
        made = [sketched(rows, empty, way, rng) for rows in (x, y)]
    else:
        made = [empty.like(stream=name) for name in names]
        for sketch, rows in zip(made, (x, y), strict=True):
            sketch.update(rows)
    seed = int(rng.integers(2**31))
    result = fastmmd.compare(*made, null=null, n_resamples=RESAMPLES, rng=seed)
    return {"p" if result.level_is == "exact" else "asymptotic": result.pvalue}


def _cell(
    group: str, sizes: Sizes, data: str, runs: int, run: Any, /, **more: Any
) -> Cell:
    kind, _, order = data.partition(", ")
    name = f"{group}; {' + '.join(map(str, sizes))}; {data}"
    about = {"group": group, "sizes": list(sizes), "data": data}
    call = partial(run, kind=kind, sizes=sizes, order=order, **more)
    return Cell(name, about, call, runs)


def exact_cells() -> Iterator[Cell]:
    """Yield the settings in which the level is claimed to be exact."""
    yield from _array_cells()
    yield from _sketch_cells()
    yield from _several_cells()


def _array_cells() -> Iterator[Cell]:
    big, uneven, far, small = (1000, 1000), (200, 800), (20_000, 500), (10, 12)
    name = "arrays, adaptive, exact"
    yield _cell(name, uneven, "normal, sorted", 500, arrays)
    for data in ("normal, sorted", "poisson"):
        yield _cell(name, big, data, 300, arrays)
    for data in ("normal", "bernoulli"):
        yield _cell(name, small, data, 2000, arrays)
    for data in ("normal", "poisson"):
        yield _cell(name, (3, 5), data, 2000, arrays)
    name = "arrays, adaptive, Fourier"
    yield _cell(name, far, "normal, sorted", 300, arrays, method=FEW)
    yield _cell(name, big, "bernoulli", 300, arrays, method=FEW)
    one = {"kernel": Gaussian(1.0)}
    for sizes, data in (
        (big, "normal, sorted"),
        (uneven, "bernoulli"),
        (far, "normal, sorted"),
        (small, "poisson"),
        ((3, 5), "normal"),
    ):
        name = "arrays, one kernel, Fourier"
        yield _cell(name, sizes, data, 2000, arrays, method=FEW, **one)
    name = "arrays, one kernel, exact"
    for sizes, data, runs in (
        (uneven, "poisson, sorted", 1000),
        (small, "bernoulli", 2000),
    ):
        yield _cell(name, sizes, data, runs, arrays, method="exact", **one)
    name, fast = "arrays, one kernel, Fastfood", Fastfood(64)
    yield _cell(name, uneven, "t2, sorted", 1000, arrays, method=fast, **one)
    name, rows = (
        "arrays, one kernel, rows",
        {"method": FEW, "null": Permutation(rows=True)},
    )
    yield _cell(name, (300, 400), "normal, sorted", 500, arrays, **rows, **one)


def _sketch_cells() -> Iterator[Cell]:
    big, uneven, far = (1000, 1000), (200, 800), (20_000, 500)
    auto = {"n_bins": 256, "null": "auto"}
    yield _cell("sketches, 256 slots", big, "normal, sorted", 1000, sketches, **auto)
    yield _cell("sketches, 256 slots", (10, 12), "normal", 1000, sketches, **auto)
    yield _cell("sketches, 64 slots", big, "normal, sorted", 2000, sketches)
    name = "sketches, 256 slots, permutation asked for"
    yield _cell(name, far, "normal, sorted", 500, sketches, n_bins=256)
    for sizes, data, way in (
        (uneven, "poisson, sorted", "odd batches"),
        ((3000, 1000), "normal, sorted", "merged"),
    ):
        yield _cell(f"sketches, {way}", sizes, data, 1000, sketches, way=way)
    three = {"bandwidths": (2.0, 1.0, 0.5)}
    yield _cell("sketches, 3 kernels", big, "lognormal, sorted", 500, sketches, **three)
    name, fixed = 'sketches, streams "old" and "new" in every run', ("old", "new")
    yield _cell(name, big, "normal, sorted", 1000, sketches, names=fixed)
    name = "sketches, bandwidth from the first sample"
    for sizes in ((100, 1000), big):
        yield _cell(name, sizes, "t2", 1000, sketches, bandwidths="of x")


def _several_cells() -> Iterator[Cell]:
    few = {"kernel": Gaussian(1.0), "method": FEW}
    for groups, most, runs in (
        ((30, 50), 9, 1000),
        ((20, 5), 9, 1000),
        ((400, 300), 3, 200),
    ):
        name = f"groups of 1 to {most} rows, one kernel"
        about = {"group": name, "sizes": list(groups), "data": "normal, rows alike"}
        call = partial(clustered, groups=groups, most=most, **few)
        title = f"{name}; {' + '.join(map(str, groups))} groups"
        yield Cell(title, about, call, runs)
    name = "k samples, one kernel, Fourier"
    for sizes, data in (
        ((300, 200, 500), "normal, sorted"),
        ((2000, 50, 60, 70), "poisson, sorted"),
    ):
        yield _cell(name, sizes, data, 1000, several, **few)
    name = "k samples, adaptive, exact"
    yield _cell(name, (10, 12, 8), "bernoulli", 2000, several)


def analytic(
    rng: np.random.Generator,
    *,
    kind: str,
    n_columns: int,
    sizes: Sizes,
    bandwidth: float,
    method: Any,
) -> dict[str, float]:
    """Return the p-values of the analytic nulls on the bins that the test makes."""
    x, y = (draw(kind, n, n_columns, rng) for n in sizes)
    seed = int(rng.integers(2**31))
    kernel = Gaussian(bandwidth)
    by_rows = method == "exact" and sum(sizes) <= 2048
    made = assemble(x, y, rng=seed, kernel=kernel, method=method, by_rows=by_rows)
    found = {
        "gamma": gamma_pvalue(made.bins),
        "pearson": pearson_pvalue(made.bins),
        "spectrum": spectrum_pvalue(made.bins),
    }
    if seed % 100 == 0:  # the public function must say the same
        for null, p in found.items():
            result = fastmmd.two_sample_test(
                x, y, kernel=kernel, method=method, null=null, rng=seed
            )
            if not np.isclose(result.pvalue, p):
                msg = f"{null}: {result.pvalue} from the test, {p} from its bins"
                raise AssertionError(msg)
    return found


def normal_limit(
    rng: np.random.Generator, *, kind: str, n_columns: int, n: int, bandwidth: float
) -> dict[str, float]:
    """Return the p-values of the linear and block statistics."""
    x, y = (draw(kind, n, n_columns, rng) for _ in range(2))
    kernel = Gaussian(bandwidth)
    return {
        name: fastmmd.two_sample_test(x, y, kernel=kernel, method=method).pvalue
        for name, method in (("linear", Linear()), ("block", Block()))
    }


def asymptotic_cells() -> Iterator[Cell]:
    """Yield the settings of the asymptotic nulls."""
    # Kind, columns, bandwidth; the medians of the distances are about 3, 2.4, 1.9 and 1.
    kinds = {
        "normal, d = 5, bandwidth 3": ("normal", 5, 3.0),
        "t2, d = 5, bandwidth 1": ("t2", 5, 1.0),
        "lognormal, d = 2, bandwidth 1": ("lognormal", 2, 1.0),
        "bernoulli, d = 5, bandwidth 0.5": ("bernoulli", 5, 0.5),
        "normal, d = 20, bandwidth 2": ("normal", 20, 2.0),
    }
    names = tuple(kinds)
    plan = (
        ((100, 100), names[:3], FEW, 2000),
        ((1000, 1000), names[1:3], FEW, 1000),
        ((200, 800), names[3:], FEW, 1000),
        ((20_000, 500), names[1:2], FEW, 500),
        ((100, 100), names[1:2], "exact", 1000),
    )
    for sizes, some, method, runs in plan:
        for data in some:
            kind, n_columns, bandwidth = kinds[data]
            label = "arrays, exact" if method == "exact" else "arrays, Fourier"
            about = {"group": label, "sizes": list(sizes), "data": data}
            call = partial(
                analytic,
                kind=kind,
                n_columns=n_columns,
                sizes=sizes,
                bandwidth=bandwidth,
                method=method,
            )
            yield Cell(f"{label}; {sizes[0]} + {sizes[1]}; {data}", about, call, runs)
    for n in (100, 1000):
        for data in names[:4]:
            kind, n_columns, bandwidth = kinds[data]
            about = {"group": "arrays, means of terms", "sizes": [n, n], "data": data}
            call = partial(
                normal_limit, kind=kind, n_columns=n_columns, n=n, bandwidth=bandwidth
            )
            yield Cell(f"means of terms; {n} + {n}; {data}", about, call, 2000)
    family = (2.0, 1.0, 0.5, 0.25)
    for sizes, bandwidths, kind, runs in (
        ((3000, 100), (1.0,), "lognormal", 1000),
        ((3000, 100), family, "lognormal", 1000),
        ((20_000, 500), (1.0,), "normal", 500),
        ((20_000, 500), family, "normal", 300),
        ((5000, 100), (0.5,), "t2", 500),
    ):
        label = f"sketches, {len(bandwidths)} kernel{'s' * (len(bandwidths) > 1)}"
        data = f"{kind}, d = 2, sorted"
        about = {"group": label, "sizes": list(sizes), "data": data}
        call = partial(
            sketches,
            kind=kind,
            sizes=sizes,
            order="sorted",
            bandwidths=bandwidths,
            null="auto",
            n_bins=256 if len(bandwidths) == 1 else 128,
        )
        yield Cell(f"{label}; {sizes[0]} + {sizes[1]}; {data}", about, call, runs)
