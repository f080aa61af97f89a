"""Least squares on growing sets of columns, against NumPy on each set alone."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag.independence._regression import nested, regression, standardized


def design(rng, dependent=()):
    D = rng.standard_normal((60, 9))
    for column in dependent:
        D[:, column] = D[:, :column] @ rng.standard_normal(column)
    return D / np.linalg.norm(D, axis=0)


@pytest.mark.parametrize("dependent", [(), (4,), (1, 7), (8,)])
def test_nested_regressions_agree_with_numpy_on_each_set(dependent):
    rng = np.random.default_rng(0)
    D, y = design(rng, dependent), rng.standard_normal(60)
    for p, fit in zip((1, 3, 5, 9), nested(D, (1, 3, 5, 9)), strict=True):
        coefficients, _, rank, _ = np.linalg.lstsq(D[:, :p], y, rcond=1e-9)
        assert fit.rank == rank
        np.testing.assert_allclose(fit.inverse.T @ y, coefficients, atol=1e-9)
        np.testing.assert_allclose(fit.residuals(y), y - D[:, :p] @ coefficients, atol=1e-9)
        hat = D[:, :p] @ np.linalg.pinv(D[:, :p], rcond=1e-9)
        np.testing.assert_allclose(fit.leverages(), np.diag(hat), atol=1e-9)


def test_columns_that_others_reproduce_are_not_determined():
    rng = np.random.default_rng(1)
    D = design(rng)
    D[:, 5] = D[:, 2] - 2 * D[:, 3]
    fit = regression(D)
    assert np.flatnonzero(~fit.determined()).tolist() == [2, 3, 5]
    # One combination of two coefficients is left when both columns depend on each other and on column 3.
    assert fit.estimators(slice(2, 4)).shape == (60, 1)
    assert fit.estimators(slice(5, 6)).shape == (60, 0)
    assert fit.estimators(slice(6, 9)).shape == (60, 3)


def test_estimable_combinations_do_not_depend_on_how_the_rest_is_written():
    rng = np.random.default_rng(2)
    D, y = design(rng), rng.standard_normal(60)
    twice = np.column_stack([D, D[:, 0] + D[:, 1]])
    F = regression(twice).estimators(slice(2, 5))
    G = regression(D).estimators(slice(2, 5))
    np.testing.assert_allclose(F @ np.linalg.solve(F.T @ F, F.T @ y), G @ np.linalg.solve(G.T @ G, G.T @ y))


@pytest.mark.parametrize("shape", [(5, 12), (5, 0), (3, 3)])
def test_more_columns_than_rows_and_none_at_all(shape):
    D = np.random.default_rng(3).standard_normal(shape)
    sizes = [shape[1]]
    (fit,) = nested(D, sizes)
    assert fit.rank == min(shape)
    assert fit.inverse.shape == shape


def test_zero_columns_have_rank_zero():
    (fit,) = nested(np.zeros((4, 2)), [2])
    assert fit.rank == 0
    assert not fit.determined().any()


def test_standardized_is_safe_at_any_scale_and_for_constants():
    x = np.random.default_rng(4).standard_normal(50)
    X = np.column_stack([x * 1e200, x * 1e-200 + 3e-200, x + 1e6, np.full(50, 0.1), np.zeros(50)])
    S = standardized(X)
    np.testing.assert_allclose(S[:, :3].std(axis=0), 1)
    np.testing.assert_allclose(S[:, 0], S[:, 1], atol=1e-9)
    assert not S[:, 3:].any()
