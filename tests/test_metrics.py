"""The measures, by hand, by their properties, and against networkx and scikit-learn."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from sklearn.metrics import f1_score, precision_score, recall_score, roc_auc_score

from heterodag import metrics
from heterodag.core.graph import full_dag, is_dag, topological_order
from heterodag.errors import ParameterError

TRUTH = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]])  # 0 -> 1, 0 -> 2, 1 -> 2
EMPTY = np.zeros((3, 3), dtype=int)


def edges(*pairs, d=3):
    matrix = np.zeros((d, d), dtype=int)
    for cause, effect in pairs:
        matrix[cause, effect] = 1
    return matrix


@st.composite
def graphs(draw, count, acyclic=False, d=5):
    drawn = []
    for _ in range(count):
        matrix = draw(npst.arrays(np.int8, (d, d), elements=st.integers(0, 1)))
        place = np.array(draw(st.permutations(range(d))))
        matrix = np.triu(matrix, 1) if acyclic else matrix - np.diag(np.diag(matrix))
        drawn.append(matrix[np.ix_(place, place)])
    return drawn


def off_diagonal(matrix):
    return np.asarray(matrix)[~np.eye(len(matrix), dtype=bool)]


# --- order divergence ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("order", "expected"), [([0, 1, 2], 0), ([1, 0, 2], 1), ([2, 1, 0], 3), ([2, 0, 1], 2)])
def test_order_divergence_by_hand(order, expected):
    assert metrics.order_divergence(order, TRUTH) == expected


@given(graphs(1), st.permutations(range(5)))
def test_an_order_and_its_reverse_share_out_the_edges(drawn, order):
    (truth,) = drawn
    forward, backward = (metrics.order_divergence(o, truth) for o in (order, order[::-1]))
    assert forward + backward == truth.sum()


@given(graphs(1, acyclic=True))
def test_a_true_order_has_no_divergence(drawn):
    assert metrics.order_divergence(topological_order(drawn[0]), drawn[0]) == 0


def test_order_divergence_takes_the_names_of_the_truth():
    truth = pd.DataFrame(TRUTH, index=list("abc"), columns=list("abc"))
    assert metrics.order_divergence(["b", "a", "c"], truth) == 1
    assert metrics.order_divergence([1, 0, 2], truth) == 1
    assert metrics.order_divergence(["c", "a"], nx.DiGraph([("c", "a")])) == 0


@pytest.mark.parametrize("order", [0, [0, 1], [0, 1, 1], ["a", "b", "z"], "abc"])
def test_order_divergence_needs_an_order_of_all_columns(order):
    for truth in (TRUTH, pd.DataFrame(TRUTH, index=list("abc"), columns=list("abc"))):
        with pytest.raises(ParameterError, match="`order` must list every column index from 0 to 2 once"):
            metrics.order_divergence(order, truth)


# --- structural Hamming distance ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimate", "expected"),
    [
        (TRUTH, 0),
        (EMPTY, 3),
        (edges((0, 1), (0, 2), (2, 1)), 1),  # a reversal counts one
        (edges((1, 0), (2, 0), (2, 1)), 3),
        (edges((0, 1), (0, 2), (1, 2), (2, 1)), 1),  # an edge too many, in the other direction
        (edges((1, 0)), 3),  # one reversal, two additions
    ],
)
def test_shd_by_hand(estimate, expected):
    assert metrics.shd(estimate, TRUTH) == expected


def test_taking_away_both_directions_costs_two():
    assert metrics.shd(edges((0, 1), (1, 0)), EMPTY) == 2


@given(graphs(3))
def test_shd_is_a_metric(drawn):
    a, b, c = drawn
    assert metrics.shd(a, a) == 0
    assert metrics.shd(a, b) == metrics.shd(b, a)
    assert (metrics.shd(a, b) == 0) == np.array_equal(a, b)
    assert metrics.shd(a, c) <= metrics.shd(a, b) + metrics.shd(b, c)


@settings(max_examples=60)
@given(graphs(2, acyclic=True, d=4))
def test_shd_agrees_with_networkx_sets(drawn):
    found, true = (set(nx.from_numpy_array(g, create_using=nx.DiGraph).edges) for g in drawn)
    undirected = [{frozenset(edge) for edge in graph} for graph in (found, true)]
    reversals = sum((j, i) in true for i, j in found)
    assert metrics.shd(*drawn) == len(undirected[0] ^ undirected[1]) + reversals


@given(graphs(2, acyclic=True), st.permutations(range(5)))
def test_shd_is_at_least_the_divergence_of_an_order_the_estimate_respects(drawn, order):
    estimate, truth = drawn[0] * full_dag(order), drawn[1]
    assert metrics.shd(estimate, truth) >= metrics.order_divergence(order, truth)


# --- precision, recall, F1 ----------------------------------------------------------------------------------


def test_precision_and_recall_by_hand():
    estimate = edges((0, 1), (2, 1))
    assert metrics.precision(estimate, TRUTH) == 1 / 2
    assert metrics.recall(estimate, TRUTH) == 1 / 3
    assert metrics.f1(estimate, TRUTH) == pytest.approx(2 / 5)


@pytest.mark.parametrize("measure", [metrics.precision, metrics.recall, metrics.f1])
def test_graphs_without_edges(measure):
    assert measure(EMPTY, EMPTY) == 1.0
    assert measure(EMPTY, TRUTH) == 0.0
    assert measure(TRUTH, EMPTY) == 0.0


@given(graphs(2))
def test_agreement_with_scikit_learn(drawn):
    estimate, truth = drawn
    if not estimate.any() or not truth.any():
        return
    flat = off_diagonal(truth), off_diagonal(estimate)
    assert metrics.precision(estimate, truth) == pytest.approx(precision_score(*flat, zero_division=0))
    assert metrics.recall(estimate, truth) == pytest.approx(recall_score(*flat, zero_division=0))
    assert metrics.f1(estimate, truth) == pytest.approx(f1_score(*flat, zero_division=0))


# --- AUC ----------------------------------------------------------------------------------------------------


def test_auc_by_hand():
    pvalues = np.full((3, 3), np.nan)
    pvalues[0, 1], pvalues[0, 2], pvalues[1, 2] = 0.001, 0.5, 0.01
    assert metrics.auc(pvalues, TRUTH) == 1.0
    # 0 -> 2 was not tested: tied with the three pairs that are no edges, so 9 pairs count 6 + 3 / 2.
    pvalues[0, 2] = np.nan
    assert metrics.auc(pvalues, TRUTH) == pytest.approx(7.5 / 9)
    assert metrics.auc(np.ones((3, 3)), TRUTH) == 0.5
    assert metrics.auc(np.where(TRUTH, 0.9, 0.1), TRUTH) == 0.0


def test_auc_ignores_the_diagonal():
    pvalues = np.where(TRUTH, 0.01, 0.5)
    expected = metrics.auc(pvalues, TRUTH)
    np.fill_diagonal(pvalues, -7.0)
    assert metrics.auc(pvalues, TRUTH) == expected == 1.0


@given(graphs(1), st.integers(0, 2**32 - 1))
def test_auc_agrees_with_scikit_learn(drawn, seed):
    (truth,) = drawn
    if not 0 < truth.sum() < 20:
        return
    rng = np.random.default_rng(seed)
    pvalues = np.round(rng.uniform(size=(5, 5)), 1)  # rounded, so that there are ties
    pvalues[rng.uniform(size=(5, 5)) < 0.3] = np.nan
    scores = -np.nan_to_num(off_diagonal(pvalues), nan=1.0)
    assert metrics.auc(pvalues, truth) == pytest.approx(roc_auc_score(off_diagonal(truth), scores))


@pytest.mark.parametrize("truth", [EMPTY, 1 - np.eye(3)])
def test_auc_needs_both_kinds_of_pairs(truth):
    with pytest.raises(ParameterError, match=r"`truth` must have from 1 to 5 edges.*got [06]"):
        metrics.auc(np.ones((3, 3)), truth)


@pytest.mark.parametrize("wrong", [-0.1, 1.5, np.inf])
def test_auc_needs_probabilities(wrong):
    pvalues = np.full((3, 3), 0.5)
    pvalues[0, 1] = wrong
    with pytest.raises(ParameterError, match=rf"`pvalues` must lie in \[0, 1\].*got {wrong}"):
        metrics.auc(pvalues, TRUTH)


# --- frames and graphs --------------------------------------------------------------------------------------


@given(graphs(2), st.permutations(range(5)))
@settings(max_examples=30)
def test_frames_are_matched_by_name(drawn, place):
    names = np.array(list("abcde"))
    estimate, truth = (pd.DataFrame(g, index=names, columns=names) for g in drawn)
    shuffled = truth.loc[names[place], names[place]]
    expected = metrics.evaluate(*drawn)
    assert metrics.evaluate(estimate, shuffled) == expected
    graph = nx.from_pandas_adjacency(shuffled, create_using=nx.DiGraph)
    assert metrics.evaluate(estimate, graph) == expected
    assert metrics.evaluate(estimate, drawn[1]) == expected  # an array is matched by position


def test_rows_and_columns_of_a_frame_may_be_in_different_orders():
    truth = pd.DataFrame(TRUTH, index=list("abc"), columns=list("abc"))
    assert metrics.shd(truth.loc[list("cab")], truth) == 0


def test_integer_nodes_are_positions():
    graph = nx.DiGraph()
    graph.add_nodes_from([2, 0, 1])
    graph.add_edges_from([(0, 1), (0, 2), (1, 2)], weight=0.3)
    assert metrics.shd(graph, TRUTH) == 0
    assert metrics.shd(TRUTH, graph) == 0


def test_two_graphs_with_the_same_nodes():
    one, other = nx.DiGraph([("a", "b"), ("b", "c")]), nx.DiGraph([("c", "b"), ("a", "b")])
    assert metrics.shd(one, other) == 1


@pytest.mark.parametrize(
    ("estimate", "truth", "message"),
    [
        (EMPTY, np.zeros((2, 2)), r"`estimate` must have the shape of `truth`, \(2, 2\); got \(3, 3\)"),
        (nx.DiGraph([("a", "b")]), np.zeros((2, 2)), r"`estimate` must have the nodes 0..d-1"),
        (nx.DiGraph([("a", "b")]), nx.DiGraph([("a", "c")]), r"the same names as `truth`; got \['b', 'c'\]"),
        (nx.Graph([(0, 1)]), np.zeros((2, 2)), "be a directed graph"),
        (pd.DataFrame([[0, 1], [0, 0]], columns=["a", "b"]), np.zeros((2, 2)), "on its rows and columns"),
        (pd.DataFrame(0, index=["a", "a"], columns=["a", "a"]), np.zeros((2, 2)), "distinct names"),
        (np.full((2, 2), 0.5), np.zeros((2, 2)), "`estimate` must hold only zeros and ones"),
    ],
)
def test_graphs_that_cannot_be_compared(estimate, truth, message):
    with pytest.raises(ParameterError, match=message):
        metrics.shd(estimate, truth)


# --- all together -------------------------------------------------------------------------------------------


def test_evaluate_gives_what_it_is_asked_for():
    estimate = edges((0, 1), (2, 1))
    assert is_dag(estimate)
    pvalues = np.where(estimate, 0.001, 0.4)
    plain = metrics.evaluate(estimate, TRUTH)
    assert plain == {
        "shd": 2.0,
        "precision": 0.5,
        "recall": pytest.approx(1 / 3),
        "f1": pytest.approx(0.4),
    }
    every = metrics.evaluate(estimate, TRUTH, order=[2, 0, 1], pvalues=pvalues)
    assert every == {**plain, "order_divergence": 2.0, "auc": metrics.auc(pvalues, TRUTH)}
    assert all(type(value) is float for value in every.values())


def test_evaluate_reads_order_and_pvalues_in_the_columns_of_the_estimate():
    names = list("abc")
    truth = pd.DataFrame(TRUTH, index=names, columns=names)
    estimate = truth.loc[list("cba"), list("cba")]
    pvalues = np.where(estimate, 0.001, 0.4)
    for order in ([2, 1, 0], ["a", "b", "c"]):
        result = metrics.evaluate(estimate, truth, order=order, pvalues=pvalues)
        assert (result["order_divergence"], result["auc"]) == (0.0, 1.0)
    frame = pd.DataFrame(np.where(TRUTH, 0.001, 0.4), index=names, columns=names)
    assert metrics.evaluate(estimate, truth, pvalues=frame)["auc"] == 1.0


def test_evaluate_has_no_auc_for_an_empty_truth():
    result = metrics.evaluate(EMPTY, EMPTY, pvalues=np.ones((3, 3)))
    assert math.isnan(result["auc"])
    assert result["f1"] == 1.0
