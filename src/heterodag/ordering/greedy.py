"""A start for the search that needs no normal noise: edges are added one by one, always the one that explains most.

As in CAM (Buehlmann, Peters and Ernest 2014), the graph begins empty. The edge that lowers the score most without
closing a cycle is added, until none lowers it. The scores are those of `LocalScores`, so the spread and the shape of
the noise count as much as the mean. An edge that could go either way takes the direction that gains more; with two
columns this compares both directions outright.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush

import numpy as np

from heterodag.core.gaussian import Mask
from heterodag.knowledge import ResolvedKnowledge
from heterodag.scores.fit import Parents
from heterodag.scores.parent_choice import ParentChoices

#: Share of the work spent on the gains of the first edges.
_FIRST_GAINS = 0.5
#: One edge is added at a time for every 50 columns: score tests of many models cost little more than those of one.
COLUMNS_PER_EDGE = 50


def greedy_order(
    choices: ParentChoices, ranking: Sequence[int], knowledge: ResolvedKnowledge | None = None
) -> tuple[list[int], dict[int, Parents]]:
    """Return an order and the parents that led to it; prior knowledge is obeyed.

    Variables that the graph does not order follow `ranking`, so that the order of the columns does not matter. In
    wide tables several edges are added at a time, each to a different effect.
    """
    d = choices.scores.d
    parents: dict[int, Parents] = dict(enumerate(choices.limits.required))
    before, gains, changed = precedence(d, knowledge, parents), dict[tuple[int, int], float](), list(range(d))
    while changed:
        gains = {edge: gain for edge, gain in gains.items() if edge[1] not in changed}
        gains |= _tried(choices, parents, before, changed)
        choices.scores.work.report(max(_FIRST_GAINS, sum(map(len, parents.values())) / d))
        changed = _add_best(gains, before, parents, max(1, d // COLUMNS_PER_EDGE))
    return ranked_order(before, ranking), parents


def _add_best(
    gains: Mapping[tuple[int, int], float], before: Mask, parents: dict[int, Parents], most: int
) -> list[int]:
    """Add the edges that gain most and close no cycle, at most one per effect; return the effects."""
    changed: list[int] = []
    for gain, (i, j) in sorted((-gain, edge) for edge, gain in gains.items()):
        if len(changed) == most or not gain < 0.0:
            break
        if j not in changed and not before[j, i]:
            parents[j] = tuple(sorted((*parents[j], i)))
            before[before[:, i]] |= before[j]
            changed.append(j)
    return changed


def ranked_order(before: Mask, ranking: Sequence[int]) -> list[int]:
    """Return an order that agrees with `before`; of the columns that may come next, the first in the ranking does."""
    rank = {j: at for at, j in enumerate(ranking)}
    order, waits_for = list[int](), before.sum(axis=0) - 1  # every column comes before itself
    free = [(rank[j], j) for j in ranking if waits_for[j] == 0]
    while free:
        _, chosen = heappop(free)
        order.append(chosen)
        waits_for -= before[chosen]
        for j in np.flatnonzero(before[chosen] & (waits_for == 0)).tolist():
            if j != chosen:
                heappush(free, (rank[j], j))
    return order


def precedence(d: int, knowledge: ResolvedKnowledge | None, parents: Mapping[int, Parents]) -> Mask:
    """Return (d, d) which column must come before which, given prior knowledge and parents; True on the diagonal."""
    before = np.eye(d, dtype=bool)
    if knowledge is not None:
        before |= knowledge.must_precede
    for j, some in parents.items():
        before[list(some), j] = True
    for k in range(d):
        before[before[:, k]] |= before[k]
    return before


def _tried(
    choices: ParentChoices, parents: Mapping[int, Parents], before: Mask, changed: Sequence[int]
) -> dict[tuple[int, int], float]:
    """Return the gain, minus the penalty, of every further parent of the changed variables that closes no cycle."""
    scores = choices.scores
    scores.prepare_gains((j, parents[j]) for j in changed)
    tried = []
    for j in changed:
        allowed = ~choices.limits.forbidden[j]
        tried += [(i, j) for i in choices.promising((j, parents[j])) if allowed >> i & 1 and not before[j, i]]
    now = dict(zip(changed, scores.losses((j, parents[j]) for j in changed), strict=True))
    losses = scores.losses((j, tuple(sorted((*parents[j], i)))) for i, j in tried)
    return {(i, j): now[j] - loss - choices.penalty for (i, j), loss in zip(tried, losses, strict=True)}
