"""The networks: they learn curves, follow their seed, do not depend on units, and need torch only to train."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from heterodag.core.table import Table
from heterodag.errors import MissingExtraError
from heterodag.models import mlp
from heterodag.models.conditional import ConditionalModel


def data(n=600):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, 2))
    y = np.tanh(2 * x[:, 0]) + np.exp(0.5 * x[:, 1]) * rng.standard_normal(n)
    return np.column_stack([x, y])


@pytest.fixture
def quick(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(mlp, "_MOST_EPOCHS", 25)


@pytest.mark.parametrize("form", ["natural", "location-scale"])
def test_networks_predict_better_than_the_constant_model(quick, form):
    table = Table.standardize(data())
    fit = ConditionalModel("mlp", form, seed=1).fit(table, [0, 1], [2])
    # The true gain per row is about 0.25.
    assert fit.objective[0] < 0.5 - 0.12
    loss = fit.losses(table, slice(0, 600))[0].mean()
    assert loss == pytest.approx(fit.objective[0], abs=0.01)


def test_the_seed_decides_and_units_do_not(quick):
    X = data()
    model = ConditionalModel("mlp", seed=2)
    first = model.fit(Table.standardize(X), [0, 1], [2])
    again = model.fit(Table.standardize(X), [0, 1], [2])
    np.testing.assert_array_equal(first.networks.inner, again.networks.inner)
    other = model.fit(Table.standardize(X * [-1000.0, 0.01, -3.0] + [5.0, 1.0, -2.0]), [0, 1], [2])
    assert other.objective[0] == pytest.approx(first.objective[0], abs=1e-6)
    different = ConditionalModel("mlp", seed=3).fit(Table.standardize(X), [0, 1], [2])
    assert different.objective[0] != first.objective[0]


def test_a_round_starts_from_the_previous_weights(quick):
    table, model = Table.standardize(data()), ConditionalModel("mlp", seed=4)
    first = model.fit(table, [1], [0, 2])
    second = model.proceed(table, first, [1, 0], [2])
    assert second.networks.inner.shape == (1, 2, 4, 2)
    assert second.objective[0] < first.objective[1] + 0.01


def test_without_predecessors_nothing_is_trained(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    table = Table.standardize(data(50))
    fit = ConditionalModel("mlp").fit(table, [], [0, 1])
    np.testing.assert_array_equal(fit.objective, 0.5)
    with pytest.raises(MissingExtraError, match="neural"):
        ConditionalModel("mlp").fit(table, [0], [1])
