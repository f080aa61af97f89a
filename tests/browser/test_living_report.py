"""Reports in a real browser, at the width of a desk and of a phone: what is clicked works, and nothing sticks out."""

import pytest
from browser_reports import REPORTS

Keys = pytest.importorskip("selenium.webdriver.common.keys", reason="selenium is not installed").Keys

DESK, PHONE = 1280, 400
WIDTHS = pytest.mark.parametrize("width", [DESK, PHONE])

# Text that is wider than its box, and boxes that stick out of the page, each as a line that tells which.
OUTSIDE = """
const found = [], tell = (kind, e) => found.push(`${kind}: ${e.textContent.slice(0, 40)}`);
for (const node of document.querySelectorAll('.graph .node')) {
  const [text, box] = [node.querySelector('text'), node.querySelector('rect')].map((e) => e.getBoundingClientRect());
  if (text.left < box.left || text.right > box.right || text.top < box.top || text.bottom > box.bottom) tell('node', node);
}
for (const text of document.querySelectorAll('svg.picture text, svg.matrix text')) {
  const box = text.closest('svg').getBoundingClientRect(), own = text.getBoundingClientRect();
  const across = own.left > box.left - 1 && own.right < box.right + 1;
  if (!across || own.top < box.top - 1 || own.bottom > box.bottom + 1) tell('text', text);
}
for (const cell of document.querySelectorAll('td, th, .chip, figcaption, li, h1, h2')) {
  if (cell.getClientRects().length && cell.scrollWidth > cell.clientWidth + 1) tell(cell.tagName, cell);
}
for (const element of document.body.querySelectorAll('*')) {
  const box = element.getBoundingClientRect();
  if (box.right <= innerWidth + 1 || !box.width) continue;
  let parent = element.parentElement;
  while (parent !== document.body && getComputedStyle(parent).overflowX === 'visible') parent = parent.parentElement;
  if (parent === document.body) tell('page', element);
}
return found;
"""
# Numbers that are broken over two lines.
BROKEN = """
const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
while (walker.nextNode()) {
  const node = walker.currentNode;
  if (node.parentElement.closest('script, style, svg')) continue;
  for (const match of node.data.matchAll(/[+-]?\\d[\\d.,]*(?:e[+-]?\\d+)?/g)) {
    range.setStart(node, match.index);
    range.setEnd(node, match.index + match[0].length);
    if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) found.push(match[0]);
  }
}
return found;
"""


def sound(page):
    """Assert that the page complains about nothing, asks for nothing but itself, and that nothing sticks out."""
    complaints, requests = page.logs()
    assert complaints == []
    assert set(requests) <= {page.address}
    assert page.js("return document.documentElement.scrollWidth") <= page.js("return innerWidth")
    assert page.js(OUTSIDE) == []
    assert page.js(BROKEN) == []


@WIDTHS
@pytest.mark.parametrize("name", REPORTS)
def test_every_report_is_sound_with_an_edge_open(page, reports, name, width):
    page.open(reports(name), width)
    assert page.js("return innerWidth") == width
    sound(page)
    assert page.js("return 'hacked' in window") is False
    page.js("document.querySelector('#edge-table tbody tr').click()")
    assert page.seen("#panel svg.picture") == 1
    assert 100 < page.js("return document.querySelector('#panel .dots').getAttribute('d').split('h0').length") <= 501
    assert page.seen("#panel .mean") == page.seen("#panel .band") == (name not in ("rival", "huge"))
    sound(page)


@WIDTHS
def test_a_variable_lights_up_its_ancestors_and_descendants(page, reports, width):
    page.open(reports("five"), width)
    page.click("#zoom-fit")
    edges, names = page.js(
        "const d = JSON.parse(document.getElementById('data').textContent); return [d.edges, d.names]"
    )
    node = next(j for i, j in edges if any(j == cause for cause, _ in edges))
    above, below = reach(edges, node, 1), reach(edges, node, 0)
    page.click(f'.node[data-node="{node}"]')
    lit = "return [...document.querySelectorAll(arguments[0])].map((e) => Number(e.dataset.node)).sort()"
    assert page.js(lit, ".node.above") == sorted(above)
    assert page.js(lit, ".node.below") == sorted(below)
    looks = [page.js("return getComputedStyle(document.querySelector(arguments[0])).strokeDasharray", f".node.{kind} rect")
             for kind in ("above", "below")]  # fmt: skip
    assert looks[0] != looks[1]
    (line,) = page.texts("#lit")
    assert line.startswith(f"{names[node]}: {len(above)} ancestor")
    faded = page.js("return [...document.querySelectorAll('.node')].map((e) => Number(getComputedStyle(e).opacity))")
    assert sum(opacity < 0.5 for opacity in faded) == len(names) - 1 - len(above) - len(below)
    page.click(f'.node[data-node="{node}"]')
    assert page.seen("#lit") == 0
    assert page.js("return document.querySelectorAll('.graph .above, .graph .below').length") == 0


def reach(edges, start, side):
    found, queue = set(), [start]
    while queue:
        node = queue.pop()
        fresh = {edge[1 - side] for edge in edges if edge[side] == node} - found
        found |= fresh
        queue += fresh
    return found


@WIDTHS
def test_an_edge_opens_its_picture(page, reports, width):
    page.open(reports("five"), width)
    page.click("#zoom-fit")
    page.click('.edge[data-edge="0"]')
    (title,) = page.texts("#panel-title")
    assert title == " → ".join(page.texts('tr[data-edge="0"] td')[:2])
    facts = page.texts("#panel li")
    assert facts[0].startswith(f"Per standard deviation of {title.split(' ')[0]}, the mean of {title.split(' ')[-1]}")
    assert any(fact.startswith("Evidence for the edge: p ") for fact in facts)
    assert any(fact.startswith("Evidence for its direction: ") for fact in facts)
    assert page.js("return [...document.querySelectorAll('.chosen')].map((e) => e.dataset.edge)") == ["0", "0"]
    page.click("#panel-on")
    assert page.texts("#panel-title") == [" → ".join(page.texts('tr[data-edge="1"] td')[:2])]
    page.click("#panel-close")
    assert page.seen("#panel") == 0
    page.click("figure[data-edge='1']")
    assert page.seen("#panel") == 1
    page.press(Keys.ESCAPE)
    assert page.seen("#panel") == 0


def test_the_script_draws_what_the_page_shows_without_it(page, reports):
    page.open(reports("five"), DESK)
    page.click("figure[data-edge='0']")
    shapes = "return [...document.querySelectorAll(arguments[0])].map((e) => e.getAttribute('d') ?? e.textContent)"
    still, living = (
        page.js(shapes, f"{where} svg.picture :is(path, text)") for where in ("figure[data-edge='0']", "#panel")
    )
    assert len(still) > 8
    assert sorted(still) == sorted(living)


def test_points_move_to_the_medians_of_the_other_causes(page, reports):
    page.open(reports("five"), DESK)
    dots, others = (
        "return document.querySelector('#panel .dots').getAttribute('d')",
        "data.pictures.findIndex((p) => p.others > 0)",
    )
    number = page.js(f"const data = JSON.parse(document.getElementById('data').textContent); return {others}")
    page.js(f"document.querySelector('tr[data-edge=\"{number}\"]').click()")
    before = page.js(dots)
    page.click("#moved")
    assert page.js(dots) != before
    page.click("#moved")
    assert page.js(dots) == before


@WIDTHS
def test_everything_works_from_the_keyboard(page, reports, width):
    page.open(reports("five"), width)
    page.js("document.querySelector('.node').focus()")
    page.press(Keys.ENTER)
    assert page.js("return document.querySelector('.node').getAttribute('aria-pressed')") == "true"
    page.press(Keys.ESCAPE)
    assert page.seen("#lit") == 0
    page.js("document.querySelector('.edge').focus()")
    page.press(Keys.SPACE)
    assert page.js("return document.activeElement.id") == "panel"
    page.press(Keys.ESCAPE)
    assert page.js("return document.activeElement === document.querySelector('.edge')")
    page.js("document.querySelectorAll('#edge-table th button')[0].focus()")
    page.press(Keys.ENTER)
    assert page.js("return document.querySelector('#edge-table th').getAttribute('aria-sort')") == "ascending"
    page.js("document.querySelector('#edge-table td button').focus()")
    page.press(Keys.ENTER)
    assert page.seen("#panel") == 1
    assert (
        page.js("return document.querySelectorAll('[tabindex]:not([aria-label]):not([aria-labelledby])').length") == 0
    )


@WIDTHS
def test_the_slider_hides_weak_edges_everywhere(page, reports, width):
    page.open(reports("wide"), width)
    squares = (
        "return [...document.querySelectorAll('.cells')].flatMap((p) => p.getAttribute('d').match(/z/g) || []).length"
        " + [...document.querySelectorAll('.matrix .open:not([hidden])')].length"
    )
    shown = lambda: [page.seen(".graph .edge"), page.js(squares), page.seen("#edge-table tbody tr")]  # noqa: E731
    assert shown() == [184] * 3
    assert page.texts("#threshold-text") == ["p ≤ 0.001 (alpha)"]
    page.set("#threshold", 900)
    middle = shown()
    assert 1 < middle[0] == middle[1] == middle[2] < 184
    assert page.texts("#threshold-count") == [f"{middle[0]} of 184 edges"]
    limit = float(page.texts("#threshold-text")[0].split("(")[1].split()[0].replace(",", ""))
    nats = page.js("return JSON.parse(document.getElementById('data').textContent).nats")
    assert middle[0] == pytest.approx(sum(value >= limit for value in nats), abs=1)
    page.set("#threshold", 1000)
    assert shown() == [1] * 3
    page.set("#threshold", 0)
    assert shown() == [184] * 3


@WIDTHS
def test_the_table_is_searched_and_sorted(page, reports, width):
    page.open(reports("sachs"), width)
    rows = (
        "return [...document.querySelectorAll('#edge-table tbody tr')].filter((row) => !row.hidden)"
        ".map((row) => [...row.cells].map((cell) => cell.textContent.trim()))"
    )
    total = len(page.js(rows))
    page.set("#search", "PKC")
    found = page.js(rows)
    assert 0 < len(found) < total
    assert all("pkc" in row[:2] for row in found)
    assert page.texts("#search-count") == [f"{len(found)} of {total} edges"]
    page.set("#search", "no such name")
    assert page.js(rows) == []
    page.set("#search", "")
    heads = page.texts("#edge-table th")
    for column, first in (
        ("Cause", "ascending"),
        ("p-value", "ascending"),
        ("Direction (nats)", "descending"),
        ("Share", "descending"),
    ):
        at = heads.index(column)
        page.click(f"#edge-table th:nth-child({at + 1}) button")
        head = f"return document.querySelector('#edge-table th:nth-child({at + 1})').getAttribute('aria-sort')"
        assert page.js(head) == first
        once = [row[at] for row in page.js(rows)]
        page.click(f"#edge-table th:nth-child({at + 1}) button")
        assert page.js(head) != first
        assert len(once) == total
        key = (lambda text: text) if column == "Cause" else (lambda text: float(text.split()[0].replace(",", "")))
        values = [key(text) for text in once]
        assert values == sorted(values, reverse=first == "descending")
        values = [key(row[at]) for row in page.js(rows)]
        assert values == sorted(values, reverse=first == "ascending")


VIEW = "return document.querySelector('svg.graph').getAttribute('viewBox').split(' ').map(Number)"
MIDDLE = """const c = document.querySelector('.canvas'); c.scrollIntoView({ block: 'center', behavior: 'instant' });
const b = c.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2];"""


@WIDTHS
def test_zoom_and_pan(page, reports, width):
    page.open(reports("wide"), width)
    page.click("#zoom-fit")
    whole = page.js(VIEW)
    page.click("#zoom-in")
    near = page.js(VIEW)
    assert near[2] == pytest.approx(whole[2] / 1.4)
    x, y = page.js(MIDDLE)
    page.drag((x, y), [(-20, 0), (-30, -10)])
    assert page.js(VIEW)[0] > near[0]
    assert page.seen("#lit") == page.seen("#panel") == 0, "a drag is no click"
    wheel = {"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": -100}
    before = page.js(VIEW)
    page.js("document.activeElement.blur()")
    page.cdp("Input.dispatchMouseEvent", **wheel, modifiers=2)
    assert page.js(VIEW)[2] < before[2]
    page.click("#zoom-fit")
    assert page.js(VIEW) == whole
    page.js("document.querySelector('.canvas').focus()")
    page.press("+")
    page.press(Keys.ARROW_RIGHT)
    assert page.js(VIEW)[2] < whole[2]
    page.press("0")
    assert page.js(VIEW) == whole
    page.js("document.activeElement.blur()")
    page.cdp("Input.dispatchMouseEvent", **wheel)
    assert page.js(VIEW) == whole, "the wheel alone scrolls the page"


def test_two_fingers_zoom(page, reports):
    page.open(reports("wide"), PHONE)
    page.click("#zoom-fit")
    (x, y), whole = page.js(MIDDLE), page.js(VIEW)
    page.cdp("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    try:
        page.cdp(
            "Input.dispatchTouchEvent",
            type="touchStart",
            touchPoints=[{"x": x - 20, "y": y, "id": 0}, {"x": x + 20, "y": y, "id": 1}],
        )
        for reach in (40, 60, 80):
            page.cdp(
                "Input.dispatchTouchEvent",
                type="touchMove",
                touchPoints=[{"x": x - reach, "y": y, "id": 0}, {"x": x + reach, "y": y, "id": 1}],
            )
        page.cdp("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    finally:
        page.cdp("Emulation.setTouchEmulationEnabled", enabled=False)
    assert page.js(VIEW)[2] < 0.6 * whole[2]


def test_a_mark_of_the_matrix_opens_its_edge(page, reports):
    page.open(reports("wide"), DESK)
    number, x, y = page.js(
        """const path = document.querySelector('.matrix .cells');
        path.scrollIntoView({ block: 'center', behavior: 'instant' });
        const [left, top, side] = path.getAttribute('d').match(/-?[\\d.]+/g).map(Number);
        const point = new DOMPoint(left + side / 2, top + side / 2).matrixTransform(path.getScreenCTM());
        return [Number(path.dataset.edges.split(' ')[0]), point.x, point.y];"""
    )
    for kind in ("mousePressed", "mouseReleased"):
        page.cdp("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    assert page.texts("#panel-title") == [" → ".join(page.texts(f'tr[data-edge="{number}"] td')[:2])]


def test_a_report_without_edges_has_no_script_error(page, tmp_path):
    import numpy as np

    from heterodag import HOST
    from heterodag.report import render_report

    table = np.random.default_rng(1).standard_normal((200, 2))
    path = tmp_path / "none.html"
    path.write_text(render_report(HOST().fit(table), table), encoding="utf-8")
    page.open(path, PHONE)
    assert page.texts("#threshold-count") == [""]
    sound(page)
