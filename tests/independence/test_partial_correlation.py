"""Partial correlation: against residuals of regressions, level, batches, singular and wide tables."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import stats

from heterodag.core.graph import full_dag
from heterodag.errors import DataError, ParameterError
from heterodag.independence.contract import EdgeProblem
from heterodag.independence.partial_correlation import fisher_test, partial_correlation, partial_correlation_edges


def problem(X, order=None, **options):
    order = np.arange(X.shape[1]) if order is None else np.asarray(order)
    return EdgeProblem(X, order, full_dag(order).astype(bool), **options)


def by_residuals(x, y, Z):
    """Return Fisher's p-value from the textbook's definition."""
    design = np.column_stack([np.ones(len(x)), Z])
    rx, ry = (v - design @ np.linalg.lstsq(design, v, rcond=None)[0] for v in (x, y))
    r = np.corrcoef(rx, ry)[0, 1]
    return 2 * stats.norm.sf(np.sqrt(len(x) - Z.shape[1] - 3) * abs(np.arctanh(r)))


@pytest.mark.parametrize("k", [0, 1, 5, 30])
def test_it_is_the_correlation_of_residuals(k):
    rng = np.random.default_rng(k)
    X = rng.standard_normal((50, k + 2)) @ rng.standard_normal((k + 2, k + 2))
    x, y, Z = X[:, 0], X[:, 1], X[:, 2:]
    assert partial_correlation(x, y, Z) == pytest.approx(by_residuals(x, y, Z), rel=1e-6)
    ranks = stats.rankdata(X, axis=0)
    expected = by_residuals(ranks[:, 0], ranks[:, 1], ranks[:, 2:])
    assert partial_correlation(x, y, Z, method="spearman") == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("method", ["pearson", "spearman"])
def test_pvalues_are_uniform_for_linear_gaussian_data(method):
    rng, pvalues = np.random.default_rng(1), []
    for _ in range(600):
        Z = rng.standard_normal((80, 2))
        x, y = Z @ [1.0, 0.5] + rng.standard_normal(80), Z @ [-0.3, 1.0] + rng.standard_normal(80)
        pvalues.append(partial_correlation(x, y, Z, method=method))
    if method == "pearson":
        assert stats.kstest(pvalues, "uniform").pvalue > 1e-3
    # Ranks do not remove a linear effect exactly: a little above the level is allowed for.
    assert np.sum(np.array(pvalues) < 0.05) <= stats.binom.isf(3e-5, 600, 0.05 if method == "pearson" else 0.06)


def test_spearman_sees_through_monotone_functions():
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((2, 60))
    y, none = x + y, np.empty((60, 0))
    assert partial_correlation(x, y, none, method="spearman") == pytest.approx(
        partial_correlation(np.exp(x), y**3, none, method="spearman")
    )


@pytest.mark.parametrize("method", ["pearson", "spearman"])
@pytest.mark.parametrize("n", [6, 9, 40])
def test_a_batch_is_the_same_as_its_pairs(n, method):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 8)).cumsum(axis=1)
    X[:, 6] = X[:, 1] - X[:, 3]
    order = rng.permutation(8)
    found = partial_correlation_edges(problem(X, order), method)
    for k in range(1, 8):
        for j in range(k):
            pair = partial_correlation(X[:, order[j]], X[:, order[k]], X[:, np.delete(order[:k], j)], method=method)
            # Without noise a null slope is a rounding error, and its p-value 1 only up to that.
            p = found.pvalues[order[j], order[k]]
            assert p == pytest.approx(pair, rel=1e-5) or min(p, pair) > 0.99
    assert np.isnan(found.pvalues).sum() == 64 - 28
    assert np.nanmax(np.abs(found.details["correlation"])) <= 1


def test_shift_scale_and_symmetry():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((70, 4)).cumsum(axis=1)
    plain = partial_correlation(X[:, 0], X[:, 1], X[:, 2:])
    assert partial_correlation(X[:, 1], X[:, 0], X[:, 2:]) == pytest.approx(plain)
    assert partial_correlation(1e9 - 1e-3 * X[:, 0], 5 * X[:, 1], -7 * X[:, 2:] + 1) == pytest.approx(plain, rel=1e-3)
    turned = X[:, 2:] @ [[1.0, 2.0], [0.5, -1.0]]
    assert partial_correlation(X[:, 0], X[:, 1], turned) == pytest.approx(plain)


def test_two_hundred_columns_take_seconds():
    X = np.random.default_rng(4).standard_normal((1000, 200)).cumsum(axis=1)
    shares, start = [], time.perf_counter()
    found = partial_correlation_edges(problem(X, progress=shares.append)).pvalues
    assert time.perf_counter() - start < 10
    assert shares[-1] == 1
    assert (np.diag(found, 1) < 1e-10).all()
    null = found[np.triu_indices(200, 2)]
    assert abs(np.mean(null < 0.05) - 0.05) < 4 * np.sqrt(0.05 * 0.95 / len(null))


def test_fisher_test():
    found = fisher_test(np.array([0.0, np.tanh(0.196), -np.tanh(0.196), 1, 1]), np.array([100] * 4 + [0]))
    np.testing.assert_allclose(found, [1, 0.05, 0.05, 0, 1], atol=1e-5)


# --- degenerate tables --------------------------------------------------------------------------------------


def test_a_linear_function_of_the_others_has_pvalue_one():
    rng = np.random.default_rng(5)
    x, y, z = rng.standard_normal((3, 50))
    y = y + x
    assert partial_correlation(x, y, np.column_stack([x + z, z])) == pytest.approx(1)
    # Rounding errors of 1e-16 against the floor of 1e-10 on the noise make correlations of 1e-6; without the floor they
    # would be of any size.
    assert partial_correlation(y, x, np.column_stack([x + z, z])) == pytest.approx(1, abs=1e-4)
    assert partial_correlation(np.ones(50), y, z[:, None]) == 1


def test_a_singular_conditioning_set_counts_its_rank():
    rng = np.random.default_rng(6)
    x, y, z = rng.standard_normal((3, 50))
    repeated = np.column_stack([z, 2 * z + 1, -z, np.ones(50)])
    assert partial_correlation(x, y, repeated) == pytest.approx(partial_correlation(x, y, z[:, None]))


@pytest.mark.parametrize(("k", "one"), [(4, False), (5, True), (7, True), (12, True), (40, True)])
def test_too_many_conditioning_columns_give_pvalue_one(k, one):
    X = np.random.default_rng(7).standard_normal((8, k + 2))
    p = partial_correlation(X[:, 0], X[:, 1], X[:, 2:])
    assert (p == 1) == one


def test_a_perfect_correlation_has_pvalue_zero_and_leaves_others_alone():
    x, z = np.random.default_rng(8).standard_normal((2, 50))
    assert partial_correlation(x, 3 * x, z[:, None]) < 1e-100
    assert partial_correlation(z, 3 * x, x[:, None]) > 0.9


def test_bad_input():
    x = np.arange(5.0)
    with pytest.raises(DataError, match="`x` has missing"):
        partial_correlation([1, np.nan, 2, 3, 4], x, np.empty((5, 0)))
    with pytest.raises(ParameterError, match="`method` must be one of 'pearson', 'spearman'; got 'kendall'"):
        partial_correlation(x, x, np.empty((5, 0)), method="kendall")
