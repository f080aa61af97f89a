"""Benchmarks that compare methods: how graphs of other packages are read and measured, and the limit of time."""

from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"

pytestmark = pytest.mark.skipif(not BENCHMARKS.exists(), reason="needs a clone")


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(variable, "1")  # the script sets them: put back what was there


def test_undirected_edges_count_as_right_where_the_pair_is_joined():
    from packages import measures, order_divergence

    truth = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    found = np.array([[0, 1, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0]])
    # 0 - 1 undirected and right, 2 -> 1 reversed, 0 - 3 undirected and wrong.
    assert measures(found, truth) == {"shd": 2, "skeleton_f1": "0.8000", "undirected": 2}
    assert measures(truth, truth)["shd"] == 0
    assert order_divergence([2, 0, 1, 3], truth) == 1


def test_endpoints_of_causal_learn():
    from packages import from_endpoints

    marks = np.zeros((4, 4), int)
    marks[1, 0], marks[0, 1] = 1, -1  # 0 -> 1
    marks[1, 2] = marks[2, 1] = -1  # 1 - 2
    marks[2, 3] = marks[3, 2] = 1  # 2 <-> 3
    assert np.argwhere(from_endpoints(marks)).tolist() == [[0, 1], [1, 2], [2, 1], [2, 3], [3, 2]]


def test_a_fit_that_takes_too_long_is_stopped():
    from packages import TooLongError, timed

    def forever(X):
        while True:
            pass

    with pytest.raises(TooLongError):
        timed(forever, np.zeros((2, 2)), 0.05)
