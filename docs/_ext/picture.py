"""Pictures in two variants, of which a page shows the one that suits its colours.

``{picture} circle`` shows ``docs/pictures/svg/circle.svg`` on light pages and
``circle-dark.svg`` on dark ones; a path from ``docs`` may stand in place of the name. The
text for those who cannot see the picture is the title inside the file, so it is written
once, in the script that draws it. The body of the directive is the caption.
"""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOLDER = "pictures/svg"
VARIANTS = {"": "only-light", "-dark": "only-dark"}
TITLE = re.compile(r"<(?:dc:)?title>(.*?)</(?:dc:)?title>", re.DOTALL)


class Picture(SphinxDirective):
    """Show both variants of a picture as one figure."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {}

    def run(self) -> list[nodes.Node]:
        """Return the figure."""
        name = self.arguments[0]
        path = name if "/" in name else f"{FOLDER}/{name}"
        figure = nodes.figure(classes=["picture"])
        self.set_source_info(figure)
        # The theme hides captions next to a picture of the other variant: not next to these.
        both = nodes.container()
        figure += both
        for suffix, theme_class in VARIANTS.items():
            file = Path(self.env.srcdir) / f"{path}{suffix}.svg"
            if not file.is_file():
                msg = f"there is no picture {file.name}; draw it"
                raise self.error(msg)
            self.env.note_dependency(str(file))
            title = TITLE.search(file.read_text("utf-8"))
            if title is None:
                msg = f"{file.name} must have a title: it is the text instead"
                raise self.error(msg)
            alt = unescape(" ".join(title[1].split()))
            image = nodes.image(
                uri=f"/{path}{suffix}.svg", alt=alt, classes=[theme_class, "align-center"]
            )
            both += image
        if self.content:
            caption = nodes.caption()
            parsed = self.parse_content_to_nodes()
            if len(parsed) != 1 or not isinstance(parsed[0], nodes.paragraph):
                msg = "a caption must be one paragraph"
                raise self.error(msg)
            caption.extend(parsed[0].children)
            self.set_source_info(caption)
            figure += caption
        return [figure]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("picture", Picture)
    # Another number makes all pages be read again.
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
