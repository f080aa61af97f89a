"""The matrices behind prior knowledge, against all orders and all graphs of few columns."""

from itertools import permutations

import numpy as np
import pytest

from heterodag import PriorKnowledge, simulate_graph
from heterodag.core.graph import descendants, full_dag, is_dag, respects_order, topological_order
from heterodag.errors import ParameterError


def random_knowledge(rng, adjacency, share=0.3):
    """Draw knowledge that the graph obeys: some edges, some non-edges, some tiers, some roots and leaves."""
    d = len(adjacency)
    pick = lambda pairs: [tuple(map(int, p)) for p in pairs if rng.random() < share]  # noqa: E731
    order = topological_order(adjacency)
    tiers = [order[: d // 2].tolist(), order[d // 2 :].tolist()] if rng.random() < 0.5 else []
    return PriorKnowledge(
        required=pick(np.argwhere(adjacency)),
        forbidden=pick(np.argwhere((adjacency == 0) & ~np.eye(d, dtype=bool))),
        tiers=[[c for c in tier if rng.random() < 0.7] for tier in tiers],
        roots=[int(c) for c in np.flatnonzero(adjacency.sum(axis=0) == 0) if rng.random() < share],
        leaves=[int(c) for c in np.flatnonzero(adjacency.sum(axis=1) == 0) if rng.random() < share],
    )


@pytest.fixture(params=range(40))
def case(request):
    rng = np.random.default_rng(request.param)
    adjacency = simulate_graph(5, degree=1, random_state=request.param)
    return rng, adjacency, random_knowledge(rng, adjacency).resolve(None, 5)


def test_the_true_graph_breaks_nothing(case):
    _, adjacency, known = case
    assert known.violations(adjacency) == []
    assert is_dag(known.must_precede)
    assert np.array_equal(descendants(known.must_precede), known.must_precede)


def test_some_allowed_order_keeps_every_true_edge(case):
    """Roots first and leaves last must not shut out the graph they came from."""
    _, adjacency, known = case
    orders = [np.array(order) for order in permutations(range(5)) if known.respects_order(order)]
    # An order that fits the graph and is refused only because of roots and leaves is replaced by another one.
    assert any(respects_order(adjacency, order) for order in orders)


def test_rounds_give_exactly_the_allowed_orders(case):
    _, _, known = case
    forward, backward = set(), set()

    def place(order):
        if len(order) == 5:
            forward.add(tuple(order))
        for column in np.flatnonzero(known.may_come_next(np.isin(np.arange(5), order))):
            place([*order, int(column)])

    def place_last(order):
        if len(order) == 5:
            backward.add(tuple(order))
        for column in np.flatnonzero(known.may_come_last(~np.isin(np.arange(5), order))):
            place_last([int(column), *order])

    place([])
    place_last([])
    assert forward == backward == {order for order in permutations(range(5)) if known.respects_order(order)}


def test_a_sort_obeys(case):
    rng, _, known = case
    order = known.sorted_by(rng.standard_normal(5))
    assert known.respects_order(order)
    free = PriorKnowledge().resolve(None, 4)
    assert free.sorted_by(np.array([0.1, 3.0, -1.0, 2.0])).tolist() == [1, 3, 0, 2]


def test_neighbours_swap_exactly_when_the_order_stays_allowed(case):
    rng, _, known = case
    order = known.sorted_by(rng.standard_normal(5))
    for k in range(4):
        swapped = order.copy()
        swapped[[k, k + 1]] = order[[k + 1, k]]
        assert known.respects_order(swapped) != known.must_precede[order[k], order[k + 1]]


def test_candidates_are_forward_and_undecided(case):
    rng, _, known = case
    order = known.sorted_by(rng.standard_normal(5))
    tested = known.candidates(order)
    assert not np.any(tested & (known.required | known.forbidden | (full_dag(order) == 0)))
    assert np.array_equal(tested | known.required, full_dag(order).astype(bool) & ~known.forbidden)


def test_roots_come_first_and_leaves_last():
    known = PriorKnowledge(roots=[2], leaves=[0]).resolve(None, 4)
    assert known.must_precede[2].tolist() == [True, True, False, True]
    assert known.must_precede[:, 0].tolist() == [False, True, True, True]


def test_a_root_in_a_late_tier_waits_for_the_earlier_ones():
    known = PriorKnowledge(tiers=[[0], [1, 2]], roots=[1]).resolve(None, 4)
    assert not known.must_precede[1, 0]
    assert known.must_precede[1, 2]
    # Column 3, in no tier, may cause column 0 and then comes before the root.
    assert not known.must_precede[1, 3]


def test_a_given_order_is_checked():
    known = PriorKnowledge(required=[("a", "b")]).resolve(["a", "b", "c"], 3)
    known.check_order([2, 0, 1])
    with pytest.raises(ParameterError, match="put 'a' before 'b'"):
        known.check_order([2, 1, 0])


def test_violations_are_named():
    known = PriorKnowledge(required=[("a", "b")], forbidden=[("b", "c")], tiers=[["a"], ["d"]])
    resolved = known.resolve(["a", "b", "c", "d"], 4)
    graph = np.zeros((4, 4), dtype=int)
    graph[1, 2] = graph[3, 1] = graph[1, 0] = 1
    assert resolved.violations(graph) == [("a", "b"), ("b", "a"), ("b", "c"), ("d", "a")]
