"""The adjacency convention, orders and layers, against hand-made graphs and networkx."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from heterodag.core.graph import (
    ancestors,
    as_adjacency,
    check_order,
    descendants,
    find_cycle,
    full_dag,
    is_dag,
    respects_order,
    topological_layers,
    topological_order,
)
from heterodag.errors import ParameterError, check_number

CHAIN = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=np.int8)
CYCLE = np.array([[0, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0]], dtype=np.int8)


@st.composite
def digraphs(draw):
    d = draw(st.integers(1, 7))
    matrix = draw(npst.arrays(np.int8, (d, d), elements=st.integers(0, 1)))
    np.fill_diagonal(matrix, 0)
    return matrix


@st.composite
def dags(draw):
    matrix = np.triu(draw(digraphs()), 1)
    place = np.array(draw(st.permutations(range(len(matrix)))))
    return matrix[np.ix_(place, place)]


@pytest.mark.parametrize("dtype", [bool, np.int64, np.float32, object])
def test_as_adjacency_takes_any_numbers_and_copies(dtype):
    value = CHAIN.astype(dtype)
    result = as_adjacency(value, "truth")
    assert result.dtype == np.int8
    np.testing.assert_array_equal(result, CHAIN)
    result[0, 2] = 1
    assert value[0, 2] == 0


def test_as_adjacency_takes_nested_lists_and_keeps_cycles():
    np.testing.assert_array_equal(as_adjacency(CYCLE.tolist()), CYCLE)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.zeros((2, 3)), r"`truth` must be square.*got \(2, 3\)"),
        (np.zeros(4), r"got \(4,\)"),
        (np.zeros((0, 0)), r"got \(0, 0\)"),
        ([[0, 1], [0]], "square matrix of numbers"),
        ([[0, "a"], [0, 0]], "square matrix of numbers"),
        ([[0, 0.5], [0, 0]], r"only zeros and ones; got 0.5. Look at entry \[0, 1\]"),
        ([[0, 0], [np.nan, 0]], r"got nan. Look at entry \[1, 0\]"),
        ([[0, 0], [0, 1]], r"no self loops.*got \[1\]"),
    ],
)
def test_as_adjacency_says_what_is_wrong(value, message):
    with pytest.raises(ParameterError, match=message):
        as_adjacency(value, "truth")


@given(digraphs())
def test_is_dag_agrees_with_networkx(adjacency):
    graph = nx.from_numpy_array(adjacency, create_using=nx.DiGraph)
    assert is_dag(adjacency) == nx.is_directed_acyclic_graph(graph)


def test_a_self_loop_is_a_cycle():
    assert not is_dag(np.eye(2))


@given(dags())
def test_order_is_the_lexicographically_smallest(adjacency):
    graph = nx.from_numpy_array(adjacency, create_using=nx.DiGraph)
    order = topological_order(adjacency)
    assert order.tolist() == list(nx.lexicographical_topological_sort(graph))
    assert respects_order(adjacency, order)


@given(dags())
def test_layers_are_the_generations_of_networkx(adjacency):
    graph = nx.from_numpy_array(adjacency, create_using=nx.DiGraph)
    assert topological_layers(adjacency) == [sorted(layer) for layer in nx.topological_generations(graph)]


def test_order_and_layers_by_hand():
    adjacency = np.zeros((4, 4), dtype=np.int8)
    adjacency[3, 0] = adjacency[0, 2] = 1
    assert topological_order(adjacency).tolist() == [1, 3, 0, 2]
    assert topological_layers(adjacency) == [[1, 3], [0], [2]]


@pytest.mark.parametrize("function", [topological_order, topological_layers])
def test_a_cycle_is_shown(function):
    with pytest.raises(ParameterError, match="`adjacency` must have no directed cycle; got") as caught:
        function(CYCLE)
    assert "[0, 1, 2, 0]" in str(caught.value)


@settings(max_examples=50)
@given(digraphs())
def test_the_cycle_shown_is_a_cycle(adjacency):
    if is_dag(adjacency):
        return
    with pytest.raises(ParameterError) as caught:
        topological_order(adjacency)
    text = str(caught.value)
    cycle = [int(node) for node in text[text.index("[") + 1 : text.index("]")].split(",")]
    assert len(cycle) >= 3
    assert cycle[0] == cycle[-1]
    assert all(adjacency[i, j] for i, j in itertools.pairwise(cycle))


@given(digraphs())
def test_reachability_agrees_with_networkx(adjacency):
    graph = nx.from_numpy_array(adjacency, create_using=nx.DiGraph)
    closure = nx.to_numpy_array(nx.transitive_closure(graph, reflexive=False), weight=None) > 0
    np.testing.assert_array_equal(descendants(adjacency), closure)
    np.testing.assert_array_equal(ancestors(adjacency), closure.T)


def test_reachability_rows_belong_to_the_column_asked_for():
    assert descendants(CHAIN)[0].tolist() == [False, True, True]
    assert ancestors(CHAIN)[2].tolist() == [True, True, False]


def test_a_long_chain_is_reached_from_end_to_end():
    d = 70
    reach = descendants(np.eye(d, k=1))
    np.testing.assert_array_equal(reach, np.triu(np.ones((d, d)), 1) > 0)


@given(st.permutations(range(6)))
def test_full_dag_has_every_forward_pair(order):
    adjacency = full_dag(order)
    assert adjacency.dtype == np.int8
    assert adjacency.sum() == 15
    assert all(adjacency[order[a], order[b]] for a in range(6) for b in range(a + 1, 6))
    assert topological_order(adjacency).tolist() == list(order)


def test_respects_order():
    assert respects_order(CHAIN, np.array([0, 1, 2]))
    assert not respects_order(CHAIN, np.array([1, 0, 2]))


def test_check_order_returns_indices():
    order = check_order([2.0, 0.0, 1.0], 3)
    assert order.dtype == np.intp
    assert order.tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ([0, 1, 1], r"from 0 to 2 once; got \[0, 1, 1\]. Missing: \[2\]. Repeated: \[1\]."),
        ([0, 1], r"Missing: \[2\]"),
        ([0, 1, 2, 3], r"Unknown: \[3\]"),
        ([0, 1, -1], r"Missing: \[2\]. Unknown: \[-1\]"),
        ([0, 1, 0.5], "whole numbers"),
        ([0, 1, np.inf], "whole numbers"),
        (["a", "b", "c"], "whole numbers"),
        ([[0, 1, 2]], "flat list"),
    ],
)
def test_check_order_says_what_is_wrong(order, message):
    with pytest.raises(ParameterError, match=f"`pi` must list every column index.*{message}"):
        check_order(order, 3, name="pi")


def test_numbers_beyond_floats_are_refused():
    with pytest.raises(ParameterError, match="square matrix of numbers"):
        as_adjacency([[0, 10**400], [0, 0]])
    with pytest.raises(ParameterError, match="list every column index"):
        check_order([0, 10**400], 2)
    with pytest.raises(ParameterError, match="`alpha` must be a number"):
        check_number("alpha", 10**400)


def test_find_cycle():
    assert find_cycle(np.triu(np.ones((4, 4)), 1)) == []
    cycle = find_cycle(np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 1, 0, 1], [0, 0, 0, 0]]))
    assert cycle in ([1, 2, 1], [2, 1, 2])
