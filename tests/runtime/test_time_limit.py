"""Time limits: what is refused, when the error comes, what it says."""

import pickle
import time

import pytest

from heterodag import CAM, HeterodagError, TimeLimitError
from heterodag.errors import check_max_seconds
from heterodag.runtime.work import OutOfTime, Work


def test_after_the_end_every_tick_raises_and_the_method_is_named():
    seen = []

    def run():
        with Work(1, 0.01, seen.append, "CAM") as work:
            work.tick(0.25)
            time.sleep(0.02)
            work.tick(0.5)

    with pytest.raises(TimeLimitError, match=r"CAM did not finish within max_seconds = 0\.01: raise the limit"):
        run()
    assert seen == [0.25]


def test_without_a_method_the_end_is_the_callers_affair():
    with pytest.raises(OutOfTime), Work(1, 1e-9) as work:
        work.check()


def test_other_errors_pass_through():
    with pytest.raises(KeyError), Work(1, 1e-9, None, "CAM"):
        raise KeyError


@pytest.mark.parametrize("value", [0, -1, "x", float("nan"), True])
def test_bad_limits_are_refused(value):
    with pytest.raises(HeterodagError, match="`max_seconds` must be a number in"):
        check_max_seconds(value)
    with pytest.raises(HeterodagError, match="`max_seconds` must be a number in"):
        CAM(max_seconds=value).fit([[0.0, 1.0], [1.0, 0.0]])


def test_the_error_crosses_process_borders():
    error = pickle.loads(pickle.dumps(TimeLimitError("CAM", 2.5)))
    assert str(error) == str(TimeLimitError("CAM", 2.5))
