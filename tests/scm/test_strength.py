"""Strengths of edges: against known slopes, invariances, gradients, and the coverage of their intervals."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from heterodag import HOST, HeteroscedasticSCM, Interventions
from heterodag.io.exports import STRENGTHS
from heterodag.scm.mechanism import first_parents, mechanism_of
from heterodag.scm.strength import _weighted, edge_strengths
from heterodag.scores.make import score_settings

GRAPH = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]])


def two_causes(n, seed, curved=False, noise="normal"):
    """Return a table in which a moves the mean of c by 1.5 and b by -0.5, and a moves its log spread by 0.4."""
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal(n), 3.0 * rng.standard_normal(n) + 10.0
    e = rng.standard_normal(n) if noise == "normal" else rng.exponential(size=n) - 1.0
    mean = (np.sin(1.5 * a) if curved else 1.5 * a) - 0.5 * b
    return pd.DataFrame({"a": a, "b": b, "c": mean + np.exp(0.4 * a) * e}), mean


def strengths(frame, **settings):
    scm = HeteroscedasticSCM.from_dag(GRAPH, frame, **settings)
    return scm.strengths(frame).set_index("cause")


def test_straight_lines_have_their_slopes():
    frame, _ = two_causes(20_000, 0)
    found, sd = strengths(frame), frame.std(ddof=0)
    assert found.loc["a", "mean_change"] == pytest.approx(1.5 * sd["a"], rel=0.03)
    assert found.loc["b", "mean_change"] == pytest.approx(-0.5 * sd["b"], rel=0.03)
    assert found.loc["a", "mean_effect"] == pytest.approx(1.5 * sd["a"] / sd["c"], rel=0.03)
    assert found.loc["a", "spread_effect"] == pytest.approx(np.exp(0.4 * sd["a"]), rel=0.03)
    assert found.loc["b", "spread_effect"] == pytest.approx(1.0, abs=0.03)
    width = np.quantile(frame["a"], 0.975) - np.quantile(frame["a"], 0.025)
    assert found.loc["a", "mean_range"] == pytest.approx(1.5 * width / sd["c"], rel=0.03)
    assert found.loc["a", "spread_range"] == pytest.approx(np.exp(0.4 * width), rel=0.06)


def test_a_curve_that_returns_has_a_range_and_no_slope():
    rng = np.random.default_rng(1)
    x = rng.uniform(-2, 2, 3000)
    frame = pd.DataFrame({"x": x, "y": x**2 + 0.3 * rng.standard_normal(3000)})
    found = HeteroscedasticSCM.from_dag(np.array([[0, 1], [0, 0]]), frame).strengths(frame).iloc[0]
    assert abs(found["mean_effect"]) < 0.05
    assert found["mean_effect_lower"] < 0.0 < found["mean_effect_upper"]
    assert found["mean_range"] * frame["y"].std() == pytest.approx(1.9**2, rel=0.06)


@pytest.mark.parametrize("form", ["location-scale", "natural"])
@pytest.mark.parametrize("parametrization", ["linear", "spline"])
def test_units_change_what_has_units_only(form, parametrization):
    frame, _ = two_causes(500, 2)
    moved = frame * [-2.0, 5.0, 10.0] + [7.0, -3.0, 100.0]
    plain = strengths(frame, form=form, parametrization=parametrization, noise="gaussian")
    other = strengths(moved, form=form, parametrization=parametrization, noise="gaussian")
    np.testing.assert_allclose(other.loc["b", "mean_effect"], plain.loc["b", "mean_effect"], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(other.loc["b", "mean_change"], 10.0 * plain.loc["b", "mean_change"], rtol=1e-3)
    for name in ("mean_range", "spread_range"):
        np.testing.assert_allclose(other.loc["a", name], plain.loc["a", name], rtol=2e-3)
    # The cause whose sign changed: slopes turn round, factors become their inverse, and so do the intervals.
    np.testing.assert_allclose(other.loc["a", "mean_effect"], -plain.loc["a", "mean_effect"], rtol=1e-3)
    np.testing.assert_allclose(other.loc["a", "spread_effect"], 1.0 / plain.loc["a", "spread_effect"], rtol=1e-3)
    np.testing.assert_allclose(
        other.loc["a", "spread_effect_lower"], 1.0 / plain.loc["a", "spread_effect_upper"], rtol=2e-3
    )


@pytest.mark.parametrize("form", ["location-scale", "natural"])
@pytest.mark.parametrize("parametrization", ["linear", "spline"])
def test_gradients_are_those_of_the_slopes(form, parametrization):
    frame, _ = two_causes(300, 3)
    scm = HeteroscedasticSCM.from_dag(GRAPH, frame, form=form, parametrization=parametrization, noise="gaussian")
    mechanism, rows = scm.mechanisms[2], frame[["a", "b"]].to_numpy()
    # Away from the rows with the most extreme spreads, where the model holds it.
    inner = np.tile(np.median(rows, axis=0), (9, 1))
    inner[:, 0] = np.linspace(-0.8, 0.8, 9)
    weights = np.linspace(-1.0, 1.0, 9)
    _, gradients = _weighted(mechanism, inner, weights)
    for k in np.flatnonzero(np.abs(gradients).max(axis=0) > 1e-6):
        step = np.zeros(len(mechanism.theta))
        step[k] = 1e-5
        above, below = (
            _weighted(mechanism.with_theta(mechanism.theta + s), inner, weights)[0] for s in (step, -step)
        )
        np.testing.assert_allclose(gradients[:, k], (above - below) / 2e-5, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(("curved", "noise"), [(False, "normal"), (False, "exponential"), (True, "normal")])
def test_intervals_cover_the_true_slopes(curved, noise):
    runs, hits = 60, {"mean": 0, "spread": 0}
    for seed in range(runs):
        frame, mean = two_causes(300, 100 + seed, curved, noise)
        # The intervals are about the line closest to the true mean on these rows.
        a = frame["a"] - frame["a"].mean()
        true = float(a @ (mean + 0.5 * frame["b"]) / (a @ a)) * frame["a"].std(ddof=0) / frame["c"].std(ddof=0)
        found = strengths(frame, form="location-scale").loc["a"]
        hits["mean"] += found["mean_effect_lower"] <= true <= found["mean_effect_upper"]
        factor = np.exp(0.4 * frame["a"].std(ddof=0))
        hits["spread"] += found["spread_effect_lower"] <= factor <= found["spread_effect_upper"]
    # Sandwich intervals at n = 300 cover somewhat less than they say: 0.95 is tested with a little slack below.
    least = binom.ppf(1e-3, runs, 0.92)
    assert min(hits.values()) >= least, hits


def test_a_fit_of_host_has_the_same_strengths_as_its_causal_model():
    frame, _ = two_causes(600, 4)
    model = HOST().fit(frame)
    edges = model.edges().set_index(["cause", "effect"])
    own = model.to_scm().strengths(frame).set_index(["cause", "effect"])
    names = [name for name in STRENGTHS if name != "share"]
    pd.testing.assert_frame_equal(edges.sort_index()[names], own.sort_index()[names])
    assert list(own.index) == [("a", "c"), ("b", "c")]
    assert (edges["share"] > 0).all()
    assert (edges["share"] <= 1).all()
    graph = model.to_networkx()
    assert graph.edges["a", "c"]["mean_effect"] == edges.loc[("a", "c"), "mean_effect"]


def test_the_causal_model_of_a_fit_needs_no_table():
    frame, _ = two_causes(600, 5)
    model = HOST().fit(frame)
    own, fitted = model.to_scm(), HeteroscedasticSCM.from_host(model, frame)
    assert own.names == fitted.names
    difference = own.log_likelihood(frame).sum() - fitted.log_likelihood(frame).sum()
    assert abs(difference) < 5.0  # curves in natural form stand for election in one of the two only


def test_conditions_at_zero_are_the_reference():
    """A shift is a parent of the model; the causal model of the fit has it at 0."""
    rng = np.random.default_rng(6)
    frame, _ = two_causes(600, 6)
    condition = rng.integers(0, 2, 600)
    frame["c"] += 4.0 * condition
    told = Interventions(np.where(condition == 1, "shifted", "plain"), {"plain": None, "shifted": ["c"]}, "shift")
    model = HOST().fit(frame, interventions=told)
    mechanism = model.to_scm().mechanisms[2]
    assert mechanism.parents == (0, 1)
    mean, _ = mechanism.moments(np.array([[0.0, 10.0]]))
    assert abs(mean[0] + 5.0) < 0.3  # with the shift it would be -1


@pytest.mark.parametrize("settings", [("linear", "natural"), ("spline", "location-scale"), ("spline", "natural")])
def test_fewer_parents_predict_as_all_with_the_others_at_zero(settings):
    frame, _ = two_causes(400, 7)
    frame["b"] -= 10.0
    X = frame.to_numpy()
    scores = score_settings(*settings).make(X, np.random.SeedSequence(0))
    fit = scores.fits([(2, (0, 1))])[0]
    whole = mechanism_of(fit, scores.table)
    part = first_parents(whole, 1)
    rows = np.column_stack([X[:50, 0], np.zeros(50)])
    for wanted, found in zip(whole._predictors(rows)[:2], part._predictors(rows[:, :1])[:2], strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
    assert part.covariance.shape == (len(part.theta),) * 2
    ours = edge_strengths(part, X[:, :1])
    assert all(len(values) == 1 for values in ours.values())
