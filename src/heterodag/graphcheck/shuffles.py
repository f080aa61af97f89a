"""Test whether a graph is better than chance, by scoring the same graph with shuffled names again and again.

If the names were placed at random, all shuffles are as likely as the graph itself, and the share of them that score
at least as well is an exact p-value (a permutation test). A shuffle can return the very same graph (a graph without
edges always does), or one that implies the same independences, which some tables cannot tell from it. Both limit how
small the p-value can get, and with few variables they are a large share of all shuffles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from math import factorial

import numpy as np
from numpy.typing import NDArray

from heterodag.core.gaussian import Array, Index
from heterodag.core.graph import Adjacency
from heterodag.graphcheck.graph_scores import GraphScores
from heterodag.scores.fit import Effort


@dataclass(frozen=True, eq=False)
class Shuffles:
    """The scores of a graph and of its shuffles on the same rows.

    Attributes
    ----------
    own : score of the graph (nats, less is better).
    empty : score of the graph without edges.
    scores : scores of the shuffled graphs.
    same : how many shuffles gave back the same graph.
    alike : how many gave back a graph with the same independences (Markov-equivalent), the same graph included.
    every : whether these are all possible shuffles, each once, so that the p-value does not depend on chance.
    rows : rows that were used.
    """

    own: float
    empty: float
    scores: Array
    same: int
    alike: int
    every: bool
    rows: int

    @property
    def as_good(self) -> int:
        """How many shuffles are at least as good as the graph."""
        return int((self.scores <= self.own + 1e-9 * abs(self.own)).sum())

    @property
    def pvalue(self) -> float:
        """Share of shuffles that are at least as good; the graph itself counts as one unless it is among them."""
        return self._share(self.as_good)

    @property
    def smallest(self) -> float:
        """The smallest p-value that this graph could have got in any table."""
        return self._share(self.same)

    @property
    def surely_smallest(self) -> float:
        """The smallest p-value that a true graph can get in a table that shows only independences."""
        return self._share(self.alike)

    def _share(self, number: int) -> float:
        return number / len(self.scores) if self.every else (1 + number) / (1 + len(self.scores))


def shuffled(
    graph: GraphScores, adjacency: Adjacency, labels: Sequence[str], most: int, seed: np.random.SeedSequence
) -> Shuffles:
    """Score shuffles of a graph: all of them if there are at most `most`, otherwise `most` random ones."""
    d = len(adjacency)
    every = factorial(d) <= most
    rng = np.random.default_rng(seed)
    orders = np.array(list(permutations(range(d)))) if every else np.array([rng.permutation(d) for _ in range(most)])
    # Shuffle the sorted names, so that the shuffles drawn do not depend on the order of the columns.
    ranked = np.argsort(np.array(labels), kind="stable")
    graphs = [_renamed(adjacency, ranked, order) for order in orders]
    own, empty, *others = graph.totals([adjacency, np.zeros_like(adjacency), *graphs], Effort.SEARCH)
    same = sum(np.array_equal(other, adjacency) for other in graphs)
    alike = sum(same_independences(other, adjacency) for other in graphs)
    return Shuffles(own, empty, np.array(others), same, alike, every, graph.scores.n_rows)


def _renamed(adjacency: Adjacency, ranked: Index, order: Index) -> Adjacency:
    """Return the graph in which the variable of rank k takes the place of that of rank `order[k]`."""
    place = np.empty(len(order), dtype=np.intp)
    place[ranked] = ranked[order]
    return adjacency[np.ix_(place, place)]


def same_independences(one: Adjacency, other: Adjacency) -> bool:
    """Return whether two DAGs imply the same independences: the same adjacent pairs, and the same colliders."""
    pairs = _pairs(one)
    return bool(np.array_equal(pairs, _pairs(other))) and _colliders(one, pairs) == _colliders(other, pairs)


def _pairs(adjacency: Adjacency) -> NDArray[np.bool_]:
    return (adjacency | adjacency.T).astype(bool)


def _colliders(adjacency: Adjacency, pairs: NDArray[np.bool_]) -> set[tuple[int, int, int]]:
    """Return all a -> c <- b without an edge between a and b."""
    return {
        (a, b, c)
        for c in range(len(adjacency))
        for a, b in combinations(np.flatnonzero(adjacency[:, c]).tolist(), 2)
        if not pairs[a, b]
    }
