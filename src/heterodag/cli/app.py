"""The command line: parse, call, print. `heterodag.cli.commands` has what the commands do."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer

from heterodag._version import __version__
from heterodag.cli.options import (
    Bootstrap,
    Conditioning,
    Conditions,
    Correction,
    DataCheck,
    Debug,
    DrawnNoise,
    Force,
    Form,
    Jobs,
    Kind,
    Knowledge,
    Learned,
    MaxSeconds,
    Mechanism,
    Noise,
    Others,
    Parametrization,
    Quiet,
    Refine,
    Spread,
    Targets,
    Tolerance,
    path_option,
)
from heterodag.cli.reading import Data, ManyData, Reading, reads_a_table, split_names
from heterodag.cli.terminal import EXIT_INTERRUPTED, Screen, guarded

app = typer.Typer(
    name="heterodag",
    help="Learn a causal graph from a table in which the spread of a variable may depend on its causes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"heterodag {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    out: Annotated[Path, path_option("Folder for the results.")] = Path("heterodag-demo"),
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Learn two known graphs and compare: a simulated trial that fits the model, and real proteins.

    The proteins are the 853 observational cells of Sachs et al. (2005), which come with heterodag.
    """
    from heterodag.cli.demo import demo as show

    screen = Screen(quiet, debug)
    with guarded(screen):
        show(screen, out, force=force)


@app.command()
@reads_a_table
def fit(
    data: ManyData,
    reading: Reading,
    out: Annotated[Path, path_option("Folder for the results.")] = Path("heterodag-out"),
    parametrization: Parametrization = None,
    form: Form = None,
    noise: Noise = None,
    normality: Annotated[str | None, typer.Option(help="The normality statistic. [default: shapiro]")] = None,
    tolerance: Tolerance = None,
    refine: Refine = None,
    conditioning: Conditioning = None,
    max_seconds: MaxSeconds = None,
    selection: Annotated[str | None, typer.Option(help="The edge test. [default: likelihood]")] = None,
    alpha: Annotated[float | None, typer.Option(help="Level of the edge test. [default: 0.001]")] = None,
    correction: Correction = None,
    knowledge: Knowledge = None,
    conditions: Conditions = None,
    targets: Targets = None,
    kind: Kind = None,
    paper: Annotated[bool, typer.Option("--paper", help="Start from the paper's configuration.")] = False,
    data_check: DataCheck = None,
    bootstrap: Bootstrap = 0,
    jobs: Jobs = None,
    seed: Annotated[int | None, typer.Option(help="Seed, for methods that draw random numbers.")] = None,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Learn the causal graph of a table.

    Writes edges.csv, graph.json, graph.graphml, graph.dot, model.json and report.html into the folder.
    """
    from heterodag.cli import commands

    given: dict[str, Any] = {
        "parametrization": parametrization, "form": form, "noise": noise, "normality": normality,
        "tolerance": tolerance, "refine": refine, "conditioning": conditioning, "max_seconds": max_seconds,
        "selection": selection, "alpha": alpha, "correction": correction, "missing": reading.missing, "n_jobs": jobs,
        "random_state": seed, "data_check": data_check,
    }  # fmt: skip
    settings = {name: value for name, value in given.items() if value is not None}
    screen = Screen(quiet, debug)
    with guarded(screen):
        told = {"conditions": conditions, "targets": targets, "kind": kind}
        options: dict[str, Any] = {"reading": reading, "settings": settings, "knowledge": knowledge}
        options["experiments"] = {name: value for name, value in told.items() if value is not None}
        commands.fit(screen, data, out, **options, paper=paper, resamples=bootstrap, force=force)


@app.command()
@reads_a_table
def check(
    data: ManyData,
    reading: Reading,
    conditions: Conditions = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as one JSON array.")] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Check a table before a fit: rows, columns, values.

    Ends with status 0 if all is green or amber, and with 3 if something is red.
    """
    from heterodag.cli import checking

    screen = Screen(quiet, debug)
    with guarded(screen):
        checking.check(screen, data, reading=reading, conditions=conditions, as_json=as_json)


@app.command()
def simulate(
    out: Annotated[Path, path_option("The table: .csv, .tsv (also .gz) or .parquet.", show_default=False)],
    n: Annotated[int, typer.Option("--n", help="Rows.")] = 1000,
    d: Annotated[int, typer.Option("--d", help="Columns.")] = 10,
    graph: Annotated[
        str, typer.Option(help="ER, SF (scale-free), small-world, bipartite, hubs, chain, dense.")
    ] = "ER",
    degree: Annotated[int, typer.Option(help="Edges per variable.")] = 1,
    mechanism: Mechanism = "linear",
    spread: Spread = None,
    noise: DrawnNoise = "normal",
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.")] = 0,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Simulate a table from a random causal graph.

    The graph is written next to the table, as NAME.truth.json.
    """
    from heterodag.cli import commands

    screen = Screen(quiet, debug)
    options: dict[str, Any] = {"graph": graph, "degree": degree, "mechanism": mechanism, "noise": noise}
    options |= {} if spread is None else {"spread": spread}
    with guarded(screen):
        commands.simulate(screen, out, force=force, n=n, d=d, seed=seed, **options)


@app.command()
def whatif(
    results: Annotated[
        Path,
        typer.Argument(metavar="RESULTS", help="A folder that `fit` wrote, or its model.json.", show_default=False),
    ],
    set_to: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A variable to set; may be repeated.")
    ] = None,
    shift_by: Annotated[
        list[str] | None, typer.Option("--shift", metavar="NAME=AMOUNT", help="A variable to shift; may be repeated.")
    ] = None,
    on: Annotated[
        list[str] | None,
        typer.Option("--on", metavar="NAME", help="Variable to look at. [default: all that the change reaches]"),
    ] = None,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.9,
    n: Annotated[int, typer.Option("--n", help="Simulated rows.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    debug: Debug = False,
) -> None:
    """Ask the fitted model what would happen if a variable were set or shifted."""
    from heterodag.cli.whatif import whatif as ask

    screen = Screen(debug=debug)
    asked = {"set_to": set_to or [], "shift_by": shift_by or [], "on": on or []}
    with guarded(screen):
        ask(screen, results, **asked, level=level, n=n, seed=seed, as_json=as_json)


@app.command()
def evaluate(
    graph: Annotated[
        Path,
        typer.Argument(metavar="GRAPH", help="The learned graph, such as graph.json.", show_default=False),
    ],
    truth: Annotated[Path, typer.Argument(metavar="TRUTH", help="The true graph.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    debug: Debug = False,
) -> None:
    """Compare a learned graph with the true one.

    Both may be graph.json, a folder with one, graph.graphml, an edge list or a square table of zeros and ones, causes in
    rows.
    """
    from heterodag.cli import graphs

    screen = Screen(debug=debug)
    with guarded(screen):
        graphs.evaluate(screen, graph, truth, as_json=as_json)


@app.command("check-graph")
@reads_a_table
def check_graph(
    graph: Annotated[
        Path,
        typer.Argument(metavar="GRAPH", help="The graph to check, such as graph.json.", show_default=False),
    ],
    data: Data,
    reading: Reading,
    others: Others = "refuse",
    conditions: Conditions = None,
    targets: Targets = None,
    kind: Kind = None,
    learned: Learned = None,
    learn: Annotated[bool, typer.Option("--learn/--no-learn", help="Learn a graph to compare with.")] = True,
    shuffles: Annotated[int, typer.Option(help="Graphs with shuffled names to compare with.")] = 199,
    alpha: Annotated[float, typer.Option(help="Level of the tests.")] = 0.001,
    max_seconds: Annotated[float | None, typer.Option(help="Time limit in seconds.")] = None,
    jobs: Jobs = None,
    seed: Annotated[int, typer.Option(help="Seed of the shuffles.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Check a graph against a table, without the truth.

    The graph may be graph.json, graph.graphml, an edge list or a square table of zeros and ones, causes in rows.
    The exit status is 3 if a finding is red.
    """
    from heterodag.cli import graph_checking

    settings = {
        "learned": learned, "learn": learn, "n_shuffles": shuffles, "alpha": alpha, "others": others,
        "missing": reading.missing or "refuse", "max_seconds": max_seconds, "n_jobs": jobs, "random_state": seed,
    }  # fmt: skip
    told = {"conditions": conditions, "targets": targets, "kind": kind}
    experiments = {name: value for name, value in told.items() if value is not None}
    screen = Screen(quiet, debug)
    with guarded(screen):
        graph_checking.check_graph(
            screen, graph, data, reading=reading, experiments=experiments, settings=settings, as_json=as_json
        )


@app.command()
def pairs(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="Has pair0001.txt, ..., and pairmeta.txt.", show_default=False),
    ],
    out: Annotated[Path | None, path_option("A CSV file for the decisions.", show_default=False)] = None,
    missing: Annotated[str, typer.Option(help="Rows with missing values: refuse, or drop them.")] = "refuse",
    jobs: Jobs = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Decide every cause-effect pair of a folder, and score the answers if the truth is known.

    The folder has the format of the Tuebingen collection.
    """
    from heterodag.cli.pairs import pairs as decide

    screen = Screen(quiet, debug)
    with guarded(screen):
        decide(screen, folder, out, missing=missing, jobs=jobs, as_json=as_json, force=force)


@app.command()
def convert(
    graph: Annotated[
        Path,
        typer.Argument(metavar="GRAPH", help="A graph file, such as graph.json.", show_default=False),
    ],
    out: Annotated[Path, path_option("The file: .gml, .dagitty, .graphml, .dot, .csv or .json.", show_default=False)],
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a graph in the format of another tool."""
    from heterodag.cli import graphs

    screen = Screen(quiet, debug)
    with guarded(screen):
        graphs.convert(screen, graph, out, force=force)


@app.command()
def reproduce(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="An experiment of the paper, or all.", show_default=False)
    ] = None,
    list_all: Annotated[bool, typer.Option("--list", help="List the experiments, with the time to expect.")] = False,
    scale: Annotated[str, typer.Option(help="smoke, quick or full (the paper's).")] = "full",
    out: Annotated[Path, path_option("Folder for rows, tables and figures.")] = Path("heterodag-reproduction"),
    max_seconds: Annotated[float, typer.Option(help="Time limit per cell in seconds; 0 for none.")] = 600.0,
    jobs: Annotated[int, typer.Option("--n-jobs", "--jobs", help="Cells in parallel; -1 for all cores.")] = -1,
    backend: Annotated[str, typer.Option(help="local or dask.")] = "local",
    scheduler: Annotated[str | None, typer.Option(metavar="ADDRESS", help="The dask scheduler.")] = None,
    methods: Annotated[str | None, typer.Option(help="Only these methods, as in HOST,NPVar.")] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run failed and timed-out cells again.")] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run an experiment of the paper: simulate, learn, measure, draw.

    A run that was stopped continues when the same command is given again.
    """
    from heterodag.cli import reproduction
    from heterodag.errors import ParameterError
    from heterodag.experiments.runner import RunSettings

    screen = Screen(quiet, debug)
    with guarded(screen):
        limit = max_seconds if max_seconds != 0 else None
        if list_all:
            return reproduction.list_experiments(screen, limit)
        if name is None:
            raise ParameterError(
                "NAME", "be an experiment or 'all'", name, "`heterodag reproduce --list` names them."
            )
        settings = RunSettings(limit, jobs, backend, scheduler, retry)
        chosen = split_names(methods)
        reproduction.reproduce(screen, name, out, settings, scale=scale, methods=chosen)


def main() -> None:
    """Run the command line; the entry point of the `heterodag` program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A name that the terminal cannot show must not be an error.
            stream.reconfigure(errors="replace")
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
