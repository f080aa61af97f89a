"""Edges by stepwise likelihood: a p-value for every pair, right edges, and the path for very many rows."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from heterodag import metrics, recover_dag, simulate
from heterodag.core.graph import full_dag
from heterodag.independence import stepwise
from heterodag.scores.parent_choice import ParentChoices

GAUSSIAN = {"parametrization": "linear", "form": "natural", "noise": "gaussian"}


@pytest.fixture(scope="module")
def data():
    return simulate(800, 6, "ER", 1, random_state=720)


def test_every_candidate_has_a_pvalue_and_edges_are_the_small_ones(data):
    found = recover_dag(data.X, data.order)
    tested = full_dag(data.order).astype(bool)
    assert np.array_equal(np.isnan(found.pvalues), ~tested)
    assert ((found.pvalues[tested] >= 0) & (found.pvalues[tested] <= 1)).all()
    assert np.array_equal(found.adjacency == 1, np.nan_to_num(found.pvalues, nan=1.0) < 0.001)


def test_fewer_errors_than_given_all_predecessors():
    shd = np.zeros(2)
    for seed in range(6):
        table = simulate(500, 7, "ER", 2, random_state=730 + seed)
        for i, selection in enumerate(("likelihood", "likelihood-full")):
            graph = recover_dag(table.X, table.order, selection=selection, **GAUSSIAN).adjacency
            shd[i] += metrics.shd(graph, table.adjacency)
    assert shd[0] < shd[1]


def test_a_null_pair_is_rarely_an_edge():
    # Ninety-six pairs that are no edges; at 0.01, more than eight would be a surprise below one in a thousand even if
    # selection tripled the rate.
    wrong = 0
    for seed in range(16):
        X = np.random.default_rng(seed).normal(size=(300, 4))
        wrong += int(recover_dag(X, range(4), alpha=0.01).adjacency.sum())
    assert wrong <= 8


@pytest.mark.parametrize("settings", [GAUSSIAN, {}], ids=["gaussian", "auto"])
def test_very_many_rows_are_sampled_and_give_the_same_edges(settings, monkeypatch):
    X = simulate(4000, 6, "ER", 1, random_state=721)
    whole = recover_dag(X.X, X.order, **settings)
    monkeypatch.setattr(stepwise, "LEVELS", (2000,))
    monkeypatch.setattr(stepwise, "MECHANISM_LEVELS", (2000,))
    sampled = recover_dag(X.X, X.order, **settings)
    assert metrics.shd(sampled.adjacency, X.adjacency) <= metrics.shd(whole.adjacency, X.adjacency) + 1
    assert not np.array_equal(whole.pvalues, sampled.pvalues, equal_nan=True)
    assert np.array_equal(np.isnan(sampled.pvalues), np.isnan(whole.pvalues))


def test_location_scale_tells_mean_from_spread():
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=(2, 1500))
    y = 0.5 * w + np.exp(0.5 * x) * rng.normal(size=1500)
    found = recover_dag(np.column_stack([x, w, y]), [0, 1, 2], form="location-scale")
    assert found.adjacency[[0, 1], 2].tolist() == [1, 1]
    assert found.details["variance_pvalues"][0, 2] < 1e-6 < found.details["mean_pvalues"][0, 2]
    assert found.details["mean_pvalues"][1, 2] < 1e-6 < found.details["variance_pvalues"][1, 2]


def test_residuals_far_from_normal_are_tested_given_all_predecessors():
    rng = np.random.default_rng(2)
    X = rng.exponential(size=(600, 3)) ** 2
    X[:, 2] += X[:, 0]
    plain = recover_dag(X, [0, 1, 2], **GAUSSIAN).pvalues
    full = recover_dag(X, [0, 1, 2], selection="likelihood-full", **GAUSSIAN).pvalues
    assert np.array_equal(plain, full, equal_nan=True)


@pytest.mark.parametrize(
    ("promise", "wald", "hold", "nats"),
    [
        (7.6, 5.0, True, 7.6),
        (3.0, 15.6, True, 15.6),
        (7.6, 5.0, False, 37.3),
        (60.0, 5.0, True, 37.3),
        (45.0, 44.0, True, 37.3),
    ],
)
def test_tests_that_hold_bound_the_evidence_for_an_edge_unless_they_are_certain(promise, wald, hold, nats):
    """Losses of models of exponential noise differ by 37.3 nats, whichever of the two models is the current one."""
    models = {
        (2, (0,)): SimpleNamespace(key=(2, (0,)), loss=137.3, contributions=np.array([100.0])),
        (2, (0, 1)): SimpleNamespace(key=(2, (0, 1)), loss=100.0, contributions=np.array([90.0, wald])),
    }
    scores = SimpleNamespace(at_hand=models.get, gains=lambda key: np.array([0.0, promise, 0.0]), tests_hold=hold)
    assert stepwise._gain(scores, 2, (0,), 1) == pytest.approx(nats)
    assert stepwise._gain(scores, 2, (0, 1), 1) == pytest.approx(nats)


def test_evidence_is_estimated_where_a_model_is_unknown():
    small = SimpleNamespace(key=(2, (0,)), loss=137.3, contributions=np.array([100.0]))
    scores = SimpleNamespace(
        at_hand={(2, (0,)): small}.get, gains=lambda key: np.array([0.0, 4.5, 0.0]), tests_hold=False
    )
    assert stepwise._gain(scores, 2, (0,), 1) == 4.5  # the score test
    assert stepwise._gain(scores, 2, (0,), 0) == 100.0  # Wald's


def test_a_parent_of_a_long_table_enters_only_if_its_score_test_asks_for_it():
    entry = {hold: ParentChoices(SimpleNamespace(d=20, tests_hold=hold), 6.9).entry for hold in (False, True)}
    assert entry == {False: pytest.approx(np.log(20) + 0.7), True: 6.9}
