"""The examples run, draw pictures, print what their page shows, and say how far to trust them.

Where the site was built after the last change of an example and of the package (`make test` does that first), they have
run already, and what their notebooks hold is read. Otherwise they are run here.
"""

import importlib.util
import json
import math
import re
import runpy
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "worked-examples.md"
GALLERY = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="needs a clone")


NOTEBOOKS = ROOT / "docs" / "_build" / "notebooks"


def executed(name):
    """Return what the notebook of an example printed and the number of its pictures; None if it is older than the code."""
    notebook, script = NOTEBOOKS / f"{name}.ipynb", ROOT / "examples" / f"{name}.py"
    changed = max(path.stat().st_mtime for path in [script, *(ROOT / "src").rglob("*.py")])
    if not notebook.exists() or notebook.stat().st_mtime < changed:
        return None
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells if cell["cell_type"] == "code" for output in cell["outputs"]]
    printed = "\n".join(output["text"] for output in outputs if output["output_type"] == "stream")
    return printed, sum(output["output_type"] == "display_data" for output in outputs)


def shown():
    """Return what the page shows of each script."""
    spec = importlib.util.spec_from_file_location("worked_examples", ROOT / "benchmarks" / "worked_examples.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: text for _, name, text, _ in module.SHOWN.findall(PAGE.read_text(encoding="utf-8"))}


def same(one, other):
    """Compare two words; numbers in them may differ in their last digit, as other processors round differently."""
    numbers = list(zip(NUMBER.findall(one), NUMBER.findall(other), strict=False))
    near = all(math.isclose(float(a), float(b), rel_tol=0.01, abs_tol=0.011) for a, b in numbers)
    return near and NUMBER.sub("#", one) == NUMBER.sub("#", other)


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a script as if it had been started in an empty folder; return what it printed and the number of its pictures."""
    import matplotlib
    import matplotlib.pyplot as plt

    def run_script(name):
        monkeypatch.chdir(tmp_path)
        with matplotlib.rc_context(), warnings.catch_warnings():
            matplotlib.use("agg")
            warnings.filterwarnings("ignore", message=".*non-interactive")  # plt.show(), where there is a display
            runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="__main__")
        pictures = len(plt.get_fignums())
        plt.close("all")
        return capsys.readouterr().out, pictures

    return run_script


@pytest.mark.parametrize("name", GALLERY)
def test_an_example_runs_draws_and_prints_what_its_page_shows(name, run):
    printed, pictures = executed(name) or run(name)
    assert printed
    assert pictures
    if name in shown():
        words, page = printed.split(), shown()[name].split()
        assert len(words) == len(page) > 20
        assert [pair for pair in zip(page, words, strict=True) if not same(*pair)] == []


def test_the_page_links_to_every_example_and_shows_the_longer_ones():
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in GALLERY if f"(../examples/{name}.py)" not in page] == []
    assert sorted(shown()) == sorted(set(GALLERY) - {"quickstart", "own_edge_test", "own_benchmark"})


def test_the_gallery_has_every_example():
    settings = (ROOT / "docs" / "gallery_conf.py").read_text(encoding="utf-8")
    order = re.search(r"^ORDER = \[(.*?)\]", settings, flags=re.MULTILINE | re.DOTALL)
    assert sorted(re.findall(r'"(\w+)"', order[1])) == GALLERY


@pytest.mark.parametrize("name", GALLERY)
def test_an_example_says_how_far_to_trust_it_and_what_to_try(name):
    text = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
    assert re.match(r'"""\n(.+)\n=+\n\n', text)
    for part in ("**How far to trust this.**", "**Try next:**", "**More:**"):
        assert text.count(part) == 1
    pages = re.findall(r":doc:`[^`<]+?(?:\s|#)+</([^`>]*)>`", text)
    assert pages
    assert [page for page in pages if not (ROOT / "docs" / f"{page}.md").exists()] == []


def test_a_difference_is_seen():
    assert same("1.00", "1.01")
    assert same("(25%).", "(25%).")
    assert not same("1.00", "1.05")
    assert not same("(25%).", "(50%).")
    assert not same("raf", "mek")
    assert not same("x1", "x")
