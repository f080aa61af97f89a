"""From prior knowledge by name to matrices by index; errors about contradictions name the edges and columns involved.

The order needs care. Required edges and tiers settle which column comes before which: their transitive closure must
have no cycle. Roots and leaves by themselves say nothing about the order, but an order that places a root late loses
the edges out of it. A root is therefore placed before each column that comes after everything the root has to come
after: in any order that agrees with a graph and the rest of the knowledge, the root can be moved there. Leaves are
treated as the mirror image.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from heterodag.core.graph import descendants
from heterodag.errors import ParameterError
from heterodag.io.inputs import column_index
from heterodag.knowledge.resolved import Mask, Order, ResolvedKnowledge

if TYPE_CHECKING:
    from heterodag.knowledge.prior import Column, Edge, PriorKnowledge


def resolve(knowledge: PriorKnowledge, labels: list[str]) -> ResolvedKnowledge:
    """Return the knowledge about the columns `labels`, or raise `ParameterError`."""
    d = len(labels)
    required, forbidden = (_edge_matrix(name, getattr(knowledge, name), labels) for name in ("required", "forbidden"))
    roots, leaves = (_marked(name, getattr(knowledge, name), labels) for name in ("roots", "leaves"))
    tier = _tier_numbers(knowledge.tiers, labels)
    earlier = (tier[:, None] < tier[None, :]) & (tier[:, None] >= 0) & (tier[None, :] >= 0)
    _refuse_both(required, forbidden, labels)
    _refuse_ends(required, roots, leaves, labels)
    _refuse_cycle(required, earlier, labels)
    settled = descendants(required | earlier)
    forbidden = forbidden | roots[None, :] | leaves[:, None] | settled.T
    forbidden[np.eye(d, dtype=bool)] = False
    return ResolvedKnowledge(labels, required, forbidden, settled, _with_ends(settled, roots, leaves))


def _with_ends(settled: Mask, roots: Mask, leaves: Mask) -> Mask:
    """Place roots first and leaves last where that excludes no graph; a column that is both has no edges at all."""
    first, last = roots & ~leaves, leaves & ~roots
    before, after = settled.T.astype(np.float32), settled.astype(np.float32)
    # contained[r, y]: everything that precedes r precedes y too; for leaves, everything that follows l follows y.
    contained = before @ (1 - before.T) == 0
    covered = after @ (1 - after.T) == 0
    root_first = contained & first[:, None] & ~roots[None, :]
    leaf_last = covered.T & last[None, :] & ~leaves[:, None]
    return descendants(settled | root_first | leaf_last)


def _edge_matrix(name: str, edges: Iterable[Edge], labels: list[str]) -> Mask:
    matrix = np.zeros((len(labels), len(labels)), dtype=bool)
    for cause, effect in edges:
        i, j = column_index(name, cause, labels), column_index(name, effect, labels)
        if i == j:
            raise ParameterError(name, "lead from one column to another", f"{labels[i]} -> {labels[j]}")
        matrix[i, j] = True
    return matrix


def _marked(name: str, columns: Iterable[Column], labels: list[str]) -> Mask:
    mask = np.zeros(len(labels), dtype=bool)
    mask[[column_index(name, column, labels) for column in columns]] = True
    return mask


def _tier_numbers(tiers: Iterable[Iterable[Column]], labels: list[str]) -> Order:
    number = np.full(len(labels), -1, dtype=np.intp)
    for position, tier in enumerate(tiers):
        for column in tier:
            index = column_index("tiers", column, labels)
            if number[index] >= 0:
                places = f"tier {number[index] + 1} and tier {position + 1}"
                raise ParameterError(
                    "tiers", f"hold every column at most once; '{labels[index]}' is in {places}", column
                )
            number[index] = position
    return number


def _refuse_both(required: Mask, forbidden: Mask, labels: list[str]) -> None:
    both = np.argwhere(required & forbidden)
    if both.size:
        edge = _arrow(both[0], labels)
        raise ParameterError(
            "prior_knowledge", "not require and forbid the same edge", edge, "Remove one of the two."
        )


def _refuse_ends(required: Mask, roots: Mask, leaves: Mask, labels: list[str]) -> None:
    for wrong, column, word in (
        (required & roots[None, :], 1, "a root, which has no causes,"),
        (required & leaves[:, None], 0, "a leaf, which has no effects,"),
    ):
        pairs = np.argwhere(wrong)
        if pairs.size:
            name = labels[pairs[0][column]]
            rule = f"not call '{name}' {word} and require an edge {'into' if column else 'out of'} it"
            raise ParameterError("prior_knowledge", rule, _arrow(pairs[0], labels))


def _refuse_cycle(required: Mask, earlier: Mask, labels: list[str]) -> None:
    cycle = _shortest_cycle(required) or _shortest_cycle(required | earlier)
    if not cycle:
        return
    steps = list(pairwise(cycle))
    told = [
        f"'{labels[i]}' -> '{labels[j]}' is required"
        if required[i, j]
        else f"'{labels[i]}' is in an earlier tier than '{labels[j]}'"
        for i, j in steps
    ]
    within = "the required edges" if all(required[i, j] for i, j in steps) else "required edges and tiers"
    path = " -> ".join(labels[k] for k in cycle)
    raise ParameterError("prior_knowledge", f"have no cycle among {within}", path, f"Here {'; '.join(told)}.")


def _shortest_cycle(edges: Mask) -> list[int]:
    """Return a shortest directed cycle as [a, b, ..., a], or an empty list."""
    best: list[int] = []
    for start in np.flatnonzero(descendants(edges).diagonal()):
        found = _path_back(edges, int(start))
        if not best or len(found) < len(best):
            best = found
    return best


def _path_back(edges: Mask, start: int) -> list[int]:
    """Return the shortest path from `start` to itself, which exists (breadth first)."""
    came: dict[int, int] = {}
    layer = [start]
    while start not in came:
        found = []
        for node in layer:
            for child in np.flatnonzero(edges[node]).tolist():
                if child not in came:
                    came[child] = node
                    found.append(child)
        layer = found
    path = [start, came[start]]
    while path[-1] != start:
        path.append(came[path[-1]])
    return path[::-1]


def _arrow(pair: Sequence[int], labels: list[str]) -> str:
    return f"{labels[pair[0]]} -> {labels[pair[1]]}"
