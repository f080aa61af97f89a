"""Summarise rows: means with 95 % intervals, and how many cells are behind them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from heterodag.experiments.catalogue import Experiment, Measure
from heterodag.experiments.run_cell import Row
from heterodag.experiments.series import Series, series_of

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.95


def interval(values: Sequence[float]) -> tuple[float, float, float, float]:
    """Return mean, standard error, and the ends of the 95 % t interval; NaN where there are too few values."""
    from scipy.stats import t

    sample = np.asarray(values, dtype=np.float64)
    if not len(sample):
        return math.nan, math.nan, math.nan, math.nan
    mean = float(sample.mean())
    if len(sample) == 1:
        return mean, math.nan, math.nan, math.nan
    error = float(sample.std(ddof=1) / math.sqrt(len(sample)))
    reach = float(t.ppf((1 + LEVEL) / 2, len(sample) - 1)) * error
    return mean, error, mean - reach, mean + reach


def summarise(rows: Iterable[Row], experiment: Experiment) -> pd.DataFrame:
    """Return one line per measure, graph type, size and series.

    Parameters
    ----------
    rows : iterable of dict
        Rows of the experiment's cells; those of other methods are ignored.
    experiment : Experiment
        Decides which columns of the rows count.

    Returns
    -------
    DataFrame
        measure, graph, n, d, method, edges, label; runs (cells with a value), timeouts, errors; mean, error (standard
        error), low and high (95 % t interval). A cell that hit the time limit counts with what was finished by then.
    """
    import pandas as pd

    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["graph"], row["n"], row["d"], row["method"]), []).append(row)
    lines = []
    for measure in experiment.measures:
        for series in series_of(experiment, measure):
            for (graph, n, d, method), found in sorted(groups.items(), key=lambda group: group[0]):
                if method == series.method:
                    place = {"measure": measure.title, "graph": graph, "n": n, "d": d}
                    lines.append(place | summary_line(found, measure, series))
    return pd.DataFrame(lines)


def versions(rows: Iterable[Row]) -> list[str]:
    """Return the versions of heterodag that made the rows, as far as the rows say so."""
    return sorted({str(row["heterodag"]) for row in rows if row.get("heterodag")})


def summary_line(rows: list[Row], measure: Measure, series: Series) -> dict[str, Any]:
    """Return the line of one series over rows of the same kind."""
    key = measure.of(series.test)
    values = [row[key] for row in rows if row.get(key) is not None]
    mean, error, low, high = interval(values)
    return {
        "method": series.method, "edges": series.test if measure.of_edges else "", "label": series.label,
        "runs": len(values),
        "timeouts": sum(row["status"] == "timeout" and row.get(key) is None for row in rows),
        "errors": sum(row["status"] == "error" and row.get(key) is None for row in rows),
        "mean": mean, "error": error, "low": low, "high": high,
    }  # fmt: skip
