"""A kernel given by its frequencies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from fastmmd._backends.pairs import PairForm
from fastmmd._errors import UnsupportedKernelError
from fastmmd._random import as_generator
from fastmmd._validation import check_count, check_positive
from fastmmd.kernels.base import Kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastmmd._typing import FloatArray, RNGLike


@final
@dataclass(frozen=True, slots=True)
class SpectralKernel(Kernel):
    """The kernel of any frequency law: draw the frequencies, and the kernel follows.

    Parameters
    ----------
    sampler : callable
        ``sampler(n_frequencies, n_columns, rng)`` returns an array of shape
        (n_frequencies, n_columns), drawn with the generator `rng`. A law that is not
        symmetric acts as its symmetric half: only cosines of differences count.
    value : callable, optional
        ``value(differences)`` returns the kernel, 1 at zero, at differences of shape
        (..., n_columns). Only methods that evaluate the kernel (`Exact`, `Linear`,
        `Block`, `Grid`) need it.
    radial : bool, default=False
        Whether the law does not prefer a direction, in any number of columns. Allows
        orthogonal frequencies and Fastfood.
    second_moment_per_column : float, default=inf
        Mean square of one coordinate, for `fastmmd.bounds`.

    Examples
    --------
    Frequencies uniform on [-1, 1] make the sinc kernel:

    >>> import numpy as np
    >>> def flat(n_frequencies, n_columns, rng):
    ...     return rng.uniform(-1.0, 1.0, (n_frequencies, n_columns))
    >>> kernel = SpectralKernel(flat, lambda delta: np.sinc(delta / np.pi).prod(-1))
    >>> float(kernel([1.0]))
    0.8414709848
    """

    sampler: Callable[[int, int, np.random.Generator], FloatArray]
    value: Callable[[FloatArray], FloatArray] | None = None
    radial: bool = False
    second_moment_per_column: float = math.inf

    def __post_init__(self) -> None:
        for name, function in (("sampler", self.sampler), ("value", self.value)):
            if not (callable(function) or (name == "value" and function is None)):
                msg = f"`{name}` must be callable; got {function!r}."
                raise TypeError(msg)
        if self.second_moment_per_column != math.inf:
            check_positive(self.second_moment_per_column, name="second_moment_per_column")

    def __repr__(self) -> str:
        # Names of functions, not their addresses: the same in every process.
        name = getattr(self.sampler, "__name__", type(self.sampler).__name__)
        return f"SpectralKernel({name}{', radial=True' if self.radial else ''})"

    @property
    def is_radial(self) -> bool:
        return self.radial

    @property
    def draws_from_uniforms(self) -> bool:
        return False

    def pair_forms(self) -> tuple[PairForm, ...]:
        if self.value is None:
            msg = (
                "`kernel` must have a value for this method; got a SpectralKernel with a "
                'sampler only. Pass `value=` to it, or use `method="fourier"`.'
            )
            raise UnsupportedKernelError(msg)
        return (PairForm("difference", 1.0, self.value),)

    def check(self, n_columns: int, /) -> None:
        if self.value is None:
            return
        at_zero = np.asarray(self.value(np.zeros((2, n_columns))))
        if at_zero.shape != (2,) or not np.allclose(at_zero, 1.0, rtol=0.0, atol=1e-12):
            msg = (
                "`value` must return one number for each difference, and 1 at zero; got "
                f"{at_zero!r} for two differences of zero. Scale a kernel by "
                "`factor * SpectralKernel(...)`."
            )
            raise ValueError(msg)

    def uniforms_per_frequency(self, n_columns: int, /) -> int:
        return n_columns

    def frequencies_from_uniforms(
        self, uniforms: FloatArray, n_columns: int, /
    ) -> FloatArray:
        msg = (
            '`sampling` must be "iid" or, for radial laws, "orthogonal" with a '
            "SpectralKernel: its sampler cannot take quasi-random numbers."
        )
        raise UnsupportedKernelError(msg)

    def sample_frequencies(
        self, n_frequencies: int, /, *, n_columns: int, rng: RNGLike = None
    ) -> FloatArray:
        shape = (
            check_count(n_frequencies, name="n_frequencies"),
            check_count(n_columns, name="n_columns"),
        )
        drawn = np.asarray(self.sampler(*shape, as_generator(rng)), dtype=np.float64)
        if drawn.shape != shape or not np.isfinite(drawn).all():
            msg = (
                f"`sampler` must return finite numbers of shape {shape}; got shape "
                f"{drawn.shape}{'' if drawn.shape != shape else ' with NaN or infinity'}."
            )
            raise ValueError(msg)
        return drawn

    def second_moment(self, n_columns: int, /) -> float:
        return n_columns * self.second_moment_per_column
