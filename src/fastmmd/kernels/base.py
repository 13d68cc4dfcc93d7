"""What every kernel is: a positive function of the difference, with a spectral law."""

from __future__ import annotations

import abc
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np

from fastmmd._backends.pairs import PairForm, pair_values
from fastmmd._errors import UnsupportedKernelError
from fastmmd._random import as_generator
from fastmmd._rows import check_samples
from fastmmd._validation import check_count, check_positive

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from fastmmd._typing import FloatArray, RNGLike, SampleLike

COLUMN_RULES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "squared": np.square,
    "absolute": np.abs,
    "log1p_squared": lambda t: np.log1p(np.square(t)),
}
"""The rules as functions of scaled differences."""


class Kernel(abc.ABC):
    """A kernel ``k(x, y) = kappa(x - y)`` that is positive definite in every dimension.

    By Bochner's theorem ``kappa(delta) = kappa(0) E cos(w @ delta)`` for frequencies
    ``w`` of some law; a kernel here is that function together with a way to draw from
    that law. Kernels are values: frozen, comparable, holding numbers only. Anything that
    must look at data first, such as the median bandwidth, is a separate rule.

    Examples
    --------
    >>> import fastmmd
    >>> kernel = fastmmd.Gaussian(2.0)
    >>> isinstance(kernel, fastmmd.Kernel), kernel.at_zero, kernel.is_radial
    (True, 1.0, True)
    >>> kernel([[0.0, 0.0], [2.0, 0.0]])
    array([1.        , 0.60653066])
    >>> kernel.sample_frequencies(5, n_columns=2, rng=0).shape
    (5, 2)
    """

    __slots__ = ()

    @property
    def at_zero(self) -> float:
        """``kappa(0)``, the kernel's value of a row with itself."""
        return 1.0

    @property
    def is_radial(self) -> bool:
        """Whether the value depends on the Euclidean distance alone."""
        return False

    @abc.abstractmethod
    def pair_forms(self) -> tuple[PairForm, ...]:
        """Return the terms whose sum is the kernel."""

    @property
    def draws_from_uniforms(self) -> bool:
        """Whether frequencies are a map of uniforms, as quasi-random draws need."""
        return True

    @abc.abstractmethod
    def uniforms_per_frequency(self, n_columns: int, /) -> int:
        """Return how many uniform numbers make one frequency."""

    @abc.abstractmethod
    def frequencies_from_uniforms(
        self, uniforms: FloatArray, n_columns: int, /
    ) -> FloatArray:
        """Map rows of uniforms in (0, 1) to frequencies.

        One map serves independent and quasi-random draws alike.
        """

    @abc.abstractmethod
    def second_moment(self, n_columns: int, /) -> float:
        """Return ``E |w|^2`` over the frequencies; infinite for rough kernels."""

    def check(self, n_columns: int, /) -> None:
        """Raise if the kernel is not what it says in this many columns.

        Kernels with a formula are; one given by the user is tried out.
        """
        check_count(n_columns, name="n_columns")

    def __str__(self) -> str:
        """Return the kernel with its numbers cut to four digits, for reading."""
        return re.sub(r"\d+\.\d+(e[-+]?\d+)?", lambda n: f"{float(n[0]):.4g}", repr(self))

    def __call__(self, differences: npt.ArrayLike, /) -> FloatArray:
        """Return ``kappa`` at differences of shape (..., n_columns)."""
        deltas = np.asarray(differences, dtype=np.float64)
        if deltas.ndim == 0:
            msg = "`differences` must have shape (..., n_columns); got a single number."
            raise ValueError(msg)
        total = np.zeros(deltas.shape[:-1])
        for form in self.pair_forms():
            t = deltas * form.scale
            sums = t if form.rule == "difference" else COLUMN_RULES[form.rule](t).sum(-1)
            values = np.asarray(form.profile(sums))
            if values.shape != total.shape:
                msg = (
                    "`value` must return one number for each difference, shape "
                    f"{total.shape} here; got shape {values.shape}."
                )
                raise ValueError(msg)
            total += form.weight * values
        return np.asarray(total)

    def gram(self, x: SampleLike, y: SampleLike, /) -> FloatArray:
        """Return the matrix of ``k(x[i], y[j])``, shape (n_x, n_y).

        For matrices that fit in memory several times over; `fastmmd.Exact` sums the same
        values without storing them.
        """
        blocks = [rows.block(0, rows.n_rows) for rows in check_samples(x, y)]
        total = np.zeros((blocks[0].shape[0], blocks[1].shape[0]))
        for form in self.pair_forms():
            total += form.weight * pair_values(*blocks, form=form)
        return total

    def sample_frequencies(
        self, n_frequencies: int, /, *, n_columns: int, rng: RNGLike = None
    ) -> FloatArray:
        """Draw independent rows ``w`` with ``kappa(0) E cos(w @ delta) = kappa(delta)``."""
        n_frequencies = check_count(n_frequencies, name="n_frequencies")
        n_columns = check_count(n_columns, name="n_columns")
        width = self.uniforms_per_frequency(n_columns)
        uniforms = open_uniforms(as_generator(rng).random((n_frequencies, width)))
        return self.frequencies_from_uniforms(uniforms, n_columns)

    def sample_radii(
        self, n_frequencies: int, /, *, n_columns: int, rng: RNGLike = None
    ) -> FloatArray:
        """Draw lengths ``|w|`` of frequencies, stratified where the law allows it.

        For radial kernels only. Each length has the kernel's radial law.
        """
        check_count(n_columns, name="n_columns")
        if not self.is_radial:
            msg = (
                f"`kernel` must be radial to draw directions and lengths apart; got "
                f'{self!r}. Use `Fourier(sampling="iid")` or `sampling="sobol"`.'
            )
            raise UnsupportedKernelError(msg)
        frequencies = self.sample_frequencies(n_frequencies, n_columns=n_columns, rng=rng)
        return np.linalg.norm(frequencies, axis=1)

    def __mul__(self, factor: float, /) -> Scaled:
        return Scaled(self, check_positive(factor, name="factor"))

    __rmul__ = __mul__


@final
@dataclass(frozen=True, slots=True)
class Scaled(Kernel):
    """A kernel times a positive factor, so that ``kappa(0)`` need not be 1.

    Written ``2.0 * Gaussian(1.0)``. The frequencies stay the same.

    Examples
    --------
    >>> import fastmmd
    >>> (2.0 * fastmmd.Gaussian(1.0)).at_zero
    2.0
    """

    kernel: Kernel
    factor: float

    def __post_init__(self) -> None:
        set_positive(self, "factor")

    def __repr__(self) -> str:
        return f"{self.factor!r} * {self.kernel!r}"

    @property
    def at_zero(self) -> float:
        return self.factor * self.kernel.at_zero

    @property
    def is_radial(self) -> bool:
        return self.kernel.is_radial

    def pair_forms(self) -> tuple[PairForm, ...]:
        return tuple(
            replace(form, weight=self.factor * form.weight)
            for form in self.kernel.pair_forms()
        )

    def uniforms_per_frequency(self, n_columns: int, /) -> int:
        return self.kernel.uniforms_per_frequency(n_columns)

    def frequencies_from_uniforms(
        self, uniforms: FloatArray, n_columns: int, /
    ) -> FloatArray:
        return self.kernel.frequencies_from_uniforms(uniforms, n_columns)

    def check(self, n_columns: int, /) -> None:
        self.kernel.check(n_columns)

    @property
    def draws_from_uniforms(self) -> bool:
        return self.kernel.draws_from_uniforms

    def sample_frequencies(
        self, n_frequencies: int, /, *, n_columns: int, rng: RNGLike = None
    ) -> FloatArray:
        return self.kernel.sample_frequencies(n_frequencies, n_columns=n_columns, rng=rng)

    def sample_radii(
        self, n_frequencies: int, /, *, n_columns: int, rng: RNGLike = None
    ) -> FloatArray:
        return self.kernel.sample_radii(n_frequencies, n_columns=n_columns, rng=rng)

    def second_moment(self, n_columns: int, /) -> float:
        return self.kernel.second_moment(n_columns)


def open_uniforms(uniforms: FloatArray, /) -> FloatArray:
    """Move 0 and 1 just inside, where inverse distribution functions are finite."""
    return np.clip(uniforms, 2.0**-54, 1.0 - 2.0**-53)


def stratified_uniforms(
    shape: tuple[int, int], rng: np.random.Generator, /
) -> FloatArray:
    """Return uniforms of which each column has one in every n-th part of (0, 1)."""
    strata = np.tile(np.arange(shape[0]), (shape[1], 1))
    return (rng.permuted(strata, axis=1).T + rng.random(shape)) / shape[0]


def set_positive(kernel: Kernel, name: str, /) -> None:
    """Check a frozen kernel's parameter and store it as a float, so ``1`` equals ``1.0``."""
    object.__setattr__(kernel, name, check_positive(getattr(kernel, name), name=name))
