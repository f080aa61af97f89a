"""Pruning given the other parents: the same p-values as the test on those columns alone."""

from dataclasses import replace

import numpy as np
import pytest

from heterodag import HeterodagError, simulate
from heterodag.independence.contract import EdgeProblem, FoundModels
from heterodag.independence.gam import gam
from heterodag.independence.given_parents import given_parents
from heterodag.independence.recover import find_dag
from heterodag.scores.make import LINES
from heterodag.scores.parent_choice import Limits


@pytest.fixture(scope="module")
def problem():
    graph = np.zeros((5, 5), dtype=bool)
    graph[[0, 1, 3], [3, 3, 4]] = True
    return EdgeProblem(simulate(150, 5, random_state=2).X, np.arange(5), graph)


def test_only_the_other_parents_are_given(problem):
    X, pvalues = problem.X, given_parents("gam")(problem).pvalues
    assert pvalues[0, 3] == pytest.approx(gam(X[:, 0], X[:, 3], X[:, [1]]), rel=1e-6)
    assert pvalues[3, 4] == pytest.approx(gam(X[:, 3], X[:, 4], X[:, :0]), rel=1e-6)
    assert np.isnan(pvalues[~problem.candidates]).all()


def test_required_parents_are_given_and_not_tested(problem):
    required, nothing = np.zeros((2, 5, 5), dtype=bool)
    required[[2, 3], [3, 4]] = True
    decided = replace(problem, candidates=problem.candidates & ~required, limits=Limits.of(required, nothing))
    X, pvalues = problem.X, given_parents("gam")(decided).pvalues
    assert pvalues[0, 3] == pytest.approx(gam(X[:, 0], X[:, 3], X[:, [1, 2]]), rel=1e-6)
    assert np.array_equal(np.isfinite(pvalues), decided.candidates)
    stepwise = given_parents("likelihood")(decided).pvalues
    assert np.array_equal(np.isfinite(stepwise), decided.candidates)


def test_a_function_sees_the_other_parents_and_its_errors_name_columns(problem):
    widths = []

    def test(x, y, Z):
        widths.append(Z.shape[1])
        return 0.5

    graph = find_dag(problem, given_parents(test), 0.6, "none", None)
    assert sorted(widths) == [0, 1, 1]
    assert np.array_equal(graph.adjacency.astype(bool), problem.candidates)
    with pytest.raises(HeterodagError, match=r"'c'|'d'|'e'"):
        given_parents(lambda x, y, Z: float("nan"), list("abcde"))(problem)


@pytest.mark.parametrize("selection", ["likelihood", "likelihood-full"])
def test_models_of_the_whole_table_are_not_those_of_a_target(problem, selection):
    """HOST hands over the models of all columns; those of three of them are other ones."""
    found = FoundModels(LINES.make(problem.X, problem.seed))
    alone = given_parents(selection)(problem).pvalues
    assert np.array_equal(given_parents(selection)(replace(problem, found=found)).pvalues, alone, equal_nan=True)
