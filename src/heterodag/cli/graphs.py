"""Commands for existing graphs: compare two, or write one in another format."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heterodag.cli.terminal import Screen
from heterodag.core.graph import find_cycle
from heterodag.errors import DataError, HeterodagError
from heterodag.io.exports import STRENGTHS, GraphResult, versions

if TYPE_CHECKING:
    from heterodag.io.graphfiles import GraphFile

MEASURES = {
    "order_divergence": "order divergence",
    "shd": "structural Hamming distance",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "auc": "area under the ROC curve",
}


def evaluate(screen: Screen, graph: Path, truth: Path, *, as_json: bool) -> None:
    """Print how far a learned graph is from the true one.

    Parameters
    ----------
    screen : Screen
        Where to print.
    graph, truth : Path
        Graph files; the order and the p-values are used if `graph` holds them.
    as_json : bool
        Print one JSON object instead of a table.
    """
    from heterodag.metrics import evaluate as measure

    learned, true = _same_nodes(graph, truth)
    order = learned.order
    _warn_of_cycle(screen, graph, learned, "its edges are compared all the same")
    if _warn_of_cycle(screen, truth, true, "edges are compared all the same, and the order divergence is left out"):
        order = None  # no order agrees with a cycle
    values = measure(learned.adjacency, true.adjacency, order=order, pvalues=learned.pvalues)
    values = {name: values[name] for name in MEASURES if name in values}
    if as_json:
        screen.say(json.dumps({name: None if math.isnan(v) else v for name, v in values.items()}))
    else:
        screen.table(["measure", "value"], [[MEASURES[name], _number(v)] for name, v in values.items()])


def convert(screen: Screen, graph: Path, out: Path, *, force: bool) -> None:
    """Write a graph file in another format.

    Parameters
    ----------
    screen : Screen
        Where to print.
    graph, out : Path
        A graph file, and the file to write; its ending decides the format.
    force : bool
        Replace an existing file.
    """
    from heterodag.io.graphfiles import read_graph
    from heterodag.io.graphformats import write_graph

    if out.exists() and not force:
        raise HeterodagError(f"File '{out}' exists already; pass --force to replace it.")
    found = read_graph(graph)
    names = tuple(str(name) for name in found.adjacency.columns)
    order = None if found.order is None else tuple(names.index(name) for name in found.order)
    pvalues = None if found.pvalues is None else found.pvalues.to_numpy()
    known: dict[str, Any] = {key: frame.to_numpy() for key, frame in found.certainty.items()}
    strengths = {key: known.pop(key) for key in STRENGTHS if key in known}
    result = GraphResult(
        names,
        found.adjacency.to_numpy(),
        order=order,
        pvalues=pvalues,
        versions=versions(),
        strengths=strengths,
        **known,
    )
    write_graph(result, out)
    screen.say(f"Wrote {out} ({len(names)} variables, {int((result.adjacency != 0).sum())} edges).")


def _names_in(edges: Path) -> list[str]:
    """Return the variables of an edge list; none if it has no edges."""
    from heterodag.io.graphfiles import read_graph

    lines = [line for line in edges.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    return list(read_graph(edges).adjacency.columns) if len(lines) > 1 else []


def _same_nodes(graph: Path, truth: Path) -> tuple[Any, Any]:
    """Read both graphs; an edge list takes its variables from the other file."""
    from heterodag.io.graphfiles import is_edge_list, read_graph

    lists = is_edge_list(graph), is_edge_list(truth)
    if lists == (True, False):
        second = read_graph(truth)
        return read_graph(graph, list(second.adjacency.columns)), second
    if all(lists):
        names = sorted({*_names_in(graph), *_names_in(truth)}) or None
        return read_graph(graph, names), read_graph(truth, names)
    first = read_graph(graph)
    second = read_graph(truth, list(first.adjacency.columns))
    only = sorted({*first.adjacency.columns} ^ {*second.adjacency.columns})
    if only:
        raise DataError(
            f"'{graph}' and '{truth}' have different variables ('{only[0]}' is only in one of them); compare "
            "graphs of the same variables."
        )
    return first, second


def _warn_of_cycle(screen: Screen, path: Path, found: GraphFile, consequence: str) -> bool:
    """Warn if a graph has a directed cycle, and return whether it has."""
    cycle = find_cycle(found.adjacency.to_numpy())
    if cycle:
        names = [str(found.adjacency.columns[node]) for node in cycle]
        shown = " -> ".join(names if len(names) <= 8 else [*names[:6], "...", names[-1]])
        screen.warn(f"The graph in '{path}' has a cycle ({shown}) and is not a causal graph; {consequence}.")
    return bool(cycle)


def _number(value: float) -> str:
    return f"{value:.0f}" if float(value).is_integer() and abs(value) >= 2 else f"{value:.4g}"
