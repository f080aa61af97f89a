"""Algorithm 2: order the variables by how normal their latents are given those already placed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from heterodag.core.gaussian import Array, Index
from heterodag.core.normality import Statistic
from heterodag.core.table import Table
from heterodag.knowledge import ResolvedKnowledge, next_columns
from heterodag.models.conditional import ConditionalModel, Fitted
from heterodag.ordering.result import OrderResult

#: One round: the variables placed so far, the newest layer, and those remaining -> the scores of the remaining.
RoundScores = Callable[[list[int], list[int], list[int]], Array]


def order_by_normality(
    d: int,
    round_scores: RoundScores,
    tolerance: float,
    progress: Callable[[float], None] | None = None,
    knowledge: ResolvedKnowledge | None = None,
) -> OrderResult:
    """Run Algorithm 2, whatever the models are that the scores come from.

    With prior knowledge, only variables that may come next have a score and can be placed.
    """
    remaining, placed, layer = list(range(d)), list[int](), list[int]()
    layers: list[list[int]] = []
    rounds: list[Array] = []
    while remaining:
        scores, choice = np.full(d, np.nan), next_columns(placed, d, knowledge)
        scores[remaining] = round_scores(placed, layer, remaining)
        scores[np.setdiff1d(remaining, choice)] = np.nan
        rounds.append(scores)
        layer = [choice[i] for i in next_layer(scores[choice], tolerance)]
        layers.append(layer)
        placed = placed + layer
        remaining = [i for i in remaining if i not in layer]
        if progress is not None:
            progress(len(placed) / d)
    return OrderResult(np.array(placed, dtype=np.intp), layers, np.array(rounds))


def next_layer(scores: Array, tolerance: float) -> list[int]:
    """Return the positions within `tolerance` of the largest score, by decreasing score (lines 7 to 9).

    A tolerance of 0 switches layers off: one variable a round, the first of exactly equal ones.
    """
    ranked = np.argsort(-scores, kind="stable")
    if tolerance == 0.0:
        return [int(ranked[0])]
    return [int(i) for i in ranked if scores[ranked[0]] - scores[i] <= tolerance]


class FullRounds:
    """The paper's rounds: every remaining variable given all placed ones, starting from the previous solutions.

    `doubtful` collects the columns whose model did not converge in some round.
    """

    def __init__(self, table: Table, model: ConditionalModel, statistic: Statistic) -> None:
        self.table, self.model, self.statistic = table, model, statistic
        self.doubtful: set[int] = set()
        self._fits: Fitted | None = None
        self._placed: list[Fitted] = []

    def __call__(self, placed: list[int], newest: list[int], remaining: list[int]) -> Array:
        """Return the scores of the remaining variables."""
        if self._fits is None:
            fits: Fitted = self.model.fit(self.table, placed, remaining)
        else:
            self._placed += self._parts(newest)
            fits = self.model.proceed(self.table, self._fits, placed, remaining)
        self._fits = fits
        self.doubtful.update(np.asarray(remaining)[~fits.converged].tolist())
        scores = np.empty(len(remaining))
        for part, U in fits.latents(self.table):
            scores[part] = self.statistic(U)
        return scores

    def models(self, order: OrderResult) -> list[Fitted]:
        """Return the model of every variable given those before it, in the order that these rounds led to."""
        return [*self._placed, *self._parts(order.layers[-1])]

    def _parts(self, newest: list[int]) -> list[Fitted]:
        fits = self._fits
        assert fits is not None
        at = [fits.targets.index(j) for j in newest]
        return [fits.part(slice(i, i + 1)) for i in at]


def models_along(
    order: Sequence[int] | Index, model: ConditionalModel, table: Table, known: Sequence[Fitted] = ()
) -> list[Fitted]:
    """Return the model of every variable given all before it in an order; those `known` are not fitted again."""
    at_hand = {(fit.targets[0], frozenset(fit.predecessors)): fit for fit in known}
    out = []
    for k, j in enumerate(order := [int(i) for i in order]):
        fit = at_hand.get((j, frozenset(order[:k])))
        out.append(model.fit(table, order[:k], [j]) if fit is None else fit)
    return out
