"""Test whether the residuals of a graph's models follow the fitted noise and are independent of each other.

In a causal graph without hidden common causes the noise of different variables is independent. Residuals that depend on
each other point to a missing edge, an arrow the wrong way round, or a common cause outside the table.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.stats import rankdata
from scipy.stats import t as student

from heterodag.core.gaussian import Array
from heterodag.core.graph import Adjacency
from heterodag.estimators.assumptions import misfit
from heterodag.graphcheck.graph_scores import GraphScores
from heterodag.scores.fit import Effort


def misfits(graph: GraphScores, adjacency: Adjacency) -> Array:
    """Return (d,) p-values of the hypothesis that residuals follow the fitted noise, independent of the parents."""
    return np.array([misfit(graph.scores, fit) for fit in graph.scores.fits(graph.keys(adjacency), Effort.FINAL)])


def dependences(graph: GraphScores, adjacency: Adjacency) -> Array:
    """Return (d, d) p-values of the hypothesis that the residuals of two variables are independent.

    Each is four times the smallest p-value of the four rank correlations between the residuals or their sizes; NaN on
    and below the diagonal. Rows in which either variable was set do not count.
    """
    E, pvalues = _residuals(graph, adjacency), np.full((graph.d, graph.d), np.nan)
    for i, j in combinations(range(graph.d), 2):
        rows = ~np.isnan(E[i]) & ~np.isnan(E[j])
        pvalues[i, j] = independence_pvalue(E[i, rows], E[j, rows])
    return pvalues


def independence_pvalue(x: Array, y: Array) -> float:
    """Return the p-value of the hypothesis that two samples are independent, in location and in size."""
    n = len(x)
    if n < 5:
        return 1.0
    left, right = ([rankdata(z), rankdata(np.abs(z - np.median(z)))] for z in (x, y))
    r = np.corrcoef([*left, *right])[:2, 2:].clip(-1 + 1e-15, 1 - 1e-15)
    p = 2.0 * student.sf(np.abs(r) * np.sqrt((n - 2) / (1.0 - r * r)), n - 2)
    return float(min(1.0, r.size * np.nanmin(p)))


def _residuals(graph: GraphScores, adjacency: Adjacency) -> Array:
    """Return (d, n) standardised residuals of all variables given their parents, NaN where a variable was set."""
    scores = graph.scores
    E = np.full((graph.d, scores.n_rows), np.nan)
    for fit in scores.fits(graph.keys(adjacency), Effort.FINAL):
        free = slice(None) if scores.experiments is None else ~scores.experiments.fixed[:, fit.target]
        E[fit.target, free] = fit.residuals(scores.table_of(fit.target))
    return E
