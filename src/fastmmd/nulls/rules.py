"""Rules that make one statistic of the statistics of several kernels."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING, final

import numpy as np

if TYPE_CHECKING:
    from fastmmd.nulls._arrays import FloatArray

_NEARLY_SYMMETRIC = 1e-3
"""Skewness below which the transform is the identity to a thousandth."""

_SMALLEST_SHARE = 1e-6
"""Where a gamma variable would be negative: scores far below any that count."""


class Rule(abc.ABC):
    """A rule that maps the statistics of the kernels to one number.

    A rule sees the observed statistics and all relabelled ones as rows of one matrix
    and must treat the rows alike; then the test on its values has exact level.
    """

    __slots__ = ()

    @property
    def standardised(self) -> bool:
        """Whether the rule wants standardised statistics, else the squared MMD."""
        return True

    @property
    def normalised(self) -> bool:
        """Whether scores are to be made normal, kernel by kernel, before combining."""
        return False

    @abc.abstractmethod
    def values(self, scores: FloatArray, /) -> FloatArray:
        """Return one value for each row of standardised statistics; large is far."""

    @abc.abstractmethod
    def shares(self, scores: FloatArray, row: int, /) -> FloatArray:
        """Return how much each kernel contributes to the value of one row; sums to 1."""

    @property
    @abc.abstractmethod
    def steepness(self) -> float:
        """Largest change of a value when all scores change by at most 1."""


@final
@dataclass(frozen=True, slots=True)
class SoftMaximum(Rule):
    r"""The soft maximum :math:`\log \operatorname{mean}_j \exp(t z_j)`.

    Parameters
    ----------
    temperature : float, default=3.0
        The factor :math:`t > 0`. Small values approach the sum, large ones the maximum.
    normal : bool, default=True
        Whether `combine` first takes the skewness out of the scores. Statistics of large
        bandwidths are skewed and reach large scores by chance, those of small bandwidths
        do not; compared as they are, the former drown the latter.

    Examples
    --------
    >>> import numpy as np
    >>> SoftMaximum(2.0).values(np.array([[1.0, 1.0]]))
    array([2.0])
    >>> SoftMaximum(2.0).shares(np.array([[3.0, 0.0]]), 0)
    array([0.998, 0.002])
    """

    temperature: float = 3.0
    normal: bool = True

    @property
    def normalised(self) -> bool:
        return self.normal

    def __post_init__(self) -> None:
        if not (isfinite(self.temperature) and self.temperature > 0.0):
            msg = (
                "`temperature` must be a finite number greater than 0; "
                f"got {self.temperature!r}."
            )
            raise ValueError(msg)

    @property
    def steepness(self) -> float:
        return self.temperature

    def values(self, scores: FloatArray, /) -> FloatArray:
        powers = _log_sum_exp(self.temperature * scores)
        return np.asarray(powers - np.log(scores.shape[1]))

    def shares(self, scores: FloatArray, row: int, /) -> FloatArray:
        powers = np.exp(self.temperature * (scores[row] - scores[row].max()))
        return powers / powers.sum()


@final
@dataclass(frozen=True, slots=True)
class Maximum(Rule):
    """The largest standardised statistic.

    Examples
    --------
    >>> import numpy as np
    >>> Maximum().values(np.array([[1.0, 3.0]]))
    array([3.0])
    """

    @property
    def steepness(self) -> float:
        return 1.0

    def values(self, scores: FloatArray, /) -> FloatArray:
        return scores.max(axis=1)

    def shares(self, scores: FloatArray, row: int, /) -> FloatArray:
        best = scores[row] == scores[row].max()
        return best / best.sum()


@final
@dataclass(frozen=True, slots=True)
class Sum(Rule):
    """The mean standardised statistic.

    Examples
    --------
    >>> import numpy as np
    >>> Sum().values(np.array([[1.0, 3.0]]))
    array([2.0])
    """

    @property
    def steepness(self) -> float:
        return 1.0

    def values(self, scores: FloatArray, /) -> FloatArray:
        return scores.mean(axis=1)

    def shares(self, scores: FloatArray, row: int, /) -> FloatArray:
        # Kernels that speak against a difference carry nothing of it.
        positive = np.maximum(scores[row], 0.0)
        if not positive.any():
            return np.full(scores.shape[1], 1.0 / scores.shape[1])
        return positive / positive.sum()


@final
@dataclass(frozen=True, slots=True)
class MinP(Rule):
    """The smallest of the kernels' own p-values, ties decided by the largest score.

    Nearly the aggregation of MMDAgg with uniform weights.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[9.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    >>> int(np.argmax(MinP().values(scores)))
    0
    """

    @property
    def steepness(self) -> float:
        return 1.0

    def values(self, scores: FloatArray, /) -> FloatArray:
        best = scores.max(axis=1)
        # p-values are whole multiples of 1 / n_rows; the tie-break stays below one.
        return 0.5 * best / (1.0 + np.abs(best)) - _at_least(scores).min(axis=1)

    def shares(self, scores: FloatArray, row: int, /) -> FloatArray:
        ranks = _at_least(scores)[row]
        best = ranks == ranks.min()
        return best / best.sum()


@final
@dataclass(frozen=True, slots=True)
class Fuse(Rule):
    r"""The rule of MMD-FUSE, :math:`\log \operatorname{mean}_j \exp(\lambda T_j / s_j)`.

    Parameters
    ----------
    normalisers : tuple of float
        For each kernel the root mean square :math:`s_j > 0` of its values over pairs of
        pooled rows. Not centred: over a wide range of bandwidths the rule listens to the
        small ones only.
    rate : float
        The factor :math:`\lambda`; FUSE takes :math:`\sqrt{n (n - 1)}` with the smaller
        sample size :math:`n`.

    Examples
    --------
    >>> import numpy as np
    >>> Fuse((0.5, 0.5), rate=3.0).values(np.array([[1.0, 1.0]]))
    array([6.0])
    """

    normalisers: tuple[float, ...]
    rate: float

    def __post_init__(self) -> None:
        for name, numbers in (("normalisers", self.normalisers), ("rate", (self.rate,))):
            if not numbers or not all(0.0 < number < inf for number in numbers):
                msg = f"`{name}` must be finite and greater than 0; got {numbers!r}."
                raise ValueError(msg)

    @property
    def standardised(self) -> bool:
        return False

    @property
    def steepness(self) -> float:
        return self.rate / min(self.normalisers)

    def values(self, scores: FloatArray, /) -> FloatArray:
        powers = _log_sum_exp(scores * self._factors())
        return np.asarray(powers - np.log(scores.shape[1]))

    def shares(self, scores: FloatArray, row: int, /) -> FloatArray:
        powers = scores[row] * self._factors()
        powers = np.exp(powers - powers.max())
        return powers / powers.sum()

    def _factors(self) -> FloatArray:
        return self.rate / np.array(self.normalisers)


def _at_least(scores: FloatArray) -> FloatArray:
    """Count, for each entry, the entries of its column that are at least as large."""
    ordered = np.sort(scores, axis=0)
    # Equal relabellings differ by rounding; `combine` drops kernels where that exceeds
    # a thousandth of a score.
    scores = scores - 1e-9
    below = [np.searchsorted(o, s) for o, s in zip(ordered.T, scores.T, strict=True)]
    return (len(scores) - np.stack(below, axis=1)).astype(np.float64)


def _log_sum_exp(values: FloatArray) -> FloatArray:
    """Return the logarithm of each row's sum of exponentials, without overflow."""
    top = values.max(axis=1, keepdims=True)
    sums = np.exp(values - top).sum(axis=1)
    return np.asarray(np.log(sums) + top[:, 0])


def normal_scores(scores: FloatArray, counted: FloatArray, /) -> FloatArray:
    """Return standardised scores with the skewness of each kernel taken out.

    With the skewness of the `counted` rows; the same for every row, so that it changes no
    kernel's own p-value and no level.
    """
    return made_normal(scores, np.mean(counted**3, axis=0))


def made_normal(scores: FloatArray, skewness: FloatArray, /) -> FloatArray:
    """Return scores of these skewnesses, one a column, as nearly normal ones.

    By the transform of Wilson and Hilferty: increasing, and exact to high order for gamma
    variables.
    """
    shape = 4.0 / np.square(np.maximum(skewness, _NEARLY_SYMMETRIC))
    gamma = np.maximum(1.0 + scores / np.sqrt(shape), _SMALLEST_SHARE)
    return np.asarray((np.cbrt(gamma) - 1.0 + 1.0 / (9.0 * shape)) * 3.0 * np.sqrt(shape))
