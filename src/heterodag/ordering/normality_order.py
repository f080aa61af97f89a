"""Algorithm 2: order the variables by how normal their latents are given those already placed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.gaussian import Array
from ..core.normality import Statistic
from ..core.table import Table
from ..models.conditional import ConditionalModel, Fitted
from .result import OrderResult


def normality_order(
    table: Table,
    model: ConditionalModel,
    statistic: Statistic,
    tolerance: float,
    progress: Callable[[float], None] | None = None,
) -> tuple[OrderResult, list[int]]:
    """Run Algorithm 2; also return the columns whose conditional model did not converge in some round.

    Every round fits all remaining variables given all placed ones, starting from the previous round's solutions.
    """
    d = table.shape[1]
    remaining, placed = list(range(d)), list[int]()
    layers: list[list[int]] = []
    rounds: list[Array] = []
    doubtful: set[int] = set()
    fits: Fitted | None = None
    while remaining:
        fits = model.fit(table, [], remaining) if fits is None else model.proceed(table, fits, placed, remaining)
        doubtful.update(np.asarray(remaining)[~fits.converged].tolist())
        scores = _scores(fits, table, statistic)
        rounds.append(np.full(d, np.nan))
        rounds[-1][remaining] = scores
        layer = [remaining[i] for i in next_layer(scores, tolerance)]
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


def _scores(fits: Fitted, table: Table, statistic: Statistic) -> Array:
    scores = np.empty(len(fits.targets))
    for part, U in fits.latents(table):
        scores[part] = statistic(U)
    return scores
