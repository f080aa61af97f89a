"""What the commands do, one function each: read, call the library, write, print."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heterodag.checks.findings import Finding
from heterodag.checks.trust import LEFT_OUT
from heterodag.cli.reading import Reading, read_experiments, source_name, split_names
from heterodag.cli.terminal import Screen
from heterodag.errors import HeterodagError, MissingExtraError, remembered_warnings
from heterodag.io.exports import (
    FORMAT,
    GraphResult,
    graph_files,
    graph_json,
    graph_result,
    versions,
)
from heterodag.io.writing import check_folder, write_all
from heterodag.report.text import SHOWN_EDGES, edge_table, headline, legend, order_text, trust_lines

if TYPE_CHECKING:
    import pandas as pd

    from heterodag.io.opened import OpenTable

OUTPUTS = ("edges.csv", "graph.json", "graph.graphml", "graph.dot", "model.json", "report.html")


def fit(
    screen: Screen,
    data: Path,
    out: Path,
    *,
    reading: Reading,
    settings: Mapping[str, Any],
    knowledge: Path | None = None,
    experiments: Mapping[str, Any] | None = None,
    paper: bool,
    resamples: int = 0,
    force: bool,
) -> None:
    """Learn the graph of a file and write all outputs.

    Parameters
    ----------
    screen : Screen
        Where to print.
    data, out : Path
        The table and the folder for the results.
    reading : Reading
        How the table is to be read.
    settings : mapping
        Parameters of HOST that the user gave; the others keep HOST's defaults.
    knowledge : Path, optional
        A JSON file of prior knowledge.
    experiments : mapping, optional
        What the user said about experiments: `conditions` (a column), `targets` (a JSON file) and `kind`.
    paper : bool
        Start from the paper's own configuration.
    resamples : int
        How many times to learn the graph again on resampled rows; 0 for none.
    force : bool
        Replace files that an earlier run of heterodag did not write.
    """
    from heterodag.knowledge import PriorKnowledge
    from heterodag.report.experiments import experiment_sentences

    check_outputs(out, force)
    if knowledge is not None:
        settings = {**settings, "prior_knowledge": PriorKnowledge.from_json(knowledge)}
    experiments = experiments or {}
    with remembered_warnings() as said, _told_in_the_box():
        frame, told = _read(screen, data, reading, experiments, resamples)
    model = learn(screen, frame, settings, paper, told)
    model.left_out_ = [*_left_out(said, reading, experiments.get("conditions")), *model.left_out_]
    model.warnings_ = [*said, *model.warnings_]
    if resamples:
        options = {
            "interventions": told,
            "random_state": settings.get("random_state"),
            "n_jobs": settings.get("n_jobs"),
        }
        model.bootstrap(frame, resamples, verbose=int(screen.shows_progress), **options)
    source = source_name(data)
    with screen.busy("Making the report"):
        result = write_results(
            model, frame, out, title=f"Causal graph of {Path(source).name}", source=source, interventions=told
        )
    rows, width = frame.shape
    screen.say(f"{rows} rows and {width} column{'' if width == 1 else 's'} from {source}.")
    print_graph(screen, result)
    for sentence in experiment_sentences(result):
        screen.say(sentence)
    print_trust(screen, result)
    print_outputs(screen, out)


def _read(
    screen: Screen, data: Path, reading: Reading, experiments: Mapping[str, Any], resamples: int
) -> tuple[Any, Any]:
    """Read the table and what the user said about experiments; open a table that is too large for memory."""
    in_memory = {f"--{name}": value for name, value in experiments.items()} | {"--bootstrap": resamples}
    with screen.busy(f"Opening {source_name(data)}"):
        table = reading.opened(data, in_memory)
    return (table, None) if table is not None else read_experiments(screen, data, reading, experiments)


def _left_out(said: Sequence[str], reading: Reading, conditions: str | None) -> list[Finding]:
    """Return what was left out of the file, by the reader (which warned of it) and as the user asked."""
    asked = []
    if columns := split_names(reading.columns):
        asked.append(f"Only the columns {', '.join(columns)} were used, as asked.")
    if dropped := split_names(reading.drop):
        asked.append(f"Left out, as asked: {', '.join(dropped)}.")
    if reading.index_column is not None:
        asked.append(f"Column {reading.index_column} names the rows and is not a variable.")
    if conditions is not None:
        asked.append(f"Column {conditions} says which condition a row belongs to and is not a variable.")
    lost = [Finding("amber", LEFT_OUT, "left out", sentence) for sentence in said]
    return lost + [Finding("green", LEFT_OUT, "as asked", sentence) for sentence in asked]


def write_results(model: Any, table: pd.DataFrame | OpenTable, out: Path, **options: Any) -> GraphResult:
    """Write the graph, the causal model and the report of a fitted model, all or none; `options` are for the report.

    The report of a table on disk shows the rows that the model kept.
    """
    from heterodag.io.opened import OpenTable
    from heterodag.report import render_report

    frame = None if isinstance(table, OpenTable) else table
    result = graph_result(model)
    files: dict[str, str | bytes] = {**graph_files(result)}
    if result.strengths:
        files["model.json"] = model.to_scm().to_json()
    write_all(files | {"report.html": render_report(model, frame, **options)}, out)
    if "model.json" not in files:
        (out / "model.json").unlink(missing_ok=True)  # one from an earlier fit would not belong to this graph
    return result


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


def learn(
    screen: Screen,
    table: pd.DataFrame | OpenTable,
    settings: Mapping[str, Any],
    paper: bool,
    interventions: Any = None,
) -> Any:
    """Return HOST, or the paper's HOST, fitted with the given settings and its own defaults for the rest."""
    from heterodag.estimators import HOST

    model = HOST.paper().set_params(**settings) if paper else HOST(**settings)
    with _told_in_the_box():
        model.set_params(verbose=int(screen.shows_progress)).fit(table, interventions=interventions)
    # A progress bar is not part of the result: the files are the same from a terminal and from a pipe.
    return model.set_params(verbose=0)


@contextmanager
def _told_in_the_box() -> Iterator[None]:
    """Print no warnings: the box "Can I trust this?" has them all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def check_outputs(out: Path, force: bool) -> None:
    """Refuse, before any work, a folder that cannot be written to or holds someone else's files of these names."""
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


def print_graph(
    screen: Screen,
    result: GraphResult,
    reference: Any = None,
    called: str = "consensus graph",
    *,
    explain: bool = True,
) -> None:
    """Print the order, the edges (and whether the reference graph has each), and what the columns mean."""
    if result.order is not None:
        screen.say(f"Causal order, causes first: {order_text(result)}.")
    header, rows = edge_table(result, reference, called)
    screen.say(f"{headline(result)}{':' if rows else '.'}")
    if rows:
        screen.table(header, rows[:SHOWN_EDGES])
    if len(rows) > SHOWN_EDGES:
        screen.say(f"... and {len(rows) - SHOWN_EDGES} more in edges.csv.")
    for sentence in legend(result) if explain else []:
        screen.say(sentence)


def print_trust(screen: Screen, result: GraphResult) -> None:
    """Print the box "Can I trust this?"."""
    screen.say()
    for line in trust_lines(result):
        screen.say(line)
    screen.say()


def print_outputs(screen: Screen, out: Path) -> None:
    """Print what was written and where to look first."""
    screen.say(f"Wrote {', '.join(name for name in OUTPUTS if (out / name).exists())} to {out}.")
    screen.say(f"Open {(out / 'report.html').absolute()} in a browser.")


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
