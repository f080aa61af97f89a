"""Directed graphs as matrices: the one adjacency convention of the package, orders and layers.

`adjacency[i, j] == 1` means column i -> column j. Matrices are int8; an order lists columns, causes first.
Only the `as_` and `check_` functions check what users pass in; the others take checked arrays.
"""

from __future__ import annotations

import heapq
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heterodag.errors import ParameterError

Adjacency: TypeAlias = NDArray[np.int8]
Order: TypeAlias = NDArray[np.intp]


def as_adjacency(value: Any, name: str = "adjacency") -> Adjacency:
    """Return a checked int8 copy of a 0/1 matrix.

    Parameters
    ----------
    value : array-like of shape (d, d)
        Zeros and ones, of any boolean or numeric type; `value[i, j] == 1` means column i -> column j.
    name : str, default="adjacency"
        The argument as the user wrote it, for the error message.

    Returns
    -------
    ndarray of shape (d, d), int8
        A copy. It may have directed cycles: see `is_dag`.

    Raises
    ------
    ParameterError
        If the matrix is not square, has entries other than 0 and 1, or has a 1 on its diagonal.
    """
    matrix = as_square(value, name)
    wrong = np.argwhere((matrix != 0) & (matrix != 1))
    if wrong.size:
        row, column = wrong[0].tolist()
        remedy = f"Look at entry [{row}, {column}]."
        raise ParameterError(name, "hold only zeros and ones", matrix[row, column].item(), remedy)
    loops = np.flatnonzero(matrix.diagonal()).tolist()
    if loops:
        rule = "have no self loops, that is, no ones on its diagonal"
        raise ParameterError(name, rule, loops, "Set these diagonal entries to 0.")
    return matrix.astype(np.int8)


def as_square(value: Any, name: str) -> NDArray[np.float64]:
    """Return a square matrix of numbers as a float64 copy, else raise `ParameterError`."""
    try:
        matrix = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        kind = type(value).__name__
        raise ParameterError(name, "be a square matrix of numbers", kind, "Pass an array.") from error
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise ParameterError(name, "be square, of shape (d, d) with one row and column per variable", matrix.shape)
    return matrix


def check_order(order: Any, d: int, name: str = "order") -> Order:
    """Return `order` as an index array if it is a permutation of 0..d-1.

    Parameters
    ----------
    order : array-like of shape (d,)
        Column indices, causes first.
    d : int
        Number of columns.
    name : str, default="order"
        The argument as the user wrote it, for the error message.

    Returns
    -------
    ndarray of shape (d,), intp
        A copy.

    Raises
    ------
    ParameterError
        If it is not a permutation; the message says which columns are missing, repeated or unknown.
    """
    rule = f"list every column index from 0 to {d - 1} once"
    try:
        values = np.array(order, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ParameterError(name, rule, order, "Pass whole numbers.") from error
    if values.ndim != 1 or not np.all(np.isfinite(values) & (values == np.floor(values))):
        raise ParameterError(name, rule, order, "Pass a flat list of whole numbers.")
    faults = _order_faults(values, d)
    if faults:
        raise ParameterError(name, rule, values.astype(np.int64).tolist(), faults)
    return values.astype(np.intp)


def _order_faults(values: NDArray[np.float64], d: int) -> str:
    found, counts = np.unique(values.astype(np.int64), return_counts=True)
    faults = {
        "Missing": np.setdiff1d(np.arange(d), found),
        "Repeated": found[counts > 1],
        "Unknown": found[(found < 0) | (found >= d)],
    }
    return " ".join(f"{kind}: {columns.tolist()}." for kind, columns in faults.items() if columns.size)


def is_dag(adjacency: NDArray[Any]) -> bool:
    """Return whether the graph has no directed cycle (a self loop is one)."""
    return sum(map(len, _peel(adjacency))) == len(adjacency)


def find_cycle(adjacency: NDArray[Any]) -> list[int]:
    """Return a directed cycle as [a, b, ..., a], or an empty list if the graph is a DAG."""
    edges = np.asarray(adjacency) != 0
    placed = [node for layer in _peel(edges) for node in layer]
    remaining = np.setdiff1d(np.arange(len(edges)), placed)
    return _a_cycle(edges, remaining) if remaining.size else []


def topological_order(adjacency: NDArray[Any], name: str = "adjacency") -> Order:
    """Return a causal order of a DAG: causes first, the smallest index first among those available.

    Parameters
    ----------
    adjacency : ndarray of shape (d, d)
        `adjacency[i, j] != 0` means column i -> column j.
    name : str, default="adjacency"
        The argument as the user wrote it, for the error message.

    Returns
    -------
    ndarray of shape (d,), intp
        The order; the same graph always gives the same one.

    Raises
    ------
    ParameterError
        If the graph has a directed cycle; the message shows one.
    """
    edges = np.asarray(adjacency) != 0
    waiting = edges.sum(axis=0)
    ready = np.flatnonzero(waiting == 0).tolist()
    order: list[int] = []
    while ready:
        node = heapq.heappop(ready)
        order.append(node)
        children = np.flatnonzero(edges[node])
        waiting[children] -= 1
        for child in children[waiting[children] == 0].tolist():
            heapq.heappush(ready, child)
    _require_dag(edges, name, len(order))
    return np.array(order, dtype=np.intp)


def topological_layers(adjacency: NDArray[Any], name: str = "adjacency") -> list[list[int]]:
    """Return the columns of a DAG in layers: roots first, each later column right after its last parent.

    Parameters
    ----------
    adjacency : ndarray of shape (d, d)
        `adjacency[i, j] != 0` means column i -> column j.
    name : str, default="adjacency"
        The argument as the user wrote it, for the error message.

    Returns
    -------
    list of list of int
        Layer k holds, in increasing index, the columns whose longest path from a root has k edges.

    Raises
    ------
    ParameterError
        If the graph has a directed cycle; the message shows one.
    """
    layers = _peel(adjacency)
    _require_dag(adjacency, name, sum(map(len, layers)))
    return layers


def respects_order(adjacency: NDArray[Any], order: Order) -> bool:
    """Return whether every edge goes from an earlier to a later column of `order`."""
    return not np.any((np.asarray(adjacency) != 0) & (full_dag(order) == 0))


def full_dag(order: Any) -> Adjacency:
    """Return the adjacency matrix with an edge from every earlier to every later column of `order`."""
    checked = check_order(order, len(order))
    position = np.argsort(checked)
    return (position[:, None] < position[None, :]).astype(np.int8)


def descendants(adjacency: NDArray[Any]) -> NDArray[np.bool_]:
    """Return the matrix whose row i marks the descendants of column i (those that a directed path from i reaches).

    Notes
    -----
    A column is its own descendant only when it lies on a cycle. Paths double in length with every product, so
    ceil(log2 d) products are enough.
    """
    reach: NDArray[np.bool_] = np.asarray(adjacency) != 0
    for _ in range(max(len(reach) - 1, 1).bit_length()):
        steps = reach.astype(np.float32)
        reach = reach | (steps @ steps > 0)
    return reach


def ancestors(adjacency: NDArray[Any]) -> NDArray[np.bool_]:
    """Return the matrix whose row j marks the ancestors of column j: the transpose of `descendants`."""
    return descendants(adjacency).T


def _peel(adjacency: NDArray[Any]) -> list[list[int]]:
    """Repeatedly remove the columns without parents; columns on or after a cycle are never removed."""
    edges = np.asarray(adjacency) != 0
    waiting = edges.sum(axis=0)
    layers = []
    layer = np.flatnonzero(waiting == 0)
    while layer.size:
        layers.append(layer.tolist())
        waiting[layer] = -1
        waiting = waiting - edges[layer].sum(axis=0)
        layer = np.flatnonzero(waiting == 0)
    return layers


def _require_dag(adjacency: NDArray[Any], name: str, n_placed: int) -> None:
    if n_placed < len(adjacency):
        remedy = "Remove or reverse one edge of this cycle."
        raise ParameterError(name, "have no directed cycle", find_cycle(adjacency), remedy)


def _a_cycle(edges: NDArray[np.bool_], remaining: NDArray[np.intp]) -> list[int]:
    """Walk backwards among the remaining columns, each of which has a parent among them, until one repeats."""
    walk = [int(remaining[0])]
    while walk[-1] not in walk[:-1]:
        walk.append(int(remaining[np.argmax(edges[remaining, walk[-1]])]))
    return walk[walk.index(walk[-1]) :][::-1]
