"""From an order by normality to a refined one: which rows, which penalty, how long, what is known beforehand."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from heterodag.core.table import Table
from heterodag.knowledge import ResolvedKnowledge
from heterodag.models.conditional import ConditionalModel
from heterodag.models.node_fits import NodeFits, Parents
from heterodag.models.parent_choice import Limits, ParentChoice, parent_penalty
from heterodag.models.spline_fits import SplineFits
from heterodag.ordering.refinement import State, refine_order, start_state

#: With more rows than the first, the search runs on about so many; its result is then polished on at most the second.
SEARCH_ROWS, POLISH_ROWS = 10_000, 50_000
#: Fits with splines are dearer: their search looks at about so many rows.
SPLINE_ROWS = 2_500


def search_ridge(n: int) -> float:
    """Return the ridge strength of the search: 0.01 at 500 rows, falling with the square root of the rows.

    On simulated tables with seeds below 1000, 0.3 and 0.03 gave more wrong orders and edges; 0.001 about as many, slower.
    """
    return 0.01 * float(np.sqrt(500.0 / n))


@dataclass(frozen=True)
class Search:
    """What a search found: the state, the models behind it, the score it started from, and whether time ran out."""

    state: State
    fits: NodeFits
    start_score: float
    stopped: bool


def search_order(
    table: Table,
    model: ConditionalModel,
    order: Sequence[int],
    parents: dict[int, Parents],
    knowledge: ResolvedKnowledge | None = None,
    max_time: float | None = None,
    workers: int = 1,
) -> Search:
    """Refine an order by penalised likelihood, on a sample of the rows first when there are many.

    With splines the sample is all that is looked at: their fits are dearer.
    """
    out_of_time = _clock(max_time)
    respected = (lambda order: True) if knowledge is None else knowledge.respects_order
    order, n = [int(j) for j in order], table.shape[0]
    stages = (SEARCH_ROWS, POLISH_ROWS) if model.parametrization == "linear" else (SPLINE_ROWS,)
    for rows in dict.fromkeys(min(n, limit) for limit in stages):
        sample = table if rows == n else table.thin(-(-n // rows))
        choice = parent_choice(sample, model, knowledge, workers)
        state = start_state(choice, order, parents)
        score = state.total
        state = refine_order(choice, state, out_of_time, respected)
        order, parents = state.order, state.parents
        if out_of_time():
            break
    return Search(state, choice.fits, score, out_of_time())


def parent_choice(
    table: Table, model: ConditionalModel, knowledge: ResolvedKnowledge | None = None, workers: int = 1
) -> ParentChoice:
    """Return the scores of the search for a table."""
    n, d = table.shape
    kind = NodeFits if model.parametrization == "linear" else SplineFits
    fits = kind(table, model.form, search_ridge(n), workers=workers)
    limits = None if knowledge is None else Limits.of(knowledge.required, knowledge.forbidden)
    return ParentChoice(fits, parent_penalty(n, d), limits)


def _clock(max_time: float | None) -> Callable[[], bool]:
    end = np.inf if max_time is None else time.monotonic() + max_time
    return lambda: time.monotonic() > end
