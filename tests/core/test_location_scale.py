"""Smooth location-scale models: the same optima as other solvers, penalties at their fixed point, no way to explode."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from plain_models import heteroscedastic, numerical_gradient
from scipy import optimize

from heterodag.core.design import Design
from heterodag.core.gaussian import LOCATION_SCALE
from heterodag.core.layout import Coefficients
from heterodag.core.location_scale import CLOSED, SmoothProblem, fit_smoothly
from heterodag.core.solver import free_swing, minimize
from heterodag.core.splines import column_spline
from heterodag.core.starts import log_squares_start
from heterodag.core.table import Table

RIDGE = 0.01


def problem_of(table, keys, width):
    """Return the problem of models (target, parents): `width` basis columns per parent, zeros where it has fewer."""
    k, n = len(keys[0][1]), table.shape[0]
    Z, rough = np.zeros((len(keys), 1 + k * width, n)), np.zeros((len(keys), k, 1 + k * width))
    Z[:, 0] = 1.0
    for i, (_, parents) in enumerate(keys):
        for place, parent in enumerate(parents):
            x = table.take([parent])[0]
            spline = column_spline(x, width)
            columns = spline(x)
            own = slice(1 + place * width, 1 + place * width + len(columns))
            Z[i, own], rough[i, place, own] = columns, spline.roughness
    ridge = np.zeros((len(keys), 2, 1 + k * width))
    ridge[:, :, 1::width] = RIDGE
    return SmoothProblem(Z, table.take([target for target, _ in keys]), ridge, rough)


def fit(problem, tolerance=1e-4, steps=300, b=None, strength=1.0):
    m, k, p = problem.roughness.shape
    start = np.zeros((m, p)) if b is None else b
    return fit_smoothly(problem, start, np.full((m, 2, k), strength), tolerance, steps)


def objective(problem, i, penalty, theta):
    """Return the penalised loss of one model, written out; `theta` holds `a`, then `b`."""
    Z, y = problem.Z[i], problem.Y[i]
    a, b = np.split(theta, 2)
    s = b @ Z
    e = np.exp(s / 2) * (y - a @ Z)
    excess = np.maximum(np.abs(s - b[0]) - free_swing(len(y)), 0.0)
    return 0.5 * (np.sum(e**2 - s + excess**2) + penalty[0] @ a**2 + penalty[1] @ b**2)


def informations(problem, i, penalty, b):
    """Return the penalised expected information of `a` and of `b`."""
    Z = problem.Z[i]
    return (Z * np.exp(b @ Z)) @ Z.T + np.diag(penalty[0]), 0.5 * Z @ Z.T + np.diag(penalty[1])


def curved(seed, n=800):
    """Columns 0 and 1, and a third whose mean and spread follow waves of the first."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 2))
    y = np.sin(2 * x[:, 0]) + np.exp(0.5 * np.cos(2 * x[:, 0])) * rng.standard_normal(n)
    return Table.standardize(np.column_stack([x, y]))


def straight(seed, n=800):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 2))
    y = x[:, 0] + np.exp(0.4 * x[:, 1]) * rng.standard_normal(n)
    return Table.standardize(np.column_stack([x, y]))


def heavy(seed, n=800):
    """Regressors with 1.5 degrees of freedom: single rows are thirty standard deviations out."""
    rng = np.random.default_rng(seed)
    x = rng.standard_t(1.5, size=(n, 2))
    y = np.tanh(x[:, 0]) + np.exp(0.5 * np.tanh(x[:, 1])) * rng.standard_normal(n)
    return Table.standardize(np.column_stack([x, y]))


every_table = pytest.mark.parametrize("make", [straight, curved, heavy])


# --- optima -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_lines_reach_the_optimum_of_the_general_solver(seed):
    k, n = 1 + seed % 4, (60, 150, 400, 1000)[seed % 4]
    table = Table.standardize(heteroscedastic(np.random.default_rng(seed), n, k))
    parents, shape = tuple(range(k)), Coefficients(LOCATION_SCALE, k + 1)
    start = np.hstack([np.zeros((k + 1, 1)), log_squares_start(Design(table, parents, (k,)))])
    other = minimize(Design(table, parents, (k, k)), shape, start, shape.ridge(RIDGE / n))
    best = other.objective.argmin()
    # With one basis column per parent, and with curves that infinite strengths close.
    for width in (1, 5):
        found = fit(problem_of(table, [(k, parents)], width), 1e-6, strength=np.inf)
        assert found.loss[0] == pytest.approx(n * other.objective[best], abs=1e-4)
        lines = np.r_[0, 1 : 1 + k * width : width]
        a, b = found.a[0], found.b[0]
        np.testing.assert_allclose(np.r_[a[lines], b[lines]], other.theta[:, best], atol=0.02)
        assert np.abs(np.delete(np.r_[a, b], np.r_[lines, len(a) + lines])).sum() < 1e-6
        assert (found.edf == 0.0).all()


def test_without_parents_the_optimum_is_known():
    table = straight(0)
    found = fit(SmoothProblem(np.ones((1, 1, 800)), table.take([2]), np.zeros((1, 2, 1)), np.zeros((1, 0, 1))))
    np.testing.assert_allclose([found.a[0, 0], found.b[0, 0]], 0.0, atol=1e-6)
    assert found.loss[0] == pytest.approx(400.0, abs=1e-6)
    assert found.converged.all()


@every_table
@pytest.mark.parametrize("seed", range(3))
def test_at_its_strengths_the_penalised_gradient_vanishes(make, seed):
    problem = problem_of(make(seed), [(2, (0, 1))], 8)
    found = fit(problem)
    penalty, theta = problem.penalties(found.strengths)[0], np.r_[found.a[0], found.b[0]]
    assert found.loss[0] == pytest.approx(objective(problem, 0, penalty, theta), rel=1e-9)
    gradient = numerical_gradient(lambda point: objective(problem, 0, penalty, point), theta)
    # What scoring steps on mean and spread would still gain; a strength further on it would be tenths of nats.
    parts = zip(np.split(gradient, 2), informations(problem, 0, penalty, found.b[0]), strict=True)
    assert sum(0.5 * g @ np.linalg.solve(information, g) for g, information in parts) < 1e-3


@pytest.mark.parametrize("seed", range(4))
def test_no_generic_optimiser_does_better_at_the_same_strengths(seed):
    table = curved(seed, 300)
    problem = problem_of(table, [(2, (0,))], 5)
    found = fit(problem, 1e-6)
    penalty, p = problem.penalties(found.strengths)[0], problem.Z.shape[1]
    starts = [np.zeros(2 * p), *(np.random.default_rng(seed).normal(size=(3, 2 * p)) * 0.3)]
    best = min(optimize.minimize(lambda t: objective(problem, 0, penalty, t), s, method="BFGS").fun for s in starts)
    assert found.loss[0] < best + 1e-3


def test_penalties_that_are_given_stay():
    """Roughness given as a ridge is no curve whose strength is chosen: the optimum is that of the penalties given."""
    chosen = problem_of(curved(3), [(2, (0, 1))], 6)
    strength = np.array([[[2.0, 50.0], [7.0, 300.0]]])
    fixed = SmoothProblem(chosen.Z, chosen.Y, chosen.penalties(strength), 0.0 * chosen.roughness)
    found = fit(fixed, 1e-6)
    assert (found.edf == 0.0).all()
    np.testing.assert_array_equal(found.strengths, 1.0)
    theta = np.r_[found.a[0], found.b[0]]
    gradient = numerical_gradient(lambda t: objective(fixed, 0, fixed.ridge[0], t), theta)
    assert np.abs(gradient).max() < 0.05


# --- strengths ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [straight, curved])
@pytest.mark.parametrize("seed", range(4))
def test_strengths_are_a_fixed_point_of_the_marginal_likelihood(make, seed):
    """lam = edf / sum(roughness * coefficient^2), edf = columns less the trace of posterior covariance times penalty.

    Up to the step of a factor 1.5 that no longer counts; curves with hardly a coefficient are only getting flatter.
    """
    problem = problem_of(make(seed), [(2, (0, 1))], 8)
    found = fit(problem)
    penalty, rough = problem.penalties(found.strengths)[0], problem.roughness[0, :, 1:].sum(axis=0).reshape(2, 8)
    checked = 0
    for side, information in enumerate(informations(problem, 0, penalty, found.b[0])):
        theta = (found.a, found.b)[side][0, 1:].reshape(2, 8)
        variance = np.linalg.inv(information).diagonal()[1:].reshape(2, 8)
        for place in range(2):
            lam, columns = found.strengths[0, side, place], np.count_nonzero(rough[place])
            edf = columns - lam * rough[place] @ variance[place]
            assert found.edf[0, side, place] == pytest.approx(max(edf, 1e-3), abs=0.02) or lam > 1e6
            if edf < 0.1:
                continue
            step = edf / (rough[place] @ theta[place] ** 2) / lam
            assert 1 / 1.51 < step < 1.51
            checked += 1
    assert checked >= (0 if make is straight else 2)


def test_curves_that_are_there_have_the_same_strengths_from_any_start():
    """Starts are a million times apart. Curves without anything to describe may end anywhere above 10: all are flat."""
    for seed in range(4):
        problem = problem_of(curved(seed), [(2, (0, 1))], 8)
        found = [fit(problem, strength=strength) for strength in (1e-2, 1.0, 1e4)]
        own = np.array([each.strengths[0, :, 0] for each in found])
        assert (own.max(axis=0) / own.min(axis=0) < 1.6).all()  # two steps that no longer count, from either side
        assert min(each.strengths[0, :, 1].min() for each in found) > 10.0
        assert np.corrcoef([each.residuals[0] for each in found]).min() > 0.99


def test_straight_data_get_nearly_no_curves_and_curved_data_do():
    """Half of all curves without anything to describe should end flat, the others with about one coefficient of seven."""
    edf = np.array([fit(problem_of(straight(seed), [(2, (0, 1))], 8)).edf[0] for seed in range(20)])
    assert np.median(edf) < 0.5
    assert edf.mean() < 0.9
    for seed in range(4):
        found = fit(problem_of(curved(seed), [(2, (0, 1))], 8)).edf[0]
        assert found[:, 0].min() > 4.0  # a wave has at least two bends
        assert found[:, 1].max() < 3.0  # the other column does nothing


@every_table
def test_effective_coefficients_lie_between_none_and_all(make):
    table = make(5)
    keys = [(2, (0, 1)), (0, (1, 2)), (1, (0, 2))]
    edf = fit(problem_of(table, keys, 6)).edf
    assert (edf >= 0.0).all()
    assert (edf <= 5.0).all()


# --- parts --------------------------------------------------------------------------------------------------


@every_table
def test_models_fitted_together_are_as_each_alone(make):
    table = make(7)
    keys = [(2, (0, 1)), (0, (1, 2)), (1, (0, 2)), (2, (1, 0))]
    together = fit(problem_of(table, keys, 6))
    for i, key in enumerate(keys):
        alone = fit(problem_of(table, [key], 6))
        assert together.loss[i] == pytest.approx(alone.loss[0], abs=1e-5)
        np.testing.assert_allclose(together.strengths[i], alone.strengths[0], rtol=1e-4)
        np.testing.assert_allclose(together.a[i], alone.a[0], atol=1e-5)
        np.testing.assert_allclose(together.b[i], alone.b[0], atol=1e-5)
        np.testing.assert_allclose(together.residuals[i], alone.residuals[0], atol=1e-5)
    # The last is the first with its parents the other way round.
    assert together.loss[0] == pytest.approx(together.loss[3], abs=1e-5)
    np.testing.assert_allclose(together.edf[0], together.edf[3][:, ::-1], atol=1e-4)


def test_residuals_and_informations_are_those_of_the_coefficients():
    problem = problem_of(curved(8), [(2, (0, 1)), (1, (0, 2))], 5)
    found = fit(problem)
    for i in range(2):
        s = found.b[i] @ problem.Z[i]
        np.testing.assert_allclose(
            found.residuals[i], np.exp(s / 2) * (problem.Y[i] - found.a[i] @ problem.Z[i]), atol=1e-9
        )
        penalty = problem.penalties(found.strengths)[i]
        mean, spread = informations(problem, i, penalty, found.b[i])
        np.testing.assert_allclose(found.mean[i], mean, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(found.spread[i], spread, rtol=1e-6, atol=1e-6)
        # At the optimum of the intercept, squared residuals average to one.
        assert np.mean(found.residuals[i] ** 2) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("side", [0, 1], ids=["mean", "spread"])
def test_closed_columns_stay_zero_and_leave_a_smaller_model(side):
    table = straight(9)
    problem = problem_of(table, [(2, (0, 1))], 4)
    problem.ridge[:, side, 1:5] = CLOSED
    found = fit(problem, 1e-6)
    assert np.abs((found.a, found.b)[side][0, 1:5]).max() < 1e-9
    assert found.loss[0] > fit(problem_of(table, [(2, (0, 1))], 4), 1e-6).loss[0] + (100 if side == 0 else -1.0)
    # Closed in both, the parent might as well not be there.
    problem.ridge[:, :, 1:5] = CLOSED
    both, without = fit(problem, 1e-6), fit(problem_of(table, [(2, (1,))], 4), 1e-6)
    assert both.loss[0] == pytest.approx(without.loss[0], abs=0.5)


def test_a_parent_with_fewer_basis_columns_is_padded_with_zeros():
    """A column of three values has a line and one curve: more room for it changes nothing."""
    rng = np.random.default_rng(10)
    x = rng.integers(0, 3, 500).astype(float)
    table = Table.standardize(np.column_stack([x, x**2 + np.exp(0.3 * x) * rng.standard_normal(500)]))
    narrow, wide = (fit(problem_of(table, [(1, (0,))], width), 1e-6) for width in (2, 8))
    assert wide.loss[0] == pytest.approx(narrow.loss[0], abs=1e-4)
    np.testing.assert_allclose(wide.edf, narrow.edf, atol=1e-3)
    np.testing.assert_allclose(wide.a[0, :3], narrow.a[0], atol=1e-3)
    assert np.abs(wide.a[0, 3:]).max() < 1e-9


# --- limits -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [straight, curved])
@pytest.mark.parametrize("size", [3.0, 50.0, 1e6, np.nan], ids=["bad", "singular", "overflowing", "missing"])
def test_a_bad_start_is_given_up(make, size):
    """With weights from exp(-800) to exp(800) the information is finite but singular: its inverse was a crash once."""
    problem = problem_of(make(11), [(2, (0, 1)), (1, (0, 2))], 6)
    b = np.full(problem.Z.shape[:2], size) * np.array([[1.0], [-1.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, fresh = fit(problem, b=b), fit(problem)
    for name in ("a", "b", "loss", "edf", "strengths", "residuals", "mean", "spread"):
        assert np.isfinite(getattr(found, name)).all()
    np.testing.assert_allclose(found.loss, fresh.loss, atol=1e-6)


def test_a_good_start_is_used():
    problem = problem_of(curved(12), [(2, (0, 1))], 8)
    found = fit(problem)
    quick = fit_smoothly(problem, found.b, found.strengths, 1e-3, 3)
    assert quick.converged.all()
    assert quick.loss[0] == pytest.approx(found.loss[0], abs=0.5)
    assert not fit(problem, steps=3).converged.any()


def test_heavy_tailed_regressors_do_not_overflow():
    """Without the bound on a row's swing its precision would grow for ever; without limits on a step, exp overflows."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(10):
            table = heavy(100 + seed, 400)
            keys = [(2, (0, 1)), (0, (1, 2)), (1, (0, 2))]
            found = fit(problem_of(table, keys, 6), 1e-2, 60)
            for values in (found.loss, found.a, found.b, found.residuals, found.edf, found.mean):
                assert np.isfinite(values).all()
            # No worse than a constant, whose loss is n / 2; a nat or two of the penalties may be on top.
            assert (found.loss < 202.0).all()


def test_time_is_up_when_the_steps_are():
    problem = problem_of(curved(13), [(2, (0, 1)), (0, (1, 2))], 8)
    found = fit(problem, steps=1)
    assert not found.converged.any()
    assert np.isfinite(found.loss).all()
    longer = [fit(problem, steps=steps).loss for steps in (2, 6, 40)]
    assert (longer[-1] < found.loss).all()
