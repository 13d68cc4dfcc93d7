"""A number that stands for samples, to draw from wherever the answer must not be random.

Which rows share a bin and which are looked at to choose kernels is drawn at random, whatever
the order of the data, but from the data themselves: the same samples give the same
statistic, effect and interval each time, and `rng` decides the relabellings alone. A fixed
draw would not do: of sorted data it would put rows of the same ranks together in every data
set, and bins would not be exchangeable.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastmmd._rows import Rows

_ROWS = 512
_COLUMNS = 16
_COLUMNS_SEEN = 64


def streams_of(samples: Sequence[Rows], /) -> tuple[np.random.Generator, ...]:
    """Return generators for the choice of kernels and for the bins of these samples.

    The first follows from the pooled rows, however they are split into samples.
    """
    key = pooled_key(samples)
    sizes = [rows.n_rows for rows in samples]
    return np.random.default_rng([key, 0]), np.random.default_rng([key, 1, *sizes])


def pooled_key(samples: Sequence[Rows], /) -> int:
    """Return a number that follows from the ranks of some of the pooled rows.

    Ranks, so that it does not change with the units or the origin of the data; and not of
    constant columns, which change nothing else either.
    """
    edges = np.cumsum([0, *(rows.n_rows for rows in samples)])
    places = np.unique(np.linspace(0, edges[-1] - 1, _ROWS).astype(np.int64))
    parts = []
    for rows, start, stop in zip(samples, edges[:-1], edges[1:], strict=True):
        own = places[(places >= start) & (places < stop)] - start
        part = rows.select(own)[:, :_COLUMNS_SEEN]
        parts.append(part if isinstance(part, np.ndarray) else part.toarray())
    digest, n_columns = hashlib.sha256(str(edges[-1]).encode()), 0
    for column in np.concatenate(parts).T:
        ranks = np.unique(column, return_inverse=True)[1]
        if ranks.any() and n_columns < _COLUMNS:
            digest.update(ranks.astype("<u4").tobytes())
            n_columns += 1
    return int.from_bytes(digest.digest()[:16], "little")
