"""The likelihood test with splines: level where a nuisance is curved, power for curves, and what it says of edges."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from heterodag import recover_dag
from heterodag.independence.likelihood import likelihood


def null_pvalue(seed, parametrization, n=400):
    """x is driven by z along a curve, and so is y; x does nothing to y."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(n)
    x = z**2 + 0.5 * rng.standard_normal(n)
    y = np.sin(1.5 * z) + 0.6 * z**2 + np.exp(0.4 * np.sin(z)) * rng.standard_normal(n)
    return likelihood(x, y, z[:, None], parametrization=parametrization, form="location-scale")


def test_level_where_the_nuisance_is_curved():
    runs = 40
    splines = sum(null_pvalue(seed, "spline") < 0.1 for seed in range(runs))
    # At a level of 0.1 more than 10 of 40 are a one in a thousand event; lines alone reject nearly always.
    assert splines <= binom.ppf(0.999, runs, 0.1)
    assert sum(null_pvalue(seed, "linear") < 0.1 for seed in range(10)) >= 8


def test_power_for_a_symmetric_curve():
    rng = np.random.default_rng(1)
    x, z = rng.standard_normal((2, 400))
    y = np.cos(2 * x) + z + rng.standard_normal(400)
    assert likelihood(x, y, z[:, None], parametrization="spline", form="location-scale") < 1e-6
    assert likelihood(x, y, z[:, None], form="location-scale") > 1e-6


def test_mean_and_spread_are_told_apart():
    rng = np.random.default_rng(2)
    x = rng.standard_normal(600)
    y = np.exp(0.5 * np.cos(2 * x)) * rng.standard_normal(600)
    found = recover_dag(np.column_stack([x, y]), [0, 1], parametrization="spline", form="location-scale")
    assert found.details["variance_pvalues"][0, 1] < 1e-4
    assert found.details["mean_pvalues"][0, 1] > 1e-3
    assert found.pvalues[0, 1] < 1e-3
