"""Render formulas as MathML, so that pages need no script from another host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.utils.math import latex2mathml

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def visit_inline(writer: Any, node: nodes.math) -> None:
    """Write a formula that stands in a line of text."""
    writer.body.append(str(latex2mathml.tex2mathml(node.astext())))
    raise nodes.SkipNode


def visit_block(writer: Any, node: nodes.math_block) -> None:
    """Write a formula that stands by itself."""
    formula = latex2mathml.tex2mathml(node.astext(), as_block=True)
    writer.body.append(f"<p>{formula}</p>")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
