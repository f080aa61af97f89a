"""The page on graph checks is the one its stored rows make, and its claims hold in them."""

import numpy as np
import pytest

from graph_checks import EXAMPLE, FIRST_SEED, PAGE, SIZES, STORE, TABLES, VARIANTS, WORLDS, name_of
from graph_checks_page import TOPICS, alarm, first_is_right, page
from rows import read

UNLIKE, INVISIBLE = "nonlinear/normal", "straight/constant/normal"


@pytest.fixture(scope="module")
def stored():
    return read(STORE)


def of(rows, variant, n="1000"):
    """Return the rows of a kind of graph in the worlds whose mechanisms and directions can be seen."""
    return [r for r in rows if r["variant"] == variant and r["n"] == n and r["world"] not in (UNLIKE, INVISIBLE)]


def test_the_page_is_the_one_these_rows_make(stored):
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(stored, EXAMPLE.read_text(encoding="utf-8"))
    assert len([word for word in text.split() if word != "|"]) < 1500


def test_every_world_has_all_its_tables(stored):
    tables = {(r["world"], r["n"], r["seed"]) for r in stored}
    assert len(tables) == len(WORLDS) * len(SIZES) * TABLES
    assert {r["world"] for r in stored} == set(map(name_of, WORLDS))
    assert {r["variant"] for r in stored} == set(VARIANTS)
    assert min(int(r["seed"]) for r in stored) == FIRST_SEED


def test_right_graphs_pass_and_faults_are_found(stored):
    assert np.mean([not alarm(r, TOPICS) for r in of(stored, "right")]) > 0.9
    for fault in ("turned", "missing", "superfluous"):
        rows = of(stored, fault)
        assert np.mean([alarm(r, TOPICS) for r in rows]) > 0.95, fault
        assert np.mean([first_is_right(r) for r in rows]) > 0.9, fault


def test_the_p_value_of_random_graphs_is_uniform_and_right_graphs_are_better(stored):
    random = np.array([float(r["pvalue"]) for r in stored if r["variant"] == "random"])
    for level in (0.05, 0.1, 0.25, 0.5):
        assert abs(np.mean(random <= level) - level) < 4 * np.sqrt(level * (1 - level) / len(random))
    assert np.mean([float(r["pvalue"]) <= 0.05 for r in of(stored, "right")]) > 0.95


def test_the_notes_have_no_open_place():
    assert "<!--" not in PAGE.read_text(encoding="utf-8")
