"""Single changes of a graph, what each of them gains, and the few changes that would help most.

A change adds an edge, drops one or turns one round. Only the model of the effect, and that of the cause if the edge
is turned, differ between the two graphs, so the gain of a change is the decrease of one or two local scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heterodag.core.graph import Adjacency, descendants
from heterodag.graphcheck.graph_scores import GraphScores
from heterodag.ordering.directions import OPEN_BELOW
from heterodag.scores.fit import Effort, Key
from heterodag.scores.parent_choice import entry_gain

#: At most this many changes are proposed: beyond that, the graph as a whole is in question.
MOST_CHANGES = 5
#: A change must lower the priced score by this many nats to be proposed. `python benchmarks/graph_checks.py tune` (seeds 0
#: to 11) shows the trade-off: with 5, more superfluous edges stay, and changes are proposed for hardly fewer right
#: graphs.
LEAST_GAIN = 3.0
_EDGES = {"add": 1, "drop": -1, "turn": 0}


@dataclass(frozen=True, order=True)
class Change:
    """One change of a graph: "add", "drop" or "turn" the edge from `cause` to `effect`."""

    kind: str
    cause: int
    effect: int

    def applied(self, adjacency: Adjacency) -> Adjacency:
        """Return the changed graph."""
        new = adjacency.copy()
        new[self.cause, self.effect] = self.kind == "add"
        if self.kind == "turn":
            new[self.effect, self.cause] = 1
        return new

    @property
    def targets(self) -> tuple[int, ...]:
        """The variables whose parents change."""
        return (self.effect, self.cause) if self.kind == "turn" else (self.effect,)

    @property
    def more_edges(self) -> int:
        """By how many edges the graph grows."""
        return _EDGES[self.kind]

    @property
    def least_gain(self) -> float:
        """By how many nats the change must lower the priced score to count; below 9 nats a direction is open."""
        return OPEN_BELOW if self.kind == "turn" else LEAST_GAIN


def single_changes(adjacency: Adjacency) -> list[Change]:
    """Return all changes of one edge that leave a graph without cycles."""
    reach, edges = descendants(adjacency), adjacency != 0
    apart = ~(edges | edges.T | np.eye(len(edges), dtype=bool))
    found = [Change("add", int(i), int(j)) for i, j in np.argwhere(apart & ~reach.T)]
    for i, j in np.argwhere(edges).tolist():
        found.append(Change("drop", i, j))
        if not (edges[i] & reach[:, j]).any():  # no other way leads from i to j
            found.append(Change("turn", i, j))
    return found


def evidence(graph: GraphScores, adjacency: Adjacency, changes: Sequence[Change]) -> dict[Change, float]:
    """Return by how many nats each change lowers the losses, without any price for edges.

    If the score test promises next to nothing for an edge, no model is fitted: the evidence is that of the score
    test.
    """
    scores, own = graph.scores, graph.keys(adjacency)
    scores.prepare_gains(own, Effort.FINAL, whole=True)
    found: dict[Change, float] = {}
    models: dict[Change, list[Key]] = {}
    for change in changes:
        promised = scores.gains(own[change.effect])[change.cause] if change.kind == "add" else np.inf
        if promised > entry_gain(graph.d):
            new = change.applied(adjacency)
            models[change] = [graph.key(new, j) for j in change.targets]
        else:
            found[change] = max(float(promised), 0.0)
    scores.fits((key for keys in models.values() for key in keys), Effort.FINAL)
    for change, keys in models.items():
        before = scores.losses((own[j] for j in change.targets), Effort.FINAL)
        found[change] = sum(before) - sum(scores.losses(keys, Effort.FINAL))
    return {change: found[change] for change in changes}


@dataclass(frozen=True)
class Step:
    """A proposed change, and by how many nats it lowers the priced score after the changes before it."""

    change: Change
    nats: float


def best_changes(graph: GraphScores, adjacency: Adjacency, most: int = MOST_CHANGES) -> list[Step]:
    """Return the changes that help most: the best one, then the best one after it, while any helps clearly."""
    steps: list[Step] = []
    while len(steps) < most:
        found = evidence(graph, adjacency, single_changes(adjacency))
        gains = {change: nats - graph.price * change.more_edges for change, nats in found.items()}
        clear = [change for change, nats in gains.items() if nats > change.least_gain]
        if not clear:
            break
        best = max(clear, key=lambda change: gains[change])
        steps.append(Step(best, gains[best]))
        adjacency = best.applied(adjacency)
    return steps
