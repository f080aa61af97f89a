"""Algorithm 2: order the variables by how normal their latents are given those already placed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.gaussian import Array, Mask
from ..core.normality import Statistic
from ..core.table import Table
from ..knowledge import ResolvedKnowledge
from ..models.conditional import ConditionalModel, Conditionals, extend
from .result import OrderResult


def normality_order(
    table: Table,
    model: ConditionalModel,
    statistic: Statistic,
    tolerance: float,
    progress: Callable[[float], None] | None = None,
    knowledge: ResolvedKnowledge | None = None,
) -> tuple[OrderResult, list[int]]:
    """Run Algorithm 2; also return the columns whose conditional model did not converge in some round.

    Every round fits all remaining variables given all placed ones, starting from the previous round's solutions.
    With prior knowledge, only variables that may come next have a score and can be placed.
    """
    d = table.shape[1]
    remaining, placed = list(range(d)), list[int]()
    layers: list[list[int]] = []
    rounds: list[Array] = []
    doubtful: set[int] = set()
    fits: Conditionals | None = None
    while remaining:
        fits = _round_fits(table, model, placed, remaining, fits, layers)
        doubtful.update(np.asarray(remaining)[~fits.converged].tolist())
        scores = np.full(d, np.nan)
        scores[remaining] = _scores(fits, table, statistic)
        allowed = _allowed(placed, d, knowledge)
        scores[~allowed] = np.nan
        rounds.append(scores)
        choice = np.flatnonzero(allowed)
        layer = [int(choice[i]) for i in next_layer(scores[choice], tolerance)]
        layers.append(layer)
        placed += layer
        remaining = [i for i in remaining if i not in layer]
        if progress is not None:
            progress(len(placed) / d)
    return OrderResult(np.array(placed, dtype=np.intp), layers, np.array(rounds)), sorted(doubtful)


def next_layer(scores: Array, tolerance: float) -> list[int]:
    """Return the positions within `tolerance` of the largest score, by decreasing score (lines 7 to 9).

    A tolerance of 0 switches layers off: one variable a round, the first of exactly equal ones.
    """
    ranked = np.argsort(-scores, kind="stable")
    if tolerance == 0.0:
        return [int(ranked[0])]
    return [int(i) for i in ranked if scores[ranked[0]] - scores[i] <= tolerance]


def _allowed(placed: list[int], d: int, knowledge: ResolvedKnowledge | None) -> Mask:
    mask = np.zeros(d, dtype=bool)
    mask[placed] = True
    return ~mask if knowledge is None else knowledge.may_come_next(mask)


def _round_fits(
    table: Table,
    model: ConditionalModel,
    placed: list[int],
    remaining: list[int],
    previous: Conditionals | None,
    layers: list[list[int]],
) -> Conditionals:
    if previous is None:
        return model.fit(table, placed, remaining)
    kept = [previous.targets.index(i) for i in remaining]
    warm = extend(previous.theta[:, kept], model.form, len(layers[-1]))
    return model.fit(table, placed, remaining, warm=warm)


def _scores(fits: Conditionals, table: Table, statistic: Statistic) -> Array:
    scores = np.empty(len(fits.targets))
    for part, U in fits.latents(table):
        scores[part] = statistic(U)
    return scores
