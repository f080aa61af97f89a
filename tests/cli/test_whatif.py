"""`heterodag whatif` and `fit --bootstrap` as people meet them."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from heterodag import HeteroscedasticSCM, simulate
from heterodag.cli.app import app


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whatif")
    x = np.random.default_rng(0).standard_normal((400, 2))
    table = pd.DataFrame(
        {"dose": x[:, 0], "value=1": 2.0 * x[:, 0] + np.exp(0.5 * x[:, 0]) * x[:, 1], "id": range(400)}
    )
    table.to_csv(folder / "data.csv", index=False)
    done = run("fit", folder / "data.csv", "--out", folder / "out", "--drop", "id", "--bootstrap", 2, "--seed", 1)
    assert done.exit_code == 0, done.output
    return folder / "out", done.stdout


def test_setting_a_cause_moves_the_effect(results):
    folder, _ = results
    done = run("whatif", folder, "--set", "dose=1", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert list(found) == ["value=1"]  # all that the intervention reaches
    assert abs(found["value=1"]["mean"]["after"] - 2.0) < 0.3
    assert abs(found["value=1"]["sd"]["after"] - np.exp(0.5)) < 0.25
    printed = run("whatif", folder / "model.json", "--set", "dose=1", "--on", "value=1").stdout
    assert "If dose is set to 1:" in printed
    assert f"{found['value=1']['mean']['after']:.4g}" in printed
    shifted = json.loads(run("whatif", folder, "--shift", "value=1=3", "--on", "value=1", "--json").stdout)
    assert shifted["value=1"]["mean"]["difference"] == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "Say what to change"),
        (("--set", "dose"), "be a variable and a number"),
        (("--set", "dose=nan"), "be a variable and a number"),
        (("--set", "dose=1", "--set", "dose=2"), "name every variable once"),
        (("--set", "dos=1"), "Did you mean 'dose'?"),
        (("--set", "value=1=0"), "Nothing in the graph follows from value=1"),
        (("--set", "dose=1", "--on", "age"), "name columns of the table"),
        (("--set", "dose=1", "--level", "2"), "`level` must"),
    ],
)
def test_bad_questions_get_one_sentence(results, arguments, sentence):
    done = run("whatif", results[0], *arguments)
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_folders_without_a_model_are_refused(tmp_path):
    done = run("whatif", tmp_path, "--set", "a=1")
    assert done.exit_code == 2
    assert "has no model.json" in done.stderr


def test_fit_writes_the_model_and_the_frequencies(results):
    folder, printed = results
    assert isinstance(HeteroscedasticSCM.load(folder / "model.json"), HeteroscedasticSCM)
    edges = pd.read_csv(folder / "edges.csv")
    assert edges["frequency"].between(0, 1).all()
    graph = json.loads((folder / "graph.json").read_text())
    words = [item["sentence"] for item in graph["trust"]]
    assert any("On 2 resamples" in sentence for sentence in words)
    assert "Left out, as asked: id." in words
    assert all(sentence in printed for sentence in words)
    page = (folder / "report.html").read_text()
    assert "Left out, as asked: id." in page


def test_a_fit_without_mechanisms_leaves_no_model_of_another_one(tmp_path):
    torch = pytest.importorskip("torch")
    assert torch is not None
    simulate(100, 3, random_state=0).to_frame().to_csv(tmp_path / "data.csv", index=False)
    out = tmp_path / "out"
    assert run("fit", tmp_path / "data.csv", "--out", out, "--quiet").exit_code == 0
    assert (out / "model.json").exists()
    done = run("fit", tmp_path / "data.csv", "--out", out, "--parametrization", "mlp", "--no-refine")
    assert done.exit_code == 0, done.output
    assert not (out / "model.json").exists()
    assert "model.json" not in done.stdout
