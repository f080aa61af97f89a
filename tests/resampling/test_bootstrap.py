"""The bootstrap: the same for any number of workers, resumable, interruptible, and right where the answer is known."""

import json
import os
import signal
import subprocess
import sys
import time

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator

from heterodag import (
    CAM,
    HOST,
    DataError,
    DataWarning,
    EqVar,
    HeterodagError,
    ParameterError,
    TimeLimitError,
    bootstrap,
    simulate,
)
from heterodag._version import __version__
from heterodag.core.graph import is_dag

#: The quickest models: most of these tests are about resamples.
FAST = {"selection": "partial-correlation", "parametrization": "linear", "form": "natural", "noise": "gaussian"}


@pytest.fixture(scope="module")
def data():
    return simulate(200, 4, degree=1, random_state=5)


@pytest.fixture(scope="module")
def result(data):
    return bootstrap(HOST(**FAST), data.to_frame(), 12, random_state=3)


FITS = []


class Fake(BaseEstimator):
    """An estimator whose graph is 0 -> 1 in resamples with a positive mean, and 1 -> 0 otherwise; counts in FITS."""

    def __init__(self, stop_at=None, random_state=None):
        self.stop_at = stop_at
        self.random_state = random_state

    def fit(self, X):
        FITS.append(self)
        if self.stop_at is not None and len(FITS) > self.stop_at:
            raise KeyboardInterrupt
        forward = np.asarray(X)[:, 0].mean() > 0
        self.adjacency_ = np.array([[0, int(forward)], [int(not forward), 0]])
        self.order_ = np.array([0, 1] if forward else [1, 0])
        return self


@pytest.fixture
def table():
    FITS.clear()
    return np.random.default_rng(0).standard_normal((40, 2))


def test_frequencies_are_those_of_the_resamples(table):
    found = bootstrap(Fake(), table, 60, random_state=0)
    share = np.mean(found.adjacencies[:, 0, 1])
    assert 0 < share < 1
    assert found.directed[0, 1] == share == found.before[0, 1]
    assert found.directed[1, 0] == pytest.approx(1 - share)
    assert found.adjacent.tolist() == [[0, 1], [1, 0]]
    assert found.order_stability() == pytest.approx(abs(2 * share - 1))
    # The mean of 40 draws with replacement is above zero about as often as the normal distribution says.
    z = table[:, 0].mean() / (table[:, 0].std() / np.sqrt(40))
    from scipy.stats import norm

    assert abs(share - norm.cdf(z)) < 4 * 0.5 / np.sqrt(60)


def test_the_result_does_not_depend_on_the_workers(data, result):
    for n_jobs, backend in ((2, "loky"), (2, "threading")):
        with joblib.parallel_config(backend=backend):
            other = bootstrap(HOST(**FAST), data.to_frame(), 12, random_state=3, n_jobs=n_jobs)
        assert np.array_equal(other.adjacencies, result.adjacencies)
        assert np.array_equal(other.orders, result.orders)


def test_more_resamples_keep_the_first_and_seeds_differ(data, result):
    fewer = bootstrap(HOST(**FAST), data.to_frame(), 5, random_state=3)
    assert np.array_equal(fewer.orders, result.orders[:5])
    other = bootstrap(HOST(**FAST), data.to_frame(), 5, random_state=4)
    assert not np.array_equal(fewer.adjacencies, other.adjacencies) or not np.array_equal(fewer.orders, other.orders)


def test_the_default_host_is_resampled_too(data):
    """It refines its order and chooses parents step by step, in workers that start workers of their own."""
    known = {"required": [("x3", "x0")]}
    one, two = (bootstrap(HOST(prior_knowledge=known), data.to_frame(), 3, random_state=1, n_jobs=n) for n in (1, 2))
    assert np.array_equal(one.adjacencies, two.adjacencies)
    assert np.array_equal(one.orders, two.orders)
    assert one.directed[3, 0] == 1.0


def test_knowledge_that_contradicts_itself_makes_no_store(data, tmp_path):
    known = {"required": [("x0", "x1"), ("x1", "x0")]}
    with pytest.raises(ParameterError, match="x0 -> x1 -> x0"):
        bootstrap(CAM(prior_knowledge=known), data.to_frame(), 2, store=tmp_path / "runs.jsonl")
    assert not (tmp_path / "runs.jsonl").exists()


def test_a_store_goes_on_with_a_longer_time_limit(data, tmp_path):
    store = tmp_path / "runs.jsonl"
    with pytest.raises(TimeLimitError):
        bootstrap(EqVar(max_seconds=1e-9, selection=FAST["selection"]), data.X, 2, random_state=0, store=store)
    assert (
        bootstrap(
            EqVar(max_seconds=600, selection=FAST["selection"]), data.X, 2, random_state=0, store=store
        ).n_resamples
        == 2
    )


def test_halves_have_no_row_twice(table):
    class Rows(Fake):
        def fit(self, X):
            assert len(np.unique(X, axis=0)) == len(X) == 20
            return super().fit(X)

    assert bootstrap(Rows(), table, 5, resample="half", random_state=0).n_resamples == 5


def test_a_store_is_continued_and_gives_the_same(data, result, tmp_path):
    store = tmp_path / "runs.jsonl"
    bootstrap(HOST(**FAST), data.to_frame(), 5, random_state=3, store=store)
    lines = store.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 6
    # A run killed while writing leaves half a line.
    store.write_text("\n".join(lines[:4]) + '\n{"resample": 3, "ord', encoding="utf-8")
    continued = bootstrap(HOST(**FAST), data.to_frame(), 12, random_state=3, store=store, n_jobs=2)
    assert np.array_equal(continued.adjacencies, result.adjacencies)
    kept = [json.loads(line) for line in store.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
    assert sorted(row["resample"] for row in kept[1:]) == list(range(12))
    before = store.read_bytes()
    bootstrap(HOST(**FAST), data.to_frame(), 12, random_state=3, store=store)
    assert store.read_bytes() == before


def test_a_store_without_a_seed_keeps_its_own(table, tmp_path):
    store = tmp_path / "runs.jsonl"
    first = bootstrap(Fake(), table, 4, store=store)
    again = bootstrap(Fake(), table, 8, store=store)
    assert np.array_equal(again.adjacencies[:4], first.adjacencies)
    assert again.n_resamples == 8


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": HOST(alpha=0.01, **FAST)}, "of another model"),
        ({"scale": 2.0}, "of other data"),
        ({"resample": "half"}, "of another way of resampling"),
        ({"random_state": 1}, "of another random_state"),
    ],
)
def test_a_store_of_something_else_is_refused(data, tmp_path, change, said):
    store = tmp_path / "runs.jsonl"
    frame = data.to_frame()
    bootstrap(HOST(**FAST), frame, 1, random_state=0, store=store)
    before = store.read_bytes()
    call = {"random_state": 0, "store": store} | {k: v for k, v in change.items() if k not in ("model", "scale")}
    with pytest.raises(HeterodagError) as caught:
        bootstrap(change.get("model", HOST(**FAST)), frame * change.get("scale", 1.0), 1, **call)
    assert said in str(caught.value)
    assert "runs.jsonl" in str(caught.value)
    assert store.read_bytes() == before


def test_two_lambdas_are_two_models(table, tmp_path):
    store = tmp_path / "runs.jsonl"
    bootstrap(Fake(stop_at=None), table, 1, random_state=0, store=store)
    for model in (HOST(normality=lambda x: 1.0), HOST(normality=lambda x: 2.0)):
        with pytest.raises(HeterodagError, match="of another model"):
            bootstrap(model, table, 1, random_state=0, store=store)
    other = tmp_path / "lambdas.jsonl"
    bootstrap(EqVar(selection=lambda x, y, Z: 0.0), table, 1, random_state=0, store=other)
    with pytest.raises(HeterodagError, match="of another model"):
        bootstrap(EqVar(selection=lambda x, y, Z: 1.0), table, 1, random_state=0, store=other)
    assert bootstrap(EqVar(selection=lambda x, y, Z: 0.0), table, 2, random_state=0, store=other).n_resamples == 2


def test_two_classes_of_one_name_are_two_models(table, tmp_path):
    def made(level):
        class Mine(Fake):
            def fit(self, X):
                return super().fit(X + level)

        return Mine()

    store = tmp_path / "runs.jsonl"
    first = bootstrap(made(1), table, 2, random_state=0, store=store)
    assert np.array_equal(bootstrap(made(1), table, 2, random_state=0, store=store).orders, first.orders)
    with pytest.raises(HeterodagError, match="of another model"):
        bootstrap(made(2), table, 2, random_state=0, store=store)


@pytest.mark.parametrize(("version", "said"), [("0.0.9", "0.0.9, not"), (None, "(version unknown), not")])
def test_a_store_of_another_version_is_refused(table, tmp_path, version, said):
    store = tmp_path / "runs.jsonl"
    bootstrap(Fake(), table, 1, random_state=0, store=store)
    header, *rest = store.read_text(encoding="utf-8").splitlines()
    changed = {key: value for key, value in json.loads(header).items() if key != "heterodag"}
    changed |= {} if version is None else {"heterodag": version}
    store.write_text("\n".join([json.dumps(changed), *rest, ""]), encoding="utf-8")
    before = store.read_bytes()
    with pytest.raises(HeterodagError) as caught:
        bootstrap(Fake(), table, 2, random_state=0, store=store)
    assert f"holds resamples of heterodag {said} {__version__}; choose another file or delete it." in str(
        caught.value
    )
    assert store.read_bytes() == before


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_one_call_draws_one_seed_from_a_generator(table, tmp_path, n_jobs):
    given, expected = np.random.default_rng(8), np.random.default_rng(8)
    own = np.random.default_rng(9)
    with joblib.parallel_config(backend="threading"):
        bootstrap(
            Fake(random_state=own), table, 5, random_state=given, n_jobs=n_jobs, store=tmp_path / f"{n_jobs}.jsonl"
        )
    expected.integers(2**63)
    assert given.bit_generator.state == expected.bit_generator.state
    # The model's own generator is not used: its resamples get seeds of the bootstrap.
    assert own.bit_generator.state == np.random.default_rng(9).bit_generator.state


def test_a_file_that_is_no_store_is_left_alone(table, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("my notes\n", encoding="utf-8")
    for random_state in (0, None):
        with pytest.raises(HeterodagError, match="is not a store"):
            bootstrap(Fake(), table, 2, random_state=random_state, store=path)
    assert path.read_text(encoding="utf-8") == "my notes\n"
    with pytest.raises(HeterodagError, match="cannot be written"):
        bootstrap(Fake(), table, 2, store=tmp_path / "no" / "folder.jsonl")


def test_an_interrupt_gives_what_is_finished(table, tmp_path):
    whole = bootstrap(Fake(), table, 10, random_state=0)
    FITS.clear()
    with pytest.warns(DataWarning, match="Interrupted after 4 of 10 resamples"):
        part = bootstrap(Fake(stop_at=4), table, 10, random_state=0, store=tmp_path / "runs.jsonl")
    assert np.array_equal(part.adjacencies, whole.adjacencies[:4])
    FITS.clear()
    with pytest.raises(KeyboardInterrupt):
        bootstrap(Fake(stop_at=0), table, 10, random_state=0)


SCRIPT = """
import sys, time, warnings
import numpy as np
from heterodag import HOST, bootstrap, simulate

if __name__ == "__main__":
    data = simulate(300, 6, degree=1, random_state=0)
    print("ready", flush=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = bootstrap(HOST(selection="partial-correlation"), data.X, 100_000, random_state=0, n_jobs=2, store="s.jsonl")
    print("finished", result.n_resamples, [str(w.message) for w in caught if "Interrupted" in str(w.message)])
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c_with_two_workers(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    running = subprocess.Popen(
        [sys.executable, "script.py"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    store, deadline = tmp_path / "s.jsonl", time.monotonic() + 60
    while time.monotonic() < deadline and not (store.exists() and store.read_text(encoding="utf-8").count("\n") > 3):
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    try:
        out, err = running.communicate(timeout=60)
    finally:
        running.kill()  # it has work for hours if it does not hear
    assert running.returncode == 0, err
    assert "finished" in out
    assert "Interrupted after" in out


def test_resamples_that_cannot_be_used_are_counted(table):
    class Picky(Fake):
        def fit(self, X):
            if np.asarray(X)[:, 0].mean() < 0:
                raise DataError("Column 'x0' is constant.")
            return super().fit(X)

    with pytest.warns(DataWarning, match=r"of 20 resamples could not be used; the first failed with: Column 'x0'"):
        found = bootstrap(Picky(), table, 20, random_state=0)
    assert 0 < found.n_resamples < 20
    assert found.directed[0, 1] == 1.0

    class Never(Fake):
        def fit(self, X):
            raise DataError("Never.")

    with pytest.raises(DataError, match="No resample could be used"):
        bootstrap(Never(), table, 3, random_state=0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"model": "HOST"}, "`model` must be an estimator"),
        ({"model": HOST}, "`model` must be an estimator"),
        ({"n_resamples": 0}, "`n_resamples`"),
        ({"resample": "jackknife"}, "`resample` must be one of 'rows', 'half'"),
        ({"random_state": -1}, "`random_state`"),
    ],
)
def test_wrong_arguments_get_one_sentence(table, arguments, said):
    call = {"model": Fake(), "n_resamples": 2} | arguments
    with pytest.raises(ParameterError) as caught:
        bootstrap(call.pop("model"), table, call.pop("n_resamples"), **call)
    assert said in str(caught.value)


def test_the_result_has_a_consensus_and_a_frame(result):
    assert is_dag(result.consensus(0.0))
    frame = result.frame()
    assert len(frame) == 12
    assert frame["directed"].is_monotonic_decreasing
    assert result.names == ["x0", "x1", "x2", "x3"]
