"""``fastmmd compare``."""

from __future__ import annotations

import os

from fastmmd.cli.commands.test import exit_status, report_result
from fastmmd.cli.data import check_counts, load_sketch
from fastmmd.cli.options import (
    DEFAULT_OUTPUT,
    DEFAULT_TESTING,
    DataPath,
    Output,
    Testing,
)


def compare(
    a: DataPath,
    b: DataPath,
    /,
    *,
    testing: Testing = DEFAULT_TESTING,
    output: Output = DEFAULT_OUTPUT,
) -> int:
    """Test whether two sketches are of data from the same distribution.

    The data are not needed: sketches hold all that the test looks at.

    Parameters
    ----------
    a
        A sketch.
    b
        A sketch made like the first.
    """
    sketches = [load_sketch(path) for path in (a, b)]
    names = [os.fspath(path) for path in (a, b)]
    check_counts(zip(names, sketches, strict=True))
    import fastmmd

    result = fastmmd.compare(*sketches, **testing.keywords())
    report_result(
        result,
        samples=names,
        testing=testing,
        output=output,
    )
    return exit_status(result, testing)
