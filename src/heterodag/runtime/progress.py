"""A progress bar for long work: on a terminal only, never in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: The time left is not estimated before this share of the work is done.
_FIRST_GUESS = 0.03


@contextmanager
def progress_bar(label: str, enabled: bool) -> Iterator[Callable[[float], None] | None]:
    """Yield a function to call with the share of work done, or None when no bar is wanted or possible."""
    if not enabled or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskProgressColumn, TextColumn
    from rich.text import Text

    class TimeLeft(ProgressColumn):
        """The time left, estimated from all work done so far."""

        def render(self, task: Task) -> Text:
            return Text(time_left(task.elapsed or 0.0, task.completed), style="progress.remaining")

    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeLeft()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=1.0)
        yield lambda share: bar.update(task, completed=share)


def seconds_left(elapsed: float, share: float) -> float | None:
    """Return the seconds left if work goes on at the average speed so far; None while too little is done to tell."""
    return None if share < _FIRST_GUESS else elapsed * (1.0 - share) / share


def time_left(elapsed: float, share: float) -> str:
    """Return the time left in words, no more precisely than it is known."""
    left = seconds_left(elapsed, share)
    if left is None:
        return ""
    if left < 100.0:
        return f"about {max(round(left), 1)} s left"
    return f"about {round(left / 60)} min left" if left < 6000.0 else f"about {left / 3600:.1f} h left"
