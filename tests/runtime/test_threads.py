"""One thread while matrices are multiplied, here and in workers, and what was before afterwards."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from heterodag.runtime.threads import on_one_thread, single_threaded
from heterodag.runtime.work import Work


def threads(*_):
    """Return how many threads each library of this process uses, at most."""
    assert np.ones((2, 2)).sum() == 4.0
    return max(library["num_threads"] for library in threadpool_info())


def test_one_thread_inside_and_what_was_before_afterwards():
    with threadpool_limits(limits=3):
        with single_threaded():
            assert threads() == 1
            with single_threaded():
                assert threads() == 1
            assert threads() == 1
        assert threads() == 3
        assert on_one_thread(threads) == 1
        assert threads() == 3
        with pytest.raises(ValueError, match="own"), single_threaded():
            raise ValueError("its own")
        assert threads() == 3


@pytest.mark.parametrize("workers", [1, 2])
def test_jobs_have_one_thread_whoever_runs_them(workers):
    """Workers have as many threads as there are processors for each, unless they are told."""
    with threadpool_limits(limits=3), Work(n_jobs=workers) as work:
        assert work.map(threads, [(i,) for i in range(4)]) == [1] * 4
        assert threads() == 3
