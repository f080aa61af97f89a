"""A user's own benchmark: own classes and tables beside ours, rows that are kept, mistakes in one sentence."""

import numpy as np
import pandas as pd
import pytest
from experiment_helpers import Failing, Reversed

from heterodag import simulate
from heterodag.errors import DataError, HeterodagError, ParameterError
from heterodag.experiments import benchmark
from heterodag.experiments.benchmark import _estimator_digest, _methods
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


def test_a_row_belongs_to_a_class_and_its_settings():
    first, second = _methods({"a": Reversed, "b": Failing(random_state=3)})
    assert first[2] != second[2]
    # The seed is set by the cell; it is no part of the method.
    assert _estimator_digest(Reversed(random_state=1)) == first[2]


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
        (["VarSort"], {"t": (X, np.eye(4, k=1))}, {}, DataError, "3 columns, and its graph 4"),
        (["VarSort"], [{"n": 50, "d": 3}], {"tests": ["magic"]}, ParameterError, "tests"),
        (["VarSort"], [{"n": 50, "d": 3}], {"repeats": 0}, ParameterError, "repeats"),
    ],
)
def test_mistakes_are_found_before_anything_runs(methods, data, options, error, said):
    with pytest.raises(error) as caught:
        benchmark(methods, data, **options)
    assert said in str(caught.value)
