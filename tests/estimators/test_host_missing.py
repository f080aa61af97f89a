"""Missing values in HOST, the functions beside it, and the command line."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from heterodag import HOST, DataError, DataWarning, ParameterError, causal_order, recover_dag, simulate
from heterodag.cli.app import app


@pytest.fixture(scope="module")
def gappy():
    frame = simulate(200, 3, degree=1, random_state=1).to_frame()
    frame.loc[::50, "x1"] = np.nan
    return frame


def test_dropping_is_fitting_to_the_other_rows(gappy):
    whole = HOST().fit(gappy.dropna())
    with pytest.warns(DataWarning, match=r"4 of 200 rows have missing values, in 'x1' \(4\)"):
        model = HOST(missing="drop").fit(gappy)
    assert np.array_equal(model.pvalues_, whole.pvalues_, equal_nan=True)
    with pytest.warns(DataWarning):
        assert np.array_equal(model.latents(gappy), whole.latents(gappy.dropna()))
    with pytest.warns(DataWarning):
        assert np.array_equal(causal_order(gappy, missing="drop").order, model.order_)
    with pytest.warns(DataWarning):
        again = recover_dag(gappy, model.order_, missing="drop")
    assert np.array_equal(again.adjacency, model.adjacency_)


def test_the_default_refuses_and_counts(gappy):
    for call in (HOST().fit, causal_order, lambda X: recover_dag(X, [0, 1, 2])):
        with pytest.raises(DataError, match=r"'x1' \(4\).*missing='drop'"):
            call(gappy)
    with pytest.raises(ParameterError, match="missing"):
        HOST(missing="impute").fit(gappy)


def test_the_command_line_drops_on_request(gappy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gappy.to_csv("gappy.csv", index=False)
    refused = CliRunner().invoke(app, ["fit", "gappy.csv"])
    assert refused.exit_code == 2
    assert "'x1' (4)" in refused.output
    assert "--missing drop" in refused.output
    done = CliRunner().invoke(app, ["fit", "gappy.csv", "--missing", "drop"])
    assert done.exit_code == 0, done.output
    assert done.output.count("4 of 200 rows of 'gappy.csv' have empty cells and were left out.") == 1
    assert "196 rows and 3 columns" in done.output
    settings = json.loads((tmp_path / "heterodag-out" / "graph.json").read_text(encoding="utf-8"))["settings"]
    assert settings["missing"] == "drop"
    wrong = CliRunner().invoke(app, ["fit", "gappy.csv", "--missing", "guess"])
    assert wrong.exit_code == 2
    assert "`missing` must be one of" in wrong.output
