"""The progress bar over cells, on a terminal only: how many are done, which are running, how long it will take."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from heterodag.experiments.costs import expected_seconds
from heterodag.experiments.run_cell import CellTask, Row

#: Running cells that are named beside the bar.
SHOWN = 2


@dataclass(frozen=True)
class Progress:
    """The callbacks of a display.

    Attributes
    ----------
    started, finished : called with the task when it is handed out, and with the task and its row when it is stored.
    """

    started: Callable[[CellTask], None] = lambda task: None
    finished: Callable[[CellTask, Row], None] = lambda task, row: None


@contextmanager
def cell_progress(tasks: Sequence[CellTask], wanted: bool, before: int = 0) -> Iterator[Progress]:
    """Yield the callbacks for `run_tasks`; they move a bar, or do nothing without a terminal.

    The bar measures the expected time of the cells still to be run, not their number, because the cheap ones come
    first. The words beside it count all cells, including the `before` cells that an earlier run has done, and say so.
    """
    if not wanted or not tasks or not sys.stderr.isatty():
        yield Progress()
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.fields[counted]}"), BarColumn(bar_width=24),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(), TextColumn("{task.fields[running]}"),
    )  # fmt: skip
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        total = sum(expected_seconds(task.cell) for task in tasks)
        line = bar.add_task("cells", total=total, counted=counted(0, len(tasks), before), running="")
        board = _Board()

        def finished(task: CellTask, row: Row) -> None:
            done, running = board.end(task)
            words = counted(done, len(tasks), before)
            bar.update(line, advance=expected_seconds(task.cell), counted=words, running=running)

        yield Progress(lambda task: bar.update(line, running=board.begin(task)), finished)


def counted(done: int, cells: int, before: int) -> str:
    """Return how many cells are done, as in ``15 of 40 cells (12 done before)``."""
    earlier = f" ({before} done before)" if before else ""
    return f"{before + done} of {before + cells} cells{earlier}"


class _Board:
    """Which cells are running; several threads report to it."""

    def __init__(self) -> None:
        self._lock, self._running, self._done = threading.Lock(), dict[str, str](), 0

    def begin(self, task: CellTask) -> str:
        with self._lock:
            self._running[task.cell.name] = in_brief(task)
            return self._text()

    def end(self, task: CellTask) -> tuple[int, str]:
        with self._lock:
            self._running.pop(task.cell.name, None)
            self._done += 1
            return self._done, self._text()

    def _text(self) -> str:
        names = list(self._running.values())
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        return " | ".join(names[:SHOWN]) + more


def in_brief(task: CellTask) -> str:
    """Return a cell in a few words."""
    data = task.cell.data
    return f"{task.cell.method} on {data.graph or data.source}, n {data.n}, d {data.d}"
