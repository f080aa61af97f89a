"""The demo's page says of fresh trials what the stored rows say, and the trial mostly comes out right."""

from pathlib import Path

import trial
from rows import read

DEMO = Path(__file__).resolve().parents[2] / "docs" / "demo.md"


def test_the_page_says_what_the_rows_say():
    text = DEMO.read_text(encoding="utf-8")
    assert trial.page(read(trial.STORE), text) == text


def test_every_seed_was_run_once_and_every_arrow_is_counted():
    rows = read(trial.STORE)
    assert sorted(int(row["seed"]) for row in rows) == list(trial.SEEDS)
    assert {sum(int(row[name]) for name in ("right", "turned", "missing")) for row in rows} == {6}


def test_the_seed_of_the_demo_is_no_lucky_one():
    assert sum(int(row["right"]) == 6 for row in read(trial.STORE)) >= 16
