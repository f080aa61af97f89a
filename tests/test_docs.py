"""The prose: its Python blocks and examples run, its output is what is printed, its links and versions hold."""

from __future__ import annotations

import contextlib
import io
import math
import re
import runpy
import sys
from pathlib import Path

import pytest

import heterodag

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "heterodag"
# Written by the benchmarks: a link to one may precede it.
GENERATED = {
    ROOT / "docs" / f"{name}.md"
    for name in ("accuracy", "speed", "calibration", "oracle-order", "bootstrap-calibration", "refinement", "rivals")
}
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
PROSE = [*PAGES, ROOT / "CITATION.cff", ROOT / "LICENSE", *sorted((ROOT / "examples").glob("*.py"))]
RUNNABLE = [
    "README.md",
    "docs/user-guide.md",
    "docs/using-the-graph.md",
    "docs/experiments.md",
    "docs/other-methods.md",
]
# tests/test_worked_examples.py runs these and compares what they print.
WORKED = {"counterfactual.py", "sachs_knowledge.py", "what_if.py"}
NOT_RUN = "<!-- not run -->"
BLOCK = re.compile(r"(?:^(<!-- [^\n]*? -->)\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")

pytestmark = pytest.mark.skipif(not (ROOT / "README.md").exists(), reason="needs a clone")


def blocks(text: str) -> list[tuple[str, str, str]]:
    """Return (comment on the line before, language, content) of every fenced block that names a language."""
    return BLOCK.findall(text)


def run_blocks(text: str) -> str:
    """Run the Python blocks of a page one after the other, in one namespace; return what they print."""
    namespace: dict[str, object] = {"__name__": "page"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for comment, language, code in blocks(text):
            if language == "python" and comment != NOT_RUN:
                exec(compile(code, "<page>", "exec"), namespace)
    return printed.getvalue()


def assert_same_output(shown: str, printed: str) -> None:
    """Compare word by word; numbers may differ by a percent, as other processors round differently."""
    one, other = shown.split(), printed.split()
    assert len(one) == len(other), printed
    for first, second in zip(one, other, strict=True):
        if NUMBER.fullmatch(first) and NUMBER.fullmatch(second):
            assert math.isclose(float(first), float(second), rel_tol=0.01), printed
        else:
            assert first == second, printed


def shown_after(comment: str) -> str:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (content,) = [content for before, _, content in blocks(text) if before == comment]
    return content


@pytest.mark.parametrize("page", RUNNABLE)
def test_python_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    assert any(language == "python" for _, language, _ in blocks(text))
    printed = run_blocks(text)
    if page == "README.md":
        assert_same_output(shown_after("<!-- output -->"), printed)


def test_the_readme_shows_what_the_demo_prints(tmp_path, capsys):
    from heterodag.cli import commands
    from heterodag.cli.terminal import Screen

    commands.demo(Screen(), tmp_path / "out", force=False)
    printed = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(("Wrote", "Open"))]
    assert_same_output(shown_after("<!-- output of heterodag demo -->"), "\n".join(printed))


@pytest.mark.parametrize(
    "name", [path.name for path in sorted((ROOT / "examples").glob("*.py")) if path.name not in WORKED]
)
def test_examples_run(name, tmp_path, monkeypatch, capsys):
    import matplotlib

    figure = tmp_path / "figure.svg"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [name, str(figure)] if name == "readme_figure.py" else [name])
    with matplotlib.rc_context():
        runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
    assert capsys.readouterr().out
    if name == "readme_figure.py":
        assert "</svg>" in figure.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_resolve(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists() or file in GENERATED, f"{page.name} links to {target}"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{page.name} links to {target}"


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "index.md" or f"({page.name})" in index


def test_versions_agree():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", citation, flags=re.MULTILINE) == [heterodag.__version__]
    versions = re.findall(r"^## \[(\d.*?)\]", changelog, flags=re.MULTILINE)
    assert versions[0] == heterodag.__version__


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_prose_names_no_machine(page):
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"(?<![\w.])/(?:work|root|home|tmp|Users|private)\b", text)
    hosts = r"index|simple|proxy|mirror|artifact|registry|localhost|\d+\.\d+\.\d+"
    assert not re.search(rf"https?://[^\s)]*(?:{hosts})", text)


def test_quoted_messages_are_in_the_code():
    """What the troubleshooting tables quote must be words that the code can say."""
    joined = "\n".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    joined = re.sub(r"\"\s*\n\s*f?\"", "", joined)
    guide = (ROOT / "docs" / "user-guide.md").read_text(encoding="utf-8").split("## 7. ")[1]
    rows = re.findall(r"^\| (`.*?) \|", guide, flags=re.MULTILINE)
    quotes = [quote for row in rows for quote in re.findall(r"`([^`]+)`", re.sub(r"\(for .*?\)", "", row))]
    assert len(quotes) > 50
    # "`name` must " is put in front of the rule by ParameterError.
    assert [quote for quote in quotes if quote.removeprefix("must ") not in joined] == []


def test_named_tests_statistics_and_options_exist():
    from heterodag.independence.registry import SELECTIONS

    tests = (ROOT / "docs" / "edge-tests.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\*\*`([\w-]+)`\*\*", tests, flags=re.MULTILINE)) == sorted(SELECTIONS)
    cli = (SOURCE / "cli/app.py").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    for option in set(re.findall(r"--([a-z][a-z-]*)", page)) - {"help", "version"}:
        assert re.search(rf"--{option}\b|\b{option.replace('-', '_')}:", cli), f"--{option} is no option"


# --- the checks themselves ---------------------------------------------------------------------------------


def test_a_marked_block_is_not_run():
    text = f"```python\nprint(1)\n```\n\n{NOT_RUN}\n```python\nprint(2)\n```\n"
    assert run_blocks(text) == "1\n"


@pytest.mark.parametrize(("shown", "printed"), [("a 1.0", "a 1.5"), ("a b", "a c"), ("a", "a b")])
def test_other_output_is_found(shown, printed):
    with pytest.raises(AssertionError):
        assert_same_output(shown, printed)
    assert_same_output("p 1.00e-9", "p   1.001e-9")
