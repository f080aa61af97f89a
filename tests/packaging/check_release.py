"""What must hold before a release beyond `make package`; `make release-check` runs it (docs/releasing.md)."""

from __future__ import annotations

import re
import subprocess

import pytest
from repository import ROOT, VERSION, text_of


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("name", ["pyproject.toml", "README.md", "CITATION.cff"])
def test_no_address_is_a_placeholder(name):
    assert "example.org" not in text_of(name)


def test_the_changelog_has_this_version_with_a_date():
    text = text_of("CHANGELOG.md")
    assert re.search(rf"^## \[{re.escape(VERSION)}\] - \d{{4}}-\d\d-\d\d$", text, re.MULTILINE)


def test_the_citation_has_this_version_with_a_date():
    text = text_of("CITATION.cff")
    assert re.search(rf"^version: {re.escape(VERSION)}$", text, re.MULTILINE)
    assert re.search(r"^date-released: \d{4}-\d\d-\d\d$", text, re.MULTILINE)


def test_everything_is_committed_and_the_tag_is_new_or_here():
    assert git("status", "--porcelain") == ""
    tagged = git("tag", "--list", f"v{VERSION}")
    assert tagged == "" or git("rev-parse", f"v{VERSION}^{{commit}}") == git("rev-parse", "HEAD")


def test_dist_holds_this_version():
    built = {path.name for path in (ROOT / "dist").iterdir()}
    assert built == {f"heterodag-{VERSION}.tar.gz", f"heterodag-{VERSION}-py3-none-any.whl"}
