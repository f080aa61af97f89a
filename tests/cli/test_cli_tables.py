"""Tables on the command line: options that all readers share, standard input, Excel, folders, graphs with cycles."""

import io
import json
import subprocess
import sys
from inspect import signature
from pathlib import Path
from typing import Annotated

import numpy as np
import openpyxl
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from heterodag.cli.app import app
from heterodag.cli.reading import Data, Reading, reads_a_table
from heterodag.experiments.display import counted
from heterodag.io.tables import read_table

FAST = ("--parametrization", "linear", "--form", "location-scale", "--noise", "gaussian", "-q")


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*arguments, **options):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)


def table():
    rng = np.random.default_rng(0)
    first = rng.standard_normal(80)
    return pd.DataFrame({"a": first, "b": 2 * first + rng.standard_normal(80)}).round(3)


def names_and_rows(out="heterodag-out"):
    content = json.loads(Path(out, "graph.json").read_text(encoding="utf-8"))
    return content["names"], [mechanism["rows"] for mechanism in content["mechanisms"]]


def test_reading_has_the_options_of_read_table():
    options = set(signature(read_table).parameters) - {"path", "conditions", "strict"}
    assert set(signature(Reading).parameters) == options
    text = " ".join(run("fit", "--help").stdout.split())
    for name in options - {"header"}:
        assert f"--{name.replace('_', '-')} " in text


def test_another_command_can_take_the_same_options():
    other, seen = typer.Typer(), []

    @other.command()
    @reads_a_table
    def look(data: Data, reading: Reading, loud: Annotated[bool, typer.Option("--loud")] = False) -> None:
        """Look at a table."""
        seen.append((reading.table(data).shape, loud))

    table().to_csv("data.txt", index=False, sep="|")
    done = CliRunner().invoke(other, ["data.txt", "--drop", "b", "--delimiter", "pipe", "--loud"])
    assert done.exit_code == 0, done.output
    assert seen == [((80, 1), True)]


def test_standard_input():
    done = run("fit", "-", *FAST[:-1], input=table().to_csv(index=False))
    assert done.exit_code == 0, done.output
    assert "80 rows and 2 columns from standard input." in done.stdout
    assert "Data: <bdi>standard input</bdi>." in Path("heterodag-out/report.html").read_text(encoding="utf-8")
    empty = run("fit", "-", input="")
    assert empty.exit_code == 2
    assert (
        empty.stderr
        == "Error: Standard input is empty; pipe a table with a header row and rows of numbers into it.\n"
    )


def test_a_real_pipe():
    command = [sys.executable, "-c", "from heterodag.cli.app import main; main()", "fit", "-", *FAST]
    done = subprocess.run(command, input=table().to_csv(index=False), text=True, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert names_and_rows() == (["a", "b"], [80, 80])


def test_comments_and_texts_for_empty_cells():
    frame = table().astype(object)
    frame.loc[3, "a"], frame.loc[7, "b"] = "?", -999
    text = "# made by hand\n" + frame.to_csv(index=False)
    Path("data.csv").write_text(text, encoding="utf-8")
    refused = run("fit", "data.csv")
    assert refused.exit_code == 2
    assert "pass --comment '#'" in refused.stderr
    done = run("fit", "data.csv", "--comment", "#", "--na-values", "?,-999", "--missing", "drop", *FAST)
    assert done.exit_code == 0, done.output
    assert names_and_rows() == (["a", "b"], [78, 78])


def test_a_sheet_of_an_excel_file():
    book = openpyxl.Workbook()
    book.active.append(["notes"])
    sheet = book.create_sheet("Data")
    for row in [["a", "b"], *table().to_numpy().tolist()]:
        sheet.append(row)
    book.save("book.xlsx")
    assert run("fit", "book.xlsx", "--sheet", "Data", *FAST).exit_code == 0
    assert names_and_rows() == (["a", "b"], [80, 80])
    refused = run("fit", "book.xlsx", "--sheet", "Date")
    assert refused.exit_code == 2
    assert "`sheet` must be one of 'Sheet', 'Data'" in refused.stderr


@pytest.mark.parametrize(
    "arguments",
    [["fit", "x.csv"], ["demo"], ["simulate"], ["convert", "x.json"], ["reproduce", "sachs"]],
    ids=lambda arguments: arguments[0],
)
@pytest.mark.parametrize("out", ["", " "])
def test_an_empty_out_is_refused(arguments, out):
    done = run(*arguments, "--out", out)
    assert done.exit_code == 2
    assert "'--out': it is empty" in done.stderr
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("option", ["--jobs", "--n-jobs"])
def test_both_names_of_jobs(option):
    table().to_csv("data.csv", index=False)
    assert run("fit", "data.csv", option, 1, *FAST).exit_code == 0
    settings = json.loads(Path("heterodag-out/graph.json").read_text(encoding="utf-8"))["settings"]
    assert settings["n_jobs"] == 1
    assert run("reproduce", "--list", option, 1).exit_code == 0


def test_evaluate_takes_the_folder_of_a_fit():
    table().to_csv("data.csv", index=False)
    assert run("fit", "data.csv", "--out", "results", *FAST).exit_code == 0
    done = run("evaluate", "results", "results/graph.json", "--json")
    assert json.loads(done.stdout)["shd"] == 0
    assert run("convert", "results", "--out", "graph.dot").exit_code == 0
    Path("empty").mkdir()
    for wrong, said in (("empty", "has no graph.json"), ("graph.dot", "writes but does not read (.dot)")):
        refused = run("evaluate", wrong, "results")
        assert refused.exit_code == 2
        assert said in refused.stderr


def test_evaluate_tells_of_cycles():
    Path("cycle.csv").write_text("cause,effect\na,b\nb,c\nc,a\n", encoding="utf-8")
    graph = {"format": "heterodag-graph", "format_version": 1, "names": ["a", "b", "c"], "order": ["a", "b", "c"]}
    Path("dag.json").write_text(json.dumps(graph | {"edges": [{"cause": "a", "effect": "b"}]}), encoding="utf-8")
    learned = run("evaluate", "cycle.csv", "dag.json", "--json")
    assert learned.exit_code == 0
    assert json.loads(learned.stdout) == {"shd": 2.0, "precision": 1 / 3, "recall": 1.0, "f1": 0.5}
    assert "The graph in 'cycle.csv' has a cycle (a -> b -> c -> a)" in learned.stderr
    true = run("evaluate", "dag.json", "cycle.csv", "--json")
    assert "order_divergence" not in json.loads(true.stdout)
    assert "the order divergence is left out" in true.stderr
    assert "order_divergence" in json.loads(run("evaluate", "dag.json", "dag.json", "--json").stdout)


def test_a_long_cycle_is_shortened():
    edges = "".join(f"v{k},v{(k + 1) % 50}\n" for k in range(50))
    Path("cycle.csv").write_text("cause,effect\n" + edges, encoding="utf-8")
    warning = run("evaluate", "cycle.csv", "cycle.csv").stderr.splitlines()[0]
    assert "..." in warning
    assert len(warning) < 250


@pytest.mark.parametrize("name", ["--knowledge", "--targets"])
def test_hostile_json_is_one_sentence(name):
    table().assign(batch=1).to_csv("data.csv", index=False)
    Path("deep.json").write_text("[" * 100_000, encoding="utf-8")
    done = run("fit", "data.csv", name, "deep.json", *(("--conditions", "batch") if name == "--targets" else ()))
    assert done.exit_code == 2
    assert "levels deep" in done.stderr
    assert done.stderr.count("\n") == 1


def test_progress_counts_what_was_done_before():
    assert counted(0, 28, 12) == "12 of 40 cells (12 done before)"
    assert counted(3, 40, 0) == "3 of 40 cells"


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are a POSIX thing")
def test_a_resumed_run_shows_it(monkeypatch):
    from heterodag.experiments import display
    from heterodag.experiments.catalogue import EXPERIMENTS
    from heterodag.experiments.run_cell import CellTask

    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", screen)
    tasks = [CellTask(cell) for cell in EXPERIMENTS["sachs"].cells("smoke")[:2]]
    with display.cell_progress(tasks, True, before=5) as told:
        told.finished(tasks[0], {})
    assert "6 of 7 cells (5 done before)" in screen.getvalue()
