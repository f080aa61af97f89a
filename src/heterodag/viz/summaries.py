"""Compute the numbers behind figures and report: rounds of the ordering, strength of edges, normal quantiles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Round:
    """One round of the ordering.

    Attributes
    ----------
    placed : tuple of int
        The columns placed, best score first.
    score : float
        The best score.
    runner_up : int or None
        The best column that was not placed; None in the last round.
    margin : float
        How far the runner-up is behind the best score; NaN if there is none.
    """

    placed: tuple[int, ...]
    score: float
    runner_up: int | None
    margin: float


def rounds(scores: Any) -> list[Round]:
    """Return what happened in every round, from the scores alone.

    Parameters
    ----------
    scores : array-like of shape (rounds, d)
        Normality statistic of every remaining column; NaN once a column has been placed.

    Returns
    -------
    list of Round
        A column was placed in the last round in which it has a score.
    """
    table = np.asarray(scores, dtype=np.float64)
    remaining = ~np.isnan(table)
    stays = np.vstack([remaining[1:], np.zeros((1, table.shape[1]), dtype=bool)])
    return [
        _round(row, here & ~later, here & later) for row, here, later in zip(table, remaining, stays, strict=True)
    ]


def _round(row: FloatArray, placed: NDArray[np.bool_], waiting: NDArray[np.bool_]) -> Round:
    members = sorted(np.flatnonzero(placed).tolist(), key=lambda column: -row[column])
    best = float(row[members[0]]) if members else float("nan")
    rest = np.flatnonzero(waiting)
    if not rest.size:
        return Round(tuple(members), best, None, float("nan"))
    second = int(rest[np.argmax(row[rest])])
    return Round(tuple(members), best, second, best - float(row[second]))


def closeness(scores: Any, tolerance: float) -> FloatArray:
    """Return how close every score is to the best of its round: 1 for the best, 0 for the worst of the table.

    Parameters
    ----------
    scores : array-like of shape (rounds, d)
        As in `rounds`.
    tolerance : float
        The gap that counts as small; gaps are compared on a logarithmic scale in this unit.
    """
    table = np.asarray(scores, dtype=np.float64)
    unit = tolerance if tolerance > 0 else 1e-4
    best = np.where(np.isnan(table), -np.inf, table).max(axis=1, keepdims=True)
    gaps = np.log1p((best - table) / unit)
    widest = np.nanmax(gaps, initial=0.0)
    return np.asarray(1.0 - gaps / widest if widest > 0 else 1.0 - gaps)


def edge_strength(pvalue: float) -> float:
    """Return how strongly an edge is drawn: from 0 at p = 0.01 to 1 at p = 1e-16; 0.6 without a test."""
    if math.isnan(pvalue):
        return 0.6
    return float(np.clip((-math.log10(max(pvalue, 1e-300)) - 2) / 14, 0.0, 1.0))


def normal_quantiles(values: Any, points: int = 150) -> tuple[FloatArray, FloatArray]:
    """Return normal and observed quantiles for a Q-Q plot, thinned to at most `points` with both ends kept.

    Parameters
    ----------
    values : array-like of shape (n,)
        Observations; those that are not finite are left out.
    points : int, default=150
        The largest number of quantiles returned.
    """
    from scipy.special import ndtri

    finite = np.asarray(values, dtype=np.float64)
    observed = np.sort(finite[np.isfinite(finite)])
    if not observed.size:
        return np.zeros(0), np.zeros(0)
    # Evenly spaced on the normal scale, so that thinning keeps the tails, where departures show.
    ranks = (np.arange(observed.size) + 0.5) / observed.size
    theory = np.asarray(ndtri(ranks), dtype=np.float64)
    if observed.size > points:
        chosen = np.searchsorted(theory, np.linspace(theory[0], theory[-1], points))
        chosen = np.unique(np.clip(chosen, 0, observed.size - 1))
        theory, observed = theory[chosen], observed[chosen]
    return theory, observed


def straightness(theory: FloatArray, observed: FloatArray) -> float:
    """Return the squared correlation of a Q-Q plot (Shapiro-Francia): 1 for perfectly normal values."""
    if observed.size < 3 or np.ptp(observed) == 0:
        return float("nan")
    return float(np.corrcoef(theory, observed)[0, 1] ** 2)
