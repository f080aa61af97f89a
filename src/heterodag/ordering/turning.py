"""Directions of single edges by the losses of all rows: what a graph costs with one edge turned and all others kept.

The search for an order looks at a sample of a long table. Edges that only all rows show have their direction from chance
there, and some show only in the other direction. Turning a weak edge changes two models, those of its ends, and a new edge
changes one: that can be asked of all rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from heterodag.core.graph import Adjacency, descendants, is_dag
from heterodag.knowledge import ResolvedKnowledge
from heterodag.scores.fit import Key
from heterodag.scores.local import LocalScores, parents_of
from heterodag.scores.parent_choice import EQUAL

#: Times that edges are turned and the others looked at again.
_ROUNDS = 5

#: A cause and its effect.
Edge = tuple[int, int]


def turned(adjacency: Adjacency, edge: Edge) -> Adjacency:
    """Return a graph with one edge turned; the effect loses those causes that would close a cycle."""
    i, j = edge
    other = adjacency.copy()
    other[i, j] = 0
    other[descendants(other)[i], j] = 0
    other[j, i] = 1
    return other


def turning_costs(
    scores: LocalScores,
    adjacency: Adjacency,
    edges: Iterable[Edge],
    price: float,
    knowledge: ResolvedKnowledge | None = None,
) -> dict[Edge, float]:
    """Return by how much a graph is worse with an edge turned (nats, and a price per edge), for those that may be turned."""
    free = [edge for edge in edges if _may_turn(adjacency, edge, knowledge)]
    after = {edge: turned(adjacency, edge) for edge in free}
    keys = {edge: (_ends(adjacency, edge), _ends(after[edge], edge)) for edge in free}
    scores.fits(key for now, _ in keys.values() for key in now)
    scores.fits(key for _, then in keys.values() for key in then)
    return {
        edge: sum(scores.losses(then)) - sum(scores.losses(now))
        + price * (int(after[edge].sum()) - int(adjacency.sum()))
        for edge, (now, then) in keys.items()
    }  # fmt: skip


def turn_edges(
    scores: LocalScores,
    adjacency: Adjacency,
    edges: Sequence[Edge],
    price: float,
    knowledge: ResolvedKnowledge | None = None,
) -> Adjacency:
    """Return the graph in which those edges are turned, of the given ones, that lower the loss.

    Edges without a common end are turned together; then the others are looked at again.
    """
    left = list(edges)
    for _ in range(_ROUNDS):
        left = [edge for edge in left if adjacency[edge]]
        costs, touched = turning_costs(scores, adjacency, left, price, knowledge), set[int]()
        for edge in sorted((edge for edge, cost in costs.items() if cost < -EQUAL), key=lambda edge: costs[edge]):
            if touched.isdisjoint(edge) and adjacency[edge] and _may_turn(adjacency, edge, knowledge):
                adjacency = turned(adjacency, edge)
                left[left.index(edge)] = edge[::-1]
                touched.update(edge)
        if not touched:
            break
    return adjacency


def with_edges_against(
    scores: LocalScores,
    adjacency: Adjacency,
    order: Sequence[int],
    price: float,
    knowledge: ResolvedKnowledge | None = None,
) -> Adjacency:
    """Return the graph with edges from later to earlier variables of the order that gain more than their price."""
    keys = [(j, parents_of(adjacency[:, j])) for j in order]
    tried = [
        (i, j)
        for at, (j, parents) in enumerate(keys)
        for i in order[at + 1 :]
        if scores.gains((j, parents))[i] > price and _may_add(adjacency, (i, j), knowledge)
    ]
    now = dict(zip(order, scores.losses(keys), strict=True))
    after = scores.losses((j, tuple(sorted((*parents_of(adjacency[:, j]), i)))) for i, j in tried)
    gains = {edge: now[edge[1]] - loss for edge, loss in zip(tried, after, strict=True)}
    touched = set[int]()
    for edge in sorted((edge for edge, gain in gains.items() if gain > price), key=lambda edge: -gains[edge]):
        if edge[1] not in touched and _may_add(adjacency, edge, knowledge):
            adjacency = adjacency.copy()
            adjacency[edge] = 1
            touched.add(edge[1])
    return adjacency


def _ends(adjacency: Adjacency, edge: Edge) -> list[Key]:
    return [(j, parents_of(adjacency[:, j])) for j in edge]


def _may_turn(adjacency: Adjacency, edge: Edge, knowledge: ResolvedKnowledge | None) -> bool:
    other = turned(adjacency, edge)
    if (
        knowledge is not None
        and ((adjacency - other)[knowledge.required] > 0).any() | knowledge.forbidden[edge[::-1]]
    ):
        return False
    return _agrees(other, knowledge)


def _may_add(adjacency: Adjacency, edge: Edge, knowledge: ResolvedKnowledge | None) -> bool:
    if adjacency[edge] or adjacency[edge[::-1]] or (knowledge is not None and knowledge.forbidden[edge]):
        return False
    other = adjacency.copy()
    other[edge] = 1
    return _agrees(other, knowledge)


def _agrees(adjacency: Adjacency, knowledge: ResolvedKnowledge | None) -> bool:
    """Return whether a graph has no cycle, also together with what must come before what."""
    return is_dag(adjacency if knowledge is None else np.maximum(adjacency, knowledge.must_precede))
