"""What a long run tells about itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, final


@final
@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come.

    Attributes
    ----------
    stage : {"sampling", "sketching"}
        What is being done: looking for constants and kernels, or adding rows.
    source : str
        Name of the data.
    n_read : int
        Rows read so far, before any filter.
    n_rows : int or None
        Rows that there are to read, if known.
    parts_done, n_parts : int
        Parts that are finished, and all parts.
    n_dropped : int
        Rows left out because of missing values.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from fastmmd.tables import sketch_source
    >>> seen = []
    >>> sketch = sketch_source(pa.table({"delay": range(50)}), progress=seen.append)
    >>> seen[-1].stage, seen[-1].n_read, seen[-1].n_rows
    ('sketching', 50, 50)
    """

    stage: Literal["sampling", "sketching"]
    source: str
    n_read: int
    n_rows: int | None
    parts_done: int
    n_parts: int
    n_dropped: int = 0

    @property
    def fraction(self) -> float:
        """Share of the work that is done: of the rows if their number is known."""
        if self.n_rows:
            return min(1.0, self.n_read / self.n_rows)
        return self.parts_done / max(self.n_parts, 1)


Report: TypeAlias = Callable[[Progress], object]
"""A function that is called with the progress after each batch."""
