"""Run the cells that a store does not hold yet, in parallel, on this machine or on a cluster."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from typing import Any

from joblib import Parallel, delayed, parallel_config

from heterodag.errors import (
    HeterodagError,
    MissingExtraError,
    ParameterError,
    check_choice,
    check_max_seconds,
    check_workers,
)
from heterodag.experiments.display import Progress, cell_progress
from heterodag.experiments.processes import ProcessPool, Stopped, run_on_worker
from heterodag.experiments.run_cell import CellTask, Row
from heterodag.experiments.store import RowStore

BACKENDS = ("local", "dask")


@dataclass(frozen=True)
class RunSettings:
    """How cells are run; nothing here changes a result.

    Attributes
    ----------
    max_seconds : time limit of a cell in seconds; None for no limit.
    n_jobs : number of cells that run in parallel, as joblib counts; -1 for all cores, or all workers of a cluster.
    backend : "local" or "dask".
    scheduler : address of the dask scheduler, such as "tcp://10.0.0.1:8786".
    retry : whether cells that ended with an error or at a time limit are run again.
    """

    max_seconds: float | None = None
    n_jobs: int | None = -1
    backend: str = "local"
    scheduler: str | None = None
    retry: bool = False

    def __post_init__(self) -> None:
        check_max_seconds(self.max_seconds)
        check_workers(self.n_jobs)
        check_choice("backend", self.backend, BACKENDS)
        if self.backend == "dask" and not self.scheduler:
            raise ParameterError("scheduler", "be the address of a dask scheduler", self.scheduler)
        if self.backend == "local" and self.scheduler:
            raise ParameterError("backend", "be 'dask' when there is a scheduler", self.backend)


def run_tasks(
    tasks: Sequence[CellTask],
    store: RowStore,
    settings: RunSettings,
    *,
    show: bool = False,
    progress: Progress | None = None,
) -> list[Row]:
    """Run the tasks whose cells the store does not hold, in the order given.

    Parameters
    ----------
    tasks : sequence of CellTask
        All tasks that are wanted; those stored already are not run again.
    store : RowStore
        Every row is written to it as soon as its cell has finished.
    settings : RunSettings
        Time limit, number of processes, backend.
    show : bool
        Show a progress bar over the cells, on a terminal.
    progress : Progress, optional
        Called instead of the bar when a cell begins and ends.

    Returns
    -------
    list of dict
        The new rows, in the order in which the cells finished.
    """
    by_name = {task.cell.name: task for task in tasks}
    missing = store.missing((task.cell for task in tasks), settings.max_seconds, settings.retry)
    left = [by_name[cell.name] for cell in missing]
    new: list[Row] = []
    store.prepare()
    before = len(by_name) - len(left)
    with cell_progress(left, show, before) if progress is None else nullcontext(progress) as told:
        for row in _outcomes(left, settings, told.started):
            store.add(row)
            new.append(row)
            told.finished(by_name[row["cell"]], row)
    return new


def _outcomes(tasks: list[CellTask], settings: RunSettings, started: Callable[[CellTask], None]) -> Iterator[Row]:
    """Yield rows as cells finish, in any order."""
    if not tasks:
        return
    with ExitStack() as stack:
        if settings.backend == "dask":
            run: Callable[..., Row] = run_on_worker
            client = stack.enter_context(_connect(str(settings.scheduler)))
            stack.enter_context(parallel_config(backend="dask", client=client))
        else:
            # Every cell already has its own process: threads are enough to watch them.
            pool = ProcessPool()
            run = pool.run
            stack.callback(pool.stop)
            stack.enter_context(parallel_config(backend="threading"))
        # joblib warns of tasks that an interrupt cancels; the message at the end says it better.
        stack.enter_context(warnings.catch_warnings())
        warnings.filterwarnings("ignore", message=".*tasks which were still being processed")
        # One task at a time per worker: then it is known which cells are running, and a long one delays no other.
        parallel = Parallel(
            n_jobs=settings.n_jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs"
        )
        try:
            yield from parallel(_handed_out(tasks, run, settings.max_seconds, started))
        except Stopped:
            return
        except (OSError, RuntimeError) as error:
            text = " ".join(str(error).split())
            raise HeterodagError(
                f"A worker was lost ({type(error).__name__}: {text}); finished cells are stored: give the same command "
                "again to go on."
            ) from None


def _handed_out(
    tasks: list[CellTask], run: Callable[..., Row], max_seconds: float | None, started: Callable[[CellTask], None]
) -> Iterator[Any]:
    for task in tasks:
        started(task)
        yield delayed(run)(task, max_seconds)


def _connect(address: str) -> Any:
    try:
        client: Any = importlib.import_module("distributed").Client
    except ImportError:
        raise MissingExtraError("The dask backend", "distributed") from None
    try:
        return client(address, timeout=15)
    except (OSError, ValueError, TimeoutError):
        raise HeterodagError(
            f"No dask scheduler answers at '{address}'; start one with `dask scheduler` and give its address."
        ) from None
