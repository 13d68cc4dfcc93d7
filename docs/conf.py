"""Configuration of the documentation. Nothing is fetched from outside."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "FastMMD"
author = "The FastMMD developers"
copyright = "2026, The FastMMD developers"
release = installed_version("fastmmd")
version = release

extensions = [
    "mathml",
    "myst_parser",
    "numpydoc",
    "picture",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "tidy_code",
]
exclude_patterns = ["_build", "_ext", "_templates", "generated", "pictures", "reproduced"]

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
# The documentation is made without the engines.
autodoc_mock_imports = ["dask", "pyspark", "ray"]
autodoc_typehints = "none"
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False
# A method may stop at its summary line, so undocumented parameters are not reported here.
numpydoc_validation_checks = {"PR02", "PR03"}

templates_path = ["_templates"]
html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = f"FastMMD {release}"
html_theme_options = {
    "logo": {"text": "FastMMD"},
    "footer_start": ["copyright"],
    "footer_end": [],
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "primary_sidebar_end": [],
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_static_path = ["_static"]
html_css_files = ["site.css"]
# The first pages stand alone: there is no section to move around in.
alone = ("index", "tutorial", "tutorial-command-line")
html_sidebars = {"**": ["sidebar-nav-bs"]} | {name: [] for name in alone}
html_show_sourcelink = False
html_copy_source = False

# Prompts and output are not part of what one wants to type.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"
copybutton_exclude = ".linenos, .gp, .go"
