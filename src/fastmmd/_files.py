"""Files that are replaced when complete: the one way in which anything is written.

A temporary file beside the target takes its place in one step, or is removed. That must only
ever be done to files. A pipe or a device, such as ``/dev/stdout``, is no place for a file but
a way to somewhere else: it is written to as it is.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import secrets
import shutil
import stat
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def writing(path: str | os.PathLike[str], /) -> Iterator[IO[bytes]]:
    """Yield a stream for the content of a file; the old one stays until it is complete.

    Of a link the file that it leads to is made or replaced. Pipes and devices that take one
    byte after the other are written to directly.
    """
    try:
        with _stream_to(path) as stream:
            yield stream
    except OSError as error:
        if error.errno is None or error.filename == os.fspath(path):
            raise
        # A full disk does not say which file it has no room for.
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def is_way_out(path: str | os.PathLike[str], /) -> bool:
    """Return whether a path is that of a pipe or a terminal, or of a device like those."""
    # Asked of the path as it is: what /dev/stdout leads to may have no name of its own.
    mode = _mode(path)
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def move_file(new: pathlib.Path, path: pathlib.Path, /) -> None:
    """Put a file that is complete where `writing` would have written it."""
    mode = _mode(path)
    if path.is_symlink() or (mode and not stat.S_ISREG(mode)):
        # It may lead to another disk, onto which nothing can be moved in one step.
        with new.open("rb") as content, writing(path) as stream:
            shutil.copyfileobj(content, stream)
        new.unlink()
    else:
        new.replace(path)


def remove_leftovers(path: str | os.PathLike[str], /) -> None:
    """Remove what killed processes left while they wrote a file of this name."""
    target = pathlib.Path(path).resolve()
    ours = re.compile(re.escape(f".{target.name}.") + "[0-9a-f]{16}")
    for other in target.parent.iterdir():
        if ours.fullmatch(other.name):
            other.unlink(missing_ok=True)


@contextlib.contextmanager
def _stream_to(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    mode = _mode(path)
    if is_way_out(path):
        with pathlib.Path(path).open("wb") as stream:
            yield stream
        return
    if stat.S_ISDIR(mode):
        msg = f"`{os.fspath(path)}` must be a file; it is a folder."
        raise IsADirectoryError(msg)
    if mode and not stat.S_ISREG(mode):
        msg = f"`{os.fspath(path)}` must be a file or a pipe; it is a disk or a socket."
        raise OSError(msg)
    target = pathlib.Path(path).resolve()
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        # Opened like any new file, so that it gets the usual permissions.
        with temporary.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _mode(path: str | os.PathLike[str]) -> int:
    """Return what a path leads to, 0 if there is nothing."""
    try:
        return pathlib.Path(path).stat().st_mode
    except FileNotFoundError:
        return 0
