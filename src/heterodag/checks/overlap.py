"""Find columns that hold almost the same as others: the graph cannot tell which of them is the cause.

Whether the others explain a column is judged on the bulk of the rows, because a single row far out in two columns at
once makes any two columns look alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.stats import rankdata

from heterodag.checks.findings import Finding
from heterodag.checks.words import listed
from heterodag.core.gaussian import Array, Mask
from heterodag.core.table import location_and_scale
from heterodag.io.inputs import COLLINEAR

#: Columns are near-copies if their ranks correlate more than this, and near-collinear if the others explain this share.
ALIKE = 0.999
#: At most this many rows and cells are used; more would not change the findings.
_ROWS, _CELLS = 5_000, 2_000_000
#: Columns take part in a near-collinear group if they account for this share of another's standard deviation.
_PART = 0.03
#: Collinearity is checked only with at least this many rows per column.
_ROWS_PER_COLUMN = 2
#: The bulk are the rows within this many robust standard deviations in all columns, but at least this share of the
#: rows.
_FAR, _KEPT = 20.0, 0.8


def overlap_findings(X: Array, labels: Sequence[str]) -> list[Finding]:
    """Return findings about columns that repeat each other or are nearly linear functions of others."""
    n, d = X.shape
    X = X[:: max(1, -(-n // min(_ROWS, max(1_000, _CELLS // d))))]
    findings: list[Finding] = []
    copies = near_copies(X)
    for group in _groups(copies):
        names = [labels[j] for j in group]
        sentence = f"Columns {listed(names)} are almost copies of each other (rank correlation above {ALIKE:g})."
        remedy = "Keep one of them: which one is a cause of the others cannot be told."
        findings.append(Finding("amber", "overlap", "near-copies", sentence, remedy, tuple(names)))
    later = np.flatnonzero(~np.triu(copies, k=1).any(axis=0))  # one column per group of copies
    for group, explained in near_collinear(X[:, later]):
        names = [labels[later[j]] for j in group]
        sentence = (
            f"Columns {listed(names)} are almost collinear: each is a linear function of the others but for "
            f"{100 * (1 - explained):.2g} % of its variance."
        )
        findings.append(
            Finding("amber", "overlap", "near-collinear", sentence, "Leave one of them out.", tuple(names))
        )
    if not findings:
        sentence = "No column is almost a copy or a linear function of others."
        findings.append(Finding("green", "overlap", "near-collinear", sentence))
    return findings


def near_copies(X: Array) -> Mask:
    """Return which pairs of columns have almost the same ranks, or the opposite ones; (d, d), symmetric."""
    ranks = rankdata(X, axis=0)
    ranks -= ranks.mean(axis=0)
    size = np.sqrt((ranks**2).sum(axis=0))
    ranks /= np.where(size > 0, size, np.inf)
    alike = np.abs(ranks.T @ ranks) > ALIKE
    np.fill_diagonal(alike, False)
    return np.asarray(alike)


def near_collinear(X: Array) -> list[tuple[list[int], float]]:
    """Return groups of columns that are linear functions of each other up to a thousandth of the variance.

    With each group comes the explained share of the variance of the column that is explained least.
    """
    n, d = X.shape
    if d < 3 or n < _ROWS_PER_COLUMN * d:
        return []
    X = _bulk(X)
    n = len(X)
    location, scale = location_and_scale(X)
    z = (X - location) / np.where(scale > 0, scale, 1.0)
    # The ridge keeps the matrix invertible when columns are exactly collinear.
    precision = np.linalg.inv(z.T @ z / n + COLLINEAR * np.eye(d))
    left = 1.0 / np.diag(precision)
    suspects = np.flatnonzero(left * n / (n - d) < 1.0 - ALIKE)
    links, shares = np.zeros((d, d), dtype=bool), np.zeros(d)
    for j in suspects.tolist():
        share = _left_over(z[:, j], z @ precision[:, j] * left[j]) * n / (n - d)
        if share < 1.0 - ALIKE:
            links[j], shares[j] = np.abs(precision[j]) * left[j] > _PART, 1.0 - share
    return [
        (group, float(min(shares[j] for j in group if shares[j] > 0)))
        for group in _groups(links)
        if shares[group].any()
    ]


def _bulk(X: Array) -> Array:
    """Return the rows without far values: next to a value of 1e15, the others are lost to rounding."""
    low, median, high = np.quantile(X, [0.25, 0.5, 0.75], axis=0)
    scale = np.where(high > low, (high - low) / 1.349, np.maximum(np.abs(X - median).max(axis=0), 1e-300))
    distance = np.abs((X - median) / scale).max(axis=1)
    return np.asarray(X[distance <= max(_FAR, float(np.quantile(distance, _KEPT)))])


def _left_over(x: Array, residual: Array) -> float:
    """Return the share of the variance of the bulk of a column that is not explained."""
    low, high = np.quantile(x, [0.25, 0.75])
    bulk = float(high - low) / 1.349 or float(np.std(x))
    return (float(np.median(np.abs(residual))) / 0.6745 / bulk) ** 2


def _groups(links: Mask) -> list[list[int]]:
    """Return the groups of columns that links join, without single columns."""
    _, of = connected_components(csr_matrix(links), directed=False)
    return [np.flatnonzero(of == g).tolist() for g in np.flatnonzero(np.bincount(of) > 1)]
