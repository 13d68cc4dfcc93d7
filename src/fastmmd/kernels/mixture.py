"""Weighted sums of kernels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fastmmd._random import as_generator
from fastmmd._validation import check_count, check_positive
from fastmmd.kernels.base import Kernel, Scaled

if TYPE_CHECKING:
    from fastmmd._backends.pairs import PairForm
    from fastmmd._typing import FloatArray, RNGLike


@final
class Mixture(Kernel):
    """The kernel ``sum_i weights[i] * kernels[i]``.

    One kernel that sees several scales at once, such as a sum of Gaussians of different
    bandwidths.

    Parameters
    ----------
    kernels : sequence of Kernel
        At least one kernel.
    weights : sequence of float, optional
        Positive weights; by default equal and summing to 1.

    Notes
    -----
    A frequency comes from component ``i`` with probability proportional to
    ``weights[i] * kernels[i].at_zero``.

    Examples
    --------
    >>> import fastmmd
    >>> kernel = Mixture([fastmmd.Gaussian(1.0), fastmmd.Gaussian(4.0)])
    >>> kernel.at_zero, kernel.is_radial
    (1.0, True)
    """

    __slots__ = ("kernels", "weights")

    kernels: tuple[Kernel, ...]
    weights: tuple[float, ...]

    def __init__(
        self, kernels: Iterable[Kernel], weights: Iterable[float] | None = None
    ) -> None:
        # Anything may come in: annotations are not checked at run time.
        given: Any = kernels
        parts = tuple(given) if isinstance(given, Iterable) else ()
        if not parts or not all(isinstance(part, Kernel) for part in parts):
            msg = f"`kernels` must be a non-empty sequence of kernels; got {kernels!r}."
            raise TypeError(msg)
        factors = _check_weights(weights, len(parts))
        if len(factors) != len(parts):
            msg = (
                "`weights` must have one entry for each kernel; got "
                f"{len(factors)} weights for {len(parts)} kernels."
            )
            raise ValueError(msg)
        object.__setattr__(self, "kernels", parts)
        object.__setattr__(self, "weights", factors)

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"a kernel is a value and cannot be changed; `{name}` was assigned."
        raise AttributeError(msg)

    def __delattr__(self, name: str) -> None:
        msg = f"a kernel is a value and cannot be changed; `{name}` was deleted."
        raise AttributeError(msg)

    def __repr__(self) -> str:
        return f"Mixture({list(self.kernels)!r}, weights={list(self.weights)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mixture):
            return NotImplemented
        return (self.kernels, self.weights) == (other.kernels, other.weights)

    def __hash__(self) -> int:
        return hash((self.kernels, self.weights))

    def __reduce__(self) -> tuple[type[Mixture], tuple[object, object]]:
        return Mixture, (self.kernels, self.weights)

    def check(self, n_columns: int, /) -> None:
        for kernel in self.kernels:
            kernel.check(n_columns)

    @property
    def at_zero(self) -> float:
        return float(sum(self._masses()))

    @property
    def is_radial(self) -> bool:
        return all(kernel.is_radial for kernel in self.kernels)

    @property
    def draws_from_uniforms(self) -> bool:
        return all(kernel.draws_from_uniforms for kernel in self.kernels)

    def pair_forms(self) -> tuple[PairForm, ...]:
        parts = zip(self.kernels, self.weights, strict=True)
        return tuple(
            form
            for kernel, weight in parts
            for form in Scaled(kernel, weight).pair_forms()
        )

    def uniforms_per_frequency(self, n_columns: int, /) -> int:
        return 1 + max(k.uniforms_per_frequency(n_columns) for k in self.kernels)

    def frequencies_from_uniforms(
        self, uniforms: FloatArray, n_columns: int, /
    ) -> FloatArray:
        chosen = self._components(uniforms[:, 0])
        frequencies = np.empty((len(uniforms), n_columns))
        for i, kernel in enumerate(self.kernels):
            width = kernel.uniforms_per_frequency(n_columns)
            mine = chosen == i
            frequencies[mine] = kernel.frequencies_from_uniforms(
                uniforms[mine, 1 : 1 + width], n_columns
            )
        return frequencies

    def sample_frequencies(
        self, n_frequencies: int, /, *, n_columns: int, rng: RNGLike = None
    ) -> FloatArray:
        if self.draws_from_uniforms:
            return Kernel.sample_frequencies(
                self, n_frequencies, n_columns=n_columns, rng=rng
            )
        n_frequencies = check_count(n_frequencies, name="n_frequencies")
        n_columns = check_count(n_columns, name="n_columns")
        generator = as_generator(rng)
        chosen = self._components(generator.random(n_frequencies))
        frequencies = np.empty((n_frequencies, n_columns))
        for i, kernel in enumerate(self.kernels):
            mine = np.flatnonzero(chosen == i)
            if mine.size:
                frequencies[mine] = kernel.sample_frequencies(
                    mine.size, n_columns=n_columns, rng=generator
                )
        return frequencies

    def second_moment(self, n_columns: int, /) -> float:
        masses = self._masses()
        moments = (kernel.second_moment(n_columns) for kernel in self.kernels)
        return sum(w * m for w, m in zip(masses, moments, strict=True)) / sum(masses)

    def _masses(self) -> list[float]:
        parts = zip(self.kernels, self.weights, strict=True)
        return [weight * kernel.at_zero for kernel, weight in parts]

    def _components(
        self, uniforms: FloatArray
    ) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        masses = np.cumsum(self._masses())
        edges = masses[:-1] / masses[-1]
        return np.searchsorted(edges, uniforms, side="right")


def _check_weights(weights: Any, n_kernels: int) -> tuple[float, ...]:
    if weights is None:
        return (1.0 / n_kernels,) * n_kernels
    if not isinstance(weights, Iterable):
        msg = f"`weights` must be a sequence of numbers; got {weights!r}."
        raise TypeError(msg)
    return tuple(check_positive(weight, name="weights") for weight in weights)
