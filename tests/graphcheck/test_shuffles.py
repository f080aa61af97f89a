"""Shuffled names: an exact permutation test, whatever the scores; honest where shuffles give the same graph."""

from dataclasses import dataclass, field
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest

from heterodag.graphcheck.shuffles import same_independences, shuffled

LABELS = ["a", "b", "c", "d", "e", "f", "g"]


@dataclass
class MadeUpScores:
    """Scores drawn once per graph: nothing but chance decides which graph is better."""

    rng: np.random.Generator
    known: dict = field(default_factory=dict)
    scores: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(n_rows=10))

    def totals(self, graphs, effort):
        return [self.known.setdefault(np.asarray(graph).tobytes(), self.rng.normal()) for graph in graphs]


def chain(d):
    return np.eye(d, k=1, dtype=np.int8)


def test_the_p_value_of_a_graph_with_random_names_is_uniform():
    runs, most = 600, 19
    pvalues = np.array(
        [
            shuffled(MadeUpScores(np.random.default_rng([7, run])), chain(6), LABELS[:6], most, seed(run)).pvalue
            for run in range(runs)
        ]
    )
    for level in (0.05, 0.25, 0.5, 0.75):
        assert abs(np.mean(pvalues <= level + 1e-12) - level) < 4 * np.sqrt(level * (1 - level) / runs)
    assert pvalues.min() == pytest.approx(1 / (1 + most))


def seed(run):
    return np.random.SeedSequence([11, run])


def test_few_variables_get_every_shuffle_once():
    scores = MadeUpScores(np.random.default_rng(0))
    found = shuffled(scores, chain(4), LABELS[:4], 199, seed(0))
    renamed = [chain(4)[np.ix_(order, order)] for order in permutations(range(4))]
    by_hand = np.array(scores.totals(renamed, None))
    own = scores.totals([chain(4)], None)[0]
    assert found.every
    assert sorted(found.scores) == sorted(by_hand)
    assert found.pvalue == pytest.approx(np.mean(by_hand <= own))
    assert found.same == 1
    assert found.smallest == pytest.approx(1 / 24)
    assert found.alike == 2  # the chain, and the chain backwards
    assert found.surely_smallest == pytest.approx(2 / 24)


def test_markov_equivalent_graphs_are_recognised():
    collider = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=np.int8)
    assert same_independences(chain(3), chain(3)[::-1, ::-1])
    assert not same_independences(collider, collider.T)
    shielded = np.triu(np.ones((3, 3), dtype=np.int8), 1)
    assert same_independences(shielded, shielded.T)  # all three pairs have an edge: no collider
    assert not same_independences(chain(3), shielded)


@pytest.mark.parametrize("d", [3, 6])
def test_a_graph_without_edges_is_never_better_than_chance(d):
    found = shuffled(MadeUpScores(np.random.default_rng(1)), np.zeros((d, d), dtype=np.int8), LABELS[:d], 50, seed(1))
    assert found.pvalue == 1.0
    assert found.smallest == 1.0
    assert found.same == len(found.scores)


def test_shuffles_that_give_the_same_graph_count_as_good():
    star = np.zeros((4, 4), dtype=np.int8)
    star[0, 1:] = 1
    scores = MadeUpScores(np.random.default_rng(2))
    scores.known[star.tobytes()] = -100.0
    found = shuffled(scores, star, LABELS[:4], 24, seed(2))
    assert found.same == 6  # the three points of the star may change places
    assert found.pvalue == pytest.approx(6 / 24)
    assert found.smallest == found.pvalue


def test_the_same_seed_draws_the_same_shuffles_whatever_the_order_of_the_columns():
    graph = chain(7)
    first = shuffled(MadeUpScores(np.random.default_rng(3)), graph, LABELS, 30, seed(3))
    again = shuffled(MadeUpScores(np.random.default_rng(3)), graph, LABELS, 30, seed(3))
    np.testing.assert_array_equal(first.scores, again.scores)
    columns = np.random.default_rng(4).permutation(7)
    seen, other = set(), set()
    for labels, own, drawn in (
        (LABELS, graph, seen),
        ([LABELS[j] for j in columns], graph[np.ix_(columns, columns)], other),
    ):
        spy = MadeUpScores(np.random.default_rng(5))
        shuffled(spy, own, labels, 30, seed(3))
        for key in spy.known:
            edges = np.argwhere(np.frombuffer(key, dtype=np.int8).reshape(7, 7)).tolist()
            drawn.add(frozenset((labels[i], labels[j]) for i, j in edges))
    assert seen == other
    assert len(seen) > 25
