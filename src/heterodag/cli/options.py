"""The options that several commands share, as typer annotations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def named_path(text: str | Path) -> Path:
    """Return a path, but refuse an empty one: it would mean the current folder, which is hardly intended."""
    if not str(text).strip():
        raise typer.BadParameter("it is empty; give a name, or . for the folder you are in.")
    return Path(text)


def path_option(text: str, **options: Any) -> Any:
    """Return a typer option whose value is a path that is not empty."""
    return typer.Option(help=text, parser=named_path, metavar="PATH", **options)


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]
Debug = Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files that heterodag would otherwise keep.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "--n-jobs", help="Processes to use; -1 for all cores.")]
Parametrization = Annotated[
    str | None, typer.Option(help="Lines, curves or networks: auto, linear, spline, mlp. [default: auto]")
]
Form = Annotated[
    str | None, typer.Option(help="What depends on the causes: auto, natural, location-scale. [default: auto]")
]
Noise = Annotated[
    str | None, typer.Option(help="Normal noise or a fitted density: auto, gaussian, flexible. [default: auto]")
]
Tolerance = Annotated[
    float | None, typer.Option(help="Variables with scores this close are placed together. [default: 0.0001]")
]
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
DataCheck = Annotated[
    str | None,
    typer.Option(
        help="Tables that cannot be learned from, such as random walks: refuse, warn, or ignore. [default: refuse]"
    ),
]
Bootstrap = Annotated[
    int, typer.Option(min=0, metavar="N", help="Learn the graph again on N resamples and count what comes back.")
]
Knowledge = Annotated[
    Path | None,
    typer.Option(metavar="FILE.json", help="What is known: required, forbidden, tiers, roots, leaves."),
]
Conditions = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="A column of the table: which experimental condition a row belongs to."),
]
Targets = Annotated[
    Path | None,
    typer.Option(metavar="FILE.json", help="What each condition acts on: null, a column, several, or unknown."),
]
Kind = Annotated[
    str | None, typer.Option(help="Whether conditions set their targets or shift them: set, shift. [default: set]")
]
Others = Annotated[
    str, typer.Option(help="Columns that the graph does not name: refuse, drop, or keep without edges.")
]
Learned = Annotated[
    Path | None, typer.Option(metavar="GRAPH", help="A graph file to compare with, instead of learning one.")
]

Mechanism = Annotated[
    str, typer.Option(help="The paper's: linear, nonlinear; or how the mean moves: none, straight, curved.")
]
Spread = Annotated[
    str | None,
    typer.Option(help="With none, straight, curved: constant, straight or curved. [default: constant]"),
]
DrawnNoise = Annotated[str, typer.Option(help="normal, exponential, laplace, t, uniform, bimodal, gumbel or mixed.")]
