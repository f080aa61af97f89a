"""The report is one self-contained, well-formed page that names every variable and edge, all escaped."""

import html
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from heterodag.report import render_report
from heterodag.report.drawing import describe_p, draw_graph, draw_matrix, draw_qq, shorten
from heterodag.report.html import MAX_EDGE_ROWS, MAX_PANELS, Comparison

EVIL = '<script>alert(1)</script> & "x"'
VOID = {"meta", "path", "rect", "br", "hr", "img", "link"}


class Model:
    """A fitted model as far as the report looks at it, of any size, on a random DAG."""

    def __init__(self, d=6, density=0.3, names=None, alpha=0.001):
        rng = np.random.default_rng(d)
        self.alpha, self._names = alpha, list(names or [f"gene {k}" for k in range(d)])
        self.order_ = rng.permutation(d)
        upper = np.triu(rng.random((d, d)) < density, k=1)
        self.adjacency_ = np.zeros((d, d), dtype=np.int8)
        self.adjacency_[np.ix_(self.order_, self.order_)] = upper
        self.pvalues_ = np.where(self.adjacency_ == 1, 10.0 ** -rng.uniform(3, 30, (d, d)), np.nan)
        self.layers_ = [[int(k)] for k in self.order_]
        self.scores_ = np.full((d, d), np.nan)
        for k in range(d):
            self.scores_[k, self.order_[k:]] = np.sort(rng.uniform(0.8, 1, d - k))[::-1]

    def get_params(self, deep=True):
        return {"alpha": self.alpha, "tolerance": 1e-4, "normality": "shapiro"}

    def names(self):
        return self._names

    def latents(self, X):
        return np.asarray(X, dtype=float)


class Checker(HTMLParser):
    """Collects tags and text, and insists that every element is closed."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.stack, self.tags, self.links, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in {"src", "href", "xlink:href", "action"}]
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.stack, f"</{tag}> closes nothing"
        assert self.stack.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def parse(page):
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert checker.stack == []
    return checker


def data(n=200, d=6):
    return np.random.default_rng(1).standard_normal((n, d))


def test_page_is_well_formed_and_needs_nothing_else():
    page = render_report(Model(), data())
    checker = parse(page)
    assert page.startswith("<!doctype html>")
    assert checker.links == []
    assert {"script", "link", "iframe", "img"}.isdisjoint(checker.tags)
    assert not re.search(r"https?://|url\(|@import", page)


def test_page_names_every_variable_and_edge():
    model = Model()
    text = " ".join(" ".join(parse(render_report(model, data())).text).split())
    for name in model.names():
        assert name in text
    for i, j in np.argwhere(model.adjacency_):
        p = describe_p(model.pvalues_[i, j]).removeprefix("p = ")
        assert re.search(f"gene {i} gene {j} {re.escape(p)}", text)
        assert f"gene {i} → gene {j}, p = {p}" in text
    assert f"6 variables, 200 rows; {model.adjacency_.sum()} edges at alpha 0.001." in text
    for word in ("tolerance", "normality", "numpy", "scikit-learn", "alpha"):
        assert word in text


def test_summary_tells_roots_isolated_and_close_calls():
    model = Model(3)
    model._names = ["a", "b", "c"]
    model.adjacency_ = np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]], dtype=np.int8)
    model.pvalues_ = np.array([[np.nan, 1e-9, 0.5]] + [[np.nan] * 3] * 2)
    model.scores_ = np.array([[0.99, 0.9895, 0.5], [np.nan, 0.9, 0.8], [np.nan, np.nan, 0.9]])
    model.order_ = np.array([0, 1, 2])
    page = html.unescape(render_report(model, data(d=3)))
    assert "The edge with the strongest evidence is a → b (p = 1e-09)." in page
    assert "was found to influence: a." in page
    assert "Without any edge: c." in page
    assert "1 round of the ordering was a close call" in page
    assert page.count('class="close">close call') == 1
    assert "improved by likelihood" not in page


def test_refined_order_is_announced():
    model = Model()
    model.order_ = model.order_[::-1]
    assert "improved by likelihood" in render_report(model, data())


def test_correction_is_told():
    model = Model()
    assert "not corrected for the number of tests" in render_report(model, data())
    model.get_params = lambda deep=True: {"correction": "holm"}
    assert "“holm” correction for the number of tests" in render_report(model, data())


def test_poor_fit_is_announced():
    assert "fit the model poorly" not in render_report(Model(), data())
    assert "6 of 6 variables fit the model poorly" in render_report(Model(), np.exp(3 * data()))


def test_every_user_string_is_escaped():
    model = Model(names=[EVIL, *(f"{k}'><b onload=x>" for k in range(5))], density=1)
    page = render_report(model, data(), title=EVIL, source=EVIL, comparison=Comparison(np.eye(6, k=1), EVIL))
    checker = parse(page)
    assert "<script" not in page
    assert "<b onload" not in page
    assert "script" not in checker.tags
    text = "".join(checker.text)
    assert text.count(EVIL) > 5


def test_comparison_marks_edges():
    model = Model(3)
    model.adjacency_ = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], dtype=np.int8)
    truth = np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]])
    page = render_report(model, data(d=3), comparison=Comparison(truth, "the textbook"))
    assert "Compared with the textbook, edges in it: 1; in it the other way round: 1; not in it: 1." in page
    assert [page.count(f'class="edge {kind}"') for kind in ("known", "turned", "new")] == [1, 1, 1]
    assert len(re.findall(r"<td>(yes|reversed|no)</td>", page)) == 3


def test_model_without_order_scores_or_latents_still_gets_a_page():
    class Bare:
        adjacency_ = np.array([[0, 1], [0, 0]], dtype=np.int8)

        def get_params(self, deep=True):
            return {}

        def names(self):
            return ["a", "b"]

    text = " ".join(parse(render_report(Bare(), data(d=2))).text)
    assert "1 edge." in text
    assert "The causal order" not in text
    assert "Does the model fit?" not in text


@pytest.mark.parametrize("d", [1, 2])
def test_no_edges(d):
    page = render_report(Model(d, density=0), data(d=d))
    parse(page)
    assert "No edge was found at alpha 0.001" in page


def test_many_variables_get_a_matrix_and_a_small_page():
    model = Model(200, density=0.2)
    page = render_report(model, data(100, 200))
    parse(page)
    assert len(page) < 5_000_000
    assert 'class="graph"' not in page
    assert 'class="matrix"' in page
    assert f"The {MAX_EDGE_ROWS} strongest of {model.adjacency_.sum()} edges" in " ".join(page.split())
    assert page.count('class="qq"') == MAX_PANELS
    assert f"the other {200 - MAX_PANELS} fit" in " ".join(page.split())


def test_middle_sizes_get_both_pictures():
    page = render_report(Model(40, density=0.05), data(100, 40))
    assert 'class="graph"' in page
    assert 'class="matrix"' in page


def test_many_rows_are_thinned():
    page = render_report(Model(2), data(120_000, 2))
    assert "Drawn from 40,000 of the 120,000 rows." in page
    assert len(page) < 60_000


def test_same_input_same_page():
    assert render_report(Model(), data()) == render_report(Model(), data())


def test_drawings_stay_inside_their_frame():
    for d in (5, 11, 50):
        model = Model(d, density=2.5 / d)
        svg = str(draw_graph(model.adjacency_, model.names(), model.pvalues_))
        width, height = map(float, re.search(r'viewBox="0 0 (\d+) (\d+)"', svg).groups())
        for line in re.findall(r'class="line" d="([^"]+)"', svg):
            numbers = np.array(re.findall(r"-?[\d.]+", line), dtype=float).reshape(-1, 2)
            assert np.all((numbers >= 0) & (numbers <= [width, height]))
        for x, y, w in re.findall(r'<rect x="([-\d.]+)" y="([-\d.]+)" width="([\d.]+)"', svg):
            assert 0 <= float(x) <= float(x) + float(w) <= width
            assert 0 <= float(y) <= height


def test_small_pieces():
    assert shorten("a" * 18) == "a" * 18
    assert shorten("a" * 19) == "a" * 17 + "…"
    assert describe_p(0.0) == "p < 1e-300"
    assert describe_p(float("nan")) == "not tested"
    theory = np.linspace(-2, 2, 9)
    assert str(draw_qq(theory, 100 * theory)).count("h0") == 9
    matrix = str(draw_matrix(np.eye(3, k=1), ["a", "b", "<c>"], [0, 1, 2]))
    assert matrix.count("h-") == 2
    assert "&lt;c&gt;" in matrix
