"""The command that checks a table before a fit."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from heterodag.checks.findings import SEVERITIES
from heterodag.cli.reading import Reading, source_name
from heterodag.cli.terminal import EXIT_RED, Screen


def check(
    screen: Screen, data: Path, *, reading: Reading, conditions: str | None = None, as_json: bool = False
) -> None:
    """Print what a check of a file finds; end with status 3 if something is red.

    Parameters
    ----------
    screen : Screen
        Where to print.
    data : Path
        The table.
    reading : Reading
        How to read the table. Missing values and text do not stop the check.
    conditions : str, optional
        A column that says which condition a row belongs to: rows are compared within conditions.
    as_json : bool
        Print the findings as one JSON array.
    """
    from heterodag.checks import check_table

    source, missing = source_name(data), reading.missing or "refuse"
    with screen.busy(f"Reading {source}"):
        table = reading.opened(data, {"--conditions": conditions}, strict=False)
        if table is None:
            frame = reading.table(data, conditions, strict=False)
    with screen.busy("Checking"):
        if table is not None:
            n, d = table.n_rows, len(table.names) + len(table.text)
            found = check_table(table, missing=missing)
            table.close()
        else:
            n, d = frame.shape
            groups = None if conditions is None else frame.index.astype(str)
            found = check_table(frame.reset_index(drop=True), missing=missing, groups=groups)
    if as_json:
        screen.say(json.dumps(found.records()))
    else:
        screen.say(f"{n} row{'' if n == 1 else 's'} and {d} column{'' if d == 1 else 's'} from {source}.")
        for line in found.lines():
            screen.say(line)
        counts = {severity: len(found.of(severity)) for severity in reversed(SEVERITIES)}
        screen.say(", ".join(f"{count} {severity}" for severity, count in counts.items()) + ".")
    if found.worst == "red":
        raise typer.Exit(EXIT_RED)
