"""Writing: files are replaced when complete, and what is no file is never replaced.

Pipes stand for devices: as root, a mistake would replace a real one for all processes.
"""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import numpy as np
import pytest

from fastmmd import Gaussian, Sketch
from fastmmd._files import is_way_out, move_file, writing

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes and links of POSIX")


def write(path, data=b"new"):
    with writing(path) as stream:
        stream.write(data)


def move(path, data=b"new"):
    new = path.parent / "made elsewhere"
    new.write_bytes(data)
    move_file(new, path)
    assert not new.exists()


def save_sketch(path):
    sketch = Sketch(Gaussian(1.0), 2, n_frequencies=4, n_bins=4, stream="a")
    sketch.update(np.ones((3, 2)))
    sketch.save(path)
    return sketch.to_bytes()


@pytest.fixture
def pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def read_while(pipe, action):
    """Return what comes out of a pipe while something is done."""
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    reader.start()
    outcome = action()
    reader.join(timeout=20)
    assert not reader.is_alive()
    return found[0], outcome


@pytest.mark.parametrize("by", [write, move])
def test_a_file_is_made_and_replaced(by, tmp_path):
    path = tmp_path / "file"
    for data in (b"first", b"second, longer"):
        by(path, data)
        assert path.read_bytes() == data
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
    usual = tmp_path / "usual"
    usual.touch()
    assert path.stat().st_mode == usual.stat().st_mode


@pytest.mark.parametrize("by", [write, move])
@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_what_it_leads_to_is_written(by, there, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "file", tmp_path / "link"
    if there:
        target.write_bytes(b"old")
    # A link to a link, and one of them relative.
    (tmp_path / "between").symlink_to("elsewhere/file")
    link.symlink_to(tmp_path / "between")
    by(link)
    assert link.is_symlink()
    assert (tmp_path / "between").is_symlink()
    assert target.read_bytes() == b"new"
    assert [p.name for p in target.parent.iterdir()] == ["file"]


def test_what_a_link_leads_to_is_replaced_and_not_written_in_place(tmp_path):
    target, link = tmp_path / "file", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with target.open("rb") as reader:
        write(link)
        assert reader.read() == b"old"


@pytest.mark.parametrize("by", [write, move])
@pytest.mark.parametrize("through_a_link", [False, True])
def test_a_pipe_is_written_to_and_stays(by, through_a_link, pipe):
    path = pipe
    if through_a_link:
        path = pipe.with_name("link")
        path.symlink_to(pipe)
    assert is_way_out(path)
    found, _ = read_while(pipe, lambda: by(path, b"0123" * 50_000))
    assert found == b"0123" * 50_000
    assert pipe.is_fifo()
    assert path.is_symlink() == through_a_link


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="links of Linux")
def test_a_descriptor_without_a_name_is_written_to():
    # What /dev/stdout leads to in a pipeline.
    reading, writing_end = os.pipe()
    try:
        write(f"/proc/self/fd/{writing_end}")
        assert os.read(reading, 100) == b"new"
    finally:
        os.close(reading)
        os.close(writing_end)


def test_a_sketch_goes_through_a_pipe(pipe):
    found, expected = read_while(pipe, lambda: save_sketch(pipe))
    assert found == expected
    assert Sketch.from_bytes(found).count == 3


def test_folders_and_sockets_are_refused(tmp_path, monkeypatch):
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for by in (write, move):
            with pytest.raises(
                OSError, match=r"`.*socket` must be a file or a pipe; it is"
            ):
                by(tmp_path / "socket")
            (tmp_path / "made elsewhere").unlink(missing_ok=True)
            with pytest.raises(
                IsADirectoryError, match=r"`.*folder` must be a file; it is"
            ):
                by(tmp_path / "folder")
            (tmp_path / "made elsewhere").unlink(missing_ok=True)
    assert (tmp_path / "socket").is_socket()
    assert not list((tmp_path / "folder").iterdir())
    assert not is_way_out(tmp_path / "folder")
    assert not is_way_out(tmp_path / "not there")


def test_a_failure_names_the_path_as_it_was_given(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "no folder" / "file")
    with pytest.raises(FileNotFoundError) as caught:
        write(tmp_path / "link")
    assert caught.value.filename == str(tmp_path / "link")
