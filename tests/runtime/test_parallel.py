"""Calls on any backend of joblib: also on those that cannot yield results one by one, as Ray's."""

import subprocess
import sys

import joblib
import numpy as np
import pytest
from joblib import delayed

from heterodag import HOST, bootstrap, simulate
from heterodag.runtime import parallel
from heterodag.runtime.parallel import as_finished


def square(x):
    return x * x


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_results_come_in_order_on_every_backend(backend, n_jobs, monkeypatch):
    monkeypatch.setattr(parallel, "_AT_ONCE", 2)
    calls = [delayed(square)(k) for k in range(11)]
    with joblib.parallel_config(backend=backend):
        assert list(as_finished(calls, n_jobs)) == [k * k for k in range(11)]
        assert sorted(as_finished(calls, n_jobs, ordered=False)) == [k * k for k in range(11)]
        assert list(as_finished([], n_jobs)) == []


def test_lists_come_one_after_the_other(monkeypatch):
    """A store keeps what is finished: a version that runs all calls before the first result would do 9 here."""
    monkeypatch.setattr(parallel, "_AT_ONCE", 1)
    done = []
    with joblib.parallel_config(backend="multiprocessing"):
        results = as_finished([delayed(done.append)(k) for k in range(9)], 1)
        next(results)
    assert done == [0]


@pytest.mark.slow
def test_ray_runs_fits_and_resamples():
    ray = pytest.importorskip("ray")
    from ray.util.joblib import register_ray

    register_ray()
    table = simulate(300, 4, random_state=1).to_frame()
    alone = HOST(n_jobs=1).fit(table), bootstrap(HOST(), table, 4, random_state=0, n_jobs=1)
    ray.init(num_cpus=2, log_to_driver=False)
    try:
        with joblib.parallel_config(backend="ray"):
            together = HOST(n_jobs=-1).fit(table), bootstrap(HOST(), table, 4, random_state=0, n_jobs=-1)
    finally:
        ray.shutdown()
    np.testing.assert_array_equal(together[0].nats_, alone[0].nats_)
    np.testing.assert_array_equal(together[1].adjacencies, alone[1].adjacencies)


def test_ctrl_c_is_not_sent_to_workers():
    """A terminal sends SIGINT to all processes; each worker would print a traceback. In a process without workers yet."""
    program = (
        "import os, signal, time\n"
        "from joblib import delayed\n"
        "from heterodag.runtime.parallel import as_finished\n"
        "def ask():\n"
        "    time.sleep(0.3)\n"
        "    return os.getpid(), signal.pthread_sigmask(signal.SIG_BLOCK, [])\n"
        "workers, masks = zip(*as_finished([delayed(ask)()] * 6, 2))\n"
        "print(len(set(workers)), set.intersection(*masks), ask()[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "2 {<Signals.SIGINT: 2>} set()\n"
