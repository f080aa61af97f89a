"""The greedy start: the right graph where it is easy, the better direction of a pair, and obedience to what is known."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from heterodag import PriorKnowledge, metrics, simulate
from heterodag.core.graph import respects_order
from heterodag.ordering import greedy
from heterodag.ordering.greedy import greedy_order, precedence, ranked_order
from heterodag.ordering.refinement import refine_order, start_state
from heterodag.ordering.search import order_choices
from heterodag.scores.make import AUTO, LINES

CHAIN = np.diag(np.ones(4, int), 1)


def choices_of(X, known=None, settings=AUTO):
    return order_choices(settings.make(X, np.random.SeedSequence(0)), known)


def curved(seed, adjacency=CHAIN, n=800, noise="normal"):
    d = len(adjacency)
    return simulate(n, d, mechanism="curved", spread="straight", noise=noise, adjacency=adjacency, random_state=seed)


def as_graph(parents):
    graph = np.zeros((len(parents), len(parents)), np.int8)
    for j, some in parents.items():
        graph[list(some), j] = 1
    return graph


def waves(seed, n=800):
    """Return four columns, each a wave of the one before."""
    E = np.random.default_rng(seed).standard_normal((n, 4)) * 0.4
    a = 2.5 * E[:, 0]
    b = np.sin(2 * a) + E[:, 1]
    c = np.cos(2.5 * b) + E[:, 2]
    return np.column_stack([a, b, c, np.tanh(3 * c) - c + E[:, 3]])


def test_an_easy_table_is_ordered_at_once():
    """A chain of curves, its columns shuffled: a random order of four has one chance in 24."""
    for seed in range(6):
        places = np.random.default_rng(seed).permutation(4)
        true = CHAIN[np.ix_(places, places)]
        order, parents = greedy_order(choices_of(waves(seed)[:, places]), range(4))
        assert metrics.order_divergence(np.array(order), true) == 0
        assert as_graph(parents)[true == 1].all()
        assert as_graph(parents).sum() <= 4


@pytest.mark.parametrize("noise", ["normal", "laplace", "mixed"])
def test_orders_are_mostly_right_whatever_the_noise(noise):
    wrong = edges = 0
    for seed in range(4):
        data = simulate(600, 6, "ER", 1, "curved", seed, spread="constant", noise=noise)
        order, _ = greedy_order(choices_of(data.X), range(6))
        wrong += metrics.order_divergence(np.array(order), data.adjacency)
        edges += int(data.adjacency.sum())
    assert wrong <= 0.15 * edges  # half would be wrong in a random order


def test_parents_are_consistent_with_the_order_and_nothing_more_would_help():
    for seed in range(3):
        data = simulate(500, 5, "ER", 2, "straight", seed, spread="straight", noise="laplace")
        choices = choices_of(data.X)
        order, parents = greedy_order(choices, range(5))
        assert sorted(order) == list(range(5))
        assert respects_order(as_graph(parents), np.array(order))
        scores = choices.scores
        for place, j in enumerate(order):
            (loss,) = scores.losses([(j, parents[j])])
            for i in set(order[:place]) - set(parents[j]):
                if i in choices.promising((j, parents[j])):
                    larger = tuple(sorted((*parents[j], i)))
                    assert scores.losses([(j, larger)])[0] + choices.penalty >= loss


def test_with_two_columns_both_directions_are_compared():
    """The one that gains more wins, whichever column comes first."""
    for seed in range(6):
        X = curved(seed, np.array([[0, 1], [0, 0]]), 400).X
        for columns in ([0, 1], [1, 0]):
            choices = choices_of(X[:, columns])
            order, parents = greedy_order(choices, range(2))
            alone, given = (choices.scores.losses([(0, some[0]), (1, some[1])]) for some in (((), ()), ((1,), (0,))))
            gains = np.subtract(alone, given)
            best = int(gains.argmax())
            assert gains[best] > choices.penalty
            assert order == [1 - best, best]
            assert parents == {best: (1 - best,), 1 - best: ()}
            assert columns[order[0]] == 0


def test_columns_without_any_effect_stay_apart_and_in_their_ranking():
    X = np.random.default_rng(1).standard_normal((400, 5))
    for ranking in ([0, 1, 2, 3, 4], [3, 1, 4, 0, 2]):
        order, parents = greedy_order(choices_of(X), ranking)
        assert parents == dict.fromkeys(range(5), ())
        assert order == ranking


def test_the_places_of_columns_do_not_matter():
    data = simulate(400, 5, "ER", 1, "curved", 3, spread="curved")
    order, parents = greedy_order(choices_of(data.X), range(5))
    places = np.random.default_rng(2).permutation(5)
    where = np.argsort(places)
    other, others = greedy_order(choices_of(data.X[:, places]), where)  # the ranking is that of the same columns
    assert [int(places[j]) for j in other] == order
    assert {int(places[j]): {int(places[i]) for i in some} for j, some in others.items()} == {
        j: set(some) for j, some in parents.items()
    }


def test_it_is_a_start_from_which_refinement_gains_little():
    """From random orders, refinement of these tables gains hundreds of nats and often ends elsewhere."""
    gained = {"greedy": [], "random": []}
    for seed in range(4):
        data = simulate(500, 5, "ER", 2, "curved", seed, spread="curved", noise="mixed")
        choices = choices_of(data.X)
        for name, start in (
            ("greedy", greedy_order(choices, range(5))),
            ("random", (np.random.default_rng(seed).permutation(5).tolist(), {})),
        ):
            state = start_state(choices, *start)
            gained[name].append(state.total - refine_order(choices, state).total)
    assert sum(gained["greedy"]) < 0.5 * sum(gained["random"])


# --- what is known ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "known",
    [
        PriorKnowledge(required=[(4, 0)]),
        PriorKnowledge(required=[(3, 1), (2, 0)], forbidden=[(0, 1), (1, 0)]),
        PriorKnowledge(forbidden=[(0, 1), (1, 2)]),
        PriorKnowledge(tiers=[[4, 3], [2], [1, 0]]),
        PriorKnowledge(roots=[4], leaves=[0]),
        PriorKnowledge(tiers=[[2], [0, 4]], required=[(4, 1)]),
    ],
)
@pytest.mark.parametrize("settings", [AUTO, LINES], ids=["auto", "lines"])
def test_what_is_known_is_obeyed_even_against_the_data(known, settings):
    """The data say 0 -> 1 -> 2 -> 3 -> 4, clearly; knowledge says otherwise."""
    resolved = known.resolve(None, 5)
    X = curved(7).X
    order, parents = greedy_order(choices_of(X, resolved, settings), range(5), resolved)
    graph = as_graph(parents)
    assert resolved.respects_order(order)
    assert resolved.violations(graph) == []
    assert respects_order(graph, np.array(order))
    # What is free is still found: no knowledge here is about the edge 2 - 3 but that of tiers.
    assert graph[2, 3] + graph[3, 2] == 1


def test_knowledge_that_the_data_agree_with_changes_nothing():
    data = curved(8)
    free = greedy_order(choices_of(data.X), range(5))
    known = PriorKnowledge(required=[(0, 1)], tiers=[[0, 1, 2], [3, 4]]).resolve(None, 5)
    assert greedy_order(choices_of(data.X, known), range(5), known) == free


def test_every_ranking_of_free_columns_is_an_allowed_order():
    """Three columns without effects, one of which must come before another: three of the six orders remain."""
    X = np.random.default_rng(3).standard_normal((200, 3))
    known = PriorKnowledge(tiers=[[2], [0]]).resolve(None, 3)
    choices = choices_of(X, known)
    found = {tuple(greedy_order(choices, ranking, known)[0]) for ranking in permutations(range(3))}
    assert found == {(2, 0, 1), (2, 1, 0), (1, 2, 0)}


def test_the_ranked_order_always_takes_the_first_that_may_come_next():
    rng = np.random.default_rng(2)
    for _ in range(30):
        d = int(rng.integers(1, 9))
        forward = np.triu(rng.random((d, d)) < 0.3, 1)
        place = rng.permutation(d)
        edges = forward[np.ix_(place, place)]
        before = precedence(d, None, {j: tuple(np.flatnonzero(edges[:, j]).tolist()) for j in range(d)})
        reach = np.linalg.matrix_power(np.eye(d) + edges, d) > 0
        np.testing.assert_array_equal(before, reach)
        ranking, left, wanted = rng.permutation(d).tolist(), [], []
        left = list(ranking)
        while left:
            wanted.append(next(j for j in left if not any(reach[i, j] for i in left if i != j)))
            left.remove(wanted[-1])
        assert ranked_order(before, ranking) == wanted


def test_several_edges_at_a_time_close_no_cycle_and_find_the_same_graph(monkeypatch):
    data = simulate(500, 12, degree=1, mechanism="straight", spread="straight", random_state=3)
    found = []
    for columns in (50, 3):
        monkeypatch.setattr(greedy, "COLUMNS_PER_EDGE", columns)
        choices = order_choices(AUTO.make(data.X, np.random.SeedSequence(0)))
        order, parents = greedy_order(choices, range(12))
        for j, some in parents.items():
            assert all(order.index(i) < order.index(j) for i in some)
        found.append(parents)
    assert sum(found[0][j] == found[1][j] for j in range(12)) >= 10
