"""Score tests: against numerical derivatives, against refitted models, and as a statistic under a true null."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from heterodag.core import table as table_module
from heterodag.core.design import Design
from heterodag.core.gaussian import FORMS, row_derivatives
from heterodag.core.layout import Coefficients
from heterodag.core.parents import ParentDesign
from heterodag.core.score_test import efficient_scores, entry_gains
from heterodag.core.solver import information, minimize
from heterodag.core.table import Table

both_forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
STRENGTH = 1e-2


def fitted(table, form, targets, parents, strength=STRENGTH, tolerance=1e-12):
    design = ParentDesign(table, parents, targets)
    shape = Coefficients(form, design.width)
    ridge = shape.ridge(strength / design.n_rows)
    return minimize(design, shape, np.zeros((shape.width, len(targets))), ridge, tolerance=tolerance).theta


def simulated(rng, n, form):
    """Parents x0 and x1, four targets that depend on them, and two more columns, one of which the parents move."""
    x = rng.normal(size=(n, 2))
    s, A = 0.4 * x[:, 0] - 0.3 * x[:, 1], 0.5 * x[:, 0] + 0.4 * x[:, 1]
    mean = A * np.exp(-s) if form.name == "natural" else A
    y = mean[:, None] + np.exp(-s / 2)[:, None] * rng.normal(size=(n, 4))
    return np.column_stack([x, y, rng.normal(size=n), 0.7 * x[:, 0] + 0.7 * rng.normal(size=n)])


def losses(form, theta, Z, y):
    """Return the loss of all rows, written out with plain formulas."""
    p = len(Z)
    A, s = theta[:p] @ Z, theta[p : 2 * p] @ Z
    mean = theta[2 * p] + A * np.exp(-s) if form.name == "natural" else A
    return 0.5 * np.sum(np.exp(s) * (y - mean) ** 2 - s)


def dense_gain(form, theta, Z, y, z, strength):
    """Return the same half quadratic form from the whole gradient and the whole expected information.

    The expected information is the sum over rows of that of a normal, J' diag(1/sigma^2, 2/sigma^2) J, where J are the
    numerical derivatives of mean and sigma by all coefficients at once.
    """
    p, n = len(Z), len(y)
    wide = np.vstack([Z, z])
    full = np.concatenate([theta[:p], [0.0], theta[p : 2 * p], [0.0], theta[2 * p :]])
    new = [p, 2 * p + 1]

    def moments(point):
        A, s = point[: p + 1] @ wide, point[p + 1 : 2 * p + 2] @ wide
        return (point[-1] + A * np.exp(-s) if form.name == "natural" else A), np.exp(-s / 2)

    step = 1e-5
    moves = step * np.eye(len(full))
    gradient = np.array(
        [(losses(form, full + h, wide, y) - losses(form, full - h, wide, y)) / (2 * step) for h in moves]
    )
    slopes = [
        [(up - down) / (2 * step) for up, down in zip(moments(full + h), moments(full - h), strict=True)]
        for h in moves
    ]
    by_mean, by_sigma = np.array(slopes).transpose(1, 0, 2)
    sigma = moments(full)[1]
    information = (by_mean / sigma**2) @ by_mean.T + (2 * by_sigma / sigma**2) @ by_sigma.T
    ridge = Coefficients(form, p + 1).ridge(strength)[:, 0]
    information += np.diag(ridge)
    efficient = np.linalg.inv(np.linalg.inv(information)[np.ix_(new, new)])
    assert n == wide.shape[1]
    return 0.5 * gradient[new] @ np.linalg.solve(efficient, gradient[new])


@both_forms
@pytest.mark.parametrize("seed", range(3))
def test_gains_are_those_of_a_dense_numerical_computation(form, seed):
    table = Table.standardize(simulated(np.random.default_rng(seed), 200, form))
    targets, parents, columns = [2, 3, 6], [(0, 1), (1, 6), (0, 1)], [5, 6, 7, 4]
    theta = fitted(table, form, targets, parents)
    found = entry_gains(table, form, targets, parents, theta, columns, STRENGTH)
    assert found.shape == (3, 4)
    for i, (target, some) in enumerate(zip(targets, parents, strict=True)):
        Z = np.vstack([np.ones(200), table.take(some)])
        for at, column in enumerate(columns):
            if column != target and column not in some:
                y, z = table.take([target, column])
                expected = dense_gain(form, theta[:, i], Z, y, z, STRENGTH)
                assert found[i, at] == pytest.approx(expected, rel=1e-4, abs=1e-6)


@both_forms
def test_narrow_models_in_a_padded_batch_have_the_gains_they_have_alone(form):
    table = Table.standardize(simulated(np.random.default_rng(3), 300, form))
    parents, targets = [(0,), (0, 1), ()], [2, 3, 4]
    together = entry_gains(table, form, targets, parents, fitted(table, form, targets, parents), [6, 7], STRENGTH)
    for i in range(3):
        theta = fitted(table, form, targets[i : i + 1], parents[i : i + 1])
        alone = entry_gains(table, form, targets[i : i + 1], parents[i : i + 1], theta, [6, 7], STRENGTH)
        np.testing.assert_allclose(together[i], alone[0], rtol=1e-4, atol=1e-5)


@both_forms
def test_under_the_null_twice_the_gain_is_chi_square_with_two_degrees(form):
    """Parents are true, so further columns add nothing; 4 targets x 2 columns x 50 tables."""
    twice = []
    for seed in range(50):
        table = Table.standardize(simulated(np.random.default_rng([4, seed]), 500, form))
        targets = [2, 3, 4, 5]
        theta = fitted(table, form, targets, [(0, 1)] * 4)
        gains = entry_gains(table, form, targets, [(0, 1)] * 4, theta, [6, 7], STRENGTH)
        twice.append(2 * gains)
    # Gains of different targets are independent; those of the two columns nearly so.
    sample = np.concatenate(twice).ravel()
    runs, error = len(sample), np.sqrt(0.05 * 0.95 / len(sample))
    assert runs == 400
    assert abs((sample > stats.chi2.ppf(0.95, 2)).mean() - 0.05) <= 0.01 + 3 * error
    assert stats.kstest(sample, stats.chi2(2).cdf).pvalue > 1e-3


@both_forms
def test_gains_promise_what_refitting_gives(form):
    """For small true effects the estimate is close to the fall of the loss in a fit with the column."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(2000, 2))
    y = 0.3 * x[:, 0] + 0.1 * x[:, 1] + np.exp(0.2 * x[:, 0] + 0.05 * x[:, 1]) * rng.normal(size=2000)
    table = Table.standardize(np.column_stack([x, y]))
    objectives = []
    for parents in ((0,), (0, 1)):
        design, shape = Design(table, parents, (2,)), Coefficients(form, len(parents) + 1)
        start, ridge = np.zeros((shape.width, 1)), shape.ridge(STRENGTH / 2000)
        objectives.append(minimize(design, shape, start, ridge).objective[0])
    fall = 2000 * float(objectives[0] - objectives[1])
    theta = fitted(table, form, [2], [(0,)])
    (gain,) = entry_gains(table, form, [2], [(0,)], theta, [1], STRENGTH)[0]
    assert fall > 5
    assert gain == pytest.approx(fall, rel=0.15)


@both_forms
def test_units_of_the_candidate_do_not_matter(form):
    X = simulated(np.random.default_rng(6), 300, form)
    found = []
    for scale, shift in [(1.0, 0.0), (-3e4, 7e5), (1e-6, -2.0)]:
        changed = X.copy()
        changed[:, 7] = scale * X[:, 7] + shift
        table = Table.standardize(changed)
        theta = fitted(table, form, [2, 3], [(0,), (0, 1)])
        found.append(entry_gains(table, form, [2, 3], [(0,), (0, 1)], theta, [7], STRENGTH))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-5)


@both_forms
def test_a_shift_the_table_does_not_take_out_does_not_matter_either(form):
    """The intercepts are among the nuisance, so a candidate's level is nothing new, standardised or not."""
    X = simulated(np.random.default_rng(7), 300, form)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    gains = []
    for shift in (0.0, 0.5):
        moved = X.copy()
        moved[:, 7] += shift
        table = Table.with_scaling(moved, np.zeros(8), np.ones(8))
        gains.append(entry_gains(table, form, [2], [(0,)], fitted(table, form, [2], [(0,)], 1e-6), [7], 1e-6)[0, 0])
    assert gains[1] == pytest.approx(gains[0], rel=1e-3)


@both_forms
def test_a_copy_of_a_parent_promises_nothing(form):
    X = simulated(np.random.default_rng(8), 300, form)
    X[:, 6] = 3.0 * X[:, 0] - 1.0
    X[:, 7] = X[:, 0] + 2.0 * X[:, 1]
    table = Table.standardize(X)
    targets, parents, columns = [2, 3], [(0, 1), (0, 1)], [0, 1, 6, 7]
    # Where the ridge is too weak to tell, the answer is 0; otherwise a copy shares the ridge's burden, next to nothing.
    for strength, most in [(1e-5, 0.0), (STRENGTH, 0.01)]:
        theta = fitted(table, form, targets, parents, strength)
        found = entry_gains(table, form, targets, parents, theta, columns, strength)
        assert found.min() >= 0.0
        assert found.max() <= most


@both_forms
def test_gains_do_not_depend_on_row_blocks_or_on_the_shared_design(form, monkeypatch):
    table = Table.standardize(simulated(np.random.default_rng(9), 700, form))
    design, shape = Design(table, (0, 1), (2, 3)), Coefficients(form, 3)
    theta = minimize(design, shape, np.zeros((shape.width, 2)), shape.ridge(STRENGTH / 700), tolerance=1e-12).theta
    whole = entry_gains(table, form, [2, 3], [(0, 1)] * 2, theta, [4, 6, 7], STRENGTH)
    monkeypatch.setattr(table_module, "BLOCK_BYTES", 1)
    cut = entry_gains(table, form, [2, 3], [(0, 1)] * 2, theta, [4, 6, 7], STRENGTH)
    np.testing.assert_allclose(cut, whole, rtol=1e-9)


@both_forms
def test_efficient_scores_are_slopes_and_information_left_over(form):
    """Against the gradient and the information of the whole design, from the solver."""
    table = Table.standardize(simulated(np.random.default_rng(4), 600, form))
    design = Design(table, (0, 1, 6, 7), (2,))
    shape, used = Coefficients(form, 5), np.array([0, 1, 2])
    nuisance = shape.embed(used)
    theta = np.zeros((shape.size, 1))
    theta[nuisance] = fitted(table, form, [2], [(0, 1)], 1e-6)
    scores, variances = efficient_scores(design, shape, theta, used)
    Z, y = design.regressors(slice(None)), table.take([2])
    moves = 1e-5 * np.eye(shape.size)
    gradient = [
        (losses(form, theta[:, 0] + h, Z, y[0]) - losses(form, theta[:, 0] - h, Z, y[0])) / 2e-5 for h in moves
    ]
    rows = row_derivatives(form, y, *shape.predictors(theta, Z))
    # The new columns' coefficients are held at zero, so that the information is that at this very point.
    held = np.zeros((shape.size, 1))
    held[np.setdiff1d(np.arange(shape.size), nuisance)] = 1e9
    whole = 600 * (information(design, shape, theta, held)[0] - np.diag(held[:, 0]))
    for side in (0, 1):
        for column in (3, 4):
            at = column + 5 * side
            assert scores[side, column] == pytest.approx(gradient[at], rel=1e-5, abs=1e-4)
            cross = whole[at, nuisance]
            left = 1.0 - cross @ np.linalg.solve(whole[np.ix_(nuisance, nuisance)], cross) / whole[at, at]
            assert 0.0 < left < 1.0
            seen = float(((rows.A, rows.s)[side][0] * Z[column]) @ ((rows.A, rows.s)[side][0] * Z[column]))
            assert variances[side, column] == pytest.approx(min(seen, whole[at, at]) * left, rel=1e-3)


@both_forms
def test_a_column_in_use_has_no_variance_left(form):
    table = Table.standardize(simulated(np.random.default_rng(5), 400, form))
    theta = fitted(table, form, [2], [(0, 1)], 1e-6)
    _, variances = efficient_scores(Design(table, (0, 1), (2,)), Coefficients(form, 3), theta, np.arange(3))
    assert (variances < 1e-3 * 400).all()
