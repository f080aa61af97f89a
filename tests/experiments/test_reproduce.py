"""`heterodag reproduce` as people meet it."""

import json
import os
import re
import subprocess
import sys

import pandas as pd
import pytest
from typer.testing import CliRunner

from heterodag._version import __version__
from heterodag.cli.app import app
from heterodag.experiments.catalogue import EXPERIMENTS
from heterodag.experiments.outputs import summary_of
from heterodag.experiments.store import RowStore

PROGRAM = [sys.executable, "-c", "from heterodag.cli.app import main; main()"]


def run(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


def test_everything_at_the_smallest_scale(tmp_path):
    """All experiments, all methods: rows, tables and figures; silence in a pipe."""
    for package in ("torch", "castle"):
        pytest.importorskip(package)
    command = [*PROGRAM, "reproduce", "all", "--scale", "smoke", "--out", str(tmp_path)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=900, env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    count = int(re.match(r"(\d+) cells: \1 done, 0 timeout, 0 error", done.stdout)[1])
    store = RowStore(tmp_path)
    assert len(store.rows()) == count
    for name, experiment in EXPERIMENTS.items():
        rows = store.rows(experiment.cells("smoke"))
        assert {row["method"] for row in rows} == set(experiment.methods)
        written = pd.read_csv(tmp_path / f"{name}.csv", keep_default_na=False, na_values=[""])
        expected = summary_of(experiment, rows)
        assert list(written["mean"].dropna()) == pytest.approx(list(expected["mean"].dropna()), rel=1e-5)
        kinds = ("md",) if name == "sachs" else ("md", "svg", "png")
        assert all((tmp_path / f"{name}.{kind}").stat().st_size for kind in kinds)
    again = run("sachs", "--scale", "smoke", "--out", tmp_path)
    assert "(0 run now, 10 already there)" in again.output


def test_the_list_names_all_with_setting_and_time():
    result = run("--list")
    assert result.exit_code == 0
    for experiment in EXPERIMENTS.values():
        line = next(line for line in result.output.splitlines() if line.startswith(f"{experiment.name} "))
        assert experiment.setting in line
        assert re.search(r"\d (s|min|h)\b", line)


def test_some_methods_and_a_time_limit(tmp_path):
    pytest.importorskip("torch")
    arguments = ("sachs", "--scale", "smoke", "--methods", "varsort,NPVar", "--n-jobs", 1, "--out", tmp_path)
    result = run(*arguments, "--max-seconds", 0.001)
    assert result.exit_code == 0
    assert "2 cells: 0 done, 2 timeout, 0 error (2 run now, 0 already there)" in result.output
    assert "none of 1 finished" in (tmp_path / "sachs.md").read_text()
    # More time: they are run again, and the rows of before no longer count.
    result = run(*arguments, "--max-seconds", 0, "--quiet")
    assert result.output == ""
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [row["status"] for row in rows] == ["timeout", "timeout", "done", "done"]
    assert len(RowStore(tmp_path).rows()) == 2
    # Rows of another version count, and are named.
    stored = (tmp_path / "rows.jsonl").read_text()
    (tmp_path / "rows.jsonl").write_text(stored.replace(f'"heterodag": "{__version__}"', '"heterodag": "0.0.9"'))
    result = run(*arguments)
    assert "2 cells: 2 done, 0 timeout, 0 error (0 run now, 2 already there)" in result.output
    assert f"Some rows were made by heterodag 0.0.9 and count as they are; this is {__version__}." in result.output
    assert (tmp_path / "sachs.md").read_text().endswith("Rows made by heterodag 0.0.9.\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "reproduce --list"),
        (("figure-1",), "one of sample-size"),
        (("dense", "--scale", "huge"), "'smoke', 'quick', 'full'"),
        (("dense", "--methods", "PC"), "HOST-paper"),
        (("dense", "--methods", "CAM"), "has none of these methods"),
        (("dense", "--n-jobs", "0"), "n_jobs"),
        (("dense", "--max-seconds", "-3"), "max_seconds"),
        (("dense", "--backend", "dask"), "scheduler"),
        (("dense", "--backend", "ray"), "'local', 'dask'"),
    ],
)
def test_mistakes_get_one_sentence(tmp_path, arguments, said):
    pytest.importorskip("torch")  # what is not installed is said first
    result = run(*arguments, "--out", tmp_path / "new")
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "new").exists()
