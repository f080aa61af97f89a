"""The report is one self-contained, well-formed page that names every variable and edge, all escaped."""

import html
import re

import numpy as np
import pytest
from report_helpers import EVIL, Model, certain, data, mechanisms, parse, table_of

from heterodag.checks import Finding, Findings
from heterodag.errors import ParameterError
from heterodag.report import render_report
from heterodag.report.drawing import draw_graph
from heterodag.report.fit_panels import MAX_PANELS, draw_qq
from heterodag.report.html import MAX_EDGE_ROWS, Comparison
from heterodag.report.matrix import draw_matrix
from heterodag.report.words import describe_p
from heterodag.resampling import BootstrapResult
from heterodag.viz.directions import Directions


def test_page_is_well_formed_and_needs_nothing_else():
    page = render_report(Model(), data())
    checker = parse(page)
    assert page.startswith("<!doctype html>")
    assert checker.links == []
    assert checker.tags.count("script") == 2
    assert {"link", "iframe", "img", "object", "embed"}.isdisjoint(checker.tags)
    assert "default-src 'none'" in page
    assert not re.search(r"https?://|url\(|@import", page)


def test_page_names_every_variable_and_edge():
    model = Model()
    text = " ".join(" ".join(parse(render_report(model, data())).text).split())
    for name in model.names():
        assert name in text
    for i, j in np.argwhere(model.adjacency_):
        p = describe_p(model.pvalues_[i, j]).removeprefix("p = ")
        assert re.search(f"gene {i} +gene {j} +{re.escape(p)}", text)
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
    assert "no cause was found in the table: a." in page
    assert "Without any edge: c." in page
    assert "1 round of the ordering was a close call" in page
    assert page.count('class="close">close call') == 1
    assert "chosen by likelihood" not in page


@pytest.mark.parametrize("how", ["another order", "the same order"])
def test_rounds_of_an_order_that_was_not_kept_are_left_out(how):
    model = Model()
    assert "runner-up" in render_report(model, data())
    if how == "another order":
        model.order_, model.adjacency_ = model.order_[::-1], model.adjacency_.T
    else:
        model.refinement_ = "found by likelihood, and it happens to be the same"
    page = render_report(model, data())
    assert "chosen by likelihood" in page
    assert "runner-up" not in page
    assert "close call" not in page


def test_correction_is_told():
    model = Model()
    assert "not corrected for the number of tests" in render_report(model, data())
    model.get_params = lambda deep=True: {"correction": "holm"}
    assert "“holm” correction for the number of tests" in render_report(model, data())


def test_poor_fit_is_announced():
    assert "fit the model poorly" not in render_report(Model(), data())
    assert "6 of 6 variables fit the model poorly" in render_report(Model(), np.exp(3 * data()))


def test_edges_say_how_sure_they_are():
    model, edges = certain(Model())
    page = render_report(model, data())
    header, *rows = table_of(page, "Edges")
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
    hollow = re.findall(
        r'<g class="open" data-edge="\d+"[^>]*><title>(.*?)</title><path d="[^"]*z" [^>]*/></g>', matrix
    )
    assert filled.count("z") == len(edges) - 3
    assert len(hollow) == 3
    for (i, j), tip in zip(edges[:3], sorted(hollow, key=lambda t: int(t.split()[1])), strict=True):
        assert tip == f"gene {i} → gene {j}, {describe_p(model.pvalues_[i, j])}, direction open (0.2 nats)"
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
    text = "".join(parse(page).text)
    for word in ("nats", "Mechanisms", "arrowhead", "hollow", "direction open", "Which experiment"):
        assert word not in text
    assert 'class="open"' not in page
    assert table_of(page, "Edges")[0] == ["Cause", "Effect", "p-value"]


def test_every_user_string_is_escaped():
    model = Model(names=[EVIL, *(f"{k}'><b onload=x>" for k in range(5))], density=1)
    certain(model)
    model.mechanisms_ = mechanisms(model)
    page = render_report(model, data(), title=EVIL, source=EVIL, comparison=Comparison(np.eye(6, k=1), EVIL))
    checker = parse(page)
    assert page.count("<script") == page.count("</script>") == 2
    assert "<b onload" not in page
    assert checker.data["names"][0] == EVIL
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
    assert len(page) < 100_000


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


def test_warnings_and_trust_stand_on_the_page():
    model = Model()
    assert "Can I trust this?" not in render_report(model, data())
    model.trust = lambda: Findings(
        [
            Finding("green", "rows", "order", "Rows look independent."),
            Finding("amber", "columns", "counts", "Column 'a < b' holds counts.", "Read its edges with care."),
            Finding("red", "rows", "walk", "Rows depend on each other.", "Take differences."),
        ]
    )
    model.warnings_ = ["Seven rows & more were dropped."]
    page = render_report(model, data())
    parse(page)
    box = page[page.index('<section class="trust red"') :].split("</section>")[0]
    words = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", box)).split())
    assert "✕ red rows: Rows depend on each other. Take differences. ! amber columns: Column 'a < b' holds" in words
    assert "1 check is green ✓ green rows: Rows look independent." in words
    assert "1 warning of the fit Seven rows & more were dropped." in words
    assert page.index('id="trust"') < page.index('id="summary"') < page.index('id="graph"')


def test_contents_lead_to_every_section():
    model, _ = certain(Model())
    model.mechanisms_ = mechanisms(model)
    page = render_report(model, data())
    targets = re.findall(r'<a href="#([a-z]+)">', page.split("</nav>")[0])
    assert targets == ["graph", "edges", "pictures", "first", "order", "mechanisms", "fit", "limits", "settings"]
    assert all(page.count(f'<section id="{target}">') == 1 for target in targets)


def resampled(names, adjacency):
    adjacencies = np.stack([adjacency, adjacency, adjacency, adjacency.T]).astype(np.int8)
    return BootstrapResult(list(names), adjacencies, None)


def test_resamples_become_a_column():
    model = Model()
    page = render_report(model, data(), confidence=resampled(model.names(), model.adjacency_))
    header, *rows = table_of(page, "Edges")
    assert header[-1] == "Resamples"
    assert {row[-1] for row in rows} == {"75 %"}
    facts = parse(page).data["pictures"][0]["facts"]
    assert (
        facts[-1] == "Of 4 resamples of the rows, 75\u00a0% have this edge and 25\u00a0% have it the other way round."
    )
    assert "Its direction changes between resamples" in page
    with pytest.raises(ParameterError, match="same columns as the model"):
        render_report(model, data(), confidence=resampled(["other"] * 6, model.adjacency_))


def test_strengths_are_columns_where_they_are_known():
    model, _ = certain(Model())
    model.strengths_ = {
        name: np.where(model.adjacency_ == 1, value, np.nan)
        for name, value in {
            "mean_effect": -0.004, "mean_effect_lower": -0.1, "mean_effect_upper": 0.09, "mean_change": -1.0,
            "mean_range": 2.0, "spread_effect": 1.5, "spread_effect_lower": 1.4, "spread_effect_upper": 1.6,
            "spread_range": 3.0, "share": 0.25,
        }.items()
    }  # fmt: skip
    page = render_report(model, data())
    header, *rows = table_of(page, "Edges")
    assert header[5:] == ["Mean", "Spread", "Share"]
    assert {tuple(row[5:]) for row in rows} == {("0.00 -0.10 to +0.09", "1.50 1.40 to 1.60", "25 %")}
    assert "standard deviations (1.00 in its own units" in parse(page).data["pictures"][0]["facts"][0]


def test_names_of_any_kind_are_readable():
    names = ["عمر", "دخل", "\x00\x07nul\ud800", "two\nlines", "x" * 300, "</script><!--\u2028"]
    model, _ = certain(Model(names=names, density=1))
    page = render_report(model, data(), title="\u202e")
    page.encode("utf-8")
    checker = parse(page)
    assert not set(page) & set("\x00\x07\u202e\ud800")
    assert checker.data["names"][2:4] == ["\ufffd\ufffdnul\ufffd", "two lines"]
    assert checker.data["names"][5] == names[5]
    told = page[page.index('id="summary"') :]
    assert "<bdi>عمر</bdi>" in told
    assert f'title="{"x" * 300}">{"x" * 24}…{"x" * 23}</bdi>' in page
    arabic = [tip for tip in re.findall(r"<title>(.*?), p ", page) if "عمر" in tip and "دخل" in tip]
    assert arabic[0] in ("\u2068عمر\u2069 → \u2068دخل\u2069", "\u2068دخل\u2069 → \u2068عمر\u2069")


def test_sizes():
    """The limits of the issue: 5 columns below 1 MB, 40 columns with 184 edges below 3 MB, with 500 points each."""
    five, _ = certain(Model(5, density=1))
    assert len(render_report(five, data(2000, 5)).encode()) < 1_000_000
    forty, edges = certain(Model(40, density=0.24))
    assert len(edges) >= 184
    page = render_report(forty, data(2000, 40))
    assert len(page.encode()) < 3_000_000
    drawn = parse(page).data
    assert len(drawn["pictures"]) == len(edges)
    assert {len(variable["points"]) for variable in drawn["variables"].values()} == {500}


def test_required_edges_say_so():
    model, edges = certain(Model())
    model.required_ = np.zeros(model.adjacency_.shape, dtype=bool)
    model.required_[edges[0]], model.pvalues_[edges[0]], model.nats_[edges[0]] = True, np.nan, np.nan
    page = render_report(model, data())
    assert "A “required” edge is there because prior knowledge says so" in page
    rows = {tuple(row[:2]): row[2] for row in table_of(page, "Edges")[1:]}
    assert rows[f"gene {edges[0][0]}", f"gene {edges[0][1]}"] == "required"
    drawn = parse(page).data
    number = drawn["edges"].index(list(edges[0]))
    assert drawn["nats"][number] is None
    assert "Prior knowledge requires this edge: it was not tested." in drawn["pictures"][number]["facts"]
