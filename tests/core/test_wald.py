"""Wald's test: exact where the objective is quadratic, near the likelihood ratio of moderate effects."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag.core.gaussian import LOCATION_SCALE, NATURAL
from heterodag.core.table import Table
from heterodag.core.wald import wald_gains
from heterodag.scores.curves import CurveFitter
from heterodag.scores.lines import LineFitter
from heterodag.scores.local import LocalScores

GROUPS = [np.array([0]), np.array([1, 4]), np.array([2, 3, 5]), np.arange(6)]


def quadratics(count=20, size=6, seed=0):
    """Return positive definite second derivatives (with strong correlations) and optima."""
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(count, size, size + 2))
    return roots @ roots.transpose(0, 2, 1), rng.normal(size=(count, size))


def exact_rise(information, theta, own):
    """Return by how much (x - theta)' H (x - theta) / 2 rises at best when x is zero at `own`."""
    rest = np.setdiff1d(np.arange(len(theta)), own)
    step = np.zeros(len(theta))
    step[own] = -theta[own]
    if len(rest):
        step[rest] = -np.linalg.solve(information[np.ix_(rest, rest)], information[np.ix_(rest, own)] @ step[own])
    return 0.5 * step @ information @ step


def test_the_rise_of_a_quadratic_is_exact():
    """Without the other coefficients making up for the loss, most rises would be several times as large."""
    information, theta = quadratics()
    found = wald_gains(information, theta, GROUPS)
    expected = [[exact_rise(H, t, own) for own in GROUPS] for H, t in zip(information, theta, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    alone = [0.5 * H[0, 0] * t[0] ** 2 for H, t in zip(information, theta, strict=True)]
    assert np.median(alone / found[:, 0]) > 2.0


def test_units_do_not_matter():
    information, theta = quadratics(seed=1)
    unit = np.array([1e-6, 1.0, 1e4, 10.0, 1e-3, 1e6])
    found = wald_gains(information / (unit[:, None] * unit), theta * unit, GROUPS)
    np.testing.assert_allclose(found, wald_gains(information, theta, GROUPS), rtol=1e-5)


def test_coefficients_that_are_zero_contribute_nothing():
    """Padding of models with fewer parents: a row and a column of zeros and a coefficient of zero."""
    information, theta = quadratics(seed=2)
    information[:, 3], information[:, :, 3], theta[:, 3] = 0.0, 0.0, 0.0
    found = wald_gains(information, theta, [np.array([3]), np.array([0]), np.array([0, 3])])
    assert np.isfinite(found).all()
    assert (found[:, 0] == 0.0).all()
    np.testing.assert_allclose(found[:, 1], found[:, 2], rtol=1e-5)
    kept = [0, 1, 2, 4, 5]
    without = wald_gains(information[:, kept][:, :, kept], theta[:, kept], [np.array([0])])
    np.testing.assert_allclose(found[:, 1], without[:, 0], rtol=1e-5)


def test_no_groups_and_the_same_coefficient_twice():
    information, theta = quadratics(seed=3)
    assert wald_gains(information, theta, []).shape == (20, 0)
    twin = np.ones((1, 2, 2))  # two coefficients of the same column: either can go
    found = wald_gains(twin, np.array([[1.0, 1.0]]), [np.array([0]), np.array([1]), np.array([0, 1])])
    assert (found[0, :2] < 1e-6).all()
    assert found[0, 2] == pytest.approx(2.0, rel=1e-4)


def contributions_and_ratios(form, kind, seed):
    """Return Wald's contributions and the likelihood ratios of parents of mean, both, spread and nothing."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(1500, 4))
    y = 0.25 * x[:, 0] + 0.1 * x[:, 1] + np.exp(0.1 * x[:, 1] + 0.15 * x[:, 2]) * rng.normal(size=1500)
    scores = LocalScores(Table.standardize(np.column_stack([x, y])), kind(form))
    (whole,) = scores.fits([(4, (0, 1, 2, 3))])
    smaller = scores.losses([(4, tuple(i for i in range(4) if i != k)) for k in range(4)])
    return whole.contributions, np.array(smaller) - whole.loss


both_kinds = pytest.mark.parametrize("kind", [LineFitter, CurveFitter])


@both_kinds
@pytest.mark.parametrize("seed", range(3))
def test_moderate_effects_contribute_about_their_likelihood_ratio(kind, seed):
    """Effects of 15 to 70 nats, and none at all."""
    wald, ratio = contributions_and_ratios(LOCATION_SCALE, kind, seed)
    assert ratio[:3].min() > 15 > 3 > ratio[3]
    np.testing.assert_allclose(wald, ratio, rtol=0.15, atol=0.3)


@both_kinds
@pytest.mark.parametrize("seed", range(3))
def test_in_natural_form_contributions_are_cautious(kind, seed):
    """There the objective bends along the location: effects on the mean count down to half, never much too much.

    What matters is that a parent of no use is told from the others.
    """
    wald, ratio = contributions_and_ratios(NATURAL, kind, seed)
    assert ratio[:3].min() > 15 > 3 > ratio[3]
    assert (wald < 1.2 * ratio + 0.3).all()
    assert (wald[:3] > 0.4 * ratio[:3]).all()
    assert wald[:3].min() > 5 * wald[3]
