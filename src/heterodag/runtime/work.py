"""How one fit runs: its workers, time limit and progress, in one object per fit that is passed down."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

from joblib import Parallel, delayed, effective_n_jobs

from heterodag.errors import TimeLimitError
from heterodag.runtime.cluster import Cluster, find_client
from heterodag.runtime.parallel import start_workers
from heterodag.runtime.threads import on_one_thread

_Result = TypeVar("_Result")
#: Called with the share of work done, in [0, 1].
Progress = Callable[[float], None]
#: Most that is reported before the end: a full progress bar would say that nothing is left to do.
ALMOST = 0.98
#: With a time limit, the clock is read after this many jobs per worker.
_BETWEEN_CHECKS = 4


class OutOfTime(Exception):
    """The time limit has passed; callers that already have an answer return it."""


class Work:
    """Workers, time limit and progress of one fit.

    Parameters
    ----------
    n_jobs : number of workers, as in joblib; None means one, or all workers of a Dask client in scope.
    max_seconds : time from now on after which `check` raises `OutOfTime`; None means no limit.
    progress : called with the share of all work that is done.
    method : name of the method; if given, an `OutOfTime` that nobody catches becomes a `TimeLimitError`.
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        max_seconds: float | None = None,
        progress: Progress | None = None,
        method: str | None = None,
    ) -> None:
        self._method, self._seconds = method, max_seconds
        client = find_client(n_jobs)
        self._cluster = None if client is None else Cluster(client)
        self.workers = effective_n_jobs(n_jobs) if self._cluster is None else self._cluster.workers
        self._end = float("inf") if max_seconds is None else time.monotonic() + max_seconds
        self._progress, self._from, self._to, self._said = progress, 0.0, 1.0, 0.0
        self._pool: Parallel | None = None

    def __enter__(self) -> Work:
        return self

    def __exit__(self, *error: object) -> None:
        """Stop the workers."""
        if self._pool is not None:
            self._pool.__exit__(*error)
            self._pool = None
        if self._method is not None and error[0] is OutOfTime:
            raise TimeLimitError(self._method, float(self._seconds or 0.0)) from None

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled: jobs should hold data, not the pool that runs them."""
        raise TypeError("Work stays in the process that began it; send what a job needs instead.")

    @property
    def over(self) -> bool:
        """Whether the time limit has passed."""
        return time.monotonic() > self._end

    def check(self) -> None:
        """Raise `OutOfTime` if the time limit has passed."""
        if self.over:
            raise OutOfTime

    @contextmanager
    def grace(self) -> Iterator[None]:
        """Suspend the time limit for work that must be done at the end."""
        end, self._end = self._end, float("inf")
        try:
            yield
        finally:
            self._end = end

    def map(self, function: Callable[..., _Result], jobs: Sequence[tuple[Any, ...]]) -> list[_Result]:
        """Run independent jobs, in parallel if there are enough; results do not depend on the number of workers."""
        if self.workers == 1 or len(jobs) < 2:
            found = []
            for job in jobs:
                self.check()
                found.append(on_one_thread(function, *job))
            return found
        if self._cluster is None and self._pool is None:
            # Kept until the end: it hands the table to its processes only once.
            start_workers(self.workers)
            self._pool = Parallel(n_jobs=self.workers)
            self._pool.__enter__()
        shared: list[_Result] = []
        at_once = len(jobs) if self._end == float("inf") else _BETWEEN_CHECKS * self.workers
        for start in range(0, len(jobs), at_once):
            self.check()
            some = jobs[start : start + at_once]
            if self._cluster is not None:
                shared += self._cluster.run(function, some)
            elif self._pool is not None:
                shared += self._pool(delayed(on_one_thread)(function, *job) for job in some)
        return shared

    @contextmanager
    def part(self, start: float, end: float) -> Iterator[None]:
        """Map reports made inside, from 0 to 1, to the range `start` to `end` of the enclosing part."""
        low, high = self._from, self._to
        self._from, self._to = low + start * (high - low), low + end * (high - low)
        try:
            yield
        finally:
            self._from, self._to = low, high

    def tick(self, share: float) -> None:
        """Report, and raise `OutOfTime` if the time limit has passed: for work that has no partial result."""
        self.check()
        self.report(share)

    def report(self, share: float) -> None:
        """Report how much of the current part is done."""
        self.reach(self._from + (self._to - self._from) * min(max(share, 0.0), 1.0))

    def reach(self, share: float) -> None:
        """Report a share of the whole work, whatever the current part; reported progress never goes back."""
        self._said = max(self._said, share)
        if self._progress is not None:
            self._progress(self._said)
