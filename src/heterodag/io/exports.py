"""Write results: a fitted model becomes edges.csv, graph.json, graph.graphml and graph.dot.

`graph.json`, format version 1, is one object with these keys (those without a value are left out):

- ``format``, ``format_version``: always ``"heterodag-graph"`` and ``1``.
- ``names``: the variables in the column order of the table.
- ``order``: the same names, causes first; ``layers``: lists of names that were placed together.
- ``edges``: objects with ``cause``, ``effect`` and ``pvalue`` (null where not tested), smallest p-value first. If the
  method knows them, also ``nats`` (evidence for the edge), ``direction_nats`` (by how much the best graph with the
  edge turned round is worse; null where not known and where prior knowledge decides), ``interventional_nats`` (how
  much of that is due to interventions, if there were any) and ``open`` (true where the evidence is too weak to decide
  the direction; cause and effect are then those of the learned DAG). After a bootstrap, ``frequency`` and
  ``reversed_frequency``: the share of resamples with the edge, and with the edge turned round. The strength, where
  known: ``mean_effect`` (average slope of the mean, standard deviations of the effect per standard deviation of the
  cause, with the 95 % interval ``mean_effect_lower``, ``mean_effect_upper``), ``mean_change`` (the same in units of
  the effect), ``mean_range`` (how far the mean moves along the central 95 % of the cause, in standard deviations of
  the effect), ``spread_effect`` (factor on the spread per standard deviation of the cause, with
  ``spread_effect_lower``, ``spread_effect_upper``), ``spread_range`` (largest over smallest spread along the central
  95 % of the cause) and ``share`` (of the nats that all causes of the effect bring together, how many are lost
  without this one). If prior knowledge requires edges, also ``required``: true for those; they were not tested, so
  their p-value is null.
- ``pvalues``: one list per cause with one number per effect, in the order of ``names``; null if not tested.
- ``scores``: one list per round with one number per variable; null for variables already placed.
- ``mechanisms``: the model of each variable, objects with ``variable``, ``parents`` and ``curves`` (names joined by
  ", "; ``curves`` are the parents whose effect is curved), ``form`` ("natural" or "location-scale"), ``spread``
  ("constant" or "moving"), ``noise`` ("normal" or "flexible") and ``rows``.
- ``targets``: what conditions with shifts or unknown targets act on, objects with ``condition``, ``variable``,
  ``kind``, ``pvalue``, ``nats`` and ``acts``; see `HOST.targets_`.
- ``trust``: the box "Can I trust this?", objects with ``severity`` ("green", "amber", "red"), ``topic``, ``check``,
  ``sentence``, ``remedy``, ``columns`` and ``rows``; see `heterodag.checks`.
- ``warnings``: every warning of the fit, one sentence each.
- ``settings``, ``versions``: what the graph was learned with. ``prior_knowledge`` in the settings is an object as
  `PriorKnowledge.from_json` reads it, with columns by name.

The columns of `edges.csv` are the keys of ``edges``; a cell is empty where nothing is known, and ``inf`` where prior
knowledge decides.
"""

from __future__ import annotations

import csv
import io
import json
import math
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterodag._version import __version__
from heterodag.errors import ParameterError
from heterodag.io.inputs import column_index

FORMAT = "heterodag-graph"
FORMAT_VERSION = 1
#: What a method may know of each edge besides its p-value: fields here; fitted attributes end in an underscore.
CERTAINTY = ("nats", "direction_nats", "interventional_nats", "open", "required", "frequency", "reversed_frequency")
#: What may be known of the strength of each edge; `heterodag.scm.strength` has the definitions.
STRENGTHS = (
    "mean_effect", "mean_effect_lower", "mean_effect_upper", "mean_change", "mean_range",
    "spread_effect", "spread_effect_lower", "spread_effect_upper", "spread_range", "share",
)  # fmt: skip
# Characters that XML 1.0 cannot represent at all.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class GraphResult:
    """What was learned, independent of the estimator that learned it.

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
    nats : ndarray of shape (d, d) or None
        Evidence for the edge i -> j; NaN where not known.
    direction_nats : ndarray of shape (d, d) or None
        By how many nats the best graph with the edge i -> j turned round is worse; NaN where not known, infinite where
        prior knowledge decides.
    open : boolean ndarray of shape (d, d) or None
        Edges whose direction is open.
    mechanisms : list of dict or None
        The model of each variable, made plain; the head of this file documents the keys.
    interventional_nats : ndarray of shape (d, d) or None
        How much of `direction_nats` is due to interventions.
    targets : list of dict or None
        What conditions act on, made plain.
    frequency, reversed_frequency : ndarray of shape (d, d) or None
        Share of resamples with the edge i -> j, and with the edge j -> i.
    strengths : dict of str to ndarray of shape (d, d)
        How strong the edges are, by the names in `STRENGTHS`; NaN where there is no edge.
    trust : list of dict or None
        The box "Can I trust this?", made plain.
    warnings : list of str
        Every warning of the fit.
    required : boolean ndarray of shape (d, d) or None
        Edges that prior knowledge requires: they were not tested. None if it requires none.
    """

    names: tuple[str, ...]
    adjacency: NDArray[Any]
    order: tuple[int, ...] | None = None
    layers: tuple[tuple[int, ...], ...] | None = None
    pvalues: NDArray[np.float64] | None = None
    scores: NDArray[np.float64] | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    nats: NDArray[np.float64] | None = None
    direction_nats: NDArray[np.float64] | None = None
    open: NDArray[np.bool_] | None = None
    mechanisms: list[dict[str, Any]] | None = None
    interventional_nats: NDArray[np.float64] | None = None
    targets: list[dict[str, Any]] | None = None
    frequency: NDArray[np.float64] | None = None
    reversed_frequency: NDArray[np.float64] | None = None
    strengths: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    trust: list[dict[str, Any]] | None = None
    warnings: list[str] = field(default_factory=list)
    required: NDArray[np.bool_] | None = None

    def edges(self) -> list[tuple[int, int, float]]:
        """Return (cause, effect, p-value) of every edge by column index; NaN where no test was made."""
        pairs = np.argwhere(self.adjacency != 0).tolist()
        return [(i, j, math.nan if self.pvalues is None else float(self.pvalues[i, j])) for i, j in pairs]

    def certainty(self) -> dict[str, NDArray[Any]]:
        """Return what is known of the edges besides their p-values, as matrices by name: certainty, then strength."""
        found = {name: getattr(self, name) for name in CERTAINTY}
        found |= {name: self.strengths.get(name) for name in STRENGTHS}
        return {name: matrix for name, matrix in found.items() if matrix is not None}

    def about(self, cause: int, effect: int) -> dict[str, float | bool]:
        """Return what is known of one edge besides its p-value."""
        return {name: matrix[cause, effect].item() for name, matrix in self.certainty().items()}

    def is_required(self, cause: int, effect: int) -> bool:
        """Return whether prior knowledge requires the edge; it then has no p-value."""
        return self.required is not None and bool(self.required[cause, effect])


def graph_result(model: Any) -> GraphResult:
    """Collect what a fitted estimator learned.

    Parameters
    ----------
    model : estimator
        Any fitted estimator of this package; everything but its graph may be missing.
    """
    order, layers = getattr(model, "order_", None), getattr(model, "layers_", None)
    undecided, mechanisms = getattr(model, "open_", None), getattr(model, "mechanisms_", None)
    targets, required, names = getattr(model, "targets_", None), getattr(model, "required_", None), model.names()
    settings = {name: _plain(value) for name, value in model.get_params(deep=False).items()}
    if settings.get("prior_knowledge") is not None:
        settings["prior_knowledge"] = _knowledge(model.prior_knowledge, names)
    return GraphResult(
        names=tuple(str(name) for name in names),
        adjacency=np.asarray(model.adjacency_),
        order=None if order is None else tuple(int(i) for i in order),
        layers=None if layers is None else tuple(tuple(int(i) for i in layer) for layer in layers),
        pvalues=_floats(getattr(model, "pvalues_", None)),
        scores=_floats(getattr(model, "scores_", None)),
        settings={"estimator": type(model).__name__} | settings,
        versions=versions(),
        nats=_floats(getattr(model, "nats_", None)),
        direction_nats=_floats(getattr(model, "direction_nats_", None)),
        open=None if undecided is None else np.asarray(undecided, dtype=np.bool_),
        mechanisms=None if mechanisms is None else _records(mechanisms),
        interventional_nats=_floats(getattr(model, "interventional_nats_", None)),
        targets=None if targets is None else _records(targets),
        frequency=_floats(getattr(model, "frequency_", None)),
        reversed_frequency=_floats(getattr(model, "reversed_frequency_", None)),
        strengths=dict(getattr(model, "strengths_", {})),
        trust=model.trust().records() if hasattr(model, "trust") else None,
        warnings=list(getattr(model, "warnings_", [])),
        required=None if required is None else np.asarray(required, dtype=np.bool_),
    )


def _knowledge(value: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return prior knowledge as the object that `PriorKnowledge.from_json` reads, with columns by name."""
    content = value if isinstance(value, Mapping) else vars(value)
    found = {str(key): _by_name(part, names) for key, part in content.items()}
    return {key: part for key, part in found.items() if part}


def _by_name(part: Any, names: Sequence[str]) -> Any:
    """Return nested lists with names in place of indices; an index outside the table stays as it is."""
    if isinstance(part, str):
        return str(part)
    if isinstance(part, Iterable):
        return [_by_name(item, names) for item in part]
    try:
        return str(names[column_index("prior_knowledge", part, names)])
    except ParameterError:  # the setting was changed after the fit
        return _plain(part)


def versions() -> dict[str, str]:
    """Return the versions of heterodag, Python and the libraries that do the computing."""
    from importlib.metadata import version

    libraries = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"heterodag": __version__, "python": platform.python_version()} | libraries


def _floats(values: Any) -> NDArray[np.float64] | None:
    return None if values is None else np.asarray(values, dtype=np.float64)


def _records(frame: Any) -> list[dict[str, Any]]:
    """Return the rows of a data frame as plain dicts."""
    return [{str(name): _plain(value) for name, value in row.items()} for row in frame.to_dict("records")]


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    # A function's repr holds its address in memory, which differs from run to run.
    return getattr(value, "__qualname__", None) or repr(value)


def ranked_edges(result: GraphResult) -> list[tuple[int, int, float]]:
    """Return (cause, effect, p-value) of every edge by column index, strongest evidence first.

    The smallest p-value comes first and NaN last; among equal ones, such as several that are 0, the largest `nats`.
    """

    def place(edge: tuple[int, int, float]) -> tuple[float, float]:
        i, j, p = edge
        nats = math.nan if result.nats is None else float(result.nats[i, j])
        return math.inf if math.isnan(p) else p, math.inf if math.isnan(nats) else -nats

    return sorted(result.edges(), key=place)


def edge_list(result: GraphResult) -> list[tuple[str, str, float]]:
    """Return the edges as (cause, effect, p-value) by name, in the order of `ranked_edges`."""
    return [(result.names[i], result.names[j], p) for i, j, p in ranked_edges(result)]


def ordered_layers(result: GraphResult) -> list[list[str]]:
    """Return the order as layers of names; layers that do not match the final order are replaced by single names."""
    order = result.order or ()
    layers = result.layers or ()
    if [node for layer in layers for node in layer] != list(order):
        layers = tuple((node,) for node in order)
    return [[result.names[node] for node in layer] for layer in layers]


def edges_csv(result: GraphResult) -> str:
    """Return the text of edges.csv: cause, effect, p-value and whatever else is known; unknown cells are empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["cause", "effect", "pvalue", *result.certainty()])
    for i, j, p in ranked_edges(result):
        writer.writerow([result.names[i], result.names[j], *map(_cell, (p, *result.about(i, j).values()))])
    return text.getvalue()


def _cell(value: float | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if math.isnan(value) else repr(value)


def graph_json(result: GraphResult) -> str:
    """Return the text of graph.json; the head of this file documents its keys."""
    names = result.names
    content: dict[str, Any] = {"format": FORMAT, "format_version": FORMAT_VERSION, "names": list(names)}
    if result.order is not None:
        content["order"] = [names[i] for i in result.order]
    if result.layers is not None:
        content["layers"] = [[names[i] for i in layer] for layer in result.layers]
    content["edges"] = [
        {"cause": names[i], "effect": names[j]}
        | {key: _finite(value) for key, value in {"pvalue": p, **result.about(i, j)}.items()}
        for i, j, p in ranked_edges(result)
    ]
    for key, matrix in (("pvalues", result.pvalues), ("scores", result.scores)):
        if matrix is not None:
            content[key] = [[_finite(value) for value in row] for row in matrix.tolist()]
    for key in ("mechanisms", "targets", "trust"):
        if getattr(result, key) is not None:
            content[key] = getattr(result, key)
    if result.warnings:
        content["warnings"] = result.warnings
    content |= {"settings": result.settings, "versions": result.versions}
    return _pretty(content)


def _finite(value: float | bool) -> float | bool | None:
    """Return None for NaN and infinity, which JSON does not have."""
    return value if math.isfinite(value) else None


def _pretty(content: Mapping[str, Any]) -> str:
    """Write one line per key, edge, matrix row and mechanism, so that people can read it and diffs are small."""
    lines = []
    for key, value in content.items():
        text = _compact(value)
        if isinstance(value, list) and value and (isinstance(value[0], list | dict) or key == "warnings"):
            text = "[\n" + ",\n".join(f"    {_compact(item)}" for item in value) + "\n  ]"
        elif isinstance(value, dict) and value:
            pairs = [f"    {_compact(name)}: {_compact(item)}" for name, item in value.items()]
            text = "{\n" + ",\n".join(pairs) + "\n  }"
        lines.append(f"  {_compact(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def graph_graphml(result: GraphResult) -> str:
    """Return the text of graph.graphml: nodes n0, n1, ... with label, position, layer; edges with what is known."""
    import networkx as nx

    labels = [{"label": _NOT_XML.sub("\ufffd", name)} for name in result.names]
    graph = attributed_graph(result, [f"n{node}" for node in range(len(labels))], labels)
    return "\n".join(nx.generate_graphml(graph)) + "\n"


def attributed_graph(result: GraphResult, ids: Sequence[str], labels: Sequence[dict[str, str]] | None = None) -> Any:
    """Return a `networkx.DiGraph` with position and layer on the nodes, and on the edges what is known and finite."""
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_nodes_from(ids if labels is None else zip(ids, labels, strict=True))
    for position, node in enumerate(result.order or ()):
        graph.nodes[ids[node]]["position"] = position
    for layer, nodes in enumerate(result.layers or ()):
        for node in nodes:
            graph.nodes[ids[node]]["layer"] = layer
    for i, j, p in result.edges():
        known = {"pvalue": p, **result.about(i, j)}
        # Infinity is left out too: XML and networkx spell it differently.
        graph.add_edge(ids[i], ids[j], **{key: value for key, value in known.items() if math.isfinite(value)})
    return graph


def graph_dot(result: GraphResult) -> str:
    """Return the text of graph.dot for Graphviz, causes on top; edges whose direction is open have no arrowhead."""
    lines = ["digraph heterodag {", "  rankdir=TB;", "  node [shape=box, style=rounded];"]
    nodes = result.order if result.order is not None else range(len(result.names))
    lines += [f"  n{node} [label={_quoted(result.names[node])}];" for node in nodes]
    for i, j, p in result.edges():
        details = [] if math.isnan(p) else [f'tooltip="p = {p:.3g}"']
        details += ['tooltip="required"'] if result.is_required(i, j) else []
        details += ["dir=none"] if result.about(i, j).get("open") else []
        lines.append(f"  n{i} -> n{j}" + (f" [{', '.join(details)}]" if details else "") + ";")
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
