"""The command `reproduce`: run experiments of the paper, write tables and figures, say what happened."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

from heterodag._version import __version__
from heterodag.cli.terminal import Screen
from heterodag.errors import HeterodagError, MissingExtraError
from heterodag.experiments.catalogue import EXPERIMENTS, SCALES, get_experiments
from heterodag.experiments.costs import in_words, total_seconds
from heterodag.experiments.methods import get_method
from heterodag.experiments.outputs import write_outputs
from heterodag.experiments.reproduce import Outcome, run_experiments
from heterodag.experiments.runner import RunSettings
from heterodag.experiments.store import RowStore
from heterodag.experiments.summary import versions

_SHOWN = 5


def list_experiments(screen: Screen, max_seconds: float | None) -> None:
    """Print every experiment with the paper's setting and the time to expect on one core."""
    rows = []
    for experiment in EXPERIMENTS.values():
        times = [in_words(total_seconds(experiment.cells(scale), max_seconds)) for scale in SCALES]
        rows.append([experiment.name, *times, experiment.setting])
    everything = {scale: [cell for e in EXPERIMENTS.values() for cell in e.cells(scale)] for scale in SCALES}
    together = [in_words(total_seconds(cells, max_seconds)) for cells in everything.values()]
    count = len({cell.name for cell in everything["full"]})
    rows.append(["all", *together, f"{count} cells; experiments share cells"])
    screen.table(["name", *SCALES, "the paper's setting"], rows)
    screen.say("Times are guesses for one core; the work divides by the cores used. The paper's scale is full.")


def reproduce(
    screen: Screen, name: str, out: Path, settings: RunSettings, *, scale: str, methods: Sequence[str] | None
) -> None:
    """Run an experiment, or all, and write the tables and figures that its rows allow.

    Parameters
    ----------
    screen : Screen
        Where to print.
    name : str
        An experiment, or "all".
    out : Path
        Folder for the rows, tables and figures; a run that was stopped continues from its rows.
    settings : RunSettings
        Time limit, number of processes, backend.
    scale : {"smoke", "quick", "full"}
        Sizes and numbers of data sets.
    methods : sequence of str, optional
        Only these methods.
    """
    experiments = get_experiments(name)
    if importlib.util.find_spec("torch") is None:
        raise MissingExtraError("LCIT, the edge test of the paper's experiments,", "neural")
    chosen = None if methods is None else [get_method(method).name for method in methods]
    if chosen is not None and not any(e.cells("full", chosen) for e in experiments):
        raise HeterodagError(f"Experiment '{name}' has none of these methods: {', '.join(chosen)}.")
    try:
        outcome = run_experiments(
            experiments, out, settings, scale=scale, methods=chosen, show_progress=screen.shows_progress
        )
    except KeyboardInterrupt:
        cells = {
            cell.name: cell for e in experiments for cell in e.cells(scale, None if chosen is None else set(chosen))
        }
        stored = f"{len(RowStore(out).rows(cells.values()))} of {len(cells)}"
        raise KeyboardInterrupt(
            f"Interrupted; {stored} cells are finished and kept in {out}: give the same command again to continue."
        ) from None
    with screen.busy("Writing tables and figures"):
        store = RowStore(out)  # stored rows of methods that were not run now are shown as well
        written = [file for e in experiments for file in write_outputs(e, store.rows(e.cells(scale)), out)]
    _say_outcome(screen, outcome, out, written)


def _say_outcome(screen: Screen, outcome: Outcome, out: Path, written: list[Path]) -> None:
    if outcome.broken:
        lines = "1 line" if outcome.broken == 1 else f"{outcome.broken} lines"
        screen.warn(
            f"{lines} of the store held no row, as when a run is killed while writing; such cells were run again."
        )
    there = len(outcome.rows) - len(outcome.new)
    ends = f"{outcome.count('done')} done, {outcome.count('timeout')} timeout, {outcome.count('error')} error"
    screen.say(f"{len(outcome.cells)} cells: {ends} ({len(outcome.new)} run now, {there} already there).")
    others = [version for version in versions(outcome.rows) if version != __version__]
    if others:
        screen.say(
            f"Some rows were made by heterodag {', '.join(others)} and count as they are; this is {__version__}."
        )
    failed = [row for row in outcome.rows if row["status"] == "error"]
    for row in failed[:_SHOWN]:
        screen.say(f"error in {row['cell']}: {row['message']}")
    if len(failed) > _SHOWN:
        screen.say(f"... and {len(failed) - _SHOWN} more errors in the store.")
    names = ", ".join(path.name for path in written)
    screen.say(f"Wrote {names} to {out}; the rows are in {out / 'rows.jsonl'}.")
