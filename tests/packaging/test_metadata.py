"""What pyproject.toml, CITATION.cff and the constraints say about the package: valid, complete, and the same everywhere."""

from __future__ import annotations

import ast
import re
from importlib.metadata import requires

import pytest
from repository import PROJECT, PYPROJECT, PYTHONS, ROOT, SOURCE, VERSION, make_targets, text_of

import heterodag

Requirement = pytest.importorskip("packaging.requirements").Requirement
Version = pytest.importorskip("packaging.version").Version

TOOLS = {"dev", "docs"}  # extras for people who work on heterodag: tools of any version that runs
EXTRAS = PROJECT["optional-dependencies"]


def bounds(lines: list[str]) -> dict[str, str]:
    """Return the lower bound of every requirement, and see that it has nothing but a lower bound."""
    found = {}
    for requirement in map(Requirement, lines):
        (bound,) = requirement.specifier
        assert bound.operator == ">=", f"{requirement}: an upper bound would stop users without need"
        found[requirement.name] = bound.version
    return found


def pins() -> dict[str, str]:
    lines = [line for line in text_of("constraints-oldest.txt").splitlines() if line and not line.startswith("#")]
    return dict(line.split("==") for line in lines)


def test_the_oldest_versions_are_the_lower_bounds():
    allowed = bounds(PROJECT["dependencies"])
    for name, lines in EXTRAS.items():
        if name not in TOOLS:
            allowed |= bounds(lines)
    tested = pins()
    wrong = {name: bound for name, bound in allowed.items() if Version(tested.get(name, "0")) != Version(bound)}
    assert wrong == {}
    assert set(tested) - set(allowed) == {"pytest", "pytest-xdist", "hypothesis", "polars"}


def test_an_extra_asks_for_the_same_versions_everywhere():
    seen: dict[str, str] = {}
    for lines in EXTRAS.values():
        for name, bound in bounds(lines).items():
            assert seen.setdefault(name, bound) == bound, name


def test_the_tools_of_the_oldest_tests_are_those_of_dev():
    dev, tested = bounds(EXTRAS["dev"]), pins()
    for name in ("pytest", "pytest-xdist", "hypothesis", "polars"):
        assert Version(tested[name]) == Version(dev[name])


def raised_extras() -> set[str]:
    """Return the extras that the sources give to `MissingExtraError`, read from the calls."""
    calls = [
        node
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "MissingExtraError"
    ]
    return {call.args[1].value for call in calls if isinstance(call.args[1], ast.Constant)}


def test_every_extra_named_in_a_message_is_one():
    """`pip install 'heterodag[neural]'` must work wherever a message says so."""
    named = raised_extras()
    assert {"neural", "baselines", "ci-tests", "dowhy", "distributed", "parquet"} <= named
    assert named <= set(EXTRAS)


def test_the_version_is_written_once():
    assert heterodag.__version__ == VERSION
    assert str(Version(VERSION)) == VERSION
    assert "version" in PROJECT["dynamic"]
    assert "version" not in PROJECT
    assert PYPROJECT["tool"]["hatch"]["version"]["path"] == "src/heterodag/_version.py"
    assert re.search(r"^version: (.+)$", text_of("CITATION.cff"), re.MULTILINE)[1] == VERSION


def test_the_licence():
    assert PROJECT["license"] == "MIT"
    assert PROJECT["license-files"] == ["LICENSE"]
    licence = " ".join(text_of("LICENSE").split())
    assert licence.startswith("MIT License Copyright (c) ")
    assert "The above copyright notice and this permission notice shall be included in all copies" in licence
    assert re.search(r"^license: MIT$", text_of("CITATION.cff"), re.MULTILINE)
    assert not any(name.startswith("License ::") for name in PROJECT["classifiers"])  # the expression replaces it


def test_classifiers_exist_and_fit():
    assert PYTHONS[0] == PROJECT["requires-python"].removeprefix(">=")
    assert "Typing :: Typed" in PROJECT["classifiers"]
    assert len(set(PROJECT["classifiers"])) == len(PROJECT["classifiers"])
    known = pytest.importorskip("trove_classifiers")
    assert set(PROJECT["classifiers"]) <= set(known.classifiers)


def test_urls():
    assert set(PROJECT["urls"]) == {"Documentation", "Source", "Changelog", "Issues"}
    source = PROJECT["urls"]["Source"]
    assert all(url.startswith(source) for url in PROJECT["urls"].values())
    readme = PYPROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    assert all(f"{source}/" in rule["replacement"] for rule in readme["substitutions"])


def test_types_are_announced():
    assert (SOURCE / "py.typed").read_bytes() == b""


def test_what_is_installed_is_what_is_declared():
    """An environment that is older than pyproject.toml tests something else."""
    installed = {Requirement(line).name for line in requires("heterodag") or [] if "extra ==" not in line}
    assert installed == set(bounds(PROJECT["dependencies"]))


# --- the workflow of the public service ---------------------------------------------------------------------

WORKFLOW = ".github/workflows/ci.yml"


def test_the_workflow_runs_commands_that_exist():
    if not (ROOT / WORKFLOW).exists():
        pytest.skip("needs a clone")
    called = set(re.findall(r"\bmake ((?:[\w-]+ ?)+)", text_of(WORKFLOW)))
    targets = {target for line in called for target in line.split()}
    assert {"test", "package", "oldest"} <= targets
    assert targets <= make_targets()


def test_the_workflow_is_valid_and_covers_every_python():
    yaml = pytest.importorskip("yaml")
    content = yaml.safe_load(text_of(WORKFLOW))
    assert set(content[True]) == {"push", "pull_request"}  # YAML reads the key `on` as true
    for job in content["jobs"].values():
        assert job["runs-on"]
        assert all("uses" in step or "run" in step for step in job["steps"])
        assert job["timeout-minutes"] <= 60
    assert content["jobs"]["tests"]["strategy"]["matrix"]["python"] == PYTHONS
