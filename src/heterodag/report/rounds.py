"""Put the rounds of Algorithm 2 into tables, for orders that normality alone decided."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from heterodag.io.exports import GraphResult
from heterodag.viz.summaries import Round, closeness

MAX_SCORE_COLUMNS = 30
# A margin within this many tolerances is called close.
_CLOSE = 10.0


def close_margin(tolerance: float) -> float:
    """Return the margin between two scores up to which a round is a close call."""
    return _CLOSE * (tolerance if tolerance > 0 else 1e-4)


def round_tables(result: GraphResult, history: list[Round], tolerance: float) -> dict[str, Any]:
    """Return the rounds of Algorithm 2 as rows of two tables: which variables were placed, and all scores."""
    names, placed = result.names, [column for outcome in history for column in outcome.placed]
    table = [
        {
            "placed": ", ".join(names[column] for column in outcome.placed),
            "score": f"{outcome.score:.4f}",
            "runner_up": "" if outcome.runner_up is None else names[outcome.runner_up],
            "margin": "" if math.isnan(outcome.margin) else f"{outcome.margin:.2g}",
            "close": outcome.margin <= close_margin(tolerance),
        }
        for outcome in history
    ]
    shown = history and len(names) <= MAX_SCORE_COLUMNS
    return {
        "rounds": table,
        "close_margin": f"{close_margin(tolerance):g}",
        "heat_names": [names[column] for column in placed] if shown else [],
        "heat": _heat(result, placed, tolerance) if shown else [],
    }


def _heat(result: GraphResult, placed: list[int], tolerance: float) -> list[list[dict[str, Any]]]:
    """Return the scores in the order of placement, each with the shade of its cell."""
    if result.scores is None:
        return []
    scores, near = result.scores[:, placed], closeness(result.scores, tolerance)[:, placed]
    last = ~np.isnan(scores) & np.isnan(np.vstack([scores[1:], np.full((1, len(placed)), np.nan)]))
    return [
        [
            {
                "text": "" if math.isnan(v) else f"{v:.4f}",
                "shade": 0.0 if math.isnan(c) else 0.75 * c,
                "placed": p,
            }
            for v, c, p in zip(values, shades, here, strict=True)
        ]
        for values, shades, here in zip(scores.tolist(), near.tolist(), last.tolist(), strict=True)
    ]
