"""Sphinx reads this. `sphinx-build -W --keep-going -b html docs docs/_build` makes the pages;
nothing is fetched from anywhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import cmeans

project = "cmeans"
author = "The cmeans developers"
copyright = author
version = release = cmeans.__version__

extensions = [
    *("myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx_gallery.gen_gallery"),
    *("docstrings", "command_line", "live", "llms", "mathml", "thumbnails"),
]
exclude_patterns = ["_build", "_ext", "_templates", "live"]
templates_path = ["_templates"]
smartquotes = False  # sentences hold code such as kernel="linear"
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
html_math_renderer = "mathml"

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # the docstrings have them in words
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
add_module_names = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",  # all of them are run
    "within_subsection_order": "gallery_order.Order",
    "reset_modules": ("matplotlib", "gallery_order.colours"),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
}

html_theme = "furo"
html_title = f"cmeans {release}"
html_static_path = ["_static"]
html_css_files = ["cmeans.css"]
html_js_files = ["pages.js"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False

PAPERS = ["index", "havens2011", "chitta2011", "zhang2013", "seqsapcm2014", "kpkm2021", "beyond"]


def setup(app: Any) -> None:
    app.connect("source-read", list_papers)


def list_papers(app: Any, docname: str, source: list[str]) -> None:
    """Pages of the papers are written by benchmarks/: those that are there, the overview first and
    then by year."""
    if docname == "index":
        there = sorted(path.stem for path in (Path(app.srcdir) / "papers").glob("*.md"))
        pages = [name for name in PAPERS if name in there] + [
            name for name in there if name not in PAPERS
        ]
        source[0] = source[0].replace("PAPERS\n", "".join(f"papers/{name}\n" for name in pages))
