"""Settings of the gallery: sphinx-gallery runs the scripts in examples/ and makes a page and a notebook of each."""

import warnings
from pathlib import Path
from typing import Any

#: Easy ones first, then questions that a graph answers, then methods of your own.
ORDER = [
    "quickstart",
    "curves",
    "sachs_knowledge",
    "conditions",
    "what_if",
    "counterfactual",
    "many_columns",
    "own_edge_test",
    "own_benchmark",
]


def place(file_name: str) -> int:
    """Return where an example stands in the gallery."""
    return ORDER.index(Path(file_name).stem)


def quiet(gallery_conf: dict[str, Any], file_name: str) -> None:
    """Keep warnings of a fit off the pages: they come with paths of this machine, and `model.trust()` says the same."""
    from heterodag import AssumptionWarning, DataWarning, FitWarning

    for category in (AssumptionWarning, DataWarning, FitWarning):
        warnings.simplefilter("ignore", category)


sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",  # run all of them; one that fails makes the build fail
    "run_stale_examples": True,  # also those that did not change: the package may have
    "within_subsection_order": "gallery_conf.place",  # by name: Sphinx remembers settings, but no functions
    "image_scrapers": ("matplotlib",),
    "reset_modules": ("matplotlib", "gallery_conf.quiet"),
    "capture_repr": (),  # what is printed is shown, and nothing else
    "remove_config_comments": True,
    "download_all_examples": False,
    "min_reported_time": 15,  # seconds; an example should stay below
    "show_memory": False,
    "show_signature": False,
    "thumbnail_size": (400, 280),
    "parallel": True,  # as many at a time as Sphinx has jobs
}
