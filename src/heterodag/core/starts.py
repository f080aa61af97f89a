"""Starting points for the solver, whose objective has local optima: coefficients of the log precision."""

from __future__ import annotations

import numpy as np

from heterodag.core.design import Regression, combine
from heterodag.core.gaussian import Array

#: Expectation of ln(e^2) for a standard normal e.
_LOG_CHI2 = -1.2703628454614782
#: Bound on a row's log precision at the start, which heavy-tailed regressors could otherwise send out of range.
_LOG_PRECISION_LIMIT = 15.0


def log_squares_start(design: Regression) -> Array:
    """Return (p, m): minus the coefficients of a regression of log squared least-squares residuals (Harvey 1976)."""
    k, p, n = len(design.targets), design.width, design.n_rows
    gram, moment, logs = np.zeros((k, design.n_products)), np.zeros((k, p)), np.zeros((k, p))
    for block in design.blocks():
        gram += block.weigh(np.ones((1, *block.Y.shape)))[0]
        moment += block.sums(block.Y[None])[0]
    # A tiny ridge, so that near-collinear parents do not make the start fail.
    inverse = np.linalg.inv(gram[:, design.symmetric] / n + 1e-8 * np.eye(p))
    slopes = np.matmul(inverse, moment[:, :, None] / n)[:, :, 0]
    for block in design.blocks():
        logs += block.sums(np.log((block.Y - combine(slopes.T, block.Z)) ** 2 + 1e-8)[None])[0]
    b = -np.matmul(inverse, logs[:, :, None] / n)[:, :, 0].T
    b[0] += _LOG_CHI2
    reach = np.zeros(k)
    for block in design.blocks():
        reach = np.maximum(reach, np.abs(combine(b, block.Z)).max(axis=1))
    return np.asarray(b * np.minimum(1.0, _LOG_PRECISION_LIMIT / np.maximum(reach, 1e-300)))
