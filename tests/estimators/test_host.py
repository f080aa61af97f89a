"""HOST as an estimator: scikit-learn's checks, names, outputs, parameters, pickling."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from heterodag import HOST, HeterodagError, causal_order, recover_dag, simulate
from heterodag.core.graph import is_dag, respects_order
from heterodag.io.exports import STRENGTHS


@parametrize_with_checks([HOST()])
def test_scikit_learn_estimator_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


@pytest.fixture(scope="module")
def data():
    return simulate(600, 5, degree=1, random_state=11)


@pytest.fixture(scope="module")
def model(data):
    frame = pd.DataFrame(data.X, columns=["a", "b", "c", "d d", "é"])
    return HOST().fit(frame), frame


def test_fit_equals_the_two_functions(data):
    fitted = HOST().fit(data.X)
    order = causal_order(data.X)
    graph = recover_dag(data.X, order.order)
    assert np.array_equal(fitted.order_, order.order)
    assert fitted.layers_ == order.layers
    assert np.array_equal(fitted.scores_, order.scores, equal_nan=True)
    assert np.array_equal(fitted.adjacency_, graph.adjacency)
    # HOST goes on from the models of its search: some pairs have a likelihood ratio instead of a score test.
    np.testing.assert_allclose(fitted.pvalues_, graph.pvalues, rtol=0.05, atol=0.05, equal_nan=True)


def test_output_is_a_dag_that_fits_the_order(model):
    fitted, _ = model
    assert fitted.adjacency_.dtype == np.int8
    assert is_dag(fitted.adjacency_)
    assert respects_order(fitted.adjacency_, fitted.order_)
    assert [i for layer in fitted.layers_ for i in layer] == fitted.order_.tolist()


def test_names_are_kept_everywhere(model):
    fitted, frame = model
    assert fitted.feature_names_in_.tolist() == list(frame.columns) == fitted.names()
    edges = fitted.edges()
    assert list(edges.columns) == ["cause", "effect", "pvalue", "nats", "direction_nats", "open", *STRENGTHS]
    assert len(edges) == fitted.adjacency_.sum() > 0
    assert edges["pvalue"].is_monotonic_increasing
    names = fitted.names()
    for cause, effect, pvalue in edges[["cause", "effect", "pvalue"]].itertuples(index=False):
        i, j = names.index(cause), names.index(effect)
        assert fitted.adjacency_[i, j] == 1
        assert fitted.pvalues_[i, j] == pvalue < fitted.alpha
    graph = fitted.to_networkx()
    assert list(graph.nodes) == names
    assert set(graph.edges) == set(zip(edges["cause"], edges["effect"], strict=True))


def test_arrays_pandas_and_polars_agree(model):
    fitted, frame = model
    for table in (frame.to_numpy(), pl.DataFrame(frame), np.asfortranarray(frame.to_numpy())):
        other = HOST().fit(table)
        assert np.array_equal(other.order_, fitted.order_)
        assert np.allclose(other.pvalues_, fitted.pvalues_, equal_nan=True)
    assert not hasattr(HOST().fit(frame.to_numpy()), "feature_names_in_")
    assert HOST().fit(frame.to_numpy()).names() == ["x0", "x1", "x2", "x3", "x4"]


def test_float32_and_integers_work(data):
    assert HOST().fit(data.X.astype(np.float32)).order_.shape == (5,)
    assert HOST().fit(np.round(data.X * 100).astype(int)).order_.shape == (5,)


@pytest.mark.parametrize("unit", [1e150, 1e-150])
def test_extreme_units_change_nothing(data, unit):
    fitted, scaled = HOST().fit(data.X), HOST().fit(data.X * unit)
    assert np.array_equal(scaled.order_, fitted.order_)
    assert np.array_equal(scaled.adjacency_, fitted.adjacency_)


def test_clone_set_params_and_pickle(model):
    fitted, frame = model
    copy = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(copy.adjacency_, fitted.adjacency_)
    changed = clone(fitted).set_params(alpha=1.0)
    with pytest.raises(NotFittedError):
        changed.edges()
    assert changed.fit(frame).adjacency_.sum() == 10


def test_latents_look_standard_normal(model):
    fitted, frame = model
    latents = fitted.latents(frame)
    assert latents.shape == frame.shape
    assert list(latents.columns) == list(frame.columns)
    assert latents.index.equals(frame.index)
    assert isinstance(fitted.latents(frame.to_numpy()), np.ndarray)
    assert np.allclose(latents.mean(axis=0), 0.0, atol=0.2)
    assert np.allclose(latents.std(axis=0), 1.0, atol=0.2)
    with pytest.raises(HeterodagError, match="2 columns"):
        fitted.latents(frame.to_numpy()[:, :2])
    with pytest.raises(HeterodagError, match="not those the model was fitted to"):
        fitted.latents(frame[frame.columns[::-1]])


def test_paper_settings_can_be_changed_one_by_one():
    paper = HOST.paper(alpha=0.01)
    assert (paper.selection, paper.tolerance, paper.refine, paper.alpha) == ("lcit", 1e-4, False, 0.01)


def test_location_scale_tells_mean_from_spread():
    rng = np.random.default_rng(5)
    mover, spreader = rng.normal(size=(2, 1500))
    effect = mover + np.exp(0.6 * spreader) * rng.normal(size=1500)
    frame = pd.DataFrame({"mover": mover, "spreader": spreader, "effect": effect})
    graph = recover_dag(frame, ["mover", "spreader", "effect"], form="location-scale")
    mean, variance = graph.details["mean_pvalues"][:, 2], graph.details["variance_pvalues"][:, 2]
    assert mean[0] < 1e-6
    assert variance[1] < 1e-6
    assert variance[0] > 1e-3
    assert mean[1] > 1e-3
    fitted = HOST(form="location-scale").fit(frame)
    assert {"mean_pvalue", "variance_pvalue"} <= set(fitted.edges().columns)
    fitted.set_params(form="natural").fit(frame)
    assert not hasattr(fitted, "mean_pvalues_")


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"alpha": 3}, "`alpha` must be a number in (0, 1]; got 3"),
        ({"alpha": 0}, "`alpha`"),
        ({"alpha": "x"}, "`alpha`"),
        ({"tolerance": -1}, "`tolerance`"),
        ({"tolerance": float("nan")}, "`tolerance`"),
        ({"form": "cubic"}, "'natural', 'location-scale'"),
        ({"parametrization": "cubic"}, "`parametrization`"),
        ({"normality": "cubic"}, "'shapiro'"),
        ({"selection": "cubic"}, "'likelihood'"),
        ({"correction": "cubic"}, "'holm'"),
        ({"refine": "cubic"}, "`refine`"),
        ({"prior_knowledge": 1}, "`prior_knowledge`"),
        ({"n_jobs": 0}, "`n_jobs`"),
        ({"n_jobs": 1.5}, "`n_jobs`"),
        ({"verbose": -1}, "`verbose`"),
        ({"random_state": "x"}, "`random_state`"),
    ],
)
def test_bad_parameters_get_one_sentence(data, parameters, words):
    with pytest.raises(ValueError) as caught:
        HOST(**parameters).fit(data.X)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_workers_give_the_same_answer(data):
    one, two = (HOST(n_jobs=n).fit(data.X) for n in (1, 2))
    assert np.array_equal(one.pvalues_, two.pvalues_, equal_nan=True)
