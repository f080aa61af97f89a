"""The graph to check: every way to write one gives the same matrix, and what is wrong with one is a sentence."""

import json
from itertools import pairwise
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest

from heterodag.core.graph import find_cycle, is_dag
from heterodag.errors import DataError, HeterodagError, ParameterError
from heterodag.graphcheck.reading import match_graph
from heterodag.io.exports import GraphResult, graph_files
from heterodag.io.graphfiles import read_graph

NAMES = ["b", "a", "c"]
# b -> a -> c, in the order of the table's columns
MATRIX = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=np.int8)
TABLE = pd.DataFrame(np.random.default_rng(0).normal(size=(8, 3)), columns=NAMES)


@pytest.fixture
def folder(tmp_path):
    for name, text in graph_files(GraphResult(tuple(NAMES), MATRIX)).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    pd.DataFrame(MATRIX, index=NAMES, columns=NAMES).to_csv(tmp_path / "square.csv")
    return tmp_path


def shuffled_frame():
    order = [2, 0, 1]
    return pd.DataFrame(MATRIX[np.ix_(order, order)], *[[NAMES[j] for j in order]] * 2)


@pytest.mark.parametrize(
    "graph",
    [
        MATRIX.tolist(),
        MATRIX.astype(bool),
        shuffled_frame(),
        nx.DiGraph([("a", "c"), ("b", "a")]),
        GraphResult(tuple(NAMES), MATRIX),
        SimpleNamespace(adjacency=MATRIX, names=None),
        SimpleNamespace(adjacency_=MATRIX, names=lambda: NAMES),
    ],
)
def test_objects_are_matched_by_name(graph):
    found, table = match_graph(graph, TABLE, "refuse")
    np.testing.assert_array_equal(found, MATRIX)
    assert table is TABLE


@pytest.mark.parametrize("name", ["graph.json", "graph.graphml", "edges.csv", "square.csv"])
def test_files_are_matched_by_name(folder, name):
    for graph in (folder / name, str(folder / name), read_graph(folder / name)):
        np.testing.assert_array_equal(match_graph(graph, TABLE, "refuse")[0], MATRIX)


def test_tables_without_names_have_numbered_columns():
    X = TABLE.to_numpy()
    np.testing.assert_array_equal(match_graph(nx.DiGraph([("x1", "x2"), ("x0", "x1")]), X, "refuse")[0], MATRIX)
    with pytest.raises(DataError, match="a table without names has the columns x0 to x2"):
        match_graph(nx.DiGraph([("one", "two")]), X, "refuse")


@pytest.mark.parametrize("make", [lambda frame: frame, pl.from_pandas])
def test_columns_that_the_graph_does_not_name(make):
    wide = TABLE.assign(d=1.0, text="not a number")
    with pytest.raises(DataError, match=r"does not name the columns 'd', 'text' of the table: .*others='drop'"):
        match_graph(shuffled_frame(), make(wide), "refuse")
    found, table = match_graph(shuffled_frame(), make(wide), "drop")
    np.testing.assert_array_equal(found, MATRIX)
    assert list(table.columns) == NAMES
    assert type(table) is type(make(wide))
    found, table = match_graph(shuffled_frame(), make(wide), "keep")
    assert found.shape == (5, 5)
    np.testing.assert_array_equal(found[:3, :3], MATRIX)
    assert found.sum() == MATRIX.sum()


def test_an_edge_list_need_not_name_variables_without_edges(tmp_path):
    (tmp_path / "list.csv").write_text("cause,effect\nb,a\n", encoding="utf-8")
    assert np.argwhere(match_graph(tmp_path / "list.csv", TABLE, "refuse")[0]).tolist() == [[0, 1]]
    assert list(match_graph(tmp_path / "list.csv", TABLE, "drop")[1].columns) == ["b", "a"]


@pytest.mark.parametrize(
    ("graph", "error", "sentence"),
    [
        (
            nx.DiGraph([("a", "b"), ("b", "c"), ("c", "a")]),
            DataError,
            "has a cycle, '.*' -> '.*' -> '.*' -> '.*': remove",
        ),
        (nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c")]), DataError, "an edge without direction needs one too"),
        (
            nx.DiGraph([("a", "B2"), ("b", "c")]),
            DataError,
            "the variable 'B2', which the table does not have: it has",
        ),
        (nx.DiGraph([("alpha", "b")]), DataError, "names the variable 'alpha'"),
        (nx.Graph([("a", "b"), ("b", "c")]), ParameterError, "`graph` must be a directed graph"),
        (np.zeros((2, 2)), ParameterError, r"`graph` must have shape \(3, 3\), as the table; got \(2, 2\)"),
        (np.full((3, 3), 0.5), ParameterError, "`graph` must hold only zeros and ones"),
        (np.eye(3), ParameterError, "`graph` must have no self loops"),
        ("nowhere.json", DataError, "There is no file 'nowhere.json'"),
        (pd.DataFrame(MATRIX, index=["x", "y", "z"], columns=NAMES), ParameterError, "the same names on its rows"),
        (3, ParameterError, "`graph` must be square"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(graph, error, sentence):
    with pytest.raises(error, match=sentence) as caught:
        match_graph(graph, TABLE, "refuse")
    assert "\n" not in str(caught.value)


def test_a_near_name_is_suggested():
    table = TABLE.rename(columns={"a": "alpha"})
    with pytest.raises(DataError, match="did you mean 'alpha'"):
        match_graph(nx.DiGraph([("alpa", "b")]), table, "refuse")


def test_other_json_is_no_graph(tmp_path):
    (tmp_path / "other.json").write_text(json.dumps({"a": [1]}), encoding="utf-8")
    with pytest.raises(HeterodagError, match="is not a heterodag graph"):
        match_graph(tmp_path / "other.json", TABLE, "refuse")


def test_repeated_column_names_are_refused():
    table = pd.DataFrame(TABLE.to_numpy(), columns=["a", "a", "c"])
    with pytest.raises(DataError, match="there more than once"):
        match_graph(MATRIX, table, "refuse")


def test_a_cycle_is_named_where_there_is_one():
    rng = np.random.default_rng(1)
    for _ in range(40):
        graph = (rng.random((5, 5)) < 0.3).astype(np.int8)
        np.fill_diagonal(graph, 0)
        cycle = find_cycle(graph)
        assert bool(cycle) != is_dag(graph)
        if cycle:
            assert cycle[0] == cycle[-1]
            assert all(graph[i, j] for i, j in pairwise(cycle))
