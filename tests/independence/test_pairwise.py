"""Plain tests over all pairs: what they receive, seeds, workers, progress, and answers refused."""

from __future__ import annotations

import pickle
import re
import threading

import numpy as np
import pytest
from joblib import parallel_config

from heterodag.core.graph import full_dag
from heterodag.errors import DataError, HeterodagError, ParameterError
from heterodag.independence.contract import EdgeProblem
from heterodag.independence.pairwise import check_samples, run_pairwise
from heterodag.independence.partial_correlation import partial_correlation, partial_correlation_edges


def problem(d=5, order=None, candidates=None, **options):
    order = np.arange(d) if order is None else np.asarray(order)
    candidates = full_dag(order).astype(bool) if candidates is None else candidates
    X = np.random.default_rng(0).standard_normal((30, d)).cumsum(axis=1)
    return EdgeProblem(X, order, candidates, **options)


def draw(x, y, Z, random_state):
    return np.random.default_rng(random_state).random()


# --- what a test receives -----------------------------------------------------------------------------------


def test_every_pair_is_tested_given_the_other_predecessors():
    setting = problem(4, [2, 0, 3, 1])
    seen = {}

    def spy(x, y, Z):
        cause, effect, *given = (int(np.flatnonzero((c[:, None] == setting.X).all(axis=0))[0]) for c in (x, y, *Z.T))
        seen[cause, effect] = given
        return 0.5

    found = run_pairwise(spy, setting).pvalues
    expected = {(2, 0): [], (2, 3): [0], (0, 3): [2], (2, 1): [0, 3], (0, 1): [2, 3], (3, 1): [2, 0]}
    assert seen == expected
    np.testing.assert_array_equal(~np.isnan(found), setting.candidates)


def test_it_agrees_with_a_batched_test():
    setting = problem(6, [3, 1, 5, 0, 2, 4])
    np.testing.assert_allclose(
        run_pairwise(partial_correlation, setting).pvalues,
        partial_correlation_edges(setting).pvalues,
        rtol=1e-6,
    )


def test_a_test_may_write_into_its_arguments():
    setting = problem()
    before = setting.X.copy()

    def vandal(x, y, Z):
        x[:], y[:], Z[:] = 0, 0, 0
        return 1.0

    run_pairwise(vandal, setting)
    np.testing.assert_array_equal(setting.X, before)


def test_no_candidates_is_no_work():
    shares = []
    found = run_pairwise(draw, problem(candidates=np.zeros((5, 5), dtype=bool), progress=shares.append))
    assert np.isnan(found.pvalues).all()
    assert shares == []


# --- seeds, workers, progress -------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_any_number_of_workers_gives_the_same_answer(backend):
    plain = run_pairwise(draw, problem(7, seed=np.random.SeedSequence(3)), seeded=True).pvalues
    with parallel_config(backend=backend):
        two = run_pairwise(draw, problem(7, seed=np.random.SeedSequence(3), n_jobs=2), seeded=True).pvalues
    np.testing.assert_array_equal(plain, two)
    assert len(np.unique(plain[~np.isnan(plain)])) == 21


def test_seeds_belong_to_pairs_and_the_sequence_is_not_used_up():
    setting = problem(5, seed=np.random.SeedSequence(3))
    full = run_pairwise(draw, setting, seeded=True).pvalues
    np.testing.assert_array_equal(run_pairwise(draw, setting, seeded=True).pvalues, full)
    fewer = setting.candidates & (np.random.default_rng(1).random((5, 5)) < 0.5)
    some = run_pairwise(draw, problem(5, candidates=fewer, seed=np.random.SeedSequence(3)), seeded=True).pvalues
    np.testing.assert_array_equal(some, np.where(fewer, full, np.nan))
    other = run_pairwise(draw, problem(5, seed=np.random.SeedSequence(4)), seeded=True).pvalues
    assert not np.isclose(other, full).any()


def test_progress_rises_to_one():
    shares = []
    run_pairwise(lambda x, y, Z: 0.5, problem(8, progress=shares.append))
    assert len(shares) > 1
    assert sorted(shares) == shares
    assert shares[-1] == 1


# --- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [np.nan, 2.0, -0.1, None, "0.5", (1.3, 0.2), [], np.inf, 1j, True, np.array([0.1, 0.2]), {"p": 0.1}],
)
def test_anything_but_a_pvalue_is_an_error_that_names_the_pair(value):
    with pytest.raises(HeterodagError, match=r"one number in \[0, 1\].* got .* for columns 0 and 1\.$"):
        run_pairwise(lambda x, y, Z: value, problem())


@pytest.mark.parametrize("value", [0, 1, 0.25, np.float32(0.25), np.array(0.25), np.array([0.25]), 1 + 1e-12])
def test_numbers_of_any_kind_are_taken(value):
    found = run_pairwise(lambda x, y, Z: value, problem(2)).pvalues[0, 1]
    assert found == pytest.approx(float(np.ravel(value)[0]))
    assert found <= 1


def test_names_take_the_place_of_indices():
    with pytest.raises(HeterodagError, match="got nan for columns 'rain' and 'wet'"):
        run_pairwise(lambda x, y, Z: np.nan, problem(2), names=["rain", "wet"])


class Awkward(Exception):
    """An exception that cannot be pickled, not even with the help that distributed installs for all exceptions."""

    def __init__(self, one, two):
        super().__init__(f"{one} {two}")
        self.lock = threading.Lock()


def raising(x, y, Z):
    raise KeyError("inside")


def raising_awkward(x, y, Z):
    raise Awkward("deep", "inside")


def raising_own(x, y, Z):
    raise ParameterError("width", "be positive", -1)


@pytest.mark.parametrize(
    ("test", "kind", "text", "n_jobs"),
    [
        (raising, KeyError, "inside", 1),
        (raising_awkward, RuntimeError, "Awkward: deep inside", 1),
        (raising_awkward, RuntimeError, "Awkward: deep inside", 2),
        (raising_own, HeterodagError, "`width` must be positive; got -1. This came", 1),
    ],
)
def test_exceptions_come_through_and_name_the_pair(test, kind, text, n_jobs):
    with pytest.raises(kind) as caught:
        run_pairwise(test, problem(n_jobs=n_jobs))
    # What comes back from a worker has been pickled; new workers for each kind of exception would take seconds.
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert isinstance(error, kind)
        assert text in str(error)
        notes = " ".join(getattr(error, "__notes__", []))
        # With two workers either of the first tasks may fail first.
        assert re.search(r"test of columns \d and \d\.", str(error) + notes)


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (([1, np.nan], [1, 2], np.empty((2, 0))), "`x` has missing or infinite values"),
        (([1, 2], [1, np.inf], np.empty((2, 0))), "`y` has missing or infinite values"),
        (([1, 2], [1, 2], [[np.nan], [1]]), "`Z` has missing or infinite values"),
        (([1, 2], [1, 2, 3], np.empty((2, 0))), "the same number of rows, at least 2; got 2, 3, 2"),
        (([1], [1], np.empty((1, 0))), "at least 2; got 1, 1, 1"),
        (([[1, 2]], [1, 2], np.empty((2, 0))), r"`x` must have shape \(n,\); got \(1, 2\)"),
        (([1, 2], [1, 2], [1, 2]), r"`Z` must have shape \(n, k\); got \(2,\)"),
        (("ab", [1, 2], [[1], [2]]), "`x` must hold numbers; got str"),
    ],
)
def test_samples_are_checked(samples, message):
    with pytest.raises(DataError, match=message):
        check_samples(*samples)
