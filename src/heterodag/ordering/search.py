"""From an order by normality to a refined one: which rows, which penalty, what is known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from heterodag.knowledge import ResolvedKnowledge
from heterodag.ordering.directions import doubtful, surest_state
from heterodag.ordering.greedy import greedy_order, precedence, ranked_order
from heterodag.ordering.refinement import State, refine_order, start_state
from heterodag.runtime.work import OutOfTime
from heterodag.scores.competition import CompetingFitter
from heterodag.scores.fit import Parents
from heterodag.scores.local import Fitter, LocalScores
from heterodag.scores.parent_choice import Limits, ParentChoices

#: Rows of the search. It begins with the fewest and goes on from its result with more: few moves are left to try there, and
#: the fits start from those on fewer rows.
LEVELS = (2_000, 10_000, 50_000)
#: The same where mechanisms compete, whose fits take ten times as long: with 10,000 rows few directions are left in doubt.
MECHANISM_LEVELS = LEVELS[:2]
#: In tables with more columns than this there is one start only: a second one takes half the time and changed nothing.
_TWO_STARTS = 50
#: How much work the parts of a search where mechanisms compete are, relative to each other: for the progress bar.
_WEIGHTS = {"greedy": 2.0, "first start": 5.0, "second start": 4.0, "reversals": 3.5, "more rows": 1.0}
#: Natural curves must explain two variables (or the only one with causes) better by this many nats each.
_ADMITTED, _ENOUGH = 40.0, 2


def parent_penalty(n: int, d: int) -> float:
    """Return what a parent must gain: the extended BIC, ln n for its two coefficients and ln d for the choice."""
    return float(np.log(n) + np.log(d))


@dataclass(frozen=True)
class Search:
    """What a search found.

    Attributes
    ----------
    state : the order, the parents chosen in it, and their scores.
    choices : the choices of parents behind it, on the rows of the last level.
    start_score : score of the order that the search started from, on the same rows, with the parents chosen for it on
        the rows of the first level.
    complete : False if the time ran out.
    """

    state: State
    choices: ParentChoices
    start_score: float
    complete: bool

    @property
    def scores(self) -> LocalScores:
        """The local scores behind it, on the rows of the last level."""
        return self.choices.scores


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
    allowed = respected(knowledge)
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
            best = refine_order(choices, state, allowed), choices
    if first is None or best is None:
        return None
    state, choices = best
    return Search(state, choices, _score(choices, first), not scores.work.over)


def search_mechanisms(
    scores: LocalScores, by_normality: Sequence[int], knowledge: ResolvedKnowledge | None = None
) -> tuple[LocalScores, Search | None]:
    """Find an order where mechanisms compete; also return the scores behind it, which may admit more of them.

    On the rows of the first level the search starts from a greedy graph, and where noise looks normal from the order by
    normality as well; the better result goes on to more rows. Natural curves are admitted if they explain variables of
    the greedy graph much better than what stood before.
    """
    allowed, work = respected(knowledge), scores.work
    parts = _parts(scores)
    try:
        with work.part(*parts["greedy"]):
            scores, choices, begun = _admitted(scores, by_normality, knowledge)
    except OutOfTime:
        return scores, search_order(scores, by_normality, {}, knowledge, MECHANISM_LEVELS)
    few, state = choices.scores, _best_start(choices, begun, by_normality, allowed, parts)
    with work.part(*parts["reversals"]):
        state = surest_state(choices, state, allowed)
    with suppress(OutOfTime), work.part(*parts["more rows"]):
        for level in MECHANISM_LEVELS[1:]:
            if few.n_rows < scores.n_rows:
                # What is clear on fewer rows is clearer on more: only variables of doubtful edges move again.
                with work.part(0.0, 0.1):
                    near = doubtful(choices, state, allowed)
                more = order_choices(scores.sample(level), knowledge)
                with work.part(0.1, 0.5):
                    state = start_state(more, state.order, state.parents)
                with work.part(0.5, 1.0):
                    state = refine_order(more, state, allowed, near)
                choices = more
    # Of all orders of the graph found, the one closest to that by normality: the order of the columns does not matter.
    order = ranked_order(precedence(scores.d, knowledge, state.parents), by_normality)
    complete = not scores.work.over
    return scores, Search(replace(state, order=order), choices, _score(choices, begun), complete)


def _parts(scores: LocalScores) -> dict[str, tuple[float, float]]:
    """Return the share of the work at which each part of the search begins and ends."""
    some = {
        name: weight
        for name, weight in _WEIGHTS.items()
        if (name != "second start" or scores.d <= _TWO_STARTS)
        and (name != "more rows" or scores.n_rows > MECHANISM_LEVELS[0])
    }
    ends = np.cumsum([0.0, *some.values()]) / sum(some.values())
    parts = {name: (float(ends[k]), float(ends[k + 1])) for k, name in enumerate(some)}
    return dict.fromkeys(_WEIGHTS, (1.0, 1.0)) | parts


def _admitted(
    scores: LocalScores, by_normality: Sequence[int], knowledge: ResolvedKnowledge | None
) -> tuple[LocalScores, ParentChoices, State]:
    """Return the scores, with natural curves if they explain a greedy graph better, the choices on few rows, that graph."""
    choices = order_choices(scores.sample(LEVELS[0]), knowledge)
    with scores.work.part(0.0, 0.9):
        greedy = greedy_order(choices, by_normality, knowledge)
    with scores.work.part(0.9, 1.0):
        begun = start_state(choices, *greedy)
        admitted = with_natural_curves(scores, begun.parents)
        if admitted is not scores:
            scores = admitted
            choices = order_choices(scores.sample(LEVELS[0]), knowledge)
            begun = start_state(choices, begun.order, begun.parents)
    return scores, choices, begun


def _best_start(
    choices: ParentChoices,
    begun: State,
    by_normality: Sequence[int],
    allowed: Callable[[list[int]], bool],
    parts: Mapping[str, tuple[float, float]],
) -> State:
    """Return the best result of the searches on few rows.

    In wide tables, and where natural curves stand, a second one is not worth its time.
    """
    few, work = choices.scores, choices.scores.work
    with work.part(*parts["first start"]):
        best = refine_order(choices, begun, allowed)
    if few.d > _TWO_STARTS or (isinstance(few.fitter, CompetingFitter) and few.fitter.natural_curves):
        return best
    if 2 * sum(fit.noise is None for fit in few.fits(best.parents.items())) > few.d:
        with suppress(OutOfTime), work.part(*parts["second start"]):
            other = refine_order(choices, start_state(choices, [*by_normality], {}), allowed)
            best = min(best, other, key=lambda state: state.total)
    return best


def with_natural_curves(scores: LocalScores, parents: Mapping[int, Parents]) -> LocalScores:
    """Return scores that admit natural curves if these explain the variables of a graph much better, else `scores`."""
    wider = _with_natural_curves(scores.fitter)
    if wider is None or not _helps(wider, scores.sample(LEVELS[0]), parents):
        return scores
    return scores.with_fitter(wider)


def _with_natural_curves(fitter: Fitter) -> Fitter | None:
    """Return the fitter that admits natural curves as well; None if it does already, or is not allowed to."""
    if not isinstance(fitter, CompetingFitter) or fitter.natural_curves or not fitter.curves or len(fitter.forms) < 2:
        return None
    return replace(fitter, natural_curves=True)


def _helps(fitter: Fitter, scores: LocalScores, parents: Mapping[int, Parents]) -> bool:
    """Return whether another fitter explains enough variables of a graph much better."""
    keys = [key for key in parents.items() if key[1]]
    new, old = scores.with_fitter(fitter).losses(keys), scores.losses(keys)
    helped = sum(a < b - _ADMITTED for a, b in zip(new, old, strict=True))
    return 0 < min(_ENOUGH, len(keys)) <= helped


def respected(knowledge: ResolvedKnowledge | None) -> Callable[[list[int]], bool]:
    """Return whether an order agrees with what is known, as a function of the order."""
    return (lambda order: True) if knowledge is None else knowledge.respects_order


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
