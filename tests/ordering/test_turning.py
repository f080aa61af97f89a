"""Edges turned one at a time: costs are differences of losses, and what lowers the loss is turned."""

import numpy as np
import pytest

from heterodag import PriorKnowledge, simulate
from heterodag.core.table import Table
from heterodag.knowledge.prior import resolved
from heterodag.ordering.turning import turn_edges, turned, turning_costs, with_edges_against
from heterodag.scores.competition import CompetingFitter
from heterodag.scores.local import LocalScores

TRUTH = np.array([[0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]], dtype=np.int8)
WRONG = turned(turned(TRUTH, (1, 2)), (0, 3))


@pytest.fixture(scope="module")
def scores():
    data = simulate(3000, 4, mechanism="straight", spread="straight", adjacency=TRUTH, random_state=3)
    return LocalScores(Table.standardize(data.X), CompetingFitter())


def known(**told):
    return resolved(PriorKnowledge(**told), ["a", "b", "c", "d"], 4)


def test_a_cost_is_the_difference_of_the_two_graphs(scores):
    costs = turning_costs(scores, TRUTH, [(1, 2), (0, 3)], 6.9)
    for edge, cost in costs.items():
        losses = [
            sum(scores.losses((j, tuple(np.flatnonzero(graph[:, j]).tolist())) for j in range(4)))
            for graph in (TRUTH, turned(TRUTH, edge))
        ]
        assert cost == pytest.approx(losses[1] - losses[0])
        assert cost > 9.0


def test_wrong_edges_are_turned_and_right_ones_stay(scores):
    edges = [(int(i), int(j)) for i, j in np.argwhere(WRONG)]
    np.testing.assert_array_equal(turn_edges(scores, WRONG, edges, 6.9), TRUTH)
    np.testing.assert_array_equal(
        turn_edges(scores, WRONG, [(3, 0)], 6.9), turned(TRUTH, (1, 2))
    )  # others are not asked


def test_a_turned_edge_takes_along_what_would_close_a_cycle(scores):
    more = TRUTH.copy()
    more[0, 2] = 1
    other = turned(more, (0, 2))
    assert np.argwhere(other).tolist() == [[0, 1], [0, 3], [2, 0]]  # 1 -> 2 would close 2 -> 0 -> 1 -> 2
    cost = turning_costs(scores, more, [(0, 2)], 6.9)[0, 2]
    losses = [
        sum(scores.losses((j, tuple(np.flatnonzero(graph[:, j]).tolist())) for j in range(4)))
        for graph in (more, other)
    ]
    assert cost == pytest.approx(losses[1] - losses[0] - 6.9)
    assert not turning_costs(scores, more, [(0, 2)], 6.9, known(required=[("b", "c")]))


@pytest.mark.parametrize(
    "told", [{"required": [("c", "b")]}, {"forbidden": [("b", "c")]}, {"tiers": [["c"], ["a", "b", "d"]]}]
)
def test_knowledge_is_obeyed(scores, told):
    found = turn_edges(scores, WRONG, [(2, 1), (3, 0)], 6.9, known(**told))
    assert found[2, 1] == 1
    assert found[0, 3] == 1


def test_edges_that_only_the_other_order_shows_are_added(scores):
    lacking = TRUTH.copy()
    lacking[0, 3] = 0
    order = [3, 0, 1, 2]
    found = with_edges_against(scores, lacking, order, 6.9)
    np.testing.assert_array_equal(found, TRUTH)
    assert with_edges_against(scores, lacking, order, 1e9).tolist() == lacking.tolist()  # a price that nothing pays
    assert with_edges_against(scores, lacking, order, 6.9, known(forbidden=[("a", "d")]))[0, 3] == 0
    assert with_edges_against(scores, TRUTH, [0, 1, 2, 3], 6.9).tolist() == TRUTH.tolist()  # descendants close cycles
