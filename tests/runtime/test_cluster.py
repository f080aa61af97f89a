"""A fit on a real Dask cluster: the same answer, also when a worker is killed in the middle."""

import os
import signal
import threading
import time
import warnings

import joblib
import numpy as np
import pytest

from heterodag import HOST, HeterodagError, open_table, simulate
from heterodag._version import __version__
from heterodag.core.blocks import Blocks
from heterodag.core.parts import array_parts
from heterodag.estimators import host as host_module
from heterodag.runtime.cluster import Cluster, check_installed, find_client
from heterodag.runtime.work import Work
from heterodag.scores import long as long_scores

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as own,
    ):
        yield own


def double(value):
    return 2 * value


def test_a_client_in_scope_is_found_unless_workers_are_asked_for(client):
    assert find_client(None) is client
    assert find_client(2) is None
    with Work() as work:
        assert work.workers == 2
        assert work.map(double, [(k,) for k in range(5)]) == [0, 2, 4, 6, 8]
    with joblib.parallel_config(backend="dask"):
        assert find_client(2) is not None


def test_a_worker_that_is_killed_costs_time_and_not_the_result(client, tmp_path, monkeypatch):
    for module in (long_scores, host_module):
        monkeypatch.setattr(module, "CHOSEN_ON", 5000)
    data = simulate(40_000, 6, degree=1, mechanism="straight", spread="straight", random_state=3)
    data.to_frame().to_parquet(tmp_path / "table.parquet", row_group_size=4000)
    table = open_table(tmp_path / "table.parquet", rows_per_part=4000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = HOST(n_jobs=1).fit(table)
        first = next(iter(client.run(os.getpid).values()))
        threading.Thread(target=lambda: (time.sleep(1.0), os.kill(first, signal.SIGKILL))).start()
        together = HOST().fit(table)
    assert first not in client.run(os.getpid).values()
    np.testing.assert_array_equal(together.adjacency_, alone.adjacency_)
    np.testing.assert_array_equal(together.nats_, alone.nats_)


class Asked:
    """A client whose workers and scheduler answer as told."""

    def __init__(self, worker, scheduler):
        self.worker, self.scheduler = worker, scheduler

    def run(self, function, name, on_error):
        assert on_error == "return"
        return {"tcp://10.0.0.2:40000": self.worker}

    def run_on_scheduler(self, function, name):
        if isinstance(self.scheduler, Exception):
            raise self.scheduler
        return self.scheduler


@pytest.mark.parametrize(
    ("worker", "scheduler", "said"),
    [
        (
            ModuleNotFoundError("heterodag"),
            __version__,
            "but tcp://10.0.0.2:40000 does not have it: install it there",
        ),
        ("0.0.1", __version__, "but tcp://10.0.0.2:40000 has 0.0.1: install it there"),
        (__version__, ModuleNotFoundError("heterodag"), "but the scheduler does not have it: install it there"),
    ],
)
def test_machines_without_this_version_are_named(worker, scheduler, said):
    with pytest.raises(HeterodagError, match=said):
        check_installed(Asked(worker, scheduler))


def test_a_worker_that_is_just_lost_is_no_reason_to_stop(client):
    check_installed(Asked(OSError("lost"), __version__))
    check_installed(client)


def test_rows_in_memory_are_sent_once_and_only_those_of_the_job(client):
    X = np.arange(200_000.0).reshape(-1, 4)
    groups = [Blocks((part,), len(X), np.zeros(4), np.ones(4)) for part in array_parts(X, 12_500)]
    assert [blocks.held_bytes for blocks in groups] == [X.nbytes // 4] * 4
    cluster = Cluster(client)
    once = [cluster._argument(blocks) for blocks in groups]
    assert all(isinstance(sent, distributed.Future) for sent in once)
    assert [cluster._argument(blocks) for blocks in groups] == once
    small = Blocks(tuple(array_parts(X[:10], 5)), 10, np.zeros(4), np.ones(4))
    assert cluster._argument(small) is small


def test_a_file_that_workers_cannot_see_is_named(client, tmp_path):
    simulate(60_000, 3, random_state=0).to_frame().to_parquet(tmp_path / "table.parquet", row_group_size=10_000)
    table = open_table(tmp_path / "table.parquet", rows_per_part=10_000)
    (tmp_path / "table.parquet").unlink()
    with pytest.raises(HeterodagError, match=r"table\.parquet' could be opened but not be read"):
        HOST().fit(table)
