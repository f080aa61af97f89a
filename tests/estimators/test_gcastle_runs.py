"""gcastle in a process of its own: quiet, seeded, ended in time, nothing disturbed; acyclic as in GOLEM's paper."""

import importlib.util
import logging
import random
import time

import numpy as np
import pytest

from heterodag import GOLEM, GraNDAG, HeterodagError, TimeLimitError
from heterodag.core.graph import is_dag
from heterodag.estimators import gcastle_runs, golem
from heterodag.estimators.gcastle_runs import run_gcastle, threshold_to_dag

needs_gcastle = pytest.mark.skipif(
    importlib.util.find_spec("castle") is None or importlib.util.find_spec("torch") is None, reason="needs gcastle"
)


def test_small_weights_go_then_the_smallest_of_cycles():
    weights = np.array([[9.0, 0.5, 0.2], [0.4, 0.0, 0.9], [0.35, 0.0, 0.0]])
    # 0 -> 1 -> 0 and 0 -> 1 -> 2 -> 0: 0.35 goes, then 0.4.
    assert threshold_to_dag(weights, 0.3).astype(int).tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert threshold_to_dag(weights, 0.8).sum() == 1
    for seed in range(20):
        assert is_dag(threshold_to_dag(np.random.default_rng(seed).standard_normal((6, 6)), 0.1))


def worker(monkeypatch, tmp_path, text):
    path = tmp_path / "worker.py"
    path.write_text(text)
    monkeypatch.setattr(gcastle_runs, "WORKER", path)


def test_what_a_report_raises_ends_the_process(monkeypatch, tmp_path):
    sign = tmp_path / "survived"
    worker(monkeypatch, tmp_path, f"import time, pathlib\ntime.sleep(0.5)\npathlib.Path({str(sign)!r}).touch()")

    def report(share):
        raise TimeLimitError("X", 1)

    with pytest.raises(TimeLimitError):
        run_gcastle("golem", np.zeros((3, 2)), 0, {}, report, verbose=False)
    time.sleep(1.0)
    assert not sign.exists()


def test_a_failure_is_one_sentence(monkeypatch, tmp_path):
    worker(monkeypatch, tmp_path, "raise RuntimeError('out of luck')")
    with pytest.raises(HeterodagError, match="gcastle could not run golem: RuntimeError: out of luck") as caught:
        run_gcastle("golem", np.zeros((3, 2)), 0, {}, lambda share: None, verbose=False)
    assert "\n" not in str(caught.value)


def test_a_large_table_arrives_whole_however_late_the_process_reads_it(monkeypatch, tmp_path):
    text = "import pickle, sys, time\ntime.sleep(0.5)\nX = pickle.load(sys.stdin.buffer)['X']\n"
    worker(monkeypatch, tmp_path, text + "import numpy as np\nnp.save(sys.stdout.buffer, X.T @ X)")
    X = np.random.default_rng(0).standard_normal((50_000, 4))
    calls = []
    assert np.allclose(run_gcastle("grandag", X, 0, {}, calls.append, verbose=False), X.T @ X)
    assert calls


@needs_gcastle
@pytest.mark.slow
def test_grandag_finds_a_curved_chain_quietly_by_its_seed_and_disturbs_nothing(curved_chain, capfd):
    states = random.getstate(), np.random.get_state()[1].copy(), logging.root.level, list(logging.root.handlers)  # noqa: NPY002
    long, one, two = (
        GraNDAG(max_steps=steps, learning_rate=0.004, random_state=0).fit(curved_chain) for steps in (600, 60, 60)
    )
    assert long.adjacency_.tolist() == [[0, 0, 0], [0, 0, 1], [1, 0, 0]]
    assert np.array_equal(one.unpruned_, two.unpruned_)
    assert np.array_equal(one.pvalues_, two.pvalues_, equal_nan=True)
    assert random.getstate() == states[0]
    assert np.array_equal(np.random.get_state()[1], states[1])  # noqa: NPY002
    assert (logging.root.level, list(logging.root.handlers)) == states[2:]
    assert capfd.readouterr() == ("", "")


def test_the_triangular_factor_stands_for_the_table():
    """GOLEM's likelihoods see the table through these sums of squares alone."""
    rng = np.random.default_rng(0)
    X, B = rng.standard_normal((80, 3)), rng.standard_normal((3, 3))
    R = np.linalg.qr(X, mode="r")
    assert np.allclose(np.sum((X - X @ B) ** 2, axis=0), np.sum((R - R @ B) ** 2, axis=0))


def test_golem_gives_gcastle_the_factor_and_its_options(monkeypatch):
    seen = {}

    def run(method, X, seed, options, report, verbose):
        seen.update(X=X, options=options)
        return np.array([[0.0, 0.5], [0.0, 0.0]])

    monkeypatch.setattr(golem, "run_gcastle", run)
    monkeypatch.setattr(golem, "require_gcastle", lambda feature: None)
    X = np.random.default_rng(0).standard_normal((50, 2)) + 7
    model = GOLEM(equal_variances=False, max_steps=9).fit(X)
    centred = X - X.mean(axis=0)
    assert np.allclose(seen["X"].T @ seen["X"], centred.T @ centred)
    assert seen["options"]["max_steps"] == 9
    assert seen["options"]["equal_variances"] is False
    assert model.adjacency_.tolist() == [[0, 1], [0, 0]]
    assert model.order_.tolist() == [0, 1]
