"""The page on pairs is the one its stored rows make, and its main claim holds in them."""

from pathlib import Path

import pytest

import figures
import pairs_methods
from pairs import ABLATED, CONTROL, KINDS, PAIRS, STORE, VARIANTS
from pairs_page import curves, page
from rows import read

PAGE = Path(__file__).resolve().parents[2] / "docs" / "pairs.md"


@pytest.fixture(scope="module")
def stored():
    return read(STORE)


def test_the_page_is_the_one_these_rows_make(stored):
    assert PAGE.read_text(encoding="utf-8") == page(stored, read(ABLATED), read(pairs_methods.STORE))


def test_every_kind_has_all_its_pairs(stored):
    assert len({(r["kind"], r["seed"]) for r in stored}) == (len(KINDS) + 1) * PAIRS
    assert len({(r["left out"], r["kind"]) for r in read(ABLATED)}) == len(VARIANTS) * len(KINDS)


def test_directions_that_are_said_are_right_where_the_model_holds(stored):
    said = [r for r in stored if r["open"] == "0" and r["kind"] in list(KINDS)[:11]]
    assert len(said) > 0.8 * 11 * PAIRS
    assert sum(r["right"] == "1" for r in said) > 0.97 * len(said)


def test_the_figure_was_drawn_from_these_rows(stored):
    assert figures.up_to_date("pairs", curves(stored))


def test_directions_that_nobody_can_tell_are_not_decided(stored):
    own = [r for r in stored if r["kind"] == CONTROL]
    assert sum(r["open"] == "0" for r in own) <= 0.03 * len(own)


def test_every_method_was_given_its_pairs_of_every_kind():
    rows = read(pairs_methods.STORE)
    for method in {row["method"] for row in rows}:
        asked = {(row["kind"], row["seed"]) for row in rows if row["method"] == method}
        assert len(asked) == len(KINDS) * pairs_methods.FEWER.get(method, PAIRS)
