"""The solver: its derivatives against numerical ones, its optima against a generic optimiser's, its limits."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import optimize

from heterodag.core import design as design_module
from heterodag.core import solver as solver_module
from heterodag.core import table as table_module
from heterodag.core.design import Design
from heterodag.core.gaussian import FORMS
from heterodag.core.solver import Coefficients, derivatives, free_swing, minimize, objective
from heterodag.core.steps import damped_step
from heterodag.core.table import Table
from heterodag.models.conditional import ConditionalModel

both_forms = pytest.mark.parametrize("form", FORMS)


def heteroscedastic(rng, n, k, targets=1, strength=0.7):
    """Predecessors in columns 0..k-1, then targets whose mean and spread depend on them."""
    x = rng.normal(size=(n, k))
    slopes = rng.normal(size=(2, k, targets)) * strength
    y = x @ slopes[0] + np.exp(x @ slopes[1]) * rng.normal(size=(n, targets))
    return np.column_stack([x, y])


def as_is(X):
    return Table.with_scaling(X, np.zeros(X.shape[1]), np.ones(X.shape[1]))


def evaluate(design, shape, theta, ridge, observed):
    m = theta.shape[1]
    return derivatives(design, shape, theta, ridge, np.full(m, float(observed)), np.arange(m))


def numerical_gradient(function, point, step=1e-5):
    return np.array([(function(point + h) - function(point - h)) / (2 * step) for h in step * np.eye(len(point))])


def numerical_hessian(function, point, step=1e-4):
    moves = step * np.eye(len(point))
    return np.array(
        [
            [
                (
                    function(point + g + h)
                    - function(point + g - h)
                    - function(point - g + h)
                    + function(point - g - h)
                )
                / (4 * step**2)
                for h in moves
            ]
            for g in moves
        ]
    )


# --- derivatives --------------------------------------------------------------------------------------------


@both_forms
@pytest.mark.parametrize("steep", [0.3, 3.0], ids=["barrier idle", "barrier active"])
@pytest.mark.parametrize("strength", [0.0, 0.05], ids=["no ridge", "ridge"])
def test_gradient_and_observed_information_are_the_numerical_ones(form, steep, strength):
    rng = np.random.default_rng(1)
    design = Design(Table.standardize(heteroscedastic(rng, 40, 2, targets=2)), (0, 1), (2, 3))
    shape = Coefficients(form, design.width)
    ridge = shape.ridge(strength)
    theta = rng.normal(size=(shape.size, 2)) * 0.3
    theta[shape.width + 1 : 2 * shape.width] = steep * np.array([[0.8, -0.5], [0.6, 0.9]])
    swing = np.abs(theta[shape.width + 1 : 2 * shape.width].T @ design.regressors(slice(None))[1:])
    assert (swing > free_swing(40)).any(axis=1).all() == (steep > 1)
    values, gradient, information = evaluate(design, shape, theta, ridge, observed=True)
    for i in range(2):

        def value(point, i=i):
            return float(objective(design, shape, np.column_stack([point, point]), ridge)[i])

        assert values[i] == pytest.approx(value(theta[:, i]), rel=1e-12)
        size = max(1.0, np.abs(information[i]).max())
        np.testing.assert_allclose(gradient[:, i], numerical_gradient(value, theta[:, i]), atol=1e-7 * size)
        np.testing.assert_allclose(information[i], numerical_hessian(value, theta[:, i]), atol=2e-5 * size)


@both_forms
def test_expected_information_is_the_average_over_simulated_targets(form):
    rng = np.random.default_rng(2)
    n, draws = 40, 8000
    x = rng.normal(size=(n, 2))
    shape = Coefficients(form, 3)
    theta = rng.normal(size=(shape.size, 1)) * 0.4
    Z = np.vstack([np.ones(n), x.T])
    A, s = theta[:3, 0] @ Z, theta[3:6, 0] @ Z
    mean = A if form == "location-scale" else theta[6, 0] + A * np.exp(-s)
    y = mean[:, None] + np.exp(-s / 2)[:, None] * rng.normal(size=(n, draws))
    design = Design(as_is(np.column_stack([x, y])), (0, 1), tuple(range(2, 2 + draws)))
    every = np.repeat(theta, draws, axis=1)
    no_ridge = shape.ridge(0.0)
    _, gradient, observed = evaluate(design, shape, every, no_ridge, observed=True)
    _, _, expected = evaluate(design, shape, every, no_ridge, observed=False)
    np.testing.assert_allclose(expected, np.broadcast_to(expected[0], expected.shape), rtol=1e-9, atol=1e-12)
    assert np.linalg.eigvalsh(expected[0])[0] > -1e-10
    # The score has mean zero and n times its covariance is the information; five standard errors of the average.
    outer = n * gradient.T[:, :, None] * gradient.T[:, None, :]
    for sample, truth in [(gradient.T, 0.0), (observed, expected[0]), (outer, expected[0])]:
        error = sample.std(axis=0) / np.sqrt(draws)
        assert (np.abs(sample.mean(axis=0) - truth) <= 5 * error + 1e-10).all()


@both_forms
def test_expected_information_with_ridge_and_barrier_is_positive_definite_and_adds_them(form):
    rng = np.random.default_rng(3)
    design = Design(Table.standardize(heteroscedastic(rng, 60, 2)), (0, 1), (2,))
    shape = Coefficients(form, 3)
    theta = rng.normal(size=(shape.size, 1)) * 0.2
    theta[4:6, 0] = 2.5, -2.0
    Z = design.regressors(slice(None))
    outside = np.abs(theta[4:6, 0] @ Z[1:]) > free_swing(60)
    assert 3 < outside.sum() < 60
    differences = []
    for observed in (False, True):
        plain = evaluate(design, shape, theta, shape.ridge(0.0), observed)[2][0]
        ridged = evaluate(design, shape, theta, shape.ridge(0.1), observed)[2][0]
        np.testing.assert_allclose(ridged - plain, np.diag(shape.ridge(0.1)[:, 0]), atol=1e-12)
        # Adding a constant to s moves every row but none relative to the average: the barrier must not notice.
        differences.append(plain[4:6, 4:6])
    A, s = theta[:3, 0] @ Z, theta[3:6, 0] @ Z
    weights = 0.5 + (A**2 * np.exp(-s) if form == "natural" else 0.0) + outside
    np.testing.assert_allclose(differences[0], (Z[1:] * weights) @ Z[1:].T / 60, rtol=1e-10)


def test_only_the_intercepts_that_the_location_needs_are_free_of_ridge():
    natural, harvey = (Coefficients(form, 3).ridge(0.5)[:, 0].tolist() for form in FORMS)
    assert natural == [0.5, 0.5, 0.5, 0.0, 0.5, 0.5, 0.0]
    assert harvey == [0.0, 0.5, 0.5, 0.0, 0.5, 0.5]


def test_overflowing_points_are_infinitely_bad():
    rng = np.random.default_rng(4)
    design = Design(Table.standardize(heteroscedastic(rng, 50, 1)), (0,), (1,))
    for form in FORMS:
        shape = Coefficients(form, 2)
        theta = np.zeros((shape.size, 1))
        theta[2:4] = 1e4
        assert np.isposinf(objective(design, shape, theta, shape.ridge(0.0)))
        assert np.isposinf(evaluate(design, shape, theta, shape.ridge(0.0), True)[0])


def test_damped_step_leaves_a_saddle_downhill():
    information, gradient = np.diag([1.0, -2.0]), np.array([0.5, 0.1])
    step, _, saddle = damped_step(information, gradient, 1e-3, 1.0)
    assert saddle
    assert (step * gradient < 0).all()
    longer, _, _ = damped_step(information, gradient, 1e-3, 2.0)
    np.testing.assert_allclose(longer, 2 * step)
    newton, gain, saddle = damped_step(np.diag([1.0, 4.0]), np.array([1.0, 2.0]), 0.0, 1.0)
    assert not saddle
    np.testing.assert_allclose(newton, [-1.0, -0.5])
    assert gain == pytest.approx(1.0)


# --- optima -------------------------------------------------------------------------------------------------


def generic_optimum(design, shape, ridge, rng, starts=10):
    """Best of several runs of a generic optimiser."""

    def value_and_gradient(point):
        value, gradient, _ = derivatives(design, shape, point[:, None], ridge, np.zeros(1), np.zeros(1, int))
        return (float(value[0]), gradient[:, 0]) if np.isfinite(value[0]) else (1e10, np.zeros(len(point)))

    points = [np.zeros(shape.size), *(rng.normal(size=(starts - 1, shape.size)) * 0.5)]
    runs = [optimize.minimize(value_and_gradient, p, jac=True, method="BFGS", tol=1e-7) for p in points]
    return min(run.fun for run in runs)


@both_forms
@pytest.mark.parametrize("seed", range(6))
def test_no_generic_optimiser_finds_a_better_optimum(form, seed):
    rng = np.random.default_rng(100 + seed)
    k = 1 + seed % 3
    table = Table.standardize(heteroscedastic(rng, (60, 150, 300)[seed % 3], k))
    model = ConditionalModel(form=form, ridge=(0.3, 1e-3)[seed % 2])
    fit = model.fit(table, list(range(k)), [k], thorough=True)
    assert fit.converged.all()
    design, shape = Design(table, range(k), (k,)), Coefficients(form, k + 1)
    ridge = shape.ridge(model.ridge / table.shape[0])
    assert fit.objective[0] == pytest.approx(float(objective(design, shape, fit.theta, ridge)[0]), rel=1e-12)
    assert fit.objective[0] <= generic_optimum(design, shape, ridge, rng) + 1e-6


@both_forms
def test_gradient_vanishes_and_information_is_positive_at_the_optimum(form):
    rng = np.random.default_rng(5)
    table = Table.standardize(heteroscedastic(rng, 400, 3, targets=4))
    fit = ConditionalModel(form=form, ridge=0.3).fit(table, [0, 1, 2], [3, 4, 5, 6])
    design, shape = Design(table, (0, 1, 2), (3, 4, 5, 6)), Coefficients(form, 4)
    _, gradient, information = evaluate(design, shape, fit.theta, shape.ridge(0.3 / 400), observed=True)
    steps = np.linalg.solve(information, gradient.T[:, :, None])[:, :, 0]
    assert (np.linalg.eigvalsh(information)[:, 0] > 0).all()
    assert np.einsum("ij,ij->i", gradient.T, steps).max() < 1e-8


@both_forms
@pytest.mark.parametrize("thorough", [False, True])
def test_a_batch_equals_one_target_at_a_time(form, thorough):
    table = Table.standardize(heteroscedastic(np.random.default_rng(6), 500, 3, targets=6))
    model, targets = ConditionalModel(form=form), list(range(3, 9))
    batch = model.fit(table, [0, 1, 2], targets, thorough=thorough)
    for i, target in enumerate(targets):
        alone = model.fit(table, [0, 1, 2], [target], thorough=thorough)
        np.testing.assert_allclose(batch.objective[i], alone.objective[0], atol=1e-9)
        np.testing.assert_allclose(batch.theta[:, i], alone.theta[:, 0], atol=1e-4)


@both_forms
def test_the_same_target_may_be_repeated_under_different_restrictions(form):
    table = Table.standardize(heteroscedastic(np.random.default_rng(7), 400, 2))
    shape = Coefficients(form, 3)
    free = np.ones((shape.size, 3), bool)
    for k in (0, 1):
        free[shape.of_predecessor(k), k] = False
    fit = ConditionalModel(form=form).fit(table, [0, 1], [2, 2, 2], free=free)
    assert (fit.theta[~free] == 0).all()
    assert (fit.theta[free] != 0).all()
    assert (fit.objective[:2] > fit.objective[2]).all()


@both_forms
@pytest.mark.parametrize("cache", [0, 2**30], ids=["never kept", "kept"])
def test_results_do_not_depend_on_the_size_of_blocks(form, cache, monkeypatch):
    X = heteroscedastic(np.random.default_rng(8), 1500, 3, targets=2)
    model = ConditionalModel(form=form)
    whole_table = Table.standardize(X)
    whole = model.fit(whole_table, [0, 1, 2], [3, 4], thorough=True)
    assert len(list(Design(whole_table, (0, 1, 2), (3, 4)).blocks())) == 1
    monkeypatch.setattr(table_module, "BLOCK_BYTES", 1)
    monkeypatch.setattr(table_module, "CACHE_BYTES", cache)
    monkeypatch.setattr(design_module, "CACHE_BYTES", cache)
    table = Table.standardize(X)
    assert (table.cached is None) == (cache == 0)
    design = Design(table, (0, 1, 2), (3, 4))
    assert len(list(design.blocks())) == 6
    assert bool(design._kept) == (cache > 0)
    pieces = model.fit(table, [0, 1, 2], [3, 4], thorough=True)
    np.testing.assert_allclose(pieces.objective, whole.objective, atol=1e-10)
    np.testing.assert_allclose(pieces.theta, whole.theta, atol=1e-6)
    latents = [np.vstack([U for _, U in fit.latents(t)]) for fit, t in ((whole, whole_table), (pieces, table))]
    np.testing.assert_allclose(*latents, atol=1e-6)


@both_forms
def test_held_coefficients_stay_at_zero_and_equal_a_fit_without_them(form):
    table = Table.standardize(heteroscedastic(np.random.default_rng(9), 600, 4, targets=3))
    model, shape = ConditionalModel(form=form), Coefficients(form, 5)
    free = np.ones((shape.size, 3), bool)
    held = shape.of_predecessor(1) + shape.of_predecessor(3)
    free[held] = False
    for thorough in (False, True):
        restricted = model.fit(table, [0, 1, 2, 3], [4, 5, 6], free=free, thorough=thorough)
        smaller = model.fit(table, [0, 2], [4, 5, 6], thorough=thorough)
        assert (restricted.theta[held] == 0).all()
        np.testing.assert_allclose(restricted.objective, smaller.objective, atol=1e-8)
        np.testing.assert_allclose(np.delete(restricted.theta, held, axis=0), smaller.theta, atol=1e-3)


# --- convergence --------------------------------------------------------------------------------------------


@both_forms
def test_running_out_of_iterations_is_reported(form):
    table = Table.standardize(heteroscedastic(np.random.default_rng(10), 300, 3, strength=1.2))
    design, shape = Design(table, (0, 1, 2), (3,)), Coefficients(form, 4)
    start, ridge = np.zeros((shape.size, 1)), shape.ridge(1e-3)
    short = minimize(design, shape, start, ridge, max_iterations=1)
    full = minimize(design, shape, start, ridge)
    assert not short.converged[0]
    assert short.iterations[0] == 1
    assert full.converged[0]
    assert 1 < full.iterations[0] < 100
    begin = objective(design, shape, start, ridge)[0]
    assert full.objective[0] < short.objective[0] <= begin + 1e-12
    assert (start == 0).all()


@both_forms
@pytest.mark.parametrize("thorough", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_single_leverage_point_does_not_run_away(form, thorough, seed):
    rng = np.random.default_rng(seed)
    n = 400
    X = heteroscedastic(rng, n, 2)
    X[7, 0] = 1e6
    table = Table.standardize(X)
    fit = ConditionalModel(form=form, ridge=1e-3).fit(table, [0, 1], [2], thorough=thorough)
    assert fit.converged.all()
    _, s, _ = fit.predictors(table, slice(None))
    assert abs(s[0, 7] - np.median(s)) < free_swing(n) + 5


@both_forms
def test_heavy_tailed_regressors_converge(form):
    rng = np.random.default_rng(12)
    for _ in range(50):
        x = rng.standard_t(1.5, size=(400, 3))
        slopes = rng.normal(size=(2, 3))
        s = np.clip(x @ slopes[0], -4, 4)
        y = np.clip(x @ slopes[1], -4, 4) * np.exp(-s) + np.exp(-s / 2) * rng.normal(size=400)
        fit = ConditionalModel(form=form).fit(Table.standardize(np.column_stack([x, y])), [0, 1, 2], [3])
        assert fit.converged.all()
        assert np.isfinite(fit.theta).all()


@pytest.mark.parametrize("precision", [4.0, 6.0])
def test_a_far_too_precise_start_is_recovered_from(precision):
    table = Table.standardize(np.random.default_rng(11).normal(size=(250, 2)))
    design, shape = Design(table, (0,), (1,)), Coefficients("location-scale", 2)
    start, ridge = np.zeros((4, 1)), shape.ridge(1e-5)
    best = minimize(design, shape, start, ridge)
    start[2] = precision
    found = minimize(design, shape, start, ridge)
    assert found.converged.all()
    np.testing.assert_allclose(found.objective, best.objective, atol=1e-8)


def test_free_swing_widens_with_the_rows():
    assert free_swing(10) == 2.0
    assert free_swing(10**6) > free_swing(1000) > 2.0


def test_large_tables_are_fitted_within_bounded_memory():
    X = heteroscedastic(np.random.default_rng(13), 200_000, 10, targets=10, strength=0.2)
    tracemalloc.start()
    try:
        fit = ConditionalModel().fit(Table.standardize(X), list(range(10)), list(range(10, 20)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert fit.converged.all()
    assert peak < 150e6


# --- many targets together ----------------------------------------------------------------------------------


@both_forms
def test_the_information_of_a_solution_is_that_at_its_end_and_parts_can_be_taken(form):
    rng = np.random.default_rng(31)
    design = Design(Table.standardize(heteroscedastic(rng, 300, 2, targets=4)), (0, 1), (2, 3, 4, 5))
    shape = Coefficients(form, 3)
    ridge = shape.ridge(1e-4)
    found = minimize(design, shape, np.zeros((shape.size, 4)), ridge)
    assert found.converged.all()
    value, _, information = evaluate(design, shape, found.theta, ridge, observed=True)
    np.testing.assert_allclose(found.information, information, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found.objective, value, rtol=1e-12)
    part = found.take(np.array([3, 1]))
    np.testing.assert_array_equal(part.theta, found.theta[:, [3, 1]])
    for name in ("objective", "converged", "iterations", "information"):
        np.testing.assert_array_equal(getattr(part, name), getattr(found, name)[[3, 1]])


@both_forms
def test_steps_together_and_one_by_one_reach_the_same_optimum(form, monkeypatch):
    rng = np.random.default_rng(32)
    design = Design(Table.standardize(heteroscedastic(rng, 300, 2, targets=4)), (0, 1), (2, 3, 4, 5))
    shape = Coefficients(form, 3)
    start, ridge = np.zeros((shape.size, 4)), shape.ridge(1e-4)
    together = minimize(design, shape, start, ridge)
    monkeypatch.setattr(solver_module, "_SMALL", 0)
    single = minimize(design, shape, start, ridge)
    np.testing.assert_allclose(together.objective, single.objective, atol=1e-9)
    np.testing.assert_array_equal(together.iterations, single.iterations)
