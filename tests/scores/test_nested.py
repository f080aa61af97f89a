"""Models that differ by a parent: all else is equal, so their losses tell about that parent alone."""

import numpy as np
import pytest

from heterodag import simulate
from heterodag.core.blocks import Blocks
from heterodag.core.gaussian import LOCATION_SCALE, NATURAL
from heterodag.core.location_scale import CLOSED
from heterodag.core.parts import array_parts
from heterodag.core.splines import SplineBasis
from heterodag.core.table import Table
from heterodag.scores.competition import CompetingFitter
from heterodag.scores.lines import LineFitter
from heterodag.scores.local import LocalScores
from heterodag.scores.nested import curved, curves_of, relative, straightened, with_parent, without_parent
from heterodag.scores.newton import fit_sample, penalty_of
from heterodag.scores.spline_design import spline_of

FITTERS = {
    "lines": LineFitter(LOCATION_SCALE),
    "natural lines": LineFitter(NATURAL),
    "curves": CompetingFitter(forms=(LOCATION_SCALE,), noise="gaussian"),
}


@pytest.fixture(scope="module")
def table():
    star = np.zeros((4, 4), dtype=int)
    star[:3, 3] = 1
    return Table.standardize(simulate(3000, 4, mechanism="curved", spread="curved", adjacency=star, random_state=5).X)


@pytest.fixture(params=sorted(FITTERS))
def scores(request, table):
    return LocalScores(table, FITTERS[request.param])


def predicted(fit, table):
    A, s, m = fit.predictors(table, slice(None))
    return np.array([A[0], s[0], np.broadcast_to(m, A.shape)[0]])


def test_a_new_parent_changes_nothing_at_the_start(scores, table):
    (known,) = scores.fits([(3, (0, 2))])
    start = with_parent(known, (0, 1, 2), NATURAL)
    assert (start.parents, start.form) == ((0, 1, 2), known.form)
    np.testing.assert_allclose(predicted(start, table), predicted(known, table), atol=1e-12)
    if isinstance(known.basis, SplineBasis):
        assert max(known.basis.widths) > 1
        assert start.basis.widths == (
            known.basis.widths[0],
            1,
            known.basis.widths[1],
        )  # the new parent acts by a line


def test_a_parent_that_leaves_takes_nothing_else_along(scores, table):
    (known,) = scores.fits([(3, (0, 2))])
    back = without_parent(with_parent(known, (0, 1, 2), known.form), (0, 2))
    np.testing.assert_array_equal(back.theta, known.theta)
    np.testing.assert_allclose(predicted(back, table), predicted(known, table), atol=1e-12)


def test_a_variable_without_parents_takes_the_form_that_is_given(table):
    (alone,) = LocalScores(table, FITTERS["lines"]).fits([(3, ())])
    start = with_parent(alone, (1,), NATURAL)
    assert start.form is NATURAL
    np.testing.assert_allclose(predicted(start, table), 0.0)


def test_a_relative_differs_by_one_parent_or_has_more(scores):
    fits = scores.fits([(3, (0,)), (3, (0, 1, 2)), (2, (0,)), (3, ())])
    assert relative((3, (0, 1)), fits) in fits[:2]
    assert relative((3, (0, 1)), fits).loss == min(fit.loss for fit in fits[:2])
    assert relative((3, (1,)), fits[1:3]) is fits[1]  # it has more parents
    assert relative((3, (1, 2)), fits[:1]) is None
    assert relative((3, ()), fits) is None  # its optimum is known
    assert relative((2, (0, 1)), fits) is fits[2]


def with_curves(fit, table):
    return curved(fit, {j: spline_of(table, j, 8) for j in fit.parents})


def test_new_curves_change_nothing_at_the_start(scores, table):
    (known,) = scores.fits([(3, (0, 1, 2))])
    start = with_curves(known, table)
    np.testing.assert_allclose(predicted(start, table), predicted(known, table), atol=1e-12)
    assert len(curves_of(start)) == 6  # three parents, two predictors
    had = {parent for parent, _ in curves_of(known)}
    assert not any(start.theta[at].any() for (parent, _), at in curves_of(start).items() if parent not in had)


@pytest.fixture(scope="module")
def gently_bent():
    """Return a table in which the second column follows the first one in a line, its spread by a gentle curve."""
    x, other, e = np.random.default_rng(3).standard_normal((3, 60_000))
    return Table.standardize(np.column_stack([x, 0.5 * x + np.exp(0.15 * np.tanh(x)) * e, other + x]))


def fitted(start, table):
    """Return a model with curves at the optimum, with its second derivatives (penalties included)."""
    n = table.shape[0]
    blocks = [Blocks(tuple(array_parts(table.X, 10_000)), n, table.location, table.scale)]
    ((fit, second),) = fit_sample([start], lambda function, fits: function(blocks[0], fits), n)
    return fit, second + np.diag(penalty_of(fit, n))


def test_only_curves_that_pay_are_kept(gently_bent):
    table = gently_bent
    (known,) = LocalScores(table, FITTERS["lines"]).fits([(1, (0, 2))])
    fit, second = fitted(with_curves(known, table), table)
    straight, left = straightened(fit, second, 60_000)
    assert straight.basis.widths == (8, 1)  # the first parent bends the spread, the second nothing
    assert straight.strengths[0, 0] == CLOSED > straight.strengths[1, 0]
    assert len(left) == len(straight.theta)
    again, second = fitted(straight, table)
    assert again.loss < fit.loss  # fewer coefficients to pay for
    np.testing.assert_allclose(again.theta, straight.theta, atol=0.01)  # the start was at about the optimum
    assert straightened(again, second, 60_000) is None
