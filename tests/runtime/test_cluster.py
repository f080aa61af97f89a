"""A fit on a real Dask cluster: the same answer, also when a worker is killed in the middle."""

import os
import signal
import threading
import time
import warnings

import joblib
import numpy as np
import pytest

from heterodag import HOST, open_table, simulate
from heterodag.estimators import host as host_module
from heterodag.runtime.cluster import find_client
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
