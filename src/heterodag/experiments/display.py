"""The progress bar over cells: how many, which are running, how long still. On a terminal only."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from heterodag.experiments.costs import expected_seconds
from heterodag.experiments.run_cell import Row, Task
from heterodag.experiments.runner import Progress

#: Running cells that are named beside the bar.
SHOWN = 2


@contextmanager
def cell_progress(tasks: Sequence[Task], wanted: bool) -> Iterator[Progress]:
    """Yield what `run_tasks` tells about its cells; it moves a bar, or does nothing without a terminal.

    The bar is measured in expected time, not in cells: the cheap ones come first.
    """
    if not wanted or not tasks or not sys.stderr.isatty():
        yield Progress()
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.fields[done]} of {task.fields[cells]} cells"), BarColumn(bar_width=24),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(), TextColumn("{task.fields[running]}"),
    )  # fmt: skip
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        total = sum(expected_seconds(task.cell) for task in tasks)
        line = bar.add_task("cells", total=total, done=0, cells=len(tasks), running="")
        board = _Board()

        def finished(task: Task, row: Row) -> None:
            done, running = board.end(task)
            bar.update(line, advance=expected_seconds(task.cell), done=done, running=running)

        yield Progress(lambda task: bar.update(line, running=board.begin(task)), finished)


class _Board:
    """Which cells are running; told by several threads."""

    def __init__(self) -> None:
        self._lock, self._running, self._done = threading.Lock(), dict[str, str](), 0

    def begin(self, task: Task) -> str:
        with self._lock:
            self._running[task.cell.name] = in_brief(task)
            return self._text()

    def end(self, task: Task) -> tuple[int, str]:
        with self._lock:
            self._running.pop(task.cell.name, None)
            self._done += 1
            return self._done, self._text()

    def _text(self) -> str:
        names = list(self._running.values())
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        return " | ".join(names[:SHOWN]) + more


def in_brief(task: Task) -> str:
    """Return a cell in a few words."""
    data = task.cell.data
    return f"{task.cell.method} on {data.graph or data.source}, n {data.n}, d {data.d}"
