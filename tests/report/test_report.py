"""The report is one self-contained, well-formed page that names every variable and edge, all escaped."""

import html
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from heterodag.report import render_report
from heterodag.report.drawing import describe_p, draw_graph, draw_matrix, draw_qq, shorten
from heterodag.report.html import MAX_EDGE_ROWS, MAX_PANELS, Comparison
from heterodag.viz.directions import Directions

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


def certain(model, n_open=2):
    """Give the model what it needs to say how sure each edge is; the first edges are open, the last one is given."""
    edges = [(int(i), int(j)) for i, j in np.argwhere(model.adjacency_)]
    shape = model.adjacency_.shape
    model.nats_, model.direction_nats_, model.open_ = (
        np.full(shape, np.nan),
        np.full(shape, np.nan),
        np.zeros(shape, bool),
    )
    for k, edge in enumerate(edges):
        model.nats_[edge], model.direction_nats_[edge] = 1000.0 + k, 0.2 if k < n_open else 20.0 + k
    model.direction_nats_[edges[-1]] = np.inf
    for edge in edges[:n_open]:
        model.open_[edge] = True
    return model, edges


def mechanisms(model):
    rows = [
        {"variable": name, "parents": ", ".join(model.names()[i] for i in np.flatnonzero(model.adjacency_[:, k])),
         "form": "natural", "curves": "", "spread": "moving", "noise": "normal", "rows": np.int64(1234)}
        for k, name in enumerate(model.names())
    ]  # fmt: skip
    return pd.DataFrame(rows)


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


def table_of(page, heading):
    """Return the rows of the first table after a heading, as lists of the texts of their cells."""
    table = page[page.index(f"<h2>{heading}</h2>") :].split("</table>")[0]
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in table.split("<tr>")[1:]]
    return [[html.unescape(cell) for cell in row] for row in cells]


def test_edges_say_how_sure_they_are():
    model, edges = certain(Model())
    header, *rows = table_of(render_report(model, data()), "Edges")
    assert header == ["Cause", "Effect", "p-value", "Evidence (nats)", "Direction (nats)"]
    told = {(row[0], row[1]): row[3:] for row in rows}
    expected = [[f"{1000 + k:,}.0", f"{20 + k}.0"] for k in range(len(edges))]
    expected[0][1] = expected[1][1] = "0.2 open"
    expected[-1][1] = "given"
    assert told == {(f"gene {i}", f"gene {j}"): cells for (i, j), cells in zip(edges, expected, strict=True)}
    model.nats_[:] = model.direction_nats_[:] = np.nan
    rows = table_of(render_report(model, data()), "Edges")[1:]
    assert sorted(row[4] for row in rows) == [""] * (len(edges) - 2) + ["open"] * 2
    assert {row[3] for row in rows} == {""}


def test_certainty_stands_before_the_comparison():
    model, _ = certain(Model())
    page = render_report(model, data(), comparison=Comparison(np.eye(6, k=1), "the textbook"))
    rows = table_of(page, "Edges")
    assert rows[0][3:] == ["Evidence (nats)", "Direction (nats)", "In the textbook"]
    assert {len(row) for row in rows} == {6}


def test_summary_counts_open_arrows():
    model, edges = certain(Model())
    sentence = f"<p>2 of {len(edges)} arrows are open: the data hardly tell their direction.</p>"
    page = render_report(model, data())
    assert sentence in page.split("</section>")[0]
    assert "<p>No arrow is open.</p>" in render_report(certain(Model(), n_open=0)[0], data())


def test_open_edges_have_no_head_and_a_legend():
    model, edges = certain(Model())
    page = render_report(model, data())
    parse(page)
    assert page.count('class="line"') == len(edges)
    assert page.count('class="head"') == len(edges) - 2
    assert page.count("<b>no arrowhead</b>") == 1
    groups = re.findall(r'<g class="edge.*?</g>', page)
    headless = [group for group in groups if 'class="head"' not in group]
    assert len(headless) == 2
    assert all("direction open (0.2 nats)</title>" in group for group in headless)
    assert page.count("direction open (") == 2
    assert page.count("direction given</title>") == 1
    decided = render_report(certain(Model(), n_open=0)[0], data())
    assert "no arrowhead" not in decided
    assert decided.count('class="head"') == len(edges)


def test_the_matrix_marks_open_edges():
    model, edges = certain(Model(40, density=0.05), n_open=3)
    page = render_report(model, data(100, 40))
    parse(page)
    matrix = page[page.index('<svg class="matrix"') :].split("</svg>")[0]
    filled = "".join(re.findall(r'<path class="cells"[^>]* d="([^"]*)"', matrix))
    hollow = re.findall(r'<g class="open"[^>]*><title>(.*?)</title><path d="[^"]*z" [^>]*/></g>', matrix)
    assert filled.count("z") == len(edges) - 3
    assert len(hollow) == 3
    for (i, j), tip in zip(edges[:3], sorted(hollow, key=lambda t: int(t.split()[1])), strict=True):
        assert tip == f"gene {i} → gene {j}, {describe_p(model.pvalues_[i, j])}, direction open (0.2 nats)"
    assert ".matrix .open path {" in page
    assert "A hollow mark is" in page


def test_mechanisms_are_told_in_words():
    model = Model()
    model.mechanisms_ = mechanisms(model)
    root = int(np.flatnonzero(~model.adjacency_.any(axis=0))[0])
    page = render_report(model, data())
    assert "times bell-shaped" in page
    header, *rows = table_of(page, "Mechanisms")
    assert header == ["Variable", "Causes", "Model", "Rows"]
    assert [row[0] for row in rows] == model.names()
    assert rows[root] == [f"gene {root}", "", "no causes, normal noise", "1,234"]
    effect = int(np.flatnonzero(model.adjacency_.any(axis=0))[0])
    assert rows[effect][1] == model.mechanisms_["parents"][effect] != ""
    assert rows[effect][2] == "mean and spread, straight lines (natural form), normal noise"
    model.mechanisms_.loc[effect, "noise"] = "flexible"
    assert "bell-shaped" not in render_report(model, data())


def test_without_certainty_nothing_is_said_of_it():
    page = render_report(Model(40, density=0.05), data(100, 40))
    for word in ("nats", "Mechanisms", "arrowhead", "hollow", "direction open", 'class="open"', ".open"):
        assert word not in page
    assert table_of(page, "Edges")[0] == ["Cause", "Effect", "p-value"]


def test_every_user_string_is_escaped():
    model = Model(names=[EVIL, *(f"{k}'><b onload=x>" for k in range(5))], density=1)
    certain(model)
    model.mechanisms_ = mechanisms(model)
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
    undecided = Directions(np.full((3, 3), 0.5), np.eye(3, k=1) == 1)
    hollow = str(draw_matrix(np.eye(3, k=1), ["a", '"b"', "<c>"], [0, 1, 2], directions=undecided))
    assert "<title>&#34;b&#34; → &lt;c&gt;, not tested, direction open (0.5 nats)</title>" in hollow
    assert "cells" not in hollow
    matrix = str(draw_matrix(np.eye(3, k=1), ["a", "b", "<c>"], [0, 1, 2]))
    assert matrix.count("h-") == 2
    assert "&lt;c&gt;" in matrix
