"""The bootstrap of tables with experiments: rows are drawn within conditions, and take their interventions along."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag import HOST, EqVar, HeterodagError, Interventions, bootstrap, simulate
from heterodag.resampling.bootstrap import _plan, _rows

FAST = {"selection": "partial-correlation"}


@pytest.fixture(scope="module")
def data():
    return simulate(260, 4, degree=1, mechanism="straight", random_state=5, interventions={0: 40, 1: 40, 2: 20})


def shares(plan, rows):
    return np.bincount(plan.told.condition[rows], minlength=len(plan.told.names)).tolist()


@pytest.mark.parametrize(("scheme", "share"), [("rows", 1.0), ("half", 0.5)])
def test_every_condition_keeps_its_share_of_the_rows(data, scheme, share):
    plan = _plan(HOST(), data.X, scheme, data.interventions, 0, None)
    whole = shares(plan, np.arange(260))
    for seed in range(5):
        rows = _rows(plan, np.random.default_rng(seed))
        assert shares(plan, rows) == [int(share * count) for count in whole]
        np.testing.assert_array_equal(plan.told.take(rows).fixed, data.interventions[rows])
    assert len(set(rows.tolist())) < 260 if scheme == "rows" else len(set(rows.tolist())) == 130


def test_interventions_make_directions_stable(data):
    with_them = bootstrap(HOST(), data.X, 8, interventions=data.interventions, random_state=1)
    without = bootstrap(HOST(), data.X[:160], 8, random_state=1)
    edges = np.argwhere(data.adjacency)
    told, observed = (np.mean([result.before[i, j] for i, j in edges]) for result in (with_them, without))
    assert told > 0.9
    assert told > observed


def test_the_result_does_not_depend_on_workers_or_interruptions(data, tmp_path):
    store, options = tmp_path / "store", {"interventions": data.interventions, "random_state": 2}
    whole = bootstrap(HOST(**FAST), data.X, 5, **options)
    bootstrap(HOST(**FAST), data.X, 2, store=store, **options)
    again = bootstrap(HOST(**FAST), data.X, 5, store=store, n_jobs=2, **options)
    np.testing.assert_array_equal(whole.adjacencies, again.adjacencies)
    other = data.interventions & [True, False, True, True]
    for told in (other, None):
        with pytest.raises(HeterodagError, match="of other interventions"):
            bootstrap(HOST(**FAST), data.X, 5, interventions=told, random_state=2, store=store)


def test_conditions_of_unknown_targets_are_resampled_too(data):
    condition = np.where(data.interventions.any(axis=1), "b", "a")
    frame = data.to_frame().assign(batch=condition)
    told = Interventions("batch", {"a": None, "b": "unknown"})
    result = bootstrap(HOST(**FAST), frame, 2, interventions=told, random_state=0)
    assert result.names == ["x0", "x1", "x2", "x3"]
    assert result.n_resamples == 2


def test_methods_that_cannot_use_interventions_are_refused(data):
    with pytest.raises(HeterodagError, match="`model` must be one that can use interventions"):
        bootstrap(EqVar(), data.X, 2, interventions=data.interventions)
