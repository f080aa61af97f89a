"""Splines in both predictors: curves are found, stay away where there are none, and nothing depends on units."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag import causal_order, metrics, simulate
from heterodag.core.gaussian import FORMS, mean_and_scale
from heterodag.core.table import Table
from heterodag.models.conditional import ConditionalModel, order_ridge
from heterodag.models.spline import spline_of


def curved_data(seed, n=1500):
    """x0 moves mean and spread of x2 along curves, x1 does nothing."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 2))
    mean, scale = np.sin(2 * x[:, 0]), np.exp(0.5 * np.cos(2 * x[:, 0]))
    return np.column_stack([x, mean + scale * rng.standard_normal(n)]), mean, scale


def test_curves_of_mean_and_spread_are_found():
    X, mean, scale = curved_data(0)
    table = Table.standardize(X)
    fit = ConditionalModel("spline", "location-scale", 0.1).fit(table, [0, 1], [2])
    mu, sigma = (
        part[0] * table.scale[2] for part in mean_and_scale("location-scale", *fit.predictors(table, slice(None)))
    )
    # A constant would be off by about 0.7 and 0.35.
    assert np.sqrt(np.mean((mu + table.location[2] - mean) ** 2)) < 0.12
    assert np.sqrt(np.mean((np.log(sigma) - np.log(scale)) ** 2)) < 0.12
    assert np.isfinite(fit.strengths[:, 0, 0]).all()


@pytest.mark.parametrize("form", FORMS)
def test_few_curves_join_linear_data(form):
    rng = np.random.default_rng(1)
    joined = 0
    for _ in range(10):
        x = rng.standard_normal((400, 2))
        y = x[:, 0] + np.exp(0.3 * x[:, 1]) * rng.standard_normal(400)
        fit = ConditionalModel("spline", form, 0.3).fit(Table.standardize(np.column_stack([x, y])), [0, 1], [2])
        joined += int(np.isfinite(fit.strengths).any(axis=0).sum())
    # Natural form needs a curve where location-scale form has a line; noise alone should rarely bring one.
    assert joined <= (12 if form == "natural" else 6)


def test_an_unseen_outlier_does_not_explode():
    X, _, _ = curved_data(2)
    table = Table.standardize(X)
    fit = ConditionalModel("spline", "location-scale", 0.1).fit(table, [0, 1], [2])
    far = Table.with_scaling(np.array([[8.0, 0.0, 0.0], [-8.0, 0.0, 0.0]]), table.location, table.scale)
    A, s, _ = fit.predictors(far, slice(None))
    assert np.abs(A).max() < 30
    assert np.abs(s).max() < 30


@pytest.mark.parametrize("form", FORMS)
def test_order_by_splines_does_not_depend_on_units_and_signs(form):
    rng = np.random.default_rng(3)
    X = simulate(300, 4, degree=1, mechanism="nonlinear", random_state=3).X
    other = X * (10 ** rng.uniform(-3, 3, 4) * rng.choice([-1, 1], 4)) + rng.normal(size=4)
    one, two = (causal_order(table, parametrization="spline", form=form) for table in (X, other))
    assert one.order.tolist() == two.order.tolist()
    np.testing.assert_allclose(two.scores, one.scores, atol=1e-4)


def test_splines_order_nonlinear_tables_better():
    found = {"linear": 0, "spline": 0}
    for seed in range(3):
        data = simulate(1000, 6, "SF", 1, "nonlinear", random_state=seed)
        for name in found:
            order = causal_order(data.X, parametrization=name).order
            found[name] += metrics.order_divergence(order, data.adjacency)
    assert found["spline"] <= found["linear"]


def test_a_round_goes_on_from_the_previous_one():
    X, _, _ = curved_data(4, n=600)
    table, model = Table.standardize(X), ConditionalModel("spline", "natural", order_ridge(600))
    first = model.fit(table, [0], [1, 2])
    second = model.proceed(table, first, [0, 1], [2])
    fresh = model.fit(table, [0, 1], [2])
    assert second.predecessors == (0, 1)
    assert second.objective[0] == pytest.approx(fresh.objective[0], abs=0.02)


def test_the_basis_of_a_column_is_found_once_per_table():
    table = Table.standardize(np.random.default_rng(5).standard_normal((300, 2)))
    assert spline_of(table, 1) is spline_of(table, 1)
    assert spline_of(table, 0)(table.take([0])[0]).shape == (spline_of(table, 0).width, 300)
