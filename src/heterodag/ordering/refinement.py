"""Refinement: improve an order by the penalised likelihood of its variables' models.

The score of an order is the sum, over variables, of the loss of a variable's model given the parents chosen among its
predecessors, plus a penalty per parent (extended BIC). Another order can only score better if some variable gains a
parent that now comes after it, so the moves tried are those that bring a promising parent `k` (score test) before its
variable `i`: either `k` moves in front of `i`, or `i` moves behind `k`. Variables in between that do not depend on
`i` (or that `k` does not depend on) keep their place relative to the others, so that no more edges are lost than
necessary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from operator import or_
from typing import Any

import numpy as np

from heterodag.runtime.work import OutOfTime
from heterodag.scores.fit import Parents
from heterodag.scores.parent_choice import EQUAL, Choice, ParentChoices, as_bits

#: Moves that seem to lose more than this many penalties are not evaluated: they seldom gain enough elsewhere. If the
#: noise is not normal, the estimate says too little, and all moves are evaluated (see `estimates`).
HOPELESS = 20.0
#: Share of the remaining work that is still left after a pass: later passes look at few variables.
_PASS_LEFT = 0.15
#: Number of moves that are evaluated against the same state.
CHUNK = 1000


@dataclass(frozen=True)
class State:
    """An order, the parents chosen in it, and the scores of the variables."""

    order: list[int]
    parents: dict[int, Parents]
    scores: dict[int, float]
    _drawn: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def total(self) -> float:
        """Score of the whole order; lower is better."""
        return sum(self.scores.values())

    @cached_property
    def position(self) -> dict[int, int]:
        """The position of every variable in the order."""
        return {j: at for at, j in enumerate(self.order)}

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The children of every variable; no entry for a variable without children."""
        found: dict[int, list[int]] = {}
        for j, some in self.parents.items():
            for i in some:
                found.setdefault(i, []).append(j)
        return found

    @cached_property
    def _prefixes(self) -> list[int]:
        return list(accumulate((1 << j for j in self.order), or_, initial=0))

    def before(self, position: int) -> int:
        """Return the variables that come before a position in the order, as bits."""
        return self._prefixes[position]

    def drawn(self, choices: ParentChoices) -> dict[int, list[int]]:
        """Return, for every variable, those whose models it promises to improve; no entry if there are none."""
        if self._drawn.get("of") is not choices:
            found: dict[int, list[int]] = {}
            for j, some in self.parents.items():
                for i in choices.promising((j, some)):
                    found.setdefault(i, []).append(j)
            self._drawn.update(of=choices, found=found)
        kept: dict[int, list[int]] = self._drawn["found"]
        return kept


@dataclass(frozen=True)
class Move:
    """Bring the promising `parent` before `child`: move the parent forwards, or the child backwards."""

    child: int
    parent: int
    forwards: bool


def start_state(choices: ParentChoices, order: list[int], parents: Mapping[int, Parents]) -> State:
    """Choose every variable's parents among its predecessors, starting from the given parents."""
    asked, before = [], 0
    for j in order:
        asked.append(Choice(j, before, parents.get(j, ())))
        before |= 1 << j
    found = choices.choose(asked, choices.scores.work.report)
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

    After the first pass only variables near a change are tried; `near` limits the first pass in the same way. If time
    runs out, the best order so far is returned.
    """
    work, remaining = choices.scores.work, 1.0
    near = set(state.order) if near is None else near
    while near and not work.over:
        with work.part(1.0 - remaining, 1.0 - _PASS_LEFT * remaining):
            new = _pass(choices, state, near, allowed)
        changed = {j for j in state.order if new.parents[j] != state.parents[j]}
        near = changed | {j for j in state.order if not changed.isdisjoint(new.parents[j])}
        near |= {i for j in changed for i in (*new.parents[j], *state.parents[j])}
        state, remaining = new, _PASS_LEFT * remaining
    work.report(1.0)
    return state


def _pass(
    choices: ParentChoices,
    state: State,
    near: set[int],
    allowed: Callable[[list[int]], bool],
) -> State:
    """Evaluate the moves that are not hopeless, and apply those that still help, the best of a chunk first."""
    work = choices.scores.work
    floor = -HOPELESS * choices.penalty if choices.scores.fitter.estimates else -np.inf
    try:
        moves = all_moves(choices, state, near)
        for start in range(0, len(moves), CHUNK):
            some = [
                m
                for m in moves[start : start + CHUNK]
                if floor == -np.inf or estimated_gain(choices, state, m) > floor
            ]
            with work.part(start / len(moves), min(1.0, (start + CHUNK) / len(moves))):
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
    """Estimate the gain of a move without any fit: score tests of new parents minus contributions of lost parents."""
    total = 0.0
    for choice in _choices_after(choices, state, move):
        key = choice.target, state.parents[choice.target]
        promised = choices.scores.promised(key)
        won = np.array([promised[i] for i in choices.promising(key) if choice.allowed >> i & 1])
        lost = [not choice.allowed >> i & 1 for i in key[1]]
        total += float(np.maximum(won - choices.penalty, 0.0).sum())
        total -= float((choices.scores.fits([key])[0].contributions[lost] - choices.penalty).sum())
    return total


def all_moves(choices: ParentChoices, state: State, near: set[int]) -> list[Move]:
    """Return the moves that would give a variable a promising parent that now comes after it."""
    choices.scores.prepare_gains((j, state.parents[j]) for j in state.order)
    position = state.position
    return [
        Move(i, k, forwards)
        for i in state.order
        for k in choices.promising((i, state.parents[i]))
        if position[k] > position[i] and (i in near or k in near)
        for forwards in (True, False)
    ]


@dataclass(frozen=True)
class _Segment:
    """The part of an order that a move changes: `linked` and `others`, with parent and child between the two.

    `linked` are the descendants of the child (which stay behind it when the parent moves forwards) or the ancestors
    of the parent (which stay before it when the child moves backwards), as far as they are between the two in the
    order.
    """

    first: int
    last: int
    linked: list[int]

    @classmethod
    def of(cls, state: State, move: Move) -> _Segment | None:
        """Return what a move changes; None if the parent already comes before the child."""
        first, last = state.position[move.child], state.position[move.parent]
        if last < first:
            return None
        reached = _reached(move.child, state.children) if move.forwards else _reached(move.parent, state.parents)
        position = state.position
        return cls(first, last, sorted((v for v in reached if first < position[v] < last), key=position.__getitem__))

    def order(self, state: State, move: Move) -> list[int]:
        """Return the order after the move."""
        linked = set(self.linked)
        others = [v for v in state.order[self.first + 1 : self.last] if v not in linked]
        before, after = (others, self.linked) if move.forwards else (self.linked, others)
        return [
            *state.order[: self.first], *before, move.parent, move.child, *after, *state.order[self.last + 1 :]
        ]  # fmt: skip


def _reached(start: int, links: Mapping[int, Sequence[int]]) -> set[int]:
    found, open_ = {start}, [start]
    while open_:
        new = [i for i in links.get(open_.pop(), ()) if i not in found]
        found.update(new)
        open_ += new
    return found


def _choices_after(choices: ParentChoices, state: State, move: Move) -> list[Choice]:
    """Return the choices to make after a move, for variables that lose parents or may gain promising ones.

    Variables that move along with the child or the parent may lose parents that stay behind; those that they pass may
    gain some. All others keep their predecessors, or lose only predecessors that are not their parents.
    """
    segment = _Segment.of(state, move)
    if segment is None:
        return []
    find = _forwards if move.forwards else _backwards
    return [Choice(j, allowed, state.parents[j]) for j, allowed in find(choices, state, move, segment)]


def _forwards(choices: ParentChoices, state: State, move: Move, segment: _Segment) -> Iterator[tuple[int, int]]:
    """Yield the variables to choose for, with the predecessors they may use, when the parent moves before the child.

    The others come first, then parent and child, then the child's descendants.
    """
    position, linked = state.position, set(segment.linked)
    late = as_bits(segment.linked)
    ahead = state.before(segment.last) & ~late & ~(1 << move.child)
    if move.child in state.parents[move.parent] or not linked.isdisjoint(state.parents[move.parent]):
        yield move.parent, ahead
    for j in (move.child, *segment.linked):
        if any(
            position[j] < position[i] <= segment.last and i not in linked
            for i in choices.promising((j, state.parents[j]))
        ):
            own = 0 if j == move.child else 1 << move.child | late & state.before(position[j])
            yield j, ahead | 1 << move.parent | own


def _backwards(choices: ParentChoices, state: State, move: Move, segment: _Segment) -> Iterator[tuple[int, int]]:
    """Do the same when the child moves behind the parent.

    The parent's ancestors come first, then parent and child, then the others.
    """
    position, early = state.position, as_bits(segment.linked)
    start = state.before(segment.first)
    for j in (*segment.linked, move.parent):
        if move.child in state.parents[j]:
            yield j, start | early & state.before(position[j])
    ahead = start | early | 1 << move.parent
    drawn, hopes = state.drawn(choices), (*segment.linked, move.parent)
    found = {j for i in hopes for j in drawn.get(i, ()) if segment.first <= position[j] < position[i]}
    for j in sorted(found.difference(segment.linked), key=position.__getitem__):
        yield j, ahead if j == move.child else ahead | state.before(position[j])


def order_after(state: State, move: Move) -> list[int]:
    """Return the order after a move."""
    segment = _Segment.of(state, move)
    return state.order if segment is None else segment.order(state, move)


def evaluate(choices: ParentChoices, state: State, moves: list[Move]) -> list[float]:
    """Return by how much each move lowers the score."""
    asked = [_choices_after(choices, state, move) for move in moves]
    choices.choose((choice for some in asked for choice in some), choices.scores.work.report)
    return [
        sum(state.scores[t.target] - s for t, (s, _) in zip(some, choices.choose(some), strict=True))
        for some in asked
    ]


def apply(choices: ParentChoices, state: State, move: Move) -> State | None:
    """Return the state after a move."""
    asked = _choices_after(choices, state, move)
    if not asked:
        return None
    parents, scores = dict(state.parents), dict(state.scores)
    for choice, (score, chosen) in zip(asked, choices.choose(asked), strict=True):
        parents[choice.target], scores[choice.target] = chosen, score
    return State(order_after(state, move), parents, scores)
