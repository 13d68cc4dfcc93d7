"""``fastmmd sketch``."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from fastmmd._files import is_way_out, remove_leftovers
from fastmmd.cli.commands.inspect import written_sketch_file
from fastmmd.cli.data import check_output, gathering_notes, is_sketch, load_sketch
from fastmmd.cli.errors import Interrupted, UsageError
from fastmmd.cli.options import (
    DEFAULT_COLUMNS,
    DEFAULT_OUTPUT,
    DEFAULT_READING,
    Columns,
    DataPath,
    Flag,
    KernelName,
    Output,
    Reading,
    check_seed,
)
from fastmmd.cli.output import beside, count, duration, notes, write_json, write_report
from fastmmd.cli.progress import brief, watching


def sketch(
    *data: DataPath,
    to: Annotated[Path, Parameter(name=["--output", "-o"], metavar="FILE")],
    like: Annotated[Path | None, Parameter(metavar="SKETCH")] = None,
    resume: Flag = False,
    checkpoint_seconds: float = 30.0,
    kernel: KernelName = "adaptive",
    bins: int = 256,
    seed: int = 0,
    stream: Annotated[str | None, Parameter(metavar="NAME")] = None,
    threads: int | None = None,
    reading: Reading = DEFAULT_READING,
    columns: Columns = DEFAULT_COLUMNS,
    output: Output = DEFAULT_OUTPUT,
) -> int:
    """Summarise a data set of any size in a sketch of a few megabytes.

    Sketches of different data can be compared and merged if they were made alike: make the
    first one freely and the others with --like. While it works a checkpoint, FILE.part, lies
    beside the output; after an interruption --resume goes on from there. The output
    may be a pipe; if it is standard output, the report goes to standard error.

    Parameters
    ----------
    data
        Data; several files, folders or patterns become one sketch.
    to
        Where to write the sketch; a file is replaced only when complete.
    like
        A sketch to be comparable with: its columns, scales and kernels are used.
    resume
        Go on from the checkpoint of an interrupted run, also in the middle of a file. The
        result is the same to the last bit as without the interruption.
    checkpoint_seconds
        Time between two checkpoints.
    kernel
        Kernel; "adaptive" chooses several.
    bins
        Slots that rows are sent to at random; a power of two.
    seed
        Seed of the kernels' frequencies; sketches must share it.
    stream
        Name of the data, which decides where rows go. By default it follows from the paths,
        sizes and dates of the files.
    threads
        Threads that compute; it does not change the result.
    """
    if not data:
        msg = "sketch needs data: a file, a folder, a pattern or a URL."
        raise UsageError(msg)
    target = check_output(to)
    # Asked now: standard output may lead to the file that is about to be replaced.
    reporting = beside(target)
    checkpoint = _checkpoint_of(target, resume=resume)
    there = checkpoint is not None and checkpoint.exists()
    reference = None if like is None else load_sketch(like)
    paths = [os.fspath(path) for path in data]
    sketches = [path for path in paths if is_sketch(path)]
    if sketches:
        msg = (
            f"sketch needs data; `{sketches[0]}` is a sketch already. `fastmmd merge` adds "
            "sketches up."
        )
        raise UsageError(msg)
    source = reading.open(paths[0] if len(paths) == 1 else paths)
    start = time.monotonic()
    from fastmmd.tables import sketch_source

    with (
        gathering_notes() as told,
        watching(quiet=output.quiet, resumed=there) as watcher,
    ):
        try:
            made = sketch_source(
                source,
                like=reference,
                **columns.keywords(),
                kernel=kernel,
                n_bins=bins,
                rng=check_seed(seed),
                stream=stream,
                n_threads=threads,
                progress=watcher,
                checkpoint=checkpoint,
                checkpoint_seconds=checkpoint_seconds,
                resume=resume,
            )
            made.save(target)
        except KeyboardInterrupt as error:
            raise _interrupted(checkpoint) from error
        except OSError as error:
            if checkpoint is not None and checkpoint.exists():
                error.add_note(
                    "The same command with --resume goes on from where it was."
                )
            raise
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
        for path in (checkpoint, target) if there else ():
            remove_leftovers(path)
    if resume and not there:
        told.append("there was no checkpoint, so the data were read from the start.")
    seconds = time.monotonic() - start
    n_dropped = sum(watcher.n_dropped.values())
    held = written_sketch_file(to, made)
    with reporting:
        if output.json:
            write_json(held.to_dict() | {"rows_left_out": n_dropped, "notes": told})
            return 0
        if n_dropped:
            told.append(f"{count(n_dropped, 'row')} with missing values left out.")
        speed = f"{brief(sum(watcher.n_read.values()) / max(seconds, 1e-9))} rows/s"
        write_report(
            f"Wrote {to}: a sketch of {count(made.count, 'row')}.",
            [*held.summary(), ("time", f"{duration(seconds)}, {speed}"), *notes(told)],
        )
    return 0


def _checkpoint_of(target: Path, *, resume: bool) -> Path | None:
    """Return the checkpoint beside a file; None for a pipe, which has nothing beside it."""
    if is_way_out(target):
        if resume:
            msg = f"--resume needs a file as --output; `{target}` is a pipe or a device."
            raise UsageError(msg)
        return None
    checkpoint = target.with_name(target.name + ".part")
    if checkpoint.exists() and not resume:
        msg = (
            f"`{checkpoint}` is the checkpoint of an interrupted run: go on from it with "
            "--resume, or remove it to start anew."
        )
        raise UsageError(msg)
    return checkpoint


def _interrupted(checkpoint: Path | None) -> Interrupted:
    if checkpoint is not None and checkpoint.exists():
        return Interrupted(
            "interrupted; the same command with --resume goes on from here."
        )
    return Interrupted("interrupted; nothing was written.")
