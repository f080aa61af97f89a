"""The pages as Markdown: every link leads somewhere, every page is in a section, every question has an answer."""

from __future__ import annotations

import fnmatch
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
#: Made by the build, not written.
BUILT = ("_build", "_templates", "api/generated", "gallery")

pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="needs a clone")


def written_pages() -> list[Path]:
    pages = sorted(DOCS.rglob("*.md"))
    return [page for page in pages if not page.relative_to(DOCS).as_posix().startswith(BUILT)]


PAGES = written_pages()


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def links(text: str) -> list[str]:
    """Return the targets of links and pictures that are no addresses."""
    found = re.findall(r"\]\(([^)\s]+)\)", without_code(text))
    return [target for target in found if not re.match(r"[a-z]+:", target)]


def anchors(page: Path) -> set[str]:
    """Return the anchors that code hosts, and the site, make of headings."""
    headings = re.findall(r"^#+ (.*)$", without_code(page.read_text(encoding="utf-8")), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(
    "page", [*sorted(ROOT.glob("*.md")), *PAGES], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_links_resolve(page):
    for target in links(page.read_text(encoding="utf-8")):
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), f"there is no {target}"
        assert not anchor or file.suffix != ".md" or anchor in anchors(file), f"there is no {target}"


def sections() -> dict[str, list[str]]:
    return tomllib.loads((DOCS / "navigation.toml").read_text(encoding="utf-8"))


def test_every_page_is_in_one_section():
    names = [page.relative_to(DOCS).with_suffix("").as_posix() for page in PAGES]
    entries = [entry for some in sections().values() for entry in some]
    patterns = [entry for entry in entries if "*" in entry]
    assert len(set(entries)) == len(entries)
    lost = [name for name in names if name not in entries and not any(fnmatch.fnmatch(name, one) for one in patterns)]
    assert lost == ["index"]
    assert set(sections()) <= {*names}
    assert [entry for entry in entries if entry not in names and entry not in patterns] == ["gallery/index"]


@pytest.mark.parametrize("section", [name for name in sections() if name not in ("index", "api/index")])
def test_sections_link_to_their_pages(section):
    """On a code host there is no navigation but links."""
    page = DOCS / f"{section}.md"
    linked = {(page.parent / name.partition("#")[0]).resolve() for name in links(page.read_text(encoding="utf-8"))}
    entries = [entry for entry in sections()[section] if "*" not in entry]
    assert [entry for entry in entries if (DOCS / f"{entry}.md").resolve() not in linked] == []


def test_the_start_page_answers_25_questions():
    start = (DOCS / "index.md").read_text(encoding="utf-8")
    assert "<!-- questions -->" in start
    assert "(questions.md)" in start
    rows = re.findall(r"^\| \d+ \|.*$", (DOCS / "questions.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(rows) >= 25
    assert all(links(row) for row in rows)


# --- the checks themselves ---------------------------------------------------------------------------------


def test_what_counts_as_a_link():
    text = "[a](b.md#c) ![d](e.png) [f](https://g.org)\n```\n[h](i.md)\n```\n"
    assert links(text) == ["b.md#c", "e.png"]


def test_anchors_of_headings(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# What if? (a *test*)\n```\n# code\n```\n## 2. More\n", encoding="utf-8")
    assert anchors(page) == {"what-if-a-test", "2-more"}
