"""Prior knowledge about the columns of one table: which columns may come next, which edges to test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from heterodag.core.graph import descendants, full_dag, respects_order
from heterodag.errors import ParameterError

Mask: TypeAlias = npt.NDArray[np.bool_]
Order: TypeAlias = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class ResolvedKnowledge:
    """Prior knowledge about the columns of one table; all matrices are (d, d) bool, causes in rows.

    Attributes
    ----------
    labels : column names.
    required : edges that are in the graph.
    forbidden : edges that are not: those the user forbids, those into roots and out of leaves, those from a later to
        an earlier tier, and those against a path of required edges.
    settled : [i, j] is True where required edges and tiers put i before j (transitively).
    must_precede : `settled`, plus what follows from roots and leaves: what every order has to obey.
    """

    labels: list[str]
    required: Mask
    forbidden: Mask
    settled: Mask
    must_precede: Mask

    def may_come_next(self, placed: Mask) -> Mask:
        """Return which columns may be placed next, causes first, once those marked in `placed` (d,) are placed.

        At least one column can always be placed. Those returned may also be placed together, in any order.
        """
        waiting = (self.must_precede & ~placed[:, None]).any(axis=0)
        return ~placed & ~waiting

    def may_come_last(self, remaining: Mask) -> Mask:
        """Return which of the columns marked in `remaining` (d,) may be the last of them.

        For methods that find effects first and build the order from its end.
        """
        needed = (self.must_precede & remaining[None, :]).any(axis=1)
        return remaining & ~needed

    def sorted_by(self, scores: npt.NDArray[np.float64]) -> Order:
        """Return the order that always places the column with the largest score among those that may come next.

        If nothing is known, this is a sort by decreasing score. For methods that score every column once.
        """
        placed = np.zeros(len(self.labels), dtype=bool)
        order = []
        while not placed.all():
            allowed = np.flatnonzero(self.may_come_next(placed))
            best = int(allowed[np.argmax(scores[allowed])])
            placed[best] = True
            order.append(best)
        return np.array(order, dtype=np.intp)

    def respects_order(self, order: Any) -> bool:
        """Return whether an order (column indices, causes first) agrees with `must_precede`."""
        return respects_order(self.must_precede, order)

    def candidates(self, order: Any) -> Mask:
        """Return the pairs (earlier, later in the order) to test: those neither forbidden nor required."""
        return np.asarray(full_dag(order).astype(bool) & ~self.forbidden & ~self.required)

    def check_order(self, order: Any) -> None:
        """Raise `ParameterError` if a given order puts an effect before a required cause, or breaks the tiers."""
        broken = np.argwhere(self.settled & (full_dag(order) == 0))
        if broken.size:
            first, second = (self.labels[k] for k in broken[0])
            rule = f"put '{first}' before '{second}', as the prior knowledge demands"
            raise ParameterError("order", rule, [self.labels[k] for k in order])

    def violations(self, adjacency: Any) -> list[tuple[str, str]]:
        """Return the edges (cause, effect) that break the knowledge: required but absent, or forbidden but present.

        A path of the graph that leads back through the tiers or against required edges counts as one edge between
        its ends.
        """
        present = np.asarray(adjacency) != 0
        backwards = descendants(present) & self.settled.T
        wrong = (self.required & ~present) | (self.forbidden & present) | backwards
        return [(self.labels[i], self.labels[j]) for i, j in np.argwhere(wrong)]


def next_columns(placed: Sequence[int], d: int, knowledge: ResolvedKnowledge | None) -> list[int]:
    """Return, by increasing index, the columns that may be placed after `placed`; without knowledge all others."""
    mask = _mask(placed, d)
    allowed = ~mask if knowledge is None else knowledge.may_come_next(mask)
    return [int(j) for j in np.flatnonzero(allowed)]


def last_columns(remaining: Sequence[int], d: int, knowledge: ResolvedKnowledge | None) -> list[int]:
    """Return, by increasing index, the columns of `remaining` that may be the last of them; without knowledge all."""
    mask = _mask(remaining, d)
    allowed = mask if knowledge is None else knowledge.may_come_last(mask)
    return [int(j) for j in np.flatnonzero(allowed)]


def _mask(columns: Sequence[int], d: int) -> Mask:
    mask = np.zeros(d, dtype=bool)
    mask[list(columns)] = True
    return mask
