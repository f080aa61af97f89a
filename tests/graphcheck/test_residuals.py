"""Residuals: the level and the power of the tests behind `check_graph`."""

import numpy as np
import pytest

from heterodag.core.experiments import Experiments
from heterodag.graphcheck.graph_scores import GraphScores
from heterodag.graphcheck.residuals import dependences, independence_pvalue, misfits
from heterodag.knowledge import read_study
from heterodag.scores.make import AUTO


def test_independent_samples_are_seldom_called_dependent():
    rng, runs, level = np.random.default_rng(0), 1000, 0.05
    draws = (rng.standard_normal, lambda n: rng.exponential(size=n), lambda n: rng.standard_t(3, size=n))
    pvalues = [independence_pvalue(draws[k % 3](60), draws[k // 3 % 3](60)) for k in range(runs)]
    rate = np.mean(np.array(pvalues) <= level)
    # Bonferroni over four correlations: at most the level, and not far below it.
    assert rate <= level + 3 * np.sqrt(level * (1 - level) / runs)
    assert rate >= 0.5 * level


@pytest.mark.parametrize("kind", ["mean", "spread", "one moves the spread of the other"])
def test_dependence_is_found_in_location_and_in_size(kind):
    rng = np.random.default_rng(1)
    common, x, y = rng.standard_normal((3, 500))
    if kind == "mean":
        x, y = x + common, y + common
    elif kind == "spread":
        x, y = np.exp(0.7 * common) * x, np.exp(0.7 * common) * y
    else:
        y = np.exp(0.7 * x) * y
    assert independence_pvalue(x, y) < 1e-6


def test_a_hidden_common_cause_shows_between_residuals():
    rng = np.random.default_rng(2)
    hidden, cause, a, b = rng.standard_normal((4, 500))
    X = np.column_stack([cause, cause + hidden + 0.7 * a, np.tanh(2 * cause) + hidden + 0.7 * b])
    graph = np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]], dtype=np.int8)
    p = dependences(scores_of(X), graph)
    assert p[1, 2] < 1e-8
    assert min(p[0, 1], p[0, 2]) > 1e-3
    assert np.isnan(p[np.tril_indices(3)]).all()


def test_rows_in_which_a_variable_was_set_do_not_count():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 2))
    fixed = np.zeros((300, 2), dtype=bool)
    fixed[200:, 0] = True
    X[200:] = rng.standard_normal((100, 1)) * [1.0, 1.0] + 1e-3 * rng.standard_normal((100, 2))
    graph = np.zeros((2, 2), dtype=np.int8)
    study = read_study(X, None, None)
    told = GraphScores.of(study, AUTO.make(X, np.random.SeedSequence(0), None, Experiments.of(fixed)))
    assert dependences(told, graph)[0, 1] > 1e-3
    assert dependences(scores_of(X), graph)[0, 1] < 1e-6


def test_a_cause_that_is_left_out_shows_in_a_misfit_only_where_it_is():
    rng = np.random.default_rng(4)
    cause, group, noise = rng.standard_normal(800), rng.random(800) < 0.5, rng.standard_normal(800)
    X = np.column_stack([cause, np.where(group, cause, -cause) * 2 + 0.3 * noise])
    graph = np.array([[0, 1], [0, 0]], dtype=np.int8)
    first, second = misfits(scores_of(X), graph)
    assert first > 1e-3
    assert second < 1e-3


def scores_of(X):
    study = read_study(X, None, None)
    return GraphScores.of(study, AUTO.make(study.array, np.random.SeedSequence(0)))
