"""Curves in natural form: the optimum is one, it is that of the general solver, and company does not matter."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag.core.design import Design
from heterodag.core.gaussian import NATURAL
from heterodag.core.layout import Coefficients
from heterodag.core.location_scale import SmoothProblem
from heterodag.core.natural_curves import fit_natural_curves
from heterodag.core.solver import free_swing, minimize
from heterodag.core.splines import column_spline
from heterodag.core.starts import log_squares_start
from heterodag.core.table import Table

RIDGE = 0.01


def table_of(seed, bend, n=600):
    """Two causes and an effect whose natural parameters are sums of lines, or of waves."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 2))
    A, s = (1.5 * np.sin(2 * x[:, 0]), np.cos(2 * x[:, 1])) if bend else (x[:, 0] + x[:, 1], 0.8 * x[:, 0])
    y = A * np.exp(-s) + np.exp(-s / 2) * rng.standard_normal(n)
    return Table.standardize(np.column_stack([x, y]))


def problem_of(table, keys, width):
    k, n = len(keys[0][1]), table.shape[0]
    Z, rough = np.zeros((len(keys), 1 + k * width, n)), np.zeros((len(keys), k, 1 + k * width))
    Z[:, 0] = 1.0
    for i, (_, parents) in enumerate(keys):
        for place, parent in enumerate(parents):
            x = table.take([parent])[0]
            spline = column_spline(x, max(width, 2))
            own = slice(1 + place * width, 1 + (place + 1) * width)
            Z[i, own], rough[i, place, own] = spline(x)[:width], spline.roughness[:width]
    ridge = np.zeros((len(keys), 2, 1 + k * width))
    ridge[:, :, 1::width] = ridge[:, :1, :1] = RIDGE
    return SmoothProblem(Z, table.take([target for target, _ in keys]), ridge, rough)


def fit(problem, tolerance=1e-5, steps=400):
    m, k, p = problem.roughness.shape
    return fit_natural_curves(problem, np.zeros((m, p)), np.ones((m, 2, k)), tolerance, steps)


def objective(problem, i, penalty, a, b):
    """Return the penalised loss of one model, written out; the last of `a` is the location."""
    Z, y, s = problem.Z[i], problem.Y[i], b @ problem.Z[i]
    e = np.exp(s / 2) * (y - a[-1]) - a[:-1] @ Z * np.exp(-s / 2)
    excess = np.maximum(np.abs(s - b[0]) - free_swing(len(y)), 0.0)
    return 0.5 * (np.sum(e**2 - s + excess**2) + penalty[0] @ a[:-1] ** 2 + penalty[1] @ b**2)


@pytest.mark.parametrize("seed", range(4))
def test_lines_are_those_of_the_general_solver(seed):
    table, n = table_of(seed, bend=False), 600
    shape, design = Coefficients(NATURAL, 3), Design(table, (0, 1), (2, 2))
    start = np.hstack([np.zeros((3, 1)), log_squares_start(Design(table, (0, 1), (2,)))])
    other = minimize(design, shape, start, shape.ridge(RIDGE / n))
    found = fit(problem_of(table, [(2, (0, 1))], 1))
    assert found.converged.all()
    assert found.loss[0] == pytest.approx(n * other.objective.min(), abs=0.01)
    best = other.theta[:, other.objective.argmin()]
    np.testing.assert_allclose(np.r_[found.a[0, :3], found.b[0], found.a[0, 3]], best, atol=0.02)


@pytest.mark.parametrize("bend", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_at_its_strengths_no_coefficient_moves(bend, seed):
    problem = problem_of(table_of(seed, bend), [(2, (0, 1))], 8)
    found = fit(problem)
    penalty, a, b = problem.penalties(found.strengths)[0], found.a[0], found.b[0]
    at = objective(problem, 0, penalty, a, b)
    assert found.loss[0] == pytest.approx(at, rel=1e-9)
    for own, wide in ((a, 18), (b, 17)):
        for k in range(wide):
            step = np.zeros(wide)
            step[k] = 0.02
            moved = [(a + sign * step, b) if own is a else (a, b + sign * step) for sign in (-1, 1)]
            assert all(objective(problem, 0, penalty, *point) > at - 1e-3 for point in moved)


def test_waves_are_found_where_they_are():
    found = fit(problem_of(table_of(5, bend=True), [(2, (0, 1)), (1, (0, 2))], 8))
    assert found.edf[0, 0, 0] > 2.0  # of the first cause in A
    assert found.edf[0, 1, 1] > 2.0  # of the second in s
    assert found.edf[0, 0, 1] + found.edf[0, 1, 0] < 4.0


def test_company_does_not_matter():
    table, keys = table_of(6, bend=True), [(2, (0, 1)), (0, (1, 2)), (1, (0, 2))]
    together = fit(problem_of(table, keys, 8), 0.1)
    for i, key in enumerate(keys):
        alone = fit(problem_of(table, [key], 8), 0.1)
        assert together.loss[i] == pytest.approx(alone.loss[0], abs=1e-6)
        np.testing.assert_allclose(together.residuals[i], alone.residuals[0], atol=1e-6)
