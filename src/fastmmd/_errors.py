"""Exceptions and warnings that users may want to catch by name."""

from __future__ import annotations


class UndefinedEstimateError(ValueError):
    """The estimate asked for does not exist for these samples.

    An unbiased estimate needs two rows in each sample, for instance.
    """


class UnsupportedKernelError(ValueError):
    """The kernel lacks a property that the chosen method needs."""


class IncompatibleSketchError(ValueError):
    """Two sketches cannot be merged or compared; the message says what differs."""


MAKE_ALIKE = (
    "make one like the other, by its `like` or by `fastmmd.tables.sketch_source(like=)`"
)
"""The remedy for sketches that were not made alike; the command line has its own words."""


class SketchFileError(ValueError):
    """A file is not a sketch that can be read; the message says why."""


class DataError(ValueError):
    """A table or a file cannot be used; the message names it, the column and the row."""


class MissingDependencyError(ImportError):
    """An optional package is needed; the message names the install command."""


class ToleranceWarning(UserWarning):
    """The estimate stands, but the accuracy asked for was not reached."""


class DataWarning(UserWarning):
    """The data can be used, but a column is not what one would expect."""
