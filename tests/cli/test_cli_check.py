"""`heterodag check` as people meet it: findings on the screen, records for scripts, statuses, one-sentence errors."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from heterodag import check_table
from heterodag.cli.app import app


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*arguments):
    return CliRunner().invoke(app, ["check", *map(str, arguments)])


def table(n=150):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(n)
    return pd.DataFrame(
        {"dose": x, "level [bold]": np.exp(0.3 * x) * rng.standard_normal(n), "age": rng.standard_normal(n)}
    )


def write(frame, name="data.csv", **options):
    frame.to_csv(name, index=False, **options)


def test_a_clean_table_ends_well_with_the_words_of_the_library():
    write(table())
    done = run("data.csv")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == "150 rows and 3 columns from data.csv."
    assert lines[1:-1] == check_table(pd.read_csv("data.csv")).lines()
    assert lines[-1] == "0 red, 0 amber, 5 green."


def test_amber_is_no_failure_and_red_is_status_3():
    write(table().assign(sex=lambda t: (t.age > 0).astype(int)))
    done = run("data.csv")
    assert (done.exit_code, "amber  columns: Column 'sex' holds two values only" in done.stdout) == (0, True)
    write(table().cumsum())
    done = run("data.csv")
    assert done.exit_code == 3
    assert "red    rows: Neighbouring rows are alike in 3 of 3 columns" in done.stdout


def test_gaps_text_and_infinite_values_are_findings():
    frame = table().assign(city="Ulm")
    frame.loc[3, "dose"], frame.loc[4, "age"] = np.nan, np.inf
    mixed = frame["level [bold]"].astype(object)
    mixed[8] = "?!"
    write(frame.assign(**{"level [bold]": mixed}))
    done = run("data.csv", "--json")
    assert done.exit_code == 3
    found = {one["check"]: one for one in json.loads(done.stdout)}
    assert found["text"]["columns"] == ["level [bold]", "city"]
    assert "'?!' in 'level [bold]'" in found["text"]["sentence"]
    assert found["missing"]["columns"] == ["dose"]
    assert found["infinite"]["rows"] == [4]


def test_the_remedies_help():
    frame = table()
    frame.loc[[3, 9], "dose"] = np.nan
    write(frame.assign(id=range(150), city="Ulm"))
    assert run("data.csv").exit_code == 3
    done = run("data.csv", "--drop", "id,city", "--missing", "drop")
    assert done.exit_code == 0, done.output
    assert "2 of 150 rows (1.3 %) have missing values, in 'dose' (2), and are left out." in done.stdout


def test_conditions_are_set_aside_and_compared_within():
    frame = table(300) + np.repeat([[0.0], [4.0]], 150, axis=0)
    write(frame.assign(batch=["a"] * 150 + ["b"] * 150))
    assert "amber  rows: Over long stretches" in run("data.csv", "--drop", "batch").stdout
    done = run("data.csv", "--conditions", "batch")
    assert "0 red, 0 amber" in done.stdout
    assert "300 rows and 3 columns" in done.stdout


def test_tables_are_read_as_by_fit():
    write(table(), "semi.csv", sep=";", decimal=",")
    assert run("semi.csv", "--delimiter", "semicolon", "--decimal", ",").exit_code == 0
    done = run("semi.csv", "--delimiter", "semicolon")
    assert (done.exit_code, "pass --decimal ," in done.stderr) == (2, True)
    write(table(), "bare.csv", header=False)
    assert "150 rows and 3 columns" in run("bare.csv", "--no-header").stdout
    table().to_parquet("data.parquet")
    assert run("data.parquet", "--columns", "dose,age").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["nothing.csv"], "There is no file 'nothing.csv'"),
        (["."], "holds no Parquet files"),
        (["empty.csv"], "is empty"),
        (["data.csv", "--drop", "dosis"], "did you mean 'dose'?"),
        (["data.csv", "--missing", "keep"], "`missing` must be one of"),
        (["data.csv", "--conditions", "batch"], "has no column 'batch'"),
    ],
)
def test_bad_input_gets_one_sentence_and_status_2(arguments, text):
    write(table())
    Path("empty.csv").write_text("", encoding="utf-8")
    done = run(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert text in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_quiet_says_nothing_but_the_status():
    write(table().cumsum())
    done = run("data.csv", "--quiet")
    assert (done.exit_code, done.output) == (3, "")


def test_names_cannot_steer_the_terminal():
    write(table().rename(columns={"age": "\x1b[31mage"}).assign(**{"ye\x07s": 1.0}))
    done = run("data.csv")
    assert "\x1b" not in done.output
    assert "\x07" not in done.output
    assert "constant" in done.stdout


def test_the_program_itself_ends_with_the_status():
    write(table().cumsum())
    command = [sys.executable, "-c", "from heterodag.cli.app import main; main()", "check", "data.csv", "--json"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    assert (done.returncode, done.stderr) == (3, "")
    assert json.loads(done.stdout)[1]["check"] == "random-walk"
