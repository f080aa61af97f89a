"""Partial correlation with Fisher's z-test: the edge test for linear Gaussian data."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr
from scipy.special import erfc
from scipy.stats import rankdata

from heterodag.errors import check_choice
from heterodag.independence._regression import Regression, nested, regression, standardized
from heterodag.independence.contract import Array, EdgeProblem, EdgeTests, untested
from heterodag.independence.pairwise import check_samples

METHODS = ("pearson", "spearman")
#: Sum of squares of rounding errors, relative to the target: a smaller residual counts as zero.
ROUNDING_SQUARES = 1e-20


def partial_correlation(x: Array, y: Array, Z: Array, *, method: str = "pearson") -> float:
    """Test whether the partial correlation of x and y given Z is zero.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        The samples; the test is symmetric in them.
    Z : array-like of shape (n, k)
        The conditioning columns; k may be 0.
    method : {"pearson", "spearman"}, default="pearson"
        "spearman" replaces every column by its ranks first.

    Returns
    -------
    float
        The two-sided p-value.

    Notes
    -----
    Fisher (1924): `sqrt(n - k - 3) atanh(r)` is standard normal under the null hypothesis, with k the rank of
    Z. The p-value is 1 when nothing can be said: x or y is a linear function of Z (of ranks, for "spearman")
    or a constant, or k >= n - 3.
    """
    check_choice("method", method, METHODS)
    x, y, Z = check_samples(x, y, Z)
    table = _standardized(np.column_stack([x, Z, y]), method)
    fit = regression(table[:, :-1])
    return float(fisher_test(_correlations(fit, table[:, -1])[:1], len(x) - fit.rank - 2)[0])


def partial_correlation_edges(problem: EdgeProblem, method: str = "pearson") -> EdgeTests:
    """Test all candidate edges by partial correlation given the other predecessors of the target.

    Parameters
    ----------
    problem : EdgeProblem
        The table, the order and the candidates.
    method : {"pearson", "spearman"}, default="pearson"
        "spearman" replaces every column by its ranks first.

    Returns
    -------
    EdgeTests
        Two-sided p-values, the same as `partial_correlation` gives for every pair; `details["correlation"]` has
        the partial correlations.

    Notes
    -----
    The regressions of all targets on their predecessors come from one triangular factor R of the standardised
    table in causal order, the Cholesky factor of its correlation matrix: O(n d^2 + d^3) for all pairs.
    """
    check_choice("method", method, METHODS)
    order, (n, d) = problem.order, problem.X.shape
    # Rotating the rows changes no inner product: from here on R, with at most d rows, replaces the table.
    R = qr(_standardized(problem.X[:, order], method), mode="economic")[1]
    pvalues, correlations = untested(d), untested(d)
    for k, fit in zip(range(1, d), nested(R, range(1, d)), strict=True):
        r = _correlations(fit, R[:, k])
        correlations[order[:k], order[k]] = r
        pvalues[order[:k], order[k]] = fisher_test(r, n - fit.rank - 2)
        if problem.progress is not None:
            problem.progress(k / (d - 1))
    return EdgeTests(
        np.where(problem.candidates, pvalues, np.nan),
        {"correlation": np.where(problem.candidates, correlations, np.nan)},
    )


def _standardized(X: Array, method: str) -> Array:
    return standardized(rankdata(X, axis=0) if method == "spearman" else X)


def fisher_test(r: Array, freedom: Array | int) -> Array:
    """Return the two-sided p-values of correlations: `sqrt(freedom) atanh(r)` is standard normal if they are 0."""
    # A perfect correlation would make z infinite; its p-value is 0 either way.
    z = np.arctanh(np.minimum(np.abs(r), 1 - np.finfo(float).epsneg))
    return np.where(np.asarray(freedom) > 0, erfc(np.sqrt(np.maximum(freedom, 0) / 2) * z), 1.0)


def _correlations(fit: Regression, y: Array) -> Array:
    """Return the partial correlations of y with each column given the others; 0 for a function of the others."""
    residuals = fit.residuals(y)
    noise = residuals @ residuals + ROUNDING_SQUARES * (y @ y)
    slopes, sizes = fit.inverse.T @ y, np.einsum("ij,ij->j", fit.inverse, fit.inverse)
    # With t = slope / (its standard error), r^2 = t^2 / (t^2 + degrees of freedom).
    lengths = np.sqrt(slopes**2 + noise * sizes)
    determined = fit.determined() & (lengths > 0)
    return np.asarray(np.divide(slopes, lengths, out=np.zeros_like(slopes), where=determined))
