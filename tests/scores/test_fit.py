"""What a fitted model can be asked: densities, residuals, layouts; the same for every kind of model."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import stats

from heterodag.core import table as table_module
from heterodag.core.gaussian import FORMS, NATURAL
from heterodag.core.table import Table
from heterodag.scores.curves import CurveFitter
from heterodag.scores.fit import Effort, LinearFit
from heterodag.scores.lines import LineFitter

both_forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
both_kinds = pytest.mark.parametrize("kind", [LineFitter, CurveFitter])
KEY = (2, (0, 1))


def table_of(n=600):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n, 2))
    y = np.sin(2 * x[:, 0]) + np.exp(0.4 * x[:, 1]) * rng.normal(size=n)
    return Table.standardize(np.column_stack([x, y]))


@pytest.fixture(scope="module", params=[(f, k) for f in FORMS.values() for k in (LineFitter, CurveFitter)], ids=str)
def fitted(request):
    form, kind = request.param
    table = table_of()
    (fit,) = kind(form).fit(table, [KEY], [None], Effort.SEARCH)
    return fit, table


def test_losses_are_minus_the_log_density_of_standardised_values(fitted):
    fit, table = fitted
    mean, scale = fit.form.mean_and_scale(*fit.predictors(table, slice(None)))
    y = table.take([2])
    density = stats.norm.logpdf(y, mean, scale)[0]
    losses = fit.losses(table, slice(None))
    np.testing.assert_allclose(losses, -density - 0.5 * np.log(2 * np.pi), atol=1e-9)
    np.testing.assert_allclose(fit.residuals(table), ((y - mean) / scale)[0], atol=1e-9)
    np.testing.assert_allclose(fit.losses(table, slice(10, 20)), losses[10:20], rtol=1e-10)
    # The loss of the model has a penalty on top, and a price for curves.
    assert 0.0 < fit.loss - losses.sum() < 80.0


def test_a_model_is_named_by_target_and_parents(fitted):
    fit, _ = fitted
    assert fit.key == KEY
    assert fit.effort is Effort.SEARCH
    assert fit.contributions.shape == (2,)
    assert isinstance(fit, LinearFit)
    assert fit.shape.size == len(fit.theta)


def test_residuals_do_not_depend_on_row_blocks(fitted, monkeypatch):
    fit, table = fitted
    whole = fit.residuals(table)
    monkeypatch.setattr(table_module, "BLOCK_BYTES", 1)
    np.testing.assert_allclose(fit.residuals(table), whole, atol=1e-12)


def test_a_model_predicts_rows_of_another_table_alone(fitted):
    fit, table = fitted
    some = Table.with_scaling(table.X[100:140], table.location, table.scale)
    np.testing.assert_allclose(fit.residuals(some), fit.residuals(table)[100:140], atol=1e-10)


def test_a_model_travels(fitted):
    fit, table = fitted
    again = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(again.residuals(table), fit.residuals(table))
    assert again.key == fit.key
    assert str(again.form) == str(fit.form)


def test_efforts_can_be_compared():
    assert Effort.ROUND < Effort.SEARCH < Effort.FINAL


@both_kinds
def test_without_parents_a_model_is_the_standardised_column(kind):
    table = table_of()
    (fit,) = kind(NATURAL).fit(table, [(2, ())], [None], Effort.SEARCH)
    np.testing.assert_allclose(fit.residuals(table), table.take([2])[0], atol=1e-6)
    assert fit.loss == pytest.approx(0.5 * 600, abs=1e-4)
    assert fit.contributions.shape == (0,)
