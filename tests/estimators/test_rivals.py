"""Each rival recovers what its own paper promises, on data that fit it; a wrong version would do as a coin does.

GraN-DAG is in `test_gcastle_runs`, where its runs serve other checks too: starting gcastle takes seconds.
"""

import importlib.util

import numpy as np
import pytest

from heterodag import CAM, GOLEM, DiffAN, EqVar, NPVar, VarSort, metrics, simulate_graph
from heterodag.core.graph import topological_order

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")
needs_gcastle = pytest.mark.skipif(
    importlib.util.find_spec("castle") is None or importlib.util.find_spec("torch") is None, reason="needs gcastle"
)
CURVES = (lambda x: 1.5 * np.sin(1.5 * x), lambda x: x**2 - 1, lambda x: 2 * np.tanh(2 * x))


def additive_table(n, d, degree, seed, linear=False, scales=None):
    """Return a table with Gaussian noise (equal variances unless scales are given) and its graph."""
    rng = np.random.default_rng(seed)
    graph = simulate_graph(d, "ER", degree, seed)
    X = rng.standard_normal((n, d)) * (1.0 if scales is None else rng.uniform(*scales, size=d))
    for j in topological_order(graph):
        for i in np.flatnonzero(graph[:, j]):
            if linear:
                X[:, j] += rng.choice([-1, 1]) * rng.uniform(0.7, 1.5) * X[:, i]
            else:
                X[:, j] += CURVES[rng.integers(3)]((X[:, i] - X[:, i].mean()) / X[:, i].std())
    return X, graph


def divergences(model, seeds, **settings):
    """Return the mean order divergence and SHD per table."""
    found = []
    for seed in seeds:
        X, graph = additive_table(seed=seed, **settings)
        model.fit(X)
        found.append([metrics.order_divergence(model.order_, graph), metrics.shd(model.adjacency_, graph)])
    return np.mean(found, axis=0).tolist()


@pytest.mark.parametrize("direction", ["top-down", "bottom-up"])
def test_eqvar_orders_linear_data_with_equal_variances(direction):
    # 12 edges a table: a random order breaks 6 of them.
    order, shd = divergences(
        EqVar(direction=direction, selection="partial-correlation"), range(5), n=500, d=6, degree=2, linear=True
    )
    assert order <= 0.2
    assert shd <= 1.0


def test_npvar_orders_curved_data_with_equal_variances_and_eqvar_does_not():
    settings = {"n": 1000, "d": 6, "degree": 2}
    order, shd = divergences(NPVar(), range(5), **settings)
    assert order <= 0.2
    assert shd <= 1.0
    assert divergences(EqVar(selection="partial-correlation"), range(5), **settings)[0] > order + 0.5


def test_npvar_layers_hold_columns_without_edges_between_them():
    X, graph = additive_table(1000, 6, 1, seed=4)
    model = NPVar(eta=0.2).fit(X)
    assert metrics.order_divergence(model.order_, graph) == 0
    assert len(model.layers_) < 6
    for layer in model.layers_:
        assert not graph[np.ix_(layer, layer)].any()


def test_cam_finds_curved_graphs_whatever_the_units():
    # 6 edges a table: a random order breaks 3 of them.
    settings = {"n": 500, "d": 6, "degree": 1, "scales": (0.4, 1.0)}
    order, shd = divergences(CAM(), range(5), **settings)
    assert order <= 0.4
    assert shd <= 1.0
    X, _ = additive_table(seed=0, **settings)
    units = X * np.array([1e6, 1, 1e-6, 3, 10, 0.1]) + 5
    assert np.array_equal(CAM().fit(units).adjacency_, CAM().fit(X).adjacency_)


def test_cam_with_many_columns_selects_neighbours_first():
    X, graph = additive_table(300, 25, 1, seed=1, scales=(0.4, 0.8))
    model = CAM(max_neighbours=4).fit(X)
    assert model.unpruned_.sum(axis=0).max() <= 4
    # 25 edges; a random order breaks 12.
    assert metrics.order_divergence(model.order_, graph) <= 3
    assert metrics.shd(model.adjacency_, graph) <= 8


def test_varsort_follows_the_variances_and_nothing_else():
    X, _ = additive_table(500, 6, 2, seed=1, linear=True)
    turned = X / X.std(axis=0) ** 2
    model = VarSort(selection="partial-correlation")
    assert model.fit(turned).order_.tolist() == VarSort(selection="partial-correlation").fit(X).order_.tolist()[::-1]


@needs_torch
def test_diffan_orders_a_curved_chain(curved_chain):
    model = DiffAN(max_steps=800, random_state=0).fit(curved_chain)
    assert model.order_.tolist() == [1, 2, 0]
    assert model.adjacency_[1, 2] == model.adjacency_[2, 0] == 1


@needs_torch
@pytest.mark.slow
def test_diffan_orders_a_random_graph():
    X, graph = additive_table(1500, 4, 1, seed=2, scales=(0.4, 0.8))
    # 4 edges: a random order breaks 2 of them.
    assert metrics.order_divergence(DiffAN(max_steps=800, random_state=0).fit(X).order_, graph) == 0


@needs_gcastle
def test_golem_finds_a_linear_graph_with_equal_variances():
    X, graph = additive_table(500, 5, 1, seed=2, linear=True)
    model = GOLEM(max_steps=800, learning_rate=0.01).fit(X)
    assert metrics.shd(model.adjacency_, graph) <= 1
    assert metrics.order_divergence(model.order_, graph) == 0
    assert model.weights_.shape == (5, 5)
