"""The oracle: d-separation against exact partial correlations on random graphs, and Algorithm 3 with it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from heterodag.core.graph import full_dag, topological_order
from heterodag.errors import ParameterError
from heterodag.independence.contract import EdgeProblem
from heterodag.independence.oracle import oracle


def random_dag(rng, d):
    place = rng.permutation(d)
    return (np.triu(rng.random((d, d)) < rng.uniform(0.1, 0.7), 1)).astype(np.int8)[np.ix_(place, place)]


def answers(adjacency, order):
    d = len(adjacency)
    problem = EdgeProblem(np.zeros((1, d)), np.asarray(order), full_dag(order).astype(bool))
    return oracle(adjacency)(problem).pvalues


def test_d_separation_is_vanishing_partial_correlation_for_any_order():
    """With random weights, partial correlations of the linear model's own covariance vanish just where the graph says so."""
    rng, found = np.random.default_rng(1), set()
    for _ in range(150):
        d = int(rng.integers(2, 9))
        dag, order = random_dag(rng, d), rng.permutation(d)
        weights = dag * rng.choice([-1, 1], (d, d)) * rng.uniform(0.5, 1.5, (d, d))
        total = np.linalg.inv(np.eye(d) - weights)
        covariance = total.T @ total
        pvalues = answers(dag, order)
        for k in range(1, d):
            precision = np.linalg.inv(covariance[np.ix_(order[: k + 1], order[: k + 1])])
            scale = np.sqrt(np.diag(precision))
            vanishes = np.abs(precision[k, :k]) < 1e-9 * scale[k] * scale[:k]
            np.testing.assert_array_equal(pvalues[order[:k], order[k]], vanishes)
            found.update(vanishes.tolist())
        assert np.isnan(pvalues).sum() == d * d - d * (d - 1) // 2
    assert found == {True, False}


def test_a_true_order_gives_the_true_graph():
    rng = np.random.default_rng(2)
    for _ in range(100):
        dag = random_dag(rng, int(rng.integers(1, 15)))
        np.testing.assert_array_equal(answers(dag, topological_order(dag)) == 0, dag == 1)


def test_a_wrong_order_gives_a_graph_that_holds_the_same_independences():
    collider = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    found = answers(collider, [2, 0, 1])
    # Given the common effect, the causes depend on each other.
    assert (found[2, 0], found[2, 1], found[0, 1]) == (0, 0, 0)


def test_only_candidates_are_answered():
    candidates = np.zeros((3, 3), dtype=bool)
    candidates[0, 2] = True
    found = oracle(np.zeros((3, 3)))(EdgeProblem(np.zeros((1, 3)), np.arange(3), candidates)).pvalues
    assert found[0, 2] == 1
    assert np.isnan(found).sum() == 8


def test_it_can_be_pickled():
    dag = random_dag(np.random.default_rng(3), 5)
    problem = EdgeProblem(np.zeros((1, 5)), np.arange(5), full_dag(np.arange(5)).astype(bool))
    again = pickle.loads(pickle.dumps(oracle(dag)))
    np.testing.assert_array_equal(again(problem).pvalues, oracle(dag)(problem).pvalues)


def test_bad_graphs_are_errors():
    with pytest.raises(ParameterError, match="`adjacency` must have no directed cycle"):
        oracle([[0, 1], [1, 0]])
    with pytest.raises(ParameterError, match=r"one row per column of the table, 3; got \(2, 2\)"):
        oracle(np.zeros((2, 2)))(EdgeProblem(np.zeros((1, 3)), np.arange(3), np.zeros((3, 3), dtype=bool)))
