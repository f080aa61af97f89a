"""Jobs on a Dask cluster: a client in scope, or joblib's "dask" backend. Losing a worker costs time, not results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from pkgutil import resolve_name
from typing import Any

from joblib.parallel import get_active_backend

from heterodag._version import __version__
from heterodag.errors import HeterodagError
from heterodag.runtime.threads import on_one_thread

#: How often jobs are submitted if workers are lost together with data that the jobs need.
_ATTEMPTS = 5
#: Arguments that hold more than this many bytes of a table are sent to the cluster once, not with every job.
_LARGE = 2**16


def find_client(n_jobs: int | None) -> Any:
    """Return the Dask client of joblib's backend, or the one in scope if `n_jobs` is None; None if there is none."""
    distributed = sys.modules.get("distributed")
    if distributed is None or _on_worker(distributed):
        return None
    client = getattr(get_active_backend()[0], "client", None)
    if client is not None or n_jobs is not None:
        return client
    try:
        return distributed.default_client()
    except ValueError:
        return None


def _on_worker(distributed: Any) -> bool:
    """Return whether this code runs as a job on a cluster: if jobs waited for jobs, all workers might wait."""
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True


def check_installed(client: Any) -> None:
    """Raise `HeterodagError` if the scheduler or a worker lacks this version of heterodag; Dask would fail obscurely."""
    question = resolve_name, "heterodag._version:__version__"  # of the standard library, so that all can be asked
    found = client.run(*question, on_error="return")
    try:
        found["the scheduler"] = client.run_on_scheduler(*question)
    except ImportError as error:
        found["the scheduler"] = error
    for place, version in found.items():
        if isinstance(version, ImportError) or (isinstance(version, str) and version != __version__):
            has = f"has {version}" if isinstance(version, str) else "does not have it"
            raise HeterodagError(
                f"The scheduler and all workers of a cluster need heterodag {__version__}, but {place} {has}: install it "
                "there."
            )


class Cluster:
    """A Dask client that runs jobs; a large argument that several jobs share is sent once."""

    def __init__(self, client: Any) -> None:
        check_installed(client)
        self.client = client
        self._sent: dict[int, tuple[Any, Any]] = {}

    @property
    def workers(self) -> int:
        """Number of threads of all workers together, at least one."""
        return max(1, int(sum(self.client.ncores().values())))

    def run(self, function: Callable[..., Any], jobs: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Run jobs and return their results in the order of the jobs."""
        from distributed.scheduler import KilledWorker

        for attempt in range(_ATTEMPTS):
            try:
                futures = [
                    self.client.submit(
                        on_one_thread, function, *map(self._argument, job), pure=False, retries=_ATTEMPTS
                    )
                    for job in jobs
                ]
                found: list[Any] = self.client.gather(futures)
                return found
            except (KilledWorker, CancelledError):
                self._sent.clear()  # the worker that was lost may have held what was sent
                if attempt == _ATTEMPTS - 1:
                    raise
        raise AssertionError

    def _argument(self, value: Any) -> Any:
        """Return an argument, or a reference to its copy on the cluster if it is large."""
        if getattr(value, "held_bytes", 0) <= _LARGE:
            return value
        if id(value) not in self._sent:
            self._sent[id(value)] = value, self.client.scatter(value, hash=False)
        return self._sent[id(value)][1]
