"""Stored rows come out again, as far as that was tried, and the comparison sees what it should."""

import pytest

import again
from rows import AGAIN, RESULTS, read


@pytest.mark.parametrize("line", read(AGAIN), ids=lambda line: line["file"])
def test_rows_that_were_run_again_are_the_same(line):
    """One cell in ten may differ: LCIT and networks end elsewhere where processors round differently."""
    assert (RESULTS / line["file"]).exists()
    assert int(line["same"]) >= 0.9 * int(line["cells"]) > 0
    assert (line["differing"] == "") == (line["same"] == line["cells"])


@pytest.mark.parametrize("stored", again.FILES, ids=lambda stored: stored.name)
def test_keys_are_columns_and_cells_can_be_drawn(stored):
    cells = again.drawn(stored, 3)
    assert 1 < len(cells) <= 3
    assert all(set(stored.key) <= set(row) for rows in cells for row in rows)
    assert [rows[0] for rows in cells] == [rows[0] for rows in again.drawn(stored, 3)]


def test_what_differs_is_seen_and_times_are_not():
    before = [{"seed": "1", "shd": "2", "nats": "0.5", "seconds": "1.0", "note": ""}]
    same = {"seed": 1, "shd": 2, "nats": 0.5 + 1e-9, "seconds": 9.0, "note": None}
    assert again.differing(before, [same]) == set()
    assert again.differing(before, [same | {"shd": 3}]) == {"shd"}
    assert again.differing(before, [same | {"nats": 0.501, "note": "new"}]) == {"nats", "note"}
    assert again.differing(before, []) == {"seed", "shd", "nats", "note"}


def test_a_file_whose_rows_changed_is_reported(tmp_path, monkeypatch):
    (tmp_path / "some.csv").write_text("seed,shd\n1,2\n3,4\n")
    monkeypatch.setattr(again, "RESULTS", tmp_path)
    stored = again.Stored("some", ("seed",), lambda key: [{"seed": key["seed"], "shd": 2}])
    line = again.again(stored, 2)
    assert (line["file"], line["cells"], line["same"], line["differing"]) == ("some.csv", 2, 1, "shd")
