"""The likelihood-ratio test with splines: its null distribution, its fixed penalty, its power for curves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from heterodag.core.gaussian import FORMS, LOCATION_SCALE, NATURAL
from heterodag.core.table import Table
from heterodag.scores.curves import CurveFitter
from heterodag.scores.drop_one import drop_lines
from heterodag.scores.drop_one_curves import _prepare, _spread_start, drop_curves, null_weights
from heterodag.scores.fit import Effort
from heterodag.scores.spline_design import SplineDesign, basis_width

both_forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
KEY = (2, (0, 1))


def curved(seed, n=400, effect=0.0):
    """Column 0 bends mean and spread of column 2; column 1 follows it along a curve and adds a cosine as asked."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    x = z**2 + 0.5 * rng.normal(size=n)
    y = np.sin(1.5 * z) + 0.6 * z**2 + effect * np.cos(2 * x) + np.exp(0.4 * np.sin(z)) * rng.normal(size=n)
    return Table.standardize(np.column_stack([z, x, y]))


def test_null_weights_are_one_without_a_penalty_and_fall_with_it():
    rng = np.random.default_rng(3)
    root = rng.standard_normal((30, 6))
    information, own = root.T @ root / 30, np.array([1, 4])
    assert null_weights(information, np.zeros(6), own) == pytest.approx([1, 1], abs=1e-6)
    weights = [np.sort(null_weights(information, np.array([0, r, 0, 0, r, 0]), own)) for r in (0.1, 0.5, 5.0)]
    assert (np.diff(weights, axis=0) < 0).all()
    assert (weights[1] < 0.99).all()


def test_null_weights_are_those_of_the_ratio_of_gaussian_models():
    """Least squares with a penalty on some coefficients: the ratio has a known mean, the sum of the weights.

    y ~ N(0, 1), so that the ratio is quadratic in y; with 20,000 draws its mean is known to one per cent.
    """
    rng = np.random.default_rng(4)
    n, own = 60, np.array([2, 3])
    X = rng.normal(size=(n, 4))
    ridge = np.array([0.0, 0.0, 0.3, 1.0])
    penalised = X.T @ X / n + np.diag(ridge)
    Y = rng.normal(size=(n, 20_000))
    full = X @ np.linalg.solve(penalised, X.T @ Y / n)
    reduced = X[:, :2] @ np.linalg.lstsq(X[:, :2], Y, rcond=None)[0]
    ratio = ((Y - reduced) ** 2 - (Y - full) ** 2).sum(axis=0)
    weights = null_weights(X.T @ X / n, ridge, own)
    assert ratio.mean() == pytest.approx(weights.sum(), rel=0.03)
    assert ratio.var() == pytest.approx(2 * (weights**2).sum(), rel=0.06)


@both_forms
def test_the_tested_parent_gets_all_its_curves_and_a_penalty_that_the_data_have_not_chosen(form):
    table = curved(1)
    (together,) = CurveFitter(form).fit(table, [KEY], [None], Effort.FINAL)
    nested = _prepare(together, table, 1)
    width = basis_width(400)
    assert nested.part.basis.widths[1] == width
    assert nested.part.basis.widths[0] >= together.basis.widths[0]
    assert nested.own == nested.part.basis.blocks[1]
    rows = np.arange(nested.own.start + 1, nested.own.stop)
    penalty = nested.ridge[rows, 0] / nested.part.basis.roughness[rows]
    np.testing.assert_allclose(penalty, penalty[0])  # one strength for all curves of the parent
    assert penalty[0] > 0
    # Whatever strength the joint fit has chosen for it: the penalty is the same.
    chosen = together.strengths.copy()
    chosen[:, 1] = 1e-6
    other = _prepare(replace(together, strengths=chosen), table, 1)
    np.testing.assert_array_equal(other.ridge[rows], nested.ridge[rows])


def test_the_start_has_every_coefficient_in_its_place():
    table = curved(2)
    (fit,) = CurveFitter(NATURAL).fit(table, [KEY], [None], Effort.FINAL)
    wide = SplineDesign.make(NATURAL, table, fit.parents, 2, [99, 99])
    start = _spread_start(fit, wide)
    own = fit.shape.predictors(fit.theta[:, None], fit.basis(table.take(fit.parents)))[1]
    np.testing.assert_allclose(start.T @ wide.design.regressors(slice(None)), own, atol=1e-9)


@both_forms
def test_level_where_the_nuisance_is_curved(form):
    """At a level of 0.1 more than 9 of 30 are a one in a thousand event; lines alone reject nearly always."""
    tables = [curved([3, seed]) for seed in range(30)]
    rejected = sum(drop_curves(form, table, KEY, [1]).pvalues["both"][0] < 0.1 for table in tables)
    assert rejected <= binom.ppf(0.999, 30, 0.1)
    assert sum(drop_lines(form, table, KEY, [1]).pvalues["both"][0] < 0.1 for table in tables[:10]) >= 8


def test_power_for_a_curve_and_its_parts():
    table = curved(4, n=600, effect=1.0)
    found = drop_curves(LOCATION_SCALE, table, KEY, [1, 0])
    assert found.tested == [1, 0]
    assert found.converged
    assert set(found.pvalues) == {"both", "mean", "variance"}
    assert found.pvalues["both"].max() < 1e-6
    assert found.pvalues["mean"][0] < 1e-6 < 1e-3 < found.pvalues["variance"][0]
    assert drop_lines(LOCATION_SCALE, table, KEY, [1]).pvalues["both"][0] > found.pvalues["both"][0]


@both_forms
def test_units_do_not_matter(form):
    table = curved(5, n=300, effect=0.4)
    plain = drop_curves(form, table, KEY, [1]).pvalues["both"][0]
    other = Table.standardize(table.X * [-1e3, 0.01, -5.0] + [0.0, 3.0, 7.0])
    moved = drop_curves(form, other, KEY, [1]).pvalues["both"][0]
    assert np.log(moved) == pytest.approx(np.log(plain), rel=1e-2, abs=1e-2)
