"""How much of a causal order a simple sort gives away: by variance, or by how well the others explain a variable.

The sortability of a graph by a score per variable is the share of directed paths along which the score rises. Every
pair of ancestor and descendant counts once for each length of a path between them, and a tie counts one half.
"""

from __future__ import annotations

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.core.graph import Adjacency

#: Scores that differ by less than this share of the larger one count as equal: the difference is rounding.
_EQUAL = 1e-9


def sortability(scores: Array, adjacency: Adjacency) -> float:
    """Return the share of directed paths along which the scores rise; NaN for a graph without edges."""
    rise = scores[None, :] - scores[:, None]
    size = np.maximum(np.abs(scores)[None, :], np.abs(scores)[:, None])
    points = np.where(np.abs(rise) <= _EQUAL * size, 0.5, rise > 0.0)
    edges = adjacency.astype(bool)
    reached, total, rising = edges.copy(), 0, 0.0
    while reached.any():  # at most d - 1 times: the graph has no cycle
        total += int(reached.sum())
        rising += float(points[reached].sum())
        reached = reached @ edges
    return rising / total if total else float("nan")


def explained_shares(X: Array) -> Array:
    """Return R^2 of every column given all others, by least squares with a constant."""
    centred = X - X.mean(axis=0)
    scale = np.linalg.norm(centred, axis=0)
    table = centred / np.where(scale > 0.0, scale, 1.0)
    shares = np.zeros(table.shape[1])
    for j in range(table.shape[1]):
        others = np.delete(table, j, axis=1)
        if others.shape[1]:
            rest = table[:, j] - others @ np.linalg.lstsq(others, table[:, j], rcond=None)[0]
            shares[j] = 1.0 - float(rest @ rest)
    return shares
