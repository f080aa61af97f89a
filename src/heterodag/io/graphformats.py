"""Write one graph to one file, in the format its ending names: GML and DAGitty here, the others in `exports`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from heterodag.core.graph import as_adjacency
from heterodag.errors import HeterodagError, ParameterError
from heterodag.io.exports import (
    GraphResult,
    attributed_graph,
    edges_csv,
    graph_dot,
    graph_graphml,
    graph_json,
    graph_result,
    versions,
)
from heterodag.io.inputs import column_labels
from heterodag.io.writing import write_all


def graph_gml(result: GraphResult) -> str:
    """Return the graph as GML: nodes with label, position and layer; edges with pvalue."""
    import networkx as nx

    return "\n".join(nx.generate_gml(attributed_graph(result, result.names))) + "\n"


def graph_dagitty(result: GraphResult) -> str:
    """Return the graph as DAGitty text, for dagitty.net and the R package dagitty."""
    names = [_dagitty_name(name) for name in result.names]
    if len(set(names)) < len(names):
        raise HeterodagError(
            "Two column names differ only in characters that DAGitty cannot hold; rename one of them."
        )
    edges = [f"{names[i]} -> {names[j]}" for i, j, _ in result.edges()]
    return "\n".join(["dag {", *names, *edges, "}"]) + "\n"


def _dagitty_name(name: str) -> str:
    """Quote a name; DAGitty has no way to write a double quote or a line break inside one."""
    return '"' + "".join("'" if c == '"' else c if c.isprintable() else " " for c in name) + '"'


#: ending -> text of the file.
FORMATS: dict[str, Callable[[GraphResult], str]] = {
    ".json": graph_json,
    ".csv": edges_csv,
    ".graphml": graph_graphml,
    ".gml": graph_gml,
    ".dot": graph_dot,
    ".dagitty": graph_dagitty,
}


def write_graph(graph: Any, path: str | Path, names: Sequence[str] | None = None) -> Path:
    """Write a graph for another tool.

    Parameters
    ----------
    graph : fitted estimator, HeteroscedasticSCM, or array of shape (d, d)
        ``graph[i, j] == 1`` means i -> j.
    path : str or Path
        The ending decides: ``.json`` (heterodag), ``.csv`` (edges), ``.graphml`` (Cytoscape, Gephi, igraph), ``.gml``,
        ``.dot`` (Graphviz), ``.dagitty`` (dagitty.net, R). An existing file is replaced.
    names : sequence of str, optional
        Column names, for an array; x0, x1, ... by default.

    Returns
    -------
    pathlib.Path
        The file.

    Examples
    --------
    >>> from heterodag import write_graph
    >>> print(write_graph([[0, 1], [0, 0]], "graph.dagitty", names=["dose", "response"]).read_text(encoding="utf-8"))
    dag {
    "dose"
    "response"
    "dose" -> "response"
    }
    """
    path = Path(path)
    make = FORMATS.get(path.suffix.lower())
    if make is None:
        raise ParameterError("path", f"end in one of {', '.join(FORMATS)}", path.name)
    result = graph if isinstance(graph, GraphResult) else _as_result(graph, names)
    write_all({path.name: make(result)}, path.parent)
    return path


def _as_result(graph: Any, names: Sequence[str] | None) -> GraphResult:
    if hasattr(graph, "adjacency_"):
        return graph_result(graph)
    if hasattr(graph, "adjacency") and isinstance(getattr(graph, "names", None), list):
        graph, names = graph.adjacency, graph.names
    adjacency = as_adjacency(graph, "graph")
    labels = [str(name) for name in column_labels(len(adjacency), names)]
    if len(labels) != len(adjacency) or len(set(labels)) < len(labels):
        raise ParameterError("names", f"be {len(adjacency)} different names", labels)
    return GraphResult(names=tuple(labels), adjacency=adjacency, versions=versions())
