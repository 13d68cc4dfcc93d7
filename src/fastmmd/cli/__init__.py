"""The command ``fastmmd``: arguments, files, progress and reports; no statistics.

Built on cyclopts: it takes options from signatures and help from docstrings, so that neither
is written twice, and a whole trivial command takes a quarter of a second where typer, which
loads pydantic, takes half of one or more. NumPy, PyArrow and the rest of the package are
loaded inside the commands, so ``fastmmd --help`` does not wait for them.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``fastmmd``; by default those that the process was started with.

    Returns
    -------
    int
        0: it worked. 1: `--fail-on-difference` and there is one. 2: wrong usage. 3: data
        that cannot be read or used. 70: a defect. 130: interrupted. 141: nobody reads the
        output.

    Examples
    --------
    >>> main(["tset", "a.csv", "b.csv"])  # and a line on standard error
    2
    """
    missing = [n for n in ("cyclopts", "rich") if importlib.util.find_spec(n) is None]
    if missing:
        sys.stderr.write(
            f"error: the command line needs {' and '.join(missing)}: "
            'pip install "fastmmd[cli]"\n'
        )
        return 2
    try:
        from fastmmd.cli.app import run

        return run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:  # so early that there is nothing to say
        return 130
