"""Penalties chosen by the data: the fixed point of the marginal likelihood, and blocks of noise that vanish."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag.core.design import Design
from heterodag.core.gaussian import FORMS, LOCATION_SCALE, NATURAL
from heterodag.core.layout import Coefficients
from heterodag.core.smoothing import STRONGEST, PenaltyBlock, minimize_smoothly, penalty_ridge
from heterodag.core.solver import minimize
from heterodag.core.table import Table

both_forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def problem(seed, n=1500, real=6, noise=6, size=0.2):
    """A line, real small effects on the mean and on the spread, and columns that do nothing."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 1 + real + noise))
    on_mean, on_spread = rng.normal(size=(2, real)) * size
    y = (
        0.5 * x[:, 0]
        + x[:, 1 : real + 1] @ on_mean
        + np.exp(0.5 * x[:, 1 : real + 1] @ on_spread) * rng.normal(size=n)
    )
    table = Table.standardize(np.column_stack([x, y]))
    return Design(table, range(1 + real + noise), (1 + real + noise,), wide=True), real, noise


def blocks_of(shape, real, noise, weights=None):
    """One block for each kind of column in each predictor: real in A and s, then noise in A and s."""
    rows = [np.arange(2, 2 + real), np.arange(2 + real, 2 + real + noise)]
    return [
        PenaltyBlock(own + side * shape.width, np.ones(len(own)) if weights is None else weights(len(own)))
        for own in rows
        for side in (0, 1)
    ]


def smooth(design, form, blocks, shortest=1.5, first=0.1, tolerance=1e-8):
    shape = Coefficients(form, design.width)
    ridge = shape.ridge(1e-3 / design.n_rows)
    start = np.zeros((design.width, 1))
    found = minimize_smoothly(
        design, shape, start, ridge, blocks, np.full(len(blocks), first), tolerance, 400, shortest
    )
    return *found, ridge


def test_the_penalty_of_a_block_is_strength_times_weight_per_row():
    blocks = [PenaltyBlock(np.array([1, 3]), np.array([1.0, 2.0])), PenaltyBlock(np.array([4]), np.array([5.0]))]
    before = np.full((6, 1), 0.5)
    found = penalty_ridge(before, blocks, np.array([10.0, 3.0]), 100)
    np.testing.assert_allclose(found[:, 0], [0.5, 0.6, 0.5, 0.7, 0.65, 0.5])
    assert (before == 0.5).all()


@both_forms
@pytest.mark.parametrize("seed", range(3))
def test_strengths_are_at_the_fixed_point(form, seed):
    """`strength = edf / sum(weight theta^2)`, edf from the information at the end, computed here from its formula."""
    design, real, noise = problem(seed)
    shape = Coefficients(form, design.width)
    blocks = blocks_of(shape, real, noise, lambda k: np.linspace(1.0, 3.0, k))
    shortest = 1.05
    solution, strengths, edf, ridge = smooth(design, form, blocks, shortest)
    assert solution.converged[0]
    n, covariance = design.n_rows, np.linalg.inv(solution.information[0])
    for number in (0, 1):  # the blocks with real effects
        block, own = blocks[number], blocks[number].index
        spent = len(own) - strengths[number] / n * block.weights @ covariance[own, own]
        assert 2.0 < spent <= len(own)
        assert edf[number] == pytest.approx(spent, rel=0.05)
        wanted = spent / (block.weights @ solution.theta[own, 0] ** 2)
        assert abs(np.log(wanted / strengths[number])) < 3 * np.log(shortest)
    # The solution is the minimum for these strengths.
    direct = minimize(
        design, shape, solution.theta[shape.spread] * 0.9, penalty_ridge(ridge, blocks, strengths, n), tolerance=1e-10
    )
    assert solution.objective[0] == pytest.approx(direct.objective[0], abs=1e-7)


def test_noise_is_smoothed_away_and_effects_are_not():
    """Location-scale form, 10 tables: spent coefficients of six columns that do nothing, and of six that do."""
    spent = []
    for seed in range(10):
        design, real, noise = problem(20 + seed)
        _, _, edf, _ = smooth(
            design, LOCATION_SCALE, blocks_of(Coefficients(LOCATION_SCALE, design.width), real, noise)
        )
        spent.append(edf)
    effects_mean, effects_spread, nothing_mean, nothing_spread = np.mean(spent, axis=0)
    assert min(effects_mean, effects_spread) > 4.5
    assert max(nothing_mean, nothing_spread) < 2.0


def test_an_empty_block_ends_at_a_strength_that_makes_it_zero():
    """Columns that the least-squares residuals are orthogonal to, and their squares too: nothing for them to do."""
    rng = np.random.default_rng(3)
    n, k = 400, 3
    x = np.repeat(rng.normal(size=(n // 4, k)), 4, axis=0)
    y = np.tile([1.0, -1.0, 2.0, -2.0], n // 4)
    table = Table.standardize(np.column_stack([x, y]))
    design, shape = Design(table, range(k), (k,), wide=True), Coefficients(LOCATION_SCALE, k + 1)
    blocks = [PenaltyBlock(np.arange(1, k + 1) + side * shape.width, np.ones(k)) for side in (0, 1)]
    solution, strengths, edf, _ = smooth(design, LOCATION_SCALE, blocks)
    assert (strengths > 1e4).all()
    assert (strengths <= STRONGEST).all()
    assert (edf < 0.2).all()
    assert np.abs(solution.theta[np.concatenate([block.index for block in blocks])]).max() < 1e-6


@both_forms
def test_the_strength_to_start_from_hardly_matters(form):
    design, real, noise = problem(4)
    blocks = blocks_of(Coefficients(form, design.width), real, noise)
    low, high = (smooth(design, form, blocks, 1.05, first) for first in (1e-2, 1e2))
    np.testing.assert_allclose(np.log(low[1][:2]), np.log(high[1][:2]), atol=0.3)
    assert low[0].objective[0] == pytest.approx(high[0].objective[0], abs=2e-3)


def test_smoothing_predicts_better_than_no_penalty_and_than_a_crushing_one():
    """Mean loss on 4000 rows, of which the fit has seen a tenth: too few for 80 free coefficients."""
    gains = []
    for seed in range(8):
        design, real, noise = problem(40 + seed, n=4000, real=20, noise=20, size=0.2)
        train = Design(design.table.sample(400), design.predecessors, design.targets, wide=True)
        shape = Coefficients(NATURAL, design.width)
        blocks = blocks_of(shape, real, noise)
        ridge = shape.ridge(1e-3 / 400)

        def loss(theta, design=design, shape=shape):
            Z, y = design.regressors(slice(None)), design.table.take(design.targets)
            A, s, m = shape.predictors(theta, Z)
            return 0.5 * np.mean(NATURAL.residuals(y, A, s, m) ** 2 - s)

        chosen = smooth(train, NATURAL, blocks)[0]
        fixed = [
            minimize(train, shape, np.zeros((shape.width, 1)), penalty_ridge(ridge, blocks, np.full(4, lam), 400))
            for lam in (1e-4, 1e6)
        ]
        gains.append([loss(other.theta) - loss(chosen.theta) for other in fixed])
    assert (np.mean(gains, axis=0) > 0.01).all()
