"""`LocalScores`: what is fitted when and from where, whatever the company and the workers; the clock; gains."""

from __future__ import annotations

import time

import numpy as np
import pytest

from heterodag.core.gaussian import FORMS, LOCATION_SCALE, NATURAL
from heterodag.core.table import Table
from heterodag.runtime.work import OutOfTime, Work
from heterodag.scores import curves, lines
from heterodag.scores import local as local_module
from heterodag.scores.competition import CompetingFitter
from heterodag.scores.curves import CurveFitter
from heterodag.scores.fit import Effort
from heterodag.scores.lines import ACCURACY, LineFitter
from heterodag.scores.local import LocalScores, parents_of
from heterodag.simulation import simulate

both_forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)

#: Models of seven columns, of every size from none to four parents.
KEYS = [(0, ()), (1, (0,)), (2, (0, 1)), (3, (4,)), (4, (0, 2)), (5, (0, 1, 2)), (6, (1, 2, 3, 4)), (0, (5, 6))]


class Watched:
    """A fitter that writes down what it is asked to fit, from where, how hard and on how many rows."""

    def __init__(self, fitter):
        self.fitter, self.asked = fitter, []

    def __getattr__(self, name):
        return getattr(self.fitter, name)

    def fit(self, table, keys, starts, effort):
        self.asked += [(key, start, effort, table.shape[0]) for key, start in zip(keys, starts, strict=True)]
        return self.fitter.fit(table, keys, starts, effort)

    def take(self):
        asked, self.asked = self.asked, []
        return asked


def table_of(seed, n=300, d=7):
    return Table.standardize(simulate(n, d, degree=2, random_state=seed).X)


def light_tailed(seed, n, d=5):
    """Every column moves the mean and the spread of the next ones; no column has heavy tails."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    for j in range(1, d):
        a, b = rng.uniform(0.2, 0.4, size=(2, j)) * rng.choice([-1, 1], size=(2, j))
        parents = np.tanh(X[:, :j])
        X[:, j] = parents @ a + np.exp(parents @ b) * X[:, j]
    return Table.standardize(X)


# --- what is fitted -----------------------------------------------------------------------------------------


def test_no_model_is_fitted_twice_at_the_same_effort():
    fitter = Watched(LineFitter(NATURAL))
    scores = LocalScores(table_of(1), fitter)
    first = scores.losses([*KEYS, *KEYS[:3]])
    assert sorted(key for key, *_ in fitter.take()) == sorted(KEYS)
    assert scores.losses(KEYS) == first[: len(KEYS)]
    scores.fits(KEYS, Effort.ROUND)
    scores.prepare_gains(KEYS)
    list(scores.residuals(KEYS))
    assert fitter.take() == []
    assert first[len(KEYS) :] == first[:3]


def test_more_effort_fits_again_from_what_is_known():
    fitter = Watched(LineFitter(NATURAL))
    scores = LocalScores(table_of(2), fitter)
    rough = scores.fits(KEYS, Effort.ROUND)
    fitter.take()
    better = scores.fits(KEYS, Effort.SEARCH)
    asked = {key: (start, effort) for key, start, effort, _ in fitter.take()}
    assert asked == {key: (fit, Effort.SEARCH) for key, fit in zip(KEYS, rough, strict=True)}
    assert all(b.loss <= a.loss + ACCURACY[Effort.ROUND] for a, b in zip(rough, better, strict=True))
    assert all(scores.at_hand(key) is fit for key, fit in zip(KEYS, better, strict=True))
    # What has converged in the search is final; only what was cut short goes on.
    assert all(fit.converged for fit in better)
    scores.fits(KEYS, Effort.FINAL)
    assert fitter.take() == []


def test_fits_that_were_cut_short_are_finished_when_they_must_be(monkeypatch):
    monkeypatch.setitem(lines._STEPS, Effort.SEARCH, 2)
    fitter = Watched(LineFitter(NATURAL))
    scores = LocalScores(table_of(9), fitter)
    rough = scores.losses(KEYS)
    short = [key for key in KEYS if not scores.at_hand(key).converged]
    assert len(short) > 3
    fitter.take()
    final = scores.fits(KEYS, Effort.FINAL)
    assert sorted(key for key, *_ in fitter.take()) == sorted(short)
    assert all(fit.converged for fit in final)
    falls = np.array(rough) - [fit.loss for fit in final]
    assert (falls > -1e-9).all()
    assert (falls > 1.0).any()


def test_a_new_model_starts_from_the_best_one_with_a_parent_less():
    fitter = Watched(LineFitter(NATURAL))
    scores = LocalScores(table_of(5), fitter)
    smaller = [(3, (0, 1)), (3, (0, 2)), (3, (1, 2))]
    losses = scores.losses(smaller)
    fitter.take()
    (loss,) = scores.losses([(3, (0, 1, 2))])
    ((_, start, _, _),) = fitter.take()
    assert start is scores.at_hand(smaller[int(np.argmin(losses))])
    assert loss <= min(losses) + ACCURACY[Effort.SEARCH]
    scores.fits([(4, (0, 1))])
    ((_, start, _, _),) = fitter.take()
    assert start is None


def test_a_round_starts_from_the_one_before():
    fitter = Watched(LineFitter(NATURAL))
    scores = LocalScores(table_of(6), fitter)
    scores.fits([(j, (0, 1)) for j in (2, 3, 4)], Effort.ROUND)
    scores.fits([(3, (0, 2))], Effort.ROUND)  # a smaller model, too, and maybe a better one
    fitter.take()
    scores.fits([(j, (0, 1, 2)) for j in (3, 4)], Effort.ROUND, after=(0, 1))
    assert [start for _, start, _, _ in fitter.take()] == [scores.at_hand((j, (0, 1))) for j in (3, 4)]


@both_forms
def test_a_further_parent_never_raises_the_loss_by_more_than_the_tolerance(form):
    for seed in range(3):
        scores = LocalScores(table_of(10 + seed), LineFitter(form))
        losses = [scores.losses([(6, tuple(range(k)))])[0] for k in range(6)]
        assert (np.diff(losses) < 2 * ACCURACY[Effort.SEARCH]).all()
        assert losses[-1] < losses[0]


# --- samples ------------------------------------------------------------------------------------------------


def test_samples_know_of_each_other():
    fitter = Watched(LineFitter(NATURAL))
    scores = LocalScores(light_tailed(1, 2501), fitter)
    middle, small = scores.sample(2500), scores.sample(500)
    assert (middle.n_rows, small.n_rows) == (2500, 500)
    assert scores.sample(2501) is scores.sample(10**9) is scores
    assert scores.sample(500) is small
    assert middle.sample(500) is small
    key = (4, (0, 1, 2))
    assert small.best_known([key]) is small
    few = small.fits([key])[0]
    assert scores.best_known([key]) is small
    fitter.take()
    more = middle.fits([key])[0]
    scores.fits([key])
    asked = fitter.take()
    assert [(start, rows) for _, start, _, rows in asked] == [(few, 2500), (more, 2501)]
    assert scores.best_known([key]) is scores
    assert scores.best_known([key, (3, (0,))]) is scores  # nobody has both: these ones are asked
    # A sample does not start from more rows than it has.
    fitter.take()
    scores.fits([(2, (0,))])
    small.fits([(2, (0,))])
    assert [start for _, start, _, rows in fitter.take() if rows == 500] == [None]


@both_forms
def test_a_fit_on_all_rows_from_a_sample_reaches_the_optimum_of_a_fresh_one(form):
    """In location-scale form, in which the tables are made, always; natural form has several optima on one in ten.

    There either can be the better one; on the whole nothing may be lost.
    """
    excess = []
    for seed in range(12):
        table = light_tailed(20 + seed, 8000)
        keys = [(4, (0, 1, 2)), (3, (0,)), (2, (0, 1)), (0, (2, 3)), (1, (2, 4)), (0, (1,)), (2, (3, 4))]
        scores = LocalScores(table, LineFitter(form))
        scores.sample(1000).fits(keys)
        excess += list(np.array(scores.losses(keys)) - LocalScores(table, LineFitter(form)).losses(keys))
    same = np.abs(excess) < 2 * ACCURACY[Effort.SEARCH]
    if form is LOCATION_SCALE:
        assert same.all()
    assert same.mean() > 0.8
    assert np.mean(excess) < 2.0


@both_forms
def test_curves_from_a_sample_are_as_good_as_fresh_ones(form):
    """Curves join and leave step by step, so that paths differ by a few nats of thousands."""
    table, keys = light_tailed(20, 6000), [(4, (0, 1, 2)), (3, (0,)), (2, (0, 1))]
    scores = LocalScores(table, CurveFitter(form))
    scores.sample(1000).fits(keys)
    np.testing.assert_allclose(scores.losses(keys), LocalScores(table, CurveFitter(form)).losses(keys), atol=5.0)


@both_forms
def test_rows_that_the_sample_lacks_may_be_far_out(form):
    """A fit on the sample overflows on such rows: infinite losses and a crash were the result.

    From there the optimum can be another one than from fresh starts, so single models may be far off.
    """
    excess = []
    for seed in range(4):
        table = Table.standardize(simulate(20_000, 8, degree=2, random_state=seed).X)
        keys = [(j, tuple(i for i in range(max(0, j - 3), j))) for j in range(1, 8)]
        keys += [(j, tuple(range(j + 1, j + 4))) for j in range(5)]
        scores = LocalScores(table, LineFitter(form))
        scores.sample(2500).fits(keys)
        warm, fresh = scores.fits(keys), LocalScores(table, LineFitter(form)).fits(keys)
        assert all(np.isfinite(fit.theta).all() and fit.converged for fit in warm)
        excess += [a.loss - b.loss for a, b in zip(warm, fresh, strict=True)]
    assert (np.array(excess) < 1.0).mean() >= 0.75


# --- company and workers ------------------------------------------------------------------------------------


@both_forms
def test_results_do_not_depend_on_what_is_fitted_together(form, monkeypatch):
    table = table_of(2)
    together = LocalScores(table, LineFitter(form))
    losses = together.losses(KEYS)
    monkeypatch.setattr(lines, "_BATCH_FLOATS", 1)  # every model a batch of its own
    alone = LocalScores(table, LineFitter(form))
    np.testing.assert_allclose(alone.losses(KEYS), losses, atol=1e-3)
    for key in KEYS:
        np.testing.assert_allclose(alone.gains(key), together.gains(key), rtol=0.02, atol=0.02)


def test_curves_do_not_depend_on_their_company_at_all(monkeypatch):
    table, keys = light_tailed(2, 200, 4), [(1, (0,)), (2, (0, 1)), (3, (0, 2)), (0, (3,)), (1, (3,))]
    together = LocalScores(table, CurveFitter(NATURAL)).losses(keys)
    monkeypatch.setattr(curves, "_TOGETHER", 1)
    assert LocalScores(table, CurveFitter(NATURAL)).losses(keys[::-1]) == together[::-1]


@pytest.mark.parametrize("kind", [LineFitter, CurveFitter])
def test_two_workers_give_exactly_the_same(kind, monkeypatch):
    monkeypatch.setattr(lines, "_BATCH_FLOATS", 1)  # so that there is something to share out
    monkeypatch.setattr(curves, "_TOGETHER", 1)
    table, keys = table_of(3, n=200, d=5), [(0, ()), (1, (0,)), (2, (0, 1)), (3, (4,)), (4, (0, 1, 2))]
    one = LocalScores(table, kind(LOCATION_SCALE))
    with Work(n_jobs=2) as work:
        two = LocalScores(table, kind(LOCATION_SCALE), work)
        for scores in (one, two):
            scores.fits(keys, Effort.ROUND)
            scores.fits(keys)
            scores.prepare_gains(keys)
        for key in keys:
            mine, other = one.at_hand(key), two.at_hand(key)
            assert mine.loss == other.loss
            np.testing.assert_array_equal(mine.theta, other.theta)
            np.testing.assert_array_equal(mine.contributions, other.contributions)
            np.testing.assert_array_equal(one.gains(key), two.gains(key))
        tests = [(keys[2], [0, 1]), (keys[4], [1]), (keys[1], [0])]
        for mine, other in zip(one.without(tests), two.without(tests), strict=True):
            assert mine.tested == other.tested
            for name, values in mine.pvalues.items():
                np.testing.assert_array_equal(values, other.pvalues[name])


# --- the clock ----------------------------------------------------------------------------------------------


def test_out_of_time_between_batches_keeps_nothing_half_done(monkeypatch):
    monkeypatch.setattr(curves, "_TOGETHER", 1)
    work = Work(max_seconds=0.0)
    time.sleep(0.001)
    scores = LocalScores(table_of(4, n=200), CurveFitter(NATURAL), work)
    with pytest.raises(OutOfTime):
        scores.losses(KEYS)
    assert [scores.at_hand(key) for key in KEYS] == [None] * len(KEYS)
    with work.grace():
        assert len(scores.losses(KEYS[:2])) == 2
    with pytest.raises(OutOfTime):
        scores.losses(KEYS)
    assert len(scores.losses(KEYS[:2])) == 2  # known: nothing to do
    assert scores.sample(100).work is work


# --- gains and residuals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [LineFitter, CurveFitter])
@both_forms
def test_gains_leave_out_the_variable_and_its_parents(form, kind):
    scores = LocalScores(table_of(7), kind(form))
    scores.prepare_gains(KEYS)
    for target, parents in KEYS:
        gains = scores.gains((target, parents))
        assert gains.shape == (7,)
        assert (gains[[target, *parents]] == 0.0).all()
        assert (gains >= 0.0).all()
        assert (gains > 0.0).any()
    again = LocalScores(table_of(7), kind(form)).gains((5, (0, 1, 2)))
    np.testing.assert_allclose(again, scores.gains((5, (0, 1, 2))), rtol=0.05, atol=0.05)


@both_forms
def test_gains_promise_what_refitting_gives(form):
    """For small true effects the promise is near the fall of the loss in a fit with the column."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(2000, 3))
    y = 0.3 * x[:, 0] + 0.1 * x[:, 1] + np.exp(0.2 * x[:, 0] + 0.05 * x[:, 1]) * rng.normal(size=2000)
    scores = LocalScores(Table.standardize(np.column_stack([x, y])), LineFitter(form))
    gains = scores.gains((3, (0,)))
    falls = [scores.losses([(3, (0,))])[0] - scores.losses([(3, (0, j))])[0] for j in (1, 2)]
    assert falls[0] > 5 > 3 > falls[1]
    np.testing.assert_allclose(gains[1:3], falls, rtol=0.15, atol=0.1)


@pytest.mark.parametrize("kind", [LineFitter, CurveFitter])
def test_residuals_come_in_parts_that_cover_all_models(kind, monkeypatch):
    table = table_of(6)
    scores = LocalScores(table, kind(NATURAL))
    keys = [(2, (0, 1)), (1, ()), (6, (1, 2, 3))]
    monkeypatch.setattr(local_module, "_RESIDUAL_FLOATS", 2 * 8 * 300)  # two models at a time
    parts, U = zip(*scores.residuals(keys), strict=True)
    assert [(part.tolist(), len(some)) for part, some in zip(parts, U, strict=True)] == [([0, 1], 2), ([2], 1)]
    for key, row in zip(keys, np.vstack(U), strict=True):
        np.testing.assert_allclose(row, scores.at_hand(key).residuals(table), atol=1e-8)
    np.testing.assert_allclose(np.vstack(U)[1], table.take([1])[0], atol=1e-5)


def test_parents_are_read_from_a_column_of_an_adjacency_matrix():
    assert parents_of(np.array([0, 1, 0, 2.5])) == (1, 3)
    assert parents_of(np.zeros(3, bool)) == ()


def test_few_whole_rows_of_gains_are_kept_but_every_promise(monkeypatch):
    scores = LocalScores(table_of(7), CompetingFitter())
    keys = [(j, (i,)) for j in range(scores.d) for i in range(scores.d) if i != j]
    scores.prepare_gains(keys, whole=True)
    whole = {key: scores.gains(key) for key in keys}
    monkeypatch.setattr(local_module, "_GAIN_FLOATS", 2 * scores.d)
    bounded = LocalScores(table_of(7), CompetingFitter())
    bounded.prepare_gains(keys)
    assert len(bounded._gains) == scores.d < len(keys)
    for key in keys:
        some = np.flatnonzero(whole[key] > local_module.least_promise(scores.d)).tolist()
        assert list(bounded.promised(key)) == some
        np.testing.assert_allclose(list(bounded.promised(key).values()), whole[key][some], rtol=1e-9)
        np.testing.assert_allclose(bounded.gains(key), whole[key], rtol=1e-9, atol=1e-9)
    assert len(bounded._gains) <= scores.d
