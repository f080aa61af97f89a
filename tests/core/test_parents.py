"""Designs with parents of their own: the same models as with a shared design, whatever is batched with whatever."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag.core import parents as parents_module
from heterodag.core import table as table_module
from heterodag.core.design import Design
from heterodag.core.gaussian import FORMS, NATURAL
from heterodag.core.layout import Coefficients
from heterodag.core.parents import ParentDesign
from heterodag.core.solver import Objective, minimize
from heterodag.core.table import Table

both_forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)

#: Targets with parents of different number, one without, one twice.
TARGETS = (3, 4, 0, 3, 5)
PARENTS = ((0, 1), (2,), (), (0, 1, 2), (4, 1))


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(700, 3))
    a, b = rng.normal(size=(2, 3, 3)) * 0.5
    return Table.standardize(np.column_stack([x, x @ a + np.exp(x @ b) * rng.normal(size=(700, 3))]))


def solve(design, form, strength=1e-2):
    shape = Coefficients(form, design.width)
    start = np.zeros((shape.width, len(design.targets)))
    return minimize(design, shape, start, shape.ridge(strength / design.n_rows)), shape


# --- same models --------------------------------------------------------------------------------------------


@both_forms
def test_a_batch_of_different_parents_gives_the_fits_of_single_designs(table, form):
    batch, shape = solve(ParentDesign(table, PARENTS, TARGETS), form)
    assert batch.converged.all()
    for i, (target, parents) in enumerate(zip(TARGETS, PARENTS, strict=True)):
        single, _ = solve(Design(table, parents, (target,)), form)
        where = shape.embed(np.arange(len(parents) + 1))
        assert batch.objective[i] == pytest.approx(single.objective[0], abs=1e-8)
        np.testing.assert_allclose(batch.theta[where, i], single.theta[:, 0], atol=1e-3)
        padding = np.setdiff1d(np.arange(shape.size), where)
        assert np.abs(batch.theta[padding, i]).max(initial=0.0) < 1e-12


@both_forms
@pytest.mark.parametrize("observed", [False, True], ids=["expected", "observed"])
def test_derivatives_are_those_of_a_shared_design(table, form, observed):
    shape, k = Coefficients(form, 3), 3
    b = np.random.default_rng(2).normal(size=(k, 3)) * 0.3
    b[:, 1:] *= 6.0  # the bound on runaway rows takes part
    designs = ParentDesign(table, [(0, 1)] * k, (3, 4, 5)), Design(table, (0, 1), (3, 4, 5))
    for active in ([0, 1, 2], [2, 0]):
        own, shared = (Objective(d, shape, shape.ridge(0.1))(b[active], np.array(active), observed) for d in designs)
        for mine, other in zip(own.arrays(), shared.arrays(), strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-8, atol=1e-8)


@both_forms
def test_wider_company_changes_nothing(table, form):
    alone, _ = solve(ParentDesign(table, [(0, 1)], [3]), form)
    among, shape = solve(ParentDesign(table, [(0, 1), (0, 1, 2, 4)], [3, 5]), form)
    own = shape.embed(np.arange(3))
    np.testing.assert_allclose(among.objective[0], alone.objective[0], atol=1e-9)
    np.testing.assert_allclose(among.theta[own, 0], alone.theta[:, 0], atol=1e-4)
    # Padding does not move (but for rounding) and is not tied to anything.
    padding = np.setdiff1d(np.arange(shape.size), own)
    assert np.abs(among.theta[padding, 0]).max() < 1e-12
    assert (among.information[0][np.ix_(padding, own)] == 0.0).all()


# --- blocks -------------------------------------------------------------------------------------------------


def collected(design, active=None):
    blocks = list(design.blocks(active))
    return [np.concatenate([getattr(block, name) for block in blocks], axis=-1) for name in ("Z", "products", "Y")]


def test_blocks_hold_the_designs_their_products_and_the_targets(table):
    Z, products, Y = collected(design := ParentDesign(table, PARENTS, TARGETS))
    n = table.shape[0]
    assert Z.shape == (5, 4, n) == (len(TARGETS), design.width, design.n_rows)
    for i, parents in enumerate(PARENTS):
        expected = np.vstack([np.ones(n), table.take(parents), np.zeros((3 - len(parents), n))])
        np.testing.assert_array_equal(Z[i], expected)
        every = products[i][design.symmetric]
        np.testing.assert_allclose(every, expected[:, None] * expected[None, :])
    np.testing.assert_array_equal(Y, table.take(TARGETS))


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "made anew"])
def test_row_blocks_change_nothing(table, kept, monkeypatch):
    whole = solve(ParentDesign(table, PARENTS, TARGETS), NATURAL)[0]
    monkeypatch.setattr(table_module, "BLOCK_BYTES", 1)  # the smallest blocks there are, 256 rows
    if not kept:
        monkeypatch.setattr(parents_module, "CACHE_BYTES", 0)
    design = ParentDesign(table, PARENTS, TARGETS)
    assert len(list(design.blocks())) == 3
    assert bool(design._kept) == kept
    cut = solve(design, NATURAL)[0]
    np.testing.assert_allclose(cut.objective, whole.objective, atol=1e-10)
    np.testing.assert_allclose(cut.theta, whole.theta, atol=1e-5)


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "made anew"])
def test_shrinking_and_growing_active_sets_are_served(table, kept, monkeypatch):
    if not kept:
        monkeypatch.setattr(parents_module, "CACHE_BYTES", 0)
    design = ParentDesign(table, PARENTS, TARGETS)
    every = collected(design)
    for active in ([0, 1, 2, 3, 4], [0, 2, 3], [3], [1, 4], [0, 1, 2, 3, 4], [4, 0], []):
        some = collected(design, np.array(active, dtype=np.intp))
        for mine, whole in zip(some, every, strict=True):
            np.testing.assert_array_equal(mine, whole[active])


def test_an_iteration_given_up_half_way_leaves_a_design_that_works(table, monkeypatch):
    monkeypatch.setattr(table_module, "BLOCK_BYTES", 1)
    design = ParentDesign(table, PARENTS, TARGETS)
    next(iter(design.blocks(np.array([1, 2]))))
    for mine, whole in zip(collected(design), collected(ParentDesign(table, PARENTS, TARGETS)), strict=True):
        np.testing.assert_array_equal(mine, whole)


def test_no_parents_at_all(table):
    design = ParentDesign(table, [(), ()], [1, 2])
    assert design.width == 1
    found, _ = solve(design, NATURAL)
    np.testing.assert_allclose(found.objective, 0.5, atol=1e-8)  # standardised: mean 0, variance 1
