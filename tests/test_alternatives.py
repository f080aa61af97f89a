"""The benchmark against other packages: its measures and its tables."""

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


def fake(method, graph, **values):
    row = {
        "family": "text",
        "graph": graph,
        "n": "500",
        "seed": "30000",
        "method": method,
        "table": "t",
        "edges": "10",
    }
    row |= {
        "divergence": "",
        "shd": "",
        "skeleton_f1": "",
        "undirected": "0",
        "seconds": "",
        "warned": "0",
        "error": "",
    }
    return row | values


def fakes():
    """One seed of three methods on all four graphs: HOST, one without an order, one that fails on every table."""
    from families import GRAPHS

    good = {"skeleton_f1": "0.5", "seconds": "2"}
    rows = []
    for wrong, graph in enumerate(GRAPHS):
        rows.append(fake("HOST", graph, divergence="1", shd=str(1 + wrong % 2), warned="1", **good))
        rows.append(fake("GES", graph, shd="6", undirected="3", **good))
        rows.append(fake("NOTEARS", graph, error="more than 120 s"))
    return rows


def test_a_table_has_means_per_edge_and_counts_failures():
    from alternatives_page import table_of

    _, _, *lines = table_of(fakes(), "text", 500)
    assert lines == [
        "| HOST | heterodag | 4 | 0.10 | 0.15 | 0.00 | 0.50 | 2 | 1.00 | 0 |",
        "| GES | causal-learn | 4 |  | 0.60 | 0.30 | 0.50 | 2 |  | 0 |",
        "| NOTEARS | gcastle | 0 |  |  |  |  |  |  | 4 |",
    ]
    assert len(table_of(fakes()[:-3], "text", 500)) == 2  # a seed without all four graphs is not counted


def test_the_verdict_says_who_is_better():
    from alternatives_page import verdict

    assert verdict(fakes(), "text", 500) == "HOST wins; next is GES, behind by 0.45 ± 0.03 per true edge"
    swapped = [row | {"method": {"HOST": "GES", "GES": "HOST"}.get(row["method"], "NOTEARS")} for row in fakes()]
    assert verdict(swapped, "text", 500) == "HOST loses to GES by 0.45 ± 0.03 per true edge"
    assert verdict(fakes(), "code", 500) == "not compared yet"


def test_the_factor_is_a_bound_when_the_slow_one_was_stopped():
    from alternatives_page import factor

    slow, fast = {"seconds": "50", "limit": "600"}, {"seconds": "2", "limit": "600"}
    assert factor(slow, fast) == "25 times as long"
    assert factor(slow | {"seconds": ""}, fast) == "more than 300 times as long"
    assert factor(slow, slow) == factor(None, fast) == ""


def test_undirected_edges_count_as_right_where_the_pair_is_joined():
    from alternatives import measures, order_divergence

    truth = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    found = np.array([[0, 1, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0]])
    # 0 - 1 undirected and right, 2 -> 1 reversed, 0 - 3 undirected and wrong.
    assert measures(found, truth) == {"shd": 2, "skeleton_f1": "0.8000", "undirected": 2}
    assert measures(truth, truth)["shd"] == 0
    assert order_divergence([2, 0, 1, 3], truth) == 1


def test_endpoints_of_causal_learn():
    from alternatives import from_endpoints

    marks = np.zeros((4, 4), int)
    marks[1, 0], marks[0, 1] = 1, -1  # 0 -> 1
    marks[1, 2] = marks[2, 1] = -1  # 1 - 2
    marks[2, 3] = marks[3, 2] = 1  # 2 <-> 3
    assert np.argwhere(from_endpoints(marks)).tolist() == [[0, 1], [1, 2], [2, 1], [2, 3], [3, 2]]


@pytest.mark.parametrize("family", ["linear-gaussian", "linear-exponential", "nonlinear-gaussian"])
def test_tables_are_standardised_and_only_means_move(family):
    from families import sample

    X, truth = sample(family, "ER-1", 4000, 10, 7)
    assert np.allclose(X.mean(axis=0), 0)
    assert np.allclose(X.std(axis=0), 1)
    assert np.array_equal(truth, sample(family, "ER-1", 500, 10, 7)[1])
    roots = X[:, truth.sum(axis=0) == 0]
    # The skewness of an exponential sample is 2, that of a Gaussian one 0 up to 5 sqrt(6 / n).
    assert np.allclose((roots**3).mean(axis=0), 2.0 if family == "linear-exponential" else 0.0, atol=0.5)
    assert np.linalg.matrix_rank(X) == 10


def test_a_fit_that_takes_too_long_is_stopped():
    from alternatives import TooLongError, timed

    def forever(X):
        while True:
            pass

    with pytest.raises(TooLongError):
        timed(forever, np.zeros((2, 2)), 0.05)
