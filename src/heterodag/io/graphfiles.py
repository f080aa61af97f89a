"""Read graphs from graph.json, edges.csv, GraphML and square adjacency tables, for `heterodag evaluate`.

Everywhere `adjacency.loc[a, b] == 1` means a -> b. An open edge is read in the direction that the file gives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heterodag.errors import DataError
from heterodag.io.exports import CERTAINTY, FORMAT, FORMAT_VERSION, STRENGTHS
from heterodag.io.jsonfiles import fault, read_json
from heterodag.io.textfiles import read_rows

if TYPE_CHECKING:
    import pandas as pd

_WRITTEN_ONLY = {".dot", ".gml", ".dagitty"}
_EDGE_HEADERS = (("cause", "effect"), ("source", "target"), ("from", "to"))


@dataclass(frozen=True)
class GraphFile:
    """A graph read from a file.

    Attributes
    ----------
    adjacency : pandas.DataFrame
        Zeros and ones, with the names on rows (causes) and columns (effects).
    order : list of str or None
        Names, causes first, if the file has them.
    pvalues : pandas.DataFrame or None
        P-values in the same shape, NaN where not tested, if the file has them.
    certainty : dict of str to pandas.DataFrame
        What graph.json says of the edges besides their p-values, in the same shape: those of `exports.CERTAINTY` and
        `exports.STRENGTHS` that it has. NaN where not known; ``open`` and ``required`` are boolean.

    Examples
    --------
    >>> from heterodag import write_graph
    >>> from heterodag.io.graphfiles import read_graph
    >>> graph = read_graph(write_graph([[0, 1], [0, 0]], "graph.json"))
    >>> graph.order is None, graph.pvalues is None  # the file holds neither
    (True, True)
    """

    adjacency: pd.DataFrame
    order: list[str] | None = None
    pvalues: pd.DataFrame | None = None
    certainty: dict[str, pd.DataFrame] = field(default_factory=dict)


def read_graph(path: str | Path, nodes: Sequence[str] | None = None) -> GraphFile:
    r"""Read a graph that `heterodag fit` or `heterodag simulate` wrote, or an adjacency table.

    Parameters
    ----------
    path : str or Path
        The ending decides: ``.json`` or ``.graphml``; anything else is text with either the columns cause and effect
        (or source and target, or from and to), or a square table of zeros and ones, causes in rows. If it is a
        folder, the graph.json in it is read.
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

    Examples
    --------
    >>> from pathlib import Path
    >>> from heterodag.io.graphfiles import read_graph
    >>> _ = Path("expert.csv").write_text("cause,effect\ndose,response\n", encoding="utf-8")
    >>> read_graph("expert.csv", nodes=["dose", "response", "age"]).adjacency
              dose  response  age
    dose         0         1    0
    response     0         0    0
    age          0         0    0
    """
    path = _graph_path(Path(path))
    readers = {".json": _read_json, ".graphml": _read_graphml, ".xml": _read_graphml}
    reader = readers.get(path.suffix.lower())
    return _read_text(path, nodes) if reader is None else reader(path)


def _graph_path(path: Path) -> Path:
    """Return the file that holds the graph; for a folder of results of `heterodag fit`, the graph.json in it."""
    if path.is_dir():
        if not (path / "graph.json").is_file():
            raise DataError(
                f"Folder '{path}' has no graph.json; give a graph file, or a folder that `heterodag fit` wrote."
            )
        return path / "graph.json"
    if not path.is_file():
        raise DataError(f"There is no file '{path}'; give a graph file, such as graph.json.")
    if path.suffix.lower() in _WRITTEN_ONLY:
        raise DataError(
            f"File '{path}' is of a format that heterodag writes but does not read ({path.suffix}); give the graph as "
            "graph.json, GraphML, an edge list or a square table."
        )
    return path


def is_edge_list(path: str | Path) -> bool:
    """Return whether the file lists edges only, so that its variables have to come from elsewhere."""
    path = Path(path)
    if not path.is_file() or path.suffix.lower() in {".json", ".graphml", ".xml", *_WRITTEN_ONLY}:
        return False
    return _edge_columns(read_rows(path)[0]) is not None


def _read_json(path: Path) -> GraphFile:
    content = read_json(path, "File", "give the graph.json of `heterodag fit`.")
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(f'File \'{path}\' is not a heterodag graph: its "format" is not "{FORMAT}".')
    if content.get("format_version") != FORMAT_VERSION:
        found = content.get("format_version")
        raise DataError(f"File '{path}' has format version {found!r}; this heterodag reads {FORMAT_VERSION}.")
    try:
        names, edges, order = _structure(content)
        pvalues = _square(content["pvalues"], names) if content.get("pvalues") is not None else None
        certainty = _certainty(content["edges"], names)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"File '{path}' is not a complete heterodag graph ({fault(error)}).") from None
    adjacency = _from_edges(path, edges, names)
    if order is not None and sorted(order) != sorted(names):
        raise DataError(f"File '{path}' is not a complete heterodag graph (the order must hold every name once).")
    return GraphFile(adjacency, order, pvalues, certainty)


def _structure(content: Mapping[str, Any]) -> tuple[list[str], list[tuple[str, str]], list[str] | None]:
    """Return names, edges and order of the content of graph.json."""
    if not isinstance(content["names"], list):
        raise ValueError("names must be a list")
    names = [str(name) for name in content["names"]]
    edges = [(str(edge["cause"]), str(edge["effect"])) for edge in content["edges"]]
    order = None if content.get("order") is None else [str(name) for name in content["order"]]
    return names, edges, order


def _square(rows: Any, names: list[str]) -> pd.DataFrame:
    import pandas as pd

    matrix = np.array([[np.nan if v is None else float(v) for v in row] for row in rows])
    return pd.DataFrame(matrix, index=names, columns=names)


def _certainty(edges: Sequence[Mapping[str, Any]], names: list[str]) -> dict[str, pd.DataFrame]:
    """Return what the edges hold besides their p-value, one table per key."""
    import pandas as pd

    found, place = {}, {name: k for k, name in enumerate(names)}
    for key in (*CERTAINTY, *STRENGTHS):
        if not any(key in edge for edge in edges):
            continue
        matrix = np.full((len(names), len(names)), False if key in ("open", "required") else np.nan)
        for edge in edges:
            if edge.get(key) is not None:
                matrix[place[str(edge["cause"])], place[str(edge["effect"])]] = edge[key]
        found[key] = pd.DataFrame(matrix, index=names, columns=names)
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
    places = {names[node]: data.get("position") for node, data in graph.nodes(data=True)}
    placed = sorted((place, name) for name, place in places.items() if isinstance(place, int | float))
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
        raise DataError(f"Variable '{repeated[0]}' appears more than once in '{path}'; names must be unique.")


def _frame(path: Path, adjacency: Any, names: list[str]) -> pd.DataFrame:
    import pandas as pd

    loops = np.flatnonzero(np.diag(adjacency))
    if loops.size:
        raise DataError(f"Variable '{names[loops[0]]}' causes itself in '{path}'; a causal graph has no loops.")
    return pd.DataFrame(adjacency, index=names, columns=names)
