"""Exceptions and warnings that users may want to catch by name."""

from __future__ import annotations


class UndefinedEstimateError(ValueError):
    """The estimate asked for does not exist for these samples.

    An unbiased estimate needs two rows in each sample, for instance.

    Examples
    --------
    >>> import fastmmd
    >>> try:
    ...     fastmmd.mmd([1.0], [2.0, 3.0], kernel=fastmmd.Gaussian(1.0))
    ... except fastmmd.UndefinedEstimateError as error:
    ...     print(str(error).partition(";")[0])
    the unbiased estimate must have at least 2 rows in each sample
    """


class UnsupportedKernelError(ValueError):
    """The kernel lacks a property that the chosen method needs.

    Examples
    --------
    >>> import fastmmd
    >>> method = fastmmd.Fourier(64, sampling="orthogonal")
    >>> try:
    ...     fastmmd.mmd(
    ...         [1.0, 2.0], [3.0, 5.0], kernel=fastmmd.Laplace(1.0), method=method
    ...     )
    ... except fastmmd.UnsupportedKernelError as error:
    ...     print(str(error).partition(";")[0])
    `sampling` must be "iid" or "sobol" for a kernel that is not radial
    """


class IncompatibleSketchError(ValueError):
    """Two sketches cannot be merged or compared; the message says what differs.

    Examples
    --------
    >>> import fastmmd
    >>> one, other = (fastmmd.Sketch(fastmmd.Gaussian(width), 2) for width in (1.0, 2.0))
    >>> try:
    ...     one.merge(other)
    ... except fastmmd.IncompatibleSketchError as error:
    ...     print(str(error).partition(":")[0])
    sketches must be made alike to be merged
    """


MAKE_ALIKE = (
    "make one like the other, by its `like` or by `fastmmd.tables.sketch_source(like=)`"
)
"""The remedy for sketches that were not made alike; the command line has its own words."""

GIVEN_AS_LIKE = "the sketch that is given as `like`"
"""What decides how data become numbers; the command line has its own words here, too."""


class SketchFileError(ValueError):
    """A file is not a sketch that can be read; the message says why.

    Examples
    --------
    >>> import fastmmd
    >>> try:
    ...     fastmmd.Sketch.from_bytes(b"not a sketch")
    ... except fastmmd.SketchFileError as error:
    ...     print(error)
    `data` must be a sketch file; it does not start as one.
    """


class DataError(ValueError):
    """A table or a file cannot be used; the message names it, the column and the row.

    Examples
    --------
    >>> import pyarrow as pa, fastmmd
    >>> table = pa.table({"delay": [1.0, None, 3.0]})
    >>> try:
    ...     fastmmd.two_sample_test(table, table)
    ... except fastmmd.DataError as error:
    ...     print(str(error).partition(".")[0])
    `x` must have no missing values; got, in 3 rows: 1 in `delay`
    """


class MissingDependencyError(ImportError):
    """An optional package is needed; the message names the install command.

    Examples
    --------
    >>> import fastmmd
    >>> issubclass(fastmmd.MissingDependencyError, ImportError)
    True
    """


class ToleranceWarning(UserWarning):
    """The estimate stands, but the accuracy asked for was not reached.

    Examples
    --------
    >>> import warnings, fastmmd
    >>> method = fastmmd.Fourier(8, tolerance=1e-6, max_frequencies=16)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     estimate = fastmmd.mmd(
    ...         [0.0, 1.0], [1.0, 3.0], kernel=fastmmd.Gaussian(1.0), method=method, rng=0
    ...     )
    >>> caught[0].category.__name__
    'ToleranceWarning'
    """


class ResolutionWarning(UserWarning):
    """A level was asked about that no p-value of this test could have reached.

    Examples
    --------
    >>> import warnings, fastmmd
    >>> result = fastmmd.two_sample_test(range(20), range(50, 90), rng=0)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     result.rejects(1e-5)
    False
    >>> str(caught[0].message).partition(".")[0]
    'a level of 1e-05 cannot be reached: The smallest possible p-value with 999 relabellings is 0'
    """


class DataWarning(UserWarning):
    """The data can be used, but a column is not what one would expect.

    Examples
    --------
    >>> import warnings, pyarrow as pa, fastmmd
    >>> table = pa.table({"delay": [1.0, 2.0, 3.0, 4.0], "constant": [7, 7, 7, 7]})
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     schema = fastmmd.tables.Schema.infer(table)
    >>> [str(warning.message) for warning in caught]
    ['constant columns, which tell nothing: `constant`.']
    """
