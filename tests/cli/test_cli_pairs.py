"""`heterodag pairs` as people meet it: a folder in, decisions and scores out, one sentence for every mistake."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from heterodag.cli.app import app


@pytest.fixture(autouse=True)
def in_a_folder_of_pairs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    (tmp_path / "mine").mkdir()
    for number in (1, 2, 3):
        x = rng.uniform(-2, 2, 300)
        y = np.sin(2 * x) + 0.3 * rng.standard_normal(300)
        np.savetxt(tmp_path / "mine" / f"pair{number:04}.txt", np.column_stack([x, y]))
    (tmp_path / "mine" / "pairmeta.txt").write_text("1 1 1 2 2 1\n2 2 2 1 1 1\n3 1 1 2 3 1\n", encoding="utf-8")


def run(*arguments):
    return CliRunner().invoke(app, ["pairs", *map(str, arguments)])


def test_decisions_and_scores_are_printed_and_written():
    done = run("mine", "--out", "decisions.csv")
    assert done.exit_code == 0, done.output
    assert "pair0003.txt was left out: its cause or effect has several columns." in done.stderr
    lines = done.stdout.splitlines()
    assert "2 pairs with a known direction: 50.0 % right if all are decided." in lines
    assert "100 %                       50.0 %" in lines
    assert "Wrote decisions.csv." in done.stdout
    table = pd.read_csv("decisions.csv")
    assert table["pair"].tolist() == ["pair0001", "pair0002"]
    assert table["direction"].tolist() == ["->", "->"]
    assert table["right"].tolist() == [1.0, 0.0]
    assert run("mine", "--out", "decisions.csv").exit_code == 2
    assert run("mine", "--out", "decisions.csv", "--force").exit_code == 0


def test_json_is_one_object_without_nan(tmp_path):
    (tmp_path / "mine" / "pairmeta.txt").unlink()
    done = run("mine", "--json")
    found = json.loads(done.stdout)
    assert [row["direction"] for row in found["pairs"]] == ["->"] * 3
    assert found["scores"] is None
    assert found["pairs"][0]["right"] is None
    said = run("mine").stdout
    assert "nothing to score" in said


def test_mistakes_are_one_sentence_and_write_nothing(tmp_path):
    (tmp_path / "mine" / "pair0002.txt").write_text("1 1\n" * 30, encoding="utf-8")
    for arguments, message in (
        (["nowhere"], "There is no folder 'nowhere'"),
        (["mine", "--out", "out.csv"], "pair0002: Columns 'x', 'y' are constant"),
        (["mine", "--missing", "guess"], "`missing` must be one of"),
    ):
        done = run(*arguments)
        assert done.exit_code == 2
        assert message in done.stderr
        assert done.stderr.strip().splitlines()[-1].startswith("Error: ")
    assert not (tmp_path / "out.csv").exists()
