"""What the page on other packages claims, asserted on the stored rows."""

import csv
from pathlib import Path

import pytest

from alternatives_page import chosen, paired, per_edge

RESULTS = Path(__file__).resolve().parents[1] / "results"


@pytest.fixture(scope="module")
def stored():
    with (RESULTS / "alternatives.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_all_methods_saw_the_same_tables(stored):
    tables = {}
    for row in stored:
        tables.setdefault((row["family"], row["graph"], row["n"], row["seed"]), set()).add(row["table"])
    assert len(tables) >= 100
    assert all(len(marks) == 1 for marks in tables.values())


@pytest.mark.parametrize(
    ("family", "better", "worse"),
    [
        ("text", "HOST", "CAM"),
        ("code", "HOST", "CAM"),
        ("linear-exponential", "DirectLiNGAM", "HOST"),
        ("nonlinear-gaussian", "CAM", "HOST"),
    ],
)
def test_the_words_of_the_page_hold(stored, family, better, worse):
    """More than three standard errors apart, on at least 20 tables."""
    gap, error = paired(stored, family, 500, worse, better)
    assert gap > 3 * error > 0
    assert min(len(chosen(stored, family, 500, method)) for method in (better, worse)) >= 20


def test_chance_perfection_and_the_empty_graph(stored):
    """The page's other words, at n = 500: SHD 1 per edge is the empty graph, divergence 0.5 is chance."""

    def mean(family, method, key):
        return per_edge(chosen(stored, family, 500, method), key)

    for family in ("text", "code"):
        assert min(mean(family, method, "shd") for method in ("DirectLiNGAM", "PC", "GES")) > 1
    assert mean("linear-exponential", "DirectLiNGAM", "shd") < 0.1
    assert mean("linear-exponential", "HOST", "divergence") > 0.45
    assert mean("linear-gaussian", "HOST", "divergence") > 0.15
