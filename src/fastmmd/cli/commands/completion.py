"""``fastmmd completion``."""

from __future__ import annotations

import sys
from typing import Literal


def completion(shell: Literal["bash", "zsh", "fish"], /) -> int:
    """Print the script that lets a shell complete commands, options and file names.

    For bash put the line of the first example into ~/.bashrc; zsh and fish look for a file.

    Parameters
    ----------
    shell
        The shell.
    """
    from fastmmd.cli.app import make_app

    sys.stdout.write(make_app().generate_completion(prog_name="fastmmd", shell=shell))
    return 0
