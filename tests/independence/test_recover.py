"""Algorithm 3: which pairs are tested, what becomes an edge, and that every named test runs through one contract."""

import numpy as np
import pandas as pd
import pytest

from heterodag import HeterodagError, recover_dag, simulate
from heterodag.core.graph import full_dag
from heterodag.independence.oracle import oracle
from heterodag.independence.registry import SELECTIONS
from heterodag.simulation import simulate_graph

FAST = [name for name in SELECTIONS if name not in ("lcit", "kci")]


@pytest.mark.parametrize("seed", range(30))
def test_with_an_oracle_any_true_order_gives_the_true_graph(seed):
    data = simulate(50, 6, graph="SF" if seed % 2 else "ER", degree=1 + seed % 2, random_state=seed)
    result = recover_dag(data.X, data.order, selection=_batched(oracle(data.adjacency)))
    assert np.array_equal(result.adjacency, data.adjacency)


def _batched(test):
    def run(problem):
        return test(problem)

    run.batched = True
    return run


@pytest.mark.parametrize("selection", FAST)
def test_every_named_test_fills_exactly_the_pairs_of_the_order(selection):
    data = simulate(300, 4, degree=1, random_state=2)
    order = [2, 0, 3, 1]
    if selection == "fisherz":
        pytest.importorskip("causallearn")
    result = recover_dag(data.X, order, selection=selection, random_state=0)
    assert np.array_equal(np.isnan(result.pvalues), full_dag(np.array(order)) == 0)
    tested = result.pvalues[~np.isnan(result.pvalues)]
    assert ((tested >= 0) & (tested <= 1)).all()
    assert np.array_equal(result.adjacency == 1, np.nan_to_num(result.pvalues, nan=1.0) < 0.001)


def test_a_user_function_is_called_with_all_other_predecessors():
    data = simulate(100, 4, degree=1, random_state=3)
    seen = []

    def test(x, y, Z):
        seen.append(Z.shape)
        return 0.5

    result = recover_dag(data.X, [3, 1, 0, 2], selection=test, alpha=1.0)
    assert sorted(seen) == [(100, 0), (100, 1), (100, 1), (100, 2), (100, 2), (100, 2)]
    assert result.adjacency.sum() == 6


def test_corrections_only_remove_edges():
    data = simulate(400, 8, degree=1, random_state=4)
    plain, bh, holm = (
        recover_dag(data.X, data.order, selection="partial-correlation", alpha=0.05, correction=c).adjacency
        for c in ("none", "bh", "holm")
    )
    assert (bh <= plain).all()
    assert (holm <= bh).all()


def test_orders_may_be_names():
    frame = pd.DataFrame(simulate(200, 3, degree=1, random_state=5).X, columns=["a", "b", "c"])
    named = recover_dag(frame, ["c", "a", "b"])
    assert named.order.tolist() == [2, 0, 1]
    assert named.names == ["a", "b", "c"]


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [0, 1, 3], ["a", "b", "zz"], []])
def test_bad_orders_are_refused(order):
    frame = pd.DataFrame(simulate(200, 3, degree=1, random_state=5).X, columns=["a", "b", "c"])
    with pytest.raises(HeterodagError, match="order"):
        recover_dag(frame, order)


@pytest.mark.parametrize("n_jobs", [0, 1.5, "two"])
def test_bad_numbers_of_workers_are_refused(n_jobs):
    with pytest.raises(HeterodagError, match="`n_jobs` must"):
        recover_dag(np.random.default_rng(0).normal(size=(50, 3)), [0, 1, 2], n_jobs=n_jobs)


def test_every_name_is_documented():
    for name in SELECTIONS:
        assert f'"{name}"' in recover_dag.__doc__


@pytest.mark.parametrize("selection", FAST)
def test_progress_ends_at_one(selection):
    if selection == "fisherz":
        pytest.importorskip("causallearn")
    data, shares = simulate(300, 4, degree=1, random_state=2), []
    recover_dag(data.X, data.order, selection=selection, random_state=0, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_simulated_graph_is_what_the_oracle_needs():
    assert simulate_graph(5, "ER", 1, random_state=0).sum() == 5
