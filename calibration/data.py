"""Samples for the simulations: null data, alternatives, and real data where available."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Draw = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]

KINDS = ("normal", "t2", "lognormal", "bernoulli", "poisson")


def draw(kind: str, n_rows: int, n_columns: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows of one of the kinds of data; the last two have many ties."""
    shape = (n_rows, n_columns)
    match kind:
        case "normal":
            return rng.standard_normal(shape)
        case "t2":
            return rng.standard_t(2, shape)
        case "lognormal":
            return np.exp(rng.standard_normal(shape))
        case "bernoulli":
            return (rng.random(shape) < 0.3).astype(float)
        case "poisson":
            return rng.poisson(2.0, shape).astype(float)
    msg = f"`kind` must be one of {', '.join(KINDS)}; got {kind!r}."
    raise ValueError(msg)


def in_order(rows: np.ndarray) -> np.ndarray:
    """Return the rows sorted by their first column, as in a sorted file."""
    return rows[np.argsort(rows[:, 0], kind="stable")]


@dataclass(frozen=True)
class Scenario:
    """Two distributions and how to draw from them."""

    name: str
    text: str
    draw: Draw
    held_out: bool = False


def blobs(
    n: int, ratio: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return 5 x 5 blobs 5 apart: round ones, and ones of the same trace, eigenvalues 1:ratio."""
    correlation = (ratio - 1.0) / (ratio + 1.0)
    x, y = (
        5.0 * rng.integers(5, size=(n, 2)) + noise
        for noise in (rng.standard_normal((n, 2)), correlated(n, 2, correlation, rng))
    )
    return x, y


def correlated(
    n: int, n_columns: int, correlation: float, rng: np.random.Generator
) -> np.ndarray:
    """Return normal rows whose first two columns are correlated."""
    rows = rng.standard_normal((n, n_columns))
    rest = np.sqrt(1.0 - correlation**2)
    rows[:, 1] = correlation * rows[:, 0] + rest * rows[:, 1]
    return rows


def stretched(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the blobs with eigenvalues 2 and 1 along the diagonals against round ones."""
    x = 5.0 * rng.integers(5, size=(n, 2)) + rng.standard_normal((n, 2))
    noise = rng.standard_normal((n, 2)) * np.sqrt([2.0, 1.0])
    turn = np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2.0)
    return x, 5.0 * rng.integers(5, size=(n, 2)) + noise @ turn


def shifted(
    n: int, n_columns: int, shift: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return normal rows and normal rows with one column moved."""
    x, y = rng.standard_normal((2, n, n_columns))
    y[:, 0] += shift
    return x, y


def scaled(
    n: int, n_columns: int, factor: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return normal rows and wider ones."""
    x, y = rng.standard_normal((2, n, n_columns))
    return x, factor * y


def perturbed_uniform(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return uniform numbers and ones whose density has four smooth bumps up and down."""
    bumps, amplitude = 4, 2.7 / 4.0

    def bump(t: np.ndarray) -> np.ndarray:
        result = np.zeros_like(t)
        for centre, sign in ((-0.75, 1.0), (-0.25, -1.0)):
            inside = np.abs(4.0 * (t - centre)) < 1.0
            u = 4.0 * (t[inside] - centre)
            result[inside] += sign * np.exp(-1.0 / (1.0 - u**2))
        return result

    signs = rng.choice([-1.0, 1.0], size=bumps)
    kept = np.empty(0)
    while kept.size < n:
        u = rng.random(4 * n)
        wave = sum(s * bump(bumps * u - i - 1.0) for i, s in enumerate(signs))
        kept = np.append(kept, u[2.0 * rng.random(u.size) < 1.0 + amplitude * wave])
    return rng.random((n, 1)), kept[:n, None]


def small_cluster(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return normal rows in 10 columns, 2 % of one sample moved into a tight cluster."""
    x, y = rng.standard_normal((2, n, 10))
    inside = rng.random(n) < 0.02
    centre = rng.standard_normal(10)
    y[inside] = centre + 0.1 * rng.standard_normal((int(inside.sum()), 10))
    return x, y


def cluster_spread(
    n: int, variance: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return 30 clusters in 3 columns, and the same clusters with less variance."""
    centres = 3.0 * rng.standard_normal((30, 3))
    unit, other = (
        centres[rng.integers(30, size=n)] + width * rng.standard_normal((n, 3))
        for width in (0.5, 0.5 * np.sqrt(variance))
    )
    return unit, other


def heavy_shift(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return Student t2 rows in 5 columns, one sample moved by 0.35 in one of them."""
    x, y = rng.standard_t(2, (2, n, 5))
    y[:, 0] += 0.35
    return x, y


SYNTHETIC = (
    Scenario(
        "blobs 3",
        "5 x 5 blobs 5 apart, eigenvalue ratio 3 against 1, n = 1000",
        lambda rng: blobs(1000, 3.0, rng),
    ),
    Scenario(
        "blobs E2",
        "blobs, eigenvalues (2, 1) against (1, 1), n = 1000",
        lambda rng: stretched(1000, rng),
    ),
    Scenario(
        "shift 20",
        "normal, 20 columns, one moved by 0.2, n = 1000",
        lambda rng: shifted(1000, 20, 0.2, rng),
    ),
    Scenario(
        "scale 5",
        "normal, 5 columns, 1.07 times as wide, n = 1000",
        lambda rng: scaled(1000, 5, 1.07, rng),
    ),
    Scenario(
        "perturbed",
        "uniform against four smooth bumps, 1 column, n = 1000",
        lambda rng: perturbed_uniform(1000, rng),
    ),
    Scenario(
        "t2 shift",
        "Student t2, 5 columns, one moved by 0.35, n = 500",
        lambda rng: heavy_shift(500, rng),
    ),
    Scenario(
        "cluster",
        "normal, 10 columns, 2 % of rows in a tight cluster, n = 1000",
        lambda rng: small_cluster(1000, rng),
    ),
    Scenario(
        "correlation 8",
        "normal, 8 columns, two correlated by 0.39, n = 1000",
        lambda rng: (rng.standard_normal((1000, 8)), correlated(1000, 8, 0.39, rng)),
        held_out=True,
    ),
    Scenario(
        "shift 50",
        "normal, 50 columns, one moved by 0.25, n = 1000",
        lambda rng: shifted(1000, 50, 0.25, rng),
        held_out=True,
    ),
    Scenario(
        "clusters 3",
        "30 clusters in 3 columns, variance within 0.62 times, n = 1000",
        lambda rng: cluster_spread(1000, 0.62, rng),
        held_out=True,
    ),
)


def real_scenarios(folder: Path | None) -> list[Scenario]:
    """Return the scenarios on real data whose files are in `folder`."""
    if folder is None or not folder.is_dir():
        print("scenarios on real data are skipped: no folder given by --data")
        return []
    makers = {
        "eeg_eye_state.npz": _eeg,
        "covertype_11k.npz": _covertype,
        "gvhd_flow_cytometry.npz": _gvhd,
        "spambase.npz": _spambase,
        "mnist_7x7.npz": _mnist,
    }
    found = []
    for name, make in makers.items():
        if (folder / name).exists():
            with np.load(folder / name, allow_pickle=False) as arrays:
                found.extend(make(arrays))
        else:
            print(f"{name} is not in {folder}: its scenario is skipped")
    return found


def _mixed(
    name: str, text: str, pools: tuple[np.ndarray, np.ndarray], share: float
) -> Scenario:
    """Return one class against the same class with a share of the other mixed in."""
    both = np.concatenate(pools).astype(float)
    spread = both.std(axis=0)
    own, other = (
        (p - both.mean(axis=0)) / np.where(spread > 0, spread, 1) for p in pools
    )

    def pair(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        # Without replacement: no row appears twice.
        n_other = int(rng.binomial(500, share))
        chosen = rng.permutation(len(own))[: 1000 - n_other]
        foreign = other[rng.permutation(len(other))[:n_other]]
        return own[chosen[:500]], np.concatenate((own[chosen[500:]], foreign))

    return Scenario(
        name, f"{text}, share {share:g} mixed in, n = 500", pair, held_out=True
    )


def _eeg(arrays: dict[str, np.ndarray]) -> list[Scenario]:
    rows, closed = arrays["X"].astype(float), arrays["eye_closed"]
    usual = (np.abs(rows - np.median(rows, axis=0)) < 500).all(axis=1)
    pools = tuple(rows[usual & (closed == value)] for value in (0, 1))
    return [_mixed("EEG", "EEG Eye State (14 columns), open and closed", pools, 0.35)]


def _covertype(arrays: dict[str, np.ndarray]) -> list[Scenario]:
    pools = tuple(arrays["X"][arrays["cover_type"] == value] for value in (1, 2))
    text = "Covertype (10 columns), types 1 and 2"
    return [
        _mixed("Covertype", text, pools, 0.422),
        replace(_mixed("Covertype, weak", text, pools, 0.2), held_out=False),
    ]


def _gvhd(arrays: dict[str, np.ndarray]) -> list[Scenario]:
    pools = (arrays["control"], arrays["positive"])
    text = "GvHD flow cytometry (4 columns), control and patient"
    return [_mixed("flow cytometry", text, pools, 0.135)]


def _spambase(arrays: dict[str, np.ndarray]) -> list[Scenario]:
    pools = tuple(arrays["X"][arrays["spam"] == value] for value in (0, 1))
    return [_mixed("Spambase", "Spambase (57 columns), mail and spam", pools, 0.13)]


def _mnist(arrays: dict[str, np.ndarray]) -> list[Scenario]:
    rows, digit = arrays["pixel_sum"] / 4080.0, arrays["digit"]
    some = np.flatnonzero(np.isin(digit, (0, 1, 2, 3, 4, 5, 7, 9)))

    def pair(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return rows[rng.integers(len(rows), size=500)], rows[rng.choice(some, size=500)]

    text = "MNIST 7 x 7 (49 columns), all digits against eight of them, n = 500"
    return [Scenario("MNIST", text, pair)]
