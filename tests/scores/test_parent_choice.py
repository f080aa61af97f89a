"""Stepwise choice of parents: true ones found, limits obeyed, scores that only fall."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag.core.gaussian import FORMS, LOCATION_SCALE, NATURAL
from heterodag.core.table import Table
from heterodag.scores import parent_choice
from heterodag.scores.competition import CompetingFitter
from heterodag.scores.curves import CurveFitter
from heterodag.scores.lines import LineFitter
from heterodag.scores.local import LocalScores
from heterodag.scores.parent_choice import EQUAL, Choice, Limits, ParentChoices, as_bits, entry_gain
from heterodag.simulation import simulate

both_forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
EVERY = as_bits(range(6))


def easy(seed, n=800):
    """Columns 0 to 4 are independent; 5 depends on 0 (mean), 1 (spread) and 2 (both)."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 5))
    y = 0.8 * x[:, 0] + 0.4 * x[:, 2] + np.exp(0.4 * x[:, 1] - 0.3 * x[:, 2]) * rng.normal(size=n)
    return np.column_stack([x, y])


def choice_of(X, form=NATURAL, limits=None, kind=LineFitter, **options):
    n, d = X.shape
    return ParentChoices(LocalScores(Table.standardize(X), kind(form)), np.log(n) + np.log(d), limits, **options)


def limits_of(d, required=(), forbidden=()):
    tables = np.zeros((2, d, d), dtype=bool)
    for table, edges in zip(tables, (required, forbidden), strict=True):
        for i, j in edges:
            table[i, j] = True
    return Limits.of(*tables)


@pytest.mark.parametrize("seed", range(3))
def test_true_parents_are_found_and_no_others(seed):
    choice = choice_of(easy(seed), LOCATION_SCALE)
    tasks = [Choice(5, EVERY & ~(1 << 5)), Choice(4, as_bits([0, 1, 2, 3])), Choice(3, 0)]
    (score, parents), (alone, nobody), (last, none) = choice.choose(tasks)
    assert parents == (0, 1, 2)
    assert nobody == none == ()
    assert score == pytest.approx(choice.scores.losses([(5, (0, 1, 2))])[0] + 3 * choice.penalty)
    assert alone == pytest.approx(last, abs=1e-6)  # both are standardised columns without parents


@both_forms
def test_only_what_is_allowed_is_chosen(form):
    choice = choice_of(easy(1), form)
    for allowed in ([], [0], [1, 3, 4], [2, 0]):
        ((_, parents),) = choice.choose([Choice(5, as_bits(allowed), (0, 1, 2, 3))])
        assert set(parents) <= set(allowed)


@both_forms
def test_required_parents_stay_and_forbidden_ones_stay_away(form):
    free = choice_of(easy(2), form)
    ((_, unlimited),) = free.choose([Choice(5, EVERY & ~(1 << 5))])
    assert {0, 2} <= set(unlimited)
    limits = limits_of(6, required=[(4, 5), (3, 5)], forbidden=[(0, 5), (2, 5)])
    choice = choice_of(easy(2), form, limits)
    for start in ((), (0, 2), (4,), (0, 1, 2, 3, 4)):
        choice._done.clear()
        ((_, parents),) = choice.choose([Choice(5, EVERY & ~(1 << 5), start)])
        assert {3, 4} <= set(parents)
        assert set(parents).isdisjoint({0, 2, 5})
    # They hold for that target only.
    ((_, other),) = choice.choose([Choice(0, 1 << 5)])
    assert other == (5,)


def test_limits_are_read_column_by_column():
    limits = limits_of(3, required=[(0, 2), (1, 2)], forbidden=[(2, 0), (1, 0)])
    assert limits.required == ((), (), (0, 1))
    assert limits.forbidden == (as_bits([1, 2]), 0, 0)


@both_forms
def test_no_result_scores_worse_than_its_start(form):
    rng = np.random.default_rng(3)
    for seed in range(6):
        X = simulate(150, 6, degree=2, random_state=seed).X
        for _ in range(4):
            target = int(rng.integers(6))
            others = [j for j in range(6) if j != target]
            start = tuple(sorted(rng.choice(others, size=rng.integers(0, 4), replace=False).tolist()))
            choice = choice_of(X, form)
            (before,) = choice.scores.losses([(target, start)])
            ((score, parents),) = choice.choose([Choice(target, as_bits(others), start)])
            assert score <= before + choice.penalty * len(start) + 1e-9
            assert score == pytest.approx(
                choice.scores.losses([(target, parents)])[0] + choice.penalty * len(parents)
            )
            assert list(parents) == sorted(parents)


def test_a_result_cannot_be_improved_by_dropping_a_parent():
    for seed in range(4):
        choice = choice_of(simulate(300, 6, degree=2, random_state=10 + seed).X, trials=6)
        tasks = [Choice(j, EVERY & ~(1 << j)) for j in range(6)]
        for task, (score, parents) in zip(tasks, choice.choose(tasks), strict=True):
            smaller = [tuple(i for i in parents if i != other) for other in parents]
            for loss in choice.scores.losses([(task.target, some) for some in smaller]):
                assert loss + choice.penalty * (len(parents) - 1) >= score - EQUAL - 1e-9


def test_together_or_one_by_one_is_the_same():
    X = simulate(200, 6, degree=2, random_state=20).X
    tasks = [Choice(j, EVERY & ~(1 << j)) for j in range(6)]
    together = choice_of(X).choose(tasks)
    for task, (score, parents) in zip(tasks, together, strict=True):
        ((alone, same),) = choice_of(X).choose([task])
        assert same == parents
        assert alone == pytest.approx(score, abs=EQUAL)


def test_a_choice_made_is_remembered():
    choice = choice_of(easy(4))
    task = Choice(5, as_bits([0, 1, 2]))
    first = choice.choose([task, task])
    choice.scores.losses = None  # nothing may be fitted any more
    assert choice.choose([task]) == first[:1] == first[1:]


def test_promising_are_promising_columns_the_best_first():
    choice = choice_of(easy(5), LOCATION_SCALE)
    promising = choice.promising((5, ()))
    assert {0, 1, 2} <= set(promising)
    gains = choice.scores.gains((5, ()))
    assert (np.diff(gains[list(promising)]) <= 0).all()
    assert set(promising) == set(np.flatnonzero(gains > entry_gain(6)).tolist())
    assert 5 not in promising


def test_half_a_variable_passes_the_threshold_by_chance():
    for d in (2, 10, 500):  # d times the chance exp(-gain) of a chi-square with two degrees of freedom
        assert d * np.exp(-entry_gain(d)) == pytest.approx(0.5, rel=0.01)


def test_sets_are_bits():
    assert as_bits([]) == 0
    assert as_bits([0, 2, 70]) == 1 + 4 + 2**70


def test_curves_choose_a_parent_that_lines_cannot_see():
    rng = np.random.default_rng(6)
    x = rng.normal(size=(600, 2))
    X = np.column_stack([x, np.cos(2 * x[:, 0]) + 0.5 * rng.normal(size=600)])
    found = [
        choice_of(X, LOCATION_SCALE, kind=kind).choose([Choice(2, 0b11)])[0][1] for kind in (LineFitter, CurveFitter)
    ]
    assert found == [(), (0,)]


def test_a_parent_gives_way_to_one_that_explains_more():
    """Column 1 is 0 with noise. Nothing is added to a parent here: only an exchange leads from 1 to 0."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=400)
    X = np.column_stack([x, x + 0.05 * rng.normal(size=400), x + 0.3 * rng.normal(size=400)])
    choice = choice_of(X, LOCATION_SCALE)
    choice._larger = lambda j, parents, allowed, whole=choice._larger: [] if parents else whole(j, parents, allowed)
    ((score, parents),) = choice.choose([Choice(2, 0b11, (1,))])
    assert parents == (0,)
    assert score < choice.scores.losses([(2, (1,))])[0] + choice.penalty - EQUAL


def test_score_tests_are_made_only_for_models_that_may_change():
    """Sets that are tried as larger ones are only fitted; each score test costs as much as a fit."""
    choice = choice_of(simulate(300, 6, degree=2, random_state=30).X)
    choice.choose([Choice(j, EVERY & ~(1 << j)) for j in range(6)])
    assert 6 <= len(choice.scores._gains) < len(choice.scores._fits)


def test_hopeless_exchanges_are_not_fitted(monkeypatch):
    """Where mechanisms compete the choices are those that all exchanges lead to, with fewer fits."""
    fits, found = [], []
    table = Table.standardize(simulate(500, 8, "ER", 2, "straight", 3, spread="straight").X)
    for share in (0.0, parent_choice.MADE_UP):
        monkeypatch.setattr(parent_choice, "MADE_UP", share)
        scores = LocalScores(table, CompetingFitter())
        choices = ParentChoices(scores, 8.0)
        found.append(choices.choose(Choice(j, 0xFF & ~(1 << j)) for j in range(8)))
        fits.append(len(scores._fits))
    assert [parents for _, parents in found[0]] == [parents for _, parents in found[1]]
    assert fits[1] < 0.95 * fits[0]
