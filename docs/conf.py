"""Settings of the documentation site; `make docs` builds it into docs/_build/html, without a network."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))
sys.path.insert(0, str(HERE))

from gallery_conf import sphinx_gallery_conf  # noqa: E402, F401

from heterodag import __version__  # noqa: E402

project = "heterodag"
author = "The heterodag authors"
project_copyright = author
version = release = __version__

extensions = [
    "myst_parser",  # pages are Markdown that reads well on a code host too
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",  # one page per public name, from the lists in docs/api
    "numpydoc",  # the style of our docstrings
    "sphinx_design",
    "sphinx_copybutton",
    "site_pages",  # _ext: sections, pages of the root folder, names in docstrings
    "sphinx_gallery.gen_gallery",  # runs the scripts in examples/; settings in gallery_conf.py
    "executed_notebooks",  # _ext: puts their outputs into the notebooks
]
exclude_patterns = ["_build", "_templates", "**/sg_execution_times.rst", "sg_execution_times.rst"]
templates_path = ["_templates"]
smartquotes = False  # "auto" with the quotes that Python reads
nitpicky = True  # a reference that leads nowhere is a warning, and `make docs` fails on warnings

myst_heading_anchors = 4  # links such as method.md#splines, with the anchors that code hosts make
myst_enable_extensions = ["colon_fence"]

# Types stand in the docstrings, in words; the annotations would only make signatures long.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
numpydoc_show_class_members = False  # the template of classes shows them
# Docstrings of public names must describe every parameter (PR01, PR02) and what comes back (RT01).
numpydoc_validation_checks = {"GL08", "PR01", "PR02", "PR03", "RT01"}
# Results are made by functions: their attributes are documented, not their construction.
numpydoc_validation_exclude = {
    r"(Result|Comparison|GraphCheck|SimulatedData|Dataset|Finding|GraphFile|EdgeProblem|EdgeTests|PairFolder|PairScores)$"
}
default_role = "name"  # `HOST` in a docstring is a link, `alpha` is code; see _ext/site_pages.py
toc_object_entries_show_parents = "hide"
copybutton_exclude = ".linenos, .gp, .go"  # copy what is typed, not prompts and output

html_theme = "pydata_sphinx_theme"
html_title = f"heterodag {version}"
html_logo = html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_context = {"default_mode": "auto"}  # light or dark as the reader's system
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # summaries are fetched, which browsers refuse for files on disk
html_theme_options = {
    "logo": {"text": "heterodag"},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
    "back_to_top_button": False,
}
html_sidebars = {"index": [], "install": [], "changelog": [], "command-line": [], "stability": []}
