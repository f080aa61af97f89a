"""The design that targets share: sums and products against plain ones, kept or made anew, whole or a sample."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag.core import design as design_module
from heterodag.core import table as table_module
from heterodag.core.design import Design, combine, linear_basis, product_places
from heterodag.core.table import Table


@pytest.fixture(scope="module")
def table():
    return Table.standardize(np.random.default_rng(0).normal(size=(700, 6)))


def joined(design, active=None):
    blocks = list(design.blocks(active))
    return np.hstack([b.Z for b in blocks]), np.hstack([b.Y for b in blocks])


def test_the_linear_design_is_the_predecessors_under_ones(table):
    design = Design(table, (3, 1), (0, 5, 0))
    Z, Y = joined(design)
    np.testing.assert_array_equal(Z, np.vstack([np.ones(700), table.take([3, 1])]))
    np.testing.assert_array_equal(Y, table.take([0, 5, 0]))
    assert (design.width, design.n_products, design.n_rows) == (3, 6, 700)
    np.testing.assert_array_equal(joined(design, np.array([2, 1]))[1], table.take([0, 5]))


def test_every_pair_of_columns_has_one_place():
    left, right, places = product_places(5)
    assert len(left) == 15
    np.testing.assert_array_equal(places, places.T)
    for place, pair in enumerate(zip(left, right, strict=True)):
        assert places[pair] == place
    assert len(np.unique(places)) == 15
    with pytest.raises(ValueError, match="read-only"):
        places[0, 0] = 1


@pytest.mark.parametrize("wide", [False, True], ids=["products kept", "wide"])
@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["positive", "mixed"])
def test_sums_and_weighted_products_are_plain_ones(table, wide, sign):
    rng = np.random.default_rng(1)
    design = Design(table, (0, 1, 2), (4, 5), wide=wide)
    weights = rng.exponential(size=(2, 2, 700))
    weights[1] *= sign
    (block,) = design.blocks()
    assert (block.products is None) == wide
    Z = block.Z
    np.testing.assert_allclose(block.sums(weights), np.einsum("qtn,pn->qtp", weights, Z), rtol=1e-10)
    full = np.einsum("qtn,in,jn->qtij", weights, Z, Z)
    np.testing.assert_allclose(block.weigh(weights)[:, :, design.symmetric], full, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(block.column_sums(), Z.sum(axis=1))


def test_linear_predictors_of_shared_and_of_own_designs():
    rng = np.random.default_rng(2)
    coefficients, own = rng.normal(size=(3, 4)), rng.normal(size=(4, 3, 10))
    np.testing.assert_allclose(combine(coefficients, own[0]), coefficients.T @ own[0])
    np.testing.assert_allclose(combine(coefficients, own), [coefficients[:, i] @ own[i] for i in range(4)])


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "made anew"])
def test_blocks_cover_every_row_once_and_stay_if_they_are_small(table, kept, monkeypatch):
    whole = joined(Design(table, (0, 1), (2, 3)))
    monkeypatch.setattr(table_module, "BLOCK_BYTES", 1)
    monkeypatch.setattr(design_module, "CACHE_BYTES", 2**30 if kept else 0)
    calls = []

    def basis(predecessors):
        calls.append(predecessors.shape[1])
        return linear_basis(predecessors)

    design = Design(table, (0, 1), (2, 3), basis)
    calls.clear()
    next(iter(design.blocks()))  # given up half way: nothing half-made is kept
    for _ in range(3):
        for mine, other in zip(joined(design), whole, strict=True):
            np.testing.assert_array_equal(mine, other)
    assert calls == [256, *([256, 256, 188] * (1 if kept else 3))]


@pytest.mark.parametrize("made", [False, True])
def test_a_sample_is_the_same_regression_on_evenly_spread_rows(table, made):
    ready = linear_basis(table.take([0, 1])) if made else None
    design = Design(table, (0, 1), (2,), wide=True, ready=ready)
    for rows in (1, 99, 699, 700, 10_000):
        sample = design.sample(rows)
        assert sample.n_rows == min(rows, 700)
        assert sample.wide
        which = np.arange(sample.n_rows) * 700 // sample.n_rows
        Z, Y = joined(sample)
        np.testing.assert_array_equal(Z, linear_basis(table.take([0, 1])[:, which]))
        np.testing.assert_array_equal(Y, table.take([2])[:, which])


def test_a_sample_of_a_ready_design_has_the_rows_of_its_table():
    X = np.random.default_rng(0).normal(size=(400, 2))
    X[333, 0] = 80.0  # far out: a sample keeps this row, and an even one would not
    table = Table.standardize(X)
    ready = np.vstack([np.ones(400), table.take([0])])
    sample = Design(table, (0,), (1,), ready=ready).sample(100)
    (block,) = sample.blocks()
    np.testing.assert_array_equal(block.Z[1], sample.table.take([0])[0])
    assert block.Z[1].max() == table.take([0]).max()
