"""A start for the search that needs no normal noise: edges one by one, always the one that explains most.

As in CAM (Buehlmann, Peters and Ernest 2014), the graph begins empty; the edge whose addition lowers the score most, and
closes no cycle, is added, until none lowers it. The scores are those of `LocalScores`, so the spread and the shape of
the noise count as much as the mean. An edge that fits in both directions goes the way that gains more; with two columns
this compares both directions outright.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from heterodag.core.gaussian import Array, Mask
from heterodag.knowledge import ResolvedKnowledge
from heterodag.scores.fit import Parents
from heterodag.scores.parent_choice import ParentChoices


def greedy_order(
    choices: ParentChoices, ranking: Sequence[int], knowledge: ResolvedKnowledge | None = None
) -> tuple[list[int], dict[int, Parents]]:
    """Return an order and the parents that led to it; prior knowledge is obeyed.

    Variables that the graph does not order come as in `ranking`, so that the order of the columns does not matter.
    """
    d = choices.scores.d
    parents: dict[int, Parents] = dict(enumerate(choices.limits.required))
    before = precedence(d, knowledge, parents)
    gain, changed = np.full((d, d), -np.inf), list(range(d))
    while True:
        _update(choices, parents, before, gain, changed)
        i, j = (int(k) for k in np.unravel_index(int(gain.argmax()), gain.shape))
        if not gain[i, j] > 0.0:
            return ranked_order(before, ranking), parents
        parents[j] = tuple(sorted((*parents[j], i)))
        before |= np.outer(before[:, i], before[j])
        changed = [j]


def ranked_order(before: Mask, ranking: Sequence[int]) -> list[int]:
    """Return an order that agrees with what comes before what, always the first of the ranking that may come next."""
    order, left = list[int](), list(ranking)
    while left:
        chosen = next(j for j in left if not any(before[i, j] for i in left if i != j))
        order.append(chosen)
        left.remove(chosen)
    return order


def precedence(d: int, knowledge: ResolvedKnowledge | None, parents: Mapping[int, Parents]) -> Mask:
    """Return (d, d) which column comes before which, itself included, by what is known."""
    before = np.eye(d, dtype=bool)
    if knowledge is not None:
        before |= knowledge.must_precede
    for j, some in parents.items():
        before[list(some), j] = True
    for k in range(d):
        before |= np.outer(before[:, k], before[k])
    return before


def _update(
    choices: ParentChoices, parents: dict[int, Parents], before: Mask, gain: Array, changed: list[int]
) -> None:
    """Find what every further parent would gain the changed variables; drop what would close a cycle."""
    scores = choices.scores
    scores.prepare_gains((j, parents[j]) for j in changed)
    tried = []
    for j in changed:
        gain[:, j] = -np.inf
        allowed = ~choices.limits.forbidden[j]
        tried += [(i, j) for i in choices.promising((j, parents[j])) if allowed >> i & 1 and not before[j, i]]
    losses = scores.losses((j, tuple(sorted((*parents[j], i)))) for i, j in tried)
    for (i, j), loss in zip(tried, losses, strict=True):
        gain[i, j] = scores.losses([(j, parents[j])])[0] - loss - choices.penalty
    gain[before.T] = -np.inf
