"""The public function: statistics, messages, names, and what the result says."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from heterodag import causal_order, simulate
from heterodag.core.normality import STATISTICS, get_statistic
from heterodag.errors import DataError, FitWarning, ParameterError
from heterodag.io.inputs import warn_not_converged
from heterodag.ordering.normality_order import FullRounds, loss_along, order_by_normality
from heterodag.ordering.result import OrderResult
from heterodag.scores import lines
from heterodag.scores.make import score_settings


def chain(n, seed):
    rng = np.random.default_rng(seed)
    columns = [rng.normal(size=n)]
    for _ in range(2):
        cause = np.tanh(columns[-1])
        columns.append(cause + np.exp(0.9 * cause) * rng.normal(size=n))
    return np.column_stack(columns)


@pytest.mark.parametrize("normality", list(STATISTICS))
def test_every_statistic_orders_a_strong_chain(normality):
    result = causal_order(chain(3000, 0)[:, [2, 0, 1]], normality=normality, tolerance=0)
    assert result.order.tolist() == [1, 2, 0]


def test_a_users_statistic_replaces_the_named_one():
    X = chain(500, 1)
    named = causal_order(X)
    own = causal_order(X, normality=lambda x: stats.shapiro(x).statistic)
    assert own.order.tolist() == named.order.tolist()
    np.testing.assert_allclose(own.scores, named.scores, atol=1e-6)
    backwards = causal_order(X, normality=lambda x: -stats.shapiro(x).statistic, tolerance=0, refine=False)
    assert backwards.order[0] != named.order[0]


def test_a_users_statistic_that_fails_is_named():
    with pytest.raises(ParameterError, match=r"normality.*one finite number"):
        causal_order(chain(50, 2), normality=lambda x: np.nan)
    with pytest.raises(ParameterError, match="normality"):
        causal_order(chain(50, 2), normality=stats.shapiro)


@pytest.mark.parametrize(
    ("parameter", "value", "fragment"),
    [
        ("parametrization", "quadratic", "'linear'"),
        ("form", "mean", "'location-scale'"),
        ("normality", "shapiro-wilks", "'shapiro-francia'"),
        ("tolerance", -1e-4, "[0, inf)"),
        ("tolerance", float("nan"), "number"),
        ("tolerance", "small", "number"),
        ("tolerance", True, "number"),
        ("tolerance", None, "number"),
    ],
)
def test_bad_parameters_are_named_with_their_rule(parameter, value, fragment):
    with pytest.raises(ParameterError) as caught:
        causal_order(chain(50, 3), **{parameter: value})
    assert f"`{parameter}`" in str(caught.value)
    assert fragment in str(caught.value)
    assert repr(value) in str(caught.value)


def test_bad_data_are_refused():
    X = chain(50, 4)
    X[3, 1] = np.nan
    with pytest.raises(DataError, match="'x1'"):
        causal_order(X)


def test_names_are_kept_and_the_input_is_not_changed():
    frame = pd.DataFrame(chain(200, 5), columns=["a", "b", "c"])
    before = frame.copy()
    result = causal_order(frame)
    assert result.names == ["a", "b", "c"]
    pd.testing.assert_frame_equal(frame, before)
    plain = causal_order(frame.to_numpy())
    assert plain.names is None
    assert plain.order.tolist() == result.order.tolist()


def test_a_huge_tolerance_is_a_sort_by_marginal_normality():
    X = chain(400, 6)
    result = causal_order(X, tolerance=1.0, refine=False)
    assert len(result.layers) == 1
    assert result.order.tolist() == np.argsort([-stats.shapiro(x).statistic for x in X.T]).tolist()


def test_margins_are_the_gap_between_the_layer_and_the_rest():
    nan = np.nan
    scores = np.array([[0.9, 0.8, 0.7, 0.2], [nan, nan, 0.95, 0.5], [nan, nan, nan, 0.99]])
    result = OrderResult(np.array([0, 1, 2, 3]), [[0, 1], [2], [3]], scores)
    np.testing.assert_allclose(result.margins(), [0.1, 0.45, nan])


def test_margins_of_a_fit_exceed_the_tolerance_by_definition():
    result = causal_order(np.random.default_rng(7).normal(size=(200, 6)), tolerance=1e-3)
    margins = result.margins()
    assert margins.shape == (len(result.start),)
    assert np.isnan(margins[-1])
    assert (margins[:-1] > 0).all()
    single = causal_order(chain(100, 8), tolerance=0).margins()
    assert (single[:-1] >= 0).all()


def test_fits_that_do_not_converge_are_named_once(monkeypatch):
    whole = lines.minimize
    monkeypatch.setattr(lines, "minimize", lambda *a, **k: whole(*a, **(k | {"max_iterations": 1})))
    frame = pd.DataFrame(chain(300, 9), columns=["age", "dose", "cost"])
    with pytest.warns(FitWarning, match="did not converge") as caught:
        result = causal_order(frame)
    assert len(caught) == 1
    assert "'cost'" in str(caught[0].message)
    assert sorted(result.order.tolist()) == [0, 1, 2]


def test_no_warning_without_cause():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        causal_order(chain(300, 10))
        warn_not_converged([], ["a"])


def test_an_order_by_splines_is_the_better_of_two():
    """Of the orders by curves and by lines, the one along which curves, paid for, explain the table better."""
    chosen = []
    for seed, mechanism in itertools.product(range(3), ("linear", "nonlinear")):
        X = simulate(400, 6, "ER", 2, mechanism, random_state=seed).X
        curves, pairs = score_settings("spline", "natural").make(X, np.random.SeedSequence(0)), []
        for parametrization in ("spline", "linear"):
            models = score_settings(parametrization, "natural").make(X, np.random.SeedSequence(0))
            rounds = FullRounds(models, get_statistic("shapiro"))
            found = order_by_normality(6, rounds, 1e-4).order.tolist()
            pairs.append((loss_along(curves, found), found, parametrization))
        best = min(pairs)
        assert causal_order(X, parametrization="spline", form="natural", refine=False).order.tolist() == best[1]
        if pairs[0][1] != pairs[1][1]:
            chosen.append(best[2])
    assert {"linear", "spline"} == set(chosen)


def test_an_order_by_splines_of_a_long_table_looks_at_some_rows(monkeypatch):
    seen = []
    whole = FullRounds.__init__

    def spy(self, scores, statistic):
        seen.append((type(scores.fitter).__name__, scores.n_rows))
        whole(self, scores, statistic)

    monkeypatch.setattr(FullRounds, "__init__", spy)
    X = simulate(2600, 3, "ER", 1, random_state=0).X
    causal_order(X, parametrization="spline", refine=False)
    assert seen == [("CurveFitter", 2500), ("LineFitter", 2500)]
    seen.clear()
    causal_order(X, refine=False)
    assert seen == [("LineFitter", 2600)]


def test_the_former_name_of_the_time_limit_works_with_a_warning():
    X = simulate(200, 4, random_state=0).X
    with pytest.warns(FutureWarning, match="`max_time` is now called `max_seconds`"):
        old = causal_order(X, max_time=60)
    assert old.order.tolist() == causal_order(X, max_seconds=60).order.tolist()
    with pytest.raises(ParameterError, match="max_time"):
        causal_order(X, max_seconds=60, max_time=60)
