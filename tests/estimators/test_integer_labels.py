"""Columns whose labels are whole numbers in another order than their places: a number means the label."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from heterodag import HOST, HeteroscedasticSCM, Interventions, ParameterError, PriorKnowledge, bootstrap, recover_dag
from heterodag import causal_order as find_order
from heterodag.estimators import VarSort
from heterodag.io.inputs import IntegerLabel, column_index, column_name, own_labels, read_data

LABELS = [3, 2, 1, 0]
#: Column 3, the first, is certainly a cause; as a leaf it can only come last.
LEAF = PriorKnowledge(leaves=[3])
FAST = {"parametrization": "linear", "form": "location-scale", "noise": "gaussian"}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    first = rng.standard_normal(200)
    second = 2 * first + rng.standard_normal(200)
    third = second + np.exp(0.5 * first) * rng.standard_normal(200)
    return pd.DataFrame(np.column_stack([first, second, third, rng.standard_normal(200)]), columns=LABELS)


def is_leaf(adjacency):
    """Return which columns have no effects while there are edges at all."""
    assert adjacency.any()
    return ~adjacency.any(axis=1)


def test_the_table_without_knowledge_has_the_cause(frame):
    assert not is_leaf(HOST(**FAST).fit(frame).adjacency_)[0]


@pytest.mark.parametrize("method", [HOST(**FAST), VarSort()])
def test_knowledge_means_labels(frame, method):
    model = method.set_params(prior_knowledge=LEAF).fit(frame)
    assert is_leaf(model.adjacency_)[0]
    assert list(model.names()) == ["3", "2", "1", "0"]
    by_text = method.set_params(prior_knowledge={"leaves": ["3"]}).fit(frame)
    np.testing.assert_array_equal(model.adjacency_, by_text.adjacency_)


def test_fitted_models_keep_labels_through_a_pickle(frame):
    model = pickle.loads(pickle.dumps(HOST(**FAST).fit(frame)))
    assert own_labels(model.names()) == LABELS
    assert own_labels(list(model.feature_names_in_)) == LABELS


def test_orders_and_graphs_obey_labels(frame):
    assert find_order(frame, **FAST, prior_knowledge=LEAF).order[-1] == 0
    # An order is of indices, as `causal_order` gives it, also here: 1, 2, 3, 0 would be another order by label.
    found = recover_dag(frame, [1, 2, 3, 0], prior_knowledge={"required": [(2, 3)]}, **FAST)
    assert found.order.tolist() == [1, 2, 3, 0]
    assert np.isnan(found.pvalues[1, 0])
    assert found.adjacency[1, 0] == 1


def test_resamples_obey_labels(frame, tmp_path):
    store = tmp_path / "store.jsonl"
    model = HOST(**FAST, prior_knowledge=LEAF)
    result = bootstrap(model, frame, 2, random_state=0, store=store)
    assert (result.directed[0] == 0).all()
    assert result.directed.any()
    # In a table of texts, 3 is the last column: the same numbers, other knowledge.
    with pytest.raises(ValueError, match="of other data"):
        bootstrap(model, frame.rename(columns=str), 2, random_state=0, store=store)


def test_interventions_mean_labels(frame):
    rows = [3 if row % 2 else None for row in range(len(frame))]
    model = HOST(**FAST).fit(frame, interventions=rows)
    assert model.rows_.tolist() == [100, 200, 200, 200]
    told = Interventions(["set" if row else "seen" for row in rows], {"set": [3], "seen": None})
    assert HOST(**FAST).fit(frame, interventions=told).rows_.tolist() == [100, 200, 200, 200]


@pytest.mark.parametrize("column", [7, "7"])
def test_conditions_may_be_a_column_with_a_number(frame, column):
    table = frame.assign(**{"7": np.arange(len(frame)) % 2}).rename(columns={"7": 7})
    model = HOST(**FAST).fit(table, interventions=Interventions(column, {0: None, 1: 3}))
    assert model.rows_.tolist() == [100, 200, 200, 200]


def test_questions_mean_labels(frame, tmp_path):
    graph = np.zeros((4, 4), dtype=int)
    graph[0, 1] = graph[1, 2] = 1
    scm = HeteroscedasticSCM.from_dag(graph, frame, **FAST)
    scm.save(tmp_path / "model.json")
    for model in (scm, HeteroscedasticSCM.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(scm))):
        assert (model.sample_do({3: 5.0}, 3, random_state=0)["3"] == 5.0).all()
        effect = model.effect(3, 1, (0.0, 1.0), n=200, random_state=0)
        assert abs(effect.loc["mean", "difference"] - 2.0) < 0.5
        assert model.counterfactual(frame.iloc[:2], {3: 0.0}).shape == (2, 4)
        assert model.predict_interval({3: 1.0}, 2).shape == (1, 4)
        with pytest.raises(ParameterError, match=r"`target` must name columns by the table's own labels.*3, 2, 1, 0"):
            model.attribute_spread(4, n=50)
    named = HeteroscedasticSCM.from_dag(graph, frame.to_numpy(), names=LABELS, **FAST)
    assert own_labels(named.names) == LABELS


def test_a_file_with_other_integer_labels_is_refused(frame, tmp_path):
    path = tmp_path / "model.json"
    HeteroscedasticSCM.from_dag(np.zeros((4, 4)), frame, **FAST).save(path)
    text = path.read_text(encoding="utf-8")
    for wrong in ('["9"]', '"3"', "[3]", '["3", "x"]'):
        start, end = text.index('"integer_labels"'), text.index('"mechanisms"')
        path.write_text(f'{text[:start]}"integer_labels": {wrong},\n {text[end:]}', encoding="utf-8")
        with pytest.raises(ValueError, match="integer_labels, which must be names"):
            HeteroscedasticSCM.load(path)


@pytest.mark.parametrize(
    ("labels", "column", "found"),
    [
        ([3, 2, 1, 0], 3, 0),
        ([3, 2, 1, 0], np.int64(0), 3),
        ([3, 2, 1, 0], "2", 1),
        ([-1, 5, "a"], -1, 0),
        (["3", "2", "1", "0"], 3, 3),
        ([10**30, 1], 10**30, 0),
        ([True, False], 1, 1),
    ],
)
def test_numbers_are_labels_only_where_labels_are_numbers(labels, column, found):
    assert column_index("roots", column, [column_name(label) for label in labels]) == found


@pytest.mark.parametrize("column", [4, -1, True, 1.0, None])
def test_a_number_that_is_no_label_is_refused(column):
    with pytest.raises(ParameterError, match="`roots` must"):
        column_index("roots", column, [column_name(label) for label in LABELS])


def test_other_tables_have_no_integer_labels(frame):
    assert read_data(frame.to_numpy())[1] is None
    names = read_data(pl.DataFrame(frame.to_numpy(), schema=["3", "2", "1", "0"]))[1]
    assert not any(isinstance(name, IntegerLabel) for name in names)
    with pytest.raises(ValueError, match="'3' is there more than once"):
        read_data(pd.DataFrame([[1.0, 2.0]], columns=[3, "3"]))
