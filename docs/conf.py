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
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
]
exclude_patterns = ["_build", "_ext", "_templates", "generated"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
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
    "primary_sidebar_end": [],
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"**": ["sidebar-nav-bs"]}
html_show_sourcelink = False
