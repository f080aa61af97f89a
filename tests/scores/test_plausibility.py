"""Is noise normal? Where it is for one variable, where it is for none, and whatever the number of rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import shapiro

from heterodag.core.gaussian import NATURAL
from heterodag.core.table import Table
from heterodag.scores import plausibility
from heterodag.scores.lines import LineFitter
from heterodag.scores.local import LocalScores
from heterodag.scores.plausibility import FAR_FROM_NORMAL, judge


def chain(noise, seed, n=1000):
    rng = np.random.default_rng(seed)
    x, e, u = noise(rng, (3, n))
    y = 0.8 * x + e
    return LocalScores(Table.standardize(np.column_stack([x, y, 0.8 * y + u])), LineFitter(NATURAL))


def normal(rng, size):
    return rng.normal(size=size)


def skewed(rng, size):
    return rng.exponential(size=size) ** 2


CAUSES = {0: (), 1: (0,), 2: (1,)}


@pytest.mark.parametrize("seed", range(5))
def test_normal_noise_is_plausible_and_skewed_noise_is_far(seed):
    good, bad = judge(chain(normal, seed), CAUSES), judge(chain(skewed, seed), CAUSES)
    assert good.best > 0.99
    assert not good.far
    assert bad.best < FAR_FROM_NORMAL
    assert bad.far


def test_one_normal_variable_is_enough():
    scores = chain(skewed, 1)
    X = scores.table.X.copy()
    X[:, 0] = np.random.default_rng(2).normal(size=1000)
    scores = LocalScores(Table.standardize(X), LineFitter(NATURAL))
    assert not judge(scores, {0: (), 1: (), 2: ()}).far
    assert judge(scores, {1: (), 2: (1,)}).far


def test_the_statistic_is_that_of_the_residuals():
    scores = chain(skewed, 3)
    found = judge(scores, CAUSES)
    fits = scores.fits(list(CAUSES.items()))
    assert found.best == pytest.approx(max(shapiro(fit.residuals(scores.table)).statistic for fit in fits), rel=1e-6)


def test_only_so_many_rows_are_looked_at(monkeypatch):
    """Few rows make any statistic unsure: with 20 of them nothing is far from normal at this level."""
    monkeypatch.setattr(plausibility, "_ROWS", 20)
    mild = chain(lambda rng, size: rng.gamma(4.0, size=size), 4)
    assert not judge(mild, CAUSES).far
    monkeypatch.setattr(plausibility, "_ROWS", 1000)
    assert judge(mild, CAUSES).far
