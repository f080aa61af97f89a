"""Algorithm 2: order the variables by how normal their latents are given those already placed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.core.normality import Statistic
from heterodag.knowledge import ResolvedKnowledge, next_columns
from heterodag.ordering.result import OrderResult
from heterodag.runtime.work import OutOfTime
from heterodag.scores.fit import Effort
from heterodag.scores.local import LocalScores

#: One round: the variables placed so far, the newest layer, and those remaining -> the scores of the remaining.
RoundScores = Callable[[list[int], list[int], list[int]], Array]


def order_by_normality(
    d: int,
    round_scores: RoundScores,
    tolerance: float,
    progress: Callable[[float], None] | None = None,
    knowledge: ResolvedKnowledge | None = None,
) -> OrderResult:
    """Run Algorithm 2 with the given scores, whatever models they come from.

    With prior knowledge, only variables that may come next have a score and can be placed.
    """
    remaining, placed, layer = list(range(d)), list[int](), list[int]()
    layers: list[list[int]] = []
    rounds: list[Array] = []
    while remaining:
        scores, choice = np.full(d, np.nan), next_columns(placed, d, knowledge)
        try:
            scores[remaining] = round_scores(placed, layer, remaining)
        except OutOfTime:  # the last scores order the rest; variables without a score come last
            last = rounds[-1] if rounds else np.zeros(d)
            scores[remaining] = np.nan_to_num(last, nan=float(np.nanmin(last)))[remaining]
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

    A tolerance of 0 switches layers off: one variable per round, the first of exactly equal ones.
    """
    ranked = np.argsort(-scores, kind="stable")
    if tolerance == 0.0:
        return [int(ranked[0])]
    return [int(i) for i in ranked if scores[ranked[0]] - scores[i] <= tolerance]


class FullRounds:
    """The paper's rounds: fit every remaining variable given all placed ones, starting from the previous solutions.

    `doubtful` collects the columns whose model did not converge in some round.
    """

    def __init__(self, scores: LocalScores, statistic: Statistic) -> None:
        self.scores, self.statistic = scores, statistic
        self.doubtful: set[int] = set()

    def __call__(self, placed: list[int], newest: list[int], remaining: list[int]) -> Array:
        """Return the scores of the remaining variables."""
        parents, before = tuple(sorted(placed)), tuple(sorted(set(placed) - set(newest)))
        keys = [(j, parents) for j in remaining]
        fits = self.scores.fits(keys, Effort.ROUND, after=before)
        self.doubtful.update(fit.target for fit in fits if not fit.converged)
        found = np.ones(len(remaining))  # the score of variables that were set in all rows, which come first
        for part, U in self.scores.residuals(keys, Effort.ROUND):
            found[part] = self.statistic(U)
        return found


def loss_along(scores: LocalScores, order: Sequence[int]) -> float:
    """Return the loss of all variables, each given all that come before it in an order."""
    return sum(scores.losses(((j, tuple(sorted(order[:k]))) for k, j in enumerate(order)), Effort.ROUND))
