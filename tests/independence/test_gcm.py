"""The generalised covariance measure: level and power of its regressors, and what it must refuse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from heterodag.errors import DataError, ParameterError
from heterodag.independence.gcm import gcm


@pytest.fixture(autouse=True)
def small_forest(monkeypatch):
    monkeypatch.setattr("heterodag.independence.gcm.TREES", 40)


def rejections(test, runs, alpha):
    return sum(test(np.random.default_rng([run, 5])) < alpha for run in range(runs))


def curved(rng, n=300, effect=0.0):
    """Return x and y, both curves of Z with variances that move with Z, joined by `effect`."""
    Z = rng.standard_normal((n, 2))
    x = np.sin(2 * Z[:, 0]) + np.exp(Z[:, 1] / 2) * rng.standard_normal(n) / 2
    y = np.cos(2 * Z[:, 0]) + Z[:, 1] ** 2 + np.exp(-Z[:, 0] / 2) * rng.standard_normal(n) / 2 + effect * x
    return x, y, Z


def test_level_and_power_of_splines():
    assert rejections(lambda rng: gcm(*curved(rng)), 200, 0.05) <= stats.binom.isf(3e-5, 200, 0.06)
    assert rejections(lambda rng: gcm(*curved(rng, effect=0.3)), 40, 0.001) >= 36


def test_level_and_power_of_forests():
    def run(rng, effect):
        Z = rng.uniform(-2, 2, (150, 1))
        x, y = (Z[:, 0] ** 2 + rng.standard_normal(150) for _ in range(2))
        return gcm(x, y + effect * x, Z, regressor="forest", random_state=1)

    assert rejections(lambda rng: run(rng, 0.0), 4, 0.001) == 0
    assert rejections(lambda rng: run(rng, 1.0), 3, 0.001) == 3


def test_linear_regressions_are_not_enough_for_curves():
    def null(rng):
        Z = rng.standard_normal((300, 1))
        x, y = (Z[:, 0] ** 2 + rng.standard_normal(300) for _ in range(2))
        return gcm(x, y, Z, regressor="linear")

    assert rejections(null, 20, 0.05) > 15


def test_pvalues_are_uniform_for_linear_data():
    rng, pvalues = np.random.default_rng(6), []
    for _ in range(400):
        Z = rng.standard_normal((200, 3))
        x, y = (Z @ rng.standard_normal(3) + rng.standard_normal(200) for _ in range(2))
        pvalues.append(gcm(x, y, Z, regressor="linear"))
    assert stats.kstest(pvalues, "uniform").pvalue > 1e-3


def test_a_callable_regressor_is_used():
    rng = np.random.default_rng(0)
    x, y, Z = curved(rng)

    def least_squares(Z, y):
        design = np.column_stack([np.ones(len(Z)), Z])
        return design @ np.linalg.lstsq(design, y, rcond=None)[0]

    assert gcm(x, y, Z, regressor=least_squares) == pytest.approx(gcm(x, y, Z, regressor="linear"))


@pytest.mark.parametrize("regressor", ["linear", "spline", "forest"])
def test_shift_scale_and_symmetry(regressor):
    x, y, Z = curved(np.random.default_rng(1), 100, 0.2)
    plain = gcm(x, y, Z, regressor=regressor)
    assert gcm(y, x, Z, regressor=regressor) == pytest.approx(plain)
    # Rounding can turn a split of a tree between two nearly equal ones.
    rel = 0.01 if regressor == "forest" else 1e-6
    assert gcm(3 - 8 * x, y / 1000, Z * 4 + 2, regressor=regressor) == pytest.approx(plain, rel=rel)


def test_nothing_to_condition_on_is_a_test_of_correlation():
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((2, 100))
    R = (x - x.mean()) * (y - y.mean())
    expected = 2 * stats.norm.sf(abs(10 * R.mean() / R.std()))
    for regressor in ("spline", "linear", "forest"):
        assert gcm(x, y, np.empty((100, 0)), regressor=regressor) == pytest.approx(expected)


def test_the_forest_has_a_seed():
    samples = curved(np.random.default_rng(3), 80)
    one, two, other = (gcm(*samples, regressor="forest", random_state=seed) for seed in (1, 1, 2))
    assert one == two != other


@pytest.mark.parametrize("regressor", ["linear", "spline"])
def test_degenerate_conditioning_sets(regressor):
    rng = np.random.default_rng(4)
    x, y, z = rng.standard_normal((3, 60))
    y = y + z
    assert gcm(x, y, np.column_stack([z, z, 2 * z, np.ones(60)]), regressor=regressor) == pytest.approx(
        gcm(x, y, z[:, None], regressor=regressor), abs=0.02
    )
    assert gcm(np.ones(60), y, z[:, None], regressor=regressor) == 1
    wide = rng.standard_normal((60, 90))
    assert 0 <= gcm(x, y, wide, regressor=regressor) <= 1
    if regressor == "linear":
        assert gcm(x, y, wide, regressor=regressor) == 1
        assert gcm(z, y, z[:, None], regressor=regressor) == 1


def test_bad_input():
    x, Z = np.arange(6.0), np.ones((6, 1))
    with pytest.raises(DataError, match="`y` has missing"):
        gcm(x, [1, 2, 3, np.inf, 5, 6], Z)
    with pytest.raises(ParameterError, match="`regressor` must be 'spline', 'linear', 'forest' or a callable"):
        gcm(x, x**2, Z, regressor="tree")
    for wrong in (lambda Z, y: y[:3], lambda Z, y: np.full(6, np.nan)):
        with pytest.raises(DataError, match="must return 6 finite fitted values"):
            gcm(x, x**2, Z, regressor=wrong)
