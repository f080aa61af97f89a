"""How sure arrows are: the exact definition on all orders of few columns, what knowledge decides, known cases."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from heterodag import PriorKnowledge, simulate
from heterodag.ordering.directions import CLOSE, direction_nats, doubtful, surest_state
from heterodag.ordering.greedy import greedy_order
from heterodag.ordering.refinement import State, refine_order, start_state
from heterodag.ordering.search import order_choices, respected
from heterodag.runtime.work import Work
from heterodag.scores.make import AUTO, LINES
from heterodag.scores.parent_choice import EQUAL

CHAIN = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
FULL = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]])


def everything(order):
    return True


def choices_of(X, known=None, settings=AUTO):
    return order_choices(settings.make(X, np.random.SeedSequence(0)), known)


def world(mechanism, spread, noise, seed, adjacency=CHAIN, n=600):
    return simulate(
        n, len(adjacency), mechanism=mechanism, spread=spread, noise=noise, adjacency=adjacency, random_state=seed
    )


def found_state(choices, known=None):
    """Search as `search_mechanisms` does."""
    allowed = respected(known)
    start = start_state(choices, *greedy_order(choices, range(choices.scores.d), known))
    return surest_state(choices, refine_order(choices, start, allowed), allowed)


def edges_of(state):
    return [(i, j) for j in state.order for i in state.parents[j]]


def by_brute_force(choices, edge, allowed=everything):
    """Return the best score of all allowed orders in which the effect comes before the cause."""
    i, j = edge
    orders = [list(o) for o in permutations(range(choices.scores.d)) if o.index(j) < o.index(i) and allowed(list(o))]
    return min((start_state(choices, order, {}).total for order in orders), default=np.inf)


WORLDS = [
    ("straight", "constant", "normal"),
    ("straight", "constant", "laplace"),
    ("straight", "straight", "normal"),
    ("curved", "constant", "normal"),
    ("linear", None, "normal"),
]


@pytest.mark.parametrize(("mechanism", "spread", "noise"), WORLDS)
@pytest.mark.parametrize("adjacency", [CHAIN, FULL], ids=["chain", "full"])
def test_the_evidence_is_what_the_best_graph_with_the_effect_first_costs(mechanism, spread, noise, adjacency):
    """By all six orders of three columns. Beyond 40 nats the first such graph found stands for the best."""
    for seed in range(3):
        choices = choices_of(world(mechanism, spread, noise, seed, adjacency).X)
        state = found_state(choices)
        assert state.total < min(start_state(choices, list(o), {}).total for o in permutations(range(3))) + EQUAL
        edges = edges_of(state)
        nats = direction_nats([choices], state, edges, everything)
        assert np.isnan(nats).sum() == 9 - len(edges)
        for edge in edges:
            exact = by_brute_force(choices, edge) - state.total
            if nats[edge] <= CLOSE:
                assert nats[edge] == pytest.approx(max(exact, 0.0), abs=2 * EQUAL)
            else:
                assert nats[edge] > exact - 2 * EQUAL
                assert exact > 0.25 * CLOSE


def test_only_the_edges_asked_for_are_told():
    choices = choices_of(world("curved", "constant", "normal", 1).X)
    state = found_state(choices)
    all_of_them = direction_nats([choices], state, [(0, 1), (1, 2)], everything)
    one = direction_nats([choices], state, [(1, 2)], everything)
    assert one[1, 2] == all_of_them[1, 2]
    assert np.isnan(one[0, 1])
    assert np.isnan(direction_nats([choices], state, [], everything)).all()


# --- known cases --------------------------------------------------------------------------------------------


def test_a_linear_gaussian_chain_has_no_direction():
    """All three orders of a Markov equivalence class fit alike, but whole chains turn: one edge alone costs a collider."""
    for seed in range(6):
        choices = choices_of(world("straight", "constant", "normal", seed).X)
        state = found_state(choices)
        edges = edges_of(state)
        nats = direction_nats([choices], state, edges, everything)
        assert {frozenset(edge) for edge in edges} == {frozenset((0, 1)), frozenset((1, 2))}
        assert max(nats[edge] for edge in edges) < 3.0
        assert doubtful(choices, state, everything) == {0, 1, 2}


def test_a_collider_has_directions_even_in_linear_gaussian_data():
    """Turned round it needs an edge between the causes as well, and that costs its penalty of 7.5 nats."""
    collider = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    for seed in range(4):
        choices = choices_of(world("straight", "constant", "normal", seed, collider).X)
        state = found_state(choices)
        nats = direction_nats([choices], state, [(0, 2), (1, 2)], everything)
        assert state.parents[2] == (0, 1)
        np.testing.assert_allclose([nats[0, 2], nats[1, 2]], choices.penalty, atol=3.5)


@pytest.mark.parametrize(
    ("mechanism", "noise", "least"),
    [("straight", "bimodal", 30.0), ("straight", "laplace", 5.0), ("curved", "normal", 15.0)],
)
def test_chains_that_can_be_told_are_told(mechanism, noise, least):
    """LiNGAM's chain, and one of curves; in linear Gaussian ones all evidence is below 3 nats."""
    for seed in range(4):
        choices = choices_of(world(mechanism, "constant", noise, seed, n=800).X)
        state = found_state(choices)
        assert state.order == [0, 1, 2]
        nats = direction_nats([choices], state, [(0, 1), (1, 2)], everything)
        assert min(nats[0, 1], nats[1, 2]) > least


def test_evidence_grows_with_the_rows():
    few, many = (
        direction_nats([choices], found_state(choices), [(0, 1)], everything)[0, 1]
        for choices in (choices_of(world("straight", "constant", "bimodal", 1, n=n).X) for n in (300, 1500))
    )
    assert many > 2.5 * few


def test_directions_that_are_clear_on_few_rows_are_not_looked_at_again():
    data = world("curved", "constant", "normal", 1, n=1200)
    scores = AUTO.make(data.X, np.random.SeedSequence(0))
    few, many = order_choices(scores.sample(600)), order_choices(scores)
    state = found_state(many)
    edges = edges_of(state)
    on_few, on_many, both = (
        direction_nats(levels, state, edges, everything) for levels in ([few], [many], [few, many])
    )
    for edge in edges:
        assert both[edge] == pytest.approx((on_few if on_few[edge] > CLOSE else on_many)[edge], abs=0.5)
    assert any(on_few[edge] > CLOSE for edge in edges)


# --- what is known ------------------------------------------------------------------------------------------

KNOWLEDGE = [
    PriorKnowledge(required=[(0, 1)]),
    PriorKnowledge(tiers=[[0], [1, 2]]),
    PriorKnowledge(tiers=[[0, 1], [2]]),
    PriorKnowledge(roots=[0]),
]


@pytest.mark.parametrize("known", KNOWLEDGE)
def test_the_evidence_is_that_of_allowed_graphs_and_infinite_where_there_are_none(known):
    resolved = known.resolve(None, 3)
    allowed = respected(resolved)
    for seed in range(3):
        for mechanism in ("straight", "curved"):
            choices = choices_of(world(mechanism, "constant", "normal", seed, FULL).X, resolved)
            state = found_state(choices, resolved)
            for edge in edges_of(state):
                found = float(direction_nats([choices], state, [edge], allowed)[edge])
                exact = by_brute_force(choices, edge, allowed) - state.total
                assert np.isinf(found) == np.isinf(exact)
                if found <= CLOSE:
                    assert found == pytest.approx(max(exact, 0.0), abs=2 * EQUAL)
                elif np.isfinite(found):
                    assert found > exact - 2 * EQUAL


def test_required_edges_that_the_data_cannot_tell_are_certain():
    """A linear Gaussian pair: 0 nats for the data alone, and no doubt if the edge is known."""
    X = world("straight", "constant", "normal", 0, np.array([[0, 1], [0, 0]])).X
    known = PriorKnowledge(required=[(1, 0)]).resolve(None, 2)
    free, told = choices_of(X), choices_of(X, known)
    state = start_state(free, [1, 0], {})
    assert direction_nats([free], state, [(1, 0)], everything)[1, 0] < 3.0
    assert np.isposinf(direction_nats([told], found_state(told, known), [(1, 0)], respected(known))[1, 0])


# --- the surest state ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [AUTO, LINES], ids=["auto", "lines"])
def test_the_surest_state_is_never_worse_and_stays_allowed(settings):
    known = PriorKnowledge(tiers=[[0, 1], [2, 3]]).resolve(None, 4)
    rng = np.random.default_rng(0)
    gains = []
    for seed in range(4):
        data = simulate(300, 4, "ER", 1, "curved", seed, spread="straight")
        for own in (None, known):
            choices, allowed = choices_of(data.X, own, settings), respected(own)
            order = rng.permutation(4) if own is None else own.sorted_by(rng.standard_normal(4))
            start = start_state(choices, order.tolist(), {})
            surest = surest_state(choices, start, allowed)
            assert surest.total <= start.total + 1e-9
            assert allowed(surest.order)
            assert surest.total == pytest.approx(start_state(choices, surest.order, surest.parents).total)
            gains.append(start.total - surest.total)
    assert max(gains) > 20  # from random orders there is something to find


def test_no_reversal_of_one_edge_improves_the_surest_state():
    for seed in range(3):
        choices = choices_of(world("straight", "constant", "laplace", seed, FULL).X)
        surest = surest_state(choices, start_state(choices, [2, 1, 0], {}), everything)
        for edge in edges_of(surest):
            assert by_brute_force(choices, edge) > surest.total - EQUAL


def test_a_state_without_edges_has_nothing_to_turn():
    choices = choices_of(np.random.default_rng(0).standard_normal((200, 3)))
    state = State([2, 0, 1], dict.fromkeys(range(3), ()), dict.fromkeys(range(3), 100.0))
    assert surest_state(choices, state, everything) is state
    assert doubtful(choices, state, everything) == set()


def test_when_time_is_over_what_is_known_so_far_is_told():
    """Nothing is: evidence that was never looked for is missing, not zero."""
    work = Work(max_seconds=1e-9)
    data = world("curved", "constant", "normal", 2)
    choices = order_choices(AUTO.make(data.X, np.random.SeedSequence(0), work))
    with work.grace():
        state = start_state(choices, [0, 1, 2], {})
    assert surest_state(choices, state, everything).total == state.total
    assert np.isnan(direction_nats([choices], state, [(0, 1)], everything)).all()
