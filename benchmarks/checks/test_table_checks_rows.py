"""The page on the check of tables is the one its stored rows make, and what it promises holds in them."""

from pathlib import Path

import pytest

from rows import RESULTS, read
from table_checks import HARM_TABLES, TABLES, cells_to_run
from table_checks_page import page
from table_defects import DEFECTS, HARMS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "data-check.md"


@pytest.fixture(scope="module")
def stored():
    return read(RESULTS / "table_checks.csv")


@pytest.fixture(scope="module")
def harm():
    return read(RESULTS / "table_checks_harm.csv")


def of(rows, name, strength):
    return [row for row in rows if row["name"] == name and row["strength"] == str(strength)]


def test_the_page_is_the_one_these_rows_make_and_is_short(stored, harm):
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(stored, harm)
    assert len([word for word in text.split() if word.strip("|-")]) < 1500


def test_all_tables_are_there(stored, harm):
    defects, clean = cells_to_run()
    assert {(r["kind"], r["name"], r["strength"], int(r["seed"])) for r in stored} == {k for k, _ in defects + clean}
    assert TABLES >= 50
    assert len(clean) >= 400
    assert len(harm) == HARM_TABLES * sum(len(defect.strengths) for defect in HARMS)


def test_clean_tables_are_left_alone(stored):
    clean = [row for row in stored if row["kind"] == "clean"]
    assert sum(row["severity"] == "amber" for row in clean) <= 0.01 * len(clean)
    assert not any(row["severity"] == "red" for row in clean)


def test_defects_are_found_at_their_strongest(stored):
    for defect in DEFECTS:
        strongest = (
            min(defect.strengths) if defect.name in ("few rows",) or "near" in defect.name else max(defect.strengths)
        )
        own = of(stored, defect.name, strongest)
        assert len(own) == TABLES
        assert sum(bool(row["found"]) for row in own) >= 0.98 * TABLES, defect.name
    for name, strength in (("random walk", 1), ("one wild value", 1_000_000), ("-999 for missing", 5)):
        assert all(row["found"] == "red" for row in of(stored, name, strength))


def errors(harm, name, strength):
    own = of(harm, name, strength)
    return sum(int(row["wrong"]) for row in own) / len(own)


def test_thresholds_stand_where_fits_begin_to_suffer(harm):
    rows = "rows remember the row before"
    assert errors(harm, rows, 0.5) < 0.5 < 1.0 < errors(harm, rows, 0.8)  # red
    assert errors(harm, rows, 0.9) > 4.0  # refused: of 10 pairs
    assert errors(harm, "few rows", 100) < 1.0 < errors(harm, "few rows", 50)
    assert errors(harm, "rounding of all columns", 0.2) < 0.3 < errors(harm, "rounding of all columns", 0.5)
    assert errors(harm, "limit of all columns", 0.02) < 0.3 < errors(harm, "limit of all columns", 0.1)
    assert errors(harm, "one wild value", 1_000_000) > 2.0
