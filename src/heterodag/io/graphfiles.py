"""Graphs in: graph.json, edges.csv, GraphML and square adjacency tables, for `heterodag evaluate`.

Everywhere `adjacency.loc[a, b] == 1` means a -> b. An edge whose direction is open is the edge that the file names.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heterodag.errors import DataError
from heterodag.io.exports import CERTAINTY, FORMAT, FORMAT_VERSION
from heterodag.io.textfiles import read_rows

if TYPE_CHECKING:
    import pandas as pd

_EDGE_HEADERS = (("cause", "effect"), ("source", "target"), ("from", "to"))


@dataclass(frozen=True)
class GraphFile:
    """A graph read from a file.

    Attributes
    ----------
    adjacency : pandas.DataFrame
        Zeros and ones, with the names on rows (causes) and columns (effects).
    order : list of str or None
        Names, causes first, where the file has them.
    pvalues : pandas.DataFrame or None
        P-values in the same shape, NaN where not tested, where the file has them.
    certainty : dict of str to pandas.DataFrame
        Those of nats, direction_nats, interventional_nats (NaN where not known) and open (boolean) that graph.json
        holds, in the same shape.
    """

    adjacency: pd.DataFrame
    order: list[str] | None = None
    pvalues: pd.DataFrame | None = None
    certainty: dict[str, pd.DataFrame] = field(default_factory=dict)


def read_graph(path: str | Path, nodes: Sequence[str] | None = None) -> GraphFile:
    """Read a graph that `heterodag fit` or `heterodag simulate` wrote, or an adjacency table.

    Parameters
    ----------
    path : str or Path
        By its ending: ``.json``, ``.graphml``; anything else is text with either the columns cause and effect
        (or source and target, or from and to), or a square table of zeros and ones, causes in rows.
    nodes : sequence of str, optional
        All names, for edge lists, which do not name variables without edges.

    Returns
    -------
    GraphFile
        The graph, and the order and p-values if the file holds them.

    Raises
    ------
    DataError
        If the file is not a graph; the message says what is wrong.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"There is no file '{path}'; give a graph file, such as graph.json.")
    readers = {".json": _read_json, ".graphml": _read_graphml, ".xml": _read_graphml}
    reader = readers.get(path.suffix.lower())
    return _read_text(path, nodes) if reader is None else reader(path)


def is_edge_list(path: str | Path) -> bool:
    """Return whether the file lists edges only, so that its variables have to come from elsewhere."""
    path = Path(path)
    if not path.is_file() or path.suffix.lower() in {".json", ".graphml", ".xml"}:
        return False
    return _edge_columns(read_rows(path)[0]) is not None


def _read_json(path: Path) -> GraphFile:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise DataError(f"File '{path}' is not JSON ({error}).") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(f'File \'{path}\' is not a heterodag graph: its "format" is not "{FORMAT}".')
    if content.get("format_version") != FORMAT_VERSION:
        found = content.get("format_version")
        raise DataError(f"File '{path}' has format version {found!r}; this heterodag reads {FORMAT_VERSION}.")
    try:
        names = [str(name) for name in content["names"]]
        edges = [(edge["cause"], edge["effect"]) for edge in content["edges"]]
        order = content.get("order")
        pvalues = _square(content["pvalues"], names) if content.get("pvalues") is not None else None
        certainty = _certainty(content["edges"], names)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"File '{path}' is not a complete heterodag graph ({error!r}).") from None
    return GraphFile(_from_edges(path, edges, names), None if order is None else list(order), pvalues, certainty)


def _square(rows: Any, names: list[str]) -> pd.DataFrame:
    import pandas as pd

    matrix = np.array([[np.nan if v is None else float(v) for v in row] for row in rows])
    return pd.DataFrame(matrix, index=names, columns=names)


def _certainty(edges: Sequence[Mapping[str, Any]], names: list[str]) -> dict[str, pd.DataFrame]:
    """Return what the edges say beside their p-value, one table per key."""
    import pandas as pd

    found = {}
    for key in CERTAINTY:
        if not any(key in edge for edge in edges):
            continue
        values = {(edge["cause"], edge["effect"]): edge[key] for edge in edges if edge.get(key) is not None}
        missing, kind = (False, bool) if key == "open" else (np.nan, float)
        rows = [[kind(values.get((cause, effect), missing)) for effect in names] for cause in names]
        found[key] = pd.DataFrame(rows, index=names, columns=names, dtype=kind)
    return found


def _read_graphml(path: Path) -> GraphFile:
    import xml.etree.ElementTree as ElementTree

    import networkx as nx

    try:
        graph = nx.read_graphml(path)
    except (nx.NetworkXError, ElementTree.ParseError, ValueError, KeyError) as error:
        raise DataError(f"File '{path}' is not readable GraphML ({error}).") from None
    if not graph.is_directed():
        raise DataError(f"The graph in '{path}' is undirected; edges must point from cause to effect.")
    names = {node: str(data.get("label", node)) for node, data in graph.nodes(data=True)}
    edges = [(names[cause], names[effect]) for cause, effect in graph.edges()]
    placed = sorted((data["position"], names[node]) for node, data in graph.nodes(data=True) if "position" in data)
    order = [name for _, name in placed] if len(placed) == len(names) else None
    return GraphFile(_from_edges(path, edges, list(names.values())), order)


def _read_text(path: Path, nodes: Sequence[str] | None) -> GraphFile:
    rows = read_rows(path)
    found = _edge_columns(rows[0])
    if found is None:
        return GraphFile(_from_matrix(path, rows))
    cause, effect = found
    edges = [(row[cause], row[effect]) for row in rows[1:] if len(row) > max(found)]
    if len(edges) < len(rows) - 1:
        raise DataError(f"A row of '{path}' has too few fields; every row needs a cause and an effect.")
    names = list(nodes) if nodes is not None else sorted({name for edge in edges for name in edge})
    return GraphFile(_from_edges(path, edges, names))


def _edge_columns(header: list[str]) -> tuple[int, int] | None:
    lower = [cell.strip().lower() for cell in header]
    for cause, effect in _EDGE_HEADERS:
        if cause in lower and effect in lower:
            return lower.index(cause), lower.index(effect)
    return None


def _from_edges(path: Path, edges: Sequence[tuple[str, str]], names: list[str]) -> pd.DataFrame:
    _check_names(path, names)
    place = {name: k for k, name in enumerate(names)}
    unknown = sorted({str(name) for edge in edges for name in edge if name not in place})
    if unknown:
        raise DataError(f"An edge in '{path}' names '{unknown[0]}', which is not among the variables.")
    adjacency = np.zeros((len(names), len(names)), dtype=np.int8)
    for cause, effect in edges:
        adjacency[place[cause], place[effect]] = 1
    return _frame(path, adjacency, names)


def _from_matrix(path: Path, rows: list[list[str]]) -> pd.DataFrame:
    """Read a square table; a first column that repeats the header's names, in any order, holds row names."""
    header, body = [cell.strip() for cell in rows[0]], rows[1:]
    labelled = len(header) == len(body) + 1 and all(len(row) == len(header) for row in body)
    names = header[1:] if labelled else header
    if any(len(row) != len(header) for row in body) or len(body) != len(names):
        raise DataError(
            f"File '{path}' is neither an edge list (columns cause and effect) nor a square table: it has "
            f"{len(names)} names and {len(body)} rows."
        )
    _check_names(path, names)
    left = [row[0].strip() for row in body] if labelled else names
    if sorted(left) != sorted(names):
        raise DataError(f"The row names of '{path}' are not its column names; they must be the same variables.")
    cells = [[cell.strip() for cell in row[1 if labelled else 0 :]] for row in body]
    for name, row in zip(left, cells, strict=True):
        for cell in row:
            if cell not in {"0", "1", "0.0", "1.0"}:
                raise DataError(f"Row '{name}' of '{path}' holds '{cell}'; a graph has only zeros and ones.")
    adjacency = np.array(cells, dtype=np.float64).reshape(len(names), len(names)).astype(np.int8)
    return _frame(path, adjacency[[left.index(name) for name in names]], names)


def _check_names(path: Path, names: list[str]) -> None:
    if not names:
        raise DataError(f"File '{path}' names no variables; compare it with a file that does, such as graph.json.")
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise DataError(f"Variable '{repeated[0]}' stands more than once in '{path}'; names must be unique.")


def _frame(path: Path, adjacency: Any, names: list[str]) -> pd.DataFrame:
    import pandas as pd

    loops = np.flatnonzero(np.diag(adjacency))
    if loops.size:
        raise DataError(f"Variable '{names[loops[0]]}' causes itself in '{path}'; a causal graph has no loops.")
    return pd.DataFrame(adjacency, index=names, columns=names)
