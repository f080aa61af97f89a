"""Rows that count for a variable: those in which it was not set; samples that keep rare conditions."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag.core.experiments import LEAST_ROWS, Experiments
from heterodag.core.gaussian import LOCATION_SCALE, NATURAL
from heterodag.core.table import Table
from heterodag.scores.competition import CompetingFitter
from heterodag.scores.curves import CurveFitter
from heterodag.scores.fit import Effort
from heterodag.scores.lines import LineFitter
from heterodag.scores.local import LocalScores
from heterodag.simulation import simulate

FITTERS = [LineFitter(NATURAL), LineFitter(LOCATION_SCALE), CurveFitter(LOCATION_SCALE), CompetingFitter()]
KEYS = [(0, ()), (0, (1,)), (1, (0, 2)), (2, (0,)), (3, (0, 1, 2)), (3, (2,))]


def set_in(n, d, rows):
    """Return a mask in which column j was set in the rows rows[j]."""
    fixed = np.zeros((n, d), dtype=bool)
    for column, some in rows.items():
        fixed[some, column] = True
    return fixed


def world(seed, n=400, rows=None):
    X = simulate(n, 4, degree=1, mechanism="curved", spread="straight", random_state=seed).X
    rng = np.random.default_rng(seed)
    fixed = set_in(n, 4, {0: slice(300, 360), 1: slice(340, 400)} if rows is None else rows)
    return np.where(fixed, 5.0 + rng.normal(size=X.shape), X), fixed


@pytest.mark.parametrize("fitter", FITTERS, ids=lambda fitter: f"{type(fitter).__name__}-{fitter.form.name}")
def test_a_model_is_that_of_the_rows_in_which_its_variable_was_not_set(fitter):
    X, fixed = world(3)
    scores = LocalScores(Table.standardize(X), fitter, experiments=Experiments.of(fixed))
    for key, fit in zip(KEYS, scores.fits(KEYS, Effort.FINAL), strict=True):
        own = LocalScores(Table.standardize(X[~fixed[:, key[0]]]), fitter)
        (alone,) = own.fits([key], Effort.FINAL)
        assert fit.loss == pytest.approx(alone.loss, abs=0.2)
        np.testing.assert_allclose(
            fit.residuals(scores.table_of(key[0])), alone.residuals(own.table), atol=0.02 if not key[1] else 0.1
        )
    assert [scores.table_of(j).shape[0] for j in range(4)] == [340, 340, 400, 400]


def test_rows_in_which_a_variable_was_set_do_not_matter_to_its_own_model():
    X, fixed = world(4)
    X[:, 1] = np.where(fixed[:, 1], X[:, 1], X[:, 0] + np.random.default_rng(4).normal(size=len(X)))
    other = np.where(fixed & [True, False, False, False], -40.0, X)
    losses = []
    for table in (X, other):
        scores = LocalScores(Table.standardize(table), CompetingFitter(), experiments=Experiments.of(fixed))
        losses.append(scores.losses([(0, (1,)), (1, (0,))]))
    assert losses[0][0] == losses[1][0]
    assert abs(losses[0][1] - losses[1][1]) > 1.0  # of what it causes they matter


def test_gains_residuals_and_tests_use_the_same_rows():
    X, fixed = world(5)
    scores = LocalScores(Table.standardize(X), LineFitter(NATURAL), experiments=Experiments.of(fixed))
    own = LocalScores(Table.standardize(X[~fixed[:, 0]]), LineFitter(NATURAL))
    np.testing.assert_allclose(scores.gains((0, ())), own.gains((0, ())), rtol=1e-6, atol=1e-8)
    found = {KEYS[k]: row for part, U in scores.residuals(KEYS) for k, row in zip(part, U, strict=True)}
    assert {key: len(row) for key, row in found.items()} == {key: 340 if key[0] < 2 else 400 for key in KEYS}
    (mine,), (theirs,) = (some.without([((0, (1, 2)), [0, 1])]) for some in (scores, own))
    np.testing.assert_allclose(mine.pvalues["both"], theirs.pvalues["both"], rtol=1e-3, atol=1e-12)


def test_targets_with_the_same_rows_share_a_table():
    X, fixed = world(6, rows={0: slice(0, 50), 2: slice(0, 50), 1: slice(50, 90)})
    scores = LocalScores(Table.standardize(X), LineFitter(NATURAL), experiments=Experiments.of(fixed))
    assert scores.table_of(0) is scores.table_of(2)
    assert scores.table_of(0) is not scores.table_of(1)
    assert scores.table_of(3) is scores.table


def test_a_variable_that_was_set_in_all_rows_has_no_model_and_costs_nothing():
    X, fixed = world(7, rows={2: slice(None)})
    scores = LocalScores(Table.standardize(X), CompetingFitter(), experiments=Experiments.of(fixed))
    assert scores.targets == [0, 1, 3]
    assert scores.losses([(2, ()), (2, (0, 1))]) == [0.0, 0.0]
    assert not scores.gains((2, (0,))).any()
    assert [k for part, _ in scores.residuals([(2, ()), (0, (2,))]) for k in part] == [1]


def test_a_parent_that_never_varies_in_the_rows_of_a_target_does_no_harm():
    X, fixed = world(8, rows={0: slice(0, 200)})
    X[200:, 1] = 3.0  # constant wherever variable 0 was not set
    scores = LocalScores(Table.standardize(X), CompetingFitter(), experiments=Experiments.of(fixed))
    with_it, without = scores.losses([(0, (1, 2)), (0, (2,))])
    assert with_it == pytest.approx(without, abs=0.5)


def test_without_experiments_models_are_those_of_the_plain_table():
    X, _ = world(9)
    none = Experiments.of(np.zeros(X.shape, dtype=bool))
    plain, told = (LocalScores(Table.standardize(X), CompetingFitter(), experiments=e) for e in (None, none))
    assert plain.losses(KEYS) == told.losses(KEYS)


def test_without_experiments_fitters_get_the_whole_table_in_the_batches_they_cut():
    asked = []

    class Watched(LineFitter):
        def fit(self, table, keys, starts, effort):
            asked.append((table, list(keys)))
            return super().fit(table, keys, starts, effort)

    table = Table.standardize(world(2)[0])
    scores = LocalScores(table, Watched(NATURAL))
    scores.fits(KEYS)
    assert [keys for _, keys in asked] == list(LineFitter(NATURAL).batches(table, KEYS))
    assert all(given is table for given, _ in asked)
    assert scores.sample(100).table.X.tobytes() == table.sample(100).X.tobytes()


# --- samples ------------------------------------------------------------------------------------------------


def test_a_sample_keeps_rare_conditions_and_the_mask_with_its_rows():
    X, fixed = world(10, n=6000, rows={0: slice(0, 30), 1: slice(30, 330), 2: slice(330, 1500)})
    scores = LocalScores(Table.standardize(X), LineFitter(NATURAL), experiments=Experiments.of(fixed))
    small = scores.sample(1000)
    assert 1000 <= small.n_rows <= 1500
    assert small.experiments.fixed[:, 0].sum() == 30  # all that there are
    assert small.experiments.fixed[:, 1].sum() >= LEAST_ROWS
    where = {tuple(row): k for k, row in enumerate(X.round(9).tolist())}
    rows = [where[tuple(row)] for row in small.table.X.round(9).tolist()]
    assert rows == sorted(set(rows))
    np.testing.assert_array_equal(small.experiments.fixed, fixed[rows])
    np.testing.assert_array_equal(small.table_of(1).location, scores.table_of(1).location)
    assert scores.sample(1000) is small


def test_with_very_many_conditions_a_sample_stays_small_and_loses_none():
    fixed = np.zeros((4000, 12), dtype=bool)
    rng = np.random.default_rng(1)
    fixed[rng.random(fixed.shape) < 0.5] = True
    experiments = Experiments.of(fixed)
    kept = experiments.sample_rows(Table.standardize(rng.normal(size=fixed.shape)), 1000)
    assert len(kept) <= 4000
    assert set(experiments.condition[kept]) == set(experiments.condition)
