"""Orders by variance: marginal (VarSort), and conditional on the columns already placed (EqVar, NPVar).

All work on logarithms of variances, so that the data can have any unit.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.core.graph import Order
from heterodag.core.table import location_and_scale
from heterodag.knowledge import ResolvedKnowledge, last_columns, next_columns

#: (columns placed, some of the remaining ones) -> log variance of each of the latter given the placed ones.
LogVariances = Callable[[list[int], list[int]], Array]
#: What rounding leaves of the variance of a standardised column that the others explain completely.
LEAST_VARIANCE = 1e-14


def varsort_order(X: Array, knowledge: ResolvedKnowledge | None = None) -> Order:
    """Return the columns by increasing marginal variance, as far as prior knowledge allows; ties by index."""
    scale = location_and_scale(X)[1]
    return np.argsort(scale, kind="stable") if knowledge is None else knowledge.sorted_by(-scale)


def growing_order(
    d: int,
    log_variances: LogVariances,
    margin: float = 0.0,
    report: Callable[[float], None] | None = None,
    knowledge: ResolvedKnowledge | None = None,
) -> tuple[Order, list[list[int]]]:
    """Repeatedly place the columns with the smallest variance given those already placed.

    Parameters
    ----------
    d : int
        Number of columns.
    log_variances : callable
        From the columns placed and some of the remaining ones to the log conditional variances of the latter.
    margin : float, default=0.0
        Columns whose variance is less than this above the smallest are placed together, smallest first; 0 places one
        at a time.
    report : callable, optional
        Called with the share of columns placed.
    knowledge : ResolvedKnowledge, optional
        Each round considers only the columns that may come next.

    Returns
    -------
    order, layers : array of shape (d,) and list of lists
    """
    placed: list[int] = []
    layers: list[list[int]] = []
    while len(placed) < d:
        allowed = next_columns(placed, d, knowledge)
        values = log_variances(placed, allowed)
        ranked = np.argsort(values, kind="stable")
        count = 1 if margin == 0 else _within(values[ranked], margin)
        layers.append([allowed[k] for k in ranked[:count]])
        placed += layers[-1]
        if report is not None:
            report(len(placed) / d)
    return np.array(placed, dtype=np.intp), layers


def _within(increasing: Array, margin: float) -> int:
    """Count the variances (given by their increasing logs) that are less than `margin` above the first."""
    with np.errstate(over="ignore", invalid="ignore"):
        variances = np.exp(increasing)
        return max(1, int(np.sum(variances - variances[0] < margin)))


def linear_log_variances(X: Array) -> LogVariances:
    """Return the residual log variances of linear regressions on the columns placed.

    Notes
    -----
    One column at a time is swept out of the correlation matrix, so all rounds together cost O(n d^2 + d^3). The
    returned function remembers what it has swept: it must be called with growing lists.
    """
    scale, rest = _correlations(X)
    swept: list[int] = []

    def log_variances(placed: list[int], remaining: list[int]) -> Array:
        nonlocal rest
        for column in placed[len(swept) :]:
            rest = rest - np.outer(rest[:, column], rest[column]) / max(rest[column, column], LEAST_VARIANCE)
            swept.append(column)
        return np.asarray(np.log(np.maximum(np.diag(rest)[remaining], LEAST_VARIANCE)) + 2 * np.log(scale[remaining]))

    return log_variances


def eqvar_bottom_up_order(
    X: Array, report: Callable[[float], None] | None = None, knowledge: ResolvedKnowledge | None = None
) -> Order:
    """Repeatedly remove the column with the largest variance given all others that are left.

    With prior knowledge, only columns that may be the last of those left can be removed.

    Notes
    -----
    Chen, Drton and Wang (2019), section 3.2: with equal noise variances the diagonal of the inverse covariance is
    smallest at the sinks.
    """
    scale, correlations = _correlations(X)
    remaining, sinks = list(range(X.shape[1])), []
    while remaining:
        precision = np.linalg.inv(correlations[np.ix_(remaining, remaining)])
        # The conditional variance is one over the diagonal of the precision matrix.
        variances = 2 * np.log(scale[remaining]) - np.log(np.maximum(np.diag(precision), LEAST_VARIANCE))
        allowed = [remaining.index(j) for j in last_columns(remaining, X.shape[1], knowledge)]
        sinks.append(remaining.pop(allowed[int(np.argmax(variances[allowed]))]))
        if report is not None:
            report(len(sinks) / X.shape[1])
    return np.array(sinks[::-1], dtype=np.intp)


def additive_log_variances(X: Array, design: Callable[[list[int]], Array]) -> LogVariances:
    """Return the residual log variances of additive regressions on the columns placed.

    Parameters
    ----------
    X : (n, d) data.
    design : callable
        From the columns placed to centred regressors (n, p), such as splines of each.

    Notes
    -----
    The sum of squares is divided by the remaining degrees of freedom, n - p - 1: divided by n, every variance would
    fall with the number of columns placed, true causes or not. All remaining columns share one factorisation.
    """
    location, scale = location_and_scale(X)
    Y = (X - location) / scale

    def log_variances(placed: list[int], remaining: list[int]) -> Array:
        if not placed:
            return np.asarray(2 * np.log(scale[remaining]))
        Q, sizes, _ = np.linalg.svd(design(placed), full_matrices=False)
        Q = Q[:, sizes > 1e-7 * sizes[0]]
        rest = Y[:, remaining] - Q @ (Q.T @ Y[:, remaining])
        freedom = max(len(Y) - Q.shape[1] - 1, 1)
        variances = np.einsum("ij,ij->j", rest, rest) / freedom
        return np.asarray(np.log(np.maximum(variances, LEAST_VARIANCE)) + 2 * np.log(scale[remaining]))

    return log_variances


def _correlations(X: Array) -> tuple[Array, Array]:
    location, scale = location_and_scale(X)
    scaled = (X - location) / scale
    return scale, np.asarray(scaled.T @ scaled / len(X))
