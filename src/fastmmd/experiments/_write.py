"""What a run leaves behind: CSV, pictures, a verdict, and what it was made with."""

from __future__ import annotations

import contextlib
import csv
import importlib.metadata
import io
import json
import numbers
import os
import platform
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmmd._files import move_file, writing
from fastmmd._threads import n_threads
from fastmmd.experiments._catalogue import NAMES
from fastmmd.experiments._report import QUICK
from fastmmd.experiments._style import save

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastmmd.experiments._experiment import Table
    from fastmmd.experiments._report import Report

_PACKAGES = ("fastmmd", "numpy", "scipy", "finufft", "matplotlib")


def check_out(out: str | os.PathLike[str], name: str, /) -> Path:
    """Return the folder of an experiment, which can be made and written to, not yet made.

    A place that cannot be written to is found before the work, not after it.
    """
    if not os.fspath(out):
        msg = "`out` must be a folder; got an empty path."
        raise ValueError(msg)
    folder = Path(out).expanduser() / name
    there = next(each for each in (folder, *folder.parents) if each.exists())
    if not there.is_dir():
        msg = f"`out` must be a folder; `{there}` is a file."
        raise ValueError(msg)
    if not os.access(there, os.W_OK):
        msg = f"`out` must be a folder that can be written to; `{there}` cannot."
        raise ValueError(msg)
    return folder


@contextlib.contextmanager
def replacing(folder: Path, /) -> Iterator[Path]:
    """Yield a new folder inside `folder` whose files move up when all are complete.

    If something fails, what was in `folder` before is still there, and no empty folder
    is left where there was none.
    """
    known = folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=".new-", dir=folder))
    try:
        yield new
        for file in sorted(new.iterdir()):
            move_file(file, folder / file.name)
    finally:
        shutil.rmtree(new, ignore_errors=True)
        if not known:
            # Only an empty one goes.
            with contextlib.suppress(OSError):
                folder.rmdir()


def write(report: Report, folder: Path, /) -> list[str]:
    """Write everything about a run into a folder and return the names of the files."""
    outcome = report.outcome
    texts = {f"{table.name}.csv": csv_text(table) for table in outcome.tables}
    texts["verdict.md"] = report.to_markdown()
    texts["conditions.json"] = json.dumps(conditions(report), indent=1) + "\n"
    for name, text in texts.items():
        # No translation of line ends: the same bytes on every system.
        (folder / name).write_text(text, encoding="utf-8", newline="")
    pictures = [file for picture in outcome.pictures for file in save(picture, folder)]
    return sorted([*texts, *(file.name for file in pictures)])


def write_summary(folder: Path, /) -> None:
    """Write a table of all experiments whose results are in a folder."""
    lines = [
        "| experiment | paper | verdict | claims | trials |",
        "|---|---|---|---|---|",
    ]
    some_quick = False
    for name in NAMES:
        file = folder / name / "conditions.json"
        if not file.exists():
            continue
        found = json.loads(file.read_text("utf-8"))
        claims = ", ".join(
            f"{n} {word if n == 1 else word.replace('s', '', 1)}"
            for word, n in found["claims"].items()
            if n
        )
        trials = f"{found['trials']}{', quick' if found['quick'] else ''}"
        cells = (f"`{name}`", found["paper"], found["holds"], claims, trials)
        lines.append("| " + " | ".join(cells) + " |")
        some_quick |= found["quick"]
    if some_quick:
        lines += ["", f"Quick: {QUICK}."]
    with writing(folder / "summary.md") as stream:
        stream.write(("\n".join(lines) + "\n").encode())


def csv_text(table: Table, /) -> str:
    """Return a table as CSV, numbers with as many digits as mean something."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(table.columns)
    for row in zip(*table.columns.values(), strict=True):
        writer.writerow([_cell(value) for value in row])
    return stream.getvalue()


def conditions(report: Report, /) -> dict[str, Any]:
    """Return what a run was made with; nothing that names the machine."""
    from fastmmd._backends import native

    return {
        "experiment": report.name,
        "paper": report.paper,
        "holds": report.holds,
        "claims": {
            word: sum(verdict.holds == word for verdict in report.verdicts)
            for word in ("holds", "holds partly", "fails")
        },
        "trials": report.trials,
        "quick": report.quick,
        "seed": report.seed,
        "seconds": float(f"{report.seconds:.3g}"),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "compiled_extension": native.available(),
        "processor": _processor(),
        "threads": n_threads(),
        "tables": {f"{table.name}.csv": table.about for table in report.outcome.tables},
    }


def _cell(value: Any) -> str:
    if isinstance(value, (str, bool, np.bool_)):
        return str(value)
    if isinstance(value, numbers.Integral):
        return str(int(value))
    # Eight digits: rounding that differs between processors stays out of sight.
    return f"{float(value):.8g}"


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()
