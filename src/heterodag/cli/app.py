"""The command line: parse, call, print. What the commands do is in `heterodag.cli.commands`."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer

from heterodag._version import __version__
from heterodag.cli.terminal import EXIT_INTERRUPTED, Screen, guarded

app = typer.Typer(
    name="heterodag",
    help="Learn a causal graph from a table in which the spread of a variable may depend on its causes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Debug = Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that heterodag did not write.")]
Delimiter = Annotated[
    str | None, typer.Option(help="One character, or comma, tab, semicolon, pipe, space; else found out.")
]
Header = Annotated[bool | None, typer.Option("--header/--no-header", help="Whether the first line holds the names.")]
Parametrization = Annotated[
    str | None, typer.Option(help="Lines, curves or networks: auto, linear, spline, mlp. [default: auto]")
]
Form = Annotated[
    str | None, typer.Option(help="What depends on the causes: auto, natural, location-scale. [default: auto]")
]
Noise = Annotated[
    str | None, typer.Option(help="Normal noise or a fitted density: auto, gaussian, flexible. [default: auto]")
]
Tolerance = Annotated[float | None, typer.Option(help="Scores this close are placed together. [default: 0.0001]")]
Refine = Annotated[
    bool | None,
    typer.Option("--refine/--no-refine", help="Improve the order by likelihood, or not. [default: --refine]"),
]
Conditioning = Annotated[
    str | None, typer.Option(help="Given all placed variables, or chosen ones: auto, full, sparse. [default: auto]")
]
MaxSeconds = Annotated[
    float | None,
    typer.Option("--max-seconds", "--max-time", help="Seconds after which the best order so far is used."),
]
Correction = Annotated[str | None, typer.Option(help="Correction for many tests: none, holm or bh. [default: none]")]
Missing = Annotated[str | None, typer.Option(help="Rows with empty cells: refuse, or drop them. [default: refuse]")]
Knowledge = Annotated[
    Path | None,
    typer.Option(metavar="FILE.json", help="What is known: required, forbidden, tiers, roots, leaves."),
]
Conditions = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="A column of the table: which experimental condition a row is of."),
]
Targets = Annotated[
    Path | None,
    typer.Option(metavar="FILE.json", help="What each condition acts on: null, a column, several, or unknown."),
]
Kind = Annotated[
    str | None, typer.Option(help="Whether conditions set their targets or shift them: set, shift. [default: set]")
]

Mechanism = Annotated[
    str, typer.Option(help="The paper's: linear, nonlinear; or how the mean moves: none, straight, curved.")
]
Spread = Annotated[
    str | None,
    typer.Option(help="With none, straight, curved: constant, straight or curved. [default: constant]"),
]
DrawnNoise = Annotated[str, typer.Option(help="normal, exponential, laplace, t, uniform, bimodal, gumbel or mixed.")]


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
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("heterodag-demo"),
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Learn the graph of eleven proteins and compare it with the known one.

    The data are the 853 observational cells of Sachs et al. (2005), which come with heterodag.
    """
    from heterodag.cli import commands

    screen = Screen(quiet, debug)
    with guarded(screen):
        commands.demo(screen, out, force=force)


@app.command()
def fit(
    data: Annotated[
        Path,
        typer.Argument(metavar="DATA", help="The table: CSV, TSV (also .gz) or Parquet.", show_default=False),
    ],
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("heterodag-out"),
    delimiter: Delimiter = None,
    decimal: Annotated[str, typer.Option(help="The decimal mark, . or ,")] = ".",
    encoding: Annotated[str | None, typer.Option(help="Encoding of the file, if not UTF-8.")] = None,
    header: Header = None,
    index_column: Annotated[str | None, typer.Option(help="A column of row names, to be set aside.")] = None,
    columns: Annotated[str | None, typer.Option(help="Columns to use, as in a,b,c; else all.")] = None,
    drop: Annotated[str | None, typer.Option(help="Columns to leave out, as in a,b.")] = None,
    missing: Missing = None,
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
    jobs: Annotated[int | None, typer.Option(help="Processes to use; -1 for all cores.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed, for methods that draw random numbers.")] = None,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Learn the causal graph of a table.

    Writes edges.csv, graph.json, graph.graphml, graph.dot and report.html into the folder.
    """
    from heterodag.cli import commands

    reading = {
        "delimiter": delimiter, "decimal": decimal, "encoding": encoding, "header": header, "index_column": index_column,
        "columns": commands.split_names(columns), "drop": commands.split_names(drop), "missing": missing or "refuse",
    }  # fmt: skip
    given: dict[str, Any] = {
        "parametrization": parametrization, "form": form, "noise": noise, "normality": normality,
        "tolerance": tolerance, "refine": refine, "conditioning": conditioning, "max_seconds": max_seconds,
        "selection": selection, "alpha": alpha, "correction": correction, "missing": missing, "n_jobs": jobs,
        "random_state": seed,
    }  # fmt: skip
    settings = {name: value for name, value in given.items() if value is not None}
    screen = Screen(quiet, debug)
    with guarded(screen):
        told = {"conditions": conditions, "targets": targets, "kind": kind}
        options: dict[str, Any] = {"reading": reading, "settings": settings, "knowledge": knowledge}
        options["experiments"] = {name: value for name, value in told.items() if value is not None}
        commands.fit(screen, data, out, **options, paper=paper, force=force)


@app.command()
def simulate(
    out: Annotated[Path, typer.Option(help="The table: .csv, .tsv (also .gz) or .parquet.", show_default=False)],
    n: Annotated[int, typer.Option("--n", help="Rows.")] = 1000,
    d: Annotated[int, typer.Option("--d", help="Columns.")] = 10,
    graph: Annotated[str, typer.Option(help="ER (Erdos-Renyi) or SF (scale-free).")] = "ER",
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

    The graph goes beside the table as NAME.truth.json.
    """
    from heterodag.cli import commands

    screen = Screen(quiet, debug)
    options: dict[str, Any] = {"graph": graph, "degree": degree, "mechanism": mechanism, "noise": noise}
    options |= {} if spread is None else {"spread": spread}
    with guarded(screen):
        commands.simulate(screen, out, force=force, n=n, d=d, seed=seed, **options)


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

    Both may be graph.json, graph.graphml, an edge list or a square table of zeros and ones, causes in rows.
    """
    from heterodag.cli import commands

    screen = Screen(debug=debug)
    with guarded(screen):
        commands.evaluate(screen, graph, truth, as_json=as_json)


@app.command()
def convert(
    graph: Annotated[
        Path,
        typer.Argument(metavar="GRAPH", help="A graph file, such as graph.json.", show_default=False),
    ],
    out: Annotated[
        Path, typer.Option(help="The file: .gml, .dagitty, .graphml, .dot, .csv or .json.", show_default=False)
    ],
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a graph in the format of another tool."""
    from heterodag.cli import commands

    screen = Screen(quiet, debug)
    with guarded(screen):
        commands.convert(screen, graph, out, force=force)


@app.command()
def reproduce(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="An experiment of the paper, or all.", show_default=False)
    ] = None,
    list_all: Annotated[bool, typer.Option("--list", help="Name the experiments, with the time to expect.")] = False,
    scale: Annotated[str, typer.Option(help="smoke, quick or full (the paper's).")] = "full",
    out: Annotated[Path, typer.Option(help="Folder for rows, tables and figures.")] = Path("heterodag-reproduction"),
    max_seconds: Annotated[float, typer.Option(help="Time limit of a cell; 0 for none.")] = 600.0,
    jobs: Annotated[int, typer.Option("--n-jobs", "--jobs", help="Cells side by side; -1 for all cores.")] = -1,
    backend: Annotated[str, typer.Option(help="local or dask.")] = "local",
    scheduler: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Of the dask scheduler.")] = None,
    methods: Annotated[str | None, typer.Option(help="Only these methods, as in HOST,NPVar.")] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run failed and timed-out cells again.")] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run an experiment of the paper: simulate, learn, measure, draw.

    Stopped runs go on where they stopped when the same command is given again.
    """
    from heterodag.cli import commands, reproduction
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
        chosen = commands.split_names(methods)
        reproduction.reproduce(screen, name, out, settings, scale=scale, methods=chosen)


def main() -> None:
    """Run the command line; the entry point of the `heterodag` program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A name that the terminal cannot show is no reason to fail.
            stream.reconfigure(errors="replace")
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
