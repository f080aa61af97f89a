"""Starting points: Harvey's two regressions against plain ones, near the truth, and never out of range."""

from __future__ import annotations

import numpy as np
import pytest
from plain_models import heteroscedastic

from heterodag.core import table as table_module
from heterodag.core.design import Design
from heterodag.core.parents import ParentDesign
from heterodag.core.starts import log_squares_start
from heterodag.core.table import Table


@pytest.fixture(scope="module")
def table():
    return Table.standardize(heteroscedastic(np.random.default_rng(1), 500, 2, targets=2, strength=0.5))


def by_hand(table, parents, target):
    Z = np.column_stack([np.ones(table.shape[0]), table.take(parents).T])
    y = table.take([target])[0]
    residual = y - Z @ np.linalg.lstsq(Z, y, rcond=None)[0]
    b = -np.linalg.lstsq(Z, np.log(residual**2 + 1e-8), rcond=None)[0]
    b[0] -= 1.2703628454614782
    return b


def test_it_is_two_least_squares_regressions(table):
    found = log_squares_start(Design(table, (0, 1), (2, 3)))
    assert found.shape == (3, 2)
    for i, target in enumerate((2, 3)):
        np.testing.assert_allclose(found[:, i], by_hand(table, (0, 1), target), atol=1e-6)


def test_own_padded_and_cut_designs_give_the_same(table, monkeypatch):
    own = log_squares_start(ParentDesign(table, [(0, 1), (1,), ()], (2, 3, 2)))
    np.testing.assert_allclose(own[:, 0], by_hand(table, (0, 1), 2), atol=1e-6)
    np.testing.assert_allclose(own[:2, 1], by_hand(table, (1,), 3), atol=1e-6)
    np.testing.assert_allclose(own[:1, 2], by_hand(table, (), 2), atol=1e-6)
    assert (own[2, 1:] == 0.0).all()
    assert own[1, 2] == 0.0
    monkeypatch.setattr(table_module, "BLOCK_BYTES", 1)
    cut = log_squares_start(ParentDesign(table, [(0, 1), (1,), ()], (2, 3, 2)))
    np.testing.assert_allclose(cut, own, atol=1e-9)


def test_it_is_near_the_truth_on_many_rows():
    """The log square of a normal has standard deviation 2.2, so slopes at 20,000 rows have error 0.016."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(20_000, 2))
    y = x @ [0.5, 0.2] + np.exp(x @ [0.4, -0.3] + 0.1) * rng.normal(size=20_000)
    table = Table.standardize(np.column_stack([x, y]))
    b = log_squares_start(Design(table, (0, 1), (2,)))[:, 0]
    np.testing.assert_allclose(b, [-0.2 + 2 * np.log(table.scale[2]), -0.8, 0.6], atol=0.07)


def test_a_leverage_point_and_twins_do_not_send_it_out_of_range():
    rng = np.random.default_rng(3)
    X = heteroscedastic(rng, 300, 2)
    X[5, 0] = 1e7
    X = np.column_stack([X, X[:, 1] * 2 - 1])
    table = Table.standardize(X)
    design = Design(table, (0, 1, 3), (2,))
    b = log_squares_start(design)
    assert np.isfinite(b).all()
    assert np.abs(b.T @ design.regressors(slice(None))).max() <= 15.0 + 1e-9
    # A target that its parents determine has no spread at all: minus infinity must not come out.
    exact = Table.standardize(np.column_stack([X[:, 1], 3 * X[:, 1]]))
    assert np.abs(log_squares_start(Design(exact, (0,), (1,)))).max() <= 16.0
