"""What must hold whatever the data: no dependence on units, signs, column order or workers; always a DAG."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag import HOST, causal_order
from heterodag.core.graph import full_dag, is_dag, respects_order
from heterodag.simulation import simulate

ORDER_BATCHES, ORDER_CASES = 10, 15
GRAPH_BATCHES, GRAPH_CASES = 6, 10


def random_table(rng, widest=5):
    """Return a simulated data set and a form."""
    n, d = int(rng.integers(150, 301)), int(rng.integers(3, widest + 1))
    graph = ("ER", "SF")[rng.integers(2)]
    X = simulate(n, d, graph=graph, degree=1, random_state=int(rng.integers(2**31))).X
    return X, ("natural", "location-scale")[rng.integers(2)]


def random_change(rng, X):
    """Return X shifted, scaled (either sign) and with permuted columns, and the permutation."""
    d = X.shape[1]
    scale = 10 ** rng.uniform(-4, 4, d) * rng.choice([-1.0, 1.0], d)
    shift = rng.normal(size=d) * 10 * np.abs(scale) * X.std(axis=0)
    columns = rng.permutation(d)
    return (X * scale + shift)[:, columns], columns


@pytest.mark.parametrize("batch", range(ORDER_BATCHES))
def test_the_order_does_not_depend_on_units_signs_and_column_order(batch):
    rng = np.random.default_rng([1, batch])
    for _ in range(ORDER_CASES):
        X, form = random_table(rng)
        changed, columns = random_change(rng, X)
        plain, other = causal_order(X, form=form), causal_order(changed, form=form)
        assert columns[other.order].tolist() == plain.order.tolist()
        assert [columns[layer].tolist() for layer in other.layers] == plain.layers
        np.testing.assert_allclose(other.scores, plain.scores[:, columns], atol=1e-5)


@pytest.mark.parametrize("batch", range(GRAPH_BATCHES))
def test_the_graph_does_not_depend_on_units_signs_and_column_order(batch):
    rng = np.random.default_rng([2, batch])
    for _ in range(GRAPH_CASES):
        X, form = random_table(rng, widest=4)
        changed, columns = random_change(rng, X)
        plain, other = HOST(form=form).fit(X), HOST(form=form).fit(changed)
        assert columns[other.order_].tolist() == plain.order_.tolist()
        swap = np.ix_(columns, columns)
        np.testing.assert_array_equal(other.adjacency_, plain.adjacency_[swap])
        np.testing.assert_allclose(other.pvalues_, plain.pvalues_[swap], atol=1e-4)
        assert is_dag(plain.adjacency_)
        assert respects_order(plain.adjacency_, plain.order_)
        # Exactly the pairs that run forwards in the order are tested.
        np.testing.assert_array_equal(~np.isnan(plain.pvalues_), full_dag(plain.order_).astype(bool))
        np.testing.assert_array_equal(plain.adjacency_ == 1, plain.pvalues_ < 0.001)


@pytest.mark.parametrize("seed", range(2))
def test_the_number_of_workers_does_not_matter(seed):
    X = simulate(200, 5, degree=2, random_state=seed).X
    one, two = (HOST(n_jobs=jobs).fit(X) for jobs in (1, 2))
    np.testing.assert_array_equal(one.order_, two.order_)
    np.testing.assert_array_equal(one.adjacency_, two.adjacency_)
    np.testing.assert_array_equal(one.pvalues_, two.pvalues_)


def test_row_order_does_not_matter():
    rng = np.random.default_rng(3)
    for seed in range(3):
        X = simulate(250, 4, degree=1, random_state=seed).X
        plain, shuffled = HOST().fit(X), HOST().fit(X[rng.permutation(250)])
        np.testing.assert_array_equal(plain.order_, shuffled.order_)
        np.testing.assert_array_equal(plain.adjacency_, shuffled.adjacency_)
