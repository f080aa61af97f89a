"""The command that decides and scores a folder of cause-effect pairs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

from heterodag.cli.terminal import Screen
from heterodag.errors import HeterodagError
from heterodag.io.writing import check_folder, write_all
from heterodag.runtime.progress import progress_bar

if TYPE_CHECKING:
    import pandas as pd

#: The decision rates that are printed.
RATES = (0.25, 0.5, 0.75, 1.0)


def pairs(
    screen: Screen, folder: Path, out: Path | None, *, missing: str, jobs: int | None, as_json: bool, force: bool
) -> None:
    """Print the direction of every pair of a folder and how good the answers are.

    Parameters
    ----------
    screen : Screen
        Where to print.
    folder : Path
        A folder in the Tuebingen format.
    out : Path or None
        A CSV file for the decisions.
    missing : str
        Rows with missing values: "refuse" or "drop".
    jobs : int or None
        Number of pairs decided in parallel.
    as_json : bool
        Print one JSON object instead of tables.
    force : bool
        Replace an existing file.
    """
    from heterodag.pairs import decide_pairs, read_pairs, score_pairs

    if out is not None:
        if out.exists() and not force:
            raise HeterodagError(f"File '{out}' exists already; pass --force to replace it.")
        check_folder(out.parent)
    found = read_pairs(folder)
    for sentence in found.skipped:
        screen.warn(sentence)
    if not found.pairs:
        raise HeterodagError(f"'{folder}' has no pair of single columns to decide.")
    with progress_bar("deciding", enabled=screen.shows_progress) as bar:
        table = decide_pairs(found.pairs, missing=missing, n_jobs=jobs, progress=bar)
    scored = bool((table["right"].notna() & (table["weight"] > 0)).any())
    scores = score_pairs(table) if scored else None
    if out is not None:
        write_all({out.name: table.to_csv(index=False, float_format="%.10g")}, out.parent)
    if as_json:
        records = [{name: _json(value) for name, value in row.items()} for row in table.to_dict("records")]
        told = None if scores is None else {
            "pairs": scores.pairs, "accuracy": scores.accuracy, "decided": scores.decided,
            "accuracy_decided": _json(scores.accuracy_decided), "area": scores.area,
            "rates": scores.rates.tolist(), "accuracies": scores.accuracies.tolist(),
        }  # fmt: skip
        screen.say(json.dumps({"pairs": records, "scores": told, "skipped": found.skipped}))
        return
    screen.table(["pair", "direction", "nats", "", "link", "truth", "weight"], _lines(table))
    screen.say()
    if scores is None:
        screen.say("No pair has a known direction and a positive weight, so there is nothing to score.")
    else:
        for line in str(scores).splitlines():
            screen.say(line)
        shares = [[f"{100 * rate:.0f} %", f"{100 * scores.at(rate):.1f} %"] for rate in RATES]
        screen.table(["decided, the surest first", "right"], shares)
    if out is not None:
        screen.say(f"Wrote {out}.")


def _lines(table: pd.DataFrame) -> list[list[str]]:
    """Return the cells of the printed table."""
    return [
        [
            str(row["pair"]),
            f"x {row['direction']} y",
            f"{row['nats']:.1f}",
            "open" if row["open"] else "",
            f"{row['link_nats']:.1f}",
            "" if row["truth"] is None else f"x {row['truth']} y",
            f"{row['weight']:g}",
        ]
        for row in table.to_dict("records")
    ]


def _json(value: object) -> object:
    return None if isinstance(value, float) and math.isnan(value) else value
