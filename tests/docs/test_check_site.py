"""The check of the pages that were built finds what it should."""

from __future__ import annotations

import subprocess
import sys

import pages
import pytest

GOOD = """<html id="top"><link rel="canonical" href="https://example.org/">
<img src="a.svg" alt="A" class="only-light"><img src="a.svg" alt="A" class="only-dark">
<a href="#top">here</a><a href="sub/other.html#place">there</a><a href="https://example.org">out</a>
</html>"""
BAD = {
    "no such file": ('<a href="none.html">x</a>', "none.html, which is not there"),
    "no such anchor": ('<a href="sub/other.html#none">x</a>', "no such anchor"),
    "no such anchor here": ('<a href="#none">x</a>', "no such anchor"),
    "script from outside": (
        '<script src="https://cdn.example/x.js">',
        "fetches https://cdn",
    ),
    "style from outside": (
        '<link rel="stylesheet" href="//cdn.example/x.css">',
        "fetches //",
    ),
    "missing picture": ('<img src="b.svg" alt="B">', "there is no b.svg"),
    "picture without text": ('<img src="a.svg">', "a picture without text: a.svg"),
    "one variant": (
        '<img src="a.svg" alt="A" class="only-dark">',
        "1 light pictures, 2 dark",
    ),
}


@pytest.fixture
def check(tmp_path):
    """Return a function that checks a small site with something added to a page."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "other.html").write_text(
        '<a id="place" href="../index.html">x</a>'
    )
    (tmp_path / "a.svg").write_text("<svg/>")
    (tmp_path / "site.css").write_text("a { background: url(a.svg) }")

    def check(added=""):
        (tmp_path / "index.html").write_text(GOOD + added)
        command = [sys.executable, pages.DOCS / "check_site.py", tmp_path]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    return check


def test_a_good_site(check):
    assert check() == (0, "")


@pytest.mark.parametrize("name", BAD)
def test_a_bad_site(name, check):
    added, message = BAD[name]
    status, errors = check(added)
    assert status == 1
    assert message in errors
    assert errors.count("\n") == 1


def test_fonts_from_outside(check, tmp_path):
    (tmp_path / "site.css").write_text('@import "https://fonts.example/x.css";')
    status, errors = check()
    assert status == 1
    assert "site.css: fetches https://fonts.example/x.css" in errors


def test_a_folder_without_pages(tmp_path):
    command = [sys.executable, pages.DOCS / "check_site.py", tmp_path]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1
