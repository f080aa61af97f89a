"""The search of CAM: gains against least squares, acyclicity, neighbours."""

import numpy as np
import pytest

from heterodag.core.graph import is_dag
from heterodag.estimators.cam import spline_blocks
from heterodag.ordering.cam import AdditiveFit, boosted_neighbours, greedy_graph


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 4))
    X[:, 2] = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 / 2 + 0.4 * X[:, 2]
    X[:, 3] = np.cos(2 * X[:, 2]) + 0.4 * X[:, 3]
    return standardised(X)


def test_gains_are_those_of_least_squares(table):
    blocks = spline_blocks(table, 5)
    fit, n = AdditiveFit(table[:, 3]), len(table)

    def log_variance(columns):
        D = np.column_stack([np.ones(n)] + [blocks[j] for j in columns])
        rest = table[:, 3] - D @ np.linalg.lstsq(D, table[:, 3], rcond=None)[0]
        return np.log(rest @ rest / (n - D.shape[1]))

    assert fit.gain(blocks[2]) == pytest.approx(n / 2 * (log_variance([]) - log_variance([2])))
    fit.add(blocks[2])
    assert fit.gain(blocks[0]) == pytest.approx(n / 2 * (log_variance([2]) - log_variance([2, 0])))
    assert fit.gain(blocks[2]) == -np.inf


def test_the_search_finds_the_graph_and_only_what_is_allowed(table):
    everything = np.ones((4, 4), dtype=bool)
    shares = []
    graph = greedy_graph(table, spline_blocks(table, 5), everything, shares.append)
    assert graph[0, 2]
    assert graph[1, 2]
    assert graph[2, 3]
    assert is_dag(graph)
    assert 0 <= min(shares) <= max(shares) <= 1
    nothing_into_3 = everything.copy()
    nothing_into_3[:, 3] = False
    assert not greedy_graph(table, spline_blocks(table, 5), nothing_into_3)[:, 3].any()


def test_the_search_never_closes_a_cycle():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = standardised(rng.standard_normal((80, 6)) @ rng.standard_normal((6, 6)))
        graph = greedy_graph(X, spline_blocks(X, 3), np.ones((6, 6), dtype=bool))
        assert is_dag(graph)
        assert graph.sum() > 5


def test_boosting_keeps_the_causes_and_few_others():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((400, 30))
    X[:, 29] = np.sin(2 * X[:, 3]) + 0.5 * X[:, 7] ** 2 + 0.3 * X[:, 29]
    Y = standardised(X)
    allowed = boosted_neighbours(Y, spline_blocks(Y, 4), 5)
    assert allowed[[3, 7], 29].all()
    assert allowed.sum(axis=0).max() <= 5
    assert not allowed.diagonal().any()
