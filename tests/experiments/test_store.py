"""The store of rows: torn and wrong lines, several rows a cell, rows of other versions."""

import json

import pytest
from experiment_helpers import data_set

from heterodag.errors import HeterodagError
from heterodag.experiments.cells import Cell
from heterodag.experiments.store import RowStore

CELLS = [Cell(data_set(repeat=repeat), "HOST") for repeat in range(4)]


def row(cell, status="done", **more):
    return {"cell": cell.name, "status": status, "message": ""} | more


def stored(folder, *rows):
    store = RowStore(folder)
    store.prepare()
    for content in rows:
        store.add(content)
    return store


def test_rows_come_back_and_only_missing_cells_are_left(tmp_path):
    stored(tmp_path / "new", row(CELLS[0]), row(CELLS[2]))
    store = RowStore(tmp_path / "new")
    assert store.broken == 0
    assert store.missing(CELLS) == [CELLS[1], CELLS[3]]
    assert [found["cell"] for found in store.rows(CELLS)] == [CELLS[0].name, CELLS[2].name]


@pytest.mark.parametrize("keep", [1, 10, -1])
def test_a_torn_last_line_is_noticed_and_its_cell_is_run_again(tmp_path, keep):
    store = stored(tmp_path, row(CELLS[0]), row(CELLS[1]))
    text = store.path.read_text()
    first, second = text.splitlines()
    store.path.write_text(f"{first}\n{second[:keep]}")
    again = RowStore(tmp_path)
    assert again.broken == 1
    assert again.missing(CELLS[:2]) == [CELLS[1]]
    again.prepare()
    again.add(row(CELLS[1]))
    assert store.path.read_text() == text
    assert RowStore(tmp_path).broken == 0


def test_a_whole_last_line_without_its_end_is_kept(tmp_path):
    store = stored(tmp_path, row(CELLS[0]))
    store.path.write_text(store.path.read_text().rstrip("\n"))
    again = RowStore(tmp_path)
    again.prepare()
    again.add(row(CELLS[1]))
    assert [json.loads(line)["cell"] for line in store.path.read_text().splitlines()] == [c.name for c in CELLS[:2]]


def test_rubbish_between_rows_is_counted_and_passed_over(tmp_path):
    store = stored(tmp_path, row(CELLS[0]))
    with store.path.open("ab") as file:
        file.write(b'\xff\x00 nonsense\n[1, 2]\n{"cell": 3}\n{"cell": "x", "status": "?"}\n')
    store.add(row(CELLS[1]))
    again = RowStore(tmp_path)
    assert again.broken == 4
    assert again.missing(CELLS[:2]) == []


def test_of_several_rows_of_a_cell_one_counts(tmp_path):
    store = stored(
        tmp_path, row(CELLS[0], "error"), row(CELLS[0], order_divergence=1), row(CELLS[0], "timeout"),
        row(CELLS[0], order_divergence=2),
    )  # fmt: skip
    for rows in (store.rows(), RowStore(tmp_path).rows()):
        assert [(r["status"], r["order_divergence"]) for r in rows] == [("done", 2)]


def test_a_timeout_is_run_again_only_with_more_time(tmp_path):
    store = stored(tmp_path, row(CELLS[0], "timeout", max_seconds=10), row(CELLS[1], "error"))
    assert store.missing(CELLS[:2], 10) == []
    assert store.missing(CELLS[:2], 5) == []
    assert store.missing(CELLS[:2], 20) == [CELLS[0]]
    assert store.missing(CELLS[:2], None) == [CELLS[0]]
    assert store.missing(CELLS[:2], 10, retry=True) == CELLS[:2]


def test_rows_of_another_version_count_unless_one_version_is_asked_for(tmp_path):
    stored(tmp_path, row(CELLS[0], heterodag="0.0.9"), row(CELLS[1], heterodag="2.0"), row(CELLS[2]))
    assert RowStore(tmp_path).missing(CELLS[:3]) == []
    store = RowStore(tmp_path, "2.0")
    assert store.broken == 0
    assert store.missing(CELLS[:3]) == [CELLS[0], CELLS[2]]
    assert [found["cell"] for found in store.outdated(CELLS[:2])] == [CELLS[0].name]
    store.add(row(CELLS[0], heterodag="2.0"))
    assert store.outdated(CELLS[:2]) == RowStore(tmp_path, "2.0").outdated(CELLS[:2]) == []
    assert len(store.path.read_text().splitlines()) == 4  # nothing is lost


def test_a_folder_that_cannot_be_used_gets_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(HeterodagError, match="cannot be"):
        stored(tmp_path / "file" / "rows", row(CELLS[0]))
