"""Tails of weighted sums of squared normals against chi-squares and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from heterodag.core.quadratic_forms import weighted_chi2_sf


@pytest.mark.parametrize("value", [0.5, 4.0, 20.0, 300.0])
def test_equal_weights_are_a_chi_square(value):
    assert weighted_chi2_sf(3 * value, np.full(4, 3.0)) == pytest.approx(chi2.sf(value, 4), rel=1e-12)


@pytest.mark.parametrize("value", [3.0, 8.0, 25.0, 200.0])
def test_almost_equal_weights_are_almost_a_chi_square(value):
    weights = 1.0 - 1e-4 * np.arange(5)
    assert weighted_chi2_sf(value, weights) == pytest.approx(chi2.sf(value, 5), rel=0.05)


def test_simulated_tails():
    weights = np.array([1.0, 1.0, 0.7, 0.3, 0.1, 0.01])
    draws = (np.random.default_rng(0).standard_normal((400_000, 6)) ** 2) @ weights
    for value in (1.0, weights.sum(), 6.0, 10.0, 15.0):
        share = float((draws > value).mean())
        # Four standard errors of the simulation, and 3 % for the approximation.
        bound = 4 * np.sqrt(share * (1 - share) / len(draws)) + 0.03 * share
        assert weighted_chi2_sf(value, weights) == pytest.approx(share, abs=bound)


def test_edges():
    assert weighted_chi2_sf(-1.0, np.ones(2)) == 1.0
    assert weighted_chi2_sf(5.0, np.zeros(3)) == 1.0
