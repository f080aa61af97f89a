"""docs/stability.md and docs/releasing.md: the versions, names and commands in them are those of the code."""

from __future__ import annotations

import json
import re
from importlib import import_module

import pytest
from repository import PYTHONS, ROOT, make_targets, text_of

from heterodag.errors import DataError
from heterodag.io import exports
from heterodag.io.graphfiles import read_graph
from heterodag.scm import HeteroscedasticSCM, files

bootstrap = import_module("heterodag.resampling.bootstrap")  # in its package, a function has this name
pytestmark = pytest.mark.skipif(not (ROOT / "docs").exists(), reason="needs a clone")


def cells(page: str, heading: str) -> list[list[str]]:
    """Return the body of the first table whose header begins with this cell."""
    table = re.search(rf"^\| {re.escape(heading)} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", text_of(page), re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[1].splitlines()]


def promised(name: str) -> tuple[int, list[int]]:
    """Return the version that is written, and those that are read."""
    ((written, read),) = [row[2:] for row in cells("docs/stability.md", "file") if row[1] == f"`{name}`"]
    return int(written), [int(number) for number in read.split(", ")]


@pytest.mark.parametrize("module", [exports, files, bootstrap])
def test_the_page_has_the_versions_of_the_code(module):
    written, read = promised(module.FORMAT)
    assert written == module.FORMAT_VERSION
    assert written in read


def test_the_page_has_all_formats():
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    defined = set(re.findall(r'^FORMAT(?:, FORMAT_VERSION)? = "([\w-]+)"', sources, re.MULTILINE))
    assert defined == {row[1].strip("`") for row in cells("docs/stability.md", "file")}


def test_graphs_of_the_versions_in_the_page_are_read_and_no_others(tmp_path):
    _, read = promised(exports.FORMAT)
    path = tmp_path / "graph.json"
    edge = {"cause": "a", "effect": "b", "a key of later": 1}
    for version in range(max(read) + 2):
        content = {
            "format": exports.FORMAT,
            "format_version": version,
            "names": ["a", "b"],
            "edges": [edge],
            "new": [],
        }
        path.write_text(json.dumps(content), encoding="utf-8")
        if version in read:  # without the keys that a first release did not have, and with some that none has
            assert read_graph(path).adjacency.loc["a", "b"] == 1
        else:
            with pytest.raises(DataError, match=rf"format version {version}; this heterodag reads {read[-1]}"):
                read_graph(path)


def test_models_of_the_versions_in_the_page_are_read_and_no_others(tmp_path):
    _, read = promised(files.FORMAT)
    older = ROOT / "tests" / "scm" / "version_1_lines.json"
    model = HeteroscedasticSCM.load(older)
    assert json.loads(older.read_text(encoding="utf-8"))["format_version"] == read[0]
    path = tmp_path / "model.json"
    model.save(path)
    newest = json.loads(path.read_text(encoding="utf-8"))
    assert HeteroscedasticSCM.load(path).names == model.names
    for version in set(range(max(read) + 2)) - set(read):
        path.write_text(json.dumps(newest | {"format_version": version}), encoding="utf-8")
        with pytest.raises(DataError, match=f"format version {version}.* reads versions 1 and 3"):
            HeteroscedasticSCM.load(path)


def test_public_names_are_there():
    for module, names in cells("docs/stability.md", "module"):
        home = import_module(module.strip("`"))
        assert [name for name in re.findall(r"`(\w+)`", names) if not hasattr(home, name)] == []


def test_the_pythons_of_the_page_are_those_of_the_classifiers():
    named = re.search(r"runs on Python ([^.]+(?:\.\d+[^.]*)+)\. The", text_of("docs/stability.md"))[1]
    assert re.findall(r"3\.\d+", named) == PYTHONS


def test_the_deprecation_of_the_page_is_in_the_code():
    said = "`max_time` is now called `max_seconds`."
    assert f"FutureWarning: {said}" in text_of("docs/stability.md")
    assert f'warnings.warn("{said}", FutureWarning' in text_of("src/heterodag/errors.py")


@pytest.mark.parametrize("page", ["docs/releasing.md", "docs/stability.md"])
def test_commands_and_files_of_the_page_exist(page):
    text = text_of(page)
    called = set(re.findall(r"(?:^|`)make ([\w-]+)", text, re.MULTILINE))
    assert called
    assert called <= make_targets()
    for name in re.findall(r"`((?:[\w.-]+/)*[\w-]+\.(?:toml|txt|yml|cff|py|md))`", text):
        assert (ROOT / name).exists(), name
