"""Independent calls on any backend of joblib, whose results are yielded while others are still computed."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from multiprocessing import resource_tracker
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs
from joblib.externals.loky.backend import resource_tracker as loky_tracker
from joblib.parallel import get_active_backend

from heterodag.runtime.cluster import check_installed, find_client

#: A backend that can only return lists gets this many calls per worker at a time.
_AT_ONCE = 4


def start_workers(n_jobs: int | None, **hints: Any) -> None:
    """Start the processes of joblib's default backend so that Ctrl-C, which a terminal sends to all, stops this one only.

    Otherwise every worker prints a traceback. Processes inherit which signals are blocked; here SIGINT is blocked while
    they start, and arrives afterwards. They end with this process. joblib shares its processes: those that others started
    before stay as they are, and those started here ignore Ctrl-C in other calls, too. Nothing is done on Windows.
    """
    backend = type(get_active_backend(**hints)[0]).__name__
    if backend != "LokyBackend" or effective_n_jobs(n_jobs) == 1 or not hasattr(signal, "pthread_sigmask"):
        return
    for tracker in (resource_tracker, loky_tracker):  # some versions unblock SIGINT when they start one later on
        tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        Parallel(n_jobs=n_jobs, **hints)([delayed(int)()])
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def as_finished(calls: Sequence[Any], n_jobs: int | None, *, ordered: bool = True, **hints: Any) -> Iterator[Any]:
    """Run delayed calls and yield their results: each when it is there, or list by list if the backend makes lists.

    Parameters
    ----------
    calls : made with `joblib.delayed`.
    n_jobs : number of workers, as in joblib.
    ordered : whether results come in the order of the calls.
    **hints : to `joblib.Parallel`.

    Notes
    -----
    Ray's backend and "multiprocessing" make lists: joblib refuses to yield their results one by one.
    """
    if not calls:
        return
    client = find_client(1)  # of joblib's backend, not merely one in scope
    if client is not None:
        check_installed(client)
    start_workers(n_jobs, **hints)
    if get_active_backend(**hints)[0].supports_return_generator:
        kind = "generator" if ordered else "generator_unordered"
        yield from Parallel(n_jobs=n_jobs, return_as=kind, **hints)(calls)
        return
    workers = effective_n_jobs(n_jobs)
    at_once = 1 if workers == 1 else _AT_ONCE * workers
    with Parallel(n_jobs=n_jobs, **hints) as pool:
        for start in range(0, len(calls), at_once):
            yield from pool(calls[start : start + at_once])
