"""Cells in processes: rows of what finished, failed, took too long or was killed; Ctrl-C; the order of workers."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from experiment_helpers import Failing, Killed, Reversed, Sleeper, task, without_times
from typer.testing import CliRunner

from heterodag.cli.app import app
from heterodag.errors import HeterodagError, ParameterError
from heterodag.experiments import processes
from heterodag.experiments.display import Progress
from heterodag.experiments.processes import CellProcess, ProcessPool, Stopped
from heterodag.experiments.runner import RunSettings, run_tasks
from heterodag.experiments.store import RowStore

PROGRAM = [sys.executable, "-c", "from heterodag.cli.app import main; main()"]


def test_every_ending_makes_a_row_and_the_others_go_on(tmp_path):
    tasks = [task(Sleeper()), task(Failing()), task(Killed()), task(Reversed(), ("partial-correlation",))]
    seen = []
    progress = Progress(
        lambda t: seen.append(("started", t.cell.name)), lambda t, r: seen.append(("finished", r["cell"]))
    )
    rows = run_tasks(tasks, RowStore(tmp_path), RunSettings(max_seconds=3, n_jobs=2), progress=progress)
    found = {row["method"]: row for row in rows}
    assert {method: row["status"] for method, row in found.items()} == {
        "Sleeper": "timeout", "Failing": "error", "Killed": "error", "Reversed": "done",
    }  # fmt: skip
    assert "did not finish within 3 seconds: it was ended at order" in found["Sleeper"]["message"]
    assert found["Failing"]["message"] == "ZeroDivisionError: too bad"
    assert "killed by signal 9" in found["Killed"]["message"]
    assert found["Reversed"]["order"] == "3 2 1 0"
    assert found["Reversed"]["own_edges"] == 3
    assert 0 <= found["Reversed"]["partial-correlation_auc"] <= 1
    assert sorted(seen) == sorted((what, t.cell.name) for what in ("started", "finished") for t in tasks)
    # All of it is stored, and nothing is left to do.
    assert without_times(RowStore(tmp_path).rows()) == without_times(rows)
    assert run_tasks(tasks, RowStore(tmp_path), RunSettings(max_seconds=3, n_jobs=1)) == []


def test_what_was_found_before_the_limit_is_kept(tmp_path):
    pytest.importorskip("torch")
    # The own graph is there long before the second edge test can end.
    slow = task(Reversed(), ("partial-correlation", "lcit"), n=5_000, d=30)
    (row,) = run_tasks([slow], RowStore(tmp_path), RunSettings(max_seconds=2.5, n_jobs=1))
    assert row["status"] == "timeout"
    assert row["message"].endswith("ended at edges by lcit.")
    assert row["order_divergence"] >= 0
    assert "own_shd" in row
    assert "partial-correlation_shd" in row
    assert "lcit_shd" not in row


def test_the_number_of_processes_changes_nothing(tmp_path):
    tasks = [task(Reversed(), ("partial-correlation",), repeat=k) for k in range(4)]
    one = run_tasks(tasks, RowStore(tmp_path / "one"), RunSettings(n_jobs=1))
    two = run_tasks(tasks, RowStore(tmp_path / "two"), RunSettings(n_jobs=2))
    assert without_times(one) == without_times(two)
    assert len(one) == 4


def test_a_process_that_starts_too_slowly_makes_a_row(monkeypatch, tmp_path):
    monkeypatch.setattr(processes, "START", 1e-4)
    (row,) = run_tasks([task(Reversed())], RowStore(tmp_path), RunSettings(n_jobs=1))
    assert row["status"] == "timeout"
    assert row["message"] == "Reversed was not run: its process did not start within 0.0001 seconds."
    assert row["seconds"] == 1e-4


def test_an_ended_process_leaves_no_file_open():
    process = CellProcess()
    assert process.kill().startswith("Its process was killed by signal 9")
    assert process._lines.get(timeout=60) == b""  # its output was read to the end
    assert all(file.closed for file in (process._errors, process._process.stdin, process._process.stdout))
    assert process.kill() == ""


def test_a_stopped_pool_runs_nothing_more():
    pool = ProcessPool()
    pool.stop()
    with pytest.raises(Stopped):
        pool.run(task(Reversed()), None)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"max_seconds": -1}, "max_seconds"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"backend": "spark"}, "'local', 'dask'"),
        ({"backend": "dask"}, "scheduler"),
        ({"scheduler": "tcp://x:1"}, "'dask'"),
    ],
)
def test_wrong_settings_are_refused(settings, said):
    with pytest.raises(ParameterError, match=said):
        RunSettings(**settings)


# --- as a program -------------------------------------------------------------------------------------------

METHODS = "VarSort,EqVar,NPVar,HOST-paper"
ARGUMENTS = ["reproduce", "dense", "--scale", "smoke", "--methods", METHODS]


def start(out, n_jobs=2):
    return subprocess.Popen(
        [*PROGRAM, *ARGUMENTS, "--n-jobs", str(n_jobs), "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
        # A run in the background of a shell ignores Ctrl-C, and so would what it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def wait_for_rows(path, count, process):
    end = time.monotonic() + 120
    while time.monotonic() < end and process.poll() is None:
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.02)
    raise AssertionError(process.communicate()[1])


def children_of(pid):
    found = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in found.splitlines()]
    return [child for child, parent in pairs if parent == pid]


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes through /proc")
def test_killed_in_the_middle_and_resumed_equals_uninterrupted(tmp_path):
    pytest.importorskip("torch")
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert CliRunner().invoke(app, [*ARGUMENTS, "--n-jobs", "1", "--out", str(whole)]).exit_code == 0
    process = start(broken)
    wait_for_rows(broken / "rows.jsonl", 3, process)
    workers = children_of(process.pid)
    process.kill()
    process.communicate()
    assert workers
    # What a kill in the middle of a write leaves.
    rows = broken / "rows.jsonl"
    before = rows.read_bytes()
    rows.write_bytes(before[:-30])
    again = start(broken, n_jobs=1)
    out, err = again.communicate(timeout=240)
    assert again.returncode == 0
    assert "1 line of the store held no row" in err
    kept = len(before.splitlines()) - 1
    assert f"{kept} already there" in out
    first, second = RowStore(whole), RowStore(broken)
    assert second.broken == 0
    assert without_times(first.rows()) == without_times(second.rows())
    assert len(rows.read_text().splitlines()) == len(second.rows()) == 8
    for name in ("dense.csv", "dense.svg", "dense.md"):
        assert (whole / name).read_bytes() == (broken / name).read_bytes()
    # The killed run's own processes have ended by themselves.
    assert not any(is_running(pid) for pid in workers)


def test_an_interrupt_ends_with_how_to_go_on(tmp_path):
    pytest.importorskip("torch")
    process = start(tmp_path)
    wait_for_rows(tmp_path / "rows.jsonl", 1, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.strip().endswith("give the same command again to continue.")
    assert len(err.strip().splitlines()) == 1


def test_a_scheduler_that_is_not_there_gets_one_sentence(tmp_path):
    pytest.importorskip("distributed")
    settings = RunSettings(backend="dask", scheduler="nonsense://")
    with pytest.raises(HeterodagError, match="No dask scheduler answers at 'nonsense://'"):
        run_tasks([task(Reversed())], RowStore(tmp_path), settings)
