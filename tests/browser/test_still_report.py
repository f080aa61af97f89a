"""The same page without a script, in print and in the dark."""

import base64
import re

import pytest

CONTROLS = "#threshold, #search, #zoom-in, #panel, #edge-table button"


@pytest.fixture
def no_script(page):
    page.cdp("Emulation.setScriptExecutionDisabled", value=True)
    yield page
    page.cdp("Emulation.setScriptExecutionDisabled", value=False)


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("name", ["sachs", "wide"])
def test_without_a_script_the_page_can_be_read(no_script, reports, name, width):
    page = no_script.open(reports(name), width)
    assert page.js("return document.documentElement.className") == ""
    assert page.seen(CONTROLS) == page.seen(".live-only") == 0
    assert page.seen("svg.graph .node") == (11 if name == "sachs" else 40)
    assert page.seen("#edge-table tbody tr") == len(page.texts("#edge-table tbody tr")) > 0
    assert page.seen("svg.picture") == 6
    assert page.js("return document.documentElement.scrollWidth") <= width
    assert page.js("return document.querySelector('svg.graph').getBoundingClientRect().width") > 250


def test_in_print_controls_are_gone_and_details_open(page, reports):
    page.open(reports("sachs"), 1280)
    page.js("document.querySelector('#edge-table tbody tr').click()")
    page.cdp("Emulation.setEmulatedMedia", media="print")
    try:
        assert page.seen(CONTROLS.replace("table button", "table td button")) == 0
        assert page.seen("nav") == 0
        assert page.js("return getComputedStyle(document.querySelector('thead')).display") == "table-header-group"
        assert page.js(
            "return [...document.querySelectorAll('.long, .wide')].every((e) => getComputedStyle(e).overflowX === 'visible')"
        )
    finally:
        page.cdp("Emulation.setEmulatedMedia", media="")
    pdf = base64.b64decode(page.cdp("Page.printToPDF", printBackground=False)["data"])
    assert pdf.startswith(b"%PDF")
    page.js("dispatchEvent(new Event('beforeprint'))")
    assert page.js("return document.querySelectorAll('details:not([open])').length") == 0
    page.js("dispatchEvent(new Event('afterprint'))")
    assert page.js("return document.querySelectorAll('details').length") > 0


def test_in_the_dark_text_is_light(page, reports):
    page.open(reports("sachs"), 1280)
    colour = (
        "const [body, text] = ['body', '.node text'].map((at) => getComputedStyle(document.querySelector(at)));"
        "return [body.color, body.backgroundColor, text.fill]"
    )
    light = page.js(colour)
    page.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    try:
        dark = page.js(colour)
    finally:
        page.cdp("Emulation.setEmulatedMedia", features=[])
    assert brightness(light[0]) < 100 < 200 < brightness(light[1])
    assert brightness(dark[1]) < 60 < 200 < min(brightness(dark[0]), brightness(dark[2]))


def brightness(colour):
    return sum(int(part) for part in re.findall(r"\d+", colour)[:3]) / 3
