"""The rows in the repository, and the tables, pictures and page made from them: do they agree?"""

import re
import sys
from pathlib import Path

import pandas as pd
import pytest
from test_figures import check_lines

from heterodag.experiments.catalogue import EXPERIMENTS
from heterodag.experiments.figures import draw
from heterodag.experiments.outputs import as_csv, source_note, summary_of
from heterodag.experiments.store import RowStore

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "reproduction"
PICTURES = ROOT / "docs" / "images" / "reproduction"
STORE = RowStore(RESULTS)


def rows_of(name):
    return STORE.rows(EXPERIMENTS[name].cells("full"))


def test_the_store_is_whole_and_holds_only_cells_of_the_experiments():
    assert STORE.broken == 0
    wanted = {cell.name: cell for e in EXPERIMENTS.values() for cell in e.cells("full")}
    rows = STORE.rows()
    assert {row["cell"] for row in rows} <= set(wanted)
    # Seeds are those of the names: anyone can make these rows again.
    assert all(row["data_seed"] == wanted[row["cell"]].data.seed for row in rows)
    assert all(row["method_seed"] == wanted[row["cell"]].seed for row in rows)
    assert len(STORE.path.read_text(encoding="utf-8").splitlines()) == len(rows)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_tables_and_pictures_were_made_from_these_rows(name):
    assert rows_of(name)
    numbers = as_csv(summary_of(EXPERIMENTS[name], rows_of(name)))
    assert (RESULTS / f"{name}.csv").read_text(encoding="utf-8") == numbers
    if name != "sachs":
        assert source_note(numbers) in (PICTURES / f"{name}.svg").read_text(encoding="utf-8")
        assert source_note(numbers).encode() in (PICTURES / f"{name}.png").read_bytes()


def test_a_redrawn_figure_shows_the_stored_numbers():
    experiment = EXPERIMENTS["sample-size"]
    figure = draw(summary_of(experiment, rows_of("sample-size")), experiment)
    stored = pd.read_csv(RESULTS / "sample-size.csv")
    exact = summary_of(experiment, rows_of("sample-size"))
    assert check_lines(figure, exact, lambda column: "n") >= 4
    for column in ("mean", "low", "high"):
        assert list(stored[column].dropna()) == pytest.approx(list(exact[column].dropna()), rel=1e-5, abs=1e-5)


def test_the_page_is_the_one_these_rows_make(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    import reproduction_claims
    import reproduction_page

    assert list(reproduction_claims.notes()) == list(EXPERIMENTS)
    page = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    for name, experiment in EXPERIMENTS.items():
        assert reproduction_page.section(experiment, rows_of(name)).strip() in page
    assert reproduction_page.coverage(STORE).strip() in page
    for picture in re.findall(r"\]\((images/reproduction/[^)]+)\)", page):
        assert (ROOT / "docs" / picture).exists()


def test_claims_are_decided_by_the_rows(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    from reproduction_claims import best_counts, paired, verdict

    lines = [
        {"measure": "m", "graph": g, "n": n, "d": 1, "label": label, "mean": mean}
        for g, n, means in (("a", 1, (1, 2)), ("a", 2, (2, 1)), ("b", 1, (1, 1)))
        for label, mean in zip(("HOST (paper)", "NPVar"), means, strict=True)
    ]  # fmt: skip
    summary = pd.DataFrame(lines)
    assert best_counts(summary, "m", "HOST (paper)", higher=False) == (2, 3)
    assert best_counts(summary, "m", "HOST (paper)", higher=True) == (2, 3)
    assert [verdict(k, 20) for k in (20, 15, 10, 9)] == [
        "as claimed", "mostly as claimed", "only in part as claimed", "not as claimed",
    ]  # fmt: skip
    rows = [
        {"graph": "a", "n": 1, "d": 1, "repeat": k, "method": method, "x": k + (method == "B") * (1 + k)}
        for k in range(3) for method in "AB"
    ]  # fmt: skip
    mean, low, high, count = paired(rows, "A", "B", "x", lambda row: True)
    assert (mean, count) == (2.0, 3)
    assert low < 2.0 < high
