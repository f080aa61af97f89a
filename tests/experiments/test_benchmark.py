"""A user's own benchmark: own classes and tables beside ours, rows that are kept, mistakes in one sentence."""

import warnings

import numpy as np
import pandas as pd
import pytest
from experiment_helpers import Failing, Reversed

from heterodag import simulate
from heterodag._version import __version__
from heterodag.errors import DataError, HeterodagError, ParameterError
from heterodag.experiments import benchmark
from heterodag.experiments.benchmark import _methods
from heterodag.metrics import order_divergence, shd


def test_own_methods_and_ours_on_the_same_simulated_tables(tmp_path):
    methods = {"mine": Reversed, "bad": Failing(), "VarSort": "VarSort"}
    data = [{"n": 80, "d": 4}, {"n": 80, "d": 4, "graph": "SF", "mechanism": "nonlinear"}]
    options = {"repeats": 2, "tests": ["partial-correlation"], "n_jobs": 1, "out": tmp_path}
    result = benchmark(methods, data, **options)
    assert len(result.rows) == 12
    assert dict(result.rows.groupby("method")["status"].first()) == {
        "mine": "done",
        "bad": "error",
        "VarSort": "done",
    }
    assert (result.rows.groupby(["graph", "repeat"])["data_seed"].nunique() == 1).all()
    for _, row in result.rows[result.rows["method"] == "mine"].iterrows():
        kind, degree = row["graph"].split("-")
        table = simulate(80, 4, kind, int(degree), row["mechanism"], random_state=row["data_seed"])
        assert row["order_divergence"] == order_divergence([3, 2, 1, 0], table.adjacency)
        assert row["own_shd"] == shd(np.eye(4, k=-1), table.adjacency)
    summary = result.summary(["own_shd"]).set_index(["graph", "method"])
    assert summary.loc[("ER-1", "bad"), "errors"] == 2
    assert summary.loc[("ER-1", "mine"), "runs"] == 2
    assert result.to_markdown("order_divergence").count("\n") == 5
    # The same call again computes nothing; one more method computes only its own.
    stored = (tmp_path / "rows.jsonl").read_text()
    pd.testing.assert_frame_equal(benchmark(methods, data, **options).rows, result.rows)
    assert (tmp_path / "rows.jsonl").read_text() == stored


def test_own_tables_with_names_and_repeats():
    tables = [simulate(60, 3, random_state=seed) for seed in (1, 2)]
    pairs = [(table.to_frame(), table.adjacency) for table in tables]
    result = benchmark({"mine": Reversed()}, {"trial": pairs, "other": pairs[0]}, n_jobs=1)
    assert list(result.rows["graph"]) == ["trial", "trial", "other"]
    assert list(result.rows["repeat"]) == [0, 1, 0]
    expected = [shd(np.eye(3, k=-1), table.adjacency) for table in (*tables, tables[0])]
    assert list(result.rows["own_shd"]) == expected
    with pytest.raises(ParameterError, match="columns of `rows`"):
        result.summary(["accuracy"])


def test_a_truth_with_names_is_matched_by_names():
    table = simulate(60, 3, random_state=1)
    names = list(table.to_frame().columns)
    truth = pd.DataFrame(table.adjacency, names, names)
    truths = (truth, truth.iloc[::-1, ::-1], table.adjacency, pd.DataFrame(table.adjacency))
    found = [benchmark({"mine": Reversed()}, {"t": (table.to_frame(), own)}, n_jobs=1).rows for own in truths]
    assert len({row["own_shd"].item() for row in found}) == 1
    with pytest.raises(DataError, match="Data set 't': The true graph names the variables 'zx0'"):
        benchmark(
            {"mine": Reversed()}, {"t": (table.to_frame(), truth.add_prefix("z").T.add_prefix("z").T)}, n_jobs=1
        )


def test_a_truth_names_all_columns():
    table = simulate(60, 3, random_state=1)
    truth = pd.DataFrame(table.adjacency, names := list(table.to_frame().columns), names)
    with pytest.raises(DataError, match="does not name the column 'x2' of the table: it must name all of them"):
        benchmark({"mine": Reversed()}, {"t": (table.to_frame(), truth.iloc[:2, :2])}, n_jobs=1)


def digest_of(estimator):
    return _methods({"a": estimator})[0][2]


class Function(Reversed):
    def __init__(self, function=None):
        self.function = function


def test_a_row_belongs_to_a_class_and_its_settings():
    assert digest_of(Reversed) != digest_of(Failing(random_state=3))
    # The seed is set by the cell; it is no part of the method.
    assert digest_of(Reversed(random_state=1)) == digest_of(Reversed)
    assert digest_of(Function(lambda x: 1)) != digest_of(Function(lambda x: 2))
    assert digest_of(Function(lambda x: 1)) == digest_of(Function(lambda x: 1))


def test_a_row_belongs_to_a_table_and_its_graph(tmp_path):
    table = simulate(60, 3, random_state=1)
    graphs = (table.adjacency, np.zeros((3, 3), dtype=int))
    options = {"n_jobs": 1, "out": tmp_path}
    first, second = (benchmark({"m": Reversed}, {"t": (table.X, graph)}, **options).rows for graph in graphs)
    assert (first["true_edges"].item(), second["true_edges"].item()) == (table.adjacency.sum(), 0)
    assert second["own_shd"].item() == 2


def test_rows_of_another_version_are_run_again_with_a_sentence(tmp_path):
    call = ({"mine": Reversed}, [{"n": 50, "d": 3}])
    options = {"repeats": 2, "n_jobs": 1, "out": tmp_path}
    benchmark(*call, **options)
    rows = tmp_path / "rows.jsonl"
    rows.write_text(rows.read_text().replace(f'"heterodag": "{__version__}"', '"heterodag": "0.0.9"'))
    old = rows.read_text()
    said = f"^2 stored rows were made by heterodag 0.0.9, not {__version__}: they are run again.$"
    with pytest.warns(UserWarning, match=said):
        result = benchmark(*call, **options)
    assert set(result.rows["heterodag"]) == {__version__}
    assert rows.read_text().startswith(old)  # nothing is lost
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = benchmark(*call, **options)
    pd.testing.assert_frame_equal(again.rows, result.rows)


class Unpicklable(Reversed):
    def __reduce__(self):
        raise TypeError("stays here")


X = np.random.default_rng(0).standard_normal((50, 3))


@pytest.mark.parametrize(
    ("methods", "data", "options", "error", "said"),
    [
        ("HOST", [{"n": 50, "d": 3}], {}, ParameterError, "be a list"),
        (["PC"], [{"n": 50, "d": 3}], {}, ParameterError, "HOST-paper"),
        ([], [{"n": 50, "d": 3}], {}, ParameterError, "at least one method"),
        ({"a": 3}, [{"n": 50, "d": 3}], {}, ParameterError, "`fit`"),
        ({"a/b": Reversed}, [{"n": 50, "d": 3}], {}, ParameterError, "without '/'"),
        ({"a": Unpicklable()}, [{"n": 50, "d": 3}], {}, HeterodagError, "cannot be sent"),
        (["VarSort"], [], {}, ParameterError, "at least one data set"),
        (["VarSort"], [{"n": 50}], {}, ParameterError, "with n, d"),
        (["VarSort"], [{"n": 50, "d": 3, "rows": 2}], {}, ParameterError, "with n, d"),
        (["VarSort"], [{"n": 50, "d": 3, "degree": 4}], {}, ParameterError, "degree"),
        (["VarSort"], {"t": X}, {}, ParameterError, "(X, truth)"),
        (["VarSort"], {"t": (X, np.eye(4, k=1))}, {}, DataError, "Data set 't': `truth` must have shape (3, 3)"),
        (["VarSort"], {"t": (X, 1 - np.eye(3))}, {}, DataError, "Data set 't': The true graph has a cycle"),
        (["VarSort"], {"t": (X, pd.DataFrame(np.eye(3), list("abc"), list("abc")))}, {}, DataError, "diagonal"),
        (["VarSort"], [{"n": 50, "d": 3}], {"tests": ["magic"]}, ParameterError, "tests"),
        (["VarSort"], [{"n": 50, "d": 3}], {"repeats": 0}, ParameterError, "repeats"),
    ],
)
def test_mistakes_are_found_before_anything_runs(methods, data, options, error, said):
    with pytest.raises(error) as caught:
        benchmark(methods, data, **options)
    assert said in str(caught.value)
