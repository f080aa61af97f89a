"""A cluster of several worker processes, one of them killed in the middle: nothing lost, nothing counted twice."""

import os
import signal
from importlib.util import find_spec

import pytest
from experiment_helpers import data_set, without_times

from heterodag.experiments.cells import Cell
from heterodag.experiments.display import Progress
from heterodag.experiments.run_cell import CellTask
from heterodag.experiments.runner import RunSettings, run_tasks
from heterodag.experiments.store import RowStore


def test_a_cluster_gives_the_rows_of_a_serial_run_also_when_a_worker_is_killed(tmp_path):
    distributed = pytest.importorskip("distributed")
    names = ("VarSort", "NPVar", "HOST-paper" if find_spec("torch") else "EqVar")
    tasks = [CellTask(Cell(data_set(repeat=k), name, ("gam-classical",))) for k in range(8) for name in names]
    serial = run_tasks(tasks, RowStore(tmp_path / "serial"), RunSettings(n_jobs=1))
    killed = []
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        workers = [nanny.pid for nanny in cluster.workers.values()]
        assert len(set(workers)) == 2
        assert os.getpid() not in workers

        def kill_one(task, row):
            if not killed:
                killed.append(workers[0])
                os.kill(workers[0], signal.SIGKILL)

        settings = RunSettings(backend="dask", scheduler=cluster.scheduler_address)
        store = RowStore(tmp_path / "cluster")
        run_tasks(tasks, store, settings, progress=Progress(finished=kill_one))
    assert killed
    lines = store.path.read_text().splitlines()
    assert len(lines) == len(tasks) == 24
    assert without_times(RowStore(tmp_path / "cluster").rows()) == without_times(serial)
    assert {row["status"] for row in serial} == {"done"}
