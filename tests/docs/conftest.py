"""A shell like that of a reader, for the commands on the pages."""

from __future__ import annotations

import os
import shutil
import sys

import pages
import pytest


@pytest.fixture
def shell_environment(tmp_path):
    """Return the environment of a reader who installed the package and set nothing."""
    if shutil.which("bash") is None:
        pytest.skip("needs bash")
    pytest.importorskip("pyarrow")
    pytest.importorskip("cyclopts")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, words in (
        ("fastmmd", "-W error -m fastmmd"),
        ("python", ""),
        ("pytest", "-m pytest"),
    ):
        script = programs / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        script.chmod(0o755)
    unset = ("NO_COLOR", "FORCE_COLOR", "PYTEST_ADDOPTS", "COV_CORE_SOURCE")
    kept = {name: value for name, value in os.environ.items() if name not in unset}
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    path = os.pathsep.join([str(programs), kept["PATH"]])
    return (
        kept
        | threads
        | {
            "PATH": path,
            "PYTHONPATH": str(pages.ROOT / "src"),
            "TERM": "xterm",
            "COLUMNS": "100",
        }
    )
