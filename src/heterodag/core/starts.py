"""Starting points for the solver, whose objective has local optima.

The constant model, least squares with constant variance, and a regression of log squared residuals (Harvey 1976)
followed by the best mean for those variances. Rounds of the order start from the previous round instead.
"""

from __future__ import annotations

import numpy as np

from heterodag.core.design import Design, Regression
from heterodag.core.gaussian import Array, Mask
from heterodag.core.solver import Coefficients, derivatives

#: Expectation of ln(e^2) for a standard normal e.
_LOG_CHI2 = -1.2703628454614782
_LOG_PRECISION_LIMIT = 15.0


def constant_start(shape: Coefficients, m: int) -> Array:
    """Return the model without predecessors: targets are standardised, so everything is zero."""
    return np.zeros((shape.size, m))


def least_squares_starts(design: Design, shape: Coefficients) -> list[Array]:
    """Return the constant-variance and the log-squared-residual starting points."""
    m, p, n = len(design.targets), shape.width, design.n_rows
    gram, moment = np.zeros(design.n_products), np.zeros((p, m))
    for block in design.blocks():
        products = block.products
        gram += products.sum(axis=1) if products is not None else block.weigh(np.ones((1, block.Z.shape[1])))[0]
        moment += block.Z @ block.Y.T
    # A whisper of ridge: near-collinear predecessors are no reason to fail at a starting point.
    inverse = np.linalg.inv(gram[design.symmetric] / n + 1e-8 * np.eye(p))
    beta = inverse @ moment / n
    variance, log_moment = np.zeros(m), np.zeros((p, m))
    for block in design.blocks():
        square = (block.Y - beta.T @ block.Z) ** 2
        variance += square.sum(axis=1)
        log_moment += block.Z @ np.log(square + 1e-8).T
    variance = np.maximum(variance / n, 1e-12)
    log_variance = inverse @ log_moment / n
    log_variance[0] -= _LOG_CHI2
    return [_constant_variance(shape, beta, variance), profiled_start(design, shape, -log_variance)]


def constant_variance_start(design: Regression, shape: Coefficients) -> Array:
    """Return least squares with constant variance for any design, also one in which targets have their own parents."""
    m, p, n = len(design.targets), shape.width, design.n_rows
    gram, moment = np.zeros((m, design.n_products)), np.zeros((m, p))
    for block in design.blocks():
        gram += block.weigh(np.ones((1, *block.Y.shape)))[0]
        moment += block.sums(block.Y[None])[0]
    matrix = gram[:, design.symmetric] / n + 1e-8 * np.eye(p)
    beta = np.linalg.solve(matrix, moment[:, :, None] / n)[:, :, 0].astype(float)
    variance = 1.0 - np.einsum("kp,kp->k", beta, moment / n)  # targets are standardised
    return _constant_variance(shape, beta.T, np.maximum(variance, 1e-12).astype(float))


def _constant_variance(shape: Coefficients, beta: Array, variance: Array) -> Array:
    theta = np.zeros((shape.size, beta.shape[1]))
    theta[shape.width] = -np.log(variance)
    if shape.form == "natural":
        theta[: shape.width] = beta / variance
        theta[0], theta[-1] = 0.0, beta[0]
    else:
        theta[: shape.width] = beta
    return theta


def profiled_start(design: Design, shape: Coefficients, b: Array, free: Mask | None = None) -> Array:
    """Return `b` with the best `a` and `m` for it: given `b` the loss is quadratic in them.

    Heavy-tailed regressors could send the log precision of single rows out of range, so `b` is shrunk if needed.
    """
    m, p = b.shape[1], shape.width
    theta = np.zeros((shape.size, m))
    theta[p : 2 * p] = b * np.minimum(1.0, _LOG_PRECISION_LIMIT / np.maximum(_reach(design, b), 1e-300))
    mean = np.r_[np.arange(p), np.arange(2 * p, shape.size)]
    no_ridge = np.zeros((shape.size, 1))
    _, gradient, information = derivatives(design, shape, theta, no_ridge, np.zeros(m), np.arange(m))
    for k in range(m):
        moving = mean if free is None else mean[free[mean, k]]
        block = information[k][np.ix_(moving, moving)]
        scale = np.sqrt(block.diagonal()) + 1e-150
        block = block / np.outer(scale, scale) + 1e-9 * np.eye(len(moving))
        theta[moving, k] = -np.linalg.solve(block, gradient[moving, k] / scale) / scale
    return theta


def _reach(design: Design, b: Array) -> Array:
    reach = np.zeros(b.shape[1])
    for block in design.blocks():
        reach = np.maximum(reach, np.abs(b.T @ block.Z).max(axis=1))
    return reach
