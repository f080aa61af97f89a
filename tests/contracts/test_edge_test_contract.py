"""What every edge test of the registry promises, as a plain function and inside `recover_dag`."""

from __future__ import annotations

import random
from functools import partial
from importlib.util import find_spec

import joblib
import numpy as np
import pytest

from heterodag import HOST, DataError, HeterodagError, recover_dag, simulate
from heterodag.core.graph import full_dag
from heterodag.independence.adapters import causal_learn
from heterodag.independence.correction import adjust
from heterodag.independence.gam import gam
from heterodag.independence.gcm import gcm
from heterodag.independence.lcit import lcit
from heterodag.independence.likelihood import likelihood
from heterodag.independence.partial_correlation import partial_correlation
from heterodag.independence.registry import SELECTIONS

#: The plain function of each name; causal-learn's are made when they are called, as they may be missing.
PLAIN = {
    "likelihood-full": likelihood,
    "partial-correlation": partial_correlation,
    "rank-correlation": partial(partial_correlation, method="spearman"),
    "gam": gam,
    "gam-classical": partial(gam, covariance="classical"),
    "lcit": partial(lcit, random_state=0),
    "gcm": gcm,
    "kci": lambda x, y, Z: causal_learn("kci")(x, y, Z),
    "fisherz": lambda x, y, Z: causal_learn("fisherz")(x, y, Z),
}
#: Forms and regressions that go by no name of their own.
VARIANTS = {
    "likelihood-full location-scale": partial(likelihood, form="location-scale"),
    "gcm linear": partial(gcm, regressor="linear"),
    "gcm forest": partial(gcm, regressor="forest"),
}
PACKAGES = {"lcit": "torch", "kci": "causallearn", "fisherz": "causallearn"}


def cases(names):
    """Return parameters that are skipped where an optional package is missing."""
    missing = {name for name, package in PACKAGES.items() if find_spec(package) is None}
    return [pytest.param(name, marks=pytest.mark.skipif(name in missing, reason="an extra")) for name in names]


plain_tests = pytest.mark.parametrize("name", cases([*PLAIN, *VARIANTS]))
named_tests = pytest.mark.parametrize("name", cases(SELECTIONS))


def call(name, x, y, Z):
    return (PLAIN | VARIANTS)[name](x, y, Z)


def samples(n=150):
    """Return z, a child x of it, and a child y of both."""
    z, e, u = np.random.default_rng(1).standard_normal((3, n))
    x = z + e
    return z, x, z + x + u


@pytest.fixture(autouse=True)
def small_forest(monkeypatch):
    monkeypatch.setattr("heterodag.independence.gcm.TREES", 40)


@pytest.fixture(scope="module")
def table():
    return simulate(120, 4, "ER", 1, random_state=4)


def pvalues(table, name, **options):
    return recover_dag(table.X, table.order, selection=name, random_state=0, **options).pvalues


def test_every_name_is_under_contract():
    # The default selects parents before it tests: it has no plain function.
    assert {*PLAIN, "likelihood"} == set(SELECTIONS)


# --- the plain function -------------------------------------------------------------------------------------


@plain_tests
def test_an_empty_and_an_ordinary_conditioning_set(name):
    z, x, y = samples()
    for Z in (np.empty((150, 0)), z[:, None], z[:, None].tolist()):
        p = call(name, x, y, Z)
        assert isinstance(p, float)
        assert 0 <= p < 1e-4


@plain_tests
@pytest.mark.parametrize("kind", ["twice the same", "a constant", "constants alone"])
def test_a_singular_conditioning_set(name, kind):
    z, x, y = samples()
    one = np.ones(150)
    Z, same_as = {
        "twice the same": (np.column_stack([z, z]), z[:, None]),
        "a constant": (np.column_stack([z, one]), z[:, None]),
        "constants alone": (np.column_stack([one, 3 * one]), np.empty((150, 0))),
    }[kind]
    if name == "fisherz":
        with pytest.raises(DataError, match=r"linearly dependent columns: .* use 'partial-correlation'"):
            call(name, x, y, Z)
        return
    p, expected = call(name, x, y, Z), call(name, x, y, same_as)
    assert 0 <= p < 1e-4
    # Flows, forests and kernels see a second copy as a second column: the verdict is the same, not the digits.
    if name not in ("lcit", "gcm", "gcm forest", "kci"):
        assert p == pytest.approx(expected, rel=0.01)


@plain_tests
def test_more_conditioning_columns_than_rows(name):
    _, x, y = samples(20)
    Z = np.random.default_rng(2).standard_normal((20, 30))
    if name == "fisherz":
        with pytest.raises(DataError, match="at least 4 rows more than Z has columns; got 20 rows and 30 columns"):
            call(name, x, y, Z)
    elif name in ("gcm forest", "kci"):
        # They smooth so much that something is left to test.
        assert 0 <= call(name, x, y, Z) <= 1
    else:
        assert call(name, x, y, Z) == 1


@plain_tests
@pytest.mark.parametrize("which", ["cause", "effect"])
def test_a_constant_tells_nothing(name, which):
    z, x, y = samples()
    one = np.ones(150)
    assert call(name, *((one, y) if which == "cause" else (x, one)), z[:, None]) == 1


@plain_tests
@pytest.mark.parametrize("which", ["cause", "effect"])
def test_a_column_that_is_also_given_tells_nothing(name, which):
    z, x, y = samples()
    Z = np.column_stack([z, x if which == "cause" else y])
    if name == "fisherz":
        with pytest.raises(DataError, match="linearly dependent columns"):
            call(name, x, y, Z)
    else:
        # kci computes a p-value of rounding errors; partial correlation is 1 up to these.
        assert call(name, x, y, Z) > (0.5 if name == "kci" else 0.999)


@plain_tests
def test_bad_samples_get_one_sentence(name):
    z, x, y = samples()
    hole = np.where(np.arange(150) == 3, np.nan, x)
    for bad, message in [
        ((hole, y, z[:, None]), "`x` has missing or infinite values"),
        ((x, np.where(np.isnan(hole), np.inf, y), z[:, None]), "`y` has missing or infinite values"),
        ((x, y, z), r"`Z` must have shape \(n, k\)"),
        ((x[1:], y, z[:, None]), "same number of rows"),
        ((["a"] * 150, y, z[:, None]), "`x` must hold numbers"),
    ]:
        with pytest.raises(DataError, match=message) as caught:
            call(name, *bad)
        assert "\n" not in str(caught.value)


# --- inside recover_dag -------------------------------------------------------------------------------------


@named_tests
def test_a_seed_fixes_the_answer_and_global_random_states_stay(name, table):
    states = global_states()
    first, second = pvalues(table, name), pvalues(table, name)
    assert np.array_equal(first, second, equal_nan=True)
    assert states == global_states()


def global_states():
    states = [str(np.random.get_state()), random.getstate()]  # noqa: NPY002
    if find_spec("torch") is not None:
        import torch

        states += [torch.random.get_rng_state().tolist(), torch.get_num_threads()]
    return states


@named_tests
def test_workers_and_backends_give_the_same_answer(name, table):
    one = pvalues(table, name, n_jobs=1)
    assert np.array_equal(one, pvalues(table, name, n_jobs=2), equal_nan=True)
    with joblib.parallel_config(backend="threading"):
        assert np.array_equal(one, pvalues(table, name, n_jobs=2), equal_nan=True)


@named_tests
def test_the_table_is_that_of_the_plain_function(name, table):
    found = pvalues(table, name)
    assert np.array_equal(np.isnan(found), full_dag(table.order) == 0)
    if name not in PLAIN:
        return
    cause, middle, effect = table.order[[0, 1, 2]]
    plain = partial(lcit, random_state=np.random.SeedSequence(0)) if name == "lcit" else PLAIN[name]
    p = plain(table.X[:, cause], table.X[:, effect], table.X[:, [middle]])
    assert found[cause, effect] == pytest.approx(p, rel=1e-4, abs=1e-12)


@named_tests
def test_progress_rises_to_one(name, table):
    shares = []
    pvalues(table, name, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[0] > 0
    assert shares[-1] == 1


@named_tests
@pytest.mark.parametrize("correction", ["holm", "bh"])
def test_corrections_are_over_all_tested_pairs(name, correction, table):
    raw = pvalues(table, name)
    corrected = recover_dag(table.X, table.order, selection=name, random_state=0, alpha=0.05, correction=correction)
    np.testing.assert_array_equal(corrected.pvalues, adjust(raw, correction))
    smallest = np.nanmin(raw)
    assert np.nanmin(corrected.pvalues) <= min(1, 6 * smallest)
    assert np.array_equal(corrected.adjacency == 1, np.nan_to_num(corrected.pvalues, nan=1) < 0.05)


@named_tests
def test_singular_and_wide_tables_are_refused(name):
    X = np.random.default_rng(3).standard_normal((60, 4))
    for bad, message in [
        (np.column_stack([X, X[:, 0] + X[:, 1]]), "collinear"),
        (np.column_stack([X, 2 * X[:, 0]]), "duplicates"),
        (X[:5], "Too few rows"),
    ]:
        with pytest.raises(DataError, match=message):
            recover_dag(bad, range(bad.shape[1]), selection=name)


# --- a user's own -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [float("nan"), -0.1, 1.5, float("inf"), None, "0.5", [0.1, 0.2]])
def test_a_callable_must_return_a_pvalue(value, table):
    for run in (
        lambda test: recover_dag(table.X, table.order, selection=test),
        lambda test: HOST(selection=test, refine=False).fit(table.X),
    ):
        with pytest.raises(HeterodagError, match=r"must return one number in \[0, 1\]") as caught:
            run(partial(answer, value))
        assert repr(value) in str(caught.value)


def answer(value, x, y, Z):
    return value
