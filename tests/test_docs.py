"""The prose: its Python blocks run, its output is what is printed, its versions hold."""

from __future__ import annotations

import importlib.util
import math
import re
import tomllib
from pathlib import Path

import pytest

import heterodag

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "heterodag"
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(page for folder in ("", "how-to", "results") for page in (ROOT / "docs" / folder).glob("*.md")),
    ]
)
PROSE = [*PAGES, ROOT / "CITATION.cff", ROOT / "LICENSE", *sorted((ROOT / "examples").glob("*.py"))]
# Their Python blocks are run, and what they show as output is compared with what is printed.
RUNNABLE = [
    "README.md",
    "docs/index.md",
    "docs/demo.md",
    "docs/quickstart.md",
    "docs/user-guide.md",
    "docs/data-check.md",
    "docs/using-the-graph.md",
    "docs/experiments.md",
    "docs/check-graph.md",
    "docs/other-methods.md",
    "docs/pairs.md",
    *(f"docs/how-to/{page.name}" for page in sorted((ROOT / "docs" / "how-to").glob("*.md"))),
]
#: The pages that people read first must show some output.
SHOWING = {"README.md", "docs/demo.md", "docs/quickstart.md", "docs/user-guide.md"}
#: These have no code.
WORDS_ONLY = {"docs/how-to/index.md", "docs/how-to/read-the-report.md"}
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")

pytestmark = pytest.mark.skipif(not (ROOT / "README.md").exists(), reason="needs a clone")


@pytest.fixture(scope="session")
def page_outputs():
    """The program that writes outputs into pages."""
    spec = importlib.util.spec_from_file_location("page_outputs", ROOT / "benchmarks" / "page_outputs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def assert_same_output(shown: str, printed: str) -> None:
    """Compare word by word; numbers may differ by a percent, as other processors round differently."""
    one, other = shown.split(), printed.split()
    assert len(one) == len(other), printed
    for first, second in zip(one, other, strict=True):
        if NUMBER.fullmatch(first) and NUMBER.fullmatch(second):
            assert math.isclose(float(first), float(second), rel_tol=0.01), printed
        else:
            assert first == second, printed


@pytest.mark.parametrize("page", [page for page in RUNNABLE if page not in WORDS_ONLY])
def test_pages_run_and_show_what_is_printed(page, page_outputs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    found = page_outputs.BLOCK.findall(text)
    assert any(language == "python" or comment == page_outputs.DEMO for comment, language, _ in found)
    shown = 0
    for start, end, printed in page_outputs.outputs(text):
        assert_same_output(text[start:end], printed)
        shown += 1
    assert shown or page not in SHOWING


# --- length ------------------------------------------------------------------------------------------------

LONGEST, README_LONGEST = 2500, 700


def words(text: str) -> int:
    """Count the words of a page; what is collapsed (`<details>`), comments and addresses of links do not count."""
    text = re.sub(r"<details>.*?</details>|<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return sum(bool(re.search(r"\w", word)) for word in text.split())


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.name)
def test_no_page_is_too_long(page):
    assert words(page.read_text(encoding="utf-8")) <= LONGEST


def test_the_readme_takes_two_minutes():
    prose = re.sub(
        r"^```.*?^```$", "", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    assert words(prose) <= README_LONGEST


def test_what_counts_as_a_word():
    assert words("| a | 0.5 |\n|---|---|\n<!-- no -->\n<details>\nb c\n</details>\n[d e](f.md)") == 4


# --- words -------------------------------------------------------------------------------------------------

#: Odd English that was here once.
ODD = re.compile(
    r"dearer|so many (?:rows|steps|of|nats|times)|errs least|\bas it comes\b|on the same surface|hangs on little|"
    r"read it so|\bmend\b"
)
#: Pages that still have some; none may be added.
STILL_ODD = {"reproduction.md"}


def test_plain_words():
    pages = [page for page in [*PROSE, *SOURCE.rglob("*.py")] if page.name not in STILL_ODD]
    odd = {page.name: ODD.findall(page.read_text(encoding="utf-8")) for page in pages}
    assert {name: words for name, words in odd.items() if words} == {}
    assert ODD.findall("mend so many rows") == ["mend", "so many rows"]


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
    pages = [(ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("messages.md", "messages-files.md")]
    rows = re.findall(r"^\| (`.*?) \|", "\n".join(pages), flags=re.MULTILINE)
    quotes = [quote for row in rows for quote in re.findall(r"`([^`]+)`", re.sub(r"\(for .*?\)", "", row))]
    assert len(quotes) > 100
    # "`name` must " is put in front of the rule by ParameterError.
    assert [quote for quote in quotes if quote.removeprefix("must ") not in joined] == []


def test_the_readme_says_what_the_demo_finds():
    """Edges, links and reversed arrows on the Sachs data, as the README counts them."""
    demo = (ROOT / "docs" / "demo.md").read_text(encoding="utf-8")
    rows = demo.split("consensus graph\n")[1].split("\nmean:")[0].splitlines()
    verdicts = [row.split()[-1] for row in rows]
    linked, turned = len(verdicts) - verdicts.count("no"), verdicts.count("reversed")
    told = f"{len(verdicts)} edges. {linked} of them join proteins that this graph joins, but {turned} point the other way"
    assert told in " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())


def test_every_extra_is_explained():
    extras = set(
        tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    )
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\|.*`pip install (?:-e )?'\.\[([\w-]+)\]'`", page, flags=re.MULTILINE)) == extras


def test_named_tests_statistics_and_options_exist():
    from heterodag.independence.registry import SELECTIONS

    tests = (ROOT / "docs" / "edge-tests.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\*\*`([\w-]+)`\*\*", tests, flags=re.MULTILINE)) == sorted(SELECTIONS)
    cli = "".join(path.read_text(encoding="utf-8") for path in sorted((SOURCE / "cli").glob("*.py")))
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    for option in set(re.findall(r"--([a-z][a-z-]*)", page)) - {"help", "version"}:
        assert re.search(rf"--{option}\b|\b{option.replace('-', '_')}:", cli), f"--{option} is no option"


# --- the checks themselves ---------------------------------------------------------------------------------


def test_a_marked_block_is_not_run_and_outputs_belong_to_the_blocks_before(page_outputs):
    text = (
        "```python\nprint(1)\n```\n\n<!-- not run -->\n```python\nprint(2)\n```\n\n<!-- output -->\n```text\nold\n```\n"
        "```python\nprint(3)\n```\n<!-- output -->\n```text\n```\n"
    )
    assert [printed for _, _, printed in page_outputs.outputs(text)] == ["1\n", "3\n"]
    assert page_outputs.filled(text) == text.replace("old", "1").replace("text\n```\n", "text\n3\n```\n")


@pytest.mark.parametrize(("shown", "printed"), [("a 1.0", "a 1.5"), ("a b", "a c"), ("a", "a b")])
def test_other_output_is_found(shown, printed):
    with pytest.raises(AssertionError):
        assert_same_output(shown, printed)
    assert_same_output("p 1.00e-9", "p   1.001e-9")
