"""Splines in both predictors: curves are found, stay away where there are none, and nothing depends on units."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import stats

from heterodag import causal_order, metrics, simulate
from heterodag.core.gaussian import FORMS, LOCATION_SCALE, NATURAL
from heterodag.core.table import Table
from heterodag.scores import curves
from heterodag.scores.curves import CurveFitter
from heterodag.scores.fit import Effort
from heterodag.scores.lines import LineFitter

both_forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
KEY = (2, (0, 1))


def curved_data(seed, n=1500):
    """x0 moves mean and spread of x2 along curves, x1 does nothing."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 2))
    mean, scale = np.sin(2 * x[:, 0]), np.exp(0.5 * np.cos(2 * x[:, 0]))
    return np.column_stack([x, mean + scale * rng.standard_normal(n)]), mean, scale


def fit_one(form, table, key=KEY, effort=Effort.FINAL, start=None):
    return CurveFitter(form).fit(table, [key], [start], effort)[0]


def test_curves_of_mean_and_spread_are_found():
    X, mean, scale = curved_data(0)
    table = Table.standardize(X)
    fit = fit_one(LOCATION_SCALE, table)
    mu, sigma = (
        part[0] * table.scale[2] for part in LOCATION_SCALE.mean_and_scale(*fit.predictors(table, slice(None)))
    )
    # A constant would be off by about 0.7 and 0.35.
    assert np.sqrt(np.mean((mu + table.location[2] - mean) ** 2)) < 0.12
    assert np.sqrt(np.mean((np.log(sigma) - np.log(scale)) ** 2)) < 0.12
    assert np.isfinite(fit.strengths[:, 0]).all()
    assert fit.basis.widths[0] > 4


def test_with_more_rows_than_a_sample_holds_the_curves_are_the_same(monkeypatch):
    table = Table.standardize(curved_data(6, n=3000)[0])
    direct = fit_one(LOCATION_SCALE, table)
    seen, coarse = [], curves._coarse_start
    monkeypatch.setattr(curves, "_COARSE_ROWS", 1000)
    monkeypatch.setattr(curves, "_coarse_start", lambda *a: seen.append(a[0].design.n_rows) or coarse(*a))
    sampled = fit_one(LOCATION_SCALE, table)
    assert set(seen) == {3000}
    assert sampled.loss == pytest.approx(direct.loss, abs=3.0)


@both_forms
def test_few_curves_join_linear_data(form):
    rng = np.random.default_rng(1)
    joined = 0
    for _ in range(10):
        x = rng.standard_normal((400, 2))
        y = x[:, 0] + np.exp(0.3 * x[:, 1]) * rng.standard_normal(400)
        fit = fit_one(form, Table.standardize(np.column_stack([x, y])))
        joined += int(np.isfinite(fit.strengths).any(axis=0).sum())
    # Natural form needs a curve where location-scale form has a line; noise alone should rarely bring one.
    assert joined <= (12 if form is NATURAL else 6)


@both_forms
def test_without_curves_a_model_is_that_of_lines(form):
    rng = np.random.default_rng(11)
    same = 0
    for _ in range(10):
        x = rng.standard_normal((300, 2))
        table = Table.standardize(np.column_stack([x, rng.standard_normal(300)]))
        fit, (line,) = fit_one(form, table), LineFitter(form).fit(table, [KEY], [None], Effort.FINAL)
        if fit.basis.widths == (1, 1):
            assert fit.loss == pytest.approx(line.loss, abs=1e-6)
            np.testing.assert_allclose(fit.theta, line.theta, atol=1e-6)
            same += 1
    assert same >= 7


def test_the_loss_of_curves_is_lower_than_that_of_lines_where_there_are_curves():
    table = Table.standardize(curved_data(7)[0])
    (line,) = LineFitter(LOCATION_SCALE).fit(table, [KEY], [None], Effort.FINAL)
    assert fit_one(LOCATION_SCALE, table).loss < line.loss - 200


def test_residuals_given_the_true_parents_are_standard_normal():
    table = Table.standardize(curved_data(8, n=3000)[0])
    U = fit_one(LOCATION_SCALE, table).residuals(table)
    assert stats.shapiro(U).statistic > 0.998
    assert U.std() == pytest.approx(1.0, abs=0.04)
    x, y = table.take([0, 2])
    wave, spread = np.sin(2 * x), np.cos(2 * x)
    assert abs(np.corrcoef(U, wave)[0, 1]) < 0.05 < 0.3 < abs(np.corrcoef(y, wave)[0, 1])
    assert abs(np.corrcoef(U**2, spread)[0, 1]) < 0.05 < 0.2 < abs(np.corrcoef((y - y.mean()) ** 2, spread)[0, 1])


def test_an_unseen_outlier_does_not_explode():
    table = Table.standardize(curved_data(2)[0])
    fit = fit_one(LOCATION_SCALE, table)
    far = Table.with_scaling(np.array([[8.0, 0.0, 0.0], [-8.0, 0.0, 0.0]]), table.location, table.scale)
    A, s, _ = fit.predictors(far, slice(None))
    assert np.abs(A).max() < 30
    assert np.abs(s).max() < 30


@both_forms
def test_residuals_do_not_depend_on_units_and_signs(form):
    X = curved_data(9, n=600)[0]
    table, other = Table.standardize(X), Table.standardize(X * [-1e3, 0.01, -4.0] + [5.0, 0.0, -7.0])
    plain, moved = fit_one(form, table), fit_one(form, other)
    assert moved.basis.widths == plain.basis.widths
    assert moved.loss == pytest.approx(plain.loss, abs=1e-3)
    np.testing.assert_allclose(moved.residuals(other), -plain.residuals(table), atol=1e-3)


@both_forms
def test_order_by_splines_does_not_depend_on_units_and_signs(form):
    rng = np.random.default_rng(3)
    X = simulate(300, 4, degree=1, mechanism="nonlinear", random_state=3).X
    other = X * (10 ** rng.uniform(-3, 3, 4) * rng.choice([-1, 1], 4)) + rng.normal(size=4)
    one, two = (causal_order(table, parametrization="spline", form=str(form)) for table in (X, other))
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


@both_forms
def test_a_model_goes_on_from_a_smaller_one(form):
    table = Table.standardize(curved_data(4, n=600)[0])
    first = fit_one(form, table, (2, (0,)), Effort.SEARCH)
    assert first.basis.widths[0] > 1
    second = fit_one(form, table, KEY, Effort.SEARCH, first)
    fresh = fit_one(form, table, KEY, Effort.SEARCH)
    assert second.parents == (0, 1)
    assert second.loss == pytest.approx(fresh.loss, abs=0.02 * 600)
    # It takes the curves over: with hardly a step it is nearly as good as the smaller one.
    quick = fit_one(form, table, KEY, Effort.ROUND, first)
    assert quick.loss < first.loss + 12


def test_contributions_tell_who_matters():
    table = Table.standardize(curved_data(5)[0])
    fit = fit_one(LOCATION_SCALE, table)
    without = fit_one(LOCATION_SCALE, table, (2, (1,)))
    assert fit.contributions[0] > 100 > 10 > abs(fit.contributions[1])
    # What is left stays as it was, so a contribution is no less than the fall of the loss (curves are priced there).
    assert fit.contributions[0] > without.loss - fit.loss


def test_gains_see_curves_that_lines_do_not():
    rng = np.random.default_rng(10)
    x = rng.normal(size=(800, 3))
    y = np.cos(2 * x[:, 0]) + np.exp(0.4 * np.cos(2 * x[:, 1])) * rng.normal(size=800)
    table = Table.standardize(np.column_stack([x, y]))
    fitters = CurveFitter(LOCATION_SCALE), LineFitter(LOCATION_SCALE)
    by_curves, by_lines = (f.gains(table, f.fit(table, [(3, ())], [None], Effort.SEARCH))[0] for f in fitters)
    assert by_curves[:2].min() > 10
    assert by_curves[2] < 5
    assert by_lines[:3].max() < 5


def test_batches_hold_everything_once():
    keys = [(j, ()) for j in range(11)]
    batches = list(CurveFitter(NATURAL).batches(None, keys))
    assert [key for batch in batches for key in batch] == keys
    assert max(map(len, batches)) <= 4


def test_a_large_table_is_fitted_within_bounded_memory():
    X = curved_data(12, n=100_000)[0]
    tracemalloc.start()
    try:
        fit = fit_one(LOCATION_SCALE, Table.standardize(np.column_stack([X, X])), effort=Effort.ROUND)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert fit.converged
    # Both parents' bases are 32 MB on all rows; products of their columns would be 700 MB.
    assert peak < 250e6
