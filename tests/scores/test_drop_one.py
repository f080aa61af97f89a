"""The likelihood-ratio test of a parent, lines: against refitted models, as a statistic, and its limit on rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, chi2

from heterodag.core.design import Design
from heterodag.core.gaussian import FORMS, LOCATION_SCALE, NATURAL
from heterodag.core.layout import Coefficients
from heterodag.core.table import Table
from heterodag.scores import drop_one
from heterodag.scores.drop_one import drop_lines, held_rows, hypotheses, limited_ratio
from heterodag.scores.fit import Effort
from heterodag.scores.lines import LineFitter

both_forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def table_of(seed, n=500, on_mean=0.0, on_spread=0.0, form=LOCATION_SCALE):
    """Column 2 depends on column 0 in mean and spread, and on column 1 as asked."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    s, A = 0.6 * x[:, 0] + on_spread * x[:, 1], 0.5 * x[:, 0] + on_mean * x[:, 1]
    y = (A * np.exp(-s) if form is NATURAL else A) + np.exp(-s / 2) * rng.normal(size=n)
    return Table.standardize(np.column_stack([x, y]))


def test_what_is_tested():
    assert hypotheses(NATURAL) == ("both",)
    assert hypotheses(LOCATION_SCALE) == ("both", "mean", "variance")
    shape = Coefficients(LOCATION_SCALE, 4)
    assert held_rows(shape, slice(1, 3), "both") == [1, 2, 5, 6]
    assert held_rows(shape, slice(1, 3), "mean") == [1, 2]
    assert held_rows(shape, slice(1, 3), "variance") == [5, 6]


@both_forms
def test_the_pvalue_is_that_of_refitted_models(form, monkeypatch):
    """Without the limit on rows the statistic is twice the fall of the log-likelihood between two fits."""
    monkeypatch.setattr(drop_one, "ROW_LIMIT", np.inf)
    table = table_of(1, on_mean=0.06, on_spread=0.05, form=form)
    found = drop_lines(form, table, (2, (0, 1)), [1, 0])
    assert found.target == 2
    assert found.tested == [1, 0]
    assert found.converged
    full, *less = LineFitter(form).fit(table, [(2, (0, 1)), (2, (0,)), (2, (1,))], [None] * 3, Effort.FINAL)
    for pvalue, smaller in zip(found.pvalues["both"], less, strict=True):
        fall = smaller.losses(table, slice(None)).sum() - full.losses(table, slice(None)).sum()
        assert np.log(pvalue) == pytest.approx(chi2.logsf(2 * fall, 2), rel=0.02, abs=0.02)
    assert found.pvalues["both"][1] < 1e-10


@both_forms
def test_level_and_uniformity_under_the_null(form):
    """200 tables: of 5 % expected, more than 9.5 % or fewer than 1.5 % are less than one in a thousand."""
    pvalues = np.array([
        drop_lines(form, table_of([2, seed], form=form), (2, (0, 1)), [1]).pvalues["both"][0] for seed in range(200)
    ])  # fmt: skip
    rejected = int((pvalues < 0.05).sum())
    assert binom.ppf(0.0005, 200, 0.05) <= rejected <= binom.ppf(0.9995, 200, 0.05)
    assert 0.4 < np.median(pvalues) < 0.6


def test_mean_and_spread_are_told_apart():
    by_mean = drop_lines(LOCATION_SCALE, table_of(3, on_mean=0.4), (2, (0, 1)), [1]).pvalues
    by_spread = drop_lines(LOCATION_SCALE, table_of(3, on_spread=0.8), (2, (0, 1)), [1]).pvalues
    assert max(by_mean["both"][0], by_mean["mean"][0]) < 1e-6 < 1e-3 < by_mean["variance"][0]
    assert max(by_spread["both"][0], by_spread["variance"][0]) < 1e-6 < 1e-3 < by_spread["mean"][0]
    assert set(drop_lines(NATURAL, table_of(3), (2, (0, 1)), [1]).pvalues) == {"both"}


@both_forms
def test_units_and_the_order_of_tests_do_not_matter(form):
    table = table_of(4, on_mean=0.1, form=form)
    plain = drop_lines(form, table, (2, (0, 1)), [0, 1]).pvalues
    other = Table.standardize(table.X * [1e4, -1e-3, -7.0] + [3.0, 0.0, 1e3])
    for name, values in drop_lines(form, other, (2, (0, 1)), [1, 0]).pvalues.items():
        np.testing.assert_allclose(np.log(values[::-1]), np.log(plain[name]), rtol=1e-4, atol=1e-4)


def test_no_row_contributes_more_than_the_limit():
    """One wild row: the full model explains it, the restricted one does not."""
    X = np.random.default_rng(5).normal(size=(100, 2))
    X[0] = 40.0, 40.0
    table = Table.with_scaling(X, np.zeros(2), np.ones(2))
    design, shape = Design(table, (0,), (1,)), Coefficients(LOCATION_SCALE, 2)
    full, reduced = np.zeros((4, 1)), np.zeros((4, 2))
    full[1], reduced[1, 1] = 1.0, 1.0
    first, same = limited_ratio(design, shape, full, reduced)
    x, y = X.T
    gains = y**2 - (y - x) ** 2
    assert gains[0] == 1600.0
    assert first == pytest.approx(max(np.minimum(gains, 1.5).sum(), 0.0))
    assert same == 0.0


def test_a_full_model_in_a_worse_optimum_is_repaired(monkeypatch):
    """The full model is cut short at its start; a restricted one then fits better, and it goes on from there."""
    table, whole, calls = table_of(6, on_mean=0.3), drop_one.minimize, []

    def lazy(design, *arguments, **options):
        calls.append(len(design.targets))
        return whole(design, *arguments, **options | ({"max_iterations": 0} if len(calls) == 1 else {}))

    right = drop_lines(LOCATION_SCALE, table, (2, (0, 1)), [0, 1])
    monkeypatch.setattr(drop_one, "minimize", lazy)
    found = drop_lines(LOCATION_SCALE, table, (2, (0, 1)), [0, 1])
    assert calls[:3] == [2, 6, 1]
    for name, values in found.pvalues.items():
        np.testing.assert_allclose(np.log(values), np.log(right.pvalues[name]), rtol=1e-3, atol=1e-3)
