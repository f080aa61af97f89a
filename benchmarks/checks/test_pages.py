"""Every result page is the one its stored rows make, says which version made them, and is short and plain."""

import importlib
import re
from pathlib import Path

import pytest

import calibration
import rows
from pages import prose

DOCS = Path(__file__).resolve().parents[2] / "docs"
#: Page -> program that makes it from a file of rows (pages with checks of their own are not here).
ONE_FILE = {
    "calibration.md": ("calibration", "calibration"),
    "interventions.md": ("interventions", None),
    "knowledge-results.md": ("knowledge", "knowledge"),
    "oracle-order.md": ("oracle_order", "oracle_order"),
    "sachs.md": ("sachs", "sachs"),
    "authors-sets.md": ("authors_sets", "authors_sets"),
    "speed.md": ("ordering_speed", "ordering_speed"),
    "columns.md": ("columns", None),
    "results/progress.md": ("progress", "progress"),
    "results/ablations.md": ("ablations", "ablations"),
}
OTHERS = [
    "worlds.md",
    "reproduction.md",
    "directions.md",
    "pairs.md",
    "paper-worlds.md",
    "strengths.md",
    "cost.md",
    "not-best.md",
    *(name for name in ("standard-graphs.md", "confidence.md") if (DOCS / name).exists()),
]
PAGES = [*ONE_FILE, *OTHERS]
ODD = (
    r"\b(dearer|so many (rows|steps|of|nats)|errs? least|as it comes|on the same surface|hangs on little|read it so|"
    r"mend(s|ed)?)\b"
)


def text_of(name):
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ONE_FILE)
def test_the_page_is_the_one_these_rows_make(name):
    program, file = ONE_FILE[name]
    arguments = [rows.read(rows.RESULTS / f"{file}.csv")] if file else []
    if program == "knowledge":
        arguments[0].sort(key=lambda row: int(row["seed"]))
    assert text_of(name) == importlib.import_module(program).page(*arguments)


def test_tables_on_written_pages_are_those_these_rows_make():
    assert importlib.import_module("parametrizations").page(text_of("parametrisation.md")) == text_of(
        "parametrisation.md"
    )


def test_the_downloads_of_calibration_have_every_run(tmp_path):
    lines = calibration.summary(rows.read(rows.RESULTS / "calibration.csv"))
    calibration.write_summary(tmp_path / "calibration.csv", lines)
    assert (tmp_path / "calibration.csv").read_text(encoding="utf-8") == text_of("results/calibration.csv")
    assert sum(int(line["runs"]) + int(line["failed"]) for line in lines) == len(
        rows.read(rows.RESULTS / "calibration.csv")
    )


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_version_command_and_rows(name):
    text = text_of(name)
    assert "**Version.**" in text
    assert re.search(r"`python\s+benchmarks/\w+\.py", text)
    assert "benchmarks/results/" in text


@pytest.mark.parametrize(
    "name", sorted({*PAGES, "experiments.md", "check-graph.md"} - {"columns.md", "results/progress.md"})
)
def test_a_page_says_its_seeds_and_where_choices_were_made(name):
    text = text_of(name)
    assert re.search(r"\bseeds?\b", text, flags=re.IGNORECASE)
    assert re.search(r"\b(choices?|chosen|chose|tuning)\b", text, flags=re.IGNORECASE)


@pytest.mark.parametrize(
    "name", [*PAGES, *(f"results/{path.name}" for path in sorted((DOCS / "results").glob("*.md")))]
)
def test_english_is_plain(name):
    assert not re.findall(ODD, text_of(name), flags=re.IGNORECASE)


def test_what_the_top_of_paper_worlds_says_without_numbers():
    """HOST() makes fewer errors than the specialist on the nonlinear data."""
    found = [r for r in rows.read(rows.RESULTS / "paper_worlds.csv") if r["mechanism"] == "nonlinear"]
    own, told = (sum(int(r["shd"]) for r in found if r["method"] == name) for name in ("HOST()", "specialist"))
    assert own < told


def test_what_the_top_of_oracle_order_says_without_numbers():
    """The authors' own tests make more errors than `likelihood` wherever their figures exist."""
    oracle = importlib.import_module("oracle_order")
    found = rows.read(rows.RESULTS / "oracle_order.csv")
    for author in oracle.AUTHORS:
        names = {row["set"] for row in found if row["test"] == author}
        settings = {(row["graph"], row["n"]) for row in found if row["set"] in names}
        for setting in settings:
            mine = [row for row in found if row["set"] in names and (row["graph"], row["n"]) == setting]
            assert oracle.mean_shd(mine, "likelihood") < oracle.mean_shd(mine, author)


def test_which_tests_fail_their_level_is_what_calibration_measured():
    """The table of docs/edge-tests.md: tests that fail at one of the levels and numbers of rows."""
    failing = {}
    for line in calibration.summary(rows.read(rows.RESULTS / "calibration.csv")):
        known = failing.setdefault(line["scenario"], {})
        fails = bool(line["level_0.05_fails"] or line["level_0.001_fails"])
        known[line["test"]] = known.get(line["test"], False) or fails
    failed = {scenario: {test for test, fails in known.items() if fails} for scenario, known in failing.items()}
    assert failed["homoscedastic"] == {"likelihood-full"}
    assert failed["heteroscedastic"] == {"gam classical", "likelihood-full location-scale"}
    assert failed["variance-only"] == {"gam classical"}
    assert set(failing["heavy-tailed"]) - failed["heavy-tailed"] == {"kci", "likelihood-full auto, spread"}
    assert not failed["exponential noise"] | failed["t noise"] | failed["bimodal noise"]
    lines = text_of("edge-tests.md").splitlines()
    for data, cells in {
        "constant spread, straight lines": ('`"likelihood-full"`, told lines in natural form', "all others"),
        "a cause of the spread alone": ('`"gam-classical"`', "all others"),
        "the paper's tables, with heavy-tailed columns": ("all others", '`"kci"` (100 runs, 500 rows)'),
    }.items():
        assert f"| {data} | {' | '.join(cells)} |" in lines
    (moving,) = (line for line in lines if line.startswith("| mean and spread move by the paper's mechanism |"))
    assert moving.count('`"gam-classical"`') == moving.count("told lines in location-scale form") == 1


def test_a_paragraph_on_versions_says_commits_and_what_came_out_again(tmp_path, monkeypatch):
    import pages

    monkeypatch.setattr(pages, "MADE_BY", tmp_path / "made_by.csv")
    monkeypatch.setattr(pages, "AGAIN", tmp_path / "again.csv")
    pages.MADE_BY.write_text("file,version,commit,date\na.csv,1,abc,d\na.csv,1,def,d\nb.csv,1,abc,d\n")
    pages.AGAIN.write_text("file,commit,date,cells,same,differing\na.csv,fed,d,6,5,shd\n")
    told = pages.made_with("a.csv", "b.csv", what="It is HOST.")
    assert told.startswith(
        "**Version.** It is HOST. The rows of a.csv were made by commit `abc` and `def` (version 1); of 6 cells"
    )
    assert (
        "run again by `fed`, 5 came out the same. The rows of b.csv were made by commit `abc` (version 1). [Which"
        in told
    )
    text = pages.with_version("# T\n\n**Version.** old\nwords.\n\nMore.\n", "b.csv")
    assert "old" not in text
    assert text.startswith("# T\n\n**Version.** `HOST()` is")
    assert text.endswith("\n\nMore.\n")


def test_prose_folds_paragraphs_and_keeps_the_rest():
    text = "# A title that is not folded\n\n" + "word " * 40 + "\n\n- one\n- two {x}\n\n```\na  b\n```"
    found = prose(text, x=3)
    assert max(map(len, found.splitlines())) <= 120
    assert found.endswith("- one\n- two 3\n\n```\na  b\n```")
