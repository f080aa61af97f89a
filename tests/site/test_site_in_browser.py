"""The built site in a real browser, from files: search finds names, a phone can show it, nothing is asked of a network."""

import time

import pytest
from built_site import NOT_BUILT, SITE

pytestmark = pytest.mark.skipif(not (SITE / "index.html").exists(), reason=NOT_BUILT)
DESK, PHONE = 1280, 400
SHOWN = (
    "index.html",
    "quickstart.html",
    "how-to/too-many-edges.html",
    "api/generated/heterodag.HOST.html",
    "worlds.html",
)
#: What the theme says about light and dark, and where the reader was, is no complaint.
CHATTER = "[PST]:"


def wait_for(page, script, *arguments, seconds=20):
    """Wait until a script returns something that counts."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = page.js(script, *arguments)
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"waited in vain for {script}")


def assert_quiet(page):
    complaints, asked = page.logs()
    assert [line for line in complaints if CHATTER not in line] == []
    assert [address for address in asked if not address.startswith(("file:", "data:", "blob:", "about:"))] == []


@pytest.mark.parametrize("width", [DESK, PHONE])
@pytest.mark.parametrize("name", SHOWN)
def test_pages_fit_their_width_and_need_no_network(page, name, width):
    page.open(SITE / name, width)
    assert page.js("return document.querySelector('article h1').getClientRects().length") == 1
    assert page.js("return document.documentElement.scrollWidth") <= width
    # Whatever is wider than the page scrolls in a box of its own.
    outside = page.js(
        """const width = document.documentElement.clientWidth;
        const boxed = (e) => e && e !== document.body &&
          (getComputedStyle(e).overflowX !== 'visible' || boxed(e.parentElement));
        return [...document.querySelectorAll('article *')]
          .filter((e) => e.getClientRects().length && e.getBoundingClientRect().right > width + 1 && !boxed(e.parentElement))
          .map((e) => e.outerHTML.slice(0, 80));"""
    )
    assert outside == []
    assert_quiet(page)


@pytest.mark.parametrize(
    ("words", "address"),
    [
        ("PriorKnowledge", "api/generated/heterodag.PriorKnowledge.html"),
        ("missing values", "how-to/missing-values.html"),
    ],
)
def test_search_finds(page, words, address):
    page.open(SITE / "index.html", DESK)
    page.js("document.querySelector('.search-button__button, .search-button-field').click()")
    field = "dialog input[type=search], .search-button__search-container input[type=search]"
    wait_for(page, "return document.querySelector(arguments[0])?.getClientRects().length", field)
    page.js("document.querySelector(arguments[0]).focus()", field)
    page.press(words + "\n")
    found = wait_for(page, "return [...document.querySelectorAll('#search-results li a')].map((a) => a.href)")
    wait_for(page, "return /found|Search finished/i.test(document.querySelector('.search-summary')?.textContent)")
    found = page.js("return [...document.querySelectorAll('#search-results li a')].slice(0, 5).map((a) => a.href)")
    assert any(one.partition("#")[0].endswith(address) for one in found), found
    assert_quiet(page)


def test_light_and_dark(page):
    page.open(SITE / "index.html", DESK)
    colours = "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]"
    light = page.js(colours)
    page.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    try:
        page.open(SITE / "index.html", DESK)
        dark = page.js(colours)
    finally:
        page.cdp("Emulation.setEmulatedMedia", features=[])
    assert light[0] != dark[0]
    assert light[1] != dark[1]
