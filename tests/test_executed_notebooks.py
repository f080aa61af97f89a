"""Outputs of the gallery's pages in its notebooks; the page here has the form in which sphinx-gallery writes it."""

import base64
import importlib.util
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "docs" / "_ext" / "executed_notebooks.py"

pytestmark = pytest.mark.skipif(not SOURCE.exists(), reason="needs a clone")

PAGE = """
Title
=====

.. GENERATED FROM PYTHON SOURCE LINES 5-7

.. code-block:: Python

    x = 1


.. GENERATED FROM PYTHON SOURCE LINES 8-9

Prose.

.. GENERATED FROM PYTHON SOURCE LINES 9-12

.. code-block:: Python

    print(x)
    plt.show()



.. image-sg:: /gallery/images/one.png
   :alt: one
   :srcset: /gallery/images/one.png
   :class: sphx-glr-single-img


.. rst-class:: sphx-glr-script-out

 .. code-block:: none

      first, indented

    second




.. _sphx_glr_download_gallery_one.py:
"""


@pytest.fixture(scope="module")
def executed():
    spec = importlib.util.spec_from_file_location("executed_notebooks", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def notebook(codes=2):
    prose = {"cell_type": "markdown", "source": ["See :doc:`the\nmethod </method>`."]}
    return {"cells": [prose, *({"cell_type": "code", "source": ["x"], "outputs": []} for _ in range(codes))]}


def test_text_and_pictures_get_into_the_cell_that_made_them(executed, tmp_path):
    (tmp_path / "gallery" / "images").mkdir(parents=True)
    (tmp_path / "gallery" / "images" / "one.png").write_bytes(b"picture")
    filled = notebook()
    executed.fill(filled, PAGE, tmp_path)
    _, first, second = filled["cells"]
    assert first["outputs"] == []
    assert second["outputs"][0]["text"] == "  first, indented\n\nsecond\n"
    assert base64.b64decode(second["outputs"][1]["data"]["image/png"]) == b"picture"
    assert executed.kinds(filled) == {"stream", "display_data"}


def test_links_of_the_site_become_words(executed):
    filled = notebook(1)
    executed.fill(filled, PAGE.split("\nProse.")[0], Path())
    assert filled["cells"][0]["source"] == ["See *the\nmethod*."]


def test_a_page_that_does_not_belong_to_the_notebook_is_refused(executed):
    with pytest.raises(ValueError, match="2 code blocks on the page, but 3 cells"):
        executed.fill(notebook(3), PAGE, Path())
