"""The networks: they learn curves, follow their seed, do not depend on units, and need torch only to train."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

from heterodag.core.gaussian import FORMS, LOCATION_SCALE, NATURAL
from heterodag.core.table import Table
from heterodag.errors import MissingExtraError
from heterodag.scores import networks
from heterodag.scores.curves import CurveFitter
from heterodag.scores.fit import Effort
from heterodag.scores.local import LocalScores
from heterodag.scores.networks import NetworkFitter

both_forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
KEY = (2, (0, 1))


def data(n=600):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, 2))
    y = np.tanh(2 * x[:, 0]) + np.exp(0.5 * x[:, 1]) * rng.standard_normal(n)
    return np.column_stack([x, y])


@pytest.fixture
def quick(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(networks, "_MOST_EPOCHS", 25)


def fit_one(form, seed, table, key=KEY, start=None):
    return NetworkFitter(form, seed).fit(table, [key], [start], Effort.ROUND)[0]


@both_forms
def test_networks_predict_better_than_the_constant_model(quick, form):
    table = Table.standardize(data())
    fit = fit_one(form, 1, table)
    # The true gain per row is about 0.25.
    assert fit.loss < 600 * (0.5 - 0.12)
    assert fit.losses(table, slice(None)).mean() == pytest.approx(fit.loss / 600, abs=0.01)
    U = fit.residuals(table)
    assert U.std() == pytest.approx(1.0, abs=0.1)


def test_the_seed_decides_and_units_do_not(quick):
    X = data()
    first, again = (fit_one(NATURAL, 2, Table.standardize(X)) for _ in range(2))
    np.testing.assert_array_equal(first.networks.inner, again.networks.inner)
    other = fit_one(NATURAL, 2, Table.standardize(X * [-1000.0, 0.01, -3.0] + [5.0, 1.0, -2.0]))
    assert other.loss == pytest.approx(first.loss, abs=1e-3)
    assert fit_one(NATURAL, 3, Table.standardize(X)).loss != first.loss


def test_a_round_starts_from_the_previous_weights(quick, monkeypatch):
    table = Table.standardize(data())
    scores = LocalScores(table, NetworkFitter(NATURAL, 4))
    first = scores.fits([(0, (1,)), (2, (1,))], Effort.ROUND)
    second = scores.fits([KEY], Effort.ROUND, after=(1,))[0]
    assert second.networks.inner.shape == (1, 2, 4, 2)
    assert second.loss < first[1].loss + 6
    monkeypatch.setattr(networks, "_MOST_EPOCHS", 0)  # nothing is learned: what was known stays, where it belongs
    same = fit_one(NATURAL, 4, table, KEY, first[1])
    np.testing.assert_array_equal(same.networks.inner[..., 1], first[1].networks.inner[..., 0])
    np.testing.assert_array_equal(same.networks.outer, first[1].networks.outer)


def test_the_targets_of_a_round_are_trained_together_as_alone_at_first(quick, monkeypatch):
    """Company shares the rows that are held out and their order; first weights are each target's own."""
    monkeypatch.setattr(networks, "_MOST_EPOCHS", 0)
    table = Table.standardize(np.column_stack([data(), data()[:, ::-1]]))
    keys = [(2, (0,)), (3, (0,)), (5, (0,))]
    together = NetworkFitter(NATURAL, 5).fit(table, keys, [None] * 3, Effort.ROUND)
    for key, fit in zip(keys, together, strict=True):
        np.testing.assert_array_equal(fit_one(NATURAL, 5, table, key).networks.inner, fit.networks.inner)
        assert fit.key == key


def test_batches_are_models_with_the_same_parents():
    keys = [(3, (0,)), (4, (0, 1)), (5, (0,)), (2, ())]
    batches = list(NetworkFitter(NATURAL, 0).batches(None, keys))
    assert batches == [[(3, (0,)), (5, (0,))], [(4, (0, 1))], [(2, ())]]


def test_a_location_is_learned_in_natural_form_only(quick):
    table = Table.standardize(data())
    assert fit_one(NATURAL, 6, table).networks.location[0] != 0.0
    assert fit_one(LOCATION_SCALE, 6, table).networks.location[0] == 0.0


def test_networks_are_not_compared_and_edges_are_tested_by_splines():
    fitter, table = NetworkFitter(LOCATION_SCALE, 0), Table.standardize(data(200))
    assert not fitter.comparable
    with pytest.raises(NotImplementedError):
        fitter.gains(table, [])
    mine, splines = fitter.without(table, KEY, [0, 1]), CurveFitter(LOCATION_SCALE).without(table, KEY, [0, 1])
    for name, values in splines.pvalues.items():
        np.testing.assert_array_equal(mine.pvalues[name], values)


def test_predictions_and_travel_need_no_torch(quick, monkeypatch):
    table = Table.standardize(data())
    fit = fit_one(NATURAL, 7, table)
    before = fit.residuals(table)
    packed = pickle.dumps(fit)
    monkeypatch.setitem(sys.modules, "torch", None)
    np.testing.assert_array_equal(pickle.loads(packed).residuals(table), before)


def test_without_parents_nothing_is_trained(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    table = Table.standardize(data(50))
    fits = NetworkFitter(NATURAL, 0).fit(table, [(0, ()), (1, ())], [None, None], Effort.ROUND)
    assert [fit.loss for fit in fits] == [25.0, 25.0]
    np.testing.assert_allclose(fits[1].residuals(table), table.take([1])[0], atol=1e-12)
    with pytest.raises(MissingExtraError, match="neural"):
        fit_one(NATURAL, 0, table, (1, (0,)))
