"""Every command of the tutorial is run, in order, and prints what the page says."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "tutorial-command-line.md"


def commands(text):
    """Return the commands of a page with the output that follows each."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL):
        for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = piece.partition("\n")
            found.append((command, output))
    return found


def test_the_tutorial(tmp_path, environment):
    if shutil.which("bash") is None:
        pytest.skip("needs bash")
    programs = tmp_path / "bin"
    programs.mkdir()
    script = programs / "fastmmd"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -W error -m fastmmd "$@"\n')
    script.chmod(0o755)
    folder = tmp_path / "home"
    folder.mkdir()
    path = os.pathsep.join([str(programs), environment["PATH"]])
    found = commands(PAGE.read_text("utf-8"))
    assert len(found) > 15
    # One shell for all, as a reader has; a line that no command prints ends each output.
    mark = "==== end of a command ===="
    after = f"status=$?; printf '{mark}\\n'; (exit $status)"
    typed = "".join(f"{command}\n{after}\n" for command, _ in found) + "true\n"
    done = subprocess.run(
        ["bash", "--norc", "--noprofile"],
        input=typed,
        env=environment | {"PATH": path, "HOME": str(folder)},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=True,
    )
    outputs = done.stdout.split(f"{mark}\n")
    assert outputs.pop() == ""
    checker = doctest.OutputChecker()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for (command, expected), got in zip(found, outputs, strict=True):
        assert checker.check_output(expected, got, flags), f"$ {command}\n{got}"
    unwanted = [path.name for path in (folder / "fastmmd-demo").glob("*.part")]
    assert not unwanted
