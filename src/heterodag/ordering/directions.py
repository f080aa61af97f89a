"""How sure is each arrow: what the best graph costs in which the effect comes before its cause.

For every edge the effect is moved before the cause and all parents that this concerns are chosen again; the rise of the
score, in nats, is the evidence for the direction. Where it is small, other edges may have to turn as well for the best such
graph (in linear Gaussian data whole chains turn together), so the search goes on from there with the edge held reversed.
If that finds a better graph than the one at hand, the search had missed it, and it is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.ordering.refinement import Move, State, apply, evaluate, order_after, refine_order, start_state
from heterodag.runtime.work import OutOfTime
from heterodag.scores.parent_choice import EQUAL, ParentChoices

#: Directions with more evidence than this (nats) after one move are not looked at further.
CLOSE = 40.0
#: An edge with less evidence for its direction than this (nats) is open.
OPEN_BELOW = 9.0
#: Share of the work that turning each edge alone is; the rest are searches with an edge held reversed.
_FIRST_TURN = 0.3
#: Times that a better graph may be found on the way.
_RESTARTS = 3
#: Observational rows per column from which on their own evidence for directions is looked at.
_LEAST_ROWS_PER_COLUMN = 5

Allowed = Callable[[list[int]], bool]


def surest_state(choices: ParentChoices, state: State, allowed: Allowed) -> State:
    """Return the state that no reversal of one of its edges improves, or the best one when time runs out."""
    work = choices.scores.work
    for done in range(_RESTARTS):
        with work.part(1.0 - 0.2**done, 1.0 - 0.2 ** (done + 1)):
            _, better = _reversals(choices, state, _edges(state), allowed)
        if better is None:
            break
        state = better
    work.report(1.0)
    return state


def doubtful(choices: ParentChoices, state: State, allowed: Allowed) -> set[int]:
    """Return the variables of edges whose direction has little evidence."""
    costs = _reversals(choices, state, _edges(state), allowed, until_better=False)[0]
    return {j for edge, nats in costs.items() if nats <= CLOSE for j in edge}


def direction_nats(
    choices: Sequence[ParentChoices], state: State, edges: Iterable[tuple[int, int]], allowed: Allowed
) -> Array:
    """Return (d, d) the evidence for the direction of edges (cause, effect); infinite where knowledge decides.

    `choices` are on more and more rows: directions that are clear on fewer are not looked at again, so their evidence is
    that of the fewer rows.
    """
    d, left = choices[0].scores.d, list(edges)
    out = np.full((d, d), np.nan)
    for number, own in enumerate(choices):
        with own.scores.work.part(number / len(choices), (number + 1) / len(choices)):
            try:
                here = start_state(own, state.order, state.parents)
            except OutOfTime:
                break
            for edge, nats in _reversals(own, here, left, allowed, until_better=False)[0].items():
                out[edge] = max(nats, 0.0)
        left = [edge for edge in left if not out[edge] > CLOSE]
    return out


def observational_choices(choices: ParentChoices) -> ParentChoices | None:
    """Return the same choices on the rows in which nothing was done; None if these are too few for the columns."""
    scores = choices.scores
    assert scores.experiments is not None
    rows = np.flatnonzero(scores.experiments.observed)
    if len(rows) < _LEAST_ROWS_PER_COLUMN * scores.d:
        return None
    return ParentChoices(scores.only(rows), choices.penalty, choices.limits)


def _edges(state: State) -> list[tuple[int, int]]:
    return [(i, j) for j in state.order for i in state.parents[j]]


def _reversals(
    choices: ParentChoices,
    state: State,
    edges: list[tuple[int, int]],
    allowed: Allowed,
    until_better: bool = True,
) -> tuple[dict[tuple[int, int], float], State | None]:
    """Return what turning each edge costs, and a better state if one was found on the way."""
    found: dict[tuple[int, int], float] = {}
    work = choices.scores.work
    try:
        moves = [Move(i, j, forwards) for i, j in edges for forwards in (True, False)]
        with work.part(0.0, _FIRST_TURN):
            costs = (-np.array(evaluate(choices, state, moves))).reshape(-1, 2)
        possible = [allowed(order_after(state, move)) for move in moves]
        costs = np.where(np.array(possible, dtype=bool).reshape(-1, 2), costs, np.inf)
        # The least costly first: the result must not depend on the order of the columns.
        close = max(1, int((costs.min(axis=1) <= CLOSE).sum()))
        for done, at in enumerate(np.argsort(costs.min(axis=1), kind="stable")):
            (i, j), pair = edges[at], costs[at]
            found[i, j] = float(pair.min())
            if found[i, j] > CLOSE:
                continue
            with work.part(*(_FIRST_TURN + (1.0 - _FIRST_TURN) * k / close for k in (done, done + 1))):
                turned = _turned(choices, state, (i, j), bool(pair[0] <= pair[1]), allowed)
            found[i, j] = min(found[i, j], turned.total - state.total)
            if until_better and turned.total < state.total - EQUAL:
                return found, turned
    except OutOfTime:
        pass
    return found, None


def _turned(choices: ParentChoices, state: State, edge: tuple[int, int], forwards: bool, allowed: Allowed) -> State:
    """Return the best state found in which the effect comes first."""
    i, j = edge
    move = Move(i, j, forwards)
    new = apply(choices, state, move) or replace(state, order=order_after(state, move))
    return refine_order(choices, new, lambda order: order.index(j) < order.index(i) and allowed(order), {i, j})
