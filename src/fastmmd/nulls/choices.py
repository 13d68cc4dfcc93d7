"""The null distributions a test can be asked for, as values."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import Any, ClassVar, final

from fastmmd._validation import check_choice, check_instance


class Null(abc.ABC):
    """A way to find the p-value of a statistic."""

    __slots__ = ()

    name: ClassVar[str]


@final
@dataclass(frozen=True, slots=True)
class Permutation(Null):
    """Relabel the data at random: exact level at any size, the default.

    Bins of rows are relabelled, which costs next to nothing and loses no power worth
    mentioning, or single rows.

    Parameters
    ----------
    rows : bool, default=False
        Whether to relabel single rows also where bins would do.

    Examples
    --------
    >>> Permutation(rows=True)
    Permutation(rows=True)
    """

    name: ClassVar[str] = "permutation"

    rows: bool = False


@final
@dataclass(frozen=True, slots=True)
class Gamma(Null):
    """Match two moments with a gamma distribution: the classical quick approximation.

    Liberal at small levels; `Pearson` costs the same and is not.

    Examples
    --------
    >>> Gamma()
    Gamma()
    """

    name: ClassVar[str] = "gamma"


@final
@dataclass(frozen=True, slots=True)
class Pearson(Null):
    """Match three moments with a Pearson curve of type III.

    The best of the approximations without eigenvalues.

    Examples
    --------
    >>> Pearson()
    Pearson()
    """

    name: ClassVar[str] = "pearson"


@final
@dataclass(frozen=True, slots=True)
class Spectrum(Null):
    """Take the weighted chi-square law that the eigenvalues give.

    Parameters
    ----------
    simulate : bool, default=False
        Whether to draw from the law, as in the original proposal, instead of computing
        its tail by numerical inversion.

    Examples
    --------
    >>> Spectrum()
    Spectrum(simulate=False)
    """

    name: ClassVar[str] = "spectrum"

    simulate: bool = False


@final
@dataclass(frozen=True, slots=True)
class Normal(Null):
    """Take the normal limit of a mean of independent terms: for `Linear` and `Block`.

    Student's t for pairs, with a correction for skewness for blocks.

    Examples
    --------
    >>> Normal()
    Normal()
    """

    name: ClassVar[str] = "normal"


NULLS: dict[str, type[Null]] = {
    null.name: null for null in (Permutation, Gamma, Pearson, Spectrum, Normal)
}


def resolve_null(null: Any, /) -> Null | None:
    """Return the null as an object; None for ``"auto"``."""
    if isinstance(null, Null):
        return null
    check_instance(null, Null, name="null")
    check_choice(null, ("auto", *NULLS), name="null", also="a null object")
    return None if null == "auto" else NULLS[null]()
