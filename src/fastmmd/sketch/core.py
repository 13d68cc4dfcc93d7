"""`Sketch`: per-slot counts and sums of cosines and sines, which merge by addition."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fastmmd._backends import Places
from fastmmd._errors import MAKE_ALIKE, IncompatibleSketchError
from fastmmd._random import as_generator
from fastmmd._rows import check_rows
from fastmmd._validation import check_count
from fastmmd.families import SUBSAMPLE_ROWS, adaptive_family
from fastmmd.frequencies.family import draw_family
from fastmmd.kernels import Kernel
from fastmmd.sketch.file import (
    read_sketch,
    sketch_from_bytes,
    sketch_to_bytes,
    write_sketch,
)
from fastmmd.sketch.routing import check_bins, route_batch, stream_id
from fastmmd.sketch.schema import check_schema, schema_difference

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import numpy.typing as npt

    from fastmmd._typing import FloatArray, RNGLike, SampleLike

DEFAULT_BINS = 256
DEFAULT_FREQUENCIES = 512


@final
class Sketch:
    """A summary of a data set, of fixed size, that merges with others by addition.

    Make one of each data set, today's or last year's, in one pass and in any batches;
    then `fastmmd.compare` tests two of them without the data.

    Parameters
    ----------
    kernel : Kernel or sequence of Kernel
        The kernel, or a family of kernels that a test will combine.
    n_columns : int
        Columns of the data.
    n_frequencies : int or sequence of int, default=512
        Frequencies, for all kernels or one number for each.
    n_bins : int, default=256
        Slots that rows are sent to at random; a power of two. More slots cost memory,
        fewer than 64 make asymptotic p-values unreliable.
    rng : int or numpy.random.Generator, default=0
        Draw of the frequencies: an integer is the seed itself, anything else draws one.
        Sketches are comparable only if the seed is the same, so the default is fixed.
    stream : str, bytes or int, optional
        Name of the data, which decides the slots of its rows. By default random, so that
        sketches made apart route their rows independently. Give a name for repeatable
        runs, and a different one to each data set.
    center : array of shape (n_columns,), optional
        A point amid the data that rows are measured from, for precision; by default 0.
        It does not change what is computed, but sketches must share it to be comparable.
    schema : dict, optional
        How the rows were made from a table, in plain JSON types: kept with the sketch, and
        part of what sketches must share. See ``fastmmd.tables.Schema.to_json``.

    Notes
    -----
    Size: ``8 n_bins (1 + 2 sum(n_frequencies))`` bytes, 2 MB by default, whatever the
    number of rows. Time of `update`: ``O(rows x n_frequencies x n_columns)``.

    Merging in another order changes nothing: features are multiples of ``2**-22``, so that
    their sums are exact up to ``2**31`` rows in a slot. Splitting a stream into other
    batches may let a feature round the other way, 4e-7, on rare rows. The sketch without
    rows is the identity of merging.

    Examples
    --------
    >>> import numpy as np, fastmmd
    >>> rows = np.random.default_rng(1).normal(size=(1000, 2))
    >>> left, right = (
    ...     fastmmd.Sketch(fastmmd.Gaussian(1.0), 2, stream=name) for name in "ab"
    ... )
    >>> left.update(rows[:300])
    >>> right.update(rows[300:])
    >>> (left + right).count
    1000
    """

    __slots__ = (
        "_center",
        "_counts",
        "_family",
        "_rows_routed",
        "_schema",
        "_seed",
        "_stream",
        "_streams",
        "_sums",
    )

    def __init__(
        self,
        kernel: Kernel | Sequence[Kernel],
        n_columns: int,
        *,
        n_frequencies: int | Sequence[int] = DEFAULT_FREQUENCIES,
        n_bins: int = DEFAULT_BINS,
        rng: RNGLike = 0,
        stream: str | bytes | int | None = None,
        center: npt.ArrayLike | None = None,
        schema: dict[str, Any] | None = None,
    ) -> None:
        # Anything may come in: annotations are not checked at run time.
        given: Any = (kernel,) if isinstance(kernel, Kernel) else kernel
        kernels = tuple(given) if isinstance(given, Iterable) else ()
        if not kernels or not all(isinstance(k, Kernel) for k in kernels):
            msg = f"`kernel` must be a kernel or a sequence of kernels; got {kernel!r}."
            raise TypeError(msg)
        n_columns = check_count(n_columns, name="n_columns")
        if isinstance(n_frequencies, (int, np.integer)) or not hasattr(
            n_frequencies, "__len__"
        ):
            numbers = [check_count(n_frequencies, name="n_frequencies")] * len(kernels)
        else:
            numbers = [check_count(n, name="n_frequencies") for n in n_frequencies]
        if len(numbers) != len(kernels):
            msg = (
                "`n_frequencies` must be one number or one for each kernel; got "
                f"{len(numbers)} numbers for {len(kernels)} kernels."
            )
            raise ValueError(msg)
        n_bins = check_bins(n_bins)
        self._seed = _seed_from(rng)
        self._family = draw_family(kernels, numbers, n_columns, seed=self._seed)
        self._center = _check_center(center, n_columns)
        self._schema = check_schema(schema)
        self._stream = stream_id(stream)
        self._streams: dict[bytes, int] = {}
        self._rows_routed = 0
        self._counts = np.zeros(n_bins, dtype=np.int64)
        self._sums = np.zeros((n_bins, self._family.edges[-1]))

    @classmethod
    def adaptive(
        cls,
        rows: SampleLike,
        /,
        *,
        n_rows: int | None = None,
        n_bins: int = DEFAULT_BINS,
        rng: RNGLike = 0,
        stream: str | bytes | int | None = None,
        schema: dict[str, Any] | None = None,
    ) -> Sketch:
        """Return an empty sketch with kernels and center suited to sample rows.

        The family of `fastmmd.two_sample_test`, chosen from up to 1000 of the rows given.
        They are only looked at, not added.

        Parameters
        ----------
        rows : array of shape (n, n_columns)
            Rows like those to come, for instance a part of the reference data.
        n_rows : int, optional
            Rows that a comparison will see in both sketches together; more rows make
            smaller bandwidths useful. By default twice the rows given.
        n_bins : int, default=256
            Slots.
        rng : int or numpy.random.Generator, default=0
            Seed of the frequencies.
        stream : str, bytes or int, optional
            Name of the data.
        schema : dict, optional
            How the rows were made from a table.

        Returns
        -------
        Sketch
            Without rows; use `like` for others to compare it with.

        Examples
        --------
        >>> import numpy as np, fastmmd
        >>> sample = np.random.default_rng(0).normal(size=(500, 3))
        >>> len(fastmmd.Sketch.adaptive(sample, n_rows=10_000).kernels)
        7
        """
        checked = check_rows(rows, name="rows")
        planned = (
            2 * checked.n_rows if n_rows is None else check_count(n_rows, name="n_rows")
        )
        step = -(-checked.n_rows // SUBSAMPLE_ROWS)
        sample = checked.take(np.arange(0, checked.n_rows, step))
        kernels, numbers = adaptive_family(sample, planned)
        return cls(
            kernels,
            checked.n_columns,
            n_frequencies=numbers,
            n_bins=n_bins,
            rng=rng,
            stream=stream,
            center=np.median(sample, axis=0),
            schema=schema,
        )

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels."""
        return self._family.kernels

    @property
    def n_columns(self) -> int:
        """Columns of the data."""
        return self._family.n_columns

    @property
    def n_frequencies(self) -> tuple[int, ...]:
        """Frequencies of each kernel."""
        return self._family.n_frequencies

    @property
    def n_bins(self) -> int:
        """Slots."""
        return len(self._counts)

    @property
    def seed(self) -> int:
        """Seed of the frequencies."""
        return self._seed

    @property
    def center(self) -> FloatArray:
        """The point that rows are measured from."""
        return self._center.copy()

    @property
    def schema(self) -> dict[str, Any] | None:
        """How the rows were made from a table; None if they were numbers from the start."""
        return check_schema(self._schema)

    @property
    def count(self) -> int:
        """Rows seen so far."""
        return int(self._counts.sum())

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Rows in each slot."""
        return self._counts.copy()

    @property
    def nbytes(self) -> int:
        """Bytes of counts and sums: the size of the file, but for its header."""
        return self._counts.nbytes + self._sums.nbytes

    @property
    def sums(self) -> FloatArray:
        """Sums of features in each slot: for each kernel cosines, then sines."""
        return self._sums.copy()

    def grams_with(self, other: Sketch, /) -> FloatArray:
        """Return the kernel sums between all slots of both, for ``K(0) = 1``."""
        return self._family.grams(np.concatenate([self._sums, other._sums]))

    def update(
        self,
        rows: SampleLike,
        /,
        *,
        part: str | None = None,
        row_numbers: int | npt.ArrayLike | None = None,
    ) -> None:
        """Add rows, in batches of any size.

        Parameters
        ----------
        rows : array of shape (n, n_columns)
            The rows.
        part : str, optional
            For data in several parts that are read in any order or on several machines,
            such as files: the name of this one. Rows are then numbered within the part,
            by `row_numbers`.
        row_numbers : int or array of shape (n,), optional
            Number of the first row, or of every row. A row's slot depends on the stream,
            the part and this number alone. By default rows are numbered as they come.
        """
        checked = check_rows(rows, name="rows", allow_empty=True)
        if checked.n_columns != self.n_columns:
            msg = (
                f"`rows` must have {self.n_columns} columns like the sketch; got shape "
                f"{np.shape(rows)}."
            )
            raise ValueError(msg)
        if checked.n_rows == 0:
            return
        slots = route_batch(
            self._stream,
            self._rows_routed,
            checked.n_rows,
            self.n_bins,
            part=part,
            row_numbers=row_numbers,
        )
        order = np.argsort(slots, kind="stable")
        present = np.unique(slots)
        # Into sums of their own first: a batch that fails half-way leaves no trace.
        added = np.zeros((len(present), self._sums.shape[1]))
        edges = np.concatenate([[0], np.cumsum(np.bincount(slots)[present])])
        self._family.add_feature_sums(added, checked, Places(edges, order), self._center)
        if not np.isfinite(added).all():
            msg = (
                "`rows` must be near enough to the center for their phases to be finite; "
                "got values beyond that. Rescale the data."
            )
            raise ValueError(msg)
        if len(present) == self.n_bins:
            # The usual case, and without the copy of all sums that choosing some makes.
            self._sums += added
        else:
            self._sums[present] += added
        self._counts += np.bincount(slots, minlength=self.n_bins)
        self._rows_routed += checked.n_rows
        self._streams[self._stream] = self._rows_routed

    def merge(self, other: Sketch, /, *, parts: bool = False) -> None:
        """Add everything `other` has seen; `other` is left as it was.

        Parameters
        ----------
        other : Sketch
            A sketch made alike, of other data.
        parts : bool, default=False
            Whether the two may hold rows of the same stream, as sketches of different
            parts of one data set do. No row may be in both.
        """
        self._check_mergeable(other)
        twice = self._streams.keys() & other._streams.keys()
        if twice and not parts:
            msg = (
                "sketches must hold different data to be merged; got the stream "
                f"{min(twice).hex()} in both. Give each data set its own `stream`."
            )
            raise IncompatibleSketchError(msg)
        if other.n_bins < self.n_bins:
            self._coarsen(other.n_bins)
        factor = other.n_bins // self.n_bins
        # The slot is the top bits of a hash: neighbours of a finer sketch are one slot.
        self._counts += other._counts.reshape(-1, factor).sum(axis=1)
        self._sums += other._sums.reshape(self.n_bins, factor, -1).sum(axis=1)
        for stream, n_rows in other._streams.items():
            self._streams[stream] = self._streams.get(stream, 0) + n_rows
        # A sketch without rows may take over its own stream: go on where that one ends.
        self._rows_routed = self._streams.get(self._stream, 0)

    def __add__(self, other: Sketch) -> Sketch:
        if not isinstance(other, Sketch):
            return NotImplemented
        merged = self.copy()
        merged.merge(other)
        return merged

    def __radd__(self, other: object) -> Sketch:
        # `sum([...])` starts from 0.
        if other == 0:
            return self.copy()
        return NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sketch):
            return NotImplemented
        return (
            not self.differences(other)
            and self.n_bins == other.n_bins
            and self._streams == other._streams
            and np.array_equal(self._counts, other._counts)
            and np.array_equal(self._sums, other._sums)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        kernels = (
            str(self.kernels[0])
            if len(self.kernels) == 1
            else f"{len(self.kernels)} kernels"
        )
        return f"<Sketch of {self.count} rows, {self.n_columns} columns, {kernels}>"

    def copy(self) -> Sketch:
        """Return an independent copy."""
        other = object.__new__(Sketch)
        for name in Sketch.__slots__:
            setattr(other, name, getattr(self, name))
        other._counts = self._counts.copy()
        other._sums = self._sums.copy()
        other._streams = dict(self._streams)
        return other

    __copy__ = copy

    def like(self, *, stream: str | bytes | int | None = None) -> Sketch:
        """Return an empty sketch that can be compared and merged with this one."""
        other = self.copy()
        other._stream = stream_id(stream)
        other._streams = {}
        other._rows_routed = 0
        other._counts[:] = 0
        other._sums[:] = 0.0
        return other

    def shares_streams(self, other: Sketch, /) -> bool:
        """Return whether both have seen rows of the same stream."""
        return not self._streams.keys().isdisjoint(other._streams)

    def differences(self, other: Sketch, /) -> list[str]:
        """Return what keeps the two from being merged or compared; empty if nothing."""
        pairs = {
            "n_columns": (self.n_columns, other.n_columns),
            "n_frequencies": (self.n_frequencies, other.n_frequencies),
            "seed": (self._seed, other._seed),
        }
        found = [f"{name}: {a} and {b}" for name, (a, b) in pairs.items() if a != b]
        if self.kernels != other.kernels:
            found.insert(0, _kernel_difference(self.kernels, other.kernels))
        if not found and not np.array_equal(self._center, other._center):
            i = int(np.flatnonzero(self._center != other._center)[0])
            found.append(f"center[{i}]: {self._center[i]} and {other._center[i]}")
        if self._schema != other._schema:
            # First: it is the reason for most other differences.
            found.insert(0, schema_difference(self._schema, other._schema))
        return found

    def save(self, path: str | os.PathLike[str], /) -> None:
        """Write the sketch to a file, which is replaced only when complete."""
        write_sketch(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], /) -> Sketch:
        """Read a sketch that `save` wrote."""
        return read_sketch(cls, path)

    def to_bytes(self) -> bytes:
        """Return what `save` would write, to be sent elsewhere or put into a database.

        A sketch without rows takes some kilobytes whatever its size in memory: its
        frequencies are drawn again from the seed.

        Returns
        -------
        bytes
            The sketch; `from_bytes` makes one of it again. The same sketch gives the same
            bytes.

        Examples
        --------
        >>> import fastmmd
        >>> sketch = fastmmd.Sketch(fastmmd.Gaussian(1.0), 2, stream="a")
        >>> len(sketch.to_bytes()) < 1000 < sketch.nbytes
        True
        >>> sketch.update([[0.0, 1.0], [2.0, 3.0]])
        >>> fastmmd.Sketch.from_bytes(sketch.to_bytes()) == sketch
        True
        """
        return sketch_to_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes, /) -> Sketch:
        """Return the sketch that `to_bytes` took apart.

        Parameters
        ----------
        data : bytes
            Bytes of `to_bytes`, or of a file that `save` wrote.

        Returns
        -------
        Sketch
            The same sketch, to the last bit.
        """
        return sketch_from_bytes(cls, data)

    def _check_mergeable(self, other: Any) -> None:
        if not isinstance(other, Sketch):
            msg = f"`other` must be a Sketch; got {type(other).__name__}."
            raise TypeError(msg)
        found = self.differences(other)
        if found:
            msg = (
                f"sketches must be made alike to be merged: {MAKE_ALIKE}. They differ in "
                f"{'; '.join(found)}."
            )
            raise IncompatibleSketchError(msg)

    def _coarsen(self, n_bins: int) -> None:
        factor = self.n_bins // n_bins
        self._counts = self._counts.reshape(n_bins, factor).sum(axis=1)
        self._sums = self._sums.reshape(n_bins, factor, -1).sum(axis=1)


def _kernel_difference(a: Sequence[Kernel], b: Sequence[Kernel]) -> str:
    """Return what differs in two families: their number, or the first that is another."""
    if len(a) != len(b):
        return f"kernels: {len(a)} and {len(b)} of them"
    first, second = next((x, y) for x, y in zip(a, b, strict=True) if x != y)
    return f"kernels: {first!r} and {second!r}" + (", …" if len(a) > 1 else "")


def _seed_from(rng: RNGLike) -> int:
    """Return the number that the frequencies are drawn from."""
    generator = as_generator(rng)
    if isinstance(rng, (int, np.integer)):
        return int(rng)
    return int(generator.integers(2**63))


def _check_center(center: npt.ArrayLike | None, n_columns: int) -> FloatArray:
    if center is None:
        return np.zeros(n_columns)
    values = np.array(center, dtype=np.float64)
    if values.shape != (n_columns,) or not np.isfinite(values).all():
        msg = f"`center` must be {n_columns} finite numbers; got {center!r}."
        raise ValueError(msg)
    return values
