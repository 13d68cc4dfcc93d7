"""Check the pages that were built: links, pictures, and that nothing comes from outside.

``python docs/check_site.py docs/_build/html`` ends with status 1 and a list if a link leads
nowhere, an anchor is missing, a picture has no text for those who cannot see it or is there
in one variant only, or a page would fetch anything from another host.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHING = {
    ("img", "src"),
    ("script", "src"),
    ("link", "href"),
    ("iframe", "src"),
    ("source", "src"),
    ("source", "srcset"),
    ("video", "src"),
    ("audio", "src"),
    ("object", "data"),
    ("embed", "src"),
}
"""Attributes that make a browser fetch something without being asked."""

NOT_FETCHED = {"canonical", "index", "search", "next", "prev", "author", "license"}
"""What a ``link`` may be without being loaded."""

VARIANTS = ("only-light", "only-dark")


class Page(HTMLParser):
    """What a page refers to, and what can be referred to on it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors = {""}
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.problems: list[str] = []
        self.variants: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note what one element has."""
        found = {name: value or "" for name, value in attributes}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        loads = tag != "link" or found.get("rel") not in NOT_FETCHED
        for name, value in found.items():
            if (tag, name) in FETCHING and loads:
                self.fetched.append(value)
        if tag == "img":
            if not found.get("alt", "").strip():
                self.problems.append(f"a picture without text: {found.get('src')}")
            kinds = found.get("class", "").split()
            self.variants += [kind for kind in VARIANTS if kind in kinds]


def check(folder: Path) -> list[str]:
    """Return what is wrong, one line each."""
    folder = folder.resolve()
    # Templates of the theme lie among its scripts; no reader sees them.
    found = [path for path in folder.rglob("*.html") if "_static" not in path.parts]
    pages = {path: Page(path) for path in sorted(found)}
    problems = [] if pages else [f"there are no pages in {folder}"]
    for path, page in pages.items():
        name = path.relative_to(folder)
        problems += [f"{name}: {problem}" for problem in page.problems]
        counts = [page.variants.count(kind) for kind in VARIANTS]
        if counts[0] != counts[1]:
            problems.append(f"{name}: {counts[0]} light pictures, {counts[1]} dark ones")
        for address in page.fetched:
            if is_outside(address):
                problems.append(f"{name}: fetches {address}")
            elif not address.startswith("data:") and not target(path, address).is_file():
                problems.append(f"{name}: there is no {address}")
        for address in page.links:
            if is_outside(address) or address.startswith("mailto:"):
                continue
            place = target(path, address)
            anchor = unquote(urlsplit(address).fragment)
            if not place.is_file():
                problems.append(f"{name}: a link to {address}, which is not there")
            elif place in pages and anchor not in pages[place].anchors:
                problems.append(f"{name}: a link to {address}: no such anchor")
    return problems + fetched_by_styles(folder)


def fetched_by_styles(folder: Path) -> list[str]:
    """Return addresses of other hosts in style sheets."""
    address = re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')\s]+)")
    return [
        f"{path.relative_to(folder)}: fetches {found}"
        for path in sorted(folder.rglob("*.css"))
        for found in address.findall(path.read_text("utf-8"))
    ]


def is_outside(address: str) -> bool:
    """Return whether an address is that of another host."""
    return bool(urlsplit(address).netloc)


def target(path: Path, address: str) -> Path:
    """Return the file that an address on a page means."""
    place = unquote(urlsplit(address).path)
    return (path.parent / place).resolve() if place else path


def main() -> int:
    """Check the folder given."""
    problems = check(Path(sys.argv[1]))
    sys.stderr.writelines(f"{problem}\n" for problem in problems)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
