"""The page on directions is the one its stored rows make, and its main claim holds in them."""

from pathlib import Path

import pytest

from directions import INVISIBLE, LIMIT_STORE, SIZES, TABLES, TUNING, WORLDS, counted, drawn_at, page
from rows import RESULTS, read

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def stored():
    return read(RESULTS / "directions.csv")


def test_the_page_is_the_one_these_rows_make(stored):
    assert (DOCS / "directions.md").read_text(encoding="utf-8") == page(stored, read(LIMIT_STORE))


def test_every_world_has_all_its_tables(stored):
    assert len({(r["world"], r["n"], r["seed"]) for r in stored}) == len(WORLDS) * len(SIZES) * TABLES


def test_arrows_are_open_where_directions_are_invisible_and_few_are_elsewhere(stored):
    edges = [r for r in stored if r["verdict"] != "no edge" and r["n"] == "1000"]
    hidden, seen = ([r for r in edges if (r["world"] == INVISIBLE) == wanted] for wanted in (True, False))
    assert sum(r["open"] == "1" for r in hidden) / len(hidden) > 0.2
    assert sum(r["open"] == "1" for r in seen) / len(seen) < 0.1


def test_other_pages_quote_these_rows(stored):
    """What is said of the limits of 9 and of 15 nats elsewhere."""
    tuning = read(LIMIT_STORE)
    assert len({(r["n"], r["seed"]) for r in tuning}) == len(TUNING) * len(SIZES)
    wrong, more = (f"{drawn_at(tuning, limit)[1]:.1f} %" for limit in (9, 4))
    for name, told in (("method", f"{more} with a limit of 4 nats"), ("constants", f"{more} with 4 nats")):
        text = " ".join((DOCS / f"{name}.md").read_text(encoding="utf-8").split())
        assert f"{wrong} of the arrows drawn are wrong" in text
        assert told in text
    count, right = counted([r for r in stored if r["world"] != INVISIBLE], 15, float("inf"))
    assert count - right == 1
    assert f"of {count:,} arrows with more, one was wrong" in (DOCS / "constants.md").read_text(encoding="utf-8")
