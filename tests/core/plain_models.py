"""The conditional Gaussian written out with plain formulas: what the fast code of `core` is compared with."""

from __future__ import annotations

import numpy as np

from heterodag.core.solver import free_swing
from heterodag.core.table import Table


def heteroscedastic(rng, n, k, targets=1, strength=0.7):
    """Predecessors in columns 0..k-1, then targets whose mean and spread depend on them."""
    x = rng.normal(size=(n, k))
    slopes = rng.normal(size=(2, k, targets)) * strength
    y = x @ slopes[0] + np.exp(x @ slopes[1]) * rng.normal(size=(n, targets))
    return np.column_stack([x, y])


def as_is(X):
    return Table.with_scaling(X, np.zeros(X.shape[1]), np.ones(X.shape[1]))


def residuals(form, theta, Z, y):
    p = len(Z)
    A, s = theta[:p] @ Z, theta[p : 2 * p] @ Z
    mean = theta[2 * p] + A * np.exp(-s) if form.name == "natural" else A
    return np.exp(s / 2) * (y - mean), s


def joint_objective(form, theta, Z, y, ridge):
    """Return the mean loss with bound and ridge, as a function of all coefficients (size,)."""
    e, s = residuals(form, theta, Z, y)
    excess = np.maximum(np.abs(s - theta[len(Z)]) - free_swing(len(y)), 0.0)
    return 0.5 * (np.mean(e**2 - s + excess**2) + ridge @ theta**2)


def best_given_spread(form, b, Z, y, ridge):
    """Return all coefficients, those of the mean by LAPACK's least squares on rows weighted by hand."""
    n, p = len(y), len(Z)
    h = np.exp(b @ Z / 2)
    columns = np.vstack([Z / h, h]) if form.name == "natural" else Z * h
    on_mean = np.r_[ridge[:p], ridge[2 * p :]]
    rows = np.vstack([columns.T, np.diag(np.sqrt(n * on_mean))])
    c = np.linalg.lstsq(rows, np.r_[h * y, np.zeros(len(on_mean))], rcond=None)[0]
    return np.r_[c[:p], b, c[p:]]


def profile_objective(form, b, Z, y, ridge):
    return joint_objective(form, best_given_spread(form, b, Z, y, ridge), Z, y, ridge)


def numerical_gradient(function, point, step=1e-5):
    return np.array([(function(point + h) - function(point - h)) / (2 * step) for h in step * np.eye(len(point))])


def numerical_hessian(function, point, step=1e-4):
    moves = step * np.eye(len(point))

    def across(g, h):
        return function(point + g + h) - function(point + g - h) - function(point - g + h) + function(point - g - h)

    return np.array([[across(g, h) / (4 * step**2) for h in moves] for g in moves])
