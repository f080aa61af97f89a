"""Results out: a fitted model becomes edges.csv, graph.json, graph.graphml and graph.dot, all or none.

`graph.json`, format version 1, is one object with these keys (those without a value are left out):

- ``format``, ``format_version``: always ``"heterodag-graph"`` and ``1``.
- ``names``: the variables in the column order of the table.
- ``order``: the same names, causes first; ``layers``: lists of names that were placed together.
- ``edges``: objects with ``cause``, ``effect`` and ``pvalue`` (null where not tested), smallest first.
- ``pvalues``: one list per cause with one number per effect, in the order of ``names``; null if not tested.
- ``scores``: one list per round with one number per variable; null for variables already placed.
- ``settings``, ``versions``: what the graph was learned with.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterodag._version import __version__
from heterodag.errors import HeterodagError

FORMAT = "heterodag-graph"
FORMAT_VERSION = 1
# What XML 1.0 cannot hold in any spelling.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class GraphResult:
    """What was learned, free of the estimator that learned it.

    Attributes
    ----------
    names : tuple of str
        The variables, in the column order of the table.
    adjacency : ndarray of shape (d, d)
        ``adjacency[i, j] == 1`` means ``names[i]`` -> ``names[j]``.
    order : tuple of int or None
        Column indices, causes first.
    layers : tuple of tuple of int or None
        Column indices placed together.
    pvalues : ndarray of shape (d, d) or None
        NaN where no test was made.
    scores : ndarray of shape (rounds, d) or None
        Normality of each remaining variable in each round; NaN for those already placed.
    settings : dict
        Parameters of the estimator, made plain (numbers, strings, booleans, None).
    versions : dict of str to str
        Versions of the software involved.
    """

    names: tuple[str, ...]
    adjacency: NDArray[Any]
    order: tuple[int, ...] | None = None
    layers: tuple[tuple[int, ...], ...] | None = None
    pvalues: NDArray[np.float64] | None = None
    scores: NDArray[np.float64] | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    def edges(self) -> list[tuple[int, int, float]]:
        """Return (cause, effect, p-value) of every edge by column index; NaN where no test was made."""
        pairs = np.argwhere(self.adjacency != 0).tolist()
        return [(i, j, math.nan if self.pvalues is None else float(self.pvalues[i, j])) for i, j in pairs]


def graph_result(model: Any) -> GraphResult:
    """Collect what a fitted estimator learned.

    Parameters
    ----------
    model : estimator
        Any fitted estimator of this package; it may lack order, layers, p-values or scores.
    """
    order, layers = getattr(model, "order_", None), getattr(model, "layers_", None)
    return GraphResult(
        names=tuple(model.names()),
        adjacency=np.asarray(model.adjacency_),
        order=None if order is None else tuple(int(i) for i in order),
        layers=None if layers is None else tuple(tuple(int(i) for i in layer) for layer in layers),
        pvalues=_floats(getattr(model, "pvalues_", None)),
        scores=_floats(getattr(model, "scores_", None)),
        settings={"estimator": type(model).__name__}
        | {name: _plain(value) for name, value in model.get_params(deep=False).items()},
        versions=versions(),
    )


def versions() -> dict[str, str]:
    """Return the versions of heterodag, Python and the libraries that do the computing."""
    from importlib.metadata import version

    libraries = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"heterodag": __version__, "python": platform.python_version()} | libraries


def _floats(values: Any) -> NDArray[np.float64] | None:
    return None if values is None else np.asarray(values, dtype=np.float64)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    # A function's repr holds its address in memory, which differs from run to run.
    return getattr(value, "__qualname__", None) or repr(value)


def edge_list(result: GraphResult) -> list[tuple[str, str, float]]:
    """Return the edges as (cause, effect, p-value), smallest p-value first and NaN last."""
    ranked = sorted(result.edges(), key=lambda edge: math.inf if math.isnan(edge[2]) else edge[2])
    return [(result.names[i], result.names[j], p) for i, j, p in ranked]


def ordered_layers(result: GraphResult) -> list[list[str]]:
    """Return the order in layers of names; layers that another order than the final one had are not used."""
    order = result.order or ()
    layers = result.layers or ()
    if [node for layer in layers for node in layer] != list(order):
        layers = tuple((node,) for node in order)
    return [[result.names[node] for node in layer] for layer in layers]


def edges_csv(result: GraphResult) -> str:
    """Return the text of edges.csv: cause, effect and p-value (empty where no test was made)."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["cause", "effect", "pvalue"])
    writer.writerows([cause, effect, "" if math.isnan(p) else repr(p)] for cause, effect, p in edge_list(result))
    return text.getvalue()


def graph_json(result: GraphResult) -> str:
    """Return the text of graph.json; the head of this file documents its keys."""
    names = result.names
    content: dict[str, Any] = {"format": FORMAT, "format_version": FORMAT_VERSION, "names": list(names)}
    if result.order is not None:
        content["order"] = [names[i] for i in result.order]
    if result.layers is not None:
        content["layers"] = [[names[i] for i in layer] for layer in result.layers]
    content["edges"] = [
        {"cause": cause, "effect": effect, "pvalue": None if math.isnan(p) else p}
        for cause, effect, p in edge_list(result)
    ]
    for key, matrix in (("pvalues", result.pvalues), ("scores", result.scores)):
        if matrix is not None:
            content[key] = [[v if math.isfinite(v) else None for v in row] for row in matrix.tolist()]
    content |= {"settings": result.settings, "versions": result.versions}
    return _pretty(content)


def _pretty(content: Mapping[str, Any]) -> str:
    """One line per key, edge and matrix row: for people to read, and for diffs to be small."""
    lines = []
    for key, value in content.items():
        text = _compact(value)
        if isinstance(value, list) and value and isinstance(value[0], list | dict):
            text = "[\n" + ",\n".join(f"    {_compact(item)}" for item in value) + "\n  ]"
        elif isinstance(value, dict) and value:
            pairs = [f"    {_compact(name)}: {_compact(item)}" for name, item in value.items()]
            text = "{\n" + ",\n".join(pairs) + "\n  }"
        lines.append(f"  {_compact(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def graph_graphml(result: GraphResult) -> str:
    """Return the text of graph.graphml: nodes n0, n1, ... with label, position, layer; edges with pvalue."""
    import networkx as nx

    labels = [{"label": _NOT_XML.sub("\ufffd", name)} for name in result.names]
    graph = attributed_graph(result, [f"n{node}" for node in range(len(labels))], labels)
    return "\n".join(nx.generate_graphml(graph)) + "\n"


def attributed_graph(result: GraphResult, ids: Sequence[str], labels: Sequence[dict[str, str]] | None = None) -> Any:
    """Return a `networkx.DiGraph` with position and layer on the nodes and pvalue on the edges, where there are any."""
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_nodes_from(ids if labels is None else zip(ids, labels, strict=True))
    for position, node in enumerate(result.order or ()):
        graph.nodes[ids[node]]["position"] = position
    for layer, nodes in enumerate(result.layers or ()):
        for node in nodes:
            graph.nodes[ids[node]]["layer"] = layer
    for i, j, p in result.edges():
        graph.add_edge(ids[i], ids[j], **({} if math.isnan(p) else {"pvalue": p}))
    return graph


def graph_dot(result: GraphResult) -> str:
    """Return the text of graph.dot for Graphviz, the variables from causes to effects."""
    lines = ["digraph heterodag {", "  rankdir=TB;", "  node [shape=box, style=rounded];"]
    nodes = result.order if result.order is not None else range(len(result.names))
    lines += [f"  n{node} [label={_quoted(result.names[node])}];" for node in nodes]
    for i, j, p in result.edges():
        lines.append(f"  n{i} -> n{j}" + ("" if math.isnan(p) else f' [tooltip="p = {p:.3g}"]') + ";")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(label: str) -> str:
    """Quote for Graphviz, which reads backslashes and HTML entities inside quoted labels as well."""
    text = label.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return '"' + re.sub(r"\r\n|\r|\n", r"\\n", text).replace("\0", "\ufffd") + '"'


def graph_files(result: GraphResult) -> dict[str, str]:
    """Return the four graph files by name: edges.csv, graph.json, graph.graphml and graph.dot."""
    return {
        "edges.csv": edges_csv(result),
        "graph.json": graph_json(result),
        "graph.graphml": graph_graphml(result),
        "graph.dot": graph_dot(result),
    }


def check_folder(out_dir: str | Path) -> None:
    """Raise `HeterodagError` if `out_dir` could not be written to; call it before long work.

    Parameters
    ----------
    out_dir : str or Path
        A folder, which need not exist yet.
    """
    out_dir = Path(out_dir)
    found = out_dir
    while not os.path.lexists(found) and found != found.parent:
        found = found.parent
    if not found.is_dir():
        raise _unwritable(out_dir, f"'{found}' is not a folder")
    if not os.access(found, os.W_OK | os.X_OK):
        raise _unwritable(out_dir, f"no permission to write in '{found}'")


def write_all(files: Mapping[str, str | bytes], out_dir: str | Path) -> list[Path]:
    """Write all files into a folder, or none: on any failure the folder is as it was before.

    Parameters
    ----------
    files : mapping of str to str or bytes
        File names and contents; text is written as UTF-8.
    out_dir : str or Path
        The folder, made if need be; other files in it are left alone.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    HeterodagError
        If the folder cannot be made or written to; the message says why.
    """
    out_dir = Path(out_dir)
    check_folder(out_dir)
    for name in files:
        if (out_dir / name).is_dir():
            raise _unwritable(out_dir, f"'{name}' in it is a folder")
    made = [folder for folder in (out_dir, *out_dir.parents) if not folder.exists()]
    try:
        out_dir.mkdir(parents=True, exist_ok=True)
        # Inside the folder, so that every move stays on one file system and is atomic.
        with tempfile.TemporaryDirectory(prefix=".heterodag-", dir=out_dir) as stage:
            _stage_and_swap(files, out_dir, Path(stage))
    except BaseException as error:
        for folder in made:
            _remove_if_empty(folder)
        if isinstance(error, OSError):
            raise _unwritable(out_dir, error.strerror or str(error)) from error
        raise
    return [out_dir / name for name in files]


def _stage_and_swap(files: Mapping[str, str | bytes], out_dir: Path, stage: Path) -> None:
    new, old = stage / "new", stage / "old"
    new.mkdir()
    old.mkdir()
    for name, content in files.items():
        (new / name).write_bytes(content.encode() if isinstance(content, str) else content)
        if (out_dir / name).exists():
            shutil.copy2(out_dir / name, old / name)
    done = []
    try:
        for name in files:
            done.append(name)
            os.replace(new / name, out_dir / name)
    except BaseException:
        for name in done:
            _restore(old / name, out_dir / name, was_moved=not (new / name).exists())
        raise


def _restore(saved: Path, target: Path, *, was_moved: bool) -> None:
    if was_moved and saved.exists():
        os.replace(saved, target)
    elif was_moved:
        target.unlink(missing_ok=True)


def _remove_if_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return


def _unwritable(out_dir: Path, reason: str) -> HeterodagError:
    return HeterodagError(f"Cannot write into '{out_dir}': {reason}; choose another place with --out.")
