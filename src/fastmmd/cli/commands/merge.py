"""``fastmmd merge``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from fastmmd._errors import IncompatibleSketchError
from fastmmd.cli.commands.inspect import written_sketch_file
from fastmmd.cli.data import check_output, load_sketch
from fastmmd.cli.errors import UsageError
from fastmmd.cli.options import DEFAULT_OUTPUT, DataPath, Output
from fastmmd.cli.output import beside, count, write_json, write_report


def merge(
    *files: DataPath,
    to: Annotated[Path, Parameter(name=["--output", "-o"], metavar="FILE")],
    output: Output = DEFAULT_OUTPUT,
) -> int:
    """Add sketches up to one: that of all their data together.

    They must have been made alike, from different data.

    Parameters
    ----------
    files
        Sketches.
    to
        Where to write the sum; a file is replaced only when complete.
    """
    if not files:
        msg = "merge needs at least one sketch; got none."
        raise UsageError(msg)
    target = check_output(to)
    total = load_sketch(files[0])
    for path in files[1:]:
        try:
            total.merge(load_sketch(path))
        except IncompatibleSketchError as error:
            msg = f"`{path}`: {error}"
            raise IncompatibleSketchError(msg) from error
    with beside(target):
        total.save(target)
        held = written_sketch_file(to, total)
        if output.json:
            write_json(held.to_dict() | {"merged": len(files)})
        else:
            rows = count(total.count, "row")
            headline = f"Wrote {to}: {rows}, from {count(len(files), 'sketch', 'es')}."
            write_report(headline, held.summary())
    return 0
