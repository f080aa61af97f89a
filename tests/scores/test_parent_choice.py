"""Stepwise choice of parents: true ones found, limits obeyed, scores that only fall."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag.core.gaussian import FORMS
from heterodag.core.table import Table
from heterodag.models.node_fits import NodeFits
from heterodag.models.parent_choice import EQUAL, Limits, ParentChoice, Task, as_bits, entry_gain, parent_penalty
from heterodag.simulation import simulate

both_forms = pytest.mark.parametrize("form", FORMS)
EVERY = as_bits(range(6))


def easy(seed, n=800):
    """Columns 0 to 4 are independent; 5 depends on 0 (mean), 1 (spread) and 2 (both)."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 5))
    y = 0.8 * x[:, 0] + 0.4 * x[:, 2] + np.exp(0.4 * x[:, 1] - 0.3 * x[:, 2]) * rng.normal(size=n)
    return np.column_stack([x, y])


def choice_of(X, form="natural", limits=None, **options):
    n, d = X.shape
    return ParentChoice(NodeFits(Table.standardize(X), form, 1e-2), parent_penalty(n, d), limits, **options)


def limits_of(d, required=(), forbidden=()):
    tables = np.zeros((2, d, d), dtype=bool)
    for table, edges in zip(tables, (required, forbidden), strict=True):
        for i, j in edges:
            table[i, j] = True
    return Limits.of(*tables)


@pytest.mark.parametrize("seed", range(3))
def test_true_parents_are_found_and_no_others(seed):
    choice = choice_of(easy(seed), "location-scale")
    tasks = [Task(5, EVERY & ~(1 << 5)), Task(4, as_bits([0, 1, 2, 3])), Task(3, 0)]
    (score, parents), (alone, nobody), (last, none) = choice.choose(tasks)
    assert parents == (0, 1, 2)
    assert nobody == none == ()
    assert score == pytest.approx(choice.fits.losses([(5, (0, 1, 2))])[0] + 3 * choice.penalty)
    assert alone == pytest.approx(last, abs=1e-6)  # both are standardised columns without parents


@both_forms
def test_only_what_is_allowed_is_chosen(form):
    choice = choice_of(easy(1), form)
    for allowed in ([], [0], [1, 3, 4], [2, 0]):
        ((_, parents),) = choice.choose([Task(5, as_bits(allowed), (0, 1, 2, 3))])
        assert set(parents) <= set(allowed)


@both_forms
def test_required_parents_stay_and_forbidden_ones_stay_away(form):
    free = choice_of(easy(2), form)
    ((_, unlimited),) = free.choose([Task(5, EVERY & ~(1 << 5))])
    assert {0, 2} <= set(unlimited)
    limits = limits_of(6, required=[(4, 5), (3, 5)], forbidden=[(0, 5), (2, 5)])
    choice = choice_of(easy(2), form, limits)
    for start in ((), (0, 2), (4,), (0, 1, 2, 3, 4)):
        choice._done.clear()
        for thorough in (True, False):
            ((_, parents),) = choice.choose([Task(5, EVERY & ~(1 << 5), start)], thorough)
            assert {3, 4} <= set(parents)
            assert set(parents).isdisjoint({0, 2, 5})
    # They hold for that target only.
    ((_, other),) = choice.choose([Task(0, 1 << 5)])
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
            (before,) = choice.fits.losses([(target, start)])
            for thorough in (False, True):
                ((score, parents),) = choice.choose([Task(target, as_bits(others), start)], thorough)
                assert score <= before + choice.penalty * len(start) + 1e-9
                assert score == pytest.approx(
                    choice.fits.losses([(target, parents)])[0] + choice.penalty * len(parents)
                )
                assert list(parents) == sorted(parents)


def test_a_thorough_result_cannot_be_improved_by_dropping_a_parent():
    for seed in range(4):
        choice = choice_of(simulate(300, 6, degree=2, random_state=10 + seed).X, trials=6)
        tasks = [Task(j, EVERY & ~(1 << j)) for j in range(6)]
        for task, (score, parents) in zip(tasks, choice.choose(tasks), strict=True):
            smaller = [tuple(i for i in parents if i != other) for other in parents]
            for loss in choice.fits.losses([(task.target, some) for some in smaller]):
                assert loss + choice.penalty * (len(parents) - 1) >= score - EQUAL - 1e-9


def test_together_or_one_by_one_is_the_same():
    X = simulate(200, 6, degree=2, random_state=20).X
    tasks = [Task(j, EVERY & ~(1 << j)) for j in range(6)]
    together = choice_of(X).choose(tasks)
    for task, (score, parents) in zip(tasks, together, strict=True):
        ((alone, same),) = choice_of(X).choose([task])
        assert same == parents
        assert alone == pytest.approx(score, abs=EQUAL)


def test_a_choice_made_is_remembered():
    choice = choice_of(easy(4))
    task = Task(5, as_bits([0, 1, 2]))
    first = choice.choose([task, task])
    choice.fits.losses = None  # nothing may be fitted any more
    assert choice.choose([task]) == first[:1] == first[1:]


def test_wishes_are_promising_columns_the_best_first():
    choice = choice_of(easy(5), "location-scale")
    wishes = choice.wishes((5, ()))
    assert {0, 1, 2} <= set(wishes)
    gains = choice.fits.gains((5, ()))
    assert (np.diff(gains[list(wishes)]) <= 0).all()
    assert set(wishes) == set(np.flatnonzero(gains > entry_gain(6)).tolist())
    assert 5 not in wishes


def test_penalty_and_threshold():
    assert parent_penalty(1000, 50) == pytest.approx(np.log(1000) + np.log(50))
    # Half a variable passes by chance: d times the chance exp(-gain) of a chi-square with two degrees of freedom.
    for d in (2, 10, 500):
        assert d * np.exp(-entry_gain(d)) == pytest.approx(0.5, rel=0.01)
    assert as_bits([]) == 0
    assert as_bits([0, 2, 70]) == 1 + 4 + 2**70
