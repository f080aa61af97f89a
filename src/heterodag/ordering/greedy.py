"""A start for the search that needs no normal noise: edges one by one, always the one that explains most.

As in CAM (Buehlmann, Peters and Ernest 2014), the graph begins empty; the edge whose addition lowers the score most, and
closes no cycle, is added, until none lowers it. The scores are those of `LocalScores`, so the spread and the shape of
the noise count as much as the mean. An edge that fits in both directions goes to the direction that gains more.
"""

from __future__ import annotations

import numpy as np

from heterodag.core.graph import topological_order
from heterodag.knowledge import ResolvedKnowledge
from heterodag.scores.fit import Parents
from heterodag.scores.parent_choice import ParentChoices


def greedy_order(choices: ParentChoices, knowledge: ResolvedKnowledge | None = None) -> tuple[list[int], dict[int, Parents]]:
    """Return an order and the parents that led to it."""
    scores, d = choices.scores, choices.scores.d
    parents: dict[int, Parents] = dict.fromkeys(range(d), ())
    reach = np.eye(d, dtype=bool)  # reach[i, j]: a path from i to j
    gain = np.full((d, d), -np.inf)
    changed = list(range(d))
    while True:
        scores.prepare_gains((j, parents[j]) for j in changed)
        keys = []
        for j in changed:
            gain[:, j] = -np.inf
            keys += [(i, j) for i in choices.promising((j, parents[j])) if not reach[j, i]]
        losses = scores.losses((j, tuple(sorted((*parents[j], i)))) for i, j in keys)
        for (i, j), loss in zip(keys, losses, strict=True):
            gain[i, j] = scores.losses([(j, parents[j])])[0] - loss - choices.penalty
        gain[reach.T] = -np.inf
        i, j = np.unravel_index(int(gain.argmax()), gain.shape)
        if not gain[i, j] > 0.0:
            break
        parents[int(j)] = tuple(sorted((*parents[int(j)], int(i))))
        reach |= np.outer(reach[:, i], reach[j])
        changed = [int(j)]
    adjacency = np.zeros((d, d), dtype=np.int8)
    for j, some in parents.items():
        adjacency[list(some), j] = 1
    return topological_order(adjacency).tolist(), parents
