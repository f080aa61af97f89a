"""Names and seeds of cells: stable, the same data for all methods, unrelated otherwise."""

import numpy as np
import pytest

from heterodag.errors import ParameterError
from heterodag.experiments.catalogue import EXPERIMENTS, SCALES, get_experiments
from heterodag.experiments.cells import FIRST_SEED, Cell, DataSet, seed_of
from heterodag.experiments.costs import expected_seconds, in_words, total_seconds
from heterodag.experiments.data import load_data
from heterodag.experiments.methods import METHODS, get_method

DATA = DataSet("simulated", 500, 10, 2, "ER-1", "linear", "code")
NAMES = [
    "sample-size", "dimensionality", "sachs", "sample-size-f1-auc", "dimensionality-f1-auc", "dense", "runtime",
    "sample-size-gam", "dimensionality-gam", "nonlinear", "non-polynomial",
]  # fmt: skip


def test_names_and_seeds_are_the_same_on_every_machine():
    cell = Cell(DATA, "HOST")
    assert DATA.name == "simulated/code/linear/ER-1/d=10/n=500/repeat=2"
    assert cell.name == f"{DATA.name}/HOST/gam-classical+lcit"
    # The first six bytes of SHA-256 of the name: stored rows stay valid only while these hold.
    assert seed_of("a") == FIRST_SEED + 0xCA978112CA1B
    assert DATA.seed == seed_of(DATA.name)
    assert cell.seed == seed_of(f"{DATA.name}/HOST")


def test_all_methods_see_the_same_table_and_have_seeds_of_their_own():
    cells = [Cell(DATA, method) for method in METHODS]
    assert len({cell.data.seed for cell in cells}) == 1
    assert len({cell.seed for cell in cells}) == len(METHODS)
    assert len({cell.test_seed(test) for cell in cells for test in cell.tests}) == 2 * len(METHODS)


def test_other_tests_or_other_repeats_change_only_what_they_must():
    few, many = Cell(DATA, "HOST", ("lcit",)), Cell(DATA, "HOST")
    assert few.name != many.name
    assert few.seed == many.seed
    assert few.test_seed("lcit") == many.test_seed("lcit")
    assert Cell(DATA, "HOST", budget="small").seed != many.seed
    # The code of a user's method is part of the name of its cell, and of no seed.
    changed = Cell(DATA, "HOST", digest="x")
    assert changed.name != many.name
    assert (changed.seed, changed.test_seed("lcit")) == (many.seed, many.test_seed("lcit"))
    assert DataSet("simulated", 500, 10, 3, "ER-1", "linear", "code").seed != DATA.seed


def test_data_sets_are_loaded_as_described():
    X, truth = load_data(DATA)
    assert X.shape == (500, 10)
    assert truth.sum() == 10
    assert np.array_equal(X, load_data(DATA)[0])
    rows, graph = load_data(DataSet("sachs", 700, 11, 0))
    other, _ = load_data(DataSet("sachs", 700, 11, 1))
    assert rows.shape == (700, 11)
    assert graph.sum() == 17
    assert not np.array_equal(rows, other)
    # A subsample: no row of the data is drawn twice beyond what the table itself holds.
    assert len(np.unique(rows, axis=0)) > 690


def test_the_eleven_experiments_are_there_at_the_papers_scale():
    assert list(EXPERIMENTS) == NAMES
    cells = EXPERIMENTS["sample-size"].cells("full")
    assert {cell.data.n for cell in cells} == {500, 1000, 2000, 5000, 10_000, 20_000, 50_000}
    assert {cell.data.d for cell in cells} == {10}
    assert {cell.data.graph for cell in cells} == {"ER-1", "ER-2", "SF-1", "SF-2"}
    assert {cell.data.repeat for cell in cells} == set(range(5))
    assert {cell.data.d for cell in EXPERIMENTS["dimensionality"].cells("full")} == {10, 20, 30, 40, 50}
    assert {(c.data.n, c.data.graph) for c in EXPERIMENTS["dense"].cells()} == {(5000, "ER-4"), (5000, "SF-4")}
    sachs = EXPERIMENTS["sachs"].cells("full")
    assert {(cell.data.n, cell.data.d) for cell in sachs} == {(700, 11)}
    assert {cell.data.repeat for cell in sachs} == set(range(10))
    assert {cell.data.mechanism for cell in EXPERIMENTS["nonlinear"].cells("full")} == {"nonlinear"}
    assert {"CAM", "GOLEM", "GraN-DAG"} < {cell.method for cell in EXPERIMENTS["non-polynomial"].cells("full")}
    everything = {cell.data.version for e in EXPERIMENTS.values() for cell in e.cells("full")}
    assert everything == {"code", ""}


def test_experiments_share_cells():
    def names(name, scale="full"):
        return {cell.name for cell in EXPERIMENTS[name].cells(scale)}

    assert names("sample-size") == names("sample-size-f1-auc") == names("sample-size-gam")
    assert names("runtime") == names("sample-size") | names("dimensionality")
    assert names("sample-size", "quick") < names("sample-size")
    assert not names("sample-size", "smoke") & names("sample-size")


@pytest.mark.parametrize("scale", SCALES)
def test_every_cell_can_be_simulated_and_has_a_cost(scale):
    for experiment in EXPERIMENTS.values():
        cells = experiment.cells(scale)
        assert len({cell.name for cell in cells}) == len(cells)
        assert {cell.method for cell in cells} <= set(METHODS)
        assert all(expected_seconds(cell) > 0 for cell in cells)
    small = [cell for e in EXPERIMENTS.values() for cell in e.cells("smoke")]
    for data in {cell.data for cell in small}:
        assert load_data(data)[0].shape == (data.n, data.d)


def test_costs_count_shared_cells_once_and_respect_the_limit():
    cells = EXPERIMENTS["sample-size"].cells("full")
    assert total_seconds([*cells, *cells]) == total_seconds(cells)
    assert total_seconds(cells, 1.0) <= len(cells)
    assert (in_words(0.2), in_words(90), in_words(7200)) == ("1 s", "1.5 min", "2.0 h")


def test_wrong_names_are_refused_with_the_right_ones():
    with pytest.raises(ParameterError, match=r"sample-size.*got 'figure-2'"):
        get_experiments("figure-2")
    with pytest.raises(ParameterError, match=r"HOST-paper.*got 'PC'"):
        get_method("PC")
    with pytest.raises(ParameterError, match="smoke"):
        EXPERIMENTS["dense"].cells("huge")
    assert get_method("gran-dag").name == "GraN-DAG"
