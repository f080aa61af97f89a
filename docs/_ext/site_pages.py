"""What the site does beyond plain Sphinx, so that the pages remain plain Markdown.

The sections are those of navigation.toml. Pages of the root folder (README, ARCHITECTURE, ...) are shown: a stub under docs
says where they are, and is replaced by their text. Links that leave docs are turned accordingly. The table of questions is
shown on the start page. In docstrings, single backticks link to public names, and are code otherwise.
"""

import fnmatch
import inspect
import os
import re
import tomllib
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.domains.python import PyXRefRole

import heterodag

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
SECTIONS = tomllib.loads((DOCS / "navigation.toml").read_text(encoding="utf-8"))
#: Pages of the root folder, and the stubs that show them.
STUBS = {
    ROOT / "README.md": DOCS / "contribute/readme.md",
    ROOT / "ARCHITECTURE.md": DOCS / "contribute/architecture.md",
    ROOT / "CONTRIBUTING.md": DOCS / "contribute/contributing.md",
    ROOT / "CHANGELOG.md": DOCS / "changelog.md",
}
#: Where the site shows what a link names: the root pages, and the examples, which the gallery makes pages of.
EXAMPLES = {path: DOCS / "gallery" / f"{path.stem}.rst" for path in (ROOT / "examples").glob("*.py")}
SHOWN = STUBS | EXAMPLES | {ROOT / "examples": DOCS / "gallery/index.rst"}
QUESTIONS = "<!-- questions -->"
LINK = re.compile(r"\]\(([^)\s#]+)(#[^)\s]*)?\)")


def relocated(text: str, written_in: Path, shown_in: Path) -> str:
    """Turn relative links so that they work where the text is shown; root pages become their stubs."""

    def turn(match: re.Match[str]) -> str:
        target = (written_in.parent / match[1]).resolve()
        if re.match(r"[a-z]+:", match[1]) or not target.exists():
            return match[0]
        place = os.path.relpath(SHOWN.get(target, target), shown_in.parent)
        return f"]({place}{match[2] or ''})"

    return LINK.sub(turn, text)


def contents(section: str, pages: set[str]) -> str:
    """Return the hidden table of contents of a section, without pages that are not there (the gallery, if not built)."""
    listed = {entry for entries in SECTIONS.values() for entry in entries} | set(SECTIONS)
    found: list[str] = []
    for entry in SECTIONS.get(section, ()):
        found += [entry] if entry in pages else sorted(set(fnmatch.filter(pages, entry)) - listed)
    return "\n\n```{toctree}\n:hidden:\n\n/" + "\n/".join(found) + "\n```\n" if found else ""


def page_text(page: Path, text: str) -> str:
    """Return what the site shows for a page under docs."""
    written_in = {stub: root for root, stub in STUBS.items()}.get(page, page)
    if written_in != page:
        text = written_in.read_text(encoding="utf-8")
    if QUESTIONS in text:
        _, _, questions = (DOCS / "questions.md").read_text(encoding="utf-8").partition("\n")
        text = text.replace(QUESTIONS, questions.replace("\n## ", "\n### "))
    return relocated(text, written_in, page)


def _read(app: Sphinx, docname: str, source: list[str]) -> None:
    page = Path(app.env.doc2path(docname))
    if page.suffix == ".md":
        source[0] = page_text(page, source[0]) + contents(docname, app.env.found_docs)


class NameRole(PyXRefRole):
    """A link if the text is a public name, a method of one, or a method of the class at hand; else code."""

    def run(self):
        """Return the nodes of the role."""
        first, *rest = self.target.removesuffix("()").split(".")
        if first not in heterodag.__all__ and self.env.ref_context.get("py:class") in heterodag.__all__:
            first, rest = self.env.ref_context["py:class"], [first, *rest]
        if not is_documented(first, rest):
            return [nodes.literal(self.rawtext, self.text)], []
        self.name, self.has_explicit_title = "py:obj", True
        self.target = ".".join(["heterodag", first, *rest])
        return super().run()


def is_documented(name: str, rest: list[str]) -> bool:
    """Return whether the reference describes a class or function, or one of its methods."""
    owner = getattr(heterodag, name, None) if name in heterodag.__all__ else None
    if not rest:
        return callable(owner)
    return len(rest) == 1 and inspect.isroutine(getattr(owner, rest[0], None)) and not rest[0].startswith("_")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the hooks."""
    app.connect("source-read", _read)
    app.add_role("name", NameRole(), override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
