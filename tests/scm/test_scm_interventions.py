"""Causal models of tables with experiments: a mechanism is that of the rows in which nothing was done to its variable."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from heterodag import HOST, HeterodagError, HeteroscedasticSCM, Interventions, simulate

GRAPH = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])


def chain(seed=0, n=600, per=200):
    """a -> b -> c, slope 1; in the last rows b was set to about 5, and the rows before have c shifted by 3."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=(3, n))
    b += a
    b[-per:] = 5 + 0.1 * rng.normal(size=per)
    c += b
    c[-2 * per : -per] += 3.0
    condition = np.repeat(["none", "shift", "set"], [n - 2 * per, per, per])
    return pd.DataFrame({"a": a, "b": b, "c": c}), condition


def test_mechanisms_are_those_of_rows_in_which_their_variable_was_not_set():
    X, condition = chain()
    fixed = np.zeros(X.shape, dtype=bool)
    fixed[condition == "set", 1] = True
    told = HeteroscedasticSCM.from_dag(GRAPH, X, interventions=fixed)
    own = HeteroscedasticSCM.from_dag(GRAPH, X[:400])
    at = np.array([[0.0], [1.0]])
    np.testing.assert_allclose(told.mechanisms[1].moments(at), own.mechanisms[1].moments(at), rtol=1e-8)
    whole = HeteroscedasticSCM.from_dag(GRAPH, X)
    np.testing.assert_allclose(told.mechanisms[2].moments(at), whole.mechanisms[2].moments(at), rtol=1e-8)
    assert abs(whole.mechanisms[1].moments(at)[0][0] - told.mechanisms[1].moments(at)[0][0]) > 0.5


def test_with_shifts_the_mechanism_is_that_of_the_reference():
    X, condition = chain()
    X, condition = X[:400], condition[:400]
    for targets in ({"none": None, "shift": "c"}, {"none": None, "shift": "unknown"}):
        scm = HeteroscedasticSCM.from_dag(GRAPH, X, interventions=Interventions(condition, targets, kind="shift"))
        mean, sd = scm.mechanisms[2].moments(np.array([[0.0], [1.0]]))
        np.testing.assert_allclose(mean, [0.0, 1.0], atol=0.3)
        np.testing.assert_allclose(sd, 1.0, atol=0.2)


def test_a_learned_model_uses_only_those_conditions_that_were_found_to_act():
    X, condition = chain(n=900, per=300)
    frame = X[:600].assign(batch=condition[:600])
    told = Interventions("batch", {"none": None, "shift": "unknown"})
    model = HOST().fit(frame, interventions=told)
    assert model.targets_.set_index("variable")["acts"].to_dict() == {"a": False, "b": False, "c": True}
    scm = HeteroscedasticSCM.from_host(model, frame, interventions=told)
    assert scm.names == ["a", "b", "c"]
    root = next(j for j in range(3) if not scm.adjacency[:, j].any())
    assert scm.mechanisms[root].location[-1] == pytest.approx(X.iloc[:600, root].mean())  # of all rows
    children = [j for j in range(3) if j == 2]
    assert abs(scm.sample(4000, random_state=0).iloc[:, children].to_numpy().mean()) < 0.5


def test_too_few_rows_of_the_reference_are_refused():
    X, _ = chain()
    condition = np.array(["none"] * 5 + ["shift"] * 595)
    told = Interventions(condition, {"none": None, "shift": "c"}, kind="shift")
    with pytest.raises(HeterodagError, match="'c' was neither set nor changed in 5 row"):
        HeteroscedasticSCM.from_dag(GRAPH, X, interventions=told)


def test_effects_learned_with_experiments_are_those_of_the_simulation():
    data = simulate(2000, 4, degree=1, mechanism="straight", random_state=3, interventions=100)
    scm = HeteroscedasticSCM.from_dag(data.adjacency, data.X, interventions=data.interventions)
    plain = HeteroscedasticSCM.from_dag(
        data.adjacency, simulate(2000, 4, degree=1, mechanism="straight", random_state=3).X
    )
    for cause, effect in np.argwhere(data.adjacency):
        a, b = (
            model.effect(int(cause), int(effect), (0.0, 1.0), random_state=0).loc["mean"] for model in (scm, plain)
        )
        assert abs(a["difference"] - b["difference"]) < 0.15
