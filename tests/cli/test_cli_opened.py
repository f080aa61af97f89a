"""Tables on disk on the command line: what is opened, what goes to the fit, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from heterodag import check_table, open_table
from heterodag.cli.app import app
from heterodag.estimators import HOST
from heterodag.io import opened
from heterodag.io.opened import OpenTable


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def little_memory(monkeypatch):
    """Tables of more than 200 rows, or 5,000 bytes of text, stay on disk."""
    monkeypatch.setattr(opened, "IN_MEMORY_ROWS", 200)
    monkeypatch.setattr(opened, "IN_MEMORY_BYTES", 5000)


@pytest.fixture
def fitted(monkeypatch):
    """What `HOST.fit` gets; a table on disk is handed on as a sample, so that the command can go on."""
    got = []
    own = HOST.fit

    def fit(self, X, y=None, *, interventions=None):
        got.append((X, self.get_params()))
        on_disk = isinstance(X, OpenTable)
        return own(self, X.sample(150, random_state=0) if on_disk else X, interventions=interventions)

    monkeypatch.setattr(HOST, "fit", fit)
    return got


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(n)
    return pd.DataFrame({"a": a, "b": np.exp(0.5 * a) * rng.standard_normal(n), "c": rng.standard_normal(n)})


FAST = ("--parametrization", "linear", "--form", "location-scale", "--noise", "gaussian")


def test_large_files_are_opened_and_small_ones_read(fitted):
    table(100).to_parquet("small.parquet")
    table().to_parquet("large.parquet")
    table().to_csv("large.csv", index=False)
    for name, on_disk in (("small.parquet", False), ("large.parquet", True), ("large.csv", True)):
        done = run("fit", name, *FAST)
        assert done.exit_code == 0, done.output
        assert isinstance(fitted[-1][0], OpenTable) == on_disk
        assert f"{300 if on_disk else 100} rows and 3 columns from {name}." in done.stdout
        assert Path("heterodag-out/report.html").exists()


@pytest.mark.parametrize("source", ["m", "m/*.parquet"])
def test_folders_and_patterns_are_one_table(fitted, source):
    Path("m").mkdir()
    for k in range(3):
        table(50, k).to_parquet(f"m/{k}.parquet")
    done = run("fit", source, *FAST)
    assert done.exit_code == 0, done.output
    assert fitted[0][0].shape == (150, 3)
    assert f"150 rows and 3 columns from {source}." in done.stdout
    assert run("check", source).stdout.startswith(f"150 rows and 3 columns from {source}.")


def test_options_of_reading_reach_a_table_on_disk(fitted):
    frame = table().assign(id=[f"r{k}" for k in range(300)], city="Ulm")
    frame.to_csv("large.csv", index=False, sep=";", decimal=",")
    options = ("--decimal", ",", "--index-column", "id", "--drop", "city", "--missing", "drop", "--delimiter", ";")
    done = run("fit", "large.csv", *options, *FAST)
    assert done.exit_code == 0, done.output
    assert (fitted[0][0].names, fitted[0][1]["missing"]) == (["a", "b", "c"], "drop")
    assert "Left out, as asked: city." in done.stdout
    assert run("fit", "large.csv", *options, "--columns", "c,a", *FAST).exit_code == 0
    assert fitted[1][0].names == ["c", "a"]


def test_empty_names_stand_for_row_names(fitted):
    table().to_csv("large.csv")
    assert run("fit", "large.csv", "--index-column", "", *FAST).exit_code == 0
    assert fitted[0][0].names == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("options", "option"),
    [
        (("--conditions", "c"), "--conditions"),
        (("--bootstrap", 5), "--bootstrap"),
        (("--kind", "shift"), "--kind"),
        (("--sheet", 1), "--sheet"),
    ],
)
def test_what_needs_all_rows_in_memory_is_refused_before_anything_is_converted(monkeypatch, options, option):
    table().to_csv("large.csv", index=False)
    monkeypatch.setattr(opened, "open_files", None)
    done = run("fit", "large.csv", *options)
    assert done.exit_code == 2
    assert done.stderr.startswith(
        f"Error: {option} needs a table in memory, and this one stays on disk; take a sample"
    )
    assert not Path("heterodag-out").exists()


def test_bad_sources_get_one_sentence():
    for source, sentence in (
        ("none/*.parquet", "Error: No file matches 'none/*.parquet'"),
        (".", "Error: Folder '.' holds no Parquet files"),
        ("no.parquet", "Error: There is no file 'no.parquet'"),
    ):
        for command in ("fit", "check"):
            done = run(command, source)
            assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)
            assert done.stderr.startswith(sentence)


def test_a_check_of_a_large_table_has_the_words_of_the_library():
    table(130_000).to_parquet("large.parquet")
    done = run("check", "large.parquet")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == "130000 rows and 3 columns from large.parquet."
    assert lines[1:-1] == check_table(open_table("large.parquet")).lines()
    assert "rows drawn from all over the table" in done.stdout


def test_text_and_gaps_of_a_large_table_are_findings():
    frame = table(130_000).assign(city="Ulm")
    frame.loc[100_000, "a"] = np.nan
    frame.to_parquet("large.parquet")
    done = run("check", "large.parquet", "--json")
    assert done.exit_code == 3
    found = {one["check"]: one for one in json.loads(done.stdout)}
    assert found["text"]["columns"] == ["city"]
    assert found["missing"]["sentence"].startswith("1 of 130000 rows")
    assert run("check", "large.parquet", "--drop", "city", "--missing", "drop").exit_code == 0
    done = run("check", "large.parquet", "--conditions", "city")
    assert (done.exit_code, "--conditions needs a table in memory" in done.stderr) == (2, True)
