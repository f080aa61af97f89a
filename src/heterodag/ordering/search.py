"""From an order by normality to a refined one: which rows, which penalty, what is known beforehand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from heterodag.knowledge import ResolvedKnowledge
from heterodag.ordering.refinement import State, refine_order, start_state
from heterodag.runtime.work import OutOfTime
from heterodag.scores.fit import Parents
from heterodag.scores.local import LocalScores
from heterodag.scores.parent_choice import Limits, ParentChoices

#: The search runs on so many rows first, then goes on from its result with more: few moves are left to try there, and the
#: fits start from those on fewer rows.
LEVELS = (2_000, 10_000, 50_000)


def parent_penalty(n: int, d: int) -> float:
    """Return what a parent must gain: the extended BIC, ln n for its two coefficients and ln d for the choice."""
    return float(np.log(n) + np.log(d))


@dataclass(frozen=True)
class Search:
    """What a search found.

    Attributes
    ----------
    state : the order, the parents chosen in it, and their scores.
    scores : the local scores behind it, on the rows of the last level.
    start_score : score of the order that the search started from, on the same rows, with the parents chosen for it on
        the rows of the first level.
    complete : False if the time ran out.
    """

    state: State
    scores: LocalScores
    start_score: float
    complete: bool


def search_order(
    scores: LocalScores,
    order: Sequence[int],
    parents: Mapping[int, Parents],
    knowledge: ResolvedKnowledge | None = None,
    levels: Sequence[int] = LEVELS,
) -> Search | None:
    """Refine an order by penalised likelihood, on a sample of the rows first when there are many.

    None if the time was over before anything could be said.
    """
    respected = (lambda order: True) if knowledge is None else knowledge.respects_order
    first: State | None = None
    best: tuple[State, ParentChoices] | None = None
    rows = list(dict.fromkeys(min(scores.n_rows, level) for level in levels))
    for number, level in enumerate(rows):
        choices = order_choices(scores.sample(level), knowledge)
        with scores.work.part(number / len(rows), (number + 1) / len(rows)):
            try:
                state = start_state(
                    choices, *(([*order], parents) if best is None else (best[0].order, best[0].parents))
                )
            except OutOfTime:
                break
            first = state if first is None else first
            best = refine_order(choices, state, respected), choices
    if first is None or best is None:
        return None
    state, choices = best
    return Search(state, choices.scores, _score(choices, first), not scores.work.over)


def _score(choices: ParentChoices, state: State) -> float:
    """Return the score of a state on the rows of the choices."""
    try:
        losses = choices.scores.losses(state.parents.items())
    except OutOfTime:
        return state.total
    return sum(losses) + choices.penalty * sum(map(len, state.parents.values()))


def order_choices(scores: LocalScores, knowledge: ResolvedKnowledge | None = None) -> ParentChoices:
    """Return the choices of parents by which orders are compared."""
    limits = None if knowledge is None else Limits.of(knowledge.required, knowledge.forbidden)
    return ParentChoices(scores, parent_penalty(scores.n_rows, scores.d), limits)
