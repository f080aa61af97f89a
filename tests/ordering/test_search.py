"""The search over rows: which samples it looks at, and that its scores before and after can be compared."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from heterodag import HOST, causal_order, simulate
from heterodag.core.table import Table
from heterodag.ordering import search
from heterodag.ordering.refinement import start_state
from heterodag.ordering.search import LEVELS, parent_penalty, search_order
from heterodag.scores.make import LINES

#: Levels small enough for a test; some tables below have one row more than a level.
SMALL = (200, 400, 800)
#: Sums of the same numbers in another order (nats).
ROUNDING = 1e-6


def scores_of(X):
    return LINES.make(X, np.random.SeedSequence(0))


def chain(n, seed):
    """Five columns, each moving mean and spread of the next a little: nearly all models have one optimum."""
    rng = np.random.default_rng(seed)
    columns = [rng.normal(size=n)]
    for _ in range(4):
        cause = np.tanh(columns[-1])
        columns.append(cause + np.exp(0.5 * cause) * rng.normal(size=n))
    return np.column_stack(columns)


@pytest.fixture
def small_levels(monkeypatch):
    """Let the search look at few rows, wherever the levels are known by name."""
    for module in ("search", "causal_order"):
        monkeypatch.setattr(import_module(f"heterodag.ordering.{module}"), "LEVELS", SMALL)


@pytest.mark.parametrize("level", [*LEVELS, 2_500])
def test_one_row_more_than_a_level_does_not_change_how_many_rows_are_looked_at(level):
    """Taking every second row of a table that is one row too long would halve the sample."""
    X = np.random.default_rng(0).normal(size=(level + 1, 1))
    scores = scores_of(X)
    assert scores.sample(level).n_rows == level
    assert scores.sample(level + 1) is scores
    assert scores.sample(10 * level) is scores
    kept = scores.sample(level).table.X[:, 0]
    # Evenly spread: the rows in their order, only one of them left out.
    assert (np.flatnonzero(np.isin(X[:, 0], kept)).size, len(set(kept))) == (level, level)


def test_a_sample_is_spread_evenly_and_scaled_like_the_whole():
    X = np.arange(1000.0)[:, None] ** 2
    table = Table.standardize(X)
    some = table.sample(300)
    taken = np.sqrt(some.X[:, 0])
    assert set(np.diff(taken)) == {3.0, 4.0}
    assert np.array_equal(some.location, table.location)
    assert np.array_equal(some.scale, table.scale)


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (150, [150]),
        (200, [200]),
        (201, [200, 201]),
        (401, [200, 400, 401]),
        (801, [200, 400, 800]),
        (5000, list(SMALL)),
    ],
)
def test_the_search_looks_at_every_level_that_the_table_fills(n, expected, monkeypatch):
    """With one row more than a level, the next level is that row more; it never falls back to fewer."""
    seen = []
    whole = search.order_choices
    monkeypatch.setattr(search, "order_choices", lambda scores, *a: seen.append(scores.n_rows) or whole(scores, *a))
    found = search_order(scores_of(simulate(n, 3, "ER", 1, random_state=1).X), [2, 1, 0], {}, None, SMALL)
    assert seen == expected
    assert found.scores.n_rows == expected[-1]


@pytest.mark.parametrize("n", [300, 801, 2000])
def test_scores_before_and_after_are_of_the_same_rows(n):
    """A start scored on the 200 rows of the first level would be hundreds of nats away."""
    for seed in range(3):
        X = chain(n, seed)
        order, rows = np.random.default_rng(seed).permutation(5).tolist(), min(n, SMALL[-1])
        found = search_order(scores_of(X), order, {}, None, SMALL)
        assert found.scores.n_rows == rows
        assert found.start_score >= found.state.total - ROUNDING
        # The starting parents are chosen on the first level; their models, on the last.
        start = start_state(search.order_choices(scores_of(X).sample(SMALL[0])), order, {})
        penalty = parent_penalty(rows, 5) * sum(map(len, start.parents.values()))
        same = sum(found.scores.losses(start.parents.items())) + penalty
        assert found.start_score == pytest.approx(same, abs=ROUNDING)
        anew = sum(scores_of(X).sample(rows).losses(start.parents.items())) + penalty
        # A model that starts from fewer rows may end at another optimum than a fresh one, some nats away.
        assert found.start_score == pytest.approx(anew, abs=15)
        assert abs(start.total - anew) > 50


def test_the_public_scores_are_comparable_beyond_the_first_level(small_levels):
    for seed in range(2):
        X = simulate(1601, 6, "ER", 2, random_state=40 + seed).X
        found = causal_order(X)
        assert found.start_score >= found.score - ROUNDING
        model = HOST().fit(X)
        assert (model.refinement_.start_score, model.refinement_.score) == (found.start_score, found.score)


def test_an_order_that_refinement_cannot_improve_has_the_same_score_before_and_after(small_levels):
    rng = np.random.default_rng(5)
    found = causal_order(rng.normal(size=(1601, 4)))
    assert found.score == pytest.approx(found.start_score, abs=1e-3)


@pytest.mark.parametrize(("n", "d"), [(2, 2), (150, 8), (2_000, 10), (50_000, 1_000)])
def test_the_penalty_of_a_parent_is_the_extended_bic(n, d):
    """Half of ln n for each of two coefficients, and ln d for which of d columns it is."""
    assert parent_penalty(n, d) == pytest.approx(2 * 0.5 * np.log(n) + np.log(d))
    assert parent_penalty(n * d, 1) == pytest.approx(parent_penalty(n, d))


def test_the_penalty_is_that_of_the_rows_looked_at_and_lets_few_false_parents_in():
    """A false parent gains a chi-square of two degrees of freedom, halved: more than the penalty in one of n d cases.

    60 tables of 6 independent columns have 900 pairs: 2 pass, 7 would without ln d, and 50 with half of ln n.
    """
    scores = scores_of(np.random.default_rng(6).normal(size=(900, 6)))
    for rows in (900, 300):
        assert search.order_choices(scores.sample(rows)).penalty == parent_penalty(rows, 6)
    passed = 0
    for seed in range(60):
        choices = search.order_choices(scores_of(np.random.default_rng(seed).normal(size=(300, 6))))
        state = start_state(choices, [5, 4, 3, 2, 1, 0], {})
        passed += sum(map(len, state.parents.values()))
    assert passed <= 4
