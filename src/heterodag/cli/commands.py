"""What the commands do, one function each: read, call the library, write, print."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heterodag.cli.terminal import Screen
from heterodag.errors import DataError, HeterodagError, MissingExtraError
from heterodag.io.exports import (
    FORMAT,
    GraphResult,
    graph_files,
    graph_json,
    graph_result,
    ordered_layers,
    ranked_edges,
    versions,
)
from heterodag.io.writing import check_folder, write_all
from heterodag.viz.directions import Directions

if TYPE_CHECKING:
    import pandas as pd

_SHOWN_EDGES, _SHOWN_NAMES = 30, 40
OUTPUTS = ("edges.csv", "graph.json", "graph.graphml", "graph.dot", "report.html")
MEASURES = {
    "order_divergence": "order divergence",
    "shd": "structural Hamming distance",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "auc": "area under the ROC curve",
}


def fit(
    screen: Screen,
    data: Path,
    out: Path,
    *,
    reading: Mapping[str, Any],
    settings: Mapping[str, Any],
    knowledge: Path | None = None,
    experiments: Mapping[str, Any] | None = None,
    paper: bool,
    force: bool,
) -> None:
    """Learn the graph of a file and write all outputs.

    Parameters
    ----------
    screen : Screen
        Where to print.
    data, out : Path
        The table and the folder for the results.
    reading : mapping
        Options of `heterodag.tables.read_table`.
    settings : mapping
        Parameters of HOST that the user gave; the others keep HOST's defaults.
    knowledge : Path, optional
        A JSON file of prior knowledge.
    experiments : mapping, optional
        What was said about experiments: `conditions` (a column), `targets` (a JSON file) and `kind`.
    paper : bool
        Start from the paper's own configuration.
    force : bool
        Replace files that an earlier run of heterodag did not write.
    """
    from heterodag.io.tables import read_table
    from heterodag.knowledge import Interventions, PriorKnowledge
    from heterodag.report import render_report
    from heterodag.report.experiments import experiment_sentences

    check_outputs(out, force)
    if knowledge is not None:
        settings = {**settings, "prior_knowledge": PriorKnowledge.from_json(knowledge)}
    experiments = experiments or {}
    conditions = experiments.get("conditions")
    if experiments and conditions is None:
        raise HeterodagError(
            f"--{next(iter(experiments))} needs --conditions, the column that says which condition a row belongs to."
        )
    with screen.busy(f"Reading {data.name}"):
        frame = read_table(data, **reading, conditions=conditions)
    told = None
    if conditions is not None:
        told = Interventions.from_json(frame.index, experiments.get("targets"), experiments.get("kind", "set"))
    model = learn(screen, frame, settings, paper, told)
    with screen.busy("Making the report"):
        page = render_report(model, frame, title=f"Causal graph of {data.name}", source=str(data), interventions=told)
        result = graph_result(model)
        write_all(graph_files(result) | {"report.html": page}, out)
    screen.say(f"{len(frame)} rows and {frame.shape[1]} columns from {data}.")
    print_graph(screen, result)
    for sentence in experiment_sentences(result):
        screen.say(sentence)
    print_outputs(screen, out)


def demo(screen: Screen, out: Path, *, force: bool) -> None:
    """Learn the graph of the Sachs data, compare it with the consensus graph and write all outputs.

    Parameters
    ----------
    screen : Screen
        Where to print.
    out : Path
        The folder for the results.
    force : bool
        Replace files that an earlier run of heterodag did not write.
    """
    from heterodag.datasets import load_sachs
    from heterodag.metrics import evaluate
    from heterodag.report import render_report
    from heterodag.report.html import Comparison

    check_outputs(out, force)
    sachs = load_sachs()
    model = learn(screen, sachs.data, {"random_state": 0}, paper=False)
    with screen.busy("Making the report"):
        page = render_report(
            model,
            sachs.data,
            title="Protein signalling in single cells",
            source="Sachs et al. (2005), observational cells, raw values",
            comparison=Comparison(sachs.adjacency, "the consensus graph"),
        )
        result = graph_result(model)
        write_all(graph_files(result) | {"report.html": page}, out)
    screen.say(f"Sachs et al. (2005): {len(sachs.data)} cells, {sachs.data.shape[1]} proteins.")
    print_graph(screen, result, sachs.adjacency)
    measures = evaluate(result.adjacency, sachs.adjacency, order=result.order)
    screen.say(
        f"Against the consensus graph of {int(sachs.adjacency.sum())} edges: order divergence "
        f"{measures['order_divergence']:.0f}, structural Hamming distance {measures['shd']:.0f}."
    )
    print_outputs(screen, out)


def simulate(screen: Screen, out: Path, *, force: bool, n: int, d: int, seed: int, **options: Any) -> None:
    """Simulate a table and write it, with the graph behind it in a second file.

    Parameters
    ----------
    screen : Screen
        Where to print.
    out : Path
        The table: CSV, TSV or Parquet by its ending. The graph goes to the same name with ``.truth.json``.
    force : bool
        Replace existing files.
    n, d, seed : int
        Rows, columns and the seed.
    **options
        Further arguments of `heterodag.simulate`.
    """
    from heterodag.simulation import simulate as draw

    suffix = _table_suffix(out)
    truth = f"{out.name.removesuffix(suffix)}.truth.json"
    existing = [name for name in (out.name, truth) if (out.parent / name).exists()]
    if existing and not force:
        raise HeterodagError(f"File '{out.parent / existing[0]}' exists already; pass --force to replace it.")
    check_folder(out.parent)
    with screen.busy(f"Simulating {n} rows of {d} variables"):
        data = draw(n, d, random_state=seed, **options)
        graph = GraphResult(
            names=tuple(data.feature_names),
            adjacency=data.adjacency,
            order=tuple(int(node) for node in data.order),
            settings={"n": n, "d": d, "random_state": seed} | options,
            versions=versions(),
        )
        table = _table_bytes(data.to_frame(), suffix)
        write_all({out.name: table, truth: graph_json(graph)}, out.parent)
    size = f"{n} rows, {d} columns"
    screen.say(f"Wrote {out} ({size}) and {out.parent / truth} ({data.adjacency.sum()} edges).")


def evaluate(screen: Screen, graph: Path, truth: Path, *, as_json: bool) -> None:
    """Print how far a learned graph is from the true one.

    Parameters
    ----------
    screen : Screen
        Where to print.
    graph, truth : Path
        Graph files; the order and the p-values are used if `graph` holds them.
    as_json : bool
        Print one JSON object in place of a table.
    """
    from heterodag.metrics import evaluate as measure

    learned, true = _same_nodes(graph, truth)
    values = measure(learned.adjacency, true.adjacency, order=learned.order, pvalues=learned.pvalues)
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
    certainty: dict[str, Any] = {key: frame.to_numpy() for key, frame in found.certainty.items()}
    result = GraphResult(
        names, found.adjacency.to_numpy(), order=order, pvalues=pvalues, versions=versions(), **certainty
    )
    write_graph(result, out)
    screen.say(f"Wrote {out} ({len(names)} variables, {int((result.adjacency != 0).sum())} edges).")


def _same_nodes(graph: Path, truth: Path) -> tuple[Any, Any]:
    """Read both graphs; an edge list takes its variables from the other file."""
    from heterodag.io.graphfiles import is_edge_list, read_graph

    lists = is_edge_list(graph), is_edge_list(truth)
    first, second = read_graph(graph), None
    if all(lists):
        second = read_graph(truth)
        names = sorted({*first.adjacency.columns, *second.adjacency.columns})
        return read_graph(graph, names), read_graph(truth, names)
    if lists[0]:
        second = read_graph(truth)
        return read_graph(graph, list(second.adjacency.columns)), second
    second = read_graph(truth, list(first.adjacency.columns))
    only = sorted({*first.adjacency.columns} ^ {*second.adjacency.columns})
    if only:
        raise DataError(
            f"'{graph}' and '{truth}' have different variables ('{only[0]}' is only in one of them); compare "
            "graphs of the same variables."
        )
    return first, second


def learn(
    screen: Screen, frame: pd.DataFrame, settings: Mapping[str, Any], paper: bool, interventions: Any = None
) -> Any:
    """Return HOST, or the paper's HOST, fitted with the settings given and its own defaults for the others."""
    from heterodag.estimators import HOST

    model = HOST.paper().set_params(**settings) if paper else HOST(**settings)
    model.set_params(verbose=int(screen.shows_progress)).fit(frame, interventions=interventions)
    # Whether someone watched is no part of the result: the files are the same from a terminal and a pipe.
    return model.set_params(verbose=0)


def check_outputs(out: Path, force: bool) -> None:
    """Refuse, before any work, a folder that cannot be written or holds other files of these names."""
    check_folder(out)
    existing = [name for name in OUTPUTS if (out / name).exists()]
    if existing and not force and not _is_ours(out / "graph.json"):
        raise HeterodagError(
            f"Folder '{out}' has a file '{existing[0]}' that heterodag did not write; choose another with "
            "--out, or pass --force to replace it."
        )


def _is_ours(path: Path) -> bool:
    try:
        return FORMAT in path.read_text(encoding="utf-8")[:200]
    except (OSError, UnicodeError):
        return False


def split_names(text: str | None) -> list[str] | None:
    """Split ``a,b,"c,d"`` into names, as a line of CSV."""
    return None if text is None else [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def print_graph(screen: Screen, result: GraphResult, reference: Any = None) -> None:
    """Print the order and the edges, each with whether the reference graph has it."""
    if result.order is not None:
        screen.say(f"Causal order, causes first: {_shown_layers(result)}.")
    edges, directions = ranked_edges(result), Directions(result.direction_nats, result.open)
    level = "" if result.settings.get("alpha") is None else f" at alpha {result.settings['alpha']:g}"
    screen.say(f"{len(edges)} edge{'' if len(edges) == 1 else 's'}{level}{':' if edges else '.'}")
    header = ["cause", "effect", "p-value"]
    rows = [[result.names[i], result.names[j], "" if math.isnan(p) else f"{p:.2g}"] for i, j, p in edges]
    if directions.known:
        header.append("direction (nats)")
        for row, (i, j, _) in zip(rows, edges, strict=True):
            row.append(directions.cell((i, j)))
    if reference is not None:
        header.append("consensus graph")
        for row, (i, j, _) in zip(rows, edges, strict=True):
            row.append("yes" if reference[i, j] else "reversed" if reference[j, i] else "no")
    if rows:
        screen.table(header, rows[:_SHOWN_EDGES])
    if len(rows) > _SHOWN_EDGES:
        screen.say(f"... and {len(rows) - _SHOWN_EDGES} more in edges.csv.")
    for sentence in directions.summary(len(edges)):
        screen.say(sentence)


def _shown_layers(result: GraphResult) -> str:
    """Return ``a -> {b, c} -> d``; of many variables only the first."""
    texts, shown = [], 0
    for layer in ordered_layers(result):
        texts.append(f"{{{', '.join(layer)}}}" if len(layer) > 1 else layer[0])
        shown += len(layer)
        if shown >= _SHOWN_NAMES:
            break
    rest = len(result.names) - shown
    return " -> ".join(texts) + (f" -> ... ({rest} more in graph.json)" if rest else "")


def print_outputs(screen: Screen, out: Path) -> None:
    """Print what was written and where to look first."""
    screen.say(f"Wrote {', '.join(OUTPUTS)} to {out}.")
    screen.say(f"Open {(out / 'report.html').absolute()} in a browser.")


def _number(value: float) -> str:
    return f"{value:.0f}" if float(value).is_integer() and abs(value) >= 2 else f"{value:.4g}"


def _table_suffix(out: Path) -> str:
    known: Sequence[str] = (".csv.gz", ".tsv.gz", ".csv", ".tsv", ".txt", ".parquet", ".pq")
    for suffix in known:
        if out.name.endswith(suffix) and out.name != suffix:
            return suffix
    raise HeterodagError(f"--out must end in one of {', '.join(known)}; got '{out}'.")


def _table_bytes(frame: pd.DataFrame, suffix: str) -> bytes:
    import gzip
    import io

    if suffix in {".parquet", ".pq"}:
        buffer = io.BytesIO()
        try:
            frame.to_parquet(buffer, index=False, engine="pyarrow")
        except ImportError:
            raise MissingExtraError("Writing Parquet files", "parquet") from None
        return buffer.getvalue()
    text = frame.to_csv(index=False, sep="," if suffix.startswith(".csv") else "\t", lineterminator="\n").encode()
    return gzip.compress(text, mtime=0) if suffix.endswith(".gz") else text
