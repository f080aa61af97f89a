"""Time limits: what is refused, when the error comes, what it says."""

import pickle
import time

import pytest

from heterodag import HeterodagError, TimeLimitError
from heterodag.runtime.deadline import Deadline


def test_no_limit_never_ends():
    deadline = Deadline.start("X", None)
    deadline.check()
    assert deadline.remaining() is None


def test_after_the_end_every_report_raises():
    deadline, seen = Deadline.start("CAM", 0.01), []
    report = deadline.watch(seen.append)
    report(0.25)
    time.sleep(0.02)
    with pytest.raises(TimeLimitError, match=r"CAM did not finish within max_seconds = 0\.01: raise the limit"):
        report(0.5)
    assert seen == [0.25]
    assert deadline.remaining() == 0.0


def test_remaining_counts_down():
    deadline = Deadline.start("X", 100)
    assert 90 < deadline.remaining() <= 100


@pytest.mark.parametrize("value", [0, -1, "x", float("nan"), True])
def test_bad_limits_are_refused(value):
    with pytest.raises(HeterodagError, match="`max_seconds` must be a number in"):
        Deadline.start("X", value)


def test_the_error_crosses_process_borders():
    error = pickle.loads(pickle.dumps(TimeLimitError("CAM", 2.5)))
    assert str(error) == str(TimeLimitError("CAM", 2.5))
