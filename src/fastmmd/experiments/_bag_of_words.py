"""Bags of words of the paper's shape: made with a seed, or read from a file."""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fastmmd._errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from fastmmd._typing import FloatArray

    IntArray = npt.NDArray[np.int64]

N_WORDS = 1024
CELLS_A_SIDE = (1, 2, 4)
"""Levels of the spatial pyramid: the whole image, quarters, sixteenths."""

N_COLUMNS = N_WORDS * sum(side**2 for side in CELLS_A_SIDE)
N_IMAGES = (4015, 5948)
"""With and without persons."""

_N_TOPICS = 100
_N_CELLS = CELLS_A_SIDE[-1] ** 2
_RANK_SHIFT, _RANK_POWER = 8.0, 1.0
"""The word of rank r has frequency (r + shift)^-power: the law of Zipf and Mandelbrot."""

_TOPIC_SHAPE = 0.05
"""A topic multiplies frequencies by gamma variables of this shape: a few words by much."""

_IMAGE_SHAPE = 0.1
"""Of the gamma variables that mix topics in an image: a few topics each."""

_TOPIC_TILT = 0.7
"""How far the logarithms of a topic's share differ between the two kinds of images."""

_MEDIAN_POINTS, _POINTS_SPREAD = 500.0, 0.5
"""Key points of an image: log-normal, its median and the deviation of its logarithm."""

_MEDIAN_PATTERNS, _PATTERNS_SPREAD = 250.0, 1.2
"""Different patterns in an image: grass or bricks repeat few of them, a street shows many."""

_PATTERNS_TILT = 0.8
"""How far the logarithms of their medians differ between the two kinds of images."""

_BURST = 1.5
"""Pattern k of K is as frequent as (k / K)^(1 / burst - 1): words come in bursts."""

_FEWEST = 8


@final
@dataclass(frozen=True, slots=True, eq=False)
class Bags:
    """Two samples of L1-normalised bags of words.

    Attributes
    ----------
    x, y : CSR matrices
        One row a document or image.
    bandwidth : float or None
        The bandwidth that goes with them, if one was given.
    """

    x: Any
    y: Any
    bandwidth: float | None = None


def make_bags(
    n_images: tuple[int, int], rng: np.random.Generator, /, *, n_words: int = N_WORDS
) -> Bags:
    """Return images of two kinds as histograms of visual words in a spatial pyramid.

    An image has patterns, each of a topic that decides the law of its word; and key points,
    each of a pattern, at a place by the law of the topic. The two kinds of images differ in
    the shares of their topics and in how many patterns they show. Histograms of words in
    the whole image, its quarters and its sixteenths are put side by side and divided by
    their sum. The constants give MMDs and deviations of the size that the paper has on its
    own images.
    """
    ranks = np.arange(n_words)
    words = (ranks + _RANK_SHIFT) ** -_RANK_POWER
    topics = words * rng.gamma(_TOPIC_SHAPE, size=(_N_TOPICS, n_words))
    places = rng.gamma(1.0, size=(_N_TOPICS, _N_CELLS))
    tilt = _TOPIC_TILT * rng.standard_normal(_N_TOPICS)
    laws = _Laws(_steps(topics), _steps(places), n_words)
    x, y = (
        laws.draw(
            n,
            np.exp(sign * tilt / 2.0),
            _MEDIAN_PATTERNS * np.exp(sign * _PATTERNS_TILT / 2.0),
            rng,
        )
        for n, sign in zip(n_images, (1.0, -1.0), strict=True)
    )
    return Bags(x, y)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Laws:
    """Cumulated laws of words and of cells for every topic."""

    words: FloatArray
    cells: FloatArray
    n_words: int

    def draw(
        self,
        n_images: int,
        shares: FloatArray,
        median_patterns: float,
        rng: np.random.Generator,
    ) -> Any:
        """Return the histograms of images whose topics have these shares."""
        n_points, n_patterns = (
            _log_normal(median, spread, n_images, rng)
            for median, spread in (
                (_MEDIAN_POINTS, _POINTS_SPREAD),
                (median_patterns, _PATTERNS_SPREAD),
            )
        )
        mixed = rng.gamma(
            _IMAGE_SHAPE * shares / shares.mean(), size=(n_images, _N_TOPICS)
        )
        image_of_pattern = np.repeat(np.arange(n_images), n_patterns)
        topic_of_pattern = _pick(_steps(mixed), image_of_pattern, rng)
        word_of_pattern = _pick(self.words, topic_of_pattern, rng)
        image = np.repeat(np.arange(n_images), n_points)
        rank = n_patterns[image] * rng.random(len(image)) ** _BURST
        first = np.cumsum(n_patterns) - n_patterns
        pattern = first[image] + rank.astype(np.int64)
        word = word_of_pattern[pattern]
        cell = _pick(self.cells, topic_of_pattern[pattern], rng)
        return self._pyramid(image, word, cell, n_points)

    def _pyramid(
        self, image: IntArray, word: IntArray, cell: IntArray, n_points: IntArray
    ) -> Any:
        from scipy.sparse import csr_array

        fine = CELLS_A_SIDE[-1]
        columns, before = [], 0
        for side in CELLS_A_SIDE:
            row, column = (part * side // fine for part in np.divmod(cell, fine))
            columns.append((before + row * side + column) * self.n_words + word)
            before += side**2
        weight = 1.0 / (len(CELLS_A_SIDE) * n_points[image])
        repeats = len(CELLS_A_SIDE)
        entries = np.tile(weight, repeats)
        place = np.array([np.tile(image, repeats), np.concatenate(columns)], np.int32)
        # The sum of what is at the same place.
        return csr_array(
            (entries, tuple(place)), shape=(len(n_points), before * self.n_words)
        )


def _log_normal(
    median: float, spread: float, number: int, rng: np.random.Generator
) -> IntArray:
    """Return whole numbers of a log-normal law, not too small."""
    values = median * np.exp(spread * rng.standard_normal(number))
    return np.maximum(values, _FEWEST).astype(np.int64)


def _steps(weights: FloatArray) -> FloatArray:
    """Return cumulated shares of each row, the row's number added to them."""
    sums = np.cumsum(weights, axis=1)
    sums /= sums[:, -1:]
    return np.asarray(sums + np.arange(len(weights))[:, None])


def _pick(steps: FloatArray, row: IntArray, rng: np.random.Generator) -> IntArray:
    """Return a draw from the law of each of these rows."""
    # All laws lie one after the other, law k between k and k + 1.
    found = np.searchsorted(steps.ravel(), row + rng.random(len(row)), side="right")
    width = steps.shape[1]
    # Rounding at the end of a law must not lead to the next.
    return np.minimum(found - row * width, width - 1)


_ARRAYS = ("data", "indices", "indptr", "shape")


def read_bags(path: Path, /) -> Bags:
    """Return two samples from an ``.npz`` file: a CSR matrix with a label for every row.

    The file has the arrays of ``scipy.sparse.save_npz`` for a CSR matrix, ``data``,
    ``indices``, ``indptr`` and ``shape``; ``labels`` with two different values, of which
    the smaller is the first sample; and, if the paper's does not suit them, ``bandwidth``.
    Rows are divided by the sum of their absolute values. Everything is checked.
    """
    arrays = _arrays(path)
    matrix = _matrix(arrays, path)
    labels, n_rows = arrays["labels"], matrix.shape[0]
    values = np.unique(labels)
    if labels.shape != (n_rows,) or len(values) != 2:
        msg = (
            f"`labels` must have one of two values for each of the {n_rows} rows; got "
            f"shape {labels.shape} and {len(values)} values."
        )
        raise DataError(msg)
    x, y = (normalised(matrix[labels == value]) for value in values)
    if min(x.shape[0], y.shape[0]) < 2:
        msg = f"`labels` must name two rows of each sample at least; {path} does not."
        raise DataError(msg)
    return Bags(x, y, _bandwidth(arrays, path))


def _arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of an archive, or say why it is none."""
    if not path.exists():
        msg = f"`{path}` must be a file; there is none."
        raise DataError(msg)
    if not path.is_file() or not zipfile.is_zipfile(path):
        msg = f"`{path}` must be a file in NumPy's .npz format; it is something else."
        raise DataError(msg)
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        # What NumPy says of Python objects is advice to trust the file.
        msg = f"`{path}` must hold arrays of numbers in NumPy's .npz format, undamaged."
        raise DataError(msg) from error
    missing = [name for name in (*_ARRAYS, "labels") if name not in arrays]
    if missing or arrays.get("format", np.array(b"csr")).item() not in (b"csr", "csr"):
        msg = (
            f"`{path}` must hold a CSR matrix and its labels; it lacks "
            f"{', '.join(missing) or 'the CSR format'}. Write it by numpy.savez(file, "
            "data=m.data, indices=m.indices, indptr=m.indptr, shape=m.shape, "
            "labels=labels)."
        )
        raise DataError(msg)
    return arrays


def _matrix(arrays: dict[str, npt.NDArray[Any]], path: Path) -> Any:
    """Return the matrix of an archive, its parts consistent and its numbers usable."""
    from scipy.sparse import csr_array

    try:
        rows, columns = (int(n) for n in arrays["shape"])
        # Indices of any width are welcome; SciPy wants signed ones.
        parts = (arrays["indices"].astype(np.int64), arrays["indptr"].astype(np.int64))
        data = arrays["data"].astype(np.float64)
        matrix = csr_array((data, *parts), shape=(rows, columns))
        # In full: an index that is out of range would be read from foreign memory.
        matrix.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        msg = f"`{path}` must hold a CSR matrix whose parts fit together: {error}."
        raise DataError(msg) from error
    if not np.isfinite(data).all():
        msg = f"`{path}` must hold finite numbers; some are not."
        raise DataError(msg)
    if not data.any():
        msg = f"`{path}` must hold numbers other than 0; it holds none."
        raise DataError(msg)
    return matrix


def _bandwidth(arrays: dict[str, npt.NDArray[Any]], path: Path) -> float | None:
    if "bandwidth" not in arrays:
        return None
    given = arrays["bandwidth"]
    if (
        given.size != 1
        or given.dtype.kind not in "iuf"
        or not 0.0 < given.item() < np.inf
    ):
        msg = f"`bandwidth` in `{path}` must be a number above 0; got {given}."
        raise DataError(msg)
    return float(given.item())


def normalised(matrix: Any, /) -> Any:
    """Return the rows divided by their L1 norms; rows of zeros stay as they are."""
    sums = np.asarray(abs(matrix).sum(axis=1)).ravel()
    result = matrix.copy()
    result.data = result.data / np.repeat(
        np.where(sums > 0.0, sums, 1.0), np.diff(result.indptr)
    )
    return result
