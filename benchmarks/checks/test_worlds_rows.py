"""The page on worlds is the one its stored rows make, and the rows are what it says they are."""

from pathlib import Path

import pytest

import sortability
from pages import SORTABILITY
from rows import RESULTS, read
from worlds import KEY, WORLDS, sample, tables
from worlds_page import methods_of, page, paired, per_edge, pick, sizes_page, whole_rounds

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def stored():
    return read(RESULTS / "worlds.csv")


def test_the_page_is_the_one_these_rows_make(stored):
    assert (ROOT / "docs" / "worlds.md").read_text(encoding="utf-8") == page(stored)
    assert (ROOT / "docs" / "results" / "worlds-sizes.md").read_text(encoding="utf-8") == sizes_page(stored)


def test_every_rival_has_every_table_of_the_main_setting_once(stored):
    keys = [tuple(row[key] for key in KEY) for row in stored]
    assert len(set(keys)) == len(keys)
    shown = pick(whole_rounds(stored), "main")
    seeds, methods = {row["seed"] for row in shown}, methods_of(shown)
    assert len(seeds) >= 12
    assert len(methods) >= 9
    asked = [table for table in tables("main") if str(table[-1]) in seeds]
    assert {(world, *map(str, table), name) for world in WORLDS for table in asked for name in methods} <= set(keys)


def test_all_methods_saw_the_same_tables(stored):
    marks, graphs = {}, {}
    for row in stored:
        table = (row["graph"], row["d"], row["seed"])
        marks.setdefault((row["world"], row["n"], *table), set()).add(row["table"])
        graphs.setdefault(table, set()).add(row["table"].split("-")[0])
    assert all(len(found) == 1 for found in marks.values())
    # One graph per table number, in all worlds and at all numbers of rows.
    assert all(len(found) == 1 for found in graphs.values())


@pytest.mark.parametrize("world", WORLDS)
def test_the_generator_still_makes_these_tables(stored, world):
    from packages import checksum

    graph, n, d, seed = tables("main")[0]
    row = next(row for row in pick(stored, "main", world) if row["seed"] == str(seed))
    assert checksum(*sample(world, graph, n, d, seed)) == row["table"]


def test_sortabilities_are_those_of_these_tables():
    found = {tuple(row[name] for name in sortability.KEY): row for row in read(SORTABILITY)}
    expected = list(sortability.tasks(None))
    assert {task[0] for task in expected} <= set(found)
    assert {key[0] for key in found} == {*(task[0][0] for task in expected), "authors_sets"}
    firsts = {task[0][:2]: task for task in reversed(expected) if task[0][0] in ("worlds", "paper_worlds")}
    for task in firsts.values():
        assert sortability.cell(*task) == [found[task[0]]]


def test_counts_fit_together(stored):
    for row in stored:
        if row["error"]:
            continue
        shd, strict, drawn, wrong, open_ = (int(row[key]) for key in ("shd", "shd_strict", "drawn", "wrong", "open"))
        assert 0 <= wrong <= drawn
        assert shd <= strict <= shd + open_
        # A true edge against the order is missing or reversed in the graph, unless it was left open.
        assert row["order_divergence"] == "" or strict >= int(row["order_divergence"])


@pytest.mark.parametrize(
    ("world", "better", "worse"),
    [("straight/constant/mixed", "DirectLiNGAM", "CAM"), ("curved/constant/normal", "CAM", "DirectLiNGAM")],
)
def test_methods_win_where_their_assumptions_hold(stored, world, better, worse):
    """A generator or a reader of graphs gone wrong would end this: more than three standard errors, and nearly perfect."""
    gap, error = paired(stored, "main", world, (worse, better))
    assert gap > 3 * error > 0
    assert per_edge("shd")(pick(stored, "main", world, better)) < 0.15


def test_a_round_that_has_only_begun_is_not_shown(stored):
    """New rows change the page only when HOST has been through four more graphs in all worlds."""
    shown = whole_rounds(stored)
    last = max(int(row["seed"]) for row in pick(shown, "main"))
    template = next(row for row in pick(shown, "main") if row["method"] == "HOST")
    begun = [template | {"seed": str(last + 1 + t), "world": world} for t in range(4) for world in WORLDS]
    assert whole_rounds([*stored, *begun[:-1]]) == shown
    grown = pick(whole_rounds([*stored, *begun]), "main")
    assert len(grown) == len(pick(shown, "main")) + len(begun) * (last + 5 <= 50_020)
