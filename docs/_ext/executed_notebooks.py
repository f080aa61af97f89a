"""Put the printed text and the pictures of the gallery into its notebooks, so that they can be read without running them.

sphinx-gallery runs every script once, writes a page with the outputs, and a notebook without. This extension reads the
page and fills the notebook: the scripts need not run a second time. The notebooks are the downloads of the pages, and also
stand together in the folder `notebooks` beside the built site.
"""

import base64
import json
import re
import shutil
import zipfile
from pathlib import Path
from textwrap import dedent
from typing import Any

_BLOCK = "\n.. GENERATED FROM PYTHON SOURCE LINES"
_CODE = ".. code-block:: Python"
_TEXT = re.compile(r"^\.\. rst-class:: sphx-glr-script-out\n\n \.\. code-block:: none\n\n((?:    .*\n|\n)+)", re.M)
_PICTURE = re.compile(r"^\s*\.\. image-sg:: /(\S+)$", re.M)
_LINK = re.compile(r":doc:`([^`<]+?)\s+<[^`>]*>`")


def outputs(block: str, source: Path) -> list[dict[str, Any]]:
    """Return what one block of a page shows, as outputs of a notebook cell."""
    found: list[dict[str, Any]] = []
    for text in _TEXT.findall(block):
        found.append({"output_type": "stream", "name": "stdout", "text": dedent(text).strip("\n") + "\n"})
    for name in _PICTURE.findall(block):
        picture = base64.b64encode((source / name).read_bytes()).decode("ascii")
        data = {"image/png": picture, "text/plain": "<Figure>"}
        found.append({"output_type": "display_data", "metadata": {}, "data": data})
    return found


def fill(notebook: dict[str, Any], page: str, source: Path) -> None:
    """Fill the code cells of a notebook from its page."""
    blocks = [block for block in page.split(_BLOCK) if _CODE in block]
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    if len(blocks) != len(cells):
        raise ValueError(f"{len(blocks)} code blocks on the page, but {len(cells)} cells in the notebook.")
    for count, (cell, block) in enumerate(zip(cells, blocks, strict=True), start=1):
        cell["outputs"], cell["execution_count"] = outputs(block, source), count
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":  # links of the site lead nowhere in a notebook
            cell["source"] = [_LINK.sub(r"*\1*", line) for line in cell["source"]]


def kinds(notebook: dict[str, Any]) -> set[str]:
    """Return which kinds of output a notebook has."""
    return {output["output_type"] for cell in notebook["cells"] for output in cell.get("outputs", ())}


def fill_all(app: Any) -> None:
    """Fill the notebooks of the gallery, and their zip files; nothing to do if the scripts were not run."""
    settings, source = app.config.sphinx_gallery_conf, Path(app.srcdir)
    if not settings["plot_gallery"]:
        return
    folder = Path(app.outdir).parent / "notebooks"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in sorted((source / settings["gallery_dirs"]).glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        fill(notebook, path.with_suffix(".rst").read_text(encoding="utf-8"), source)
        if kinds(notebook) != {"stream", "display_data"}:
            raise ValueError(f"{path.name} should have text and pictures, but has {sorted(kinds(notebook))}.")
        path.write_text(json.dumps(notebook, indent=1), encoding="utf-8")
        shutil.copy(path, folder)
        with zipfile.ZipFile(path.with_suffix(".zip"), "w", zipfile.ZIP_DEFLATED) as archive:
            for suffix in (".py", ".ipynb"):
                archive.write(path.with_suffix(suffix), path.with_suffix(suffix).name)


def setup(app: Any) -> dict[str, bool]:
    """Run after sphinx-gallery, before pages are read."""
    app.connect("builder-inited", fill_all, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
