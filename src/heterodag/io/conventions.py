"""Convert adjacency matrices from and to the conventions of other libraries.

Ours, everywhere: `adjacency[i, j] == 1` means column i -> column j.

* **causal-learn** (`GeneralGraph.graph`): endpoints. `graph[j, i] == 1` and `graph[i, j] == -1` mean i -> j: the entry in
  row j, column i is the mark at j.
* **lingam** (`adjacency_matrix_`): weights, effects in rows. `B[j, i] != 0` means i -> j.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from heterodag.core.graph import Adjacency, as_adjacency, as_square
from heterodag.errors import ParameterError

_TAIL, _ARROW = -1, 1


def adjacency_from_causal_learn(graph: Any) -> Adjacency:
    """Convert a causal-learn graph to our adjacency matrix.

    Parameters
    ----------
    graph : GeneralGraph, CausalGraph or (d, d) array
        The graph, or its matrix of endpoints. Every edge must be directed: causal-learn's undirected, bidirected and
        circle edges have no place in a DAG, and are refused with the names of the two variables.

    Returns
    -------
    ndarray of shape (d, d), int8
        `adjacency[i, j] == 1` means column i -> column j.

    Examples
    --------
    >>> from heterodag import adjacency_from_causal_learn
    >>> adjacency_from_causal_learn([[0, -1], [1, 0]])  # causal-learn's way to write 0 -> 1
    array([[0, 1],
           [0, 0]], dtype=int8)
    """
    inner = getattr(graph, "G", graph)
    marks = as_square(getattr(inner, "graph", inner), "graph")
    directed = (marks.T == _ARROW) & (marks == _TAIL)
    other = (marks != 0) & ~directed & ~directed.T
    if other.any():
        i, j = np.argwhere(other)[0].tolist()
        nodes = getattr(inner, "nodes", None)
        pair = [node.get_name() for node in (nodes[i], nodes[j])] if nodes else [i, j]
        raise ParameterError(
            "graph", "have only directed edges", pair, "Orient or remove the edge between these two."
        )
    return as_adjacency(directed, "graph")


def adjacency_to_causal_learn(adjacency: Any) -> npt.NDArray[np.int64]:
    """Convert our adjacency matrix to causal-learn's matrix of endpoints.

    Parameters
    ----------
    adjacency : array of shape (d, d)
        `adjacency[i, j] == 1` means column i -> column j.

    Returns
    -------
    ndarray of shape (d, d), int
        As `GeneralGraph.graph` holds it.

    Examples
    --------
    >>> from heterodag import adjacency_to_causal_learn
    >>> adjacency_to_causal_learn([[0, 1], [0, 0]])
    array([[ 0, -1],
           [ 1,  0]])
    """
    edges = as_adjacency(adjacency).astype(np.int64)
    both = np.argwhere((edges == 1) & (edges.T == 1))
    if both.size:
        raise ParameterError("adjacency", "have at most one direction between two columns", both[0].tolist())
    return _ARROW * edges.T + _TAIL * edges


def adjacency_from_lingam(matrix: Any, threshold: float = 0.0) -> Adjacency:
    """Convert a lingam weight matrix to our adjacency matrix.

    Parameters
    ----------
    matrix : (d, d) array
        `matrix[j, i]` is the weight of column i in column j, as in `adjacency_matrix_`. Undecided entries (NaN, which
        some of lingam's methods leave) are refused.
    threshold : float, default=0.0
        Weights up to this size are not edges.

    Returns
    -------
    ndarray of shape (d, d), int8
        `adjacency[i, j] == 1` means column i -> column j.

    Examples
    --------
    >>> from heterodag import adjacency_from_lingam
    >>> adjacency_from_lingam([[0.0, 0.0], [1.5, 0.0]])  # lingam's way to write 0 -> 1
    array([[0, 1],
           [0, 0]], dtype=int8)
    """
    weights = as_square(matrix, "matrix")
    unknown = np.argwhere(np.isnan(weights))
    if unknown.size:
        j, i = unknown[0].tolist()
        raise ParameterError("matrix", "have no undecided (NaN) entries", [j, i], "Decide the direction first.")
    return as_adjacency(np.abs(weights.T) > threshold, "matrix")


def adjacency_to_lingam(adjacency: Any) -> npt.NDArray[np.float64]:
    """Convert our adjacency matrix to lingam's matrix.

    Parameters
    ----------
    adjacency : array of shape (d, d)
        `adjacency[i, j] == 1` means column i -> column j.

    Returns
    -------
    ndarray of shape (d, d)
        Effects in rows, every weight 1.

    Examples
    --------
    >>> from heterodag import adjacency_to_lingam
    >>> adjacency_to_lingam([[0, 1], [0, 0]])
    array([[0., 0.],
           [1., 0.]])
    """
    return as_adjacency(adjacency).T.astype(np.float64)
