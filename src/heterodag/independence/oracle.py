"""The oracle: conditional independence read off the true graph, to test graph logic without statistics."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from heterodag.core.graph import Adjacency, ancestors, as_adjacency, topological_order
from heterodag.errors import ParameterError
from heterodag.independence.contract import BatchedTest, EdgeProblem, EdgeTests, untested

Mask = npt.NDArray[np.bool_]


def oracle(adjacency: Any) -> BatchedTest:
    """Return a test that knows the true DAG.

    Parameters
    ----------
    adjacency : array-like of shape (d, d)
        The true DAG; `adjacency[i, j] == 1` means column i -> column j.

    Returns
    -------
    callable EdgeProblem -> EdgeTests
        The p-value of j -> i is 1 if j and i are d-separated by the other predecessors of i, else 0. The data
        are not looked at. The order of the problem need not fit the DAG.

    Notes
    -----
    The limit of Algorithm 3 with a perfect test: with a true order it returns the true DAG, with a wrong one
    the smallest DAG in that order of which the true distribution is a model.
    """
    dag = as_adjacency(adjacency)
    topological_order(dag)
    return partial(_oracle_edges, dag)


def d_separated(adjacency: Any, first: int, second: int, given: Iterable[int]) -> bool:
    """Return whether `given` blocks every path between two other columns of a DAG.

    Parameters
    ----------
    adjacency : array-like of shape (d, d)
        The DAG; `adjacency[i, j] == 1` means column i -> column j.
    first, second : int
        Columns.
    given : iterable of int
        The conditioning columns, neither `first` nor `second`.

    Returns
    -------
    bool
        True for d-separation.

    Notes
    -----
    Lauritzen et al. (1990): the pair is d-separated by S when S separates it in the moral graph of the
    ancestral closure of the pair and S.
    """
    dag = as_adjacency(adjacency)
    blocked = _mask(given, len(dag))
    moral = _moral_graph(dag, blocked | _mask([first, second], len(dag)))
    return not _reached(moral, first, blocked)[second]


def _oracle_edges(adjacency: Adjacency, problem: EdgeProblem) -> EdgeTests:
    d = problem.X.shape[1]
    if len(adjacency) != d:
        raise ParameterError("adjacency", f"have one row per column of the table, {d}", adjacency.shape)
    pvalues = untested(d)
    for target in problem.order.tolist():
        before = _mask(problem.predecessors(target), d)
        moral = _moral_graph(adjacency, before | _mask([target], d))
        # The closure is that of all predecessors and the target, whichever predecessor is tested; a path that
        # enters no other predecessor ends at the first one it meets. One search answers all of them.
        connected = _reached(moral, target, before)
        tested = problem.candidates[:, target]
        pvalues[tested, target] = np.where(connected[tested], 0.0, 1.0)
    return EdgeTests(pvalues)


def _mask(columns: Iterable[int] | npt.NDArray[np.intp], d: int) -> Mask:
    mask = np.zeros(d, dtype=bool)
    mask[list(columns)] = True
    return mask


def _moral_graph(adjacency: Adjacency, wanted: Mask) -> Mask:
    """Return the moral graph of `wanted` and their ancestors: undirected, parents of one child joined."""
    closure = wanted | ancestors(adjacency)[wanted].any(axis=0)
    edges = (adjacency != 0) & closure & closure[:, None]
    common = edges.astype(np.float32) @ edges.T.astype(np.float32) > 0
    return np.asarray(edges | edges.T | common)


def _reached(graph: Mask, start: int, blocked: Mask) -> Mask:
    """Return the columns that paths from `start` arrive at; paths end at blocked columns."""
    reached = _mask([start], len(graph))
    frontier = reached
    while frontier.any():
        found = graph[frontier].any(axis=0) & ~reached
        reached = reached | found
        frontier = found & ~blocked
    return reached
