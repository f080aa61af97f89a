"""Time limits: long work reports its progress anyway, and a report after the end of the time stops it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from heterodag.errors import TimeLimitError, check_number


@dataclass(frozen=True)
class Deadline:
    """The moment at which a method must have finished.

    Attributes
    ----------
    method : str
        Its name, for the error.
    max_seconds : float or None
        What the user gave; None sets no limit.
    end : float
        On the clock of `time.monotonic`.
    """

    method: str
    max_seconds: float | None
    end: float

    @classmethod
    def start(cls, method: str, max_seconds: float | None) -> Deadline:
        """Return the deadline of work that begins now."""
        seconds = check_max_seconds(max_seconds)
        return cls(method, seconds, float("inf") if seconds is None else time.monotonic() + seconds)

    def remaining(self) -> float | None:
        """Return the seconds left, at least 0, or None if there is no limit."""
        return None if self.max_seconds is None else max(0.0, self.end - time.monotonic())

    def error(self) -> TimeLimitError:
        """Return the error that ends the work."""
        return TimeLimitError(self.method, float(self.max_seconds or 0.0))

    def check(self) -> None:
        """Raise `TimeLimitError` when the time is over."""
        if time.monotonic() > self.end:
            raise self.error()

    def watch(self, progress: Callable[[float], None] | None) -> Callable[[float], None]:
        """Return `progress` (or nothing to show) with a check of the time before every report."""

        def report(share: float) -> None:
            self.check()
            if progress is not None:
                progress(share)

        return report


def check_max_seconds(value: Any) -> float | None:
    """Return a time limit in seconds, or None for none; raise `ParameterError` if it is no positive number."""
    return None if value is None else check_number("max_seconds", value, low=0.0, open_low=True)
