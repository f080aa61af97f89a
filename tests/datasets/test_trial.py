"""The simulated trial: what it promises, and that it fits the model for more than one seed."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag import HOST, ParameterError, metrics
from heterodag.core.graph import is_dag
from heterodag.datasets import Dataset, simulate_trial


def test_shape_names_and_graph():
    trial = simulate_trial(50)
    assert isinstance(trial, Dataset)
    assert trial.X.shape == (50, 6)
    assert trial.data.columns.tolist() == trial.feature_names
    assert is_dag(trial.adjacency)
    names = trial.feature_names
    assert {(names[i], names[j]) for i, j in np.argwhere(trial.adjacency)} == set(trial.edges)


def test_the_seed_decides():
    np.testing.assert_array_equal(simulate_trial(20).X, simulate_trial(20, random_state=0).X)
    assert (simulate_trial(20, random_state=1).X != simulate_trial(20).X).any()
    again = [simulate_trial(20, np.random.default_rng(3)).X for _ in range(2)]
    np.testing.assert_array_equal(*again)
    for wrong in ({"n": 1}, {"random_state": -1}, {"random_state": "a"}):
        with pytest.raises(ParameterError):
            simulate_trial(**wrong)


@pytest.mark.parametrize("seed", [1, 2])
def test_it_fits_the_model(seed):
    """The demo's seed is not a lucky one: others give the true graph too, with nothing to warn of."""
    trial = simulate_trial(random_state=seed)
    model = HOST().fit(trial.data)
    assert metrics.shd(model.adjacency_, trial.adjacency) == 0
    assert model.trust().worst == "green"
