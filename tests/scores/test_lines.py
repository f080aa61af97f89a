"""Lines (Algorithm 1): true coefficients are found, residuals are normal, nothing depends on units or company."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from heterodag.core.design import Design
from heterodag.core.gaussian import FORMS, NATURAL
from heterodag.core.layout import Coefficients
from heterodag.core.solver import information, minimize
from heterodag.core.starts import log_squares_start
from heterodag.core.table import Table
from heterodag.scores import lines
from heterodag.scores.fit import Effort
from heterodag.scores.lines import ACCURACY, LineFitter
from heterodag.scores.ridge import ridge_strength
from heterodag.simulation import simulate

both_forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)

#: Intercept and slopes of A and s, and the location, on the raw scale of the predecessors.
A_TRUE = np.array([0.5, 0.8, -0.4])
S_TRUE = np.array([-0.3, 0.6, 0.5])
M_TRUE = 1.5
KEY = (2, (0, 1))


def predecessors(rng, n):
    return np.column_stack([rng.normal(2.0, 1.0, n), rng.uniform(-3.0, 1.0, n)])


def simulate_target(rng, x, form):
    Z = np.column_stack([np.ones(len(x)), x])
    s, A = Z @ S_TRUE, Z @ A_TRUE
    mean = M_TRUE + A * np.exp(-s) if form is NATURAL else A
    return mean + np.exp(-s / 2) * rng.normal(size=len(x))


def table_of(form, n, seed):
    rng = np.random.default_rng(seed)
    x = predecessors(rng, n)
    return Table.standardize(np.column_stack([x, simulate_target(rng, x, form)]))


def fit_one(form, table, key=KEY, effort=Effort.FINAL, start=None):
    return LineFitter(form).fit(table, [key], [start], effort)[0]


def standardised_truth(form, table):
    """Return the true coefficients in the units in which the model is fitted."""
    lx, sx = table.location[:2], table.scale[:2]
    ly, sy = table.location[2], table.scale[2]

    def shifted(c):
        return np.r_[c[0] + c[1:] @ lx, c[1:] * sx]

    s = shifted(S_TRUE)
    s[0] += 2 * np.log(sy)
    if form is NATURAL:
        return np.r_[shifted(A_TRUE) * sy, s, (M_TRUE - ly) / sy]
    A = shifted(A_TRUE) / sy
    A[0] -= ly / sy
    return np.r_[A, s]


@both_forms
@pytest.mark.parametrize("seed", range(3))
def test_true_coefficients_are_within_a_few_standard_errors(form, seed):
    n = 20_000
    table = table_of(form, n, seed)
    fit = fit_one(form, table)
    assert fit.converged
    design, shape = Design(table, (0, 1), (2,)), Coefficients(form, 3)
    found = information(design, shape, fit.theta[:, None], shape.ridge(1e-9))
    errors = np.sqrt(np.linalg.inv(found[0]).diagonal() / n)
    truth = standardised_truth(form, table)
    assert (np.abs(fit.theta - truth) < 4 * errors).all()
    # The errors are small enough for the comparison to mean something.
    slopes = [1, 2, 4, 5]
    assert (np.abs(truth[slopes]) > 8 * errors[slopes]).all()


@both_forms
def test_residuals_given_the_true_parents_are_standard_normal(form):
    table = table_of(form, 5000, 3)
    marginal = fit_one(form, table, (2, ())).residuals(table)
    U = fit_one(form, table).residuals(table)
    x = table.take([0, 1])
    assert stats.shapiro(U).statistic > 0.999 > stats.shapiro(marginal).statistic
    assert abs(U.mean()) < 0.06
    assert U.std() == pytest.approx(1.0, abs=0.04)
    assert np.abs(np.corrcoef(U, x)[0, 1:]).max() < 0.05
    assert np.abs(np.corrcoef(U**2, x)[0, 1:]).max() < 0.05


@both_forms
@pytest.mark.parametrize("seed", range(3))
def test_residuals_do_not_depend_on_units(form, seed):
    X = table_of(form, 600, 10 + seed).X
    table = Table.standardize(X)
    plain = fit_one(form, table).residuals(table)
    for shift, scale in [
        ([0, 0, 50.0], [1, 1, 1]),
        ([7.0, -3.0, 2.0], [1e3, 1e-3, 12.0]),
        ([0, 1.0, 4.0], [-2.0, 5.0, 1.0]),
        ([1.0, 0, -9.0], [3.0, -0.1, -4.0]),
    ]:
        other = Table.standardize(X * scale + shift)
        moved = fit_one(form, other).residuals(other)
        np.testing.assert_allclose(moved, np.sign(scale[2]) * plain, atol=1e-6)


def test_the_natural_form_is_closed_under_shifts_of_the_target():
    """Without its free location the linear natural form is not (findings, section 2): held at 0 it fits worse."""
    table, shape = table_of(NATURAL, 3000, 4), Coefficients(NATURAL, 3)
    free = np.ones((7, 2), bool)
    free[6, 0] = False
    held, full = minimize(Design(table, (0, 1), (2, 2)), shape, np.zeros((3, 2)), shape.ridge(1e-6), free).objective
    assert held > full + 1e-4


@both_forms
def test_losses_are_those_of_thorough_fits(form):
    """Against the better of two starts followed to their ends; a start given up too early is rare (`test_solver`)."""
    excess = []
    for seed in range(6):
        table = Table.standardize(simulate(300, 7, degree=2, random_state=seed).X)
        keys = [(j, tuple(i for i in range(7) if i < j)) for j in range(1, 7)]
        fits = LineFitter(form).fit(table, keys, [None] * 6, Effort.FINAL)
        assert all(fit.converged for fit in fits)
        for (j, parents), fit in zip(keys, fits, strict=True):
            design, shape = Design(table, parents, (j,)), Coefficients(form, len(parents) + 1)
            ridge = shape.ridge(ridge_strength(300) / 300)
            starts = np.zeros((shape.width, 1)), log_squares_start(design)
            best = min(minimize(design, shape, b, ridge).objective[0] for b in starts)
            excess.append(fit.loss - 300 * best)
    assert np.min(excess) > -0.1
    assert (np.array(excess) < 2 * ACCURACY[Effort.FINAL]).mean() >= 0.9


@both_forms
def test_contributions_are_near_the_fall_of_the_loss_for_moderate_effects(form):
    """With a clear effect on the spread: without one, the natural form's two intercepts are not told apart."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=(3000, 3))
    s = x @ [0.12, 0.0, -0.8]
    mean = x @ [0.1, 0.0, 0.1]
    y = (mean * np.exp(-s) if form is NATURAL else mean) + np.exp(-s / 2) * rng.normal(size=3000)
    table = Table.standardize(np.column_stack([x, y]))
    full, *less = LineFitter(form).fit(
        table, [(3, (0, 1, 2)), (3, (1, 2)), (3, (0, 2)), (3, (0, 1))], [None] * 4, Effort.FINAL
    )
    falls = np.array([fit.loss - full.loss for fit in less])
    assert 10 < falls[0] < 100
    np.testing.assert_allclose(full.contributions[:2], falls[:2], rtol=0.15, atol=0.3)
    assert full.contributions[2] > 100
    assert falls[2] > 100


@both_forms
@pytest.mark.parametrize("effort", list(Effort))
def test_company_changes_nothing(form, effort):
    table = Table.standardize(simulate(300, 7, degree=2, random_state=2).X)
    keys = [(0, ()), (1, (0,)), (2, (0, 1)), (3, (4,)), (4, (0, 2)), (5, (0, 1, 2)), (6, (1, 2, 3, 4)), (0, (5, 6))]
    together = LineFitter(form).fit(table, keys, [None] * len(keys), effort)
    for key, fit in zip(keys, together, strict=True):
        alone = fit_one(form, table, key, effort)
        assert alone.key == fit.key == key
        assert alone.loss == pytest.approx(fit.loss, abs=1e-3)
        np.testing.assert_allclose(alone.theta, fit.theta, atol=2e-2)
        np.testing.assert_allclose(alone.contributions, fit.contributions, rtol=0.02, atol=0.02)


def test_more_effort_is_not_worse_on_the_whole_and_goes_on_until_it_converges():
    """Single models may fare worse: a second start can outrun, and end, a first one that would have been better."""
    totals = np.zeros(3)
    for seed in range(8):
        table = Table.standardize(simulate(300, 7, degree=3, random_state=50 + seed).X)
        keys = [(j, tuple(i for i in range(7) if i != j)) for j in range(7)]
        found = [LineFitter(NATURAL).fit(table, keys, [None] * 7, effort) for effort in Effort]
        assert [fits[0].effort for fits in found] == list(Effort)
        totals += [sum(fit.loss for fit in fits) for fits in found]
        _, sought, final = found
        assert all(b.loss <= a.loss + 0.1 for a, b in zip(sought, final, strict=True))
        assert all(fit.converged for fit in final)
    assert totals[1] < totals[0] + 0.2 * 56  # a fifth of a nat for each of 56 models
    assert totals[2] <= totals[1]


def test_a_start_with_fewer_parents_puts_every_slope_in_its_place(monkeypatch):
    table = Table.standardize(simulate(300, 5, degree=2, random_state=6).X)
    smaller = fit_one(NATURAL, table, (3, (0, 2)))
    seen = []
    whole = lines.minimize
    monkeypatch.setattr(lines, "minimize", lambda d, s, b, *a, **k: seen.append(b.copy()) or whole(d, s, b, *a, **k))
    larger = fit_one(NATURAL, table, (3, (0, 1, 2)), Effort.ROUND, smaller)
    b = smaller.theta[smaller.shape.spread]
    np.testing.assert_array_equal(seen[0][:, 0], [b[0], b[1], 0.0, b[2]])
    assert larger.loss <= smaller.loss + 0.1


def test_residuals_of_a_batch_are_those_of_its_models():
    table = Table.standardize(simulate(300, 5, degree=2, random_state=7).X)
    fitter = LineFitter(NATURAL)
    for keys in ([(2, (0, 1)), (1, ()), (4, (1, 2, 3))], [(2, (0, 1)), (3, (0, 1))]):
        fits = fitter.fit(table, keys, [None] * len(keys), Effort.SEARCH)
        np.testing.assert_allclose(
            fitter.residuals(table, fits), [fit.residuals(table) for fit in fits], rtol=1e-8, atol=1e-8
        )


def test_batches_hold_everything_once_within_bounds():
    keys = [(j, tuple(range(k))) for k in (0, 1, 2, 9, 30) for j in range(40, 75)]
    table = Table.standardize(np.random.default_rng(0).normal(size=(500, 75)))
    for batches in (LineFitter(NATURAL).batches(table, keys), LineFitter(NATURAL).gain_batches(table, keys)):
        batches = list(batches)
        assert sorted(key for batch in batches for key in batch) == sorted(keys)
        assert len(batches) > 1

    def floats(parents):
        return (len(parents) + 2) * (len(parents) + 3) * 500

    batches = list(lines.cut(keys, floats))
    assert len(batches) > 3
    for batch in batches:
        widest = max(floats(parents) for _, parents in batch)
        assert len(batch) == 1 or len(batch) * widest <= lines._BATCH_FLOATS
