"""The worked examples print what their page shows."""

import importlib.util
import math
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "worked-examples.md"
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="needs a clone")


def shown():
    spec = importlib.util.spec_from_file_location("worked_examples", ROOT / "benchmarks" / "worked_examples.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: text for _, name, text, _ in module.SHOWN.findall(PAGE.read_text(encoding="utf-8"))}


def same(one, other):
    """Compare word by word; numbers may differ in their last digit, as other processors round differently."""
    if NUMBER.fullmatch(one) and NUMBER.fullmatch(other):
        return math.isclose(float(one), float(other), rel_tol=0.01, abs_tol=0.011)
    return one == other


def test_all_three_are_on_the_page():
    assert sorted(shown()) == ["counterfactual", "sachs_knowledge", "what_if"]


@pytest.mark.parametrize("name", ["counterfactual", "sachs_knowledge", "what_if"])
def test_the_page_shows_what_is_printed(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="__main__")
    printed, page = capsys.readouterr().out.split(), shown()[name].split()
    assert len(printed) == len(page) > 20
    assert [pair for pair in zip(page, printed, strict=True) if not same(*pair)] == []


def test_a_difference_is_seen():
    assert same("1.00", "1.01")
    assert not same("1.00", "1.05")
    assert not same("raf", "mek")
