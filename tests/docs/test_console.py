"""Every command on a page is run, in order, and prints what the page says."""

from __future__ import annotations

import doctest
import subprocess

import pages
import pytest

NEEDS = {"docs/how-to/gpu.md": "torch"}
"""Packages that the environment of the tests may be without."""

WITH_COMMANDS = [
    str(path.relative_to(pages.ROOT)) for path in pages.pages() if pages.commands(path)
]


def test_pages_with_commands_are_found():
    assert {"docs/tutorial-command-line.md", *NEEDS} < set(WITH_COMMANDS)


@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_commands(page, tmp_path, shell_environment):
    if page in NEEDS:
        pytest.importorskip(NEEDS[page])
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "examples").symlink_to(pages.ROOT / "examples")
    found = pages.commands(pages.ROOT / page)
    # One shell for all, as a reader has; a line that no command prints ends each output.
    mark = "==== end of a command ===="
    after = f"status=$?; printf '{mark}\\n'; (exit $status)"
    typed = "".join(f"{command}\n{after}\n" for command, _ in found) + "true\n"
    done = subprocess.run(
        ["bash", "--norc", "--noprofile"],
        input=typed,
        env=shell_environment | {"HOME": str(folder)},
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
    unwanted = [path.name for path in folder.rglob("*.part")]
    assert not unwanted
