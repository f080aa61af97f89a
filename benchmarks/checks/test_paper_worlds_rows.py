"""The page on the paper's data is the one its stored rows make, with all its tables."""

from pathlib import Path

from paper_worlds import GENERATORS, GRAPHS, KEY, METHODS, SETTINGS, STORE, page
from rows import read

PAGE = Path(__file__).resolve().parents[2] / "docs" / "paper-worlds.md"


def test_the_page_is_the_one_these_rows_make():
    assert PAGE.read_text(encoding="utf-8") == page(read(STORE))


def test_every_setting_has_all_its_tables():
    per_seed = len(GENERATORS) * len(GRAPHS) * len(METHODS)
    assert len({tuple(r[key] for key in KEY) for r in read(STORE)}) == per_seed * sum(SETTINGS.values())
