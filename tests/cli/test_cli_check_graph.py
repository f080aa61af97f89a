"""`heterodag check-graph` as people meet it: what it prints, its exit status, one-sentence errors."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from heterodag import simulate
from heterodag.cli.app import app
from heterodag.io.exports import GraphResult, graph_json

FAST = ("--no-learn", "--shuffles", "0")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table and several graphs of its variables."""
    path = tmp_path_factory.mktemp("check")
    data = simulate(300, 4, degree=1, mechanism="curved", spread="straight", random_state=6)
    names = ("dose [bold]", "b", "c", "d")
    pd.DataFrame(data.X, columns=names).assign(day=np.where(np.arange(300) < 200, "one", "two")).to_csv(
        path / "days.csv", index=False
    )
    pd.DataFrame(data.X, columns=names).to_csv(path / "data.csv", index=False)
    (path / "right.json").write_text(graph_json(GraphResult(names, data.adjacency)), encoding="utf-8")
    (path / "turned.json").write_text(graph_json(GraphResult(names, data.adjacency.T)), encoding="utf-8")
    lines = {"cyclic": "b,c\nc,d\nd,b", "unknown": "b,dosis", "few": "b,c"}
    for name, edges in lines.items():
        (path / f"{name}.csv").write_text(f"cause,effect\n{edges}\n", encoding="utf-8")
    pd.DataFrame([[0, 1], [0, 0]], index=["b", "c"], columns=["b", "c"]).to_csv(path / "part.csv")
    (path / "targets.json").write_text('{"one": null, "two": "b"}', encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def inside(folder, monkeypatch):
    monkeypatch.chdir(folder)


def run(*arguments):
    return CliRunner().invoke(app, ["check-graph", *map(str, arguments)])


def test_a_right_graph_is_green_and_ends_with_0():
    done = run("right.json", "data.csv", "--shuffles", "30", "--seed", "1", "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert "4 variables, 300 rows from data.csv; edges in right.json:" in done.stdout
    for topic in ("edges", "missing edges", "directions", "variables", "hidden causes", "score", "chance"):
        assert f"green  {topic}: " in done.stdout
    assert "dose [bold]" in done.stdout
    assert "learned graph" in done.stdout
    assert "shuffled, best" in done.stdout
    assert done.stderr == ""


def test_a_wrong_graph_is_red_and_ends_with_3():
    done = run("turned.json", "data.csv", "--learned", "right.json", "--shuffles", "30")
    assert "red    " in done.stdout
    assert "Changes that would help most, one after the other (nats):" in done.stdout
    assert done.exit_code == 3
    quiet = run("turned.json", "data.csv", "--learned", "right.json", "--shuffles", "30", "--quiet")
    assert (quiet.exit_code, quiet.stdout, quiet.stderr) == (3, "", "")


def test_json_is_one_object_with_everything():
    done = run("right.json", "data.csv", *FAST, "--json")
    assert done.exit_code == 0
    record = json.loads(done.stdout)
    assert record["names"] == ["dose [bold]", "b", "c", "d"]
    assert record["pvalue"] is None
    assert {"findings", "edges", "missing", "variables", "pairs", "scores", "changes"} <= set(record)


def test_other_columns_are_refused_dropped_or_kept():
    refused = run("part.csv", "data.csv", *FAST)
    assert refused.exit_code == 2
    assert "does not name the columns 'dose [bold]', 'd' of the table" in refused.stderr
    assert "2 variables, 300 rows" in run("part.csv", "data.csv", *FAST, "--others", "drop").stdout
    assert "4 variables, 300 rows" in run("part.csv", "data.csv", *FAST, "--others", "keep").stdout
    assert "4 variables, 300 rows" in run("few.csv", "data.csv", *FAST).stdout
    assert "2 variables, 300 rows" in run("part.csv", "data.csv", *FAST, "--columns", "c,b").stdout


def test_conditions_reach_the_check():
    done = run("right.json", "days.csv", *FAST, "--conditions", "day", "--targets", "targets.json", "--json")
    rows = {row["variable"]: row["rows"] for row in json.loads(done.stdout)["variables"]}
    assert rows == {"dose [bold]": 300, "b": 200, "c": 300, "d": 300}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("cyclic.csv", "data.csv"), "The graph has a cycle, 'b' -> 'c' -> 'd' -> 'b'"),
        (("unknown.csv", "data.csv"), "The graph names the variable 'dosis', which the table does not have"),
        (("nothing.json", "data.csv"), "There is no file 'nothing.json'"),
        (("right.json", "nothing.csv"), "There is no file 'nothing.csv'"),
        (("data.csv", "data.csv"), "is neither an edge list"),
        (("targets.json", "data.csv"), "is not a heterodag graph"),
        (("right.json", "data.csv", "--alpha", "2"), "`alpha` must"),
        (("right.json", "data.csv", "--shuffles", "-1"), "`n_shuffles` must"),
        (("right.json", "data.csv", "--others", "no"), "`others` must be one of"),
        (("right.json", "data.csv", "--kind", "set"), "--kind needs --conditions"),
        (("right.json", "data.csv", "--learned", "part.csv"), "The learned graph does not name"),
        (("right.json", "days.csv"), "'day'"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_status_2(arguments, sentence):
    done = run(*arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_nothing_is_written(folder):
    before = sorted(path.name for path in folder.iterdir())
    run("right.json", "data.csv", *FAST)
    assert sorted(path.name for path in Path().iterdir()) == before
