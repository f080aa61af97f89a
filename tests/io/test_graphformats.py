"""One graph to one file: read back by networkx, as DAGitty's grammar wants it, and from the command line."""

import re

import networkx as nx
import numpy as np
import pytest
from typer.testing import CliRunner

from heterodag import HOST, HeteroscedasticSCM, ParameterError, simulate, write_graph
from heterodag.cli.app import app
from heterodag.errors import HeterodagError
from heterodag.io.exports import GraphResult
from heterodag.io.graphfiles import read_graph
from heterodag.io.graphformats import FORMATS

NAMES = ["a b", 'q"uote', "größe & co", "x<y"]
GRAPH = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 0]])


@pytest.fixture(scope="module")
def model():
    return HOST(selection="partial-correlation", alpha=0.2).fit(simulate(200, 4, degree=1, random_state=1).to_frame())


@pytest.mark.parametrize("ending", sorted(FORMATS))
def test_every_format_is_written(model, tmp_path, ending):
    path = write_graph(model, tmp_path / f"graph{ending}")
    assert path.stat().st_size > 20
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_gml_comes_back_with_its_names(tmp_path):
    graph = nx.read_gml(write_graph(GRAPH, tmp_path / "g.gml", NAMES))
    assert list(graph.nodes) == NAMES
    assert np.array_equal(nx.to_numpy_array(graph, nodelist=NAMES), GRAPH)


def test_a_causal_model_is_written_with_its_names(tmp_path):
    data = simulate(100, 3, degree=1, random_state=0)
    scm = HeteroscedasticSCM.from_dag(data.adjacency, data.X, names=["p", "q", "r"])
    graph = nx.read_gml(write_graph(scm, tmp_path / "g.gml"))
    assert np.array_equal(nx.to_numpy_array(graph, nodelist=["p", "q", "r"]), data.adjacency)


def test_gml_has_pvalues_and_places(model, tmp_path):
    graph = nx.read_gml(write_graph(model, tmp_path / "g.gml"))
    assert sorted(graph.nodes, key=lambda n: graph.nodes[n]["position"]) == [model.names()[i] for i in model.order_]
    for cause, effect, data in graph.edges(data=True):
        i, j = model.names().index(cause), model.names().index(effect)
        assert data["pvalue"] == pytest.approx(model.pvalues_[i, j])


def test_open_edges_keep_the_direction_that_was_learned(tmp_path):
    direction = np.where(GRAPH == 1, 0.5, np.nan)
    result = GraphResult(tuple(NAMES), GRAPH, direction_nats=direction, open=GRAPH == 1)
    graph = nx.read_gml(write_graph(result, tmp_path / "g.gml"))
    assert np.array_equal(nx.to_numpy_array(graph, nodelist=NAMES), GRAPH)
    assert all(data["open"] == 1 and data["direction_nats"] == 0.5 for _, _, data in graph.edges(data=True))
    text = write_graph(result, tmp_path / "g.dagitty").read_text(encoding="utf-8")
    assert text == write_graph(GRAPH, tmp_path / "h.dagitty", NAMES).read_text(encoding="utf-8")


def test_converted_files_still_say_what_is_open(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    direction = np.where(GRAPH == 1, 9.0, np.nan)
    direction[0, 1] = 0.5
    write_graph(GraphResult(tuple(NAMES), GRAPH, direction_nats=direction, open=direction < 1), "graph.json")
    for name in ("g.dot", "g.csv"):
        done = CliRunner().invoke(app, ["convert", "graph.json", "--out", name])
        assert done.exit_code == 0, done.output
    assert [line for line in (tmp_path / "g.dot").read_text().splitlines() if "dir=none" in line] == [
        "  n0 -> n1 [dir=none];"
    ]
    lines = (tmp_path / "g.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "cause,effect,pvalue,direction_nats,open"
    assert lines[1] == 'a b,"q""uote",,0.5,true'


def test_dagitty_text(tmp_path):
    text = write_graph(GRAPH, tmp_path / "g.dagitty", NAMES).read_text(encoding="utf-8")
    assert text.splitlines()[0] == "dag {"
    assert text.splitlines()[-1] == "}"
    shown = [name.replace('"', "'") for name in NAMES]
    assert re.findall(r'^"([^"]*)"$', text, flags=re.MULTILINE) == shown
    edges = re.findall(r'^"([^"]*)" -> "([^"]*)"$', text, flags=re.MULTILINE)
    assert edges == [(shown[i], shown[j]) for i, j in np.argwhere(GRAPH)]


def test_names_that_dagitty_cannot_tell_apart_are_refused(tmp_path):
    with pytest.raises(HeterodagError, match="DAGitty"):
        write_graph(np.zeros((2, 2)), tmp_path / "g.dagitty", ['a"', "a'"])


@pytest.mark.parametrize(
    ("graph", "name", "names", "said"),
    [
        (GRAPH, "g.xyz", None, "`path` must end in one of"),
        (GRAPH, "g.gml", ["a"], "`names` must be 4 different names"),
        (np.ones((2, 2)), "g.gml", None, "self loops"),
    ],
)
def test_wrong_requests_write_nothing(tmp_path, graph, name, names, said):
    with pytest.raises(ParameterError) as caught:
        write_graph(graph, tmp_path / name, names)
    assert said in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_the_command_line_converts(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_graph(model, "graph.json")
    for name in ("g.gml", "g.dagitty", "g.graphml"):
        done = CliRunner().invoke(app, ["convert", "graph.json", "--out", name])
        assert done.exit_code == 0, done.output
        assert "4 variables" in done.output
    again = read_graph("g.graphml")
    assert np.array_equal(again.adjacency.to_numpy(), model.adjacency_)
    assert again.order == [model.names()[i] for i in model.order_]
    refused = CliRunner().invoke(app, ["convert", "graph.json", "--out", "g.gml"])
    assert refused.exit_code == 2
    assert "--force" in refused.output
    assert CliRunner().invoke(app, ["convert", "graph.json", "--out", "g.gml", "--force"]).exit_code == 0
    assert CliRunner().invoke(app, ["convert", "graph.json", "--out", "g.png"]).exit_code == 2
