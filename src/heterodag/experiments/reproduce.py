"""Run named experiments of the paper: their cells, with a store that all experiments share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from heterodag.experiments.catalogue import Experiment
from heterodag.experiments.cells import Cell
from heterodag.experiments.costs import expected_seconds
from heterodag.experiments.run_cell import CellTask, Row
from heterodag.experiments.runner import RunSettings, run_tasks
from heterodag.experiments.store import RowStore


@dataclass(frozen=True)
class Outcome:
    """What a run did.

    Attributes
    ----------
    cells : all cells of the experiments.
    new : rows computed now; the others were stored before.
    broken : number of lines of the store that held no row.
    rows : all stored rows of these cells.
    """

    cells: list[Cell]
    new: list[Row]
    broken: int
    rows: list[Row]

    def count(self, status: str) -> int:
        """Return how many cells ended with this status: "done", "timeout" or "error"."""
        return sum(row["status"] == status for row in self.rows)


def run_experiments(
    experiments: Sequence[Experiment],
    folder: Path,
    settings: RunSettings,
    *,
    scale: str = "full",
    methods: Iterable[str] | None = None,
    show_progress: bool = False,
) -> Outcome:
    """Run the cells of some experiments that the folder's store does not hold; experiments share cells.

    Parameters
    ----------
    experiments : sequence of Experiment
        From `catalogue.get_experiments`.
    folder : Path
        The folder that holds `rows.jsonl`, or will hold it.
    settings : RunSettings
        Time limit, number of processes, backend.
    scale : {"smoke", "quick", "full"}
        Sizes and numbers of data sets.
    methods : iterable of str, optional
        Only these.
    show_progress : bool
        Show a progress bar over the cells, on a terminal.
    """
    store = RowStore(folder)
    names = None if methods is None else set(methods)
    cells = list({cell.name: cell for e in experiments for cell in e.cells(scale, names)}.values())
    cells.sort(key=expected_seconds)
    new = run_tasks([CellTask(cell) for cell in cells], store, settings, show=show_progress)
    return Outcome(cells, new, store.broken, store.rows(cells))
