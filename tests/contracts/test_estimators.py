"""One contract for HOST and all its rivals: names, orders, graphs, seeds, workers, limits, errors."""

import importlib.util
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import heterodag
from heterodag import CAM, GOLEM, HOST, DiffAN, EqVar, GraNDAG, NPVar, TimeLimitError, VarSort, simulate
from heterodag.core.graph import is_dag, respects_order
from heterodag.errors import MissingExtraError
from heterodag.estimators import golem, grandag

HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="an extra")
QUICK_DIFFAN = {"max_steps": 20, "hidden": 8, "votes": 1}
RIVALS = [VarSort(), EqVar(), EqVar(direction="bottom-up"), NPVar(), NPVar(eta=0.3), CAM(), GOLEM(), GraNDAG()]
if HAS_TORCH:
    RIVALS.append(DiffAN(**QUICK_DIFFAN))
ALL = [HOST(), *RIVALS]


@pytest.fixture(autouse=True)
def made_up_gcastle(monkeypatch):
    """Stand in for gcastle (tested in `test_gcastle_runs`): quick, and different with every seed and table."""

    def run(method, X, seed, options, report, verbose):
        d = X.shape[1]
        for _ in range(3):
            time.sleep(0.001)
            report(0.0)
        rng = np.random.default_rng([seed, d])
        order = rng.permutation(d) if method == "grandag" else np.argsort(np.abs(X).sum(axis=0))
        upper = np.triu(np.ones((d, d)), 1)[np.ix_(np.argsort(order), np.argsort(order))]
        return upper * 0.5

    for module in (golem, grandag):
        monkeypatch.setattr(module, "run_gcastle", run)
        monkeypatch.setattr(module, "require_gcastle", lambda feature: None)


@pytest.fixture(scope="module")
def table():
    X = simulate(150, 4, random_state=11).X
    return pd.DataFrame(X, columns=["a", "b", "c c", "é"])


# The variants of a method differ in nothing that these checks see; a cheap edge test saves most of their time.
@parametrize_with_checks(
    [
        model if isinstance(model, GOLEM) else clone(model).set_params(selection="partial-correlation")
        for model in RIVALS
        if repr(model) not in ("EqVar(direction='bottom-up')", "NPVar(eta=0.3)")
    ]
)
def test_scikit_learn_estimator_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


@pytest.mark.parametrize("model", ALL)
def test_names_order_and_graph(model, table):
    fitted = clone(model).set_params(random_state=0).fit(table)
    assert fitted.feature_names_in_.tolist() == fitted.names() == list(table.columns)
    assert sorted(fitted.order_.tolist()) == [0, 1, 2, 3]
    assert fitted.adjacency_.dtype == np.int8
    assert is_dag(fitted.adjacency_)
    assert respects_order(fitted.adjacency_, fitted.order_)
    assert len(fitted.edges()) == fitted.adjacency_.sum()
    assert list(fitted.to_networkx().nodes) == list(table.columns)
    plain = clone(model).set_params(random_state=0).fit(table.to_numpy())
    assert plain.names() == ["x0", "x1", "x2", "x3"]
    assert np.array_equal(plain.adjacency_, fitted.adjacency_)
    if hasattr(fitted, "layers_"):
        assert [j for layer in fitted.layers_ for j in layer] == fitted.order_.tolist()
    if hasattr(fitted, "pvalues_"):
        assert np.array_equal(fitted.adjacency_ == 1, np.nan_to_num(fitted.pvalues_, nan=1.0) < fitted.alpha)


@pytest.mark.parametrize("model", ALL)
def test_the_seed_decides_and_the_workers_do_not(model, table):
    settings = [{"random_state": 3}, {"random_state": 3}]
    if "n_jobs" in model.get_params():
        settings[1]["n_jobs"] = 2
    if "selection" in model.get_params():
        settings = [{**own, "selection": "gcm"} for own in settings]
    one, two = (clone(model).set_params(**own).fit(table) for own in settings)
    assert_same_fit(one, two)


def assert_same_fit(one, two):
    assert np.array_equal(one.order_, two.order_)
    assert np.array_equal(one.adjacency_, two.adjacency_)
    if hasattr(one, "pvalues_"):
        assert np.array_equal(one.pvalues_, two.pvalues_, equal_nan=True)


@pytest.mark.parametrize("refine", [True, False])
@pytest.mark.parametrize("parametrization", ["linear", "spline", pytest.param("mlp", marks=needs_torch)])
def test_workers_do_not_decide_for_any_parametrisation(parametrization, refine, table):
    one, two = (
        HOST(parametrization=parametrization, refine=refine, n_jobs=workers, random_state=0).fit(table)
        for workers in (1, 2)
    )
    assert_same_fit(one, two)


@pytest.mark.parametrize("parametrization", ["linear", "spline"])
def test_workers_do_not_decide_while_progress_is_told(parametrization, table):
    """What is told may hold anything, such as an open terminal: it must not travel to the workers."""

    class Told(list):
        def __call__(self, share):
            self.append(share)

        def __reduce__(self):
            raise TypeError("this stays where it is")

    told = [Told(), Told()]
    one, two = (
        heterodag.recover_dag(
            table, [2, 0, 3, 1], selection="likelihood-full", parametrization=parametrization, n_jobs=workers,
            progress=own,
        )
        for workers, own in zip((1, 2), told, strict=True)
    )  # fmt: skip
    assert np.array_equal(one.pvalues, two.pvalues, equal_nan=True)
    assert told[0][-1] == told[1][-1] == 1


@pytest.mark.parametrize("model", [m for m in ALL if not isinstance(m, GOLEM)])
@pytest.mark.parametrize("selection", ["partial-correlation", "gam-classical"])
def test_every_edge_test_gives_the_graph(model, selection, table):
    fitted = clone(model).set_params(selection=selection, alpha=1.0, random_state=0).fit(table)
    graph = heterodag.recover_dag(table, fitted.order_, selection=selection, alpha=1.0)
    if hasattr(fitted, "unpruned_"):
        assert np.array_equal(np.isfinite(fitted.pvalues_), fitted.unpruned_ == 1)
    else:
        assert np.array_equal(fitted.pvalues_, graph.pvalues, equal_nan=True)


@pytest.mark.parametrize("model", RIVALS)
def test_the_time_limit_ends_the_fit(model, table):
    with pytest.raises(TimeLimitError, match=f"{type(model).__name__} did not finish"):
        clone(model).set_params(max_seconds=1e-9).fit(table)


#: A parameter, a wrong value, and what the sentence about it says.
WRONG = [
    ("alpha", 3, "`alpha` must be a number in (0, 1]; got 3"),
    ("selection", "cubic", "'likelihood'"),
    ("correction", "cubic", "'holm'"),
    ("n_jobs", 0, "`n_jobs`"),
    ("verbose", -1, "`verbose`"),
    ("random_state", "x", "`random_state`"),
    ("max_seconds", 0, "`max_seconds`"),
    ("direction", "left", "'top-down', 'bottom-up'"),
    ("eta", -1, "`eta`"),
    ("max_neighbours", 0, "`max_neighbours`"),
    ("leaf_removal", "x", "'residue'"),
    ("hidden", 0, "`hidden`"),
    ("noise_steps", 1, "`noise_steps`"),
    ("learning_rate", 0, "`learning_rate`"),
    ("max_steps", 0, "`max_steps`"),
    ("threshold", -1, "`threshold`"),
    ("equal_variances", "x", "`equal_variances`"),
    ("l1", -1, "`l1`"),
]


def test_every_wrong_parameter_belongs_to_a_method():
    assert {wrong[0] for wrong in WRONG} <= {name for model in (*RIVALS, DiffAN()) for name in model.get_params()}


@pytest.mark.parametrize(
    ("model", "parameter", "value", "words"),
    [(model, *wrong) for model in RIVALS for wrong in WRONG if wrong[0] in model.get_params()],
)
def test_bad_parameters_get_one_sentence(model, parameter, value, words, table):
    with pytest.raises(heterodag.HeterodagError) as caught:
        clone(model).set_params(**{parameter: value}).fit(table)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("model", ALL)
def test_bad_tables_get_one_sentence(model, table):
    for bad, words in [
        (table.assign(b=1.0), "'b' is constant"),
        (table.assign(b=table["a"] * 2), "duplicates"),
        (table.where(table != table.iloc[3, 2]), "Missing values"),
        (table.iloc[:4], "Too few rows"),
    ]:
        with pytest.raises(heterodag.DataError, match=words) as caught:
            clone(model).fit(bad)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("model", "hidden", "command"),
    [
        (DiffAN(), "torch", "heterodag[neural]"),
        (GOLEM(), "castle", "heterodag[baselines]"),
        (GraNDAG(), "castle", "heterodag[baselines]"),
        (GraNDAG(), "torch", "heterodag[baselines]"),
    ],
)
def test_a_missing_extra_is_one_sentence_with_the_command(model, hidden, command, table, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, hidden, None)
    with pytest.raises(MissingExtraError) as caught:
        model.fit(table)
    assert f"pip install '{command}'" in str(caught.value)
    assert VarSort().fit(table).order_.shape == (4,)
