"""Algorithm 1: true coefficients are found, latents are normal, and nothing depends on units."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from heterodag.core.design import Design
from heterodag.core.gaussian import FORMS, mean_and_scale
from heterodag.core.solver import Coefficients, derivatives, minimize
from heterodag.core.table import Table
from heterodag.errors import ParameterError
from heterodag.models import conditional
from heterodag.models.conditional import ConditionalModel, extend

both_forms = pytest.mark.parametrize("form", FORMS)

#: Intercept and slopes of A and s, and the location, on the raw scale of the predecessors.
A_TRUE = np.array([0.5, 0.8, -0.4])
S_TRUE = np.array([-0.3, 0.6, 0.5])
M_TRUE = 1.5


def predecessors(rng, n):
    return np.column_stack([rng.normal(2.0, 1.0, n), rng.uniform(-3.0, 1.0, n)])


def simulate_target(rng, x, form):
    Z = np.column_stack([np.ones(len(x)), x])
    s, A = Z @ S_TRUE, Z @ A_TRUE
    mean = M_TRUE + A * np.exp(-s) if form == "natural" else A
    return mean + np.exp(-s / 2) * rng.normal(size=len(x))


def standardised_truth(form, table):
    """Return the true coefficients in the units in which the model is fitted."""
    lx, sx = table.location[:2], table.scale[:2]
    ly, sy = table.location[2], table.scale[2]

    def shifted(c):
        return np.r_[c[0] + c[1:] @ lx, c[1:] * sx]

    s = shifted(S_TRUE)
    s[0] += 2 * np.log(sy)
    if form == "natural":
        return np.r_[shifted(A_TRUE) * sy, s, (M_TRUE - ly) / sy]
    A = shifted(A_TRUE) / sy
    A[0] -= ly / sy
    return np.r_[A, s]


def latents(fit, table):
    return np.vstack([U for _, U in fit.latents(table)])


@both_forms
@pytest.mark.parametrize("seed", range(3))
def test_true_coefficients_are_within_a_few_standard_errors(form, seed):
    rng = np.random.default_rng(seed)
    n = 20_000
    x = predecessors(rng, n)
    table = Table.standardize(np.column_stack([x, simulate_target(rng, x, form)]))
    fit = ConditionalModel(form=form, ridge=1e-3).fit(table, [0, 1], [2])
    assert fit.converged.all()
    design, shape = Design(table, (0, 1), (2,)), Coefficients(form, 3)
    _, _, information = derivatives(design, shape, fit.theta, shape.ridge(0.0), np.zeros(1), np.zeros(1, int))
    errors = np.sqrt(np.linalg.inv(information[0]).diagonal() / n)
    truth = standardised_truth(form, table)
    assert (np.abs(fit.theta[:, 0] - truth) < 4 * errors).all()
    # The errors are small enough for the comparison to mean something.
    slopes = [1, 2, 4, 5]
    assert (np.abs(truth[slopes]) > 8 * errors[slopes]).all()


@both_forms
def test_latents_given_the_true_parents_are_standard_normal(form):
    rng = np.random.default_rng(3)
    x = predecessors(rng, 5000)
    table = Table.standardize(np.column_stack([x, simulate_target(rng, x, form)]))
    marginal = latents(ConditionalModel(form=form).fit(table, [], [2]), table)[0]
    U = latents(ConditionalModel(form=form).fit(table, [0, 1], [2]), table)[0]
    assert stats.shapiro(U).statistic > 0.999 > stats.shapiro(marginal).statistic
    assert abs(U.mean()) < 0.06
    assert U.std() == pytest.approx(1.0, abs=0.04)
    assert np.abs(np.corrcoef(U, x.T)[0, 1:]).max() < 0.05
    assert np.abs(np.corrcoef(U**2, x.T)[0, 1:]).max() < 0.05


@both_forms
@pytest.mark.parametrize("seed", range(3))
def test_latents_do_not_depend_on_units(form, seed):
    rng = np.random.default_rng(10 + seed)
    x = predecessors(rng, 600)
    X = np.column_stack([x, simulate_target(rng, x, form)])
    model, table = ConditionalModel(form=form), Table.standardize(X)
    plain = latents(model.fit(table, [0, 1], [2]), table)[0]
    for shift, scale in [
        ([0, 0, 50.0], [1, 1, 1]),
        ([7.0, -3.0, 2.0], [1e3, 1e-3, 12.0]),
        ([0, 1.0, 4.0], [-2.0, 5.0, 1.0]),
        ([1.0, 0, -9.0], [3.0, -0.1, -4.0]),
    ]:
        other = Table.standardize(X * scale + shift)
        moved = latents(model.fit(other, [0, 1], [2]), other)[0]
        np.testing.assert_allclose(moved, np.sign(scale[2]) * plain, atol=1e-6)


def test_the_natural_form_is_closed_under_shifts_of_the_target():
    """Without its free location the linear natural form is not (findings, section 2): held at 0 it fits worse."""
    rng = np.random.default_rng(4)
    x = predecessors(rng, 3000)
    table = Table.standardize(np.column_stack([x, simulate_target(rng, x, "natural")]))
    free = np.ones((7, 2), bool)
    free[6, 0] = False
    held, full = ConditionalModel().fit(table, [0, 1], [2, 2], free=free).objective
    assert held > full + 1e-4


@both_forms
@pytest.mark.parametrize("n", [4001, 12_000, 90_000])
def test_the_coarse_start_reaches_the_optimum_of_a_direct_fit(form, n, monkeypatch):
    rng = np.random.default_rng(n)
    x = predecessors(rng, n)
    table = Table.standardize(np.column_stack([x, simulate_target(rng, x, form), rng.normal(size=n)]))
    seen = []
    minimize_here = conditional.minimize
    monkeypatch.setattr(
        conditional, "minimize", lambda d, *a, **k: seen.append(d.n_rows) or minimize_here(d, *a, **k)
    )
    model = ConditionalModel(form=form)
    coarse = model.fit(table, [0, 1], [2, 3])
    assert (len(seen) > 1) == (n > 10_000)
    assert seen[-1] == n
    design, shape = Design(table, (0, 1), (2, 3)), Coefficients(form, 3)
    direct = minimize(design, shape, np.zeros((shape.size, 2)), shape.ridge(model.ridge / n))
    assert coarse.converged.all()
    assert direct.converged.all()
    np.testing.assert_allclose(coarse.objective, direct.objective, atol=1e-8)


@both_forms
def test_without_predecessors_the_latents_are_the_standardised_columns(form):
    table = Table.standardize(np.random.default_rng(5).normal(3, 2, size=(200, 3)))
    fit = ConditionalModel(form=form).fit(table, [], [2, 0])
    np.testing.assert_allclose(latents(fit, table), table.take([2, 0]), atol=1e-6)
    np.testing.assert_allclose(fit.objective, 0.5, atol=1e-9)


@both_forms
def test_losses_are_minus_the_log_density(form):
    rng = np.random.default_rng(6)
    x = predecessors(rng, 300)
    table = Table.standardize(np.column_stack([x, simulate_target(rng, x, form)]))
    fit = ConditionalModel(form=form, ridge=0.3).fit(table, [0, 1], [2])
    mean, scale = mean_and_scale(form, *fit.predictors(table, slice(None)))
    y = table.take([2])
    density = stats.norm.logpdf(y, mean, scale)
    np.testing.assert_allclose(fit.losses(table, slice(None)), -density - 0.5 * np.log(2 * np.pi), atol=1e-10)
    np.testing.assert_allclose(latents(fit, table), (y - mean) / scale, atol=1e-10)
    penalty = 0.5 * (Coefficients(form, 3).ridge(0.3 / 300) * fit.theta**2).sum()
    assert fit.objective[0] == pytest.approx(fit.losses(table, slice(None)).mean() + penalty, abs=1e-10)


@both_forms
def test_latents_come_in_parts_that_cover_all_targets(form):
    rng = np.random.default_rng(7)
    table = Table.standardize(rng.normal(size=(300, 6)))
    fit = ConditionalModel(form=form).fit(table, [0, 1], [5, 2, 3, 4])
    single = [latents(fit.part(slice(i, i + 1)), table)[0] for i in range(4)]
    np.testing.assert_allclose(latents(fit, table), single, atol=1e-10)


@both_forms
def test_extending_a_solution_changes_neither_predictions_nor_objective(form):
    rng = np.random.default_rng(8)
    x = predecessors(rng, 400)
    table = Table.standardize(np.column_stack([x, simulate_target(rng, x, form), rng.normal(size=(400, 2))]))
    model = ConditionalModel(form=form)
    fit = model.fit(table, [0, 1], [2, 4])
    longer = extend(fit.theta, form, 1)
    design, shape = Design(table, (0, 1, 3), (2, 4)), Coefficients(form, 4)
    assert longer.shape == (shape.size, 2)
    A, s, m = shape.predictors(longer, design.regressors(slice(None)))
    A0, s0, m0 = fit.predictors(table, slice(None))
    np.testing.assert_allclose(A, A0, atol=1e-12)
    np.testing.assert_allclose(s, s0, atol=1e-12)
    assert np.array_equal(m, m0)
    warm = model.fit(table, [0, 1, 3], [2, 4], warm=longer)
    assert (warm.objective <= fit.objective + 1e-12).all()


@pytest.mark.parametrize(("field", "value"), [("parametrization", "cubic"), ("form", "Natural"), ("form", None)])
def test_bad_choices_are_named(field, value):
    with pytest.raises(ParameterError, match=rf"`{field}` must be one of"):
        ConditionalModel(**{field: value})
