"""Refinement: improve an order by the penalised likelihood of its variables' models.

The score of an order is the sum, over variables, of the loss of its model given the parents chosen among its predecessors,
plus a penalty per parent (extended BIC). A later order can only score better if some variable gains a parent that now comes
after it, so the moves tried are those that bring a promising parent `k` (score test) before its variable `i`:
either `k` moves in front of `i`, or `i` moves behind `k`. Variables in between that do not depend on `i` (or that `k` does
not depend on) keep their place relative to the others, so that no more edges are given up than the move demands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from heterodag.runtime.work import OutOfTime
from heterodag.scores.fit import Parents
from heterodag.scores.parent_choice import EQUAL, Choice, ParentChoices, as_bits

#: Moves that seem to lose more than this many penalties are not evaluated: they seldom gain enough elsewhere. With noise
#: that is not normal the estimate says too little, and all moves are evaluated (see `estimates`).
HOPELESS = 20.0
#: Share of the work that the passes are, after the choice of the first parents.
_PASSES = 0.8
#: Number of moves that are evaluated against the same state.
CHUNK = 1000


@dataclass(frozen=True)
class State:
    """An order, the parents chosen in it, and the scores of the variables."""

    order: list[int]
    parents: dict[int, Parents]
    scores: dict[int, float]

    @cached_property
    def total(self) -> float:
        """Score of the whole order; lower is better."""
        return sum(self.scores.values())

    @cached_property
    def position(self) -> dict[int, int]:
        """Where every variable stands in the order."""
        return {j: at for at, j in enumerate(self.order)}

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The variables that have a variable among their parents; no entry if there are none."""
        found: dict[int, list[int]] = {}
        for j, some in self.parents.items():
            for i in some:
                found.setdefault(i, []).append(j)
        return found


@dataclass(frozen=True)
class Move:
    """Bring `parent` before `child`, who promising it: move the parent forwards, or the child backwards."""

    child: int
    parent: int
    forwards: bool


def start_state(choices: ParentChoices, order: list[int], parents: Mapping[int, Parents]) -> State:
    """Choose every variable's parents among its predecessors, starting from what is known."""
    asked, before = [], 0
    for j in order:
        asked.append(Choice(j, before, parents.get(j, ())))
        before |= 1 << j
    found = choices.choose(asked)
    return State(
        list(order),
        {t.target: p for t, (_, p) in zip(asked, found, strict=True)},
        {t.target: s for t, (s, _) in zip(asked, found, strict=True)},
    )


def refine_order(
    choices: ParentChoices,
    state: State,
    allowed: Callable[[list[int]], bool] = lambda order: True,
    near: set[int] | None = None,
) -> State:
    """Move variables while the score falls; never returns an order that scores worse than the one given.

    After the first pass only variables near a change are tried; `near`, if given, are those of the first pass. If time
    runs out, the best order so far is the result.
    """
    work, remaining = choices.scores.work, _PASSES
    near = set(state.order) if near is None else near
    work.report(1.0 - remaining)
    while near and not work.over:
        new = _pass(choices, state, near, allowed)
        changed = {j for j in state.order if new.parents[j] != state.parents[j]}
        near = changed | {j for j in state.order if not changed.isdisjoint(new.parents[j])}
        near |= {i for j in changed for i in (*new.parents[j], *state.parents[j])}
        state, remaining = new, 0.6 * remaining
        work.report(1.0 - remaining)
    return state


def _pass(
    choices: ParentChoices,
    state: State,
    near: set[int],
    allowed: Callable[[list[int]], bool],
) -> State:
    """Evaluate the moves that are not hopeless, and make those that still help, the best of a chunk first."""
    floor = -HOPELESS * choices.penalty if choices.scores.fitter.estimates else -np.inf
    try:
        moves = all_moves(choices, state, near)
        for start in range(0, len(moves), CHUNK):
            some = [
                m
                for m in moves[start : start + CHUNK]
                if floor == -np.inf or estimated_gain(choices, state, m) > floor
            ]
            gains = evaluate(choices, state, some)
            for gain, move in sorted(zip(gains, some, strict=True), key=lambda pair: -pair[0]):
                if gain <= EQUAL:
                    break
                new = apply(choices, state, move)
                if new is not None and new.total < state.total - EQUAL and allowed(new.order):
                    state = new
    except OutOfTime:
        pass
    return state


def estimated_gain(choices: ParentChoices, state: State, move: Move) -> float:
    """Return what a move promises, without any fit: score tests of parents won less the contributions of those lost."""
    total = 0.0
    for choice in _choices_after(choices, state, move)[1]:
        key = choice.target, state.parents[choice.target]
        won = choices.scores.gains(key)[[i for i in choices.promising(key) if choice.allowed >> i & 1]]
        lost = [not choice.allowed >> i & 1 for i in key[1]]
        total += float(np.maximum(won - choices.penalty, 0.0).sum())
        total -= float((choices.scores.fits([key])[0].contributions[lost] - choices.penalty).sum())
    return total


def all_moves(choices: ParentChoices, state: State, near: set[int]) -> list[Move]:
    """Return the moves that would let a variable have a promising parent that comes after it."""
    choices.scores.prepare_gains((j, state.parents[j]) for j in state.order)
    position = state.position
    return [
        Move(i, k, forwards)
        for i in state.order
        for k in choices.promising((i, state.parents[i]))
        if position[k] > position[i] and (i in near or k in near)
        for forwards in (True, False)
    ]


def _rearranged(state: State, move: Move) -> tuple[int, list[int], list[int]] | None:
    """Return where the order changes and what stands before and after `parent, child` there; None if nothing is to do."""
    first, last = state.position[move.child], state.position[move.parent]
    if last < first:
        return None
    between = state.order[first + 1 : last]
    linked = _descendants_of(move.child, state) if move.forwards else _ancestors_of(move.parent, state)
    inside, outside = ([v for v in between if (v in linked) == wanted] for wanted in (True, False))
    before, after = (outside, inside) if move.forwards else (inside, outside)
    return first, before, after


def _descendants_of(i: int, state: State) -> set[int]:
    return _reached(i, state.children)


def _ancestors_of(k: int, state: State) -> set[int]:
    return _reached(k, state.parents)


def _reached(start: int, links: Mapping[int, Sequence[int]]) -> set[int]:
    found, open_ = {start}, [start]
    while open_:
        new = [i for i in links.get(open_.pop(), ()) if i not in found]
        found.update(new)
        open_ += new
    return found


def _choices_after(choices: ParentChoices, state: State, move: Move) -> tuple[list[int], list[Choice]]:
    """Return the order after a move and the choices it makes necessary: parents lost, or promising ones now available.

    Only variables that come before `child, after` in the new order can be lost to others, and only `child` and those in
    `after` get new predecessors.
    """
    changed = _rearranged(state, move)
    if changed is None:
        return state.order, []
    at, before, after = changed
    order = [*state.order[:at], *before, move.parent, move.child, *after, *state.order[at + len(before + after) + 2 :]]
    gone, position = {move.child, *after}, state.position
    asked = [j for j in (*before, move.parent) if not gone.isdisjoint(state.parents[j])]
    new = {move.parent, *before}
    for j in (move.child, *after):
        some = choices.promising((j, state.parents[j]))
        if not new.isdisjoint(some) and any(i in new and position[i] > position[j] for i in some):
            asked.append(j)
    return order, [Choice(j, allowed, state.parents[j]) for j, allowed in _before(order, at, asked)]


def _before(order: list[int], at: int, asked: list[int]) -> Iterator[tuple[int, int]]:
    """Yield every variable asked for, which come in this order, with its predecessors as bits."""
    bits, start = 0, 0
    for j in asked:
        end = order.index(j, max(at, start))
        bits |= as_bits(order[start:end])
        start = end
        yield j, bits


def order_after(choices: ParentChoices, state: State, move: Move) -> list[int]:
    """Return the order after a move."""
    return _choices_after(choices, state, move)[0]


def evaluate(choices: ParentChoices, state: State, moves: list[Move]) -> list[float]:
    """Return by how much each move lowers the score."""
    asked = [_choices_after(choices, state, move)[1] for move in moves]
    choices.choose(choice for some in asked for choice in some)
    return [
        sum(state.scores[t.target] - s for t, (s, _) in zip(some, choices.choose(some), strict=True))
        for some in asked
    ]


def apply(choices: ParentChoices, state: State, move: Move) -> State | None:
    """Return the state after a move."""
    order, asked = _choices_after(choices, state, move)
    if not asked:
        return None
    parents, scores = dict(state.parents), dict(state.scores)
    for choice, (score, chosen) in zip(asked, choices.choose(asked), strict=True):
        parents[choice.target], scores[choice.target] = chosen, score
    return State(order, parents, scores)
