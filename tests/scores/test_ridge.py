"""The ridge rule: what the constants page promises."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag.core.gaussian import NATURAL
from heterodag.core.table import Table
from heterodag.scores.fit import Effort
from heterodag.scores.lines import LineFitter
from heterodag.scores.ridge import ridge_strength


def test_a_hundredth_at_500_rows_falling_with_the_root():
    assert ridge_strength(500) == pytest.approx(0.01)
    assert ridge_strength(2000) == pytest.approx(0.005)
    assert ridge_strength(50_000) == pytest.approx(0.001)


def test_it_is_the_prior_precision_of_a_coefficient_in_the_loss():
    """The loss over all rows is the plain one plus half the strength times squared coefficients."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    table = Table.standardize(np.column_stack([x, 2 * x + np.exp(0.5 * x) * rng.normal(size=200)]))
    (fit,) = LineFitter(NATURAL).fit(table, [(1, (0,))], [None], Effort.FINAL)
    penalised = fit.theta[[0, 1, 3]] ** 2  # not the intercept of s, not the location
    plain = fit.losses(table, slice(None)).sum()
    assert fit.loss - plain == pytest.approx(0.5 * ridge_strength(200) * penalised.sum(), rel=1e-6)
