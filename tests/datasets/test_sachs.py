"""The Sachs data that the package carries, against the copy they were taken from."""

from __future__ import annotations

import csv
import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from heterodag.core.graph import is_dag
from heterodag.datasets import Dataset, load_sachs

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "sachs"


@pytest.fixture(scope="module")
def sachs():
    return load_sachs()


def test_shapes_and_types(sachs):
    assert isinstance(sachs, Dataset)
    assert sachs.X.shape == (853, 11)
    assert sachs.X.dtype == np.float64
    assert np.isfinite(sachs.X).all()
    assert sachs.adjacency.shape == (11, 11)
    assert sachs.adjacency.dtype == np.int8
    assert " ".join(sachs.feature_names) == "raf mek plcg pip2 pip3 erk akt pka pkc p38 jnk"


def test_values_are_raw_fluorescence(sachs):
    np.testing.assert_array_equal(sachs.X[0], [26.4, 13.2, 8.82, 18.3, 58.8, 6.61, 17.0, 414.0, 17.0, 44.9, 40.0])
    assert sachs.X.min() > 0
    assert sachs.X.max() > 1000


def test_the_graph_has_17_edges_and_no_cycle(sachs):
    assert len(sachs.edges) == len(set(sachs.edges)) == sachs.adjacency.sum() == 17
    assert is_dag(sachs.adjacency)
    names = sachs.feature_names
    assert {(names[i], names[j]) for i, j in np.argwhere(sachs.adjacency)} == set(sachs.edges)
    assert ("raf", "mek") in sachs.edges
    assert ("mek", "raf") not in sachs.edges


def test_data_is_a_frame(sachs):
    assert isinstance(sachs.data, pd.DataFrame)
    assert list(sachs.data.columns) == sachs.feature_names
    np.testing.assert_array_equal(sachs.data.to_numpy(), sachs.X)


def test_the_description_says_where_it_comes_from(sachs):
    for part in ("Science 308:523 (2005)", "raw fluorescence", "17-edge", "18 edges", "20"):
        assert part in sachs.description


def test_results_are_frozen_and_fresh(sachs):
    with pytest.raises(dataclasses.FrozenInstanceError):
        sachs.X = None
    again = load_sachs()
    again.X[0, 0] = -1
    assert load_sachs().X[0, 0] == 26.4


def test_the_copy_equals_the_source(sachs):
    if not SHARED.exists():
        pytest.skip("the shared copy is not here")
    table = np.loadtxt(SHARED / "sachs_observational.csv", delimiter=",", skiprows=1)
    np.testing.assert_array_equal(sachs.X, table)
    with open(SHARED / "sachs_edges_17.csv", newline="") as file:
        assert sachs.edges == [tuple(row) for row in csv.reader(file)][1:]


# --- all conditions -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def conditions():
    return load_sachs(conditions=True)


def test_all_conditions_contain_the_observational_cells(sachs, conditions):
    assert conditions.X.shape == (7466, 11)
    assert conditions.feature_names == sachs.feature_names
    assert conditions.edges == sachs.edges
    own = conditions.X[conditions.conditions == "cd3_cd28"]
    np.testing.assert_array_equal(np.sort(own, axis=0), np.sort(sachs.X, axis=0))
    assert conditions.data.columns.tolist() == [*sachs.feature_names, "condition"]


def test_every_condition_has_targets_that_are_columns(conditions):
    names, counts = np.unique(conditions.conditions, return_counts=True)
    assert set(names) == set(conditions.targets)
    assert counts.min() == 707
    assert {name for name in conditions.targets.values() if name is not None} == {"akt", "pkc", "pip2", "mek", "pka"}


def test_the_conditions_can_be_used_as_they_come(conditions):
    from heterodag import Interventions
    from heterodag.knowledge.study import read_study

    study = read_study(conditions.data, Interventions("condition", conditions.targets), None)
    assert study.experiments.fixed.sum() == 7466 - 853 - 902
    assert study.own_names == conditions.feature_names


def test_the_table_is_that_of_the_shared_folder(conditions):
    path = SHARED.parent / "sachs-conditions" / "sachs_conditions.csv"
    if not path.exists():
        pytest.skip("the shared data are not here")
    frame = pd.read_csv(path)
    np.testing.assert_array_equal(frame["condition"], conditions.conditions)
    np.testing.assert_array_equal(frame[conditions.feature_names], conditions.X)
