"""How one fit runs: jobs in order whatever the workers, the clock between jobs, progress that never goes back."""

from __future__ import annotations

import os
import pickle
import time

import numpy as np
import pytest

from heterodag import HOST, open_table, simulate
from heterodag.estimators import host as host_module
from heterodag.runtime import work as work_module
from heterodag.runtime.work import OutOfTime, Work
from heterodag.scores import long as long_scores


def square(x):
    return x * x


def process_and(x):
    return os.getpid(), x


def test_jobs_come_back_in_their_order():
    jobs = [(i,) for i in range(20)]
    assert Work().map(square, jobs) == [i * i for i in range(20)]
    assert Work().map(square, []) == []


def test_two_workers_share_the_jobs_and_return_the_same():
    with Work(n_jobs=2) as work:
        assert work.workers == 2
        found = work.map(process_and, [(i,) for i in range(12)])
        again = work.map(process_and, [(i,) for i in range(12)])
        (alone,) = work.map(process_and, [(1,)])  # fewer jobs than workers: not worth the way
    assert [x for _, x in found] == [x for _, x in again] == list(range(12))
    before, after = ({process for process, _ in some} for some in (found, again))
    assert os.getpid() not in before | after
    assert len(before | after) <= 2  # the pool is kept
    assert alone == (os.getpid(), 1)


def test_workers_with_a_time_limit_do_all_jobs_too(monkeypatch):
    monkeypatch.setattr(work_module, "_BETWEEN_CHECKS", 2)
    with Work(n_jobs=2, max_seconds=100) as work:
        assert work.map(square, [(i,) for i in range(11)]) == [i * i for i in range(11)]


def test_it_stays_in_its_process():
    with pytest.raises(TypeError, match="stays in the process"):
        pickle.dumps(Work())


def test_time_is_looked_at_between_jobs():
    done = []

    def job(i):
        done.append(i)
        time.sleep(0.15)

    work = Work(max_seconds=0.25)
    assert not work.over
    with pytest.raises(OutOfTime):
        work.map(job, [(i,) for i in range(100)])
    assert 1 <= len(done) <= 3
    assert work.over
    with pytest.raises(OutOfTime):
        work.check()


def test_time_is_looked_at_between_batches_of_workers():
    with Work(n_jobs=2, max_seconds=0.5) as work:
        work.map(square, [(1,), (2,)])  # the workers are there
        before = time.monotonic()
        with pytest.raises(OutOfTime):
            work.map(time.sleep, [(0.1,)] * 200)
        # All jobs would take ten seconds; a batch of eight takes half of one.
        assert time.monotonic() - before < 5.0


def test_no_limit_never_ends():
    work = Work()
    work.check()
    assert not work.over


def test_grace_lets_the_last_words_be_said():
    work = Work(max_seconds=0.0)
    time.sleep(0.001)
    with pytest.raises(OutOfTime):
        work.map(square, [(1,)])
    with work.grace():
        assert not work.over
        assert work.map(square, [(3,)]) == [9]
        work.tick(1.0)
    with pytest.raises(OutOfTime):
        work.check()
    with pytest.raises(ValueError, match="own"), work.grace():
        raise ValueError("its own")
    assert work.over


def test_progress_never_goes_back_and_reaches_the_end_only_when_told():
    said = []
    work = Work(progress=said.append)
    with work.part(0.0, 0.6):
        for share in (0.0, 0.5, 0.2, 1.0, 7.0):
            work.report(share)
    assert said == pytest.approx([0.0, 0.3, 0.3, 0.6, 0.6])
    with work.part(0.6, 0.9):
        for share in (-1.0, 0.5, 1.0):
            work.tick(share)
    with work.part(0.1, 0.2):  # a part that has been passed already
        work.report(1.0)
    assert said[5:] == pytest.approx([0.6, 0.75, 0.9, 0.9])
    assert max(said) < 1.0
    work.report(1.0)
    assert said[-1] == 1.0


def test_parts_are_nested_and_end_with_their_block():
    said = []
    work = Work(progress=said.append)
    with work.part(0.0, 0.5):
        with work.part(0.2, 0.6):
            for share in (0.0, 0.5, 1.0):
                work.report(share)
        work.report(1.0)
    with pytest.raises(OutOfTime), work.part(0.5, 0.7):
        raise OutOfTime
    work.report(1.0)
    assert said == pytest.approx([0.1, 0.2, 0.3, 0.5, 1.0])


def test_a_tick_after_the_end_says_nothing():
    said = []
    work = Work(max_seconds=0.0, progress=said.append)
    time.sleep(0.001)
    with pytest.raises(OutOfTime):
        work.tick(0.5)
    assert said == []
    work.report(0.5)
    assert said == [0.5]


def read_only(value):
    """Return a copy whose arrays cannot be written to, as Ray hands them over."""
    buffers = []
    text = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return pickle.loads(text, buffers=[bytes(buffer.raw()) for buffer in buffers])


@pytest.mark.filterwarnings("ignore")
def test_a_fit_writes_neither_into_what_workers_get_nor_into_what_they_return(monkeypatch):
    for module in (long_scores, host_module):
        monkeypatch.setattr(module, "CHOSEN_ON", 1000)
    data = simulate(3000, 4, degree=1, mechanism="straight", spread="straight", random_state=3).to_frame()
    tables = [data[:500], open_table(data, rows_per_part=500)]
    alone, run = [HOST().fit(table) for table in tables], work_module.on_one_thread
    monkeypatch.setattr(
        work_module, "on_one_thread", lambda function, *job: read_only(run(function, *read_only(job)))
    )
    for table, model in zip(tables, alone, strict=True):
        np.testing.assert_array_equal(HOST().fit(table).nats_, model.nats_)
    with pytest.raises(ValueError, match="read-only"):
        read_only(np.zeros(3))[0] = 1.0
