"""How far an estimate is from the true graph: the measures of the paper's section on metrics.

Graphs may be 0/1 matrices (`graph[i, j] == 1` means column i -> column j), pandas DataFrames with the same
names on rows and columns, or `networkx.DiGraph`. Two graphs with names are matched by name, all others by
position.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heterodag.core.graph import Adjacency, as_adjacency, as_square, check_order, full_dag, topological_order
from heterodag.core.sortability import explained_shares, sortability
from heterodag.errors import ParameterError

__all__ = [
    "auc",
    "evaluate",
    "f1",
    "order_divergence",
    "precision",
    "r2_sortability",
    "recall",
    "shd",
    "varsortability",
]

Labels: TypeAlias = list[Any] | None


def order_divergence(order: Any, truth: Any) -> int:
    """Return the number of true edges whose effect comes before its cause in `order`.

    Parameters
    ----------
    order : array-like of shape (d,)
        Columns, causes first: indices into `truth`, or its names if it has names.
    truth : array-like, DataFrame or DiGraph
        The true graph.

    Returns
    -------
    int
        0 for a true causal order.

    Notes
    -----
    The paper's OrderDivergence, after Rolland et al. (2022).

    Examples
    --------
    >>> from heterodag import metrics
    >>> truth = [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    >>> metrics.order_divergence([0, 2, 1], truth)  # the edge 1 -> 2 goes backwards
    1
    """
    matrix, labels = _labelled(truth, "truth")
    return _divergence(order, as_adjacency(matrix, "truth"), labels)


def shd(estimate: Any, truth: Any) -> int:
    """Return the structural Hamming distance: edge additions, removals and reversals between two graphs.

    Parameters
    ----------
    estimate, truth : array-like, DataFrame or DiGraph
        The two graphs; swapping them changes nothing.

    Returns
    -------
    int
        The smallest number of changes that turns one graph into the other.

    Notes
    -----
    A reversal counts once, as in the paper. A pair joined in both directions (never in a DAG) counts as two
    edges, so that removing both costs two; the distance remains a metric.

    Examples
    --------
    >>> from heterodag import metrics
    >>> truth = [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    >>> metrics.shd([[0, 1, 0], [0, 0, 0], [0, 1, 0]], truth)  # 0 -> 2 is missing, 1 -> 2 is reversed
    2
    """
    one, other = _aligned(estimate, truth)
    differing = one != other
    # Both directions differ, and each graph has exactly one of them: two differing entries, one reversal.
    reversals = np.triu(differing & differing.T & (one != one.T))
    return int(differing.sum() - reversals.sum())


def precision(estimate: Any, truth: Any) -> float:
    """Return the share of the estimated directed edges that are true.

    Parameters
    ----------
    estimate, truth : array-like, DataFrame or DiGraph
        The two graphs. A reversed edge is a wrong edge.

    Returns
    -------
    float
        In [0, 1]. An estimate without edges has precision 1 if the truth has none either, else 0.

    Examples
    --------
    >>> from heterodag import metrics
    >>> truth = [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    >>> metrics.precision([[0, 1, 0], [0, 0, 0], [0, 1, 0]], truth)  # of two edges, one is true
    0.5
    """
    found, true = _aligned(estimate, truth)
    return _share(_hits(found, true), int(found.sum()), int(true.sum()))


def recall(estimate: Any, truth: Any) -> float:
    """Return the share of the true directed edges that were found.

    Parameters
    ----------
    estimate, truth : array-like, DataFrame or DiGraph
        The two graphs. A reversed edge is not found.

    Returns
    -------
    float
        In [0, 1]. A truth without edges has recall 1 if the estimate has none either, else 0.

    Examples
    --------
    >>> from heterodag import metrics
    >>> truth = [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    >>> round(metrics.recall([[0, 1, 0], [0, 0, 0], [0, 1, 0]], truth), 2)  # of three true edges, one is found
    0.33
    """
    found, true = _aligned(estimate, truth)
    return _share(_hits(found, true), int(true.sum()), int(found.sum()))


def f1(estimate: Any, truth: Any) -> float:
    """Return the F1 score of the directed edges, the harmonic mean of precision and recall.

    Parameters
    ----------
    estimate, truth : array-like, DataFrame or DiGraph
        The two graphs; swapping them changes nothing.

    Returns
    -------
    float
        In [0, 1]. Two graphs without edges score 1; when only one has edges, the score is 0.

    Examples
    --------
    >>> from heterodag import metrics
    >>> truth = [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    >>> metrics.f1([[0, 1, 0], [0, 0, 0], [0, 1, 0]], truth)
    0.4
    """
    found, true = _aligned(estimate, truth)
    return _share(2 * _hits(found, true), int(found.sum() + true.sum()), 0)


def auc(pvalues: Any, truth: Any) -> float:
    """Return the area under the ROC curve of the p-values as a ranking of all ordered pairs of columns.

    Parameters
    ----------
    pvalues : array-like or DataFrame of shape (d, d)
        `pvalues[i, j]` belongs to the edge i -> j; small means an edge. NaN marks a pair that was not tested.
        The diagonal is not read.
    truth : array-like, DataFrame or DiGraph
        The true graph.

    Returns
    -------
    float
        In [0, 1]; 0.5 for an uninformative ranking.

    Raises
    ------
    ParameterError
        If a p-value is outside [0, 1], or if the truth has no edge or an edge for every ordered pair.

    Notes
    -----
    Untested pairs count as p = 1: an order that forbids an edge is evidence against it, so these pairs come
    last, tied with each other. Ties count one half (the Mann-Whitney form of the area).

    Examples
    --------
    >>> from heterodag import metrics
    >>> truth = [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    >>> round(metrics.auc([[1, 0.001, 0.02], [1, 1, 0.3], [1, 0.1, 1]], truth), 2)
    0.89
    """
    first, second = _matched(pvalues, truth, "pvalues", "truth")
    true = as_adjacency(second, "truth")
    return _auc(_checked_pvalues(first, true), true)


def evaluate(adjacency: Any, truth: Any, *, order: Any = None, pvalues: Any = None) -> dict[str, float]:
    """Return every measure that the arguments allow.

    Parameters
    ----------
    adjacency : array-like, DataFrame or DiGraph
        The estimated graph.
    truth : array-like, DataFrame or DiGraph
        The true graph.
    order : array-like of shape (d,), optional
        The estimated order, as indices into `adjacency` or as its names; adds `order_divergence`.
    pvalues : array-like or DataFrame of shape (d, d), optional
        P-values in the column order of `adjacency`; adds `auc`.

    Returns
    -------
    dict of str to float
        `shd`, `precision`, `recall`, `f1` and, if their arguments are given, `order_divergence` and `auc`. `auc` is
        NaN if the truth has no edge or every edge, so that one undefined measure does not hide the others.

    Examples
    --------
    >>> from heterodag import metrics
    >>> truth = [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    >>> measures = metrics.evaluate([[0, 1, 0], [0, 0, 0], [0, 1, 0]], truth, order=[0, 2, 1])
    >>> for name, value in measures.items():
    ...     print(name, round(value, 2))
    shd 2.0
    precision 0.5
    recall 0.33
    f1 0.4
    order_divergence 1.0
    """
    found, true = _aligned(adjacency, truth, "adjacency")
    measures = {
        "shd": float(shd(found, true)),
        "precision": precision(found, true),
        "recall": recall(found, true),
        "f1": f1(found, true),
    }
    if order is not None:
        labels = _labelled(adjacency, "adjacency")[1]
        measures["order_divergence"] = float(_divergence(order, true, labels))
    if pvalues is not None:
        ranking = _checked_pvalues(_matched(adjacency, pvalues, "adjacency", "pvalues")[1], true)
        measures["auc"] = _auc(ranking, true) if 0 < true.sum() < true.size - len(true) else math.nan
    return measures


def varsortability(X: Any, adjacency: Any) -> float:
    """Return how much of the true order a sort by variance gives away.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n, d)
        The table.
    adjacency : array-like, DataFrame or DiGraph
        The true graph.

    Returns
    -------
    float
        Share of directed paths along which the variance rises: 1 if a sort by variance is a causal order, 0 if the
        reverse is, about 0.5 if variances say nothing. A standardised table has 0.5, because all variances are equal.

    Raises
    ------
    ParameterError
        If the graph has no edge or a cycle, or does not match the columns of the table.

    Notes
    -----
    Reisach, Seiler and Weichwald (2021). Every pair of ancestor and descendant counts once for each length of a path
    between them; a tie counts one half. Simulated tables often have a varsortability near 1, and methods that sort by
    variance look good on them for no other reason.

    Examples
    --------
    >>> from heterodag import metrics
    >>> table = [[0.0, 0.0, 0.0], [1.0, 3.0, 2.0], [2.0, 1.0, 7.0]]
    >>> metrics.varsortability(table, [[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    1.0
    """
    table, graph = _table_and_graph(X, adjacency)
    return sortability(table.var(axis=0), graph)


def r2_sortability(X: Any, adjacency: Any) -> float:
    """Return how much of the true order is given away by a sort by R^2 given all other columns.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n, d)
        The table.
    adjacency : array-like, DataFrame or DiGraph
        The true graph.

    Returns
    -------
    float
        Share of directed paths along which R^2 given all other columns rises. Scaling columns changes nothing.

    Raises
    ------
    ParameterError
        If the graph has no edge or a cycle, or does not match the columns of the table.

    Notes
    -----
    Reisach, Tami, Seiler, Chambaz and Weichwald (2023): as `varsortability`, with R^2 of a least-squares regression
    on all other columns in place of the variance. Standardising a table does not change it.

    Examples
    --------
    >>> import numpy as np
    >>> from heterodag import metrics
    >>> rng = np.random.default_rng(0)
    >>> causes = rng.standard_normal((500, 2))
    >>> table = np.column_stack([causes, causes.sum(axis=1) + 0.3 * rng.standard_normal(500)])
    >>> metrics.r2_sortability(table, [[0, 0, 1], [0, 0, 1], [0, 0, 0]])  # both causes explain the effect
    1.0
    """
    table, graph = _table_and_graph(X, adjacency)
    return sortability(explained_shares(table), graph)


def _table_and_graph(X: Any, adjacency: Any) -> tuple[NDArray[np.float64], Adjacency]:
    """Return a table and its graph, matched by name if both have names."""
    matrix, labels = _labelled(adjacency, "adjacency")
    if labels is not None and hasattr(X, "columns"):
        if set(X.columns) != set(labels):
            different = sorted(map(str, set(X.columns) ^ set(labels)))
            raise ParameterError("adjacency", "have the names of the table", different, "These occur in only one.")
        X = X[labels]
    table, graph = np.asarray(X, dtype=np.float64), as_adjacency(matrix, "adjacency")
    if table.ndim != 2 or table.shape[1] != len(graph):
        raise ParameterError("adjacency", f"fit the table, whose shape is {table.shape}", graph.shape)
    if not np.isfinite(table).all():
        raise ParameterError("X", "hold finite numbers only", "missing or infinite values")
    topological_order(graph)  # raises if there is a cycle
    if not graph.any():
        raise ParameterError("adjacency", "have an edge, or there is no path to sort", 0)
    return table, graph


def _divergence(order: Any, truth: Adjacency, labels: Labels) -> int:
    if labels is not None and np.ndim(order) == 1 and set(order) <= set(labels):
        order = [labels.index(name) for name in order]
    return int((truth * full_dag(check_order(order, len(truth))).T).sum())


def _hits(found: Adjacency, true: Adjacency) -> int:
    return int((found & true).sum())


def _share(hits: int, total: int, others: int) -> float:
    if total == 0:
        return 1.0 if others == 0 else 0.0
    return hits / total


def _auc(pvalues: NDArray[np.float64], truth: Adjacency) -> float:
    from scipy.stats import rankdata  # scipy.stats is slow to import, and only this line needs it

    pairs = ~np.eye(len(truth), dtype=bool)
    edge = truth[pairs] == 1
    positives, negatives = int(edge.sum()), int((~edge).sum())
    if positives == 0 or negatives == 0:
        rule = f"have from 1 to {edge.size - 1} edges, or the AUC is undefined"
        raise ParameterError("truth", rule, positives)
    ranks = rankdata(-pvalues[pairs])
    return float((ranks[edge].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def _checked_pvalues(value: Any, truth: Adjacency) -> NDArray[np.float64]:
    pvalues = as_square(value, "pvalues")
    _same_size(pvalues, truth, "pvalues")
    np.fill_diagonal(pvalues, 1.0)
    pvalues[np.isnan(pvalues)] = 1.0
    outside = pvalues[(pvalues < 0) | (pvalues > 1)]
    if outside.size:
        raise ParameterError("pvalues", "lie in [0, 1] or be NaN where no test was made", outside[0].item())
    return pvalues


def _aligned(estimate: Any, truth: Any, name: str = "estimate") -> tuple[Adjacency, Adjacency]:
    first, second = _matched(estimate, truth, name, "truth")
    found, true = as_adjacency(first, name), as_adjacency(second, "truth")
    _same_size(found, true, name)
    return found, true


def _same_size(first: NDArray[Any], truth: Adjacency, name: str) -> None:
    if first.shape != truth.shape:
        raise ParameterError(name, f"have the shape of `truth`, {truth.shape}", first.shape)


def _matched(first: Any, second: Any, first_name: str, second_name: str) -> tuple[Any, Any]:
    """Return both as matrices, the second in the column order of the first."""
    one, one_labels = _labelled(first, first_name)
    two, two_labels = _labelled(second, second_name)
    if one_labels is not None and two_labels is not None:
        if set(one_labels) != set(two_labels):
            different = sorted(map(str, set(one_labels) ^ set(two_labels)))
            rule = f"have the same names as `{second_name}`"
            raise ParameterError(first_name, rule, different, "These occur in only one of the two.")
        places = [two_labels.index(label) for label in one_labels]
        return one, np.asarray(two)[np.ix_(places, places)]
    for value, labels, name in ((first, one_labels, first_name), (second, two_labels, second_name)):
        if labels is not None and _is_graph(value):
            rule = "have the nodes 0..d-1 when the other graph has no names"
            raise ParameterError(name, rule, labels, "Relabel the nodes, or name the columns of the other graph.")
    return one, two


def _is_graph(value: Any) -> bool:
    return hasattr(value, "is_directed") and hasattr(value, "nodes")


def _labelled(value: Any, name: str) -> tuple[Any, Labels]:
    """Return a matrix and its names, or None for a matrix that is in the order 0..d-1 already."""
    if _is_graph(value):
        matrix, labels = _from_graph(value, name)
    elif hasattr(value, "columns") and hasattr(value, "index"):
        matrix, labels = _from_frame(value, name)
    else:
        return value, None
    if set(labels) == set(range(len(labels))):
        places = np.argsort(labels)
        return matrix[np.ix_(places, places)], None
    return matrix, labels


def _from_graph(graph: Any, name: str) -> tuple[NDArray[Any], list[Any]]:
    import networkx as nx

    if not graph.is_directed():
        raise ParameterError(name, "be a directed graph", type(graph).__name__, "Use networkx.DiGraph.")
    labels = list(graph.nodes)
    return nx.to_numpy_array(graph, nodelist=labels, weight=None), labels


def _from_frame(frame: Any, name: str) -> tuple[NDArray[Any], list[Any]]:
    labels, rows = list(frame.columns), list(frame.index)
    if len(set(labels)) < len(labels) or len(labels) != len(rows) or set(labels) != set(rows):
        rule = "have the same, distinct names on its rows and columns"
        raise ParameterError(name, rule, rows, f"The columns are {labels}.")
    places = [rows.index(label) for label in labels]
    return frame.to_numpy()[places], labels
