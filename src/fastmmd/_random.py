"""One way to turn `rng` arguments into generators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fastmmd._typing import RNGLike


def as_generator(rng: RNGLike, /) -> np.random.Generator:
    """Return the generator that `rng` stands for (SPEC 7), or say what is wrong."""
    msg = (
        "`rng` must be None, a non-negative integer, a SeedSequence or a "
        f"numpy.random.Generator; got {rng!r}."
    )
    if isinstance(rng, bool):
        raise TypeError(msg)
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise type(error)(msg) from error


def spawn(rng: RNGLike, n_streams: int, /) -> list[np.random.Generator]:
    """Return independent child generators, one per purpose.

    Drawing more from one child (more frequencies, say) leaves the others untouched.
    """
    generator = as_generator(rng)
    try:
        return generator.spawn(n_streams)
    except TypeError as error:
        msg = (
            "`rng` must be able to spawn children; got one without a seed sequence. Pass "
            "an integer or `numpy.random.default_rng(...)`."
        )
        raise TypeError(msg) from error
