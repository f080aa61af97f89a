"""The rows in the repository agree with the tables, pictures and page made from them."""

import re
from pathlib import Path

import pandas as pd
import pytest
from test_figures import check_lines

import reproduction_claims
import reproduction_page
from heterodag.experiments.catalogue import EXPERIMENTS
from heterodag.experiments.figures import draw
from heterodag.experiments.outputs import as_csv, made_by, source_note, summary_of, tables_of
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
    summary = summary_of(EXPERIMENTS[name], rows_of(name))
    numbers = as_csv(summary)
    tables = tables_of(EXPERIMENTS[name], summary) + made_by(rows_of(name))
    assert (RESULTS / f"{name}.md").read_text(encoding="utf-8").endswith(tables)
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


def test_the_page_is_the_one_these_rows_make():
    assert list(reproduction_claims.notes()) == list(EXPERIMENTS)
    page = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    assert page == reproduction_page.page(STORE)
    for name in EXPERIMENTS:
        assert f"(results/reproduction-{name}.md)" in page
    for picture in re.findall(r"\]\((images/reproduction/[^)]+)\)", page):
        assert (ROOT / "docs" / picture).exists()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_page_of_an_experiment_is_the_one_its_rows_make(name):
    page = (ROOT / "docs" / "results" / f"reproduction-{name}.md").read_text(encoding="utf-8")
    assert page == reproduction_page.experiment_page(EXPERIMENTS[name], rows_of(name))


def test_claims_that_do_not_hold_are_on_the_page():
    """Seven of the claims fail by these rows; a page that says less would hide them."""
    found = [
        claim for e in EXPERIMENTS.values() for claim in reproduction_claims.claims(e, summary_of(e, rows_of(e.name)))
    ]
    assert sum(holds == "not as claimed" for _, _, holds, _ in found) == 7
    page = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    assert page.count("| no |") == 7
