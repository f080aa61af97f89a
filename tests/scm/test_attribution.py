"""Where a spread comes from: against closed forms, and by the axioms of Shapley values."""

import numpy as np
import pandas as pd
import pytest

from heterodag import HeteroscedasticSCM, simulate
from heterodag.scm import attribution


def linear_table(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((2, n))
    c = a + b + rng.standard_normal(n)
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": 2 * c + a + rng.standard_normal(n)})


def test_a_linear_model_has_its_closed_form():
    """d = 3 a + 2 b + 2 E_c + E_d: the variance splits into 9, 4, 4 and 1 parts of 18."""
    graph = np.array([[0, 0, 1, 1], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    scm = HeteroscedasticSCM.from_dag(graph, linear_table(), form="location-scale")
    found = scm.attribute_spread("d", n=20_000, random_state=0)
    assert found.index.tolist() == ["a", "b", "c", "d"]
    assert np.allclose(found["share"], np.array([9, 4, 4, 1]) / 18, atol=0.04)
    assert found["share"].sum() == pytest.approx(1.0)


def test_a_cause_of_the_spread_alone_is_found():
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, 3000))
    y = b + np.exp(0.5 * a) * rng.standard_normal(3000)
    graph = pd.DataFrame(0, index=list("aby"), columns=list("aby"))
    graph.loc[["a", "b"], "y"] = 1
    scm = HeteroscedasticSCM.from_dag(graph, pd.DataFrame({"a": a, "b": b, "y": y}), form="location-scale")
    found = scm.attribute_spread("y", random_state=0)
    assert found.loc["a", "log_spread"] == pytest.approx(1.0, abs=0.05)
    assert found.loc["b", "log_spread"] == pytest.approx(0.0, abs=0.05)
    assert np.isnan(found.loc["y", "log_spread"])
    # E[sigma]^2 against Var(sigma): exp(0.25) to exp(0.5) - exp(0.25); a and y share the interaction equally.
    total = 1 + np.exp(0.5)
    assert found.loc["a", "share"] == pytest.approx((np.exp(0.5) - np.exp(0.25)) / 2 / total, abs=0.03)
    assert found.loc["b", "share"] == pytest.approx(1 / total, abs=0.03)


def test_a_root_has_only_itself():
    data = simulate(500, 3, degree=1, random_state=0)
    scm = HeteroscedasticSCM.from_dag(np.zeros((3, 3)), data.X)
    found = scm.attribute_spread(1, random_state=0)
    assert found.index.tolist() == ["x1"]
    assert found["share"].tolist() == [1.0]


def test_sampled_orders_agree_with_all_subsets(monkeypatch):
    scm = HeteroscedasticSCM.from_dag(np.triu(np.ones((4, 4)), 1), linear_table(), form="location-scale")
    exact = scm.attribute_spread("d", n=2000, random_state=0)
    monkeypatch.setattr(attribution, "EXACT", 2)
    sampled = scm.attribute_spread("d", n=2000, random_state=0)
    assert sampled["share"].sum() == pytest.approx(1.0)
    assert np.allclose(sampled["share"], exact["share"], atol=0.05)


def test_shapley_of_a_small_game():
    """A glove game: one left, two right gloves; a pair is worth 1."""
    value = lambda players: float(0 in players and len(players) > 1)  # noqa: E731
    assert np.allclose(attribution.shapley([0, 1, 2], value), [2 / 3, 1 / 6, 1 / 6])
