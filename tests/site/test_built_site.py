"""The built site: its links lead somewhere, and it needs no network."""

from __future__ import annotations

import re
from functools import cache
from urllib.parse import unquote

import pytest
from built_site import NOT_BUILT, SITE, Addresses, addresses

pytestmark = pytest.mark.skipif(not (SITE / "index.html").exists(), reason=NOT_BUILT)
PAGES = [page for page in sorted(SITE.rglob("*.html")) if "_static" not in page.parts]
cached = cache(addresses)


def is_outside(address: str) -> bool:
    return re.match(r"(?:[a-z]+:)?//|[a-z]+:(?!//)", address) is not None and not address.startswith("data:")


def test_internal_links_lead_somewhere():
    lost = []
    for page in PAGES:
        for link in cached(page).links:
            if is_outside(link):
                continue
            name, _, anchor = unquote(link).partition("#")
            file = (page.parent / name.partition("?")[0]).resolve() if name else page
            if not file.exists() or (anchor and file.suffix == ".html" and anchor not in cached(file).anchors):
                lost.append(f"{page.relative_to(SITE)}: {link}")
    assert lost == []


def test_nothing_is_fetched_from_outside():
    assert [(page.name, one) for page in PAGES for one in cached(page).fetched if is_outside(one)] == []
    styles = "".join(path.read_text(encoding="utf-8") for path in SITE.rglob("*.css"))
    assert re.findall(r"(?:@import\s+|url\()[\"']?(?:https?:)?//[^)\"']*", styles) == []


def test_what_a_page_shows_is_there():
    lost = [
        (page.name, one)
        for page in PAGES
        for one in cached(page).fetched
        if not one.startswith("data:") and not (page.parent / unquote(re.sub(r"[?#].*", "", one))).exists()
    ]
    assert lost == []


def test_public_names_have_pages():
    names = {page.stem for page in (SITE / "api" / "generated").glob("*.html")}
    assert {"heterodag.HOST", "heterodag.PriorKnowledge", "heterodag.metrics.shd"} <= names
    text = (SITE / "api" / "generated" / "heterodag.HOST.html").read_text(encoding="utf-8")
    assert {'id="heterodag.HOST.fit"', 'id="heterodag.HOST.edges"'} <= set(re.findall(r'id="[^"]*"', text))


# --- the checks themselves ---------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["https://a.org/b.js", "//a.org/b.js", "mailto:a@b.org"])
def test_what_is_outside(address):
    assert is_outside(address)
    assert not is_outside("b.js?v=1")
    assert not is_outside("data:image/png;base64,")


def test_what_a_page_fetches():
    page = Addresses('<a href="b.html" id="c"></a><script src="d.js"></script><link href="e.css"><p id="f">')
    assert (page.links, page.fetched, page.anchors) == (["b.html"], ["d.js", "e.css"], {"c", "f"})
