"""What is written can be read again, and writing is all or nothing."""

import csv
import io
import json
import os
import re
import stat
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from heterodag.errors import DataError, HeterodagError
from heterodag.io.exports import (
    GraphResult,
    check_folder,
    edge_list,
    edges_csv,
    graph_dot,
    graph_files,
    graph_graphml,
    graph_json,
    graph_result,
    ordered_layers,
    write_all,
)
from heterodag.io.graphfiles import is_edge_list, read_graph

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
    assert content["edges"][3]["pvalue"] is None
    assert content["pvalues"][0][4] == 0.25
    assert content["scores"][1][0] is None
    assert content["settings"]["refine"] is False


@pytest.mark.parametrize("name", ["graph.json", "graph.graphml", "edges.csv"])
def test_round_trip_through_files(tmp_path, name):
    write_all(graph_files(result()), tmp_path)
    back = read_graph(tmp_path / name, nodes=NASTY)
    assert list(back.adjacency.columns) == list(NASTY)
    assert list(back.adjacency.index) == list(NASTY)
    np.testing.assert_array_equal(back.adjacency.to_numpy(), result().adjacency)
    if name != "edges.csv":
        assert back.order == [NASTY[i] for i in (0, 2, 5, 3, 1, 4)]
    if name == "graph.json":
        np.testing.assert_array_equal(back.pvalues.to_numpy(), result().pvalues)


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
    "bad.graphml": ("<graphml", "not readable GraphML"),
    "empty.csv": ("", "empty"),
    "oblong.csv": ("a,b\n0,1\n0,0\n0,0\n", "2 names and 3 rows"),
    "two.csv": ("a,b\n0,2\n0,0\n", "holds '2'"),
    "loop.csv": ("a,b\n1,0\n0,0\n", "'a' causes itself"),
    "repeated.csv": ("a,a\n0,0\n0,0\n", "'a' stands more than once"),
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


def everything(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_write_all_makes_folders_and_keeps_other_files(tmp_path):
    out = tmp_path / "a" / "b"
    out.mkdir(parents=True)
    (out / "mine.txt").write_text("keep")
    written = write_all({"x.txt": "é", "y.bin": b"\0"}, out)
    assert everything(out) == {"mine.txt": b"keep", "x.txt": "é".encode(), "y.bin": b"\0"}
    assert [path.name for path in written] == ["x.txt", "y.bin"]
    assert len(list(out.iterdir())) == 3
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((out / "x.txt").stat().st_mode) == 0o666 & ~umask


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", [1, 2, 3])
def test_failure_half_way_leaves_everything_as_it_was(tmp_path, monkeypatch, error, step):
    out = tmp_path / "out"
    write_all({"one.txt": "old one", "three.txt": "old three"}, out)
    before = everything(out)
    real, calls = os.replace, []

    def failing(source, target):
        calls.append(target)
        if len(calls) == step:
            raise error
        real(source, target)

    monkeypatch.setattr("heterodag.io.exports.os.replace", failing)
    with pytest.raises((HeterodagError, KeyboardInterrupt)) as caught:
        write_all({"one.txt": "new", "two.txt": "new", "three.txt": "new"}, out)
    assert everything(out) == before
    assert sorted(path.name for path in out.iterdir()) == ["one.txt", "three.txt"]
    if isinstance(error, OSError):
        assert "No space left on device" in str(caught.value)


def test_failure_while_staging_removes_new_folders(tmp_path, monkeypatch):
    def failing(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("heterodag.io.exports.Path.write_bytes", failing)
    with pytest.raises(HeterodagError, match=r"Cannot write into .*No space left on device"):
        write_all({"x": "1"}, tmp_path / "new" / "deep")
    assert list(tmp_path.iterdir()) == []


def test_unwritable_places_are_named(tmp_path):
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(HeterodagError, match=r"file' is not a folder; choose another place with --out"):
            check_folder(place)
    (tmp_path / "out" / "graph.json").mkdir(parents=True)
    with pytest.raises(HeterodagError, match=r"'graph\.json' in it is a folder"):
        write_all({"graph.json": "{}"}, tmp_path / "out")
    assert (tmp_path / "file").read_text() == "x"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_no_permission_is_said(tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(HeterodagError, match="no permission to write"):
        check_folder(tmp_path / "closed" / "out")
