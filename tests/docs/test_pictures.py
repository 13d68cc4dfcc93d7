"""The pictures: both variants are there, are used, and show the measurements that are kept."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys

import pages
import pytest

FOLDER = pages.DOCS / "pictures"
FILES = sorted((FOLDER / "svg").glob("*.svg"))
SUFFIXES = ("", "-dark")

USED = sorted(
    {
        block.argument
        for path in pages.pages()
        for block in pages.blocks(path)
        if block.language == "{picture}" and "/" not in block.argument
    }
)


def registered():
    """Return the names that the scripts draw."""
    scripts = "".join(path.read_text("utf-8") for path in sorted(FOLDER.glob("*.py")))
    return sorted(re.findall(r'^@picture\(\n    "([\w-]+)"', scripts, re.MULTILINE))


def test_pictures_are_found():
    assert len(FILES) > 30
    assert len(USED) > 15


def test_what_is_drawn_is_shown_and_the_reverse():
    assert registered() == USED
    wanted = {f"{name}{suffix}.svg" for name in USED for suffix in SUFFIXES}
    assert {file.name for file in FILES} == wanted


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_files(file):
    text = file.read_text("utf-8")
    assert re.search(r"<dc:title>[^<]{40,}</dc:title>", text), (
        "text for those who cannot see"
    )
    assert "<dc:date>" not in text
    assert "Matplotlib v" not in text
    # The page shows through: the first patch is the background, and it is not filled.
    background = re.search(r'<g id="patch_1">\s*<path[^>]*style="([^"]*)"', text)
    assert background is not None
    assert re.search(r"fill: none|opacity: 0", background[1])
    assert not re.search(r"https?://(?!www\.w3\.org|purl\.org|creativecommons)", text)
    assert len(text) < 400_000


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_measurements_are_those_that_are_kept(file):
    for path, digest in re.findall(
        r"^<!-- (\S+) (\w+) -->$", file.read_text("utf-8"), re.MULTILINE
    ):
        content = (pages.ROOT / path).read_bytes()
        assert hashlib.sha256(content).hexdigest()[:16] == digest, (
            f"{path} was measured anew: make pictures PICTURES={file.stem}"
        )


def test_variants_differ_in_colours():
    for name in USED:
        light, dark = (
            (FOLDER / "svg" / f"{name}{suffix}.svg").read_text("utf-8")
            for suffix in SUFFIXES
        )
        assert light != dark
        assert "#1f2328" in light
        assert "#e6e8eb" in dark


def test_the_same_picture_is_the_same_file(tmp_path):
    pytest.importorskip("matplotlib")
    found = []
    for run in "ab":
        command = [sys.executable, FOLDER / "draw.py", "cluster", "--out", tmp_path / run]
        subprocess.run(command, check=True, capture_output=True)
        files = sorted((tmp_path / run).iterdir())
        assert [file.name for file in files] == ["cluster-dark.svg", "cluster.svg"]
        found.append([file.read_bytes() for file in files])
    assert found[0] == found[1]
