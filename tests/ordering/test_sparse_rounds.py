"""Rounds of Algorithm 2 given chosen parents: what is kept, what is refitted, and orders as good as the paper's."""

from __future__ import annotations

import itertools
from importlib import import_module

import numpy as np
import pytest
from scipy import stats

from heterodag import causal_order
from heterodag.core.normality import get_statistic
from heterodag.metrics import order_divergence
from heterodag.ordering import sparse_rounds
from heterodag.ordering.normality_order import order_by_normality
from heterodag.ordering.search import order_choices
from heterodag.ordering.sparse_rounds import SparseRounds
from heterodag.scores.fit import Effort
from heterodag.scores.make import score_settings
from heterodag.simulation import simulate


def rounds_of(X, form="natural"):
    scores = score_settings("linear", form).make(X, np.random.SeedSequence(0))
    return SparseRounds(order_choices(scores), get_statistic("shapiro"))


def fitted(rounds):
    """Count the models that have been fitted."""
    subsets = itertools.chain.from_iterable(itertools.combinations(range(5), k) for k in range(5))
    return sum(rounds.scores.at_hand((j, some)) is not None for some in subsets for j in range(5))


def chain(n, seed):
    rng = np.random.default_rng(seed)
    columns = [rng.normal(size=n)]
    for _ in range(2):
        cause = np.tanh(columns[-1])
        columns.append(cause + np.exp(0.9 * cause) * rng.normal(size=n))
    return np.column_stack([*columns, rng.normal(size=(n, 2))])


def test_the_first_round_scores_the_columns_themselves():
    X = chain(400, 0)
    scores = rounds_of(X)([], [], list(range(5)))
    np.testing.assert_allclose(scores, [stats.shapiro(x).statistic for x in X.T], atol=1e-6)


def test_only_targets_that_wish_the_newest_are_refitted():
    rounds = rounds_of(chain(800, 1))
    before = dict(rounds.parents)
    first = rounds([], [], list(range(5)))
    known = fitted(rounds)
    # A column that nobody depends on changes nothing.
    same = rounds([4], [4], [0, 1, 2, 3])
    np.testing.assert_array_equal(same, first[:4])
    assert rounds.parents == before
    assert fitted(rounds) == known
    after = rounds([4, 0], [0], [1, 2, 3])
    assert rounds.parents[1] == (0,)
    assert rounds.parents[3] == ()
    assert after[0] > first[1] + 0.01
    assert after[2] == first[3]


def test_scores_are_those_of_the_chosen_models():
    X = simulate(400, 6, degree=1, random_state=2).X
    rounds = rounds_of(X)
    order_by_normality(6, rounds, 0.0)
    for target, parents in rounds.parents.items():
        ((_, U),) = rounds.scores.residuals([(target, parents)], Effort.ROUND)
        assert rounds._scores[target] == pytest.approx(stats.shapiro(U[0]).statistic, abs=1e-6)


def test_parents_come_before_their_children_and_are_few(monkeypatch):
    monkeypatch.setattr(sparse_rounds, "MAX_PARENTS", 2)
    for seed in range(3):
        rounds = rounds_of(simulate(200, 8, degree=3, random_state=seed).X)
        result = order_by_normality(8, rounds, 1e-4)
        position = np.argsort(result.order)
        for child, parents in rounds.parents.items():
            assert len(parents) <= 2
            assert all(position[i] < position[child] for i in parents)


def test_orders_are_about_as_good_as_with_all_predecessors():
    """Of 12 tables with 8 edges each; a shuffled order would break about 48 of the 96 edges."""
    broken = {"full": 0, "sparse": 0}
    for seed in range(12):
        data = simulate(300, 8, degree=1, random_state=30 + seed)
        for conditioning in broken:
            found = causal_order(data.X, conditioning=conditioning, refine=False)
            broken[conditioning] += order_divergence(found.order, data.adjacency)
    assert broken["sparse"] <= broken["full"] + 6
    assert broken["sparse"] < 30


def test_beyond_twenty_columns_the_rounds_are_sparse(monkeypatch):
    used = []
    monkeypatch.setattr(
        import_module("heterodag.ordering.causal_order"),
        "SparseRounds",
        lambda choices, statistic: used.append(choices.scores.d) or SparseRounds(choices, statistic),
    )
    rng = np.random.default_rng(5)
    for d, conditioning in [(20, "auto"), (21, "auto"), (21, "full"), (3, "sparse")]:
        order = causal_order(rng.normal(size=(60, d)), conditioning=conditioning, refine=False, tolerance=0.01).order
        assert sorted(order) == list(range(d))
    assert used == [21, 3]
