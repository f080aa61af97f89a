"""Accuracy by decision rate: by hand, with weights and ties, and whatever the order of the rows."""

import joblib
import numpy as np
import pandas as pd
import pytest

from heterodag.errors import DataError, DataWarning, ParameterError
from heterodag.pairs import Pair, PairFolder, decide_pairs, score_pairs


def decisions(nats, right, weight=None):
    nats = np.array(nats, dtype=float)
    weight = np.ones(len(nats)) if weight is None else weight
    return pd.DataFrame({"nats": nats, "open": nats < 9, "right": right, "weight": weight})


def test_a_curve_by_hand():
    scores = score_pairs(decisions([1, 30, 20, 5], [0, 1, 1, 1]))
    np.testing.assert_allclose(scores.rates, [0.25, 0.5, 0.75, 1])
    np.testing.assert_allclose(scores.accuracies, [1, 1, 1, 0.75])
    assert (scores.accuracy, scores.decided, scores.accuracy_decided) == (0.75, 0.5, 1.0)
    assert scores.area == pytest.approx((1 + 1 + 1 + 0.75) / 4)
    assert (scores.at(0.5), scores.at(0.51), scores.at(1.0)) == (1.0, 1.0, 0.75)


def test_weights_are_shares_of_the_pairs():
    """A pair of weight 3 counts as three pairs with the same nats."""
    one = score_pairs(decisions([30, 20, 5], [1, 0, 1], [1, 3, 2]))
    many = score_pairs(decisions([30, 20, 20, 20, 5, 5], [1, 0, 0, 0, 1, 1]))
    np.testing.assert_allclose(one.rates, many.rates)
    np.testing.assert_allclose(one.accuracies, many.accuracies)
    assert (one.accuracy, one.decided, one.area) == pytest.approx((many.accuracy, many.decided, many.area))
    assert one.accuracy == 0.5


def test_ties_and_the_order_of_rows_do_not_matter():
    rng = np.random.default_rng(0)
    table = decisions(rng.integers(0, 15, 60), rng.integers(0, 2, 60), rng.uniform(0.1, 1, 60))
    one, other = score_pairs(table), score_pairs(table.sample(frac=1, random_state=1))
    np.testing.assert_allclose(one.accuracies, other.accuracies)
    assert one.area == pytest.approx(other.area)
    assert len(one.rates) == table["nats"].nunique()


def test_guessing_has_an_area_of_one_half():
    """Nats that say nothing: 0.5 within four standard errors (0.012 each); a curve of the wrong side would have 0 or 1."""
    rng = np.random.default_rng(2)
    assert abs(score_pairs(decisions(rng.exponential(size=4000), rng.integers(0, 2, 4000))).area - 0.5) < 0.05


def test_pairs_without_truth_or_weight_do_not_count():
    table = decisions([30, 20, 5], [1, np.nan, 0], [1, 1, 0])
    scores = score_pairs(table)
    assert (scores.pairs, scores.accuracy) == (1, 1.0)
    with pytest.raises(ParameterError, match="known direction and a positive weight"):
        score_pairs(table[1:])
    nothing = score_pairs(decisions([3.0, 2.0], [1, 0]))
    assert np.isnan(nothing.accuracy_decided)
    assert "of these, none are right" in str(nothing)


def pairs_to_decide():
    rng = np.random.default_rng(3)
    x = rng.uniform(-2, 2, (3, 200))
    y = np.sin(2 * x) + 0.3 * rng.standard_normal((3, 200))
    return [Pair("a", x[0], y[0], "->"), Pair("b", y[1], x[1], "<-", 0.5), Pair("c", x[2], y[2])]


def test_decisions_do_not_depend_on_workers_and_report_progress():
    seen = []
    table = decide_pairs(pairs_to_decide(), progress=seen.append)
    assert table["direction"].tolist() == ["->", "<-", "->"]
    assert table["right"].tolist()[:2] == [1.0, 1.0]
    assert table["right"].isna().tolist() == [False, False, True]
    assert table["weight"].tolist() == [1.0, 0.5, 1.0]
    assert seen == pytest.approx([1 / 3, 2 / 3, 1])
    pd.testing.assert_frame_equal(table, decide_pairs(pairs_to_decide(), n_jobs=2))


def test_an_error_names_the_pair():
    with pytest.raises(DataError, match=r"bad: .*constant"):
        decide_pairs([Pair("bad", np.arange(20.0), np.ones(20))])


@pytest.mark.parametrize(("backend", "n_jobs"), [("loky", 1), ("loky", 2), ("threading", 3)])
def test_warnings_name_the_pair_whatever_the_workers(backend, n_jobs):
    pairs = pairs_to_decide() * 4
    for pair in pairs[:2]:
        pair.x[0] = np.nan
    with pytest.warns(DataWarning) as caught, joblib.parallel_config(backend=backend):
        table = decide_pairs(pairs, missing="drop", n_jobs=n_jobs)
    assert [str(w.message).split(" of ")[0] for w in caught if w.category is DataWarning] == ["a: 1", "b: 1"] * 4
    assert table["rows"].tolist() == [199, 199, 200] * 4


def test_very_large_weights_are_shares_too():
    scores = score_pairs(decisions([30, 20, 5], [1, 0, 1], [1e308, 1e308, 1e308]))
    assert (scores.accuracy, scores.decided) == pytest.approx((2 / 3, 2 / 3))


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("nats", np.nan, r"table\['nats'\]` must hold finite numbers"),
        ("right", 7.0, r"table\['right'\]` must lie in \[0, 1\]"),
        ("weight", -1.0, r"table\['weight'\]` must be finite and not negative"),
        ("weight", np.inf, r"table\['weight'\]` must be finite and not negative"),
        ("open", np.nan, r"table\['open'\]` must hold True or False"),
        ("open", "False", r"table\['open'\]` must hold numbers"),
        ("nats", "many", r"table\['nats'\]` must hold numbers"),
    ],
)
def test_decisions_that_mean_nothing_are_refused(column, value, message):
    table = decisions([30.0, 20.0], [1.0, 0.0], [1.0, 1.0]).astype({column: object})
    table.loc[0, column] = value
    with pytest.raises(ParameterError, match=message):
        score_pairs(table)
    with pytest.raises(ParameterError, match=f"none called '{column}'"):
        score_pairs(table.drop(columns=column))


def test_pairs_of_a_folder_and_wrong_truths_and_rates():
    pairs = pairs_to_decide()[:1]
    assert len(decide_pairs(PairFolder(pairs), progress=lambda share: None)) == 1
    with pytest.raises(ParameterError, match="`truth` must be '->', '<-' or None; got 'x->y'"):
        Pair("a", np.zeros(3), np.zeros(3), "x->y")
    for rate in (0.0, 2.0, np.nan):
        with pytest.raises(ParameterError, match=r"`rate` must lie in \(0, 1\]"):
            score_pairs(decisions([30.0], [1.0])).at(rate)
