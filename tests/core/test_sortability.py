"""Sortabilities by hand, their invariances, and R^2 against a closed form."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from heterodag import metrics
from heterodag.core.sortability import explained_shares, sortability
from heterodag.errors import ParameterError
from heterodag.simulation import simulate

CHAIN = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([1, 2, 3], 1.0),
        ([3, 2, 1], 0.0),
        ([1, 1, 1], 0.5),
        ([1, 3, 2], 2 / 3),  # 0 -> 1 rises, 1 -> 2 falls, 0 -> -> 2 rises
        ([2, 2, 3], 2.5 / 3),
    ],
)
def test_a_chain_by_hand(scores, expected):
    assert sortability(np.array(scores, dtype=float), CHAIN) == pytest.approx(expected)


def test_every_length_of_a_path_counts():
    """0 -> 2 both directly and through 1: four pairs of length and ends, three of them from 0."""
    graph = CHAIN.copy()
    graph[0, 2] = 1
    # Length one: 0-1, 1-2, 0-2; length two: 0-2 again.
    assert sortability(np.array([2.0, 3.0, 1.0]), graph) == pytest.approx(1 / 4)


def by_paths(scores, graph):
    """Another way to the same number: all simple paths, their ends and lengths."""
    net = nx.from_numpy_array(graph, create_using=nx.DiGraph)
    seen = {(i, j, len(path)) for i in net for j in net if i != j for path in nx.all_simple_paths(net, i, j)}
    return np.mean([float(scores[j] > scores[i]) for i, j, _ in seen])


@pytest.mark.parametrize("seed", range(8))
def test_all_paths_of_random_graphs(seed):
    data = simulate(50, 7, graph=("ER", "SF")[seed % 2], degree=2, random_state=seed)
    scores = np.random.default_rng(seed).standard_normal(7)
    assert sortability(scores, data.adjacency) == pytest.approx(by_paths(scores, data.adjacency))
    assert sortability(-scores, data.adjacency) == pytest.approx(1 - by_paths(scores, data.adjacency))


def test_standardising_takes_varsortability_away_and_leaves_r2():
    data = simulate(500, 8, "ER", 2, "straight", random_state=3)
    scaled = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    assert metrics.varsortability(scaled, data.adjacency) == 0.5
    assert metrics.varsortability(data.X, data.adjacency) > 0.75
    units = data.X * np.geomspace(1e-3, 1e3, 8) + 5
    r2 = [metrics.r2_sortability(X, data.adjacency) for X in (data.X, scaled, units)]
    assert r2 == pytest.approx([r2[0]] * 3)


def test_r2_is_that_of_the_inverse_correlation():
    X = simulate(300, 6, "ER", 2, "straight", random_state=1).X
    closed = 1 - 1 / np.linalg.inv(np.corrcoef(X.T)).diagonal()
    np.testing.assert_allclose(explained_shares(X), closed, atol=1e-10)
    copied = np.column_stack([X, X[:, 0]])
    assert explained_shares(copied)[[0, 6]] == pytest.approx([1, 1])
    assert explained_shares(X[:, :1]) == [0.0]
    assert explained_shares(np.column_stack([X[:, 0], np.ones(300)]))[1] == pytest.approx(1.0)


def test_names_are_matched():
    data = simulate(200, 5, "ER", 1, "straight", random_state=2)
    frame = data.to_frame()
    graph = pd.DataFrame(data.adjacency, index=frame.columns, columns=frame.columns)
    mixed = frame[frame.columns[::-1]]
    for measure in (metrics.varsortability, metrics.r2_sortability):
        assert measure(mixed, graph) == pytest.approx(measure(data.X, data.adjacency))


@pytest.mark.parametrize(
    ("X", "graph", "message"),
    [
        (np.eye(3), np.zeros((3, 3)), "have an edge"),
        (np.eye(3), [[0, 1], [0, 0]], "fit the table"),
        (np.eye(2), [[0, 1], [1, 0]], "cycle"),
        ([[1.0, np.nan], [2, 3]], [[0, 1], [0, 0]], "finite numbers"),
        (pd.DataFrame(np.eye(2), columns=["a", "b"]),
         pd.DataFrame([[0, 1], [0, 0]], index=["a", "c"], columns=["a", "c"]), "names of the table"),
    ],
)  # fmt: skip
def test_bad_input_gets_one_sentence(X, graph, message):
    with pytest.raises(ParameterError, match=message):
        metrics.varsortability(X, graph)
