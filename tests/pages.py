"""The pages for users, and the blocks of code on them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\{?[\w-]*\}?) *(?P<argument>[^\n]*)\n"
    r"(?P<text>.*?)^(?P=indent)```$",
    flags=re.DOTALL | re.MULTILINE,
)


class Block(NamedTuple):
    """A fenced block: ``console``, ``pycon``, …, or a directive such as ``{include}``."""

    page: str
    line: int
    language: str
    argument: str
    text: str

    @property
    def place(self):
        """Where to look."""
        return f"{self.page}, line {self.line}"


def pages():
    """Return all pages that people read, by their path from the root."""
    found = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    made = (DOCS / "_build", DOCS / "generated", DOCS / "reference" / "generated")
    return [path for path in found if not any(m in path.parents for m in made)]


def blocks(path):
    """Return the blocks of a page."""
    text = path.read_text("utf-8")
    return [
        Block(
            str(path.relative_to(ROOT)),
            text.count("\n", 0, found.start()) + 1,
            found["language"],
            found["argument"],
            found["text"],
        )
        for found in _FENCE.finditer(text)
    ]


def commands(path):
    """Return the commands of the ``console`` blocks of a page, each with its output."""
    found = []
    for block in blocks(path):
        if block.language == "console":
            for piece in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                # A line that ends with a backslash goes on.
                typed = re.match(r"(?:[^\n]*\\\n)*[^\n]*", piece)[0]
                found.append((typed, piece[len(typed) + 1 :]))
    return found
