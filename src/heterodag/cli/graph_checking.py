"""The command that checks a graph against a table."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from heterodag.cli.reading import Reading, read_experiments, source_name
from heterodag.cli.terminal import EXIT_RED, Screen

if TYPE_CHECKING:
    import pandas as pd

#: At most this many rows of a table are printed.
_SHOWN = 30


def check_graph(
    screen: Screen,
    graph: Path,
    data: Path,
    *,
    reading: Reading,
    experiments: Mapping[str, Any],
    settings: Mapping[str, Any],
    as_json: bool,
) -> None:
    """Check a graph against the table in a file and print what was found.

    Parameters
    ----------
    screen : Screen
        Where to print.
    graph, data : Path
        A graph file and the table.
    reading : Reading
        How to read the table.
    experiments : mapping
        What the user said about experiments: `conditions` (a column), `targets` (a JSON file) and `kind`.
    settings : mapping
        Parameters of `heterodag.check_graph`.
    as_json : bool
        Print one JSON object instead of text.

    Raises
    ------
    typer.Exit
        With status 3 if a finding is red.
    """
    from heterodag.graphcheck import check_graph as check

    frame, told = read_experiments(screen, data, reading, experiments)
    found = check(graph, frame, interventions=told, verbose=int(screen.shows_progress), **settings)
    if as_json:
        screen.say(json.dumps(found.record()))
    else:
        size = f"{len(found.names)} variables, {len(frame)} rows from {source_name(data)}"
        screen.say(f"{size}; edges in {graph}: {len(found.edges)}.")
        for line in str(found.findings).splitlines():
            screen.say(line)
        for title, table in found.shown():
            screen.say()
            screen.say(title)
            screen.table([str(name) for name in table.columns], _cells(table))
            if len(table) > _SHOWN:
                screen.say(f"... and {len(table) - _SHOWN} more; --json has them all.")
    if found.worst == "red":
        raise typer.Exit(EXIT_RED)


def _cells(table: pd.DataFrame) -> list[list[str]]:
    return [[_cell(value) for value in row] for row in table.head(_SHOWN).itertuples(index=False)]


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.1f}"
    return str(value)
