"""What is written can be read again."""

import csv
import io
import json
import re
from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from heterodag.errors import DataError
from heterodag.io.exports import (
    GraphResult,
    edge_list,
    edges_csv,
    graph_dot,
    graph_files,
    graph_graphml,
    graph_json,
    graph_result,
    ordered_layers,
    ranked_edges,
)
from heterodag.io.graphfiles import is_edge_list, read_graph
from heterodag.io.writing import write_all

NASTY = (
    "plain",
    'with "quotes", commas; and\ttabs',
    "back\\slash\\",
    "<b>&amp;</b>",
    "Ünïcode \U0001f9ec",
    "two\nlines",
)


def result(names=NASTY):
    d = len(names)
    adjacency = np.zeros((d, d), dtype=np.int8)
    pvalues = np.full((d, d), np.nan)
    adjacency[0, 1] = adjacency[2, 1] = adjacency[0, 3] = adjacency[3, 4] = 1
    pvalues[0, 1], pvalues[2, 1], pvalues[0, 3], pvalues[0, 4] = 1e-5, 1e-300, 0.0, 0.25
    scores = np.array([[0.9] * d, [np.nan] + [0.8] * (d - 1)])
    order, layers = (0, 2, 5, 3, 1, 4), ((0, 2), (5, 3), (1,), (4,))
    settings = {"alpha": 0.001, "refine": False, "prior_knowledge": None}
    return GraphResult(tuple(names), adjacency, order, layers, pvalues, scores, settings, {"heterodag": "0"})


MECHANISMS = [
    {"variable": NASTY[1], "parents": f"{NASTY[0]}, {NASTY[2]}", "form": "natural", "curves": NASTY[0],
     "spread": "moving", "noise": "flexible", "rows": 853},
    {"variable": NASTY[0], "parents": "", "form": "location-scale", "curves": "",
     "spread": "constant", "noise": "normal", "rows": 853},
]  # fmt: skip


def certain():
    """The same graph, which knows how sure each edge is: 0 -> 1 is open, prior knowledge decides 0 -> 3."""
    nats, direction = np.full((6, 6), np.nan), np.full((6, 6), np.nan)
    nats[0, 1], nats[2, 1], nats[0, 3], nats[4, 5] = 11.5, 700.0, 2.0, -1.0
    direction[0, 1], direction[2, 1], direction[0, 3] = 0.25, 30.0, np.inf
    return replace(
        result(), nats=nats, direction_nats=direction, open=direction < 1, mechanisms=[dict(m) for m in MECHANISMS]
    )


class Model:
    def __init__(self, alpha=0.001, normality=len, prior=None):
        self.alpha, self.normality, self.prior = alpha, normality, prior

    def get_params(self, deep=True):
        return {"alpha": np.float64(self.alpha), "normality": self.normality, "prior": self.prior}

    def names(self):
        return ["a", "b"]

    order_ = np.array([1, 0])
    adjacency_ = np.array([[0, 0], [1, 0]], dtype=np.int8)


def test_graph_result_takes_what_the_model_has():
    learned = graph_result(Model())
    assert learned.names == ("a", "b")
    assert learned.order == (1, 0)
    assert learned.pvalues is None
    assert learned.layers is None
    assert learned.settings == {"estimator": "Model", "alpha": 0.001, "normality": "len", "prior": None}
    assert set(learned.versions) == {"heterodag", "python", "numpy", "scipy", "scikit-learn"}
    assert edges_csv(learned) == "cause,effect,pvalue\nb,a,\n"


def test_graph_result_takes_certainty_and_mechanisms():
    bare = graph_result(Model())
    assert (bare.nats, bare.direction_nats, bare.open, bare.mechanisms) == (None, None, None, None)
    model = Model()
    model.nats_ = [[np.nan, 1], [3, np.nan]]
    model.direction_nats_ = np.array([[np.nan, np.nan], [np.inf, np.nan]])
    model.open_ = np.zeros((2, 2), dtype=np.int8)
    model.mechanisms_ = pd.DataFrame(MECHANISMS)
    learned = graph_result(model)
    assert learned.about(1, 0) == {"nats": 3.0, "direction_nats": np.inf, "open": False}
    assert [type(value) for value in learned.about(1, 0).values()] == [float, float, bool]
    assert learned.mechanisms == MECHANISMS
    assert type(learned.mechanisms[0]["rows"]) is int
    assert json.loads(graph_json(learned))["mechanisms"] == MECHANISMS


def test_layers_are_used_only_if_they_make_up_the_order():
    learned = result(("a", "b", "c", "d", "e", "f"))
    assert ordered_layers(learned) == [["a", "c"], ["f", "d"], ["b"], ["e"]]
    moved = replace(learned, order=(2, 0, 5, 3, 1, 4))
    assert ordered_layers(moved) == [["c"], ["a"], ["f"], ["d"], ["b"], ["e"]]
    assert ordered_layers(replace(learned, order=None, layers=None)) == []


def test_edges_are_sorted_with_untested_last():
    edges = edge_list(result())
    assert [p for _, _, p in edges][:3] == [0.0, 1e-300, 1e-5]
    assert np.isnan(edges[3][2])
    assert edges[3][0] == NASTY[3]


def test_equal_pvalues_are_sorted_by_nats():
    known = certain()
    known.pvalues[2, 1] = known.pvalues[0, 1] = 0.0
    assert [(i, j) for i, j, _ in ranked_edges(known)] == [(2, 1), (0, 1), (0, 3), (3, 4)]
    known.nats[0, 1] = np.nan
    assert [(i, j) for i, j, _ in ranked_edges(known)] == [(2, 1), (0, 3), (0, 1), (3, 4)]
    unknown = replace(known, nats=None)
    assert [(i, j) for i, j, _ in ranked_edges(unknown)] == [(0, 1), (0, 3), (2, 1), (3, 4)]


def test_no_edges_still_make_files():
    empty = GraphResult(("a", "b"), np.zeros((2, 2), dtype=np.int8))
    assert edges_csv(empty) == "cause,effect,pvalue\n"
    assert json.loads(graph_json(empty))["edges"] == []
    assert "order" not in json.loads(graph_json(empty))


def test_json_is_strict_and_documented():
    content = json.loads(graph_json(result()), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert content["format"] == "heterodag-graph"
    assert content["format_version"] == 1
    assert content["names"] == list(NASTY)
    assert content["order"] == [NASTY[i] for i in (0, 2, 5, 3, 1, 4)]
    assert content["layers"][0] == [NASTY[0], NASTY[2]]
    assert content["edges"][0] == {"cause": NASTY[0], "effect": NASTY[3], "pvalue": 0.0}
    assert "mechanisms" not in content
    assert content["edges"][3]["pvalue"] is None
    assert content["pvalues"][0][4] == 0.25
    assert content["scores"][1][0] is None
    assert content["settings"]["refine"] is False


def test_json_says_how_sure_edges_are():
    text = graph_json(certain())
    content = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    edges = {(edge["cause"], edge["effect"]): edge for edge in content["edges"]}
    given = {"pvalue": 0.0, "nats": 2.0, "direction_nats": None, "open": False}
    assert edges[NASTY[0], NASTY[3]] == {"cause": NASTY[0], "effect": NASTY[3]} | given
    undecided = {"pvalue": 1e-5, "nats": 11.5, "direction_nats": 0.25, "open": True}
    assert edges[NASTY[0], NASTY[1]] == {"cause": NASTY[0], "effect": NASTY[1]} | undecided
    assert edges[NASTY[3], NASTY[4]]["nats"] is None
    assert content["mechanisms"] == MECHANISMS
    assert [json.loads(line.strip(" ,")) for line in text.splitlines() if '"spread"' in line] == MECHANISMS
    assert list(content) == [
        "format", "format_version", "names", "order", "layers", "edges", "pvalues", "scores", "mechanisms", "settings",
        "versions",
    ]  # fmt: skip


def test_csv_says_how_sure_edges_are():
    rows = list(csv.reader(io.StringIO(edges_csv(certain()))))
    assert rows[0] == ["cause", "effect", "pvalue", "nats", "direction_nats", "open"]
    assert rows[1] == [NASTY[0], NASTY[3], "0.0", "2.0", "inf", "false"]
    assert rows[3] == [NASTY[0], NASTY[1], "1e-05", "11.5", "0.25", "true"]
    assert rows[4] == [NASTY[3], NASTY[4], "", "", "", "false"]
    assert edges_csv(replace(certain(), nats=None, open=None)).startswith("cause,effect,pvalue,direction_nats\n")
    frame = pd.read_csv(io.StringIO(edges_csv(certain())))
    assert frame["open"].dtype == bool
    assert frame["direction_nats"].tolist()[:3] == [np.inf, 30.0, 0.25]


def test_graphml_says_how_sure_edges_are():
    graph = nx.parse_graphml(graph_graphml(certain()))
    assert graph.edges["n0", "n1"] == {"pvalue": 1e-5, "nats": 11.5, "direction_nats": 0.25, "open": True}
    assert graph.edges["n0", "n3"] == {"pvalue": 0.0, "nats": 2.0, "open": False}
    assert graph.edges["n3", "n4"] == {"open": False}
    assert not graph.has_edge("n1", "n0")


def test_dot_draws_open_edges_without_an_arrowhead():
    plain, known = graph_dot(result()).splitlines(), graph_dot(certain()).splitlines()
    changed = [(old, new) for old, new in zip(plain, known, strict=True) if old != new]
    assert changed == [('  n0 -> n1 [tooltip="p = 1e-05"];', '  n0 -> n1 [tooltip="p = 1e-05", dir=none];')]
    untested = replace(certain(), pvalues=None)
    assert "  n0 -> n1 [dir=none];" in graph_dot(untested).splitlines()


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("name", ["graph.json", "graph.graphml", "edges.csv"])
def test_round_trip_through_files(tmp_path, name, known):
    write_all(graph_files(certain() if known else result()), tmp_path)
    back = read_graph(tmp_path / name, nodes=NASTY)
    assert list(back.adjacency.columns) == list(NASTY)
    assert list(back.adjacency.index) == list(NASTY)
    np.testing.assert_array_equal(back.adjacency.to_numpy(), result().adjacency)
    if name != "edges.csv":
        assert back.order == [NASTY[i] for i in (0, 2, 5, 3, 1, 4)]
    if name == "graph.json":
        np.testing.assert_array_equal(back.pvalues.to_numpy(), result().pvalues)
    assert list(back.certainty) == (["nats", "direction_nats", "open"] if known and name == "graph.json" else [])


def test_certainty_comes_back_from_json(tmp_path):
    write_all(graph_files(certain()), tmp_path)
    back, edges = read_graph(tmp_path / "graph.json").certainty, result().adjacency == 1
    np.testing.assert_array_equal(back["nats"].to_numpy(), np.where(edges, certain().nats, np.nan))
    np.testing.assert_array_equal(back["open"].to_numpy(), certain().open)
    assert back["open"].to_numpy().dtype == bool
    direction = certain().direction_nats
    np.testing.assert_array_equal(back["direction_nats"].to_numpy(), np.where(np.isinf(direction), np.nan, direction))
    assert list(back["open"].columns) == list(NASTY)


def test_csv_cells_are_quoted():
    rows = list(csv.reader(io.StringIO(edges_csv(result()))))
    assert rows[1] == [NASTY[0], NASTY[3], "0.0"]
    assert rows[2][0] == "back\\slash\\"


def test_graphml_survives_what_xml_cannot_hold():
    text = graph_graphml(result(("a\x00b", "c\x1b", "d", "e", "f", "g")))
    graph = nx.parse_graphml(text)
    assert graph.nodes["n0"]["label"] == "a\ufffdb"
    assert graph.number_of_edges() == 4


def test_dot_quotes_every_label():
    text = graph_dot(result())
    labels = re.findall(r'label="((?:[^"\\]|\\.)*)"\]', text)
    assert len(labels) == len(NASTY)
    assert 'with \\"quotes\\", commas; and\ttabs' in labels
    assert "back\\\\slash\\\\" in labels
    assert "<b>&amp;amp;</b>" in labels
    assert "two\\nlines" in labels
    assert 'n2 -> n1 [tooltip="p = 1e-300"];' in text
    assert "n3 -> n4;" in text


MATRICES = {
    "labelled": ",a,b,c\na,0,1,0\nb,0,0,1\nc,0,0,0\n",
    "rows in another order": "name;a;b;c\nc;0;0;0\nb;0;0;1\na;0;1;0\n",
    "header only": "a,b,c\n0,1,0\n0,0,1\n0,0,0\n",
    "floats": "a\tb\tc\n0.0\t1.0\t0\n0\t0\t1\n0\t0\t0\n",
    "edge list": "source,target,weight\nb,c,1\na,b,1\n",
}


@pytest.mark.parametrize("case", MATRICES)
def test_adjacency_tables(tmp_path, case):
    path = tmp_path / "truth.csv"
    path.write_text(MATRICES[case])
    adjacency = read_graph(path).adjacency
    assert list(adjacency.columns) == ["a", "b", "c"]
    np.testing.assert_array_equal(adjacency.to_numpy(), [[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    assert is_edge_list(path) == (case == "edge list")


BAD_GRAPHS = {
    "missing.json": (None, "no file"),
    "text.json": ("{", "not JSON"),
    "other.json": ('{"format": "x"}', "not a heterodag graph"),
    "list.json": ("[1]", "not a heterodag graph"),
    "newer.json": ('{"format": "heterodag-graph", "format_version": 9}', "format version 9"),
    "short.json": ('{"format": "heterodag-graph", "format_version": 1}', "not a complete heterodag graph"),
    "nats.json": (
        '{"format": "heterodag-graph", "format_version": 1, "names": ["a", "b"],'
        ' "edges": [{"cause": "a", "effect": "b", "nats": "many"}]}',
        "not a complete heterodag graph",
    ),
    "bad.graphml": ("<graphml", "not readable GraphML"),
    "empty.csv": ("", "empty"),
    "oblong.csv": ("a,b\n0,1\n0,0\n0,0\n", "2 names and 3 rows"),
    "two.csv": ("a,b\n0,2\n0,0\n", "holds '2'"),
    "loop.csv": ("a,b\n1,0\n0,0\n", "'a' causes itself"),
    "repeated.csv": ("a,a\n0,0\n0,0\n", "'a' appears more than once"),
    "rows.csv": (",a,b\nx,0,1\ny,0,0\n", "row names"),
    "short.csv": ("cause,effect\na\n", "too few fields"),
    "none.csv": ("cause,effect\n", "names no variables"),
}


@pytest.mark.parametrize("name", BAD_GRAPHS)
def test_bad_graph_is_named(tmp_path, name):
    content, fragment = BAD_GRAPHS[name]
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(DataError) as caught:
        read_graph(tmp_path / name)
    assert fragment in str(caught.value)
    assert name in str(caught.value)


def test_edges_outside_the_nodes_are_refused(tmp_path):
    (tmp_path / "edges.csv").write_text("cause,effect\na,zz\n")
    with pytest.raises(DataError, match="'zz'"):
        read_graph(tmp_path / "edges.csv", nodes=["a", "b"])
