"""One contract for prior knowledge in all rivals that have an order: obeyed strictly, or refused before any work."""

import importlib.util
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from heterodag import (
    CAM,
    GOLEM,
    DiffAN,
    EqVar,
    GraNDAG,
    NPVar,
    ParameterError,
    PriorKnowledge,
    VarSort,
    bootstrap,
    recover_dag,
    simulate,
)
from heterodag.core.graph import respects_order, topological_order
from heterodag.estimators.diffan import LEAF_REMOVALS
from heterodag.estimators.ordering import OrderingEstimator

MODELS = [VarSort(), EqVar(), EqVar(direction="bottom-up"), NPVar(), NPVar(eta=0.3), CAM()]
if importlib.util.find_spec("torch") is not None:
    quick = {"max_steps": 5, "hidden": 4, "votes": 1, "noise_steps": 10}
    MODELS += [DiffAN(leaf_removal=how, **quick) for how in LEAF_REMOVALS]
QUICK_TEST = {"selection": "partial-correlation", "alpha": 0.2, "random_state": 0}
SEEDS = range(15)


def random_knowledge(rng, adjacency):
    """Draw knowledge that the graph obeys, of every kind."""
    d, order = len(adjacency), topological_order(adjacency)

    def some(items, share):
        return [item for item in items if rng.random() < share]

    absent = (adjacency == 0) & ~np.eye(d, dtype=bool)
    cut = int(rng.integers(1, d))
    return PriorKnowledge(
        required=some(map(tuple, np.argwhere(adjacency).tolist()), 0.4),
        forbidden=some(map(tuple, np.argwhere(absent).tolist()), 0.3),
        tiers=[some(order[:cut].tolist(), 0.6), some(order[cut:].tolist(), 0.6)] if rng.random() < 0.5 else [],
        roots=some(np.flatnonzero(adjacency.sum(axis=0) == 0).tolist(), 0.4),
        leaves=some(np.flatnonzero(adjacency.sum(axis=1) == 0).tolist(), 0.4),
    )


@pytest.fixture(scope="module")
def cases():
    """Tables whose columns are shuffled and rescaled, so that no method is right by itself."""
    made = []
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        data = simulate(80, 5, graph=("ER", "SF")[seed % 2], degree=1, random_state=seed)
        X = data.X * np.exp(rng.normal(size=5))
        made.append((X, random_knowledge(rng, data.adjacency)))
    return made


@pytest.fixture(scope="module")
def table():
    return pd.DataFrame(simulate(100, 5, random_state=3).X, columns=list("abcde"))


@pytest.mark.parametrize("model", MODELS)
def test_no_output_violates_the_knowledge(model, cases):
    """Without the knowledge most of these fits break it, which shows that the check can fail."""
    broken = 0
    if isinstance(model, DiffAN):
        # The slow ones share the tables among them.
        cases = cases[LEAF_REMOVALS.index(model.leaf_removal) :: len(LEAF_REMOVALS)]
    for X, known in cases:
        resolved = known.resolve(None, 5)
        fitted = clone(model).set_params(prior_knowledge=known, **QUICK_TEST).fit(X)
        assert resolved.respects_order(fitted.order_)
        assert respects_order(fitted.adjacency_, fitted.order_)
        assert resolved.violations(fitted.adjacency_) == []
        assert np.isnan(fitted.pvalues_[resolved.required | resolved.forbidden]).all()
        assert [j for layer in fitted.layers_ for j in layer] == fitted.order_.tolist()
        if hasattr(fitted, "unpruned_"):
            assert resolved.violations(fitted.unpruned_) == []
        free = clone(model).set_params(**QUICK_TEST).fit(X)
        broken += bool(resolved.violations(free.adjacency_)) or not resolved.respects_order(free.order_)
    assert broken > len(cases) / 2


@pytest.mark.parametrize("model", MODELS)
def test_knowledge_without_content_changes_nothing(model, table):
    plain = clone(model).set_params(**QUICK_TEST).fit(table)
    empty = clone(model).set_params(prior_knowledge={}, **QUICK_TEST).fit(table)
    assert np.array_equal(plain.order_, empty.order_)
    assert plain.layers_ == empty.layers_
    assert np.array_equal(plain.pvalues_, empty.pvalues_, equal_nan=True)


@pytest.mark.parametrize("model", MODELS)
def test_a_contradiction_is_refused_before_any_work(model, table, monkeypatch):
    def never(*_):
        raise AssertionError("work was done")

    monkeypatch.setattr(type(model), "_find_order", never)
    for known, words in [
        ({"required": [("a", "b"), ("b", "a")]}, "a -> b -> a"),
        ({"required": [("a", "b")], "roots": ["b"]}, "'b' a root"),
        ({"required": [("a", "z")]}, "z"),
        ("a -> b", "prior_knowledge"),
    ]:
        with pytest.raises(ParameterError, match=words) as caught:
            clone(model).set_params(prior_knowledge=known, selection=never).fit(table)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("model", MODELS)
def test_missing_values_are_dropped_on_request(model, table):
    gaps = table.copy()
    gaps.iloc[[3, 40], 1] = np.nan
    with pytest.warns(UserWarning, match="2"):
        fitted = clone(model).set_params(missing="drop", **QUICK_TEST).fit(gaps)
    whole = clone(model).set_params(**QUICK_TEST).fit(gaps.dropna())
    assert np.array_equal(fitted.pvalues_, whole.pvalues_, equal_nan=True)
    with pytest.raises(ParameterError, match="`missing`"):
        clone(model).set_params(missing="guess").fit(table)


@pytest.mark.parametrize("model", MODELS)
def test_a_total_order_is_followed(model, table):
    tiers = [["d"], ["b"], ["e"], ["a"], ["c"]]
    fitted = clone(model).set_params(prior_knowledge={"tiers": tiers}, **QUICK_TEST).fit(table)
    assert fitted.order_.tolist() == [3, 1, 4, 0, 2]
    assert fitted.layers_ == [[3], [1], [4], [0], [2]]


@pytest.mark.parametrize("selection", ["likelihood", "gam"])
def test_the_edges_are_those_of_recover_dag(selection, table):
    """Also at another level than the default one, which stepwise tests need to know."""
    known = {"required": [("a", "b")], "forbidden": [("c", "d"), ("d", "c")]}
    settings = {"selection": selection, "alpha": 0.05, "prior_knowledge": known}
    fitted = VarSort(**settings).fit(table)
    graph = recover_dag(table, fitted.order_, parametrization="linear", form="natural", noise="gaussian", **settings)
    assert np.array_equal(fitted.pvalues_, graph.pvalues, equal_nan=True)
    assert np.array_equal(fitted.adjacency_, graph.adjacency)


@pytest.mark.parametrize("selection", ["likelihood", "gam", "gcm"])
def test_cam_prunes_given_the_required_causes(selection, table):
    known = {"required": [("a", "c"), ("b", "c")], "forbidden": [("e", "c")]}
    fitted = CAM(prior_knowledge=known, selection=selection, random_state=0).fit(table)
    assert fitted.unpruned_[[0, 1], 2].all()
    assert fitted.adjacency_[[0, 1], 2].all()
    assert not fitted.unpruned_[4, 2]
    tested = fitted.unpruned_ == 1
    tested[[0, 1], 2] = False
    assert np.array_equal(np.isfinite(fitted.pvalues_), tested)


def test_cam_selects_neighbours_among_what_is_possible():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 22))
    X[:, 1] = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1]
    known = {"forbidden": [(0, 1)], "required": [(5, 1), (6, 1), (7, 1)], "leaves": [1]}
    fitted = CAM(prior_knowledge=known, max_neighbours=2, selection="partial-correlation").fit(X)
    assert fitted.unpruned_[[5, 6, 7], 1].all()
    assert not fitted.unpruned_[0, 1]
    assert not fitted.unpruned_[1].any()
    assert fitted.order_[-1] == 1


def test_methods_without_an_order_do_not_take_it():
    for model in (GOLEM(), GraNDAG()):
        assert "prior_knowledge" not in model.get_params()
    ordered = {cls for cls in OrderingEstimator.__subclasses__() if "prior_knowledge" in cls().get_params()}
    assert {type(model) for model in MODELS} <= ordered == {VarSort, EqVar, NPVar, CAM, DiffAN}


@pytest.mark.parametrize("model", MODELS[:6])
def test_the_bootstrap_obeys_it_too(model, table):
    known = {"required": [("e", "a")], "roots": ["e"]}
    told = clone(model).set_params(prior_knowledge=known, **QUICK_TEST)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = bootstrap(told, table, 3, random_state=1)
    assert result.directed[4, 0] == 1.0
    assert (result.orders[:, 0] == 4).all()
    again = bootstrap(told, table, 3, random_state=1)
    assert np.array_equal(result.adjacencies, again.adjacencies)
