"""From what the user wrote (a path, a folder, a pattern, a URL, a list) to files.

PyArrow's own file systems are used for local files, S3, Google, Azure and HDFS; they need no
further package and are several times faster than going through fsspec, which serves any
other URL.
"""

from __future__ import annotations

import difflib
import fnmatch
import os
import posixpath
import re
import urllib.parse
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa
import pyarrow.fs as pafs

from fastmmd._errors import DataError, MissingDependencyError
from fastmmd.tables.formats import File

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".npy": "numpy",
    ".npz": "numpy",
}
FORMATS = tuple(dict.fromkeys(SUFFIXES.values()))

_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")
_MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\x93NUMPY": "numpy",
    b"PK\x03\x04": "numpy",
}
_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://")
_MOST_NAMES = 5
"""Names that an error lists."""

_NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"


def find_files(
    data: Any, /, *, filesystem: Any = None, format_name: str | None = None
) -> tuple[Any, list[File], str]:
    """Return the file system, the files in a fixed order, and the name of their format."""
    items = [data] if isinstance(data, (str, os.PathLike)) else list(data)
    if not items:
        msg = "`data` must name at least one file; got an empty list."
        raise DataError(msg)
    if "" in items:
        msg = "`data` must be a path, a pattern or a URL; got an empty text."
        raise DataError(msg)
    found: dict[str, pafs.FileInfo] = {}
    labels: dict[str, str] = {}
    roots, system = [], None
    alone = False
    for item in items:
        here, path = _locate(os.fspath(item), filesystem)
        if system is not None and not here.equals(system):
            msg = f"`data` must be in one place; got {items[0]!r} and {item!r}."
            raise DataError(msg)
        system = here
        root, infos, alone = _search(here, path, os.fspath(item), format_name)
        roots.append(root)
        here_called = _labels(os.fspath(item), root, infos, alone=alone)
        twice = [here_called[info.path] for info in infos if info.path in found]
        if twice:
            msg = f"`data` must name every file once; got `{twice[0]}` twice."
            raise DataError(msg)
        found |= {info.path: info for info in infos}
        labels |= here_called
    root = roots[0] if len(roots) == 1 else posixpath.commonpath(roots)
    single = alone and len(items) == 1
    files = [
        _file(info, None if single else root, labels[path])
        for path, info in found.items()
    ]
    files.sort(key=lambda file: file.identity)
    return system, files, format_name or _one_format(system, files, data)


def _locate(text: str, filesystem: Any) -> tuple[Any, str]:
    """Return the file system and the path in it; a pattern stays one."""
    if filesystem is not None:
        return _as_filesystem(filesystem), text.rstrip("/")
    if not _URL.match(text):
        path = os.path.abspath(os.path.expanduser(text))  # noqa: PTH100, PTH111
        return pafs.LocalFileSystem(), path.replace(os.sep, "/")
    # In a URL a question mark starts the options of the file system.
    place, mark, query = text.partition("?")
    plain, pattern = _split_pattern(place, marks="*[")
    try:
        system, path = pafs.FileSystem.from_uri(plain + mark + query)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        system, path = _through_fsspec(plain + mark + query)
    except OSError as error:
        msg = f"`{text}` must be a place that can be reached; {error}."
        raise DataError(msg) from error
    return system, posixpath.join(path, pattern) if pattern else path.rstrip("/")


def _through_fsspec(url: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError as error:
        msg = f"`{url}` needs fsspec and the package for its kind: pip install fsspec"
        raise MissingDependencyError(msg) from error
    try:
        system, path = fsspec.core.url_to_fs(url)
    except ImportError as error:
        msg = f"`{url}` needs a further package; {error}."
        raise MissingDependencyError(msg) from error
    except (ValueError, OSError) as error:
        msg = f"`{url}` must be a path or a URL of a known kind; {error}"
        raise DataError(msg) from error
    return _as_filesystem(system), path


def _as_filesystem(filesystem: Any) -> Any:
    if isinstance(filesystem, pafs.FileSystem):
        return filesystem
    return pafs.PyFileSystem(pafs.FSSpecHandler(filesystem))


def _split_pattern(path: str, *, marks: str = "*?[") -> tuple[str, str]:
    """Split a path into the folder before the first wildcard and the rest."""
    match = re.search(f"[{re.escape(marks)}]", path)
    if match is None:
        return path, ""
    folder, _, rest = path[: match.start()].rpartition("/")
    return folder or "/", rest + path[match.start() :]


def _search(
    system: Any, path: str, text: str, format_name: str | None
) -> tuple[str, list[pafs.FileInfo], bool]:
    """Return the root, the files, and whether the path is that of one file."""
    try:
        info = system.get_file_info(path)
        if info.type == pafs.FileType.File:
            return posixpath.dirname(path), [info], True
        if info.type == pafs.FileType.Unknown:
            _refuse_pipe(text)
        if info.type == pafs.FileType.Directory:
            root, infos = path, list(_below(system, path, format_name))
        else:
            # A file may have a star in its name: the pattern comes second.
            root, pattern = _split_pattern(path)
            if not pattern:
                _refuse_path(system, path, text)
            infos = _matches(system, root, pattern, format_name)
    except DataError:
        raise
    except PermissionError as error:
        msg = f"`{text}` must be a place that you may read; permission is denied."
        raise DataError(msg) from error
    except (OSError, pa.ArrowException) as error:
        msg = f"`{text}` must be a place that can be reached; {error}."
        raise DataError(msg) from error
    if not infos and info.type != pafs.FileType.Directory:
        msg = f"`{text}` must be a pattern that some files match; none does."
        raise DataError(msg)
    if not infos:
        known = ", ".join(SUFFIXES)
        msg = (
            f"`{text}` must hold data files; none is there whose name ends in {known}. "
            "For other names pass `format`."
        )
        raise DataError(msg)
    return root, infos, False


def _matches(
    system: Any, root: str, pattern: str, format_name: str | None
) -> list[pafs.FileInfo]:
    infos: dict[str, pafs.FileInfo] = {}
    for path in _expand(system, root, pattern.split("/")):
        info = system.get_file_info(path)
        if info.type == pafs.FileType.File:
            infos[path] = info
        elif info.type == pafs.FileType.Directory and not pattern.endswith("**"):
            infos |= {inner.path: inner for inner in _below(system, path, format_name)}
    # A wide pattern also finds what lies beside data.
    known = [info for path, info in infos.items() if format_of(path) is not None]
    return known if known and format_name is None else list(infos.values())


def _expand(system: Any, base: str, segments: Sequence[str]) -> Iterator[str]:
    """Yield the paths that a pattern matches, one folder level at a time."""
    if not segments:
        yield base
        return
    first, rest = segments[0], segments[1:]
    if first == "**":
        selector = pafs.FileSelector(base, recursive=True, allow_not_found=True)
        infos = [i for i in system.get_file_info(selector) if not _hidden(i.path, base)]
        kind = pafs.FileType.Directory if rest else pafs.FileType.File
        inner = [info.path for info in infos if info.type == kind]
        for folder in [base, *inner] if rest else inner:
            yield from _expand(system, folder, rest)
    elif re.search(r"[*?\[]", first):
        selector = pafs.FileSelector(base, allow_not_found=True)
        for info in system.get_file_info(selector):
            fits = fnmatch.fnmatchcase(info.base_name, first)
            leads_on = not rest or info.type == pafs.FileType.Directory
            if fits and leads_on and not _hidden(info.path, base):
                yield from _expand(system, info.path, rest)
    else:
        yield from _expand(system, posixpath.join(base, first), rest)


def _below(system: Any, folder: str, format_name: str | None) -> Iterator[pafs.FileInfo]:
    for info in system.get_file_info(pafs.FileSelector(folder, recursive=True)):
        # Notes and checksums lie beside data: only what is known to be data counts.
        known = format_name is not None or format_of(info.path) is not None
        if info.type == pafs.FileType.File and known and not _hidden(info.path, folder):
            yield info


def _hidden(path: str, root: str) -> bool:
    """Return whether a path below `root` is one that programs leave for themselves."""
    return any(
        part[:1] in ("_", ".") for part in posixpath.relpath(path, root).split("/")
    )


def _labels(
    text: str, root: str, infos: Sequence[pafs.FileInfo], *, alone: bool
) -> dict[str, str]:
    """Return what to call files in messages: the path as it was typed, and what follows."""
    if alone:
        return {info.path: text for info in infos}
    text = _without_query(text)
    wildcard = re.search(r"[*?[]", text)
    typed = text if wildcard is None else text[: wildcard.start()].rpartition("/")[0]
    return {
        info.path: posixpath.join(typed, posixpath.relpath(info.path, root))
        for info in infos
    }


def _file(info: pafs.FileInfo, root: str | None, label: str) -> File:
    identity = "" if root is None else posixpath.relpath(info.path, root)
    pairs = []
    for part in identity.split("/")[:-1]:
        name, mark, value = part.partition("=")
        if mark and name:
            text = urllib.parse.unquote(value)
            pairs.append(
                (urllib.parse.unquote(name), None if text == _NULL_PARTITION else text)
            )
    size = info.size if info.size is not None and info.size >= 0 else None
    return File(info.path, identity, size, info.mtime_ns, tuple(pairs), label)


def format_of(path: str, /) -> str | None:
    """Return the format that a file's name tells."""
    name = path.lower()
    for suffix in _COMPRESSED:
        name = name.removesuffix(suffix)
    found = SUFFIXES.get(posixpath.splitext(name)[1])
    compressed = name != path.lower()
    return None if compressed and found not in ("csv", "jsonl") else found


def _one_format(system: Any, files: Sequence[File], data: Any) -> str:
    found = {format_of(file.path) or _sniff(system, file) for file in files}
    if len(found) > 1:
        listed = ", ".join(sorted(str(name) for name in found))
        msg = f"`{data}` must hold files of one format; got {listed}. Name them by a pattern."
        raise DataError(msg)
    (name,) = found
    return name


def _sniff(system: Any, file: File) -> str:
    """Return the format that the first bytes tell."""
    try:
        with system.open_input_stream(file.path, compression=None) as stream:
            start = bytes(stream.read(8))
    except OSError as error:
        msg = f"`{file.shown}` must be a file that can be read; {error}."
        raise DataError(msg) from error
    for magic, name in _MAGIC.items():
        if start.startswith(magic):
            return name
    listed = ", ".join(f'"{name}"' for name in FORMATS)
    msg = (
        f"`{file.shown}` must be of a known format, by its name or its first bytes. Pass "
        f"`format`, one of {listed}."
    )
    raise DataError(msg)


def _refuse_pipe(text: str) -> NoReturn:
    msg = (
        f"`{text}` must be a file or a folder; it is a device or a pipe, and data are read "
        "more than once. Write them to a file first."
    )
    raise DataError(msg)


def _without_query(text: str) -> str:
    """Return a URL without the options of the file system, and a path as it is."""
    return text.partition("?")[0] if _URL.match(text) else text


def near_names(name: str, names: Sequence[str], /) -> list[str]:
    """Return which of the names may have been meant, the nearest first."""
    # All files of a folder end alike: what comes before the first dot tells them apart.
    stems: dict[str, list[str]] = {}
    for own in names:
        stems.setdefault(own.partition(".")[0], []).append(own)
    near = difflib.get_close_matches(name.partition(".")[0], stems, n=2, cutoff=0.6)
    found = [own for stem in near for own in stems[stem]]
    found.sort(key=lambda own: -difflib.SequenceMatcher(None, name, own).ratio())
    return found[:2]


def _refuse_path(system: Any, path: str, text: str) -> NoReturn:
    """Raise for a path that does not exist, and say what does, as it would be typed."""
    folder, name = posixpath.split(path)
    typed, rest = posixpath.dirname(_without_query(text)), ""
    while folder not in ("", "/"):
        if system.get_file_info(folder).type == pafs.FileType.Directory:
            break
        rest = posixpath.join(name, rest)
        folder, name = posixpath.split(folder)
        typed = posixpath.dirname(typed)
    typed = f"{typed}//" if typed.endswith(":") else typed
    inside = system.get_file_info(pafs.FileSelector(folder, allow_not_found=True))
    names = sorted(i.base_name for i in inside if not i.base_name.startswith("."))
    near = near_names(name, names)
    if near:
        # One folder may be misspelt, and all below it right.
        whole = [posixpath.join(own, rest).rstrip("/") for own in near]
        infos = system.get_file_info([posixpath.join(folder, own) for own in whole])
        found = [i.type != pafs.FileType.NotFound for i in infos]
        near = [own for own, ok in zip(whole, found, strict=True) if ok] or near
        listed = " or ".join(f"`{posixpath.join(typed, own)}`" for own in near)
        hint = f" Did you mean {listed}?"
    else:
        # Data first.
        names.sort(key=lambda own: format_of(own) is None)
        more = ", …" if len(names) > _MOST_NAMES else ""
        listed = ", ".join(f"`{own}`" for own in names[:_MOST_NAMES])
        hint = f" In `{typed or '.'}` there is {listed}{more}." if names else ""
    msg = f"`{text}` must be a file or a folder; there is none.{hint}"
    raise DataError(msg)
