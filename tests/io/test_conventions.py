"""Other libraries' adjacency matrices: by hand, there and back, and as causal-learn itself writes them."""

import numpy as np
import pytest

from heterodag import (
    ParameterError,
    adjacency_from_causal_learn,
    adjacency_from_lingam,
    adjacency_to_causal_learn,
    adjacency_to_lingam,
    simulate_graph,
)

OURS = np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]])  # 0 -> 1 <- 2


def test_lingam_has_effects_in_rows():
    B = np.zeros((3, 3))
    B[1, 0], B[1, 2] = 0.8, -0.3
    assert np.array_equal(adjacency_from_lingam(B), OURS)
    assert np.array_equal(adjacency_from_lingam(B, threshold=0.5), [[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    assert np.array_equal(adjacency_to_lingam(OURS) != 0, B != 0)


def test_causal_learn_has_marks_at_the_ends():
    marks = np.zeros((3, 3))
    marks[1, 0], marks[0, 1] = 1, -1
    marks[1, 2], marks[2, 1] = 1, -1
    assert np.array_equal(adjacency_from_causal_learn(marks), OURS)
    assert np.array_equal(adjacency_to_causal_learn(OURS), marks)


@pytest.mark.parametrize("seed", range(5))
def test_there_and_back(seed):
    graph = simulate_graph(7, degree=2, random_state=seed)
    assert np.array_equal(adjacency_from_lingam(adjacency_to_lingam(graph)), graph)
    assert np.array_equal(adjacency_from_causal_learn(adjacency_to_causal_learn(graph)), graph)


@pytest.mark.parametrize("marks", [(-1, -1), (1, 1), (2, 1), (2, 2)])
def test_edges_that_are_not_directed_are_refused(marks):
    matrix = np.zeros((3, 3))
    matrix[0, 2], matrix[2, 0] = marks
    with pytest.raises(ParameterError, match=r"only directed edges; got \[0, 2\]"):
        adjacency_from_causal_learn(matrix)


def test_other_nonsense_is_refused():
    with pytest.raises(ParameterError, match="undecided"):
        adjacency_from_lingam([[0, np.nan], [0, 0]])
    with pytest.raises(ParameterError, match="one direction"):
        adjacency_to_causal_learn([[0, 1], [1, 0]])
    with pytest.raises(ParameterError, match="square"):
        adjacency_from_lingam([[0, 1]])


def test_as_causal_learn_itself_writes_them():
    pytest.importorskip("causallearn")
    from causallearn.graph.Dag import Dag
    from causallearn.graph.GraphNode import GraphNode

    nodes = [GraphNode(name) for name in ("a", "b", "c")]
    dag = Dag(nodes)
    dag.add_directed_edge(nodes[0], nodes[1])
    dag.add_directed_edge(nodes[2], nodes[1])
    assert np.array_equal(adjacency_from_causal_learn(dag), OURS)
    assert np.array_equal(adjacency_to_causal_learn(OURS), dag.graph)


def test_as_a_pc_search_and_a_lingam_search_write_them():
    pytest.importorskip("causallearn")
    from causallearn.search.ConstraintBased.PC import pc
    from causallearn.search.FCMBased.lingam import DirectLiNGAM

    rng = np.random.default_rng(0)
    a, c = rng.uniform(-1, 1, (2, 1000))
    X = np.column_stack([a, 2 * a - 2 * c + 0.5 * rng.uniform(-1, 1, 1000), c])
    found = pc(X, 0.01, "fisherz", show_progress=False)
    assert np.array_equal(adjacency_from_causal_learn(found), OURS)
    model = DirectLiNGAM()
    model.fit(X)
    assert np.array_equal(adjacency_from_lingam(model.adjacency_matrix_, threshold=0.1), OURS)
