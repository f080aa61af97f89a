"""How sure is each arrow: what the best graph costs in which the effect comes before its cause.

For every edge the effect is moved before the cause and all parents that this concerns are chosen again; the rise of the
score, in nats, is the evidence for the direction. Where it is small, other edges may have to turn as well for the best such
graph (in linear Gaussian data whole chains turn together), so the search goes on from there with the edge held reversed.
If that finds a better graph than the one at hand, the search had missed it, and it is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.ordering.refinement import Move, State, apply, evaluate, order_after, refine_order, start_state
from heterodag.runtime.work import OutOfTime
from heterodag.scores.local import LocalScores
from heterodag.scores.parent_choice import EQUAL, ParentChoices

#: Directions with more evidence than this (nats) after one move are not looked at further.
CLOSE = 40.0
#: An edge with less evidence for its direction than this (nats) is open.
OPEN_BELOW = 9.0
#: Times that a better graph may be found on the way.
_RESTARTS = 3
#: Observational rows per column from which on their own evidence for directions is looked at.
_LEAST_ROWS_PER_COLUMN = 5

Allowed = Callable[[list[int]], bool]


def surest_state(choices: ParentChoices, state: State, allowed: Allowed) -> State:
    """Return the state that no reversal of one of its edges improves, or the best one when time runs out."""
    for _ in range(_RESTARTS):
        _, better = _reversals(choices, state, _edges(state), allowed)
        if better is None:
            break
        state = better
    return state


def doubtful(choices: ParentChoices, state: State, allowed: Allowed) -> set[int]:
    """Return the variables of edges whose direction has little evidence."""
    costs = _reversals(choices, state, _edges(state), allowed, until_better=False)[0]
    return {j for edge, (nats, _) in costs.items() if nats <= CLOSE for j in edge}


@dataclass(frozen=True, eq=False)
class Reversal:
    """What turning an edge costs (nats), with the graphs that were compared and the scores behind them."""

    nats: float
    state: State
    turned: State
    choices: ParentChoices


@dataclass(frozen=True, eq=False)
class DirectionEvidence:
    """The evidence for the direction of edges (cause, effect)."""

    reversals: dict[tuple[int, int], Reversal]

    def table(self, d: int) -> Array:
        """Return (d, d) the evidence in nats, infinite where knowledge decides; NaN for other pairs."""
        out = np.full((d, d), np.nan)
        for edge, reversal in self.reversals.items():
            out[edge] = max(reversal.nats, 0.0)
        return out

    def interventional(self, d: int) -> Array:
        """Return (d, d) how much of the evidence is due to experiments.

        The two graphs stay the same, and the variables whose parents differ are fitted again on the rows in which nothing
        was done: what the evidence loses is due to the other rows. If those rows are too few for a fit, all of it is.
        """
        out, observed = np.full((d, d), np.nan), dict[int, LocalScores | None]()
        for edge, reversal in self.reversals.items():
            scores = reversal.choices.scores
            if id(scores) not in observed:
                observed[id(scores)] = _observed(scores, d)
            with suppress(OutOfTime):
                nats = max(reversal.nats, 0.0)
                out[edge] = 0.0 if np.isinf(nats) else nats - _evidence_in(observed[id(scores)], reversal, d)
        return out


def _observed(scores: LocalScores, d: int) -> LocalScores | None:
    """Return the scores on the rows in which nothing was done; None if there are not enough."""
    assert scores.experiments is not None
    rows = np.flatnonzero(scores.experiments.observed)
    return scores.only(rows) if len(rows) >= _LEAST_ROWS_PER_COLUMN * d else None


def _evidence_in(scores: LocalScores | None, reversal: Reversal, d: int) -> float:
    """Return by how much the graph with the edge is better than the other on other rows, context columns left out."""
    if scores is None:
        return 0.0
    state, turned = (
        {j: tuple(i for i in some if i < d) for j, some in graph.parents.items() if j < d}
        for graph in (reversal.state, reversal.turned)
    )
    changed = [j for j in state if state[j] != turned[j]]
    losses = [sum(scores.losses([(j, graph[j]) for j in changed])) for graph in (turned, state)]
    price = reversal.choices.penalty * sum(len(turned[j]) - len(state[j]) for j in changed)
    return losses[0] - losses[1] + price


def direction_evidence(
    choices: Sequence[ParentChoices], state: State, edges: Iterable[tuple[int, int]], allowed: Allowed
) -> DirectionEvidence:
    """Return the evidence for the direction of edges (cause, effect).

    `choices` are on more and more rows: directions that are clear on fewer are not looked at again, so their evidence is
    that of the fewer rows.
    """
    left, found = list(edges), dict[tuple[int, int], Reversal]()
    for own in choices:
        try:
            here = start_state(own, state.order, state.parents)
        except OutOfTime:
            break
        for edge, (nats, turned) in _reversals(own, here, left, allowed, until_better=False)[0].items():
            found[edge] = Reversal(nats, here, turned, own)
        left = [edge for edge in left if edge not in found or found[edge].nats <= CLOSE]
    return DirectionEvidence(found)


def direction_nats(
    choices: Sequence[ParentChoices], state: State, edges: Iterable[tuple[int, int]], allowed: Allowed
) -> Array:
    """Return (d, d) the evidence for the direction of edges (cause, effect); infinite where knowledge decides."""
    return direction_evidence(choices, state, edges, allowed).table(choices[0].scores.d)


def _edges(state: State) -> list[tuple[int, int]]:
    return [(i, j) for j in state.order for i in state.parents[j]]


def _reversals(
    choices: ParentChoices,
    state: State,
    edges: list[tuple[int, int]],
    allowed: Allowed,
    until_better: bool = True,
) -> tuple[dict[tuple[int, int], tuple[float, State]], State | None]:
    """Return what turning each edge costs and the state it leads to, and a better state if one was found on the way."""
    found: dict[tuple[int, int], tuple[float, State]] = {}
    try:
        moves = [Move(i, j, forwards) for i, j in edges for forwards in (True, False)]
        costs = (-np.array(evaluate(choices, state, moves))).reshape(-1, 2)
        possible = [allowed(order_after(choices, state, move)) for move in moves]
        costs = np.where(np.array(possible, dtype=bool).reshape(-1, 2), costs, np.inf)
        # The least costly first: the result must not depend on the order of the columns.
        for at in np.argsort(costs.min(axis=1), kind="stable"):
            (i, j), pair = edges[at], costs[at]
            cost, forwards = float(pair.min()), bool(pair[0] <= pair[1])
            moved = _moved(choices, state, Move(i, j, forwards))
            found[i, j] = cost, moved
            if cost > CLOSE:
                continue
            turned = _turned(choices, moved, (i, j), allowed)
            found[i, j] = min(cost, turned.total - state.total), turned
            if until_better and turned.total < state.total - EQUAL:
                return found, turned
    except OutOfTime:
        pass
    return found, None


def _moved(choices: ParentChoices, state: State, move: Move) -> State:
    return apply(choices, state, move) or replace(state, order=order_after(choices, state, move))


def _turned(choices: ParentChoices, moved: State, edge: tuple[int, int], allowed: Allowed) -> State:
    """Return the best state found in which the effect comes first, from the one in which it was moved there."""
    i, j = edge
    return refine_order(choices, moved, lambda order: order.index(j) < order.index(i) and allowed(order), {i, j})
