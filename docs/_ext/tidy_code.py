"""Leave out the empty line with which a tested block of code has to end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def strip(_app: Sphinx, document: nodes.document) -> None:
    """Cut white space off the end of every block of code."""
    for block in document.findall(nodes.literal_block):
        text = block.astext().rstrip()
        block.children = [nodes.Text(text)]
        block.rawsource = text


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the step."""
    app.connect("doctree-read", strip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
