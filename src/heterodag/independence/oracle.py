"""The oracle: conditional independence read off the true graph, to test graph logic without statistics."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from heterodag.core.graph import Adjacency, as_adjacency, topological_order
from heterodag.errors import ParameterError
from heterodag.independence.contract import BatchedTest, EdgeProblem, EdgeTests, untested


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
        are not used. The order of the problem need not agree with the DAG.

    Notes
    -----
    The limit of Algorithm 3 with a perfect test: with a true order it returns the true DAG, with a wrong one
    the smallest DAG in that order of which the true distribution is a model.
    """
    dag = as_adjacency(adjacency)
    topological_order(dag)
    return partial(_oracle_edges, dag)


def _oracle_edges(adjacency: Adjacency, problem: EdgeProblem) -> EdgeTests:
    import networkx as nx

    d = problem.X.shape[1]
    if len(adjacency) != d:
        raise ParameterError("adjacency", f"have one row per column of the table, {d}", adjacency.shape)
    graph, pvalues = nx.from_numpy_array(adjacency, create_using=nx.DiGraph), untested(d)
    for cause, effect in np.argwhere(problem.candidates).tolist():
        others = set(problem.predecessors(effect).tolist()) - {cause}
        pvalues[cause, effect] = nx.is_d_separator(graph, cause, effect, others)
    return EdgeTests(pvalues)
