"""Kinds of random graphs beyond the paper's two: acyclic, of the size they promise, and of the shape they are named for."""

import networkx as nx
import numpy as np
import pytest

from heterodag.core.graph import is_dag
from heterodag.errors import ParameterError
from heterodag.simulation import GRAPHS, simulate, simulate_graph

#: Kind -> number of edges with d columns and a degree of k.
EDGES = {
    "ER": lambda d, k: k * d,
    "SF": lambda d, k: k * (d - k),
    "small-world": lambda d, k: k * d,
    "bipartite": lambda d, k: k * d,
    "hubs": lambda d, k: k * (d - 1) - k * (k - 1) // 2,
    "chain": lambda d, k: k * d - k * (k + 1) // 2,
    "dense": lambda d, k: (d * (d - 1) // 2 + 1) // 2,
}


def test_every_kind_is_here():
    assert set(EDGES) == set(GRAPHS)


@pytest.mark.parametrize("kind", EDGES)
@pytest.mark.parametrize(("d", "degree"), [(8, 1), (10, 2), (21, 2), (30, 3)])
def test_graphs_are_acyclic_and_of_the_size_they_promise(kind, d, degree):
    for seed in range(5):
        adjacency = simulate_graph(d, kind, degree, seed)
        assert adjacency.dtype == np.int8
        assert is_dag(adjacency)
        assert adjacency.sum() == EDGES[kind](d, degree)
        np.testing.assert_array_equal(adjacency, simulate_graph(d, kind, degree, seed))


@pytest.mark.parametrize("kind", sorted(set(EDGES) - {"chain"}))
def test_seeds_and_columns_differ(kind):
    drawn = [simulate_graph(12, kind, 1, seed) for seed in range(6)]
    assert len({matrix.tobytes() for matrix in drawn}) == 6
    # Columns are in random order: edges point to the left as well.
    assert any(np.tril(matrix).any() for matrix in drawn)


def test_a_chain_is_a_chain_and_hubs_are_hubs():
    chain = simulate_graph(9, "chain", 1, 0)
    assert nx.dag_longest_path_length(nx.from_numpy_array(chain, create_using=nx.DiGraph)) == 8
    for seed in range(10):
        hubs = simulate_graph(12, "hubs", 2, seed)
        degrees = np.sort((hubs + hubs.T).sum(axis=0))
        assert degrees.tolist() == [2] * 10 + [11] * 2
    # The place of a hub is uniform: 5.6 effects on average, with a standard error of 0.25; hubs that come first have 11.
    out = [simulate_graph(12, "hubs", 1, seed).sum(axis=1).max() for seed in range(200)]
    assert 4.6 < np.mean(out) < 6.6


def test_two_sides_have_no_paths_of_two_edges():
    for seed in range(10):
        graph = simulate_graph(11, "bipartite", 2, seed).astype(int)
        assert not (graph @ graph).any()
        assert (graph.sum(axis=1) > 0).sum() <= 5


def test_small_worlds_are_clustered_and_a_little_random():
    """A ring of degree 2 has a clustering of 0.5, a random graph of this size 0.07; a fifth rewired is between."""
    graphs = [nx.from_numpy_array(m + m.T) for m in (simulate_graph(60, "small-world", 2, s) for s in range(10))]
    clustering = np.mean([nx.average_clustering(graph) for graph in graphs])
    assert 0.2 < clustering < 0.42


@pytest.mark.parametrize(
    ("kind", "d", "degree", "message"),
    [
        ("small-world", 10, 5, "`degree` must be at most 4 for small-world graphs"),
        ("bipartite", 10, 3, "`degree` must be at most 2 for bipartite graphs"),
        ("bipartite", 2, 1, "`d` must be at least 4 for bipartite graphs"),
        ("hubs", 5, 5, "`degree` must be at most 4"),
        ("chain", 1, 1, "`d` must be at least 2 for chain graphs"),
        ("chain", 5, 0, "`degree` must be a whole number of at least 1"),
        ("small-world", 2, 1, "`d` must be at least 3"),
    ],
)
def test_impossible_sizes_get_one_sentence(kind, d, degree, message):
    with pytest.raises(ParameterError, match=message):
        simulate_graph(d, kind, degree)


@pytest.mark.parametrize("kind", EDGES)
def test_tables_have_the_graph_of_their_seed(kind):
    data = simulate(50, 9, kind, 1, "straight", random_state=4)
    assert (data.graph, np.isfinite(data.X).all()) == (kind, True)
    np.testing.assert_array_equal(data.adjacency, simulate_graph(9, kind, 1, random_state=4))
