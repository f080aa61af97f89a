"""The page on strengths is the one its stored rows make, and its intervals cover about what they say."""

from pathlib import Path

import pytest

from rows import read
from strengths import KINDS, SIZES, STORE, TABLES, page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "strengths.md"


@pytest.fixture(scope="module")
def stored():
    return read(STORE)


def test_the_page_is_the_one_these_rows_make(stored):
    assert PAGE.read_text(encoding="utf-8") == page(stored)


def test_every_kind_has_all_its_tables(stored):
    assert len({(r["kind"], r["n"], r["seed"], r["graph"]) for r in stored}) == 2 * len(KINDS) * len(SIZES) * TABLES


def test_intervals_of_the_mean_cover(stored):
    covered = [r["mean_covered"] == "1" for r in stored if r["found"] == "1"]
    assert len(covered) > 1900
    assert 0.92 < sum(covered) / len(covered) < 0.97
