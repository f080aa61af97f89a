"""Every public name has a page in the API reference and an example that runs."""

from __future__ import annotations

import doctest
import inspect
import re
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import heterodag

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "api" / "index.md"
#: What these export is public; so are the two readers, which no package exports.
MODULES = (
    "heterodag", "heterodag.metrics", "heterodag.scm", "heterodag.checks", "heterodag.graphcheck", "heterodag.simulation",
    "heterodag.datasets", "heterodag.independence", "heterodag.experiments", "heterodag.viz", "heterodag.report",
    "heterodag.pairs",
)  # fmt: skip
READERS = (
    "heterodag.io.tables.read_table",
    "heterodag.io.graphfiles.read_graph",
    "heterodag.io.graphfiles.GraphFile",
)
#: Examples that need an optional package.
NEEDS = {"DiffAN": "torch", "GOLEM": "castle", "GraNDAG": "castle"}


def public_names() -> dict[str, object]:
    """Return classes and functions by dotted name, each once, under its shortest."""
    found: dict[str, object] = {}
    for module in map(import_module, MODULES):
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and not any(value is known for known in found.values()):
                found[f"{module.__name__}.{name}"] = value
    for name in READERS:
        module, _, last = name.rpartition(".")
        found[name] = getattr(import_module(module), last)
    return found


def listed_names(text: str) -> list[str]:
    """Return the names in the lists of the API reference."""
    blocks = re.findall(r"^```\{eval-rst\}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return [f"heterodag.{name}" for block in blocks for name in re.findall(r"^   (\w[\w.]*)$", block, re.MULTILINE)]


PUBLIC = public_names()


@pytest.mark.skipif(not REFERENCE.exists(), reason="needs a clone")
def test_the_reference_lists_every_public_name_and_nothing_else():
    listed = listed_names(REFERENCE.read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(PUBLIC)


def test_constants_of_the_simulation_are_named_where_they_are_used():
    from heterodag import simulation

    choices = [getattr(simulation, name) for name in simulation.__all__ if name.isupper() and name != "BOUND"]
    documented = inspect.getdoc(simulation.simulate) or ""
    assert [choice for choice in sum(choices, ()) if f'"{choice}"' not in documented] == []


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_have_an_example(name):
    assert ">>>" in (inspect.getdoc(PUBLIC[name]) or "")


def examples(name: str) -> list[doctest.DocTest]:
    """Return the examples of a name and of its methods; of methods that estimators share, at HOST only."""
    value = PUBLIC[name]
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = finder.find(value, name, module=False, globs={})
    if value is heterodag.HOST:
        found += finder.find(heterodag.HOST.__mro__[1], "shared", module=False, globs={})
    return [test for test in found if test.examples]


@pytest.mark.parametrize("name", PUBLIC)
def test_examples_run_and_print_what_they_show(name, tmp_path, monkeypatch):
    needed = NEEDS.get(name.rpartition(".")[2])
    if needed is not None and find_spec(needed) is None:
        pytest.skip(f"needs {needed}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    said: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for test in examples(name):
            runner.run(test, out=said.append)
    assert runner.tries > 0
    assert said == [], "".join(said)


# --- the checks themselves ---------------------------------------------------------------------------------


def test_a_wrong_example_is_found():
    test = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    said: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert said


def test_names_outside_lists_do_not_count():
    text = "```{eval-rst}\n.. autosummary::\n   :toctree: generated\n\n   HOST\n   scm.Set\n```\n\n   other\n"
    assert listed_names(text) == ["heterodag.HOST", "heterodag.scm.Set"]
