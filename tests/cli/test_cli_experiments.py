"""Experiments on the command line and in the report: what is said about rows, arrows and conditions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from heterodag import HOST, Interventions, simulate
from heterodag.cli.app import app
from heterodag.report import render_report

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
CONDITIONS = np.repeat(["control", "on x0", "on x1"], [300, 50, 50])
TARGETS = {"control": None, "on x0": "x0", "on x1": "x1"}


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = simulate(400, 4, degree=1, mechanism="straight", random_state=3, interventions={0: 50, 1: 50})
    data.to_frame().assign(batch=CONDITIONS, cell=range(400)).to_csv("data.csv", index=False)
    Path("targets.json").write_text(json.dumps(TARGETS))


def run(*options):
    return CliRunner().invoke(app, ["fit", "data.csv", "--index-column", "cell", "--out", "out", *options])


def test_targets_from_a_file_decide_arrows_and_the_report_says_so():
    done = run("--conditions", "batch", "--targets", "targets.json")
    assert done.exit_code == 0, done.output
    assert "Interventions decided the direction of 1 of 4 arrows: x0 → x1." in done.output
    assert "the rows in which it was not set: 350 to 400" in done.output
    graph = json.loads(Path("out/graph.json").read_text())
    assert graph["names"] == ["x0", "x1", "x2", "x3"]
    assert {m["variable"]: m["rows"] for m in graph["mechanisms"]} == {"x0": 350, "x1": 350, "x2": 400, "x3": 400}
    assert "targets" not in graph
    edge = next(e for e in graph["edges"] if (e["cause"], e["effect"]) == ("x0", "x1"))
    assert edge["interventional_nats"] > 9
    assert Path("out/edges.csv").read_text().splitlines()[0].split(",")[4:7] == [
        "direction_nats", "interventional_nats", "open",
    ]  # fmt: skip
    page = Path("out/report.html").read_text()
    assert "<h2>Experiments</h2>" in page
    assert "decided by interventions" in page


@pytest.mark.parametrize("options", [["--targets", "targets.json", "--kind", "shift"], []], ids=["shift", "unknown"])
def test_conditions_that_do_not_set_are_told_by_what_they_act_on(options):
    done = run("--conditions", "batch", *options)
    assert done.exit_code == 0, done.output
    assert "Condition on x1 acts on" in done.output
    targets = json.loads(Path("out/graph.json").read_text())["targets"]
    assert len(targets) == (2 if options else 8)
    assert ("Acts on</th>" in Path("out/report.html").read_text()) == any(target["acts"] for target in targets)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--conditions", "batsch"], "--conditions: 'data.csv' has no column 'batsch'; did you mean 'batch'?"),
        (["--targets", "targets.json"], "--targets needs --conditions"),
        (["--kind", "shift"], "--kind needs --conditions"),
        (["--conditions", "batch", "--targets", "no.json"], "Targets file 'no.json' cannot be opened"),
        (["--conditions", "batch", "--kind", "push"], "`kind` must be one of 'set', 'shift'"),
        (
            ["--conditions", "batch", "--targets", "targets.json", "--drop", "x0"],
            "`targets` must name columns of the table",
        ),
    ],
)
def test_what_is_wrong_is_one_sentence(options, said):
    done = run(*options)
    assert done.exit_code == 2
    assert said in done.output
    assert "Traceback" not in done.output
    assert not Path("out").exists() or not list(Path("out").iterdir())


def test_without_experiments_the_report_says_nothing_about_them():
    data = simulate(200, 3, degree=1, random_state=1)
    page = render_report(HOST().fit(data.X), data.X)
    assert "Experiments" not in page
    assert "nterventions" not in page


def test_a_report_can_be_made_from_a_table_with_its_column_of_conditions():
    data = simulate(400, 4, degree=1, mechanism="straight", random_state=3, interventions={0: 50, 1: 50})
    frame, told = data.to_frame().assign(batch=CONDITIONS), Interventions("batch", TARGETS)
    model = HOST().fit(frame, interventions=told)
    assert "<h2>Experiments</h2>" in render_report(model, frame, interventions=told)
