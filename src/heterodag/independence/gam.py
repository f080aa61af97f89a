"""GAM selection, the cheaper edge test of Algorithm 3: additive spline regression, then Wald tests.

`y = f_1(x_1) + ... + f_k(x_k) + noise`; x_j is a cause of y when the coefficients of f_j are not all zero.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

import numpy as np
from scipy.special import fdtrc

from heterodag.core.splines import columns_per_block, spline_block
from heterodag.errors import check_choice
from heterodag.independence._regression import ESTIMABLE, Regression, nested, standardized
from heterodag.independence.contract import Array, EdgeProblem, EdgeTests
from heterodag.independence.pairwise import check_samples

#: (estimators of coefficients, target, residual degrees of freedom) -> p-value of their being zero.
_Test: TypeAlias = Callable[[Array, Array, int], float]

COVARIANCES = ("HC3", "classical")
MOST_COLUMNS = 10
ROWS_PER_COLUMN = 5
#: Below this 1 - leverage, a leave-one-out residual is rounding error.
LEAST_SLACK = 1e-8
#: Variance of rounding errors against a target of variance 1: nothing smaller counts as noise.
ROUNDING_VARIANCE = 1e-20


def gam(x: Array, y: Array, Z: Array, *, covariance: str = "HC3") -> float:
    """Test whether x helps to predict the mean of y in an additive model of y on x and Z.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        The samples; y is the target. The test is not symmetric in them.
    Z : array-like of shape (n, k)
        The other predecessors of y; k may be 0.
    covariance : {"HC3", "classical"}, default="HC3"
        How the covariance of the coefficients is estimated; see `gam_edges`.

    Returns
    -------
    float
        The p-value of `gam_edges` for this pair.
    """
    check_choice("covariance", covariance, COVARIANCES)
    x, y, Z = check_samples(x, y, Z)
    predecessors = np.column_stack([x, Z])
    for _, fit, blocks in _fits(predecessors, [predecessors.shape[1]]):
        own = [(blocks[0], standardized(x[:, None])[:, 0])]
        return float(_wald_tests(fit, own, standardized(y[:, None])[:, 0], covariance)[0])
    return 1.0


def gam_edges(problem: EdgeProblem, covariance: str = "HC3") -> EdgeTests:
    """Test all candidate edges: one additive regression per target, joint Wald tests for each predecessor.

    Parameters
    ----------
    problem : EdgeProblem
        The table, the order and the candidates.
    covariance : {"HC3", "classical"}, default="HC3"
        How the covariance of the coefficients is estimated. "HC3" stays valid when the variance of the target
        moves with its predecessors; "classical" assumes a constant variance, as the paper's GAM does, and
        rejects true null hypotheses many times too often when it is not constant.

    Returns
    -------
    EdgeTests
        p-values of F tests: twice the smaller one of two.

    Notes
    -----
    Algorithm 3 of the paper with its second test, GAM feature selection (Buehlmann, Peters and Ernest 2014,
    CAM). HC3: MacKinnon and White (1985). Deviations: regression splines without a penalty instead of
    penalised ones, which makes these plain Wald tests; HC3 as the default. Only the mean is modelled: a cause
    of the variance alone is not seen.

    * Two tests share the fit: of all coefficients of a predecessor jointly, and of its straight line alone.
      The p-value is twice the smaller one (Bonferroni). A joint test alone spreads a faint linear effect over
      ten coefficients and misses it; a penalised spline would not.
    * Every predecessor gets a natural cubic spline of 10 columns, or fewer if all columns together would
      exceed n / 5, but at least a straight line. A target with n - 1 or more predecessors cannot be fitted:
      its p-values are 1.
    * A predecessor that the other columns of the fit reproduce has p-value 1; one that they reproduce in part
      is tested on the rest.
    * With HC3 the denominator degrees of freedom of the F test follow from how many rows the estimate of the
      covariance rests on: those of the Wishart matrix with the same total variance as that estimate under a
      constant noise variance (Pustejovsky and Tipton 2018, without the covariances between rows and without
      their Hotelling factor). With n - rank, a curve that two or three outer rows determine would be called
      significant too often.
    * A row of leverage 1 fits itself, and its leave-one-out residual is 0/0. Where 1 - leverage is below
      1e-8, the residual is replaced by the deviation of y from its mean, or by one standard deviation if that
      is larger: coefficients that only such a row determines then never look significant.
    * Memory: three arrays of n rows and one column per spline column.
    """
    check_choice("covariance", covariance, COVARIANCES)
    order, report = problem.order, problem.progress or (lambda share: None)
    wanted = [k for k in range(1, len(order)) if problem.candidates[order[:k], order[k]].any()]
    pvalues = np.where(problem.candidates, 1.0, np.nan)
    Y = standardized(problem.X)
    for done, (k, fit, blocks) in enumerate(_fits(problem.X[:, order], wanted), start=1):
        tested = np.flatnonzero(problem.candidates[order[:k], order[k]])
        own = [(blocks[j], Y[:, order[j]]) for j in tested]
        pvalues[order[tested], order[k]] = _wald_tests(fit, own, Y[:, order[k]], covariance)
        report(done / len(wanted))
    report(1.0)
    return EdgeTests(pvalues)


def _fits(predecessors: Array, sizes: list[int]) -> Iterator[tuple[int, Regression, list[slice]]]:
    """Yield the additive regressions on the first k predecessors for every k of the increasing `sizes`.

    Those with the same number of spline columns per predecessor share one factorisation.
    """
    n = len(predecessors)
    feasible = [k for k in sizes if k + 1 < n]
    widths = [columns_per_block(n, k, MOST_COLUMNS, ROWS_PER_COLUMN) for k in feasible]
    for width in sorted(set(widths), reverse=True):
        group = [k for k, own in zip(feasible, widths, strict=True) if own == width]
        parts = [spline_block(column, width) for column in predecessors[:, : group[-1]].T]
        ends = np.cumsum([0] + [part.shape[1] for part in parts])
        blocks = [slice(a, b) for a, b in itertools.pairwise(ends)]
        for k, fit in zip(group, nested(np.hstack(parts), ends[group]), strict=True):
            yield k, fit, blocks[:k]


def _wald_tests(fit: Regression, blocks: list[tuple[slice, Array]], y: Array, covariance: str) -> Array:
    """Return the p-values of `H0: all coefficients of the block are zero`; y has mean 0 and variance 1.

    Every block is paired with the column whose splines it holds.
    """
    freedom = len(y) - fit.rank - 1
    if freedom < 1:
        return np.ones(len(blocks))
    residuals = fit.residuals(y)
    test = partial(_classical_test, float(residuals @ residuals / freedom))
    if covariance == "HC3":
        slack = np.maximum(1.0 - 1.0 / len(y) - fit.leverages(), LEAST_SLACK)
        test = partial(_hc3_test, _hc3_variances(residuals, y, slack), slack)
    return np.array([_line_or_curve(test, fit.estimators(block), x, y, freedom) for block, x in blocks])


def _line_or_curve(test: _Test, F: Array, x: Array, y: Array, freedom: int) -> float:
    """Return twice the smaller p-value of two tests: of all coefficients, and of a straight line alone."""
    whole = test(F, y, freedom)
    if F.shape[1] < 2:
        return whole
    basis = F @ _whitening(F.T @ F)
    # What the other columns of the fit leave of the line: the estimator of its slope if the curve were a line.
    line = basis @ (basis.T @ x[:, None])
    if np.sum(line**2) < ESTIMABLE * len(x):
        return whole
    return min(1.0, 2 * min(whole, test(line, y, freedom)))


def _hc3_variances(residuals: Array, y: Array, slack: Array) -> Array:
    stand_in = np.maximum(np.abs(y), 1.0)
    return np.asarray(np.where(slack > LEAST_SLACK, residuals / slack, stand_in) ** 2 + ROUNDING_VARIANCE)


def _classical_test(variance: float, F: Array, y: Array, freedom: int) -> float:
    """Return the p-value of `F.T @ y` being zero if all y have the same variance."""
    if F.shape[1] == 0:
        return 1.0
    F = F @ _whitening(F.T @ F)
    return _f_test(np.sum((F.T @ y) ** 2) / (variance + ROUNDING_VARIANCE), F.shape[1], freedom)


def _hc3_test(variances: Array, slack: Array, F: Array, y: Array, freedom: int) -> float:
    """Return the p-value of `F.T @ y` being zero, given the variance of every y."""
    size = F.shape[1]
    if size == 0:
        return 1.0
    # Coordinates in which a constant variance would give the unit matrix on average.
    F = F @ _whitening(F.T @ (F / slack[:, None]))
    statistic = np.sum((_whitening(F.T @ (variances[:, None] * F)).T @ (F.T @ y)) ** 2)
    shares = np.sum(F**2, axis=1) / slack
    return _f_test(statistic, size, min(freedom, size * (size + 1) / 2 / np.sum(shares**2)))


def _whitening(matrix: Array) -> Array:
    """Return W such that `W.T @ matrix @ W` is the unit matrix."""
    sizes, axes = np.linalg.eigh(matrix)
    return np.asarray(axes / np.sqrt(np.maximum(sizes, np.finfo(float).eps * sizes[-1])))


def _f_test(statistic: float, size: int, freedom: float) -> float:
    return float(fdtrc(size, freedom, statistic / size))
