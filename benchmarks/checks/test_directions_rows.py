"""The page on directions is the one its stored rows make, and its main claim holds in them."""

from pathlib import Path

import pytest

from directions import INVISIBLE, SIZES, TABLES, WORLDS, page
from rows import RESULTS, read

PAGE = Path(__file__).resolve().parents[2] / "docs" / "directions.md"


@pytest.fixture(scope="module")
def stored():
    return read(RESULTS / "directions.csv")


def test_the_page_is_the_one_these_rows_make(stored):
    assert PAGE.read_text(encoding="utf-8") == page(stored)


def test_every_world_has_all_its_tables(stored):
    assert len({(r["world"], r["n"], r["seed"]) for r in stored}) == len(WORLDS) * len(SIZES) * TABLES


def test_arrows_are_open_where_directions_are_invisible_and_few_are_elsewhere(stored):
    edges = [r for r in stored if r["verdict"] != "no edge" and r["n"] == "1000"]
    hidden, seen = ([r for r in edges if (r["world"] == INVISIBLE) == wanted] for wanted in (True, False))
    assert sum(r["open"] == "1" for r in hidden) / len(hidden) > 0.2
    assert sum(r["open"] == "1" for r in seen) / len(seen) < 0.1
