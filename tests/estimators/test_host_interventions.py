"""HOST on tables with experiments: directions that observation cannot tell, shifts, unknown targets, invariances."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from heterodag import HOST, Interventions, PriorKnowledge, causal_order, metrics, recover_dag, simulate
from heterodag.core.graph import topological_order
from heterodag.knowledge.study import read_study

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def linear_world(seed, d=6, n=300, per=40, shift=None):
    """A linear Gaussian world of constant spread; every variable was set, or shifted by `shift` SDs, in `per` rows."""
    rng = np.random.default_rng(seed)
    place = rng.permutation(d)
    adjacency = np.triu(rng.random((d, d)) < 0.4, 1)[np.ix_(place, place)].astype(np.int8)
    weights = adjacency * rng.uniform(0.7, 1.3, (d, d)) * rng.choice([-1, 1], (d, d))
    condition = np.concatenate([np.zeros(n, dtype=int), np.repeat(np.arange(1, d + 1), per)])
    fixed = condition[:, None] == np.arange(1, d + 1)
    X = np.zeros(fixed.shape)
    for j in topological_order(adjacency):
        noise = rng.normal(size=len(X))
        X[:, j] = X @ weights[:, j] + noise
        X[:, j] = np.where(fixed[:, j], noise, X[:, j]) if shift is None else X[:, j] + shift * fixed[:, j]
    return X, adjacency, fixed, condition


# --- perfect interventions ----------------------------------------------------------------------------------


def test_interventions_tell_directions_that_observation_cannot():
    with_them, without = [], []
    for seed in range(1000, 1005):
        X, adjacency, fixed, _ = linear_world(seed)
        model = HOST().fit(X, interventions=fixed)
        with_them.append(metrics.order_divergence(model.order_, adjacency))
        without.append(metrics.order_divergence(HOST().fit(X[:300]).order_, adjacency))
        edges = model.edges()
        assert (edges["direction_nats"] > 9).all()
        assert (edges["interventional_nats"] / edges["direction_nats"]).median() > 0.8
        np.testing.assert_array_equal(model.rows_, 540 - 40)
        np.testing.assert_array_equal(model.mechanisms_["rows"], 500)
    assert sum(with_them) == 0
    assert sum(without) >= 5


def test_mixing_the_rows_in_without_saying_so_is_worse():
    told, mixed = 0, 0
    for seed in range(1000, 1005):
        X, adjacency, fixed, _ = linear_world(seed, per=100)
        told += metrics.shd(HOST().fit(X, interventions=fixed).adjacency_, adjacency)
        mixed += metrics.shd(HOST().fit(X).adjacency_, adjacency)
    assert told < mixed


def test_a_condition_without_effect_that_is_called_an_intervention_costs_only_rows_where_directions_can_be_seen():
    """In linear Gaussian tables it does harm: what was not set points to its causes then (docs/experiments.md)."""
    with_wrong, without_rows = 0, 0
    for seed in range(1010, 1015):
        data = simulate(600, 6, degree=1, mechanism="curved", spread="straight", random_state=seed)
        fixed = np.zeros(data.X.shape, dtype=bool)
        fixed[500:, 2] = True  # nothing was done to it in truth
        with_wrong += metrics.shd(HOST().fit(data.X, interventions=fixed).adjacency_, data.adjacency)
        without_rows += metrics.shd(HOST().fit(data.X[:500]).adjacency_, data.adjacency)
    assert with_wrong <= without_rows + 2


def test_the_mask_of_nothing_changes_nothing():
    X = linear_world(3)[0]
    plain, told = HOST().fit(X), HOST().fit(X, interventions=np.zeros(X.shape, dtype=bool))
    for name in ("order_", "adjacency_", "pvalues_", "scores_", "direction_nats_", "rows_"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(told, name))
    assert not hasattr(told, "interventional_nats_")


def test_without_interventions_nothing_is_said_of_them():
    model = HOST().fit(linear_world(3)[0])
    assert "interventional_nats" not in model.edges()
    assert not hasattr(model, "targets_")
    np.testing.assert_array_equal(model.rows_, 540)


def test_what_an_earlier_fit_knew_of_interventions_is_forgotten():
    X, _, fixed, condition = linear_world(4)
    model = HOST().fit(X, interventions=fixed)
    assert hasattr(model, "interventional_nats_")
    model.fit(X, interventions=Interventions(condition, dict.fromkeys(range(1, 7), "unknown") | {0: None}))
    assert hasattr(model, "targets_")
    model.fit(X)
    assert not hasattr(model, "interventional_nats_")
    assert not hasattr(model, "targets_")


def test_knowledge_and_interventions_are_obeyed_together():
    X, adjacency, fixed, _ = linear_world(1001)
    cause, effect = np.argwhere(adjacency)[0].tolist()
    known = PriorKnowledge(required=[(effect, cause)])  # against the truth, but obeyed
    model = HOST(prior_knowledge=known).fit(X, interventions=fixed)
    assert model.adjacency_[effect, cause]
    assert np.isinf(model.direction_nats_[effect, cause])
    assert model.interventional_nats_[effect, cause] == 0.0


# --- shifts and unknown targets -----------------------------------------------------------------------------


def test_unknown_targets_are_found_where_noise_has_edges():
    """Exponential noise ends sharply: the bonus of variables without parents for such edges must not hide a shift."""
    found = 0
    for seed in range(3):
        data = simulate(
            700,
            4,
            degree=1,
            mechanism="straight",
            noise="exponential",
            random_state=seed,
            interventions=50,
            shift=1.0,
        )
        condition = np.where(data.interventions.any(axis=1), data.interventions.argmax(axis=1) + 1, 0)
        told = Interventions(condition, {k: "unknown" if k else None for k in range(5)})
        acts = HOST().fit(data.X, interventions=told).targets_["acts"].to_numpy().reshape(4, 4)
        found += int(np.diag(acts).sum())
        assert acts.sum() - np.diag(acts).sum() <= 1
    assert found >= 11


def test_unknown_targets_are_found_and_all_else_is_about_the_variables():
    right, wrong, d = 0, 0, 6
    for seed in range(1000, 1004):
        X, _, _, condition = linear_world(seed, per=60, shift=1.0)
        targets = {k: "unknown" if k else None for k in range(d + 1)}
        model = HOST().fit(pd.DataFrame(X, columns=list("abcdef")), interventions=Interventions(condition, targets))
        acting = model.targets_[model.targets_["acts"]]
        pairs = set(zip(acting["condition"], acting["variable"], strict=True))
        truth = {(str(k + 1), "abcdef"[k]) for k in range(d)}
        right += len(pairs & truth)
        wrong += len(pairs - truth)
        assert len(model.targets_) == d * d
        assert (model.targets_["kind"] == "unknown").all()
        np.testing.assert_allclose(model.targets_["pvalue"], np.exp(-model.targets_["nats"]))
        assert sorted(model.order_) == list(range(d))
        assert sorted(j for layer in model.layers_ for j in layer) == list(range(d))
        for name in ("adjacency_", "pvalues_", "nats_", "direction_nats_", "interventional_nats_", "open_"):
            assert getattr(model, name).shape == (d, d)
        assert model.scores_.shape[1] == d
        assert not np.isnan(model.scores_).all(axis=1).any()
        assert not model.mechanisms_["parents"].str.contains("condition").any()
        np.testing.assert_array_equal(model.rows_, len(X))
    assert right >= 0.9 * 4 * d
    assert wrong <= 0.05 * 4 * d * (d - 1)


def test_shifts_tell_directions_too():
    right = 0
    for seed in range(1000, 1005):
        X, adjacency, _, condition = linear_world(seed, per=60, shift=1.5)
        targets = {k: k - 1 if k else None for k in range(7)}
        model = HOST().fit(X, interventions=Interventions(condition, targets, kind="shift"))
        right += metrics.order_divergence(model.order_, adjacency) == 0
        assert (model.targets_["kind"] == "shift").all()
        assert model.targets_["acts"].all()
        assert model.targets_["variable"].tolist() == [f"x{j}" for j in range(6)]
    assert right >= 4


def test_a_condition_that_does_nothing_acts_on_nothing():
    wrong = 0
    for seed in range(1000, 1010):
        data = simulate(500, 5, degree=1, mechanism="curved", spread="straight", random_state=seed)
        condition = np.repeat([0, 1], [420, 80])
        model = HOST().fit(data.X, interventions=Interventions(condition, {0: None, 1: "unknown"}))
        wrong += int(model.targets_["acts"].sum())
    assert wrong <= 2  # of 50; 5 % would be 2.5


# --- invariances --------------------------------------------------------------------------------------------


def fitted(X, told, **options):
    model = HOST(**options).fit(X, interventions=told)
    return model.adjacency_, model.interventional_nats_, model.nats_


def test_the_order_of_the_columns_does_not_matter():
    X, _, fixed, _ = linear_world(1002)
    place = np.random.default_rng(0).permutation(6)
    plain, moved = fitted(X, fixed), fitted(X[:, place], fixed[:, place])
    for a, b in zip(plain, moved, strict=True):
        np.testing.assert_allclose(a[np.ix_(place, place)], b, atol=0.5)
    np.testing.assert_array_equal(plain[0][np.ix_(place, place)], moved[0])


def test_shuffled_rows_with_their_interventions_make_the_same_graph():
    X, _, fixed, _ = linear_world(1003)
    rows = np.random.default_rng(0).permutation(len(X))
    plain, moved = fitted(X, fixed), fitted(X[rows], fixed[rows])
    for a, b in zip(plain, moved, strict=True):
        np.testing.assert_allclose(a, b, atol=0.5)


def test_the_number_of_workers_does_not_matter():
    X, _, fixed, _ = linear_world(1004)
    for a, b in zip(fitted(X, fixed), fitted(X, fixed, n_jobs=2), strict=True):
        np.testing.assert_array_equal(a, b)


# --- the parts of it ----------------------------------------------------------------------------------------


def test_the_functions_agree_with_the_estimator():
    X, _, fixed, condition = linear_world(1001)
    unknown = Interventions(condition, {k: "unknown" if k == 1 else k - 1 if k else None for k in range(7)})
    for told in (fixed, unknown):
        model = HOST().fit(X, interventions=told)
        order = causal_order(X, interventions=told)
        np.testing.assert_array_equal(order.order, model.order_)
        assert order.layers == model.layers_
        found = recover_dag(X, model.order_, interventions=told)
        np.testing.assert_array_equal(found.adjacency, model.adjacency_)
        assert found.pvalues.shape == (6, 6)
        np.testing.assert_array_equal(found.order, model.order_)


@pytest.mark.parametrize("selection", ["partial-correlation", "gam", "gcm", lambda x, y, Z: 1.0 / len(x)])
def test_other_edge_tests_get_the_rows_in_which_the_effect_was_not_set(selection):
    X, adjacency, _, _ = linear_world(1001)
    fixed = np.zeros(X.shape, dtype=bool)
    fixed[450:, 2] = True
    order = topological_order(adjacency)
    found = recover_dag(X, order, selection=selection, interventions=fixed, random_state=0).pvalues
    for rows, into in ((slice(None), [0, 1, 3, 4, 5]), (slice(0, 450), [2])):
        own = recover_dag(X[rows], order, selection=selection, random_state=0).pvalues
        np.testing.assert_array_equal(found[:, into], own[:, into])


def test_latents_are_those_of_the_rows_that_were_not_set():
    X, _, fixed, condition = linear_world(1002)
    model = HOST().fit(X, interventions=fixed)
    U = model.latents(X, interventions=fixed)
    np.testing.assert_array_equal(np.isnan(U), fixed)
    assert abs(np.nanstd(U) - 1.0) < 0.02
    shifted = model.latents(
        X, interventions=Interventions(condition, {k: "unknown" if k else None for k in range(7)})
    )
    assert shifted.shape == X.shape
    assert not np.isnan(shifted).any()


@pytest.mark.parametrize("settings", [{"parametrization": "linear", "form": "natural", "noise": "gaussian"},
                                      {"parametrization": "spline", "form": "natural", "noise": "gaussian"},
                                      {"refine": False, "selection": "gam"}, {"conditioning": "sparse"}])  # fmt: skip
def test_every_kind_of_models_takes_interventions(settings):
    X, adjacency, fixed, condition = linear_world(1000, n=200, per=40)
    model = HOST(**settings).fit(X, interventions=fixed)
    assert metrics.shd(model.adjacency_, adjacency) <= 8
    told = Interventions(condition, {k: "unknown" if k < 2 and k else k - 1 if k else None for k in range(7)})
    assert HOST(**settings).fit(X, interventions=told).adjacency_.shape == (6, 6)


def test_many_rows_are_sampled_with_their_interventions():
    X, adjacency, fixed, _ = linear_world(1000, n=2600, per=60)
    model = HOST().fit(X, interventions=fixed)
    assert metrics.order_divergence(model.order_, adjacency) == 0


def test_conditions_can_be_a_column_of_the_table():
    X, _, fixed, condition = linear_world(1001)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(dose=condition)
    told = Interventions("dose", {k: "abcdef"[k - 1] if k else None for k in range(7)})
    model = HOST().fit(frame, interventions=told)
    assert model.names() == list("abcdef")
    np.testing.assert_array_equal(model.adjacency_, HOST().fit(X, interventions=fixed).adjacency_)
    assert read_study(frame, told, None).d == 6
