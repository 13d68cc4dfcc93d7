"""What every peer shares: the data, the description of a way to compute, the arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 2015
LEVEL = 0.05

Kind = Literal["estimate", "test", "ceiling"]


@dataclass(frozen=True)
class Problem:
    """Two samples, made from a seed so that every process has the same rows.

    The second sample is moved by `shift` in every `every`-th column. `n_rows` counts both
    samples; `density` below 1 makes sparse rows.
    """

    n_rows: int
    n_columns: int
    n_frequencies: int
    density: float = 1.0
    dtype: str = "float64"
    shift: float = 0.5
    every: int = 3
    seed: int = SEED

    def samples(self) -> tuple[Any, Any]:
        rng = np.random.default_rng([self.seed, self.n_columns])
        n_x = self.n_rows // 2
        x, y = (self._draw(rng, n) for n in (n_x, self.n_rows - n_x))
        if self.density < 1.0:
            moved = y.indices % self.every == 0
            y.data[moved] += y.dtype.type(self.shift)
        else:
            y[:, :: self.every] += y.dtype.type(self.shift)
        return x, y

    @property
    def bandwidth(self) -> float:
        """About the median distance, in closed form: the same kernel for everyone."""
        return math.sqrt(2.0 * self.n_columns * self.density)

    def smaller(self, factor: int) -> Problem:
        return replace(self, n_rows=max(4, self.n_rows // factor))

    def with_seed(self, seed: int) -> Problem:
        return replace(self, seed=seed)

    def _draw(self, rng: np.random.Generator, n: int) -> Any:
        shape, dtype = (n, self.n_columns), np.dtype(self.dtype)
        if self.density == 1.0:
            return rng.standard_normal(shape, dtype=dtype.type)
        import scipy.sparse

        # Column numbers drawn row by row: sampling without replacement from the whole
        # matrix would need a permutation of all its places.
        each = max(1, round(self.density * self.n_columns))
        columns = np.sort(
            np.stack([rng.choice(self.n_columns, each, replace=False) for _ in range(n)])
        )
        data = rng.standard_normal(n * each, dtype=dtype.type)
        starts = np.arange(n + 1) * each
        return scipy.sparse.csr_array((data, columns.ravel(), starts), shape=shape)


@dataclass
class Data:
    """A problem with its samples in memory."""

    problem: Problem
    x: Any
    y: Any

    @classmethod
    def make(cls, problem: Problem) -> Data:
        return cls(problem, *problem.samples())

    @property
    def bandwidth(self) -> float:
        return self.problem.bandwidth

    @property
    def n_frequencies(self) -> int:
        return self.problem.n_frequencies

    @property
    def is_sparse(self) -> bool:
        return self.problem.density < 1.0

    @property
    def n_bytes(self) -> int:
        return sum(
            s.data.nbytes + s.indices.nbytes + s.indptr.nbytes
            if self.is_sparse
            else s.nbytes
            for s in (self.x, self.y)
        )

    def frequencies(self, seed: int, dtype: str = "float64") -> np.ndarray:
        """Return independent frequencies of the Gaussian kernel, as a peer draws them."""
        rng = np.random.default_rng([SEED, seed])
        shape = (self.n_frequencies, self.problem.n_columns)
        w = rng.standard_normal(shape, dtype=np.dtype(dtype).type)
        w /= self.bandwidth
        return w


@dataclass(frozen=True)
class Way:
    """One way to compute: an estimate, the p-value of a test, or a ceiling.

    `run` gets the data and a seed and returns the number. `target` says which estimate
    it approaches, or is empty where the number is on another scale.
    """

    name: str
    run: Callable[[Data, int], float]
    kind: Kind = "estimate"
    target: Literal["unbiased", "biased", ""] = "unbiased"
    pairwise: bool = False  # time grows with the square of the rows
    random: bool = True  # another seed gives another number
    compiles: bool = False  # the first call builds something
    note: str = ""
    refuses: Callable[[Problem], str] | None = None


def only_dense(problem: Problem) -> str:
    return "takes no sparse rows" if problem.density < 1.0 else ""


def mmd2_from_means(
    mean_x: np.ndarray, mean_y: np.ndarray, n: int, m: int
) -> tuple[float, float]:
    """Return the unbiased and the biased squared MMD from complex feature means."""
    biased = np.mean(np.abs(mean_x - mean_y) ** 2)
    within_x = (n * np.mean(np.abs(mean_x) ** 2) - 1.0) / (n - 1)
    within_y = (m * np.mean(np.abs(mean_y) ** 2) - 1.0) / (m - 1)
    between = np.mean((mean_x * mean_y.conj()).real)
    return float(within_x + within_y - 2.0 * between), float(biased)


def mmd2_from_sums(
    sum_xx: float, sum_yy: float, sum_xy: float, n: int, m: int
) -> tuple[float, float]:
    """Return the same from sums of a kernel with k(x, x) = 1 over all ordered pairs."""
    biased = sum_xx / n**2 + sum_yy / m**2 - 2.0 * sum_xy / (n * m)
    within_x, within_y = (sum_xx - n) / (n * (n - 1)), (sum_yy - m) / (m * (m - 1))
    return within_x + within_y - 2.0 * sum_xy / (n * m), biased
