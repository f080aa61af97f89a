"""Read the graph to be checked (matrix, frame, networkx graph, file or fitted model) and match it with the table."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from heterodag.core.graph import Adjacency, as_adjacency, find_cycle
from heterodag.errors import DataError, ParameterError
from heterodag.io.graphfiles import is_edge_list, read_graph
from heterodag.io.inputs import column_labels, read_data

#: What to do with columns that the graph does not name.
OTHERS = ("refuse", "drop", "keep")
_SHOWN = 5


def match_graph(graph: Any, X: Any, others: str, argument: str = "graph") -> tuple[Adjacency, Any]:
    """Return the graph as a matrix over the columns of the table, and the table without columns that are left out.

    `argument` is what messages call the graph: "graph", "learned" or "truth".
    """
    what = {"graph": "The graph", "truth": "The true graph"}.get(argument, f"The {argument} graph")
    names = _column_names(X)
    labels = column_labels(read_data(X)[0].shape[1], None) if names is None else names
    found, own, complete = _named(graph, labels, argument)
    _refuse_unknown(own, labels, names is not None, what)
    absent = [label for label in labels if label not in own]
    if absent and complete and others == "refuse":
        remedy = (
            "leave out such columns (others='drop', or --others drop), or take them for variables without edges "
            "(others='keep', or --others keep)."
        )
        if argument == "truth":
            remedy = "it must name all of them, those without edges too."
        raise DataError(f"{what} does not name {_listed(absent, 'column')} of the table: {remedy}")
    if absent and others == "drop":
        labels = [label for label in labels if label in own]
        X = nw.from_native(X, eager_only=True).select(labels).to_native()
    adjacency = np.zeros((len(labels), len(labels)), dtype=np.int8)
    place = [labels.index(name) for name in own]
    adjacency[np.ix_(place, place)] = found
    cycle = find_cycle(adjacency)
    if cycle:
        shown = " -> ".join(f"'{labels[j]}'" for j in cycle)
        raise DataError(
            f"{what} has a cycle, {shown}: remove or turn one of its edges (an edge without direction needs one too)."
        )
    return adjacency, X


def _column_names(X: Any) -> list[str] | None:
    """Return the names of a frame's columns, whatever the columns hold; None for arrays."""
    try:
        frame = nw.from_native(X, eager_only=True, strict=False)
    except nw.exceptions.DuplicateError:
        return read_data(X)[1]  # raises an error that says what is wrong
    return [str(name) for name in frame.columns] if isinstance(frame, nw.DataFrame) else None


def _named(graph: Any, labels: list[str], argument: str) -> tuple[Adjacency, list[str], bool]:
    """Return a graph as a matrix, the names of its variables, and whether these are all variables it is about."""
    if isinstance(graph, str | Path):
        whole = not is_edge_list(graph)
        frame = read_graph(graph).adjacency
        return as_adjacency(frame.to_numpy(), argument), [str(name) for name in frame.columns], whole
    if hasattr(graph, "edges") and hasattr(graph, "nodes"):
        return *_from_networkx(graph, argument), True
    if hasattr(graph, "adjacency_"):  # a fitted estimator
        return as_adjacency(graph.adjacency_, argument), graph.names(), True
    if hasattr(graph, "adjacency"):  # a graph file, a stored result, a result of recover_dag
        names = getattr(graph, "names", None)
        graph = graph.adjacency
        if names is not None:
            return as_adjacency(graph, argument), [str(name) for name in names], True
    if hasattr(graph, "loc") and hasattr(graph, "columns"):
        names = [str(name) for name in graph.columns]
        if [str(name) for name in graph.index] != names:
            raise ParameterError(argument, "have the same names on its rows as on its columns", names)
        return as_adjacency(graph.to_numpy(), argument), names, True
    matrix = as_adjacency(graph, argument)
    if len(matrix) != len(labels):
        raise ParameterError(
            argument, f"have shape ({len(labels)}, {len(labels)}), as the table", matrix.shape,
            "Pass a DataFrame with names on rows and columns if it is about some of the columns only.",
        )  # fmt: skip
    return matrix, labels, True


def _from_networkx(graph: Any, argument: str) -> tuple[Adjacency, list[str]]:
    if not graph.is_directed():
        raise ParameterError(argument, "be a directed graph", type(graph).__name__)
    nodes = list(graph.nodes)
    matrix = np.zeros((len(nodes), len(nodes)))
    for cause, effect in graph.edges():
        matrix[nodes.index(cause), nodes.index(effect)] = 1
    return as_adjacency(matrix, argument), [str(node) for node in nodes]


def _refuse_unknown(own: Sequence[str], labels: Sequence[str], named: bool, what: str) -> None:
    unknown = [name for name in own if name not in labels]
    if not unknown:
        return
    near = difflib.get_close_matches(unknown[0], labels, n=1)
    if near:
        remedy = f"did you mean '{near[0]}'?"
    elif named:
        remedy = f"it has {_listed(labels, 'column')}."
    else:
        remedy = f"a table without names has the columns x0 to x{len(labels) - 1}."
    raise DataError(f"{what} names {_listed(unknown, 'variable')}, which the table does not have: {remedy}")


def _listed(names: Sequence[str], noun: str) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"the {noun}{'s' if len(names) > 1 else ''} {shown}{more}"
