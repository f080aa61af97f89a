"""GAM selection: level and power under a moving variance, batches against pairs, degenerate tables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from heterodag.core.graph import full_dag
from heterodag.errors import DataError, ParameterError
from heterodag.independence import gam as module
from heterodag.independence._regression import nested
from heterodag.independence.contract import EdgeProblem
from heterodag.independence.gam import gam, gam_edges


def problem(X, order=None, candidates=None, **options):
    order = np.arange(X.shape[1]) if order is None else np.asarray(order)
    candidates = full_dag(order).astype(bool) if candidates is None else candidates
    return EdgeProblem(X, order, candidates, **options)


def rejections(test, runs, alpha):
    return sum(test(np.random.default_rng([run, 77])) < alpha for run in range(runs))


def predecessors(rng, n):
    """Return a cause and two columns correlated 0.6 with it."""
    cause = rng.standard_normal(n)
    return np.column_stack([cause] + [0.6 * cause + 0.8 * rng.standard_normal(n) for _ in range(2)])


def heteroscedastic(rng, n):
    """Return predecessors and a child of the first one by the paper's linear natural parameters."""
    P = predecessors(rng, n)
    exponent = 8 * (P[:, 0] - P[:, 0].min()) / np.ptp(P[:, 0]) - 4
    return P, (-exponent / 2 + rng.standard_normal(n) * np.exp(exponent / 2) / np.sqrt(2)) / np.exp(exponent)


def null_pvalue(rng, covariance, n=800):
    P, y = heteroscedastic(rng, n)
    return gam(P[:, 1], y, P[:, [0, 2]], covariance=covariance)


# --- level and power ----------------------------------------------------------------------------------------


def test_hc3_keeps_its_level_when_the_variance_moves_and_classical_does_not():
    runs = 200
    assert rejections(lambda rng: null_pvalue(rng, "HC3"), runs, 0.05) <= 0.08 * runs
    assert rejections(lambda rng: null_pvalue(rng, "classical"), runs, 0.05) >= 0.2 * runs


@pytest.mark.parametrize("covariance", ["HC3", "classical"])
def test_level_with_constant_variance(covariance):
    def null(rng):
        P = predecessors(rng, 300)
        return gam(P[:, 1], P[:, 0] + rng.standard_normal(300), P[:, [0, 2]], covariance=covariance)

    # HC3 is an approximation: 0.065 is allowed for, and four standard deviations of chance.
    assert rejections(null, 300, 0.05) <= stats.binom.isf(3e-5, 300, 0.065)


def test_level_with_constant_variance_of_pure_noise_is_not_far_too_low():
    def null(rng):
        X = rng.standard_normal((300, 3))
        return gam(X[:, 0], X[:, 1], X[:, 2:], covariance="classical")

    assert rejections(null, 300, 0.05) >= stats.binom.ppf(3e-5, 300, 0.05)


@pytest.mark.parametrize("function", [lambda x: x, np.square, lambda x: np.sin(2 * x), np.tanh])
def test_power_for_curves(function):
    def alternative(rng):
        P = predecessors(rng, 500)
        return gam(P[:, 0], function(P[:, 0]) + np.exp(P[:, 1] / 2) * rng.standard_normal(500), P[:, 1:])

    assert rejections(alternative, 20, 0.001) >= 18


def test_power_for_a_faint_line():
    def alternative(rng):
        P = predecessors(rng, 500)
        return gam(P[:, 0], 0.2 * P[:, 0] + rng.standard_normal(500), P[:, 1:])

    # The slope's own t test finds about 90 %; a joint test of ten coefficients finds about 40 %.
    assert rejections(alternative, 60, 0.05) >= 35


def test_an_effect_of_the_variance_alone_is_not_called_one_of_the_mean():
    def variance_only(rng):
        x = rng.standard_normal(500)
        return gam(x, np.exp(x) * rng.standard_normal(500), np.empty((500, 0)))

    assert rejections(variance_only, 100, 0.05) <= stats.binom.isf(3e-5, 100, 0.05)


def test_one_wild_row_is_no_evidence():
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal(200), rng.standard_normal(200)
    x[0], y[0] = 1e6, 50.0
    assert gam(x, y, np.empty((200, 0)), covariance="classical") < 1e-10
    assert gam(x, y, np.empty((200, 0))) > 0.05


def test_a_row_of_its_own_in_a_discrete_column_is_no_evidence():
    rng = np.random.default_rng(6)
    x, y = np.zeros(100), rng.standard_normal(100)
    x[0], y[0] = 1.0, 8.0
    # The leverage of the first row is 1: its residual is zero whatever y[0] is.
    assert gam(x, y, rng.standard_normal((100, 1))) > 0.05


# --- batches and invariances --------------------------------------------------------------------------------


@pytest.mark.parametrize("covariance", ["HC3", "classical"])
@pytest.mark.parametrize("n", [40, 130, 400])
def test_a_batch_is_the_same_as_its_pairs(n, covariance):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 7)).cumsum(axis=1)
    X[:, 2] = np.round(X[:, 2])
    X[:, 5] = X[:, 0] - X[:, 3]
    order = rng.permutation(7)
    found = gam_edges(problem(X, order), covariance).pvalues
    for k in range(1, 7):
        for j in range(k):
            Z = X[:, np.delete(order[:k], j)]
            pair = gam(X[:, order[j]], X[:, order[k]], Z, covariance=covariance)
            # Without noise a null slope is a rounding error, and its p-value 1 only up to that.
            p = found[order[j], order[k]]
            assert p == pytest.approx(pair, rel=1e-5, abs=1e-12) or min(p, pair) > 0.99
    assert np.isnan(found).sum() == 49 - 21


def test_only_candidates_are_tested_and_progress_is_told():
    X = np.random.default_rng(0).standard_normal((100, 4))
    candidates = np.zeros((4, 4), dtype=bool)
    candidates[0, 3] = candidates[1, 3] = candidates[2, 1] = True
    shares = []
    partial = gam_edges(problem(X, [2, 0, 1, 3], candidates, progress=shares.append)).pvalues
    full = gam_edges(problem(X, [2, 0, 1, 3])).pvalues
    np.testing.assert_allclose(partial, np.where(candidates, full, np.nan), rtol=1e-9)
    assert shares[-1] == 1
    assert sorted(shares) == shares


def test_there_is_one_fit_per_target(monkeypatch):
    fitted = []

    def counted(D, sizes):
        for fit in nested(D, sizes):
            fitted.append(fit.rank)
            yield fit

    monkeypatch.setattr(module, "nested", counted)
    gam_edges(problem(np.random.default_rng(0).standard_normal((200, 8))))
    assert len(fitted) == 7


def test_shift_and_scale_change_nothing():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 5)).cumsum(axis=1)
    plain = gam_edges(problem(X)).pvalues
    moved = gam_edges(problem(X * [1e-8, -3, 1e6, 2, -1] + [1e-7, 5, -3e6, 0, 100])).pvalues
    np.testing.assert_allclose(moved, plain, rtol=1e-4, atol=1e-12)


def test_the_order_of_the_conditioning_columns_changes_nothing():
    X = np.random.default_rng(4).standard_normal((150, 5)).cumsum(axis=1)
    assert gam(X[:, 0], X[:, 1], X[:, [2, 3, 4]]) == pytest.approx(gam(X[:, 0], X[:, 1], X[:, [4, 2, 3]]))


# --- degenerate tables --------------------------------------------------------------------------------------


def test_a_column_that_the_others_reproduce_has_pvalue_one():
    rng = np.random.default_rng(7)
    x, y = rng.standard_normal((2, 100))
    y = y + x
    assert gam(x, y, x[:, None]) == 1
    assert gam(x, y, 3 - 2 * x[:, None]) == 1
    assert gam(np.full(100, 4.0), y, x[:, None]) == 1
    assert gam(x, y, np.column_stack([np.ones(100), rng.standard_normal(100)])) < 1e-3


def test_a_line_that_the_others_reproduce_leaves_the_curve_to_be_tested():
    rng = np.random.default_rng(10)
    x, z, noise = rng.standard_normal((3, 300))
    Z = np.column_stack([z, x + z])
    assert gam(x, np.sin(3 * x) + 0.3 * noise, Z) < 1e-6
    pvalues = [gam(x, rng.standard_normal(300), Z) for _ in range(100)]
    assert np.sum(np.array(pvalues) < 0.05) <= stats.binom.isf(3e-5, 100, 0.065)


def test_a_target_without_noise_has_its_cause_and_no_other():
    rng = np.random.default_rng(8)
    x, z = rng.standard_normal((2, 200))
    for covariance in ("HC3", "classical"):
        assert gam(x, 2 * x, z[:, None], covariance=covariance) < 1e-10
        assert gam(z, 2 * x, x[:, None], covariance=covariance) > 0.9
        assert gam(x, np.ones(200), z[:, None], covariance=covariance) == 1


def test_as_many_predecessors_as_rows():
    rng = np.random.default_rng(9)
    X = rng.standard_normal((12, 20))
    X[:, 2] = X[:, 0] + 0.01 * X[:, 2]
    found = gam_edges(problem(X)).pvalues
    assert (found[:11, 11] == 1).all()
    assert (found[:19, 19] == 1).all()
    assert found[0, 2] < 0.01
    assert gam(X[:, 0], X[:, 1], X[:, 2:]) == 1


def test_few_rows_per_predecessor_keep_the_level():
    def null(rng):
        X = rng.standard_normal((60, 21))
        return gam(X[:, 0], X[:, 1], X[:, 2:])

    assert rejections(null, 200, 0.05) <= stats.binom.isf(3e-5, 200, 0.065)


@pytest.mark.parametrize("place", ["x", "y", "Z"])
def test_missing_values_are_an_error(place):
    samples = {"x": np.arange(9.0), "y": np.arange(9.0) ** 2, "Z": np.ones((9, 1))}
    samples[place] = np.where(np.arange(9.0) == 4, np.nan, samples[place].T).T
    with pytest.raises(DataError, match=f"`{place}` has missing or infinite values"):
        gam(**samples)


def test_an_unknown_covariance_is_an_error():
    with pytest.raises(ParameterError, match="`covariance` must be one of 'HC3', 'classical'; got 'HC9'"):
        gam_edges(problem(np.eye(3)), "HC9")
