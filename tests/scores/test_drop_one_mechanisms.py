"""Drop-one tests where mechanisms compete: what a p-value is, how often nulls are rejected, which causes are found."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag import recover_dag, simulate
from heterodag.core.gaussian import LOCATION_SCALE, NATURAL
from heterodag.core.table import Table
from heterodag.scores.competition import CompetingFitter
from heterodag.scores.drop_one_mechanisms import drop_mechanisms
from heterodag.scores.fit import Effort
from heterodag.scores.local import LocalScores

FITTER, SIDES = CompetingFitter(), CompetingFitter((LOCATION_SCALE,))
#: Column 0 is a cause of column 2; column 1 does nothing.
GRAPH = np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]])
KEY = (2, (0, 1))


def table_of(mechanism, spread, noise, seed, n=500):
    data = simulate(n, 3, mechanism=mechanism, spread=spread, noise=noise, adjacency=GRAPH, random_state=seed)
    return Table.standardize(data.X)


def mover_and_spreader(seed, noise="normal", n=500):
    """Column 0 moves the mean of column 2, column 1 its spread."""
    rng = np.random.default_rng(seed)
    x, e = rng.standard_normal((n, 2)), rng.standard_normal(n)
    if noise == "laplace":
        e = rng.laplace(size=n) / np.sqrt(2)
    return Table.standardize(np.column_stack([x, x[:, 0] + np.exp(0.5 * x[:, 1]) * e]))


def most(share, runs, deviations=4.0):
    """Return the most rejections that chance allows."""
    return share * runs + deviations * np.sqrt(share * (1 - share) * runs)


# --- what is tested -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("world", [("curved", "curved", "laplace"), ("straight", "straight", "normal")], ids="/".join)
def test_a_difference_of_g_nats_has_the_p_value_exp_minus_g(world):
    for seed in range(4):
        table = table_of(*world, seed)
        tests = drop_mechanisms(FITTER, table, KEY, [0, 1])
        assert tests.target == 2
        assert tests.tested == [0, 1]
        losses = [LocalScores(table, FITTER).losses([key], Effort.FINAL)[0] for key in (KEY, (2, (1,)), (2, (0,)))]
        gains = np.maximum(np.array(losses[1:]) - losses[0], 0.0)
        np.testing.assert_allclose(np.log(tests.pvalues["both"]), -gains, atol=0.05)


def test_the_natural_form_goes_with_the_parent():
    """The model without a parent cannot start from the one with it; that it tried once was a crash.

    Column 2 has both natural parameters moved by both others, as in the paper.
    """
    graph = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    for seed in range(5):
        table = Table.standardize(simulate(500, 3, adjacency=graph, random_state=seed).X)
        for fitter in (FITTER, CompetingFitter((NATURAL,), natural_curves=True)):
            tests = fitter.without(table, KEY, [1, 0])
            assert tests.tested == [1, 0]
            assert (tests.pvalues["both"] < 1e-6).all()
            assert set(tests.pvalues) == {"both"}
    data = simulate(400, 4, "ER", 1, random_state=1)
    full = recover_dag(data.X, data.order, selection="likelihood-full")
    assert full.adjacency[data.adjacency == 1].mean() >= 0.75


def test_only_what_is_asked_for_is_tested():
    table = table_of("curved", "constant", "normal", 0)
    both, one, none = (SIDES.without(table, KEY, tested) for tested in ([0, 1], [1], []))
    for name in ("both", "mean", "variance"):
        assert both.pvalues[name].shape == (2,)
        np.testing.assert_allclose(one.pvalues[name], both.pvalues[name][1:], rtol=1e-6)
        assert none.pvalues[name].shape == (0,)
    assert (one.tested, none.tested) == ([1], [])
    assert both.converged


def test_only_one_form_tells_mean_from_spread():
    table = mover_and_spreader(0)
    assert set(SIDES.without(table, KEY, [0]).pvalues) == {"both", "mean", "variance"}
    for forms in ((LOCATION_SCALE, NATURAL), (NATURAL,)):
        assert set(CompetingFitter(forms).without(table, KEY, [0]).pvalues) == {"both"}


def test_p_values_do_not_depend_on_units_and_signs():
    rng = np.random.default_rng(1)
    table = table_of("curved", "curved", "exponential", 1)
    other = Table.standardize(table.X * (10 ** rng.uniform(-3, 3, 3) * [-1, 1, -1]) + rng.normal(size=3))
    for name, values in SIDES.without(table, KEY, [0, 1]).pvalues.items():
        moved = SIDES.without(other, KEY, [0, 1]).pvalues[name]
        np.testing.assert_allclose(np.log(np.maximum(moved, 1e-30)), np.log(np.maximum(values, 1e-30)), atol=0.5)


# --- level --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("mechanism", "spread"), [("straight", "constant"), ("curved", "curved")])
def test_nulls_are_rejected_no_more_often_than_said(mechanism, spread):
    """180 nulls at the level 0.05, given the true cause: four standard deviations above the level are 20.

    With `noise="gaussian"` straight worlds have 21 % (Laplace) and 31 % (exponential) rejected: 31 of the first 120.
    """
    pvalues = np.array(
        [
            FITTER.without(table_of(mechanism, spread, noise, seed), KEY, [1]).pvalues["both"][0]
            for start, noise in ((0, "laplace"), (60, "exponential"), (120, "bimodal"))
            for seed in range(start, start + 60)
        ]
    )
    assert (pvalues < 0.05).sum() <= most(0.05, 180)
    assert (pvalues < 0.5).sum() <= most(0.5, 180)


def test_over_all_nulls_the_level_is_kept():
    """400 nulls of all kinds, without any cause at all: the target is noise."""
    rejected, kinds = 0, ("normal", "laplace", "exponential", "bimodal")
    for seed in range(100):
        for noise in kinds:
            data = simulate(300, 2, mechanism="none", noise=noise, adjacency=np.zeros((2, 2)), random_state=seed)
            rejected += FITTER.without(Table.standardize(data.X), (1, (0,)), [0]).pvalues["both"][0] < 0.05
    assert rejected <= most(0.05, 400)


@pytest.mark.parametrize(("noise", "seed"), [("normal", 157), ("laplace", 103), ("laplace", 189), ("bimodal", 161)])
def test_an_irrelevant_parent_is_never_certain(noise, seed):
    """Between 1e-60 and 1e-38: the worst of 200 nulls should be about 0.005."""
    tests = FITTER.without(table_of("curved", "curved", noise, seed), KEY, [1])
    assert tests.pvalues["both"][0] > 1e-5


# --- power --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "spread"),
    [
        ("straight", "constant"),
        ("curved", "constant"),
        ("none", "straight"),
        ("none", "curved"),
        ("curved", "curved"),
    ],
)
def test_causes_are_found(mechanism, spread):
    for noise in ("normal", "laplace", "exponential", "bimodal"):
        pvalues = [
            FITTER.without(table_of(mechanism, spread, noise, seed), KEY, [0]).pvalues["both"][0]
            for seed in range(10)
        ]
        assert np.sum(np.array(pvalues) < 0.001) >= 9


# --- mean and spread ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_mean_and_spread_are_told_apart(noise):
    found = {"mean": [], "variance": []}
    for seed in range(40):
        tests = SIDES.without(mover_and_spreader(seed, noise), KEY, [0, 1])
        for name, values in found.items():
            values.append(tests.pvalues[name])
    mean, variance = (np.array(values) for values in found.values())
    assert mean[:, 0].max() < 1e-3
    assert variance[:, 1].max() < 1e-3
    for null in (mean[:, 1], variance[:, 0]):
        # Uniform, or larger: curves are tested whose strengths were chosen from the same rows, so a little room is left.
        assert (null < 0.05).sum() <= most(0.1, 40)
        assert np.median(null) > 0.2
        assert null.min() > 1e-4


def test_curves_on_either_side_are_found():
    """Waves that no line describes, on the mean by one parent and on the spread by another."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((600, 2))
        y = np.cos(2 * x[:, 0]) + np.exp(0.6 * np.cos(2 * x[:, 1])) * rng.standard_normal(600)
        tests = SIDES.without(Table.standardize(np.column_stack([x, y])), KEY, [0, 1])
        mean, variance = tests.pvalues["mean"], tests.pvalues["variance"]
        assert max(mean[0], variance[1]) < 1e-4
        assert min(mean[1], variance[0]) > 1e-4


def test_sides_keep_their_level_under_exponential_noise():
    """Four in ten true nulls are rejected at 0.05, three in ten at 0.01."""
    nulls = np.array(
        [
            [SIDES.without(table, KEY, [1]).pvalues[name][0] for name in ("mean", "variance")]
            for table in (table_of("straight", "constant", "exponential", seed) for seed in range(25))
        ]
    )
    assert (nulls < 0.05).sum() <= most(0.1, 50)
