"""Designs of splines: widths, bases found once, ready designs equal to made ones, penalties in their places."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag.core import table as table_module
from heterodag.core.gaussian import LOCATION_SCALE, NATURAL
from heterodag.core.table import Table
from heterodag.scores import spline_design
from heterodag.scores.curves import CurveFitter
from heterodag.scores.fit import Effort
from heterodag.scores.ridge import ridge_strength
from heterodag.scores.spline_design import (
    SplineDesign,
    basis_columns,
    basis_width,
    curve_penalties,
    ready_design,
    spline_basis,
    spline_of,
)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 3))
    x[:, 2] = rng.integers(0, 2, 400)  # two values: a line is all there is
    return Table.standardize(np.column_stack([x, np.sin(2 * x[:, 0]) + 0.5 * rng.normal(size=400)]))


def test_widths_grow_with_the_cube_root_of_the_rows():
    assert [basis_width(n) for n in (10, 100, 1000, 2000, 10**6)] == [4, 7, 16, 20, 20]
    assert all(basis_width(n) <= basis_width(n + 50) for n in range(10, 3000, 50))


def test_the_basis_of_a_column_is_found_once_per_table(table):
    assert spline_of(table, 1) is spline_of(table, 1)
    assert basis_columns(table, 1) is basis_columns(table, 1)
    assert spline_of(table, 1).width == basis_width(400)
    assert spline_of(table, 2).width == 1
    np.testing.assert_allclose(basis_columns(table, 0), spline_of(table, 0)(table.take([0])[0]))
    np.testing.assert_allclose(basis_columns(table, 0)[0], table.take([0])[0])


@pytest.mark.parametrize("widths", [[1, 1], [12, 1], [3, 5]])
def test_a_ready_design_is_the_one_that_is_made(table, widths, monkeypatch):
    ready = ready_design(table, [0, 1], widths)
    np.testing.assert_allclose(ready, spline_basis(table, [0, 1], widths)(table.take([0, 1])), atol=1e-12)
    monkeypatch.setattr(spline_design, "CACHE_BYTES", 0)
    assert ready_design(table, [0, 1], widths) is None
    made = SplineDesign.make(NATURAL, table, [0, 1], 3, widths)
    assert made.design.ready is None
    np.testing.assert_allclose(made.design.regressors(slice(None)), ready, atol=1e-12)


def test_a_table_without_a_copy_has_no_ready_design(table, monkeypatch):
    monkeypatch.setattr(table_module, "CACHE_BYTES", 0)
    assert ready_design(Table.standardize(table.X), [0], [3]) is None


def test_rows_are_those_of_the_full_design(table):
    full = SplineDesign.make(NATURAL, table, [0, 2, 1], 3, [99, 99, 99])
    part = SplineDesign.make(NATURAL, table, [0, 2, 1], 3, [1, 5, 4])
    width = basis_width(400)
    assert full.basis.widths == (width, 1, width)
    assert part.basis.widths == (1, 1, 4)
    Z = full.design.regressors(slice(None))
    np.testing.assert_array_equal(part.design.regressors(slice(None)), Z[part.rows])
    assert full.rows.tolist() == list(range(len(Z)))
    assert list(part.curves) == [2]
    assert part.curves[2].tolist() == [4, 5, 6]


def test_lines_have_the_ridge_and_curves_the_penalties(table):
    part = SplineDesign.make(LOCATION_SCALE, table, [0, 1], 3, [3, 1])
    # Rows: constant, line and two curves of the first parent, line of the second.
    assert part.line_ridge(4.0)[:, 0].tolist() == [0, 0.01, 0, 0, 0.01, 0, 0.01, 0, 0, 0.01]
    in_mean, in_spread = part.penalties()
    assert in_mean.index.tolist() == [2, 3]
    assert in_spread.index.tolist() == [7, 8]
    np.testing.assert_array_equal(in_mean.weights, spline_of(table, 0).roughness[1:3])
    assert in_mean.weights[0] == 1.0
    assert (in_mean.weights == in_spread.weights).all()


def test_penalties_of_a_fitted_model_explain_its_loss(table):
    """Loss = plain loss + ridge of lines + penalties of curves + half of ln n for what the curves spend."""
    (fit,) = CurveFitter(LOCATION_SCALE).fit(table, [(3, (0, 1))], [None], Effort.FINAL)
    assert fit.basis.widths[0] > 1
    penalties = curve_penalties(fit)
    part = SplineDesign.make(LOCATION_SCALE, table, (0, 1), 3, fit.basis.widths)
    lines = np.setdiff1d(np.arange(len(fit.theta)), np.concatenate([b.index for b in part.penalties()]))
    assert (penalties[lines] == 0.0).all()
    assert (np.delete(penalties, lines) > 0.0).all()
    ridge = 400 * part.line_ridge(ridge_strength(400))[:, 0]
    spent = fit.loss - fit.losses(table, slice(None)).sum() - 0.5 * (penalties + ridge) @ fit.theta**2
    # Between one effective coefficient and all that there are.
    assert 1.0 < spent / (0.5 * np.log(400)) < len(fit.theta) - len(lines)


def test_basis_columns_are_kept_up_to_a_limit(monkeypatch):
    table = Table.standardize(np.random.default_rng(0).standard_normal((200, 3)))
    one = spline_of(table, 0)(table.take([0])[0]).nbytes
    monkeypatch.setattr(spline_design, "KEPT_BYTES", 2 * one)
    kept = [basis_columns(table, j) is basis_columns(table, j) for j in range(3)]
    assert kept == [True, True, False]
    np.testing.assert_array_equal(basis_columns(table, 2), basis_columns(table, 2))
